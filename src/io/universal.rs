//! Two formats without a name in front: openQCD ("universal") and DDalphaAMG.
//!
//! Both are little-endian, in double precision, of 24 + 576 N bytes for N sites:
//!
//! | byte | holds |
//! |---|---|
//! | 0 | four extents, 32 bits each: t, x, y, z (openQCD) or t, z, y, x (DDalphaAMG) |
//! | 16 | the average of Re tr over all plaquettes, from 0 to 3 |
//! | 24 | the links, row-major |
//!
//! openQCD takes the points whose coordinates have an odd sum, z fastest, then y, x, t. For each it stores the links that
//! leave it and arrive at it, in the directions t, x, y, z. DDalphaAMG stores the links that leave each point, x fastest,
//! then y, z, t, in the directions t, z, y, x. The plaquette tells which of the two a file is.

use super::error::{Error, ErrorKind, Place};
use super::format::Format;
use super::gauge_file::{GaugeFile, HeaderCheck};
use super::input::Input;
use super::links::LinkLayout;
use super::numbers::{ByteOrder, Stored};
use super::payload::Payload;
use super::read_options::{ReadOptions, extents};
use crate::geometry::{Dims, NDIM};
use crate::host;
use crate::host::{GaugeConfiguration, Links, Matrix3, plaquette};
use crate::scalar::Precision;
use rayon::prelude::*;

const HEADER: u64 = 24;
const SITE: u64 = 576;

/// How far the plaquette of a header may be from that of the links.
const TOLERANCE: f64 = 1e-8;

/// The extents in a header, as they stand there. `None` if the file has another size.
fn stored_extents(input: &mut Input) -> Result<Option<[usize; NDIM]>, Error> {
    if input.length() < HEADER {
        return Ok(None);
    }
    let header: [u8; HEADER as usize] = input.array("the header", 0)?;
    let stored = [0, 4, 8, 12].map(|at| ByteOrder::Little.u32(&header[at..]) as usize);
    let sites = stored.iter().try_fold(1u64, |volume, &extent| volume.checked_mul(extent as u64));
    let bytes = sites.and_then(|sites| sites.checked_mul(SITE)?.checked_add(HEADER));
    Ok((bytes == Some(input.length()) && sites != Some(0)).then_some(stored))
}

/// Whether the file begins with the extents of a lattice whose links have its size.
pub(super) fn is_one(input: &mut Input) -> Result<bool, Error> {
    stored_extents(input).map(|extents| extents.is_some())
}

/// Reads a file in the format that its plaquette agrees with.
pub(super) fn read(input: &mut Input, options: &ReadOptions) -> Result<GaugeFile, Error> {
    let [t, a, b, c] = stored_extents(input)?.unwrap_or_default();
    let mut problem = None;
    let mut found = None;
    for (format, stored) in [(Format::OpenQcd, [a, b, c, t]), (Format::DdAlphaAmg, [c, b, a, t])] {
        let stored = Dims::new(stored)
            .map_err(|source| input.error(ErrorKind::BadExtents { place: Place::Byte(0), source }));
        let dims = match extents(input, stored, options.dims) {
            Ok(dims) => dims,
            Err(error) => {
                problem.get_or_insert(error);
                continue;
            }
        };
        // One copy of the links at a time.
        drop(found.take());
        let configuration = links(input, format, dims, options)?;
        let check = check(input, &configuration)?;
        let ok = check.ok;
        found = Some((format, configuration, check));
        if ok {
            break;
        }
    }
    let Some((format, configuration, check)) = found else {
        return Err(problem.unwrap_or_else(|| input.error(ErrorKind::Empty)));
    };
    options.tell_extents(configuration.dims());
    Ok(GaugeFile {
        configuration,
        format,
        checksum: None,
        header_checks: vec![check],
        fields: 1,
        facts: vec![("byte order".into(), ByteOrder::Little.to_string())],
        signs: Vec::new(),
        warnings: Vec::new(),
    })
}

fn check(input: &mut Input, configuration: &GaugeConfiguration) -> Result<HeaderCheck, Error> {
    let stored = f64::from_le_bytes(input.array("the plaquette", 16)?) / 3.0;
    let computed = plaquette(configuration).average;
    let (quantity, tolerance) = ("plaquette", TOLERANCE);
    let ok = (stored - computed).abs() <= tolerance;
    Ok(HeaderCheck { quantity, stored, computed, tolerance, ok })
}

fn links(
    input: &mut Input,
    format: Format,
    dims: Dims,
    options: &ReadOptions,
) -> Result<GaugeConfiguration, Error> {
    let matrix = |bytes: &[u8], which: usize| {
        Matrix3::from_fn(|i, j| f64::get_complex(ByteOrder::Little, bytes, 9 * which + 3 * i + j))
    };
    let links = if format == Format::OpenQcd {
        let payload = Payload {
            sites: dims.volume() / 2,
            site_bytes: 2 * SITE as usize,
            method: None,
            progress: options.progress,
        };
        let (around_odd_points, _) =
            payload.read(input, "the links", HEADER, 2 * NDIM, |bytes, links: &mut [Matrix3<f64>]| {
                links.iter_mut().enumerate().for_each(|(which, link)| *link = matrix(bytes, which));
            })?;
        in_order(input, dims, &around_odd_points)?
    } else {
        let layout = LinkLayout::full(Precision::Double, ByteOrder::Little);
        let payload = layout.payload(dims, None, options.progress);
        let decode = |bytes: &[u8], links: &mut [Matrix3<f64>]| {
            // Directions stand in the order t, z, y, x.
            (0..NDIM).for_each(|mu| links[mu] = matrix(bytes, NDIM - 1 - mu));
        };
        payload.read(input, "the links", HEADER, NDIM, decode)?.0
    };
    Ok(GaugeConfiguration::new(dims, Links::Double(links)))
}

/// The links in the order of a configuration, from those around each odd point.
fn in_order(
    input: &Input,
    dims: Dims,
    around_odd_points: &[Matrix3<f64>],
) -> Result<Vec<Matrix3<f64>>, Error> {
    let count = NDIM * dims.volume();
    let mut links = Vec::new();
    host::reserve(&mut links, count).map_err(|_| {
        let bytes = (count * size_of::<Matrix3<f64>>()) as u64;
        input.error(ErrorKind::OutOfMemory { bytes })
    })?;
    let of_odd_point = |site: usize, mu: usize, arriving: usize| {
        let [x, y, z, t] = dims.coordinates(site);
        let point = ((t * dims[0] + x) * dims[1] + y) * dims[2] + z;
        // Directions stand in the order t, x, y, z.
        around_odd_points[8 * (point / 2) + 2 * ((mu + 1) % NDIM) + arriving]
    };
    (0..count)
        .into_par_iter()
        .map(|index| {
            let (site, mu) = (index / NDIM, index % NDIM);
            match dims.parity(site) {
                1 => of_odd_point(site, mu, 0),
                _ => of_odd_point(dims.forward(site, mu), mu, 1),
            }
        })
        .collect_into_vec(&mut links);
    Ok(links)
}
