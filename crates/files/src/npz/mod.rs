//! NPZ: arrays with names in a ZIP archive, as `numpy.savez` and `savez_compressed` write them.
//!
//! Nothing is believed that stands in one place only. The directory at the end must agree with the
//! heads of the members, which fill the file without a gap. So no member vanishes by a damaged name.
//! A checksum covers the content of each member.

mod directory;
mod error;

pub use directory::MAGIC;
pub use error::ArchiveError;

use crate::npy::{self, Array, ArrayError};
use crate::text::{printable, shortened};
use directory::Member;
use error::SHOWN;
use flate2::read::DeflateDecoder;
use std::io::{self, Read, Seek, SeekFrom};

/// An archive with its directory.
#[derive(Debug)]
pub struct Archive<F> {
    file: F,
    members: Vec<Member>,
}

impl<F: Read + Seek> Archive<F> {
    /// Reads the directory of an archive of `length` bytes, and the heads of its members.
    ///
    /// # Errors
    /// When the file cannot be read, or its parts contradict each other.
    pub fn open(mut file: F, length: u64) -> Result<Self, ArchiveError> {
        let members = directory::read(&mut file, length)?;
        Ok(Self { file, members })
    }

    /// Returns the names of the arrays.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.members.iter().filter_map(|member| member.name.strip_suffix(".npy"))
    }

    /// Tells whether there is an array of the name.
    pub fn has(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }

    /// Returns all names but those of a list, printable.
    ///
    /// A reader says that they are not read: one of them may be a name that is misspelt.
    pub fn others(&self, known: &[&str]) -> Vec<String> {
        let all = self.members.iter().map(|member| member.name.strip_suffix(".npy").unwrap_or(&member.name));
        all.filter(|name| !known.contains(name)).map(printable).collect()
    }

    /// Reads the array of the name.
    ///
    /// # Errors
    /// When there is none, it has no numbers, or its bytes are not those that were written.
    pub fn array(&mut self, name: &str) -> Result<Array, ArchiveError> {
        self.read(name, |content, size| Array::read(content, size))
    }

    /// Reads the array of the name, of real numbers.
    ///
    /// # Errors
    /// All errors of [`Archive::array`], and when the numbers are complex.
    pub fn real(&mut self, name: &str) -> Result<Array, ArchiveError> {
        self.read(name, |content, size| Array::read(content, size)?.real())
    }

    /// Reads the short text of the name.
    ///
    /// # Errors
    /// When there is none, or it is no short text.
    pub fn text(&mut self, name: &str) -> Result<String, ArchiveError> {
        self.read(name, |content, _| npy::text(content))
    }

    fn read<R>(
        &mut self,
        name: &str,
        decode: impl FnOnce(&mut Checked<'_>, u64) -> Result<R, ArrayError>,
    ) -> Result<R, ArchiveError> {
        let found = self.members.iter().find(|member| member.name.strip_suffix(".npy") == Some(name));
        let Some(member) = found else {
            let found = self.names().map(str::to_owned).collect();
            return Err(ArchiveError::NoSuchArray { name: name.to_owned(), found });
        };
        self.file.seek(SeekFrom::Start(member.begin)).map_err(ArchiveError::System)?;
        let stored = self.file.by_ref().take(member.compressed);
        let inner: Box<dyn Read + '_> =
            if member.is_deflated { Box::new(DeflateDecoder::new(stored)) } else { Box::new(stored) };
        let mut content = Checked { crc: crc32fast::Hasher::new(), inner };
        let decoded = decode(&mut content, member.size)
            .map_err(|source| ArchiveError::Array { name: name.to_owned(), source })?;
        let is_longer = content.read(&mut [0]).map_err(ArchiveError::System)? > 0;
        if is_longer || content.crc.finalize() != member.crc {
            let name = shortened(name, SHOWN);
            return Err(ArchiveError::damaged(format!("the checksum of `{name}` is not that of its data")));
        }
        Ok(decoded)
    }
}

/// A reader that keeps a checksum.
struct Checked<'a> {
    crc: crc32fast::Hasher,
    inner: Box<dyn Read + 'a>,
}

impl Read for Checked<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.crc.update(&buffer[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests;
