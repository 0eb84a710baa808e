//! What a format of gauge configurations says of itself and does.

use super::feature::Feature;
use crate::host::GaugeConfiguration;
use crate::io::error::{Error, ErrorKind};
use crate::io::gauge_file::GaugeFile;
use crate::io::input::Input;
use crate::io::output::Output;
use crate::io::read_options::ReadOptions;
use crate::io::write_options::WriteOptions;

/// The facts of a format that messages, lists and tables are made of.
pub(in crate::io) struct About {
    /// The name in lower case, on the command line and in JSON.
    pub(in crate::io) name: &'static str,
    /// The name in sentences.
    pub(in crate::io) title: &'static str,
    /// What files begin with: the end of the sentence "… files begin with".
    pub(in crate::io) beginning: &'static str,
    /// What is read and checked, for the table in `docs/conventions.md`.
    pub(in crate::io) reads: &'static str,
    /// Endings of file names that choose this format for writing, in lower case.
    pub(in crate::io) endings: &'static [&'static str],
    /// Facts of [`GaugeFile::facts`] that tell where a configuration comes from.
    pub(in crate::io) provenance: &'static [&'static str],
    /// Facts of a file in any format that a file written in this one takes over.
    pub(in crate::io) takes_over: &'static [&'static str],
}

/// What a format read, not yet judged.
pub(in crate::io) struct Found {
    /// The links and what the file says of them. Its checksum and header are compared here.
    pub(in crate::io) file: GaugeFile,
    /// Why the checksum of the file cannot be read, if it has one that cannot.
    pub(in crate::io) unreadable_checksum: Option<ErrorKind>,
}

impl From<GaugeFile> for Found {
    fn from(file: GaugeFile) -> Self {
        Self { file, unreadable_checksum: None }
    }
}

/// A format that is read.
pub(in crate::io) trait GaugeFormat {
    fn about(&self) -> About;

    /// Whether a file may be of this format.
    ///
    /// `start` has the first [`START`] bytes, or all of a shorter file; `length` is that of the whole file.
    fn recognise(&self, start: &[u8], length: u64) -> bool;

    /// Reads a file that was recognised.
    ///
    /// [`GaugeFile::format`] is the format that it turned out to be: two pairs of formats begin alike. The first of a
    /// pair in the registry reads both.
    ///
    /// # Errors
    /// When the structure of the file is wrong. What the links must be is checked by the caller.
    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<Found, Error>;

    /// Whether a plaquette in the header is a note of the program, which a sound checksum outweighs.
    fn header_is_a_note(&self) -> bool {
        false
    }
}

/// Bytes at the beginning of a file that formats are recognised by.
pub(in crate::io) const START: u64 = 64;

/// A format that is written too.
pub(in crate::io) trait WrittenFormat: GaugeFormat {
    /// What it cannot hold. Options that ask for it are refused before anything is written.
    fn cannot_hold(&self) -> &'static [Feature];

    /// Writes the configuration, with options that the format can hold.
    ///
    /// # Errors
    /// When the system refuses.
    fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error>;
}
