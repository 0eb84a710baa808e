//! Small files that people keep, read whole.

use lattice_files::regular::{self, Links};
use std::path::Path;

/// Reads a whole regular file of at most `most` bytes. Links are followed.
///
/// # Errors
/// * Errors of the system.
/// * The file is larger than `most`.
/// * The file is not a regular file. To wait for a pipe, or to read a device, might never end.
pub fn read_small_file(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    regular::read(path, Links::Followed, most)
}
