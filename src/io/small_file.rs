//! Small files that people keep, read whole.

use lattice_files::input;
use std::path::Path;

/// Reads a whole file of at most `most` bytes. Links are followed.
///
/// # Errors
/// * Errors of the system.
/// * The file is larger than `most`, or than memory.
/// * The file is a folder or a device, or a pipe that nobody writes to.
pub fn read_small_file(path: &Path, most: u64) -> std::io::Result<Vec<u8>> {
    input::read(path, most)
}
