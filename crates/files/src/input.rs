//! The one way to open a file that a user names.
//!
//! * A regular file is opened.
//! * The data of a pipe are first copied into a temporary file, so that they can be read in any
//!   order. Shells make such pipes: `<(zcat a.mtx.gz)`.
//! * A folder or a device is refused at once, and so is a pipe that nobody writes to.

use crate::regular::{self, Links};
use crate::room;
use crate::text::without_mark;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a regular file, or the data of a pipe as a file without a name.
///
/// # Errors
/// * Errors of the system.
/// * The path leads to a folder or a device, or to a pipe without a writer.
/// * The data of a pipe take more than half of the disk that is left.
pub fn open(path: &Path) -> io::Result<File> {
    open_at_most(path, u64::MAX)
}

/// Reads a whole file, or all data of a pipe, of at most `most` bytes.
///
/// A byte-order mark at the beginning is left out.
///
/// # Errors
/// All errors of [`open`]. `FileTooLarge` and `OutOfMemory`.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open_at_most(path, most)?;
    let length = file.metadata()?.len();
    if length > most {
        return Err(too_large(most));
    }
    room::expect_room(length).map_err(|error| io::Error::new(ErrorKind::OutOfMemory, error))?;
    // A file may grow while it is read.
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(too_large(most));
    }
    let mark = bytes.len() - without_mark(&bytes).len();
    bytes.drain(..mark);
    Ok(bytes)
}

fn too_large(most: u64) -> io::Error {
    io::Error::new(ErrorKind::FileTooLarge, format!("the file has more than {most} bytes"))
}

fn open_at_most(path: &Path, most: u64) -> io::Result<File> {
    // A look comes first: opening some devices has effects.
    let metadata = fs::metadata(path)?;
    if is_pipe(&metadata) {
        #[cfg(unix)]
        return pipe::spooled(path, most);
    }
    if !metadata.is_file() {
        let found = if metadata.is_dir() { "directory" } else { "device" };
        let message = format!("this is a {found}, not a regular file; name a file");
        return Err(io::Error::new(ErrorKind::InvalidInput, message));
    }
    let _ = most;
    regular::open(path, Links::Followed, OpenOptions::new().read(true))
}

fn is_pipe(metadata: &Metadata) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        metadata.file_type().is_fifo()
    }
    #[cfg(not(unix))]
    {
        let _ = metadata;
        false
    }
}

/// Pipes, which may have no writer, and data without end.
#[cfg(unix)]
mod pipe {
    use super::too_large;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use std::fs::{File, OpenOptions};
    use std::io::{self, ErrorKind, Read, Seek, Write};
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::Path;

    /// Seconds for which a pipe may have no writer.
    const PATIENCE: i64 = 2;

    /// Bytes that are copied at a time.
    const PIECE: usize = 1 << 16;

    /// Copies the data of a pipe, at most `most` bytes, into a file without a name.
    pub fn spooled(path: &Path, most: u64) -> io::Result<File> {
        // Without NONBLOCK, opening waits until somebody opens the other end.
        let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
        let mut pipe = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let kept = |error: io::Error| {
            let text =
                format!("the data of the pipe fit into no temporary file (TMPDIR says where): {error}");
            io::Error::new(error.kind(), text)
        };
        let mut file = tempfile::tempfile().map_err(kept)?;
        let room = rustix::fs::fstatvfs(&file).map_or(u64::MAX, |disk| disk.f_bavail * disk.f_frsize / 2);
        let (mut piece, mut copied) = (vec![0; PIECE], 0_u64);
        loop {
            let count = next(&mut pipe, &mut piece, copied > 0)?;
            if count == 0 {
                file.rewind().map_err(kept)?;
                return Ok(file);
            }
            copied += count as u64;
            if copied > most {
                return Err(too_large(most));
            }
            if copied > room {
                let text = format!("they are more than {room} bytes, half of what the disk has left");
                return Err(kept(io::Error::new(ErrorKind::StorageFull, text)));
            }
            file.write_all(&piece[..count]).map_err(kept)?;
        }
    }

