//! A file to be read, with its true size known.

use super::error::{Error, ErrorKind};
#[cfg(unix)]
use crate::compute::parallel::*;
use crate::host;
use bytemuck::{Zeroable, try_zeroed_vec};
use lattice_files::input;
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// Bytes that a thread reads at once.
#[cfg(unix)]
const READ_BY_A_THREAD: usize = 4 << 20;

pub(super) struct Input {
    file: File,
    path: PathBuf,
    /// The byte of the file that counts as the first.
    begin: u64,
    /// Bytes from `begin` on.
    length: u64,
}

impl Input {
    /// Opens a file, or the data of a pipe.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let system = |action| move |source| Error::new(path, ErrorKind::System { action, source });
        let mut file = input::open(path).map_err(system("open the file"))?;
        let length = file.seek(SeekFrom::End(0)).map_err(system("read the file"))?;
        if length == 0 {
            return Err(Error::new(path, ErrorKind::Empty));
        }
        Ok(Self { file, path: path.to_owned(), begin: 0, length })
    }

    /// Returns the size of the file in bytes, without those that were passed over.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Passes over bytes at the beginning: from now on, all places count from there.
    ///
    /// # Panics
    /// If the file has fewer bytes.
    pub(super) fn pass_over(&mut self, bytes: u64) {
        assert!(bytes <= self.length, "bytes of the file");
        self.begin += bytes;
        self.length -= bytes;
    }

    /// Returns the place of a byte in the whole file, for messages.
    pub(super) fn place(&self, byte: u64) -> u64 {
        self.begin.saturating_add(byte)
    }

    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.path, kind)
    }

    /// Makes sure that the file has `wanted` bytes from `byte` on.
    ///
    /// The check comes before any allocation for these bytes.
    pub(super) fn expect(&self, what: &str, byte: u64, wanted: u64) -> Result<(), Error> {
        let found = self.length.saturating_sub(byte);
        if found < wanted {
            let (what, byte) = (what.to_owned(), self.place(byte));
            return Err(self.error(ErrorKind::Truncated { what, byte, wanted, found }));
        }
        Ok(())
    }

    /// Returns a warning if the file goes on behind the links, which end at `byte`.
    pub(super) fn rest_after(&self, byte: u64) -> Option<String> {
        let rest = self.length.saturating_sub(byte);
        (rest > 0).then(|| ignored(rest, "the links") + "; check the extents if that is much")
    }

    /// Moves to `byte`.
    pub(super) fn seek(&mut self, byte: u64) -> Result<(), Error> {
        self.file.seek(SeekFrom::Start(self.place(byte))).map(drop).map_err(|source| self.read_error(source))
    }

    /// Fills the buffer from the current position.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact(buffer).map_err(|source| self.read_error(source))
    }

    /// Returns the `N` bytes from `byte` on.
    pub(super) fn array<const N: usize>(&mut self, what: &str, byte: u64) -> Result<[u8; N], Error> {
        self.expect(what, byte, N as u64)?;
        let mut bytes = [0; N];
        self.seek(byte)?;
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns the `count` bytes from `byte` on.
    pub(super) fn bytes(&mut self, what: &str, byte: u64, count: usize) -> Result<Vec<u8>, Error> {
        self.expect(what, byte, count as u64)?;
        let mut bytes = Vec::new();
        // A file with holes may be larger than any memory.
        host::reserve(&mut bytes, count)
            .map_err(|_| self.error(ErrorKind::OutOfMemory { bytes: count as u64 }))?;
        bytes.resize(count, 0);
        self.seek(byte)?;
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Returns room for the `length` bytes from `byte` on, as zeros.
    ///
    /// The length is one of whole numbers.
    pub(super) fn room<T: Zeroable>(&self, what: &str, byte: u64, length: u64) -> Result<Vec<T>, Error> {
        self.expect(what, byte, length)?;
        // A file with holes may be larger than any memory.
        let room = host::expect_room(length).ok();
        let room = room.and_then(|()| try_zeroed_vec(length as usize / size_of::<T>()).ok());
        room.ok_or_else(|| self.error(ErrorKind::OutOfMemory { bytes: length }))
    }

    /// Fills the buffer with the bytes from `byte` on, by several threads.
    pub(super) fn fill_at(&mut self, byte: u64, buffer: &mut [u8]) -> Result<(), Error> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::FileExt;
            let (file, byte) = (&self.file, self.place(byte));
            let read = |(k, piece): (usize, &mut [u8])| {
                file.read_exact_at(piece, byte + (k * READ_BY_A_THREAD) as u64)
            };
            let pieces = buffer.par_chunks_mut(READ_BY_A_THREAD).enumerate();
            pieces.try_for_each(read).map_err(|source| self.read_error(source))
        }
        #[cfg(not(unix))]
        {
            self.seek(byte)?;
            self.fill(buffer)
        }
    }

    fn read_error(&self, source: std::io::Error) -> Error {
        self.error(ErrorKind::System { action: "read the file", source })
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.file.read(buffer)
    }
}

/// Refuses directories, devices and pipes.
pub(super) fn expect_regular_file(metadata: &Metadata) -> Result<(), ErrorKind> {
    if metadata.is_file() {
        return Ok(());
    }
    let found = if metadata.is_dir() { "a directory" } else { "a device or a pipe" };
    Err(ErrorKind::NotAFile { found })
}

/// Returns the warning that bytes behind something are not read.
pub(super) fn ignored(bytes: u64, behind: &str) -> String {
    let bytes = if bytes == 1 { "1 byte".to_owned() } else { format!("{bytes} bytes") };
    format!("ignored {bytes} behind {behind}")
}
