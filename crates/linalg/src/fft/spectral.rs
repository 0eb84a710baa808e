//! Products of spectra with functions, between a transform of real arrays and its inverse.

use super::axis::{Axis, Direction, Local};
use super::callback::Callback;
use super::error::FftResult;
use super::fixed::LEAST_ELEMENTS;
use super::kernels::Kernels;
use super::lines::{Lines, Mode, lines};
use super::operand::Operand;
use super::plan::{expect_memory, expect_operand, run};
use super::shape::{Layout, Shape};
use super::variant::FftTuning;
use crate::completion::Completion;
use lattice_compute::scalar::Real;
use lattice_compute::{Argument, Buffer, Device};
use num_complex::Complex;
use std::ops::Range;
use std::sync::Arc;

/// A prepared transform of real arrays of three axes, with a product between it and its inverse.
///
/// The first axis there and back with the product between is one kernel where lines fit local memory.
/// Small arrays have no such kernel, which would not be worth its compilation. The other two axes go by
/// slabs of planes, so that transfers can run beside them.
///
/// An array may be a part of a longer one that is zero behind it, and of whose result only that part
/// counts. Lines that are zero are not computed then, and zeros are not read.
pub struct SpectralProduct<T: Real> {
    device: Device,
    kernels: Arc<Kernels<T>>,
    filled: [usize; 3],
    extents: [usize; 3],
    /// Planes of a slab; the last slab may have fewer.
    planes: usize,
    /// All slabs but the last one, and the last one if it has fewer planes.
    slabs: Vec<Slab<T>>,
    first: First<T>,
}

/// The second and third axes of some planes.
struct Slab<T> {
    rows: Rows<T>,
    there: Option<Axis<T>>,
    back: Option<Axis<T>>,
    rows_back: Axis<T>,
}

enum Rows<T> {
    /// With the callback for numbers that are read.
    Seen(Box<Local<T>>),
    Plain(Axis<T>),
}

/// The first axis.
enum First<T> {
    /// There and back, with the product between.
    Product(Box<Local<T>>),
    /// There, and back.
    Apart(Box<[Axis<T>; 2]>),
}

/// Prepares lines in local memory with a callback; `None` if they do not fit or without a callback.
fn local<T: Real>(
    device: &Device,
    kernels: &Kernels<T>,
    lines: Lines,
    callback: Option<&Callback>,
) -> FftResult<Option<Box<Local<T>>>> {
    if callback.is_none() {
        return Ok(None);
    }
    let lines = lines.sorted();
    let tuning = FftTuning::chosen::<T>(device, kernels.cut, &lines);
    let local = |tuning| Local::new(device, lines, &tuning, 0, callback).map(Box::new);
    tuning.map(local).transpose()
}

/// Changes how many elements exist where lines are read and where they are written.
fn present(mut lines: Lines, from: usize, to: usize) -> Lines {
    (lines.from.present, lines.to.present) = (from, to);
    lines
}