    /// Reads what a pipe has; 0 at its end.
    fn next(pipe: &mut File, piece: &mut [u8], has_begun: bool) -> io::Result<usize> {
        loop {
            match pipe.read(piece) {
                // Nobody writes: not any more, or not yet.
                Ok(0) if !has_begun => {
                    let came = waited(pipe, Some(PATIENCE))?;
                    match pipe.read(piece) {
                        Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                        Ok(0) if !came => {
                            let text = format!(
                                "nobody has written to this pipe for {PATIENCE} s; name a file, or start the program that writes"
                            );
                            return Err(io::Error::new(ErrorKind::TimedOut, text));
                        }
                        read => return read,
                    }
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => drop(waited(pipe, None)?),
                read => return read,
            }
        }
    }

    /// Waits until a pipe has data or has lost its writers; `false` if that takes too long.
    ///
    /// A signal ends the waiting with an error.
    fn waited(pipe: &File, seconds: Option<i64>) -> io::Result<bool> {
        let patience = seconds.map(|tv_sec| Timespec { tv_sec, tv_nsec: 0 });
        let events = poll(&mut [PollFd::new(pipe, PollFlags::IN)], patience.as_ref());
        match events {
            Ok(count) => Ok(count > 0),
            Err(error) if error == rustix::io::Errno::INTR => {
                let text = "interrupted while a pipe had nothing to read";
                Err(io::Error::other(text))
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::PathBuf;
    use std::time::Duration;

    fn fifo(folder: &Path) -> PathBuf {
        let path = folder.join("fifo");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[test]
    fn folders_devices_and_pipes_without_a_writer_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = fifo(folder.path());
        for (path, wanted) in [
            (folder.path(), "a directory, not a regular file"),
            (Path::new("/dev/zero"), "a device, not a regular file"),
            (&fifo, "nobody has written"),
        ] {
            for error in [open(path).map(drop), read(path, 100).map(drop)] {
                let error = error.unwrap_err().to_string();
                assert!(error.contains(wanted), "{}: {error}", path.display());
            }
        }
    }

    #[test]
    fn what_is_written_to_a_pipe_is_read_in_any_order() {
        let folder = tempfile::tempdir().unwrap();
        let path = fifo(folder.path());
        let written: Vec<u8> = (0..1_000_000_u32).flat_map(u32::to_le_bytes).collect();
        let written = &written;
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
                // The writer lets the reader wait in the midst.
                let (first, rest) = written.split_at(100_000);
                pipe.write_all(first).unwrap();
                std::thread::sleep(Duration::from_millis(300));
                pipe.write_all(rest).unwrap();
            });
            let mut bytes = Vec::new();
            open(&path).unwrap().read_to_end(&mut bytes).unwrap();
            assert!(bytes == *written);
        });
    }

    #[test]
    fn a_byte_order_mark_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for (written, wanted) in [("\u{feff}1 2", "1 2"), ("\u{feff}", ""), ("1\u{feff}", "1\u{feff}")] {
            std::fs::write(&path, written).unwrap();
            assert_eq!(read(&path, 100).unwrap(), wanted.as_bytes());
        }
        let path = fifo(folder.path());
        std::thread::scope(|scope| {
            scope.spawn(|| OpenOptions::new().write(true).open(&path).unwrap().write_all(b"\xef\xbb\xbf7"));
            assert_eq!(read(&path, 100).unwrap(), b"7");
        });
    }

    #[test]
    fn data_without_end_are_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = fifo(folder.path());
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut pipe = OpenOptions::new().write(true).open(&path).unwrap();
                while pipe.write_all(&[0; 4096]).is_ok() {}
            });
            assert_eq!(read(&path, 1 << 20).unwrap_err().kind(), ErrorKind::FileTooLarge);
        });
        std::fs::write(folder.path().join("a"), "12345678").unwrap();
        assert_eq!(read(&folder.path().join("a"), 8).unwrap(), b"12345678");
        assert_eq!(
            read(&folder.path().join("a"), 7).unwrap_err().to_string(),
            "the file has more than 7 bytes"
        );
    }
}
