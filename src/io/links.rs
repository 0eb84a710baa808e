//! The links in a file: four to a site, row-major, two or three rows.
//!
//! The four directions are x, y, z and t.

use super::checksum::{Method, Sums};
use super::error::{Error, ErrorKind};
use super::input::Input;
use super::numbers::{ByteOrder, Stored};
use super::output::Output;
use super::payload::{Payload, Progress};
use super::read_options::ReadOptions;
use crate::geometry::{Dims, NDIM};
use crate::host::{GaugeConfiguration, Links, LocalSites, Matrix3};
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

    /// Reads the links that begin at `byte`, and the sums of all their bytes.
    ///
    /// If the options say so, each process reads a part, and the sums are those of all processes.
    pub(super) fn read(
        self,
        input: &mut Input,
        dims: Dims,
        method: Option<Method>,
        byte: u64,
        options: &ReadOptions,
    ) -> Result<(GaugeConfiguration, Sums), Error> {
        let payload = self.payload(dims, method, options.progress);
        let part = options
            .parts
            .and_then(|parts| Some(LocalSites::new(dims, &(parts.wanted)(dims)?, parts.company)));
        let part = part.as_ref();
        let (links, sums) = match self.precision {
            Precision::Single => {
                let (links, sums) = self.values::<f32>(input, &payload, byte, part)?;
                (Links::Single(links), sums)
            }
            Precision::Double => {
                let (links, sums) = self.values::<f64>(input, &payload, byte, part)?;
                (Links::Double(links), sums)
            }
        };
        let Some(part) = part else { return Ok((GaugeConfiguration::new(dims, links), sums)) };
        let sums = payload.sums_of_all(part, sums).ok_or_else(|| given_up(input))?;
        Ok((GaugeConfiguration::of_part(dims, links, part.clone()), sums))
    }

    fn values<T: Stored>(
        self,
        input: &mut Input,
        payload: &Payload,
        byte: u64,
        part: Option<&LocalSites>,
    ) -> Result<(Vec<Matrix3<T>>, Sums), Error> {
        let decode = |bytes: &[u8], links: &mut [Matrix3<T>]| self.decode::<T>(bytes, links);
        match part {
            Some(part) => payload.read_part(input, "the links", byte, NDIM, part, decode),
            None => payload.read(input, "the links", byte, NDIM, decode),
        }
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

/// Ends the reading in parts, after which each process reads all.
pub(super) fn given_up(input: &Input) -> Error {
    let source = std::io::Error::other("another process cannot read its part");
    input.error(ErrorKind::System { action: "read the file in parts", source })
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