impl<T: Real> SpectralProduct<T> {
    /// Prepares arrays of `filled` reals in longer ones of `extents`, in slabs of so many planes.
    ///
    /// The spectrum has half the components along the last axis, and lies without gaps. `loaded` sees
    /// the density while rows are read, and `product` defines `MULTIPLY`.
    ///
    /// # Errors
    /// Extents without elements or beyond the device; [`FftError::Memory`](super::FftError::Memory);
    /// [`FftError::Device`](super::FftError::Device), also if a text does not compile.
    pub fn new(
        device: &Device,
        [filled, extents]: [[usize; 3]; 2],
        planes: usize,
        loaded: &Callback,
        product: &Callback,
    ) -> FftResult<Self> {
        Shape::new(&extents).check()?;
        Shape::new(&filled.map(|n| n.min(planes.max(1)))).check()?;
        let kernels = Kernels::<T>::of(device)?;
        let ([f1, f2, f3], [n1, n2, n3]) = (filled, extents);
        let half = n3 / 2 + 1;
        let is_worth = n1 * n2 * half >= LEAST_ELEMENTS;
        let [loaded, product] = [loaded, product].map(|callback| is_worth.then_some(callback));
        let spectrum = Layout::dense(&[n1, n2, half]);
        let axis = |lines| Axis::new(device, &kernels, lines);
        let slab = |planes: usize| -> FftResult<Slab<T>> {
            let dense = Layout::dense(&[planes, f2, f3]);
            let (real, complex) = ((&dense, Mode::Real), (&spectrum, Mode::Complex));
            let row = |from, to| lines(&[planes, f2, n3], 1, 2, from, to);
            let rows = present(row(real, (&spectrum, Mode::Half)), f3, n3);
            let rows_back = present(row((&spectrum, Mode::Half), real), n3, f3);
            let second = |from, to| {
                let lines = present(lines(&[planes, n2, half], 1, 1, complex, complex), from, to);
                (n2 > 1).then(|| axis(lines)).transpose()
            };
            Ok(Slab {
                rows: match local(device, &kernels, rows.clone(), loaded)? {
                    Some(seen) => Rows::Seen(seen),
                    None => Rows::Plain(axis(rows)?),
                },
                there: second(f2, n2)?,
                back: second(n2, f2)?,
                rows_back: axis(rows_back)?,
            })
        };
        let planes = planes.clamp(1, f1);
        let mut slabs = vec![slab(planes)?];
        if !f1.is_multiple_of(planes) {
            slabs.push(slab(f1 % planes)?);
        }
        let column = |from, to| {
            let side = (&spectrum, Mode::Complex);
            present(lines(&[n1, n2, half], 1, 0, side, side), from, to)
        };
        let first = match local(device, &kernels, column(f1, f1), product)? {
            Some(product) => First::Product(product),
            None => First::Apart(Box::new([axis(column(f1, n1))?, axis(column(n1, f1))?])),
        };
        let mut all = Vec::new();
        for Slab { rows, there, back, rows_back } in &slabs {
            all.extend(there.iter().chain(back).chain([rows_back]));
            all.extend(if let Rows::Plain(axis) = rows { Some(axis) } else { None });
        }
        if let First::Apart(axes) = &first {
            all.extend(axes.iter());
        }
        expect_memory(device, &all, 0)?;
        Ok(Self { device: device.clone(), kernels, filled, extents, planes, slabs, first })
    }

    /// Returns the number of complex numbers of the spectrum.
    pub fn components(&self) -> usize {
        let [n1, n2, n3] = self.extents;
        n1 * n2 * (n3 / 2 + 1)
    }

    /// Returns the planes of each slab.
    pub fn slabs(&self) -> Vec<Range<usize>> {
        let (all, planes) = (self.filled[0], self.planes);
        (0..all).step_by(planes).map(|first| first..all.min(first + planes)).collect()
    }

    /// Returns the number of work-groups that read the rows of a slab, the largest one.
    ///
    /// `None` if rows do not fit local memory, or if the array is small. They are then read without their
    /// callback.
    pub fn row_groups(&self) -> Option<usize> {
        match &self.slabs[0].rows {
            Rows::Seen(rows) => Some(rows.groups()),
            Rows::Plain(_) => None,
        }
    }

    /// Returns the number of work-groups of the product.
    ///
    /// `None` if the first axis does not fit local memory, or if the array is small. The caller then
    /// multiplies between
    /// [`there`](Self::there) and [`back`](Self::back).
    pub fn product_groups(&self) -> Option<usize> {
        match &self.first {
            First::Product(product) => Some(product.groups()),
            First::Apart(_) => None,
        }
    }

    /// Returns the bytes of arrays that transforms and product read and write.
    ///
    /// A product that is not in the kernel of the first axis reads and writes the spectrum.
    pub fn bytes_moved(&self) -> u64 {
        let [f1, f2, f3] = self.filled.map(|n| n as u64);
        let [n1, n2, n3] = self.extents.map(|n| n as u64);
        let half = 2 * (n3 / 2 + 1);
        let rows = f1 * f2 * (f3 + half);
        let second = if n2 > 1 { f1 * (f2 + n2) * half } else { 0 };
        let first = match self.first {
            First::Product(_) => 2 * f1 * n2 * half,
            First::Apart(_) => (2 * (f1 + n1) + 2 * n1) * n2 * half,
        };
        size_of::<T>() as u64 * (2 * (rows + second) + first)
    }

    fn slab(&self, number: usize) -> (&Slab<T>, Range<usize>) {
        let first = number * self.planes;
        let planes = first..self.filled[0].min(first + self.planes);
        let is_short = planes.len() < self.planes;
        (&self.slabs[usize::from(is_short)], planes)
    }

    /// Checks the operands of a slab, and returns where its planes begin in both.
    fn expect(&self, real: &Buffer<T>, spectrum: &Buffer<Complex<T>>) -> FftResult<[usize; 2]> {
        let [f1, f2, f3] = self.filled;
        expect_operand("array", f1 * f2 * f3, real.len(), [&self.device, real.device()])?;
        self.expect_spectrum(spectrum)?;
        Ok([f2 * f3, self.components() / self.extents[0]])
    }

