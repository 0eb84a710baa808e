//! The interface of a format of gauge configurations.

use super::feature::Feature;
use crate::host::GaugeConfiguration;
use crate::io::error::{Error, ErrorKind};
use crate::io::gauge_file::GaugeFile;
use crate::io::input::Input;
use crate::io::output::Output;
use crate::io::read_options::ReadOptions;
use crate::io::write_options::WriteOptions;

/// The facts of a format, for messages, lists and tables.
pub(in crate::io) struct About {
    /// The name in lower case, on the command line and in JSON.
    pub(in crate::io) name: &'static str,
    /// The name in sentences.
    pub(in crate::io) title: &'static str,
    /// The beginning of files: the end of the sentence "… files begin with".
    pub(in crate::io) beginning: &'static str,
    /// The content that is read and checked, for the table in `docs/conventions.md`.
    pub(in crate::io) reads: &'static str,
    /// Endings of file names that choose this format for writing, in lower case.
    pub(in crate::io) endings: &'static [&'static str],
    /// Facts of [`GaugeFile::facts`] that tell the origin of a configuration.
    pub(in crate::io) provenance: &'static [&'static str],
    /// Facts that a file written in this format takes over from a file in any format.
    pub(in crate::io) takes_over: &'static [&'static str],
}

/// The result of reading a file, not yet judged.
pub(in crate::io) struct UncheckedGaugeFile {
    /// The links and the statements of the file about them.
    ///
    /// The checksum and the header of the file are compared here.
    pub(in crate::io) file: GaugeFile,
    /// The reason why the checksum cannot be read, if there is one that cannot.
    pub(in crate::io) unreadable_checksum: Option<ErrorKind>,
}

impl From<GaugeFile> for UncheckedGaugeFile {
    fn from(file: GaugeFile) -> Self {
        Self { file, unreadable_checksum: None }
    }
}

/// A format that is read.
pub(in crate::io) trait GaugeFormat {
    fn about(&self) -> About;

    /// Tells whether a file may be of this format.
    ///
    /// `start` has the first [`START`] bytes, or all bytes of a shorter file. `length` is the
    /// length of the whole file.
    fn recognise(&self, start: &[u8], length: u64) -> bool;

    /// Reads a file that was recognised.
    ///
    /// [`GaugeFile::format`] is the format that the file turned out to have: two pairs of formats
    /// begin alike. The first format of a pair in the registry reads both.
    ///
    /// # Errors
    /// When the structure of the file is wrong. The caller checks the links.
    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error>;

    /// Tells whether nothing in a file of this format tells its format.
    ///
    /// Such a file is read if [`ReadOptions::format`] names the format.
    fn is_known_by_name_alone(&self) -> bool {
        false
    }
}

/// Bytes at the beginning of a file by which formats are recognised.
pub(in crate::io) const START: u64 = 64;

/// A format that is written too.
pub(in crate::io) trait WrittenFormat: GaugeFormat {
    /// Returns the features that the format cannot hold.
    ///
    /// Options that ask for such a feature are refused before anything is written.
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
