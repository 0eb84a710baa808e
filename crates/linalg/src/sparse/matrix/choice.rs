//! The choice of a format: by counted bytes, or by an earlier measurement.

use super::options::MatrixOptions;
use super::placed::{Placed, bytes_of_value};
use crate::error::{BlasError, BlasResult};
use crate::host::level1::Arithmetic;
use crate::sparse::arithmetic::letter;
use crate::sparse::csr::Csr;
use crate::sparse::format::{BLOCKS, Format, diagonals};
use crate::sparse::processor::Processor;
use crate::sparse::vector::Vector;
use lattice_compute::Device;
use lattice_compute::scalar::Element;
use lattice_compute::tuning::{Key, RenewError, Step, Tunable, TuningResult, known, renew, time_of_launch};
use num_complex::{Complex, Complex64};
use std::sync::Arc;
use std::time::Duration;

/// Returns the format for a matrix at a place.
///
/// It is the one that a measurement has kept for the pattern, else that of the fewest bytes.
pub(super) fn chosen<T: Arithmetic>(place: &Processor, source: &Csr<T>, options: MatrixOptions) -> Format {
    let single = options.rounds_values::<T>();
    let by_bytes = || Placed::format_of_fewest_bytes(place, source, single);
    match place {
        Processor::Host => by_bytes(),
        Processor::Device(device) => {
            let complaint = |format: &Format| complaint(source, *format);
            known(device, &key(source, options.vectors, single), complaint, by_bytes)
        }
    }
}

/// Returns a number rounded to single precision.
pub(super) fn rounded<T: Arithmetic>(value: T) -> T {
    let value: Complex<f32> = Element::from_complex(value.to_complex());
    T::from_complex(Complex64::new(value.re.into(), value.im.into()))
}

/// The key of the fastest format: the pattern of the matrix, and the products.
fn key<T: Arithmetic>(source: &Csr<T>, vectors: usize, single: bool) -> Key {
    let key = Key::new("sparse format", format!("{}x{}", source.rows(), source.columns()))
        .option("pattern", format!("{:016x}", source.pattern_hash()))
        .option("element", letter::<T>())
        .option("vectors", vectors);
    if single { key.option("values", "single") } else { key }
}

fn complaint<T: Arithmetic>(source: &Csr<T>, format: Format) -> Option<String> {
    let (rows, columns) = (source.rows(), source.columns());
    match format {
        Format::Blocks(size) => {
            let divides = BLOCKS.contains(&size) && rows.is_multiple_of(size) && columns.is_multiple_of(size);
            (!divides).then(|| format!("blocks of {size} do not divide a {rows}×{columns} matrix"))
        }
        // The pattern says nothing of the values.
        Format::Symmetric => {
            (!source.is_hermitian()).then(|| "the matrix is not its own conjugate transpose".to_owned())
        }
        Format::Diagonals => {
            diagonals(source).is_none().then(|| "the entries lie on too many diagonals".to_owned())
        }
        _ => None,
    }
}

/// The fastest format of a matrix, as a search has found it.
#[derive(Clone, Debug)]
pub struct TunedFormat {
    /// Pattern, element type and number of vectors.
    pub key: Key,
    /// The format of the fewest bytes.
    pub shipped: Format,
    /// The result of the search.
    pub found: TuningResult<Format>,
}

/// Searches now for the fastest format of a matrix on a device, and keeps it.
///
/// Each format that the matrix can have is timed in products with `vectors` vectors. Matrices of the
/// same pattern get the result from then on. An earlier result is replaced.
///
/// # Errors
/// If the device fails or has not the memory, and if the result cannot be kept.
pub fn tune_format<T: Arithmetic>(
    device: &Device,
    source: &Arc<Csr<T>>,
    options: MatrixOptions,
    budget: Duration,
) -> Result<TunedFormat, RenewError<BlasError>> {
    let choice = Choice {
        device,
        place: device.into(),
        source,
        vectors: options.vectors,
        single: options.rounds_values::<T>(),
    };
    let (key, shipped) = (choice.key(), choice.shipped());
    let found = renew(&choice, budget)?;
    Ok(TunedFormat { key, shipped, found })
}

/// The choice of the format of a matrix.
struct Choice<'a, T> {
    device: &'a Device,
    place: Processor,
    source: &'a Arc<Csr<T>>,
    vectors: usize,
    single: bool,
}

/// The vectors of products, and the matrix in the format that was timed last.
struct Trial<T> {
    x: Vector<T>,
    y: Vector<T>,
    last: Option<(Format, Placed<T>)>,
}

impl<T: Arithmetic> Tunable for Choice<'_, T> {
    type Variant = Format;
    type Data = Trial<T>;
    type Error = BlasError;

    fn device(&self) -> &Device {
        self.device
    }

    fn key(&self) -> Key {
        key(self.source, self.vectors, self.single)
    }

    fn shipped(&self) -> Format {
        Placed::format_of_fewest_bytes(&self.place, self.source, self.single)
    }

    fn steps(&self) -> Vec<Step<'_, Format>> {
        let height = Placed::<T>::slice_height(&self.place);
        let candidates = Format::candidates_of(self.source, height, bytes_of_value::<T>(self.single));
        vec![Box::new(move |_| candidates.iter().map(|(format, _)| *format).collect())]
    }

    fn complaint(&self, format: &Format) -> Option<String> {
        complaint(self.source, *format)
    }

    fn data(&self) -> BlasResult<Trial<T>> {
        let ones = vec![T::from_complex(1.0.into()); self.source.columns() * self.vectors];
        Ok(Trial {
            x: Vector::from_slice(&self.place, &ones)?,
            y: Vector::zero(&self.place, self.source.rows() * self.vectors)?,
            last: None,
        })
    }

    fn time(&self, format: &Format, Trial { x, y, last }: &mut Trial<T>) -> BlasResult<Duration> {
        if last.as_ref().is_none_or(|(other, _)| other != format) {
            // Two formats at once may not fit into the memory.
            *last = None;
            *last = Some((*format, Placed::new(&self.place, self.source, *format, self.single)?));
        }
        let Some((_, matrix)) = last else { unreachable!("the matrix was just made") };
        time_of_launch(|| matrix.multiply_block(self.vectors, x, y), || self.place.finish())
    }
}
