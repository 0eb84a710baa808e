//! The links in a file: four to a site, row-major, two or three rows.
//!
//! The four directions are x, y, z and t.

use super::checksum::{Method, Sums};
use super::error::Error;
use super::input::Input;
use super::numbers::{ByteOrder, Stored};
use super::output::Output;
use super::payload::{Payload, Progress};
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, Matrix3};
use crate::scalar::Precision;

/// The rows of each link that a file holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rows {
    /// All three rows.
    #[default]
    Three,
    /// The first two rows. The third is the conjugate of their cross product.
    Two,
}

impl Rows {
    fn count(self) -> usize {
        match self {
            Rows::Three => 3,
            Rows::Two => 2,
        }
    }
}

/// The storage of the links in a file.
#[derive(Clone, Copy, Debug)]
pub(super) struct LinkLayout {
    pub(super) precision: Precision,
    pub(super) order: ByteOrder,
    pub(super) rows: Rows,
}

impl LinkLayout {
    /// Makes the layout of ILDG, SciDAC and MILC files.
    pub(super) fn full(precision: Precision, order: ByteOrder) -> Self {
        Self { precision, order, rows: Rows::Three }
    }

    /// Returns the data of a lattice in this layout.
    pub(super) fn payload<'a>(
        self,
        dims: Dims,
        method: Option<Method>,
        progress: Progress<'a>,
    ) -> Payload<'a> {
        let site_bytes = NDIM * self.rows.count() * 6 * self.precision.bytes();
        Payload { sites: dims.volume(), site_bytes, method, progress }
    }

    /// Reads the links of `payload`, which begin at `byte`.
    pub(super) fn read(
        self,
        input: &mut Input,
        payload: &Payload,
        byte: u64,
    ) -> Result<(Links, Sums), Error> {
        let what = "the links";
        Ok(match self.precision {
            Precision::Single => {
                let (links, sums) =
                    payload.read(input, what, byte, NDIM, |bytes, links| self.decode::<f32>(bytes, links))?;
                (Links::Single(links), sums)
            }
            Precision::Double => {
                let (links, sums) =
                    payload.read(input, what, byte, NDIM, |bytes, links| self.decode::<f64>(bytes, links))?;
                (Links::Double(links), sums)
            }
        })
    }

    /// Writes the links of a configuration, in the precision of this layout.
    pub(super) fn write(
        self,
        output: &mut Output,
        payload: &Payload,
        config: &GaugeConfiguration,
    ) -> Result<Sums, Error> {
        match (config.links(), self.precision) {
            // Equal precisions have cases of their own, to keep every bit, also of a NaN.
            (Links::Single(links), Precision::Single) => payload.write(output, |site, bytes| {
                self.encode(&links[NDIM * site..NDIM * (site + 1)], bytes);
            }),
            (Links::Double(links), Precision::Double) => payload.write(output, |site, bytes| {
                self.encode(&links[NDIM * site..NDIM * (site + 1)], bytes);
            }),
            (_, Precision::Single) => payload.write(output, |site, bytes| {
                self.encode(
                    &std::array::from_fn::<_, NDIM, _>(|mu| config.link(site, mu).cast::<f32>()),
                    bytes,
                );
            }),
            (_, Precision::Double) => payload.write(output, |site, bytes| {
                self.encode(&std::array::from_fn::<_, NDIM, _>(|mu| config.link(site, mu)), bytes);
            }),
        }
    }

    fn decode<T: Stored>(self, bytes: &[u8], links: &mut [Matrix3<T>]) {
        let rows = self.rows.count();
        for (mu, link) in links.iter_mut().enumerate() {
            let get = |i, j| T::get_complex(self.order, bytes, 3 * (rows * mu + i) + j);
            *link = match self.rows {
                Rows::Three => Matrix3::from_fn(get),
                Rows::Two => third_row_rebuilt(std::array::from_fn(|i| std::array::from_fn(|j| get(i, j)))),
            };
        }
    }

    fn encode<T: Stored>(self, links: &[Matrix3<T>], bytes: &mut [u8]) {
        let rows = self.rows.count();
        for (mu, link) in links.iter().enumerate() {
            for i in 0..rows {
                for j in 0..3 {
                    T::put_complex(link.0[i][j], self.order, bytes, 3 * (rows * mu + i) + j);
                }
            }
        }
    }
}

/// Makes a link from its first two rows.
///
/// The third row is computed in double.
fn third_row_rebuilt<T: Stored>([a, b]: [[num_complex::Complex<T>; 3]; 2]) -> Matrix3<T> {
    let zero = [num_complex::Complex::default(); 3];
    let double = Matrix3([a, b, zero]).cast::<f64>().0;
    let third = Matrix3::from_two_rows([double[0], double[1]]).cast::<T>().0[2];
    Matrix3([a, b, third])
}
