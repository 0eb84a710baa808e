//! Files that the library keeps between runs. Only regular files are opened.
//!
//! A fifo or a device in their place is refused at once, because nothing here may wait for a
//! stranger.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// The permission for a path to end in a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// A link is followed; the file behind it is opened.
    Followed,
    /// A link is refused.
    Refused,
}

/// Opens a regular file. Truncates nothing.
///
/// # Errors
/// Errors of the system. `InvalidInput` for anything but a regular file.
pub fn open(path: &Path, links: Links, options: &OpenOptions) -> io::Result<File> {
    let mut options = options.clone();
    flags(&mut options, links);
    let file = options.open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is no regular file"));
    }
    Ok(file)
}

/// Reads a regular file of at most `most` bytes.
///
/// # Errors
/// All errors of [`open`]. `FileTooLarge`.
pub fn read(path: &Path, links: Links, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path, links, OpenOptions::new().read(true))?;
    read_open(file, most)
}

/// Reads an open file of at most `most` bytes from its beginning.
pub fn read_open(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let message = format!("the file has more than {most} bytes");
        return Err(io::Error::new(ErrorKind::FileTooLarge, message));
    }
    Ok(bytes)
}

/// Takes the lock that a file stands for, and holds it while the result lives.
///
/// Makes the file if need be.
///
/// # Errors
/// All errors of [`open`] with links refused. `TimedOut` if somebody else keeps the lock for
/// `patience`.
pub fn lock(path: &Path, patience: Duration) -> io::Result<File> {
    let mut make = OpenOptions::new();
    make.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        make.mode(0o600);
    }
    let file = match open(path, Links::Refused, &make) {
        // Another user's file that others may read: a lock needs no more.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open(path, Links::Refused, OpenOptions::new().read(true))?
        }
        opened => opened?,
    };
    let begun = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
            Err(std::fs::TryLockError::WouldBlock) if begun.elapsed() < patience => {
                std::thread::sleep(Duration::from_millis(2));
            }
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::new(ErrorKind::TimedOut, "another process keeps it locked"));
            }
        }
    }
}

#[cfg(unix)]
fn flags(options: &mut OpenOptions, links: Links) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    // Without NONBLOCK, opening a fifo waits until somebody opens its other end.
    let flags = match links {
        Links::Followed => OFlags::NONBLOCK,
        Links::Refused => OFlags::NONBLOCK | OFlags::NOFOLLOW,
    };
    options.custom_flags(flags.bits().cast_signed());
}

#[cfg(not(unix))]
fn flags(_: &mut OpenOptions, _: Links) {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    fn everything(path: &Path) -> [io::Result<()>; 3] {
        [
            read(path, Links::Refused, 100).map(drop),
            open(path, Links::Refused, OpenOptions::new().write(true)).map(drop),
            lock(path, Duration::ZERO).map(drop),
        ]
    }

    #[test]
    fn links_devices_fifos_and_folders_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("victim"), "precious").unwrap();
        symlink(path("victim"), path("link")).unwrap();
        symlink(path("nowhere"), path("dangling")).unwrap();
        symlink("/dev/zero", path("zero")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(path("fifo")).status().unwrap();
        assert!(made.success());
        for name in ["link", "dangling", "zero", "fifo", "."] {
            for (number, opened) in everything(&path(name)).into_iter().enumerate() {
                assert!(opened.is_err(), "{name} was opened in way {number}");
            }
        }
        assert!(read(&path("zero"), Links::Followed, 100).is_err());
        assert!(read(&path("fifo"), Links::Followed, 100).is_err());
        assert_eq!(std::fs::read(path("victim")).unwrap(), b"precious");
        assert!(!path("nowhere").exists());
        assert_eq!(read(&path("link"), Links::Followed, 8).unwrap(), b"precious");
        assert_eq!(read(&path("victim"), Links::Refused, 7).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[test]
    fn a_lock_keeps_what_is_there_and_its_holder_is_not_waited_for_forever() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        std::fs::write(&path, "kept").unwrap();
        let held = lock(&path, Duration::ZERO).unwrap();
        let error = lock(&path, Duration::from_millis(10)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TimedOut);
        drop(held);
        lock(&path, Duration::ZERO).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"kept");
    }
}
