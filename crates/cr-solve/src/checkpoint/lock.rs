//! Locks: a checkpoint belongs to one running job.

use lattice_cl::io;
use lattice_cli::failure::{Failure, Status};
use lattice_files::leftovers::Leftover;
use lattice_files::regular::{self, Links};
use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

/// The right to write a checkpoint.
///
/// The right ends when the lock is dropped or the process ends in any way.
///
/// The lock is on a hidden file beside the checkpoint. The checkpoint itself is another file each
/// time that a state is kept.
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    /// `None` if the file system has no locks.
    file: Option<File>,
    _leftover: Option<Leftover>,
}

impl Lock {
    /// Takes the lock of the checkpoint that `option` names.
    ///
    /// # Errors
    /// When another job has the lock, and when no file can be made beside the checkpoint.
    pub fn take(option: &str, checkpoint: &Path) -> Result<Self, Failure> {
        let path = lock_file(&io::destination(checkpoint));
        loop {
            let file = open(&path).map_err(|error| {
                let context = format!("{}: the checkpoint cannot be locked", path.display());
                Failure::new(Status::File, anyhow::Error::new(error).context(context))
            })?;
            match file.try_lock() {
                // The previous holder of the lock may have removed the file meanwhile.
                Ok(()) if !is_still(&file, &path) => continue,
                Ok(()) => {
                    let leftover = Some(Leftover::note(&path));
                    return Ok(Self { path, file: Some(file), _leftover: leftover });
                }
                Err(TryLockError::WouldBlock) => {
                    let message =
                        format!("{option} {} is in use by another running job", checkpoint.display());
                    return Err(Failure::usage(message)
                        .hint("wait until that job is done, or give this one a checkpoint of its own"));
                }
                Err(TryLockError::Error(error)) => {
                    tracing::warn!("{}: two jobs at once would not be noticed: {error}", path.display());
                    return Ok(Self { path, file: None, _leftover: None });
                }
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // The file is removed while it is locked, so that no other job's file is removed.
        if self.file.is_some() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn lock_file(checkpoint: &Path) -> PathBuf {
    let name = checkpoint.file_name().unwrap_or_default().to_string_lossy();
    checkpoint.with_file_name(format!(".{name}.lock"))
}

fn open(path: &Path) -> std::io::Result<File> {
    // Nothing is written to the file, so a link that appears meanwhile does no harm.
    if std::fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink()) {
        return Err(std::io::Error::other("it is a link; remove it"));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(false);
    regular::open(path, Links::Followed, &options)
}

#[cfg(unix)]
fn is_still(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let identity = |metadata: std::fs::Metadata| (metadata.dev(), metadata.ino());
    match (file.metadata(), std::fs::symlink_metadata(path)) {
        (Ok(own), Ok(named)) => identity(own) == identity(named),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_still(_: &File, path: &Path) -> bool {
    path.exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_is_taken_once_and_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = folder.path().join("job.checkpoint");
        let first = Lock::take("--checkpoint", &checkpoint).unwrap();
        let second = Lock::take("--resume", &checkpoint).unwrap_err();
        let message = second.error.to_string();
        assert!(message.contains("--resume") && message.contains("another running job"), "{message}");
        assert_eq!(second.status, Status::Usage);
        drop(first);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        // A file that a killed job leaves is no obstacle.
        std::fs::write(folder.path().join(".job.checkpoint.lock"), "").unwrap();
        drop(Lock::take("--checkpoint", &checkpoint).unwrap());
    }

    #[test]
    fn of_many_at_once_one_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let checkpoint = folder.path().join("job");
        let barrier = std::sync::Barrier::new(8);
        let taken: usize = std::thread::scope(|scope| {
            let take = || {
                barrier.wait();
                let lock = Lock::take("--checkpoint", &checkpoint);
                barrier.wait();
                usize::from(lock.is_ok())
            };
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(taken, 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let victim = folder.path().join("victim");
        std::fs::write(&victim, "precious").unwrap();
        std::os::unix::fs::symlink(&victim, folder.path().join(".job.lock")).unwrap();
        assert!(Lock::take("--checkpoint", &folder.path().join("job")).is_err());
        assert_eq!(std::fs::read_to_string(victim).unwrap(), "precious");
    }
}
