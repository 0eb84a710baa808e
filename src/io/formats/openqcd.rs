//! openQCD: the links around the points whose coordinates have an odd sum.
//!
//! The points come with z fastest, then y, x, t. For each point there are the links that leave it
//! and arrive at it, in the directions t, x, y, z.

use super::ddalphaamg;
use super::gauge_format::{About, Found, GaugeFormat};
use super::registry::Format;
use super::universal::{self, HEADER, Order, SITE, matrix};
use crate::geometry::{Dims, NDIM};
use crate::host;
use crate::host::Matrix3;
use crate::io::error::{Error, ErrorKind};
use crate::io::input::Input;
use crate::io::payload::Payload;
use crate::io::read_options::ReadOptions;
use rayon::prelude::*;

pub(super) struct OpenQcd;

impl GaugeFormat for OpenQcd {
    fn about(&self) -> About {
        About {
            name: "openqcd",
            title: "openQCD",
            beginning: universal::BEGINNING,
            reads: "the \"universal\" form, 64 bits, the header's plaquette is verified",
            endings: &[],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], length: u64) -> bool {
        universal::recognise(start, length)
    }

    /// Reads a file of openQCD, or of DDalphaAMG, which begins alike.
    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<Found, Error> {
        universal::read(input, options, &[ORDER, ddalphaamg::ORDER])
    }
}

const ORDER: Order = Order { format: Format::OpenQcd, extents: |[t, x, y, z]| [x, y, z, t], links };

fn links(input: &mut Input, dims: Dims, options: &ReadOptions) -> Result<Vec<Matrix3<f64>>, Error> {
    let payload = Payload {
        sites: dims.volume() / 2,
        site_bytes: 2 * SITE as usize,
        method: None,
        progress: options.progress,
    };
    let decode = |bytes: &[u8], links: &mut [Matrix3<f64>]| {
        links.iter_mut().enumerate().for_each(|(which, link)| *link = matrix(bytes, which));
    };
    let (around_odd_points, _) = payload.read(input, "the links", HEADER, 2 * NDIM, decode)?;
    in_order(input, dims, &around_odd_points)
}

/// Puts the links around each odd point into the order of a configuration.
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
        // Directions come in the order t, x, y, z.
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
