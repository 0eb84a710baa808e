//! openQCD: the links around the points whose coordinates have an odd sum.
//!
//! The points come with z fastest, then y, x, t. For each point there are the links that leave it
//! and arrive at it, in the directions t, x, y, z.

use super::ddalphaamg;
use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use super::universal::{self, HEADER, Order, SITE, matrix, put_matrix};
use crate::compute::parallel::*;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Matrix3};
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::output::Output;
use crate::io::payload::{Payload, Progress};
use crate::io::read_options::ReadOptions;
use crate::io::write_options::WriteOptions;

pub(super) struct OpenQcd;

impl GaugeFormat for OpenQcd {
    fn about(&self) -> About {
        About {
            name: "openqcd",
            title: "openQCD",
            beginning: universal::BEGINNING,
            reads: "the \"universal\" form, 64 bits, the header's plaquette is verified",
            endings: &["openqcd"],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], length: u64) -> bool {
        universal::recognise(start, length)
    }

    /// Reads a file of openQCD, or of DDalphaAMG, which begins alike.
    ///
    /// A file that is named as openQCD is read as such, also if its plaquette is wrong.
    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        let orders = [ORDER, ddalphaamg::ORDER];
        let count = if options.format == Some(Format::OpenQcd) { 1 } else { orders.len() };
        universal::read(input, options, &orders[..count])
    }
}

const ORDER: Order = Order { format: Format::OpenQcd, extents: |[t, x, y, z]| [x, y, z, t], links };

/// Returns the payload of a lattice.
///
/// It has a record for each odd point, with the eight links around it.
fn payload<'a>(sites: usize, progress: Progress<'a>) -> Payload<'a> {
    Payload { sites: sites / 2, site_bytes: 2 * SITE as usize, method: None, progress }
}

/// Reads one time slice after the other.
///
/// So little more than the links is in memory. The points of a slice have all its links in space,
/// and the links in time on both of its sides.
fn links(input: &mut Input, dims: Dims, options: &ReadOptions) -> Result<Vec<Matrix3<f64>>, Error> {
    let all = payload(dims.volume(), None);
    input.expect("the links", HEADER, all.bytes())?;
    let mut links = all.room(input, 2 * NDIM)?;
    let in_slice = dims.volume() / dims[NDIM - 1];
    let slice = payload(in_slice, None);
    for t in 0..dims[NDIM - 1] {
        let byte = HEADER + t as u64 * slice.bytes();
        let decode = |bytes: &[u8], links: &mut [Matrix3<f64>]| {
            links.iter_mut().enumerate().for_each(|(which, link)| *link = matrix(bytes, which));
        };
        let (around, _) = slice.read(input, "the links", byte, 2 * NDIM, decode)?;
        let of_odd_point = |site: usize, mu: usize, arriving: usize| {
            around[8 * (place(dims, site) % (in_slice / 2)) + 2 * position(mu) + arriving]
        };
        let own = &mut links[NDIM * in_slice * t..NDIM * in_slice * (t + 1)];
        own.par_chunks_exact_mut(NDIM).enumerate().for_each(|(k, links)| {
            let site = in_slice * t + k;
            let is_odd = dims.parity(site) == 1;
            for mu in 0..NDIM {
                if is_odd {
                    links[mu] = of_odd_point(site, mu, 0);
                } else if mu < NDIM - 1 {
                    links[mu] = of_odd_point(dims.forward(site, mu), mu, 1);
                }
            }
        });
        let before = (t + dims[NDIM - 1] - 1) % dims[NDIM - 1];
        let earlier = &mut links[NDIM * in_slice * before..NDIM * in_slice * (before + 1)];
        earlier.par_chunks_exact_mut(NDIM).enumerate().for_each(|(k, links)| {
            let site = in_slice * before + k;
            if dims.parity(site) == 0 {
                links[NDIM - 1] = of_odd_point(dims.forward(site, NDIM - 1), NDIM - 1, 1);
            }
        });
        if let Some(progress) = options.progress {
            progress((t as u64 + 1) * slice.bytes(), all.bytes());
        }
    }
    Ok(links)
}

/// Returns the number of an odd point among the odd points of the file.
///
/// One of two neighbours in z is odd.
fn place(dims: Dims, site: usize) -> usize {
    let [x, y, z, t] = dims.coordinates(site);
    (((t * dims[0] + x) * dims[1] + y) * dims[2] + z) / 2
}

/// Returns the site of the odd point with this number.
fn odd_site(dims: Dims, place: usize) -> usize {
    let [in_x, in_y, in_z, _] = dims.extents();
    let [z, rest] = [2 * place % in_z, 2 * place / in_z];
    let [x, y, t] = [rest / in_y % in_x, rest % in_y, rest / in_y / in_x];
    let even_z = dims.site([x, y, z, t]);
    if dims.parity(even_z) == 1 { even_z } else { dims.site([x, y, z + 1, t]) }
}

/// Returns the place of a direction: these come in the order t, x, y, z.
fn position(mu: usize) -> usize {
    (mu + 1) % NDIM
}

impl WrittenFormat for OpenQcd {
    fn cannot_hold(&self) -> &'static [Feature] {
        universal::CANNOT_HOLD
    }

    fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        options: &WriteOptions,
    ) -> Result<(), Error> {
        let dims = configuration.dims();
        let [x, y, z, t] = dims.extents();
        universal::write_header(output, configuration, [t, x, y, z])?;
        let encode = |point: usize, bytes: &mut [u8]| {
            let site = odd_site(dims, point);
            for mu in 0..NDIM {
                let links = [configuration.link(site, mu), configuration.link(dims.backward(site, mu), mu)];
                links.iter().enumerate().for_each(|(k, link)| put_matrix(link, bytes, 2 * position(mu) + k));
            }
        };
        payload(dims.volume(), options.progress).write(output, encode).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odd_points_and_their_numbers_belong_together() {
        let dims = Dims::new([4, 6, 2, 8]).unwrap();
        for number in 0..dims.volume() / 2 {
            let site = odd_site(dims, number);
            assert_eq!((dims.parity(site), place(dims, site)), (1, number));
        }
    }
}
