//! The common part of openQCD ("universal") and DDalphaAMG files.
//!
//! Files of these formats do not begin with a name. They are little-endian, in double precision, of
//! 24 + 576 N bytes for N sites:
//!
//! | byte | holds |
//! |---|---|
//! | 0 | four extents, 32 bits each: t, x, y, z (openQCD) or t, z, y, x (DDalphaAMG) |
//! | 16 | the average of Re tr over all plaquettes, from 0 to 3 |
//! | 24 | the links, row-major |
//!
//! The plaquette tells which of the two a file is.

use super::feature::Feature;
use super::gauge_format::UncheckedGaugeFile;
use super::registry::Format;
use crate::gauge::plaquette;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3};
use crate::io::error::{Error, ErrorKind, Position};
use crate::io::gauge_file::GaugeFile;
use crate::io::header_check::{HeaderCheck, Observable};
use crate::io::input::Input;
use crate::io::numbers::{ByteOrder, Stored};
use crate::io::output::Output;
use crate::io::read_options::{ReadOptions, extents};

/// The beginning of files, for messages.
pub(super) const BEGINNING: &str = "the extents of a file of that size";

/// Bytes before the links.
pub(super) const HEADER: u64 = 24;

/// Bytes of the links of a site.
pub(super) const SITE: u64 = 576;

/// A function that reads the links of such a lattice, from the end of the header.
type ReadLinks = fn(&mut Input, Dims, &ReadOptions) -> Result<Vec<Matrix3<f64>>, Error>;

/// The way in which one of the formats reads a file.
pub(super) struct Order {
    pub(super) format: Format,
    /// Turns the extents in the header into x, y, z, t.
    pub(super) extents: fn([usize; NDIM]) -> [usize; NDIM],
    /// Reads the links into the order of a configuration.
    pub(super) links: ReadLinks,
}

/// Returns the extents in a header, in their order there.
///
/// The result is `None` if the file has another size.
fn stored_extents(start: &[u8], length: u64) -> Option<[usize; NDIM]> {
    let header: [u8; HEADER as usize] = start.first_chunk().copied()?;
    let stored = [0, 4, 8, 12].map(|at| ByteOrder::Little.u32(&header[at..]) as usize);
    let sites = stored.iter().try_fold(1u64, |volume, &extent| volume.checked_mul(extent as u64))?;
    let bytes = sites.checked_mul(SITE)?.checked_add(HEADER)?;
    (bytes == length && sites != 0).then_some(stored)
}

/// Tells whether the file begins with extents that agree with its size.
pub(super) fn recognise(start: &[u8], length: u64) -> bool {
    stored_extents(start, length).is_some()
}

/// Reads a file in the first order that its plaquette agrees with.
///
/// If the plaquette agrees with no order, the last one is used.
pub(super) fn read(
    input: &mut Input,
    options: &ReadOptions,
    orders: &[Order],
) -> Result<UncheckedGaugeFile, Error> {
    let header: [u8; HEADER as usize] = input.array("the header", 0)?;
    let stored = stored_extents(&header, input.length()).unwrap_or_default();
    let mut problem = None;
    let mut found = None;
    for order in orders {
        let stored = Dims::new((order.extents)(stored))
            .map_err(|source| input.error(ErrorKind::BadExtents { position: Position::Byte(0), source }));
        let dims = match extents(input, stored, options.dims) {
            Ok(dims) => dims,
            Err(error) => {
                problem.get_or_insert(error);
                continue;
            }
        };
        // Only one copy of the links is in memory at a time.
        drop(found.take());
        let links = (order.links)(input, dims, options)?;
        let configuration = GaugeConfiguration::new(dims, Links::Double(links));
        let check = check(input, &configuration)?;
        let ok = check.ok;
        found = Some((order.format, configuration, check));
        if ok {
            break;
        }
    }
    let Some((format, configuration, check)) = found else {
        return Err(problem.unwrap_or_else(|| input.error(ErrorKind::Empty)));
    };
    options.tell_extents(input, configuration.dims())?;
    Ok(UncheckedGaugeFile::from(GaugeFile {
        header_checks: vec![check],
        facts: vec![("byte order".into(), ByteOrder::Little.to_string())],
        ..GaugeFile::new(configuration, format)
    }))
}

/// Compares the plaquette in the header with that of the links.
fn check(input: &mut Input, configuration: &GaugeConfiguration) -> Result<HeaderCheck, Error> {
    let stored = f64::from_le_bytes(input.array("the plaquette", 16)?) / 3.0;
    Ok(Observable::Plaquette.check(stored, 0.0, configuration))
}

/// Features that no file of these formats has.
pub(super) const CANNOT_HOLD: &[Feature] =
    &[Feature::SinglePrecision, Feature::BigEndian, Feature::TwoRows, Feature::LogicalFileName];

/// Writes the header of a configuration.
///
/// The extents are in the order of the format.
pub(super) fn write_header(
    output: &mut Output,
    configuration: &GaugeConfiguration,
    extents: [usize; NDIM],
) -> Result<(), Error> {
    // A lattice that fits in memory has no extent beyond 32 bits.
    let mut header = extents.map(|extent| (extent as u32).to_le_bytes()).concat();
    header.extend((3.0 * plaquette(configuration).average).to_le_bytes());
    output.write(&header)
}

/// Puts a link at place `which` of a row of links.
pub(super) fn put_matrix(link: &Matrix3<f64>, bytes: &mut [u8], which: usize) {
    for (k, &entry) in link.0.iter().flatten().enumerate() {
        f64::put_complex(entry, ByteOrder::Little, bytes, 9 * which + k);
    }
}

/// Returns the link at place `which` of a row of links.
pub(super) fn matrix(bytes: &[u8], which: usize) -> Matrix3<f64> {
    Matrix3::from_fn(|i, j| f64::get_complex(ByteOrder::Little, bytes, 9 * which + 3 * i + j))
}
