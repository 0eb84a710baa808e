//! Files and folders that a process removes if it ends before its time.
//!
//! A process that a signal ends runs no destructors. A program that notices the signal calls
//! [`remove_all`] before it ends.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The files of this process. Signals concern the whole process, so the list is one for all.
static FILES: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn files() -> MutexGuard<'static, Vec<PathBuf>> {
    FILES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A file or a folder on the list, until this is dropped.
#[derive(Debug)]
pub struct Leftover(PathBuf);

impl Leftover {
    /// Puts a file or a folder on the list.
    pub fn note(path: &Path) -> Self {
        // The folder may change until then.
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        files().push(path.clone());
        Self(path)
    }
}

impl Drop for Leftover {
    fn drop(&mut self) {
        let mut files = files();
        if let Some(place) = files.iter().position(|path| *path == self.0) {
            files.swap_remove(place);
        }
    }
}

/// Removes all files on the list. The process ends after it.
///
/// A file that cannot be removed stays.
pub fn remove_all() {
    for path in files().drain(..) {
        let _ = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_on_the_list_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let paths = ["a", "b"].map(|name| folder.path().join(name));
        paths.iter().for_each(|path| std::fs::write(path, "half").unwrap());
        let [kept, left] = [0, 1].map(|k| Leftover::note(&paths[k]));
        drop(kept);
        remove_all();
        assert!(paths[0].exists() && !paths[1].exists());
        drop(left);
    }
}
