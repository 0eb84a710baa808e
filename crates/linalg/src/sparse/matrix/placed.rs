//! A matrix at a place in a format, without the rows that it was made of.

use super::on_device::{OnDevice, Slices};
use super::stored::Stored;
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::format::Format;
use crate::sparse::processor::Processor;
use crate::sparse::space::{Space, expect};
use crate::sparse::vector::Vector;
use lattice_compute::{Buffer, Device};
use lattice_solvers::{LinearOperator, Work};
use std::sync::Arc;

enum Memory<T> {
    Host(Box<Stored<T>>),
    Device(Box<OnDevice<T>>),
}

/// Rows of a slice on the host.
const HOST_SLICE: usize = 8;

/// Returns the bytes of a value, which may be rounded to single precision.
pub(super) fn bytes_of_value<T: Arithmetic>(single: bool) -> usize {
    if single { T::REALS * size_of::<f32>() } else { size_of::<T>() }
}

/// The arrays of a matrix at a place.
pub(in crate::sparse) struct Placed<T> {
    rows: usize,
    columns: usize,
    entries: usize,
    format: Format,
    bytes: u64,
    memory: Memory<T>,
    /// The space of its square.
    space: Space<T>,
}

impl<T: Arithmetic> Placed<T> {
    /// Brings a matrix to a place in a format that it can have.
    ///
    /// Values are rounded to single precision if `single`.
    pub fn new(place: &Processor, source: &Arc<Csr<T>>, format: Format, single: bool) -> BlasResult<Self> {
        let stored = Stored::new(source, format, Self::slice_height(place), bytes_of_value::<T>(single));
        let extents = [source.rows(), source.columns(), source.entries()];
        Self::of_stored(place, extents, format, stored, single)
    }

    /// Brings a matrix to a place in the format that is chosen there.
    pub fn chosen(place: &Processor, source: impl Into<Arc<Csr<T>>>) -> BlasResult<Self> {
        let source = source.into();
        let format = Self::chosen_format(place, &source);
        Self::new(place, &source, format, false)
    }

    /// Brings a diagonal matrix to a place.
    pub fn diagonal(place: &Processor, values: Vec<T>) -> BlasResult<Self> {
        let extents = [values.len(); 3];
        let stored = Stored::Diagonals { offsets: vec![0], values };
        Self::of_stored(place, extents, Format::Diagonals, stored, false)
    }

    fn of_stored(
        place: &Processor,
        [rows, columns, entries]: [usize; 3],
        format: Format,
        stored: Stored<T>,
        single: bool,
    ) -> BlasResult<Self> {
        let bytes = stored.bytes(bytes_of_value::<T>(single));
        let memory = match place {
            Processor::Host => Memory::Host(Box::new(stored)),
            Processor::Device(device) => Memory::Device(Box::new(OnDevice::new(device, &stored, single)?)),
        };
        Ok(Self { rows, columns, entries, format, bytes, memory, space: Space::new(place, rows)? })
    }

    /// Makes a matrix of slices that lie on a device. They have the height of the device's slices.
    pub fn of_slices(
        device: &Device,
        [rows, columns]: [usize; 2],
        entries: usize,
        slices: Slices<T>,
    ) -> BlasResult<Self> {
        let bytes = slices.bytes();
        Ok(Self {
            rows,
            columns,
            entries,
            format: Format::Sell,
            bytes,
            memory: Memory::Device(Box::new(OnDevice::of_slices(device, slices)?)),
            space: Space::new(&device.into(), rows)?,
        })
    }

    /// Makes a diagonal matrix of numbers that lie on a device.
    pub fn of_diagonal(device: &Device, values: Buffer<T>) -> BlasResult<Self> {
        let rows = values.len();
        Ok(Self {
            rows,
            columns: rows,
            entries: rows,
            format: Format::Diagonals,
            bytes: (rows * size_of::<T>()) as u64,
            memory: Memory::Device(Box::new(OnDevice::of_diagonal(device, values)?)),
            space: Space::new(&device.into(), rows)?,
        })
    }

    /// Returns the format of the fewest bytes, and rows on the host.
    pub fn chosen_format(place: &Processor, source: &Csr<T>) -> Format {
        Self::format_of_fewest_bytes(place, source, false)
    }

    /// Returns the format of the fewest bytes with values in single precision if `single`.
    pub fn format_of_fewest_bytes(place: &Processor, source: &Csr<T>, single: bool) -> Format {
        match place {
            // The host's own loops go by rows.
            Processor::Host => Format::Csr,
            Processor::Device(_) => {
                Format::of_fewest_bytes_of(source, Self::slice_height(place), bytes_of_value::<T>(single))
            }
        }
    }

    /// Returns the rows of a slice of the format [`Format::Sell`] at a place.
    pub fn slice_height(place: &Processor) -> usize {
        match place {
            Processor::Host => HOST_SLICE,
            Processor::Device(device) => OnDevice::<T>::slice_height(device),
        }
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the format.
    pub fn format(&self) -> Format {
        self.format
    }

    /// Returns the bytes of the arrays.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Starts y = A x.
    pub fn multiply(&self, x: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        self.multiply_block(1, x, y)
    }

    /// Starts Y = A X for several vectors at once, with a row for each component.
    pub fn multiply_block(&self, vectors: usize, x: &Vector<T>, y: &mut Vector<T>) -> BlasResult<()> {
        let (rows, columns, place) = (self.rows, self.columns, self.space.place());
        expect("sparse product", "x", (place, columns * vectors), x, "as A has columns")?;
        expect("sparse product", "y", (place, rows * vectors), y, "as A has rows")?;
        let extents = [rows, columns, vectors];
        match (&self.memory, x, y) {
            (Memory::Host(stored), Vector::Host(x), Vector::Host(y)) => stored.multiply(extents, x, y),
            (Memory::Device(matrix), Vector::Device(x), Vector::Device(y)) => {
                matrix.multiply(extents, x, y)?
            }
            _ => unreachable!("the places were checked"),
        }
        Ok(())
    }
}

/// A square matrix.
impl<T: Arithmetic> LinearOperator for Placed<T> {
    type Space = Space<T>;

    fn space(&self) -> &Space<T> {
        &self.space
    }

    fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
        self.multiply(x, out)
    }

    fn work(&self) -> Work {
        let per_entry = if T::IS_COMPLEX { 8 } else { 2 };
        let vectors = ((self.rows + self.columns) * size_of::<T>()) as u64;
        Work { flops: per_entry * self.entries as u64, bytes: self.bytes + vectors }
    }
}
