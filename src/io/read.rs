//! Reading a gauge configuration of any format.

use super::checksum::Checksum;
use super::error::{Error, ErrorKind};
use super::format::Format;
use super::input::Input;
use super::payload::Progress;
use super::{ildg, lime, milc, nersc, validate};
use crate::host::{Dims, GaugeConfiguration};
use serde::Serialize;
use std::path::Path;

/// How a file is read. The default checks everything.
#[derive(Clone, Copy, Default)]
pub struct ReadOptions<'a> {
    /// The extents, for a file that does not tell them, or tells nonsense.
    pub dims: Option<Dims>,
    /// Take a file whose checksum, plaquette or link trace is not that of its links.
    pub ignore_checksum: bool,
    /// Take links that are far from SU(3). Infinities and NaN are refused all the same.
    pub ignore_unitarity: bool,
    /// Told how far reading has come, in bytes.
    pub progress: Progress<'a>,
    /// Told the extents as soon as they are known, before any link is read: time to prepare something. The file may still turn out to be invalid.
    pub extents: Option<&'a dyn Fn(Dims)>,
}

impl ReadOptions<'_> {
    pub(super) fn tell_extents(&self, dims: Dims) {
        if let Some(tell) = self.extents {
            tell(dims);
        }
    }
}

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

/// Reads and verifies a gauge configuration: ILDG, SciDAC, NERSC or MILC, told apart by their content.
///
/// # Errors
/// As [`read_gauge_with`].
pub fn read_gauge(path: impl AsRef<Path>) -> Result<GaugeConfiguration, Error> {
    read_gauge_with(path, &ReadOptions::default()).map(|file| file.configuration)
}

/// Reads a gauge configuration as the options say.
///
/// The file is streamed; the links take as much memory as they do in the file (one and a half times that where it
/// holds two rows of each).
///
/// # Errors
/// What is wrong first, in this order: the structure of the file, its checksum, links that are not finite, the plaquette
/// and link trace in its header, links that are further than [`UNITARITY_LIMIT`](super::UNITARITY_LIMIT) from SU(3).
pub fn read_gauge_with(path: impl AsRef<Path>, options: &ReadOptions) -> Result<GaugeFile, Error> {
    let mut input = Input::open(path.as_ref())?;
    let file = match recognise(&mut input)? {
        Family::Lime => ildg::read(&mut input, options)?,
        Family::Nersc => nersc::read(&mut input, options)?,
        Family::Milc(order) => milc::read(&mut input, order, options)?,
    };
    verify(&file, options).map_err(|kind| input.error(kind))?;
    Ok(file)
}

/// The extents that the file tells; where it tells none, or none that are sound, those that the caller gives.
pub(super) fn extents(
    input: &Input,
    stored: Result<Dims, Error>,
    given: Option<Dims>,
) -> Result<Dims, Error> {
    match (stored, given) {
        (Ok(stored), Some(given)) if stored != given => {
            Err(input.error(ErrorKind::OtherExtents { stored, given }))
        }
        (Err(_), Some(given)) => Ok(given),
        (stored, _) => stored,
    }
}

fn verify(file: &GaugeFile, options: &ReadOptions) -> Result<(), ErrorKind> {
    if let Some(Checksum { kind, stored, computed, ok: false }) = &file.checksum
        && !options.ignore_checksum
    {
        let (stored, computed) = (stored.clone(), computed.clone());
        return Err(ErrorKind::ChecksumMismatch { kind, stored, computed });
    }
    // Before the plaquette: a NaN spoils that too, and its place says more.
    validate::check_finite(&file.configuration)?;
    if let Some(check) = file.header_checks.iter().find(|check| !check.ok)
        && !options.ignore_checksum
    {
        let &HeaderCheck { quantity, stored, computed, tolerance, .. } = check;
        return Err(ErrorKind::HeaderMismatch { quantity, stored, computed, tolerance });
    }
    if options.ignore_unitarity { Ok(()) } else { validate::check_special_unitary(&file.configuration) }
}

enum Family {
    Lime,
    Nersc,
    Milc(super::ByteOrder),
}

fn recognise(input: &mut Input) -> Result<Family, Error> {
    let count = input.length().min(16) as usize;
    let start = input.bytes("the beginning of the file", 0, count)?;
    if start.starts_with(&lime::MAGIC.to_be_bytes()) {
        return Ok(Family::Lime);
    }
    if start.starts_with(nersc::FIRST_LINE) {
        return Ok(Family::Nersc);
    }
    if let Some(order) = start.first_chunk().copied().and_then(milc::byte_order) {
        return Ok(Family::Milc(order));
    }
    Err(input.error(ErrorKind::UnknownFormat { found: shown(&start) }))
}

/// Bytes as a person wants to see them: as text if they are text.
fn shown(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.chars().all(|c| !c.is_control() || c.is_whitespace()) => {
            format!("the text {text:?}")
        }
        _ => {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            format!("the bytes {}", bytes.join(" "))
        }
    }
}
