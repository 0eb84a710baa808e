//! What was read from a file of links.

use super::checksum::Checksum;
use super::formats::Format;
use super::signs::LinkSign;
use crate::host::GaugeConfiguration;
use serde::Serialize;

/// A gauge configuration and what its file says about it.
#[derive(Clone, Debug)]
pub struct GaugeFile {
    /// The links, in the precision they are stored in.
    pub configuration: GaugeConfiguration,
    /// The format of the file.
    pub format: Format,
    /// Its checksum, if it has one.
    pub checksum: Option<Checksum>,
    /// Observables in the header beside those of the links (NERSC).
    pub header_checks: Vec<HeaderCheck>,
    /// How many fields the file holds; the first is read.
    pub fields: usize,
    /// Other facts that the header tells, by name.
    pub facts: Vec<(String, String)>,
    /// Boundary signs in the links of the file.
    ///
    /// The configuration has them unless they were to be removed.
    pub signs: Vec<LinkSign>,
    /// What is odd about the file, in words.
    pub warnings: Vec<String>,
}

/// An observable in the header of a file and that of its links.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HeaderCheck {
    /// `plaquette` or `link trace`.
    pub quantity: &'static str,
    /// The value in the header.
    pub stored: f64,
    /// The value of the links.
    pub computed: f64,
    /// The largest difference allowed.
    pub tolerance: f64,
    /// Whether they agree.
    pub ok: bool,
}