    fn expect_spectrum(&self, spectrum: &Buffer<Complex<T>>) -> FftResult<()> {
        expect_operand("spectrum", self.components(), spectrum.len(), [&self.device, spectrum.device()])
    }

    /// Starts the transform of a slab's planes, with the arguments of the callback for rows.
    ///
    /// # Errors
    /// [`FftError::BufferTooShort`](super::FftError::BufferTooShort),
    /// [`FftError::OtherDevice`](super::FftError::OtherDevice),
    /// [`FftError::Device`](super::FftError::Device).
    ///
    /// # Panics
    /// If there is no slab of this number.
    pub fn planes_there(
        &self,
        number: usize,
        array: &Buffer<T>,
        spectrum: &mut Buffer<Complex<T>>,
        arguments: &[Argument<'_>],
    ) -> FftResult<Completion> {
        let (slab, planes) = self.slab(number);
        let [real, complex] = self.expect(array, spectrum)?;
        let (device, kernels, direction) = (&self.device, &*self.kernels, Direction::Forward);
        let from = Operand::new(array.slice(planes.start * real..)?, false);
        let mut spectrum = spectrum.slice_mut(planes.start * complex..)?;
        let to = Operand::new(&mut spectrum, true);
        let mut events = match &slab.rows {
            Rows::Seen(rows) => vec![rows.run_with(kernels, Some(from), to, 0, 1.0, arguments)?],
            Rows::Plain(rows) => rows.run(device, kernels, direction, Some(from), to, 1.0)?,
        };
        events.extend(run(device, kernels, slab.there.as_slice(), direction, None, to, 1.0)?);
        Ok(Completion::of(events))
    }

    /// Starts the inverse of a slab's planes.
    ///
    /// # Errors
    /// All errors of [`planes_there`](Self::planes_there).
    ///
    /// # Panics
    /// If there is no slab of this number.
    pub fn planes_back(
        &self,
        number: usize,
        spectrum: &mut Buffer<Complex<T>>,
        array: &mut Buffer<T>,
    ) -> FftResult<Completion> {
        let (slab, planes) = self.slab(number);
        let [real, complex] = self.expect(array, spectrum)?;
        let (device, kernels, direction) = (&self.device, &*self.kernels, Direction::Inverse);
        let mut spectrum = spectrum.slice_mut(planes.start * complex..)?;
        let mut array = array.slice_mut(planes.start * real..)?;
        let (from, to) = (Operand::new(&mut spectrum, true), Operand::new(&mut array, false));
        let mut events = run(device, kernels, slab.back.as_slice(), direction, None, from, 1.0)?;
        events.extend(slab.rows_back.run(device, kernels, direction, Some(from), to, 1.0)?);
        Ok(Completion::of(events))
    }

    /// Starts the first axis there and back with the product between, or only there.
    ///
    /// Without [`product_groups`](Self::product_groups) the axis only goes there, and `arguments` are
    /// not looked at.
    ///
    /// # Errors
    /// All errors of [`planes_there`](Self::planes_there).
    pub fn there(
        &self,
        spectrum: &mut Buffer<Complex<T>>,
        arguments: &[Argument<'_>],
    ) -> FftResult<Completion> {
        self.expect_spectrum(spectrum)?;
        let kernels = &*self.kernels;
        let data = Operand::new(spectrum, true);
        Ok(Completion::of(match &self.first {
            First::Product(product) => vec![product.run_with(kernels, None, data, 0, 1.0, arguments)?],
            First::Apart(axes) => axes[0].run(&self.device, kernels, Direction::Forward, None, data, 1.0)?,
        }))
    }

    /// Starts the inverse of the first axis, unless the product's kernel has done it.
    ///
    /// # Errors
    /// All errors of [`planes_there`](Self::planes_there).
    pub fn back(&self, spectrum: &mut Buffer<Complex<T>>) -> FftResult<Completion> {
        self.expect_spectrum(spectrum)?;
        let data = Operand::new(spectrum, true);
        Ok(match &self.first {
            First::Product(_) => Completion::nothing(),
            First::Apart(axes) => {
                let direction = Direction::Inverse;
                Completion::of(axes[1].run(&self.device, &self.kernels, direction, None, data, 1.0)?)
            }
        })
    }
}
