//! Links that lie direction by direction: NPY and PyQUDA's HDF5.
//!
//! The directions are x, y, z, t. Within a direction there is one link to a site, x fastest,
//! row-major.

use super::feature::Feature;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3};
use crate::io::checksum::{Method, Sums};
use crate::io::error::Error;
use crate::io::input::Input;
use crate::io::numbers::{ByteOrder, Stored};
use crate::io::output::Output;
use crate::io::payload::{Fill, Payload};
use crate::io::read_options::ReadOptions;
use crate::scalar::Precision;

/// Complex numbers of a link.
const ENTRIES: usize = 9;

/// Features that no file of these formats has.
pub(super) const CANNOT_HOLD: &[Feature] = &[Feature::BigEndian, Feature::TwoRows, Feature::LogicalFileName];

/// The storage of the links.
#[derive(Clone, Copy)]
pub(super) struct ByDirection {
    pub(super) dims: Dims,
    pub(super) precision: Precision,
    pub(super) order: ByteOrder,
    /// The rule of the sums of each direction, if there are sums.
    pub(super) method: Option<Method>,
}

impl ByDirection {
    /// Returns the links of one direction.
    pub(super) fn payload(&self) -> Payload<'static> {
        Payload {
            sites: self.dims.volume(),
            site_bytes: 2 * ENTRIES * self.precision.bytes(),
            method: self.method,
            progress: None,
        }
    }

    /// Reads all links, and the sums of each direction.
    ///
    /// `fills` has a function for each direction. The caller has made sure that the file holds so
    /// many bytes.
    pub(super) fn read(
        &self,
        input: &mut Input,
        options: &ReadOptions,
        fills: &mut [Box<Fill<'_>>; NDIM],
    ) -> Result<(Links, [Sums; NDIM]), Error> {
        options.tell_extents(input, self.dims)?;
        Ok(match self.precision {
            Precision::Single => {
                let (links, sums) = self.read_as::<f32>(input, options, fills)?;
                (Links::Single(links), sums)
            }
            Precision::Double => {
                let (links, sums) = self.read_as::<f64>(input, options, fills)?;
                (Links::Double(links), sums)
            }
        })
    }

    fn read_as<T: Stored + Default>(
        &self,
        input: &mut Input,
        options: &ReadOptions,
        fills: &mut [Box<Fill<'_>>; NDIM],
    ) -> Result<(Vec<Matrix3<T>>, [Sums; NDIM]), Error> {
        let payload = self.payload();
        let mut links: Vec<Matrix3<T>> = payload.room(input, NDIM)?;
        let mut sums = [Method::NOTHING; NDIM];
        for (mu, fill) in fills.iter_mut().enumerate() {
            let decode = |bytes: &[u8], links: &mut [Matrix3<T>]| {
                links[mu] = Matrix3::from_fn(|i, j| T::get_complex(self.order, bytes, 3 * i + j));
            };
            sums[mu] = payload.stream(input, fill, |first, bytes| {
                payload.decode(bytes, &mut links[NDIM * first..], NDIM, decode);
            })?;
            if let Some(progress) = options.progress {
                progress((mu as u64 + 1) * payload.bytes(), NDIM as u64 * payload.bytes());
            }
        }
        Ok((links, sums))
    }

    /// Writes the links of one direction, and returns their sums.
    pub(super) fn write(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        mu: usize,
    ) -> Result<Sums, Error> {
        match self.precision {
            Precision::Single => self.write_as::<f32>(output, configuration, mu),
            Precision::Double => self.write_as::<f64>(output, configuration, mu),
        }
    }

    fn write_as<T: Stored>(
        &self,
        output: &mut Output,
        configuration: &GaugeConfiguration,
        mu: usize,
    ) -> Result<Sums, Error> {
        self.payload().write(output, |site, bytes| {
            let link = configuration.link(site, mu).cast::<T>();
            for (k, &entry) in link.0.iter().flatten().enumerate() {
                T::put_complex(entry, self.order, bytes, k);
            }
        })
    }
}
