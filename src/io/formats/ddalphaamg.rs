//! DDalphaAMG: the links that leave each point.
//!
//! The coordinate x runs fastest, then y, z, t. The directions come in the order t, z, y, x.

use super::gauge_format::{About, Found, GaugeFormat};
use super::registry::Format;
use super::universal::{self, HEADER, Order, matrix};
use crate::geometry::{Dims, NDIM};
use crate::host::Matrix3;
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::links::LinkLayout;
use crate::io::numbers::ByteOrder;
use crate::io::read_options::ReadOptions;
use crate::scalar::Precision;

pub(super) struct DdAlphaAmg;

impl GaugeFormat for DdAlphaAmg {
    fn about(&self) -> About {
        About {
            name: "ddalphaamg",
            title: "DDalphaAMG",
            beginning: universal::BEGINNING,
            reads: "64 bits, the header's plaquette is verified",
            endings: &[],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], length: u64) -> bool {
        universal::recognise(start, length)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<Found, Error> {
        universal::read(input, options, &[ORDER])
    }
}

/// The order in which openQCD's reader tries this format.
pub(super) const ORDER: Order =
    Order { format: Format::DdAlphaAmg, extents: |[t, z, y, x]| [x, y, z, t], links };

fn links(input: &mut Input, dims: Dims, options: &ReadOptions) -> Result<Vec<Matrix3<f64>>, Error> {
    let layout = LinkLayout::full(Precision::Double, ByteOrder::Little);
    let payload = layout.payload(dims, None, options.progress);
    let decode = |bytes: &[u8], links: &mut [Matrix3<f64>]| {
        (0..NDIM).for_each(|mu| links[mu] = matrix(bytes, NDIM - 1 - mu));
    };
    Ok(payload.read(input, "the links", HEADER, NDIM, decode)?.0)
}
