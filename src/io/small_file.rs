//! Small files that people keep, read whole.

use lattice_compute::kept_file::{self, Links};
use std::path::Path;

/// Reads a whole regular file of at most `most` bytes. Links are followed.
///
/// # Errors
/// Those of the system; when the file is larger, or is none: a pipe would be waited for, a device read without end.
pub fn read_small_file(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    kept_file::read(path, Links::Followed, most)
}
