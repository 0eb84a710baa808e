//! The content of a file of links.

use super::checksum::Checksum;
use super::formats::Format;
use super::header_check::HeaderCheck;
use super::signs::LinkSign;
use crate::host::GaugeConfiguration;

/// A gauge configuration, and the statements of its file about it.
#[derive(Clone, Debug)]
pub struct GaugeFile {
    /// The links, in the precision in which they are stored.
    pub configuration: GaugeConfiguration,
    /// The format of the file.
    pub format: Format,
    /// The checksum of the file, if it has one.
    pub checksum: Option<Checksum>,
    /// Observables in the header beside those of the links.
    pub header_checks: Vec<HeaderCheck>,
    /// Number of fields that the file holds. The first one is read.
    pub fields: usize,
    /// Other facts in the header, by name.
    pub facts: Vec<(String, String)>,
    /// Boundary signs in the links of the file.
    ///
    /// The configuration has these signs unless they were to be removed.
    pub signs: Vec<LinkSign>,
    /// Remarks about odd things in the file, in words.
    pub warnings: Vec<String>,
}

impl GaugeFile {
    /// Takes the links of a file that says nothing else and holds one field.
    pub(in crate::io) fn new(configuration: GaugeConfiguration, format: Format) -> Self {
        Self {
            configuration,
            format,
            checksum: None,
            header_checks: Vec::new(),
            fields: 1,
            facts: Vec::new(),
            signs: Vec::new(),
            warnings: Vec::new(),
        }
    }
}
