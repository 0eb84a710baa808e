//! A file to be read, with its true size known.

use super::error::{Error, ErrorKind};
use std::fs::{File, Metadata};
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

pub(super) struct Input {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Input {
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let system = |action| move |source| Error::new(path, ErrorKind::System { action, source });
        let metadata = std::fs::metadata(path).map_err(system("open the file"))?;
        expect_regular_file(&metadata).map_err(|kind| Error::new(path, kind))?;
        if metadata.len() == 0 {
            return Err(Error::new(path, ErrorKind::Empty));
        }
        let file = File::open(path).map_err(system("open the file"))?;
        Ok(Self { file, path: path.to_owned(), length: metadata.len() })
    }

    /// The size of the file in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }

    pub(super) fn error(&self, kind: ErrorKind) -> Error {
        Error::new(&self.path, kind)
    }

    /// Makes sure that the file has `wanted` bytes from `byte` on: before anything is allocated for them.
    pub(super) fn expect(&self, what: &str, byte: u64, wanted: u64) -> Result<(), Error> {
        let found = self.length.saturating_sub(byte);
        if found < wanted {
            return Err(self.error(ErrorKind::Truncated { what: what.to_owned(), byte, wanted, found }));
        }
        Ok(())
    }

    /// Moves to `byte`.
    pub(super) fn seek(&mut self, byte: u64) -> Result<(), Error> {
        self.file.seek(SeekFrom::Start(byte)).map(drop).map_err(|source| self.read_error(source))
    }

    /// Fills the buffer from where the file stands.
    pub(super) fn fill(&mut self, buffer: &mut [u8]) -> Result<(), Error> {
        self.file.read_exact(buffer).map_err(|source| self.read_error(source))
    }

    /// The `N` bytes from `byte` on.
    pub(super) fn array<const N: usize>(&mut self, what: &str, byte: u64) -> Result<[u8; N], Error> {
        self.expect(what, byte, N as u64)?;
        let mut bytes = [0; N];
        self.seek(byte)?;
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// The bytes from `byte` on, `count` of them; for metadata, whose size the caller has bounded.
    pub(super) fn bytes(&mut self, what: &str, byte: u64, count: usize) -> Result<Vec<u8>, Error> {
        self.expect(what, byte, count as u64)?;
        let mut bytes = vec![0; count];
        self.seek(byte)?;
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn read_error(&self, source: std::io::Error) -> Error {
        self.error(ErrorKind::System { action: "read the file", source })
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

/// Text from a file with its control characters replaced, so that it can be shown on a terminal.
pub(super) fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}
