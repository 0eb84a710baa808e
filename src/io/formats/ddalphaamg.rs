//! DDalphaAMG: the links that leave each point.
//!
//! The coordinate x runs fastest, then y, z, t. The directions come in the order t, z, y, x.

use super::feature::Feature;
use super::gauge_format::{About, GaugeFormat, UncheckedGaugeFile, WrittenFormat};
use super::registry::Format;
use super::universal::{self, HEADER, Order, matrix, put_matrix};
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Matrix3};
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::links::LinkLayout;
use crate::io::numbers::ByteOrder;
use crate::io::output::Output;
use crate::io::read_options::ReadOptions;
use crate::io::write_options::WriteOptions;
use crate::scalar::Precision;

pub(super) struct DdAlphaAmg;

impl GaugeFormat for DdAlphaAmg {
    fn about(&self) -> About {
        About {
            name: "ddalphaamg",
            title: "DDalphaAMG",
            beginning: universal::BEGINNING,
            reads: "64 bits, the header's plaquette is verified",
            endings: &["ddalphaamg"],
            provenance: &[],
            takes_over: &[],
        }
    }

    fn recognise(&self, start: &[u8], length: u64) -> bool {
        universal::recognise(start, length)
    }

    fn read(&self, input: &mut Input, options: &ReadOptions) -> Result<UncheckedGaugeFile, Error> {
        universal::read(input, options, &[ORDER])
    }
}

impl WrittenFormat for DdAlphaAmg {
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
        universal::write_header(output, configuration, [t, z, y, x])?;
        let layout = LinkLayout::full(Precision::Double, ByteOrder::Little);
        let payload = layout.payload(dims, None, options.progress);
        let encode = |site: usize, bytes: &mut [u8]| {
            (0..NDIM).for_each(|mu| put_matrix(&configuration.link(site, mu), bytes, NDIM - 1 - mu));
        };
        payload.write(output, encode).map(drop)
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
