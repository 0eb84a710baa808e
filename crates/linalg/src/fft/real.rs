//! Transforms of real arrays, whose results are half a spectrum.

use super::axis::{Axis, Direction};
use super::error::{FftError, FftResult};
use super::kernels::Kernels;
use super::lines::{Mode, lines};
use super::operand::Operand;
use super::plan::{expect_memory, expect_operand, run};
use super::shape::{Layout, Scale, Shape};
use crate::completion::Completion;
use lattice_compute::scalar::Real;
use lattice_compute::{Buffer, BufferView, BufferViewMut, Device};
use num_complex::Complex;
use std::sync::Arc;

/// A prepared transform of real arrays, for one device.
///
/// The results k = 0 … ⌊n/2⌋ along the last axis are kept; the others are their conjugates. Rows are
/// transformed in pairs, as real and imaginary part of one complex row. Definition, scale and use
/// are those of [`Plan`](super::Plan).
///
/// The inverse does not look at the imaginary parts that are zero for real arrays.
pub struct RealPlan<T: Real> {
    device: Device,
    kernels: Arc<Kernels<T>>,
    shape: Shape,
    input: Layout,
    output: Layout,
    /// Extents of the half spectrum.
    half: Vec<usize>,
    /// Rows, from the real side to the other.
    rows: Axis<T>,
    /// Rows, from the half spectrum to the real side.
    back: Axis<T>,
    /// Other axes of the half spectrum, in place.
    others: Vec<Axis<T>>,
    /// For inverses that keep what they read; `None` with one axis.
    kept: Option<PreservingInverse<T>>,
    scale: Scale,
}

/// An inverse by way of scratch memory.
struct PreservingInverse<T> {
    /// Axes but the last: the first one from the half spectrum to scratch memory, the others there.
    others: Vec<Axis<T>>,
    /// Rows, from scratch memory to the real side.
    back: Axis<T>,
    /// Complex numbers of the scratch memory.
    len: usize,
}

/// Returns the extents of the half spectrum of a real array.
pub fn half_extents(extents: &[usize]) -> Vec<usize> {
    let mut half = extents.to_vec();
    if let Some(last) = half.last_mut() {
        *last = *last / 2 + 1;
    }
    half
}

impl<T: Real> RealPlan<T> {
    /// Prepares a transform: compiles kernels, and makes tables on the device.
    ///
    /// The input's layout counts reals, the output's complex numbers of the half spectrum.
    ///
    /// # Errors
    /// A shape without elements, with overlapping elements, or too long for the device.
    /// [`FftError::Memory`]; [`FftError::Device`].
    pub fn new(device: &Device, shape: &Shape) -> FftResult<Self> {
        shape.check()?;
        let half = half_extents(&shape.extents);
        let [input, output] = shape.layouts(&shape.extents, &half)?;
        let kernels = Kernels::<T>::of(device)?;
        let last = half.len() - 1;
        let real = (&input, Mode::Real);
        // A plane in one launch has the second axis of rows, too.
        let are_planes = Axis::<T>::are_planes(&kernels, shape, [Mode::Real, Mode::Half]);
        let inner_end = if are_planes { last - 1 } else { last };
        let row = |from, to| match are_planes {
            true => Axis::planes(device, &kernels, shape, from, to),
            false => Axis::new(device, &kernels, lines(&shape.extents, shape.batch, last, from, to)),
        };
        let rows = row(real, (&output, Mode::Half))?;
        let back = row((&output, Mode::Half), real)?;
        let inner: Vec<usize> = (0..inner_end).rev().filter(|&axis| half[axis] > 1).collect();
        let others = |first: &Layout, rest: &Layout| {
            let axes = inner.iter().enumerate().map(|(number, &axis)| {
                let from = (if number == 0 { first } else { rest }, Mode::Complex);
                let lines = lines(&half, shape.batch, axis, from, (rest, Mode::Complex));
                Axis::new(device, &kernels, lines)
            });
            axes.collect::<FftResult<Vec<_>>>()
        };
        let scratch = Layout::dense(&half);
        let kept = if inner.is_empty() {
            None
        } else {
            Some(PreservingInverse {
                others: others(&output, &scratch)?,
                back: row((&scratch, Mode::Half), real)?,
                len: scratch.end(&half, shape.batch),
            })
        };
        let others = others(&output, &output)?;
        let more = kept.as_ref().map_or(0, |kept| (kept.len * 2 * size_of::<T>()) as u64);
        let mut all: Vec<&Axis<T>> = others.iter().chain([&rows, &back]).collect();
        all.extend(kept.iter().flat_map(|kept| &kept.others));
        expect_memory(device, &all, more)?;
        let (device, shape) = (device.clone(), shape.clone());
        let scale = Scale::None;
        Ok(Self { device, kernels, shape, input, output, half, rows, back, others, kept, scale })
    }

    /// Sets what results are multiplied by.
    pub fn scaled(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// Returns the shape of the real side.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Returns the extents of the half spectrum.
    pub fn half_extents(&self) -> &[usize] {
        &self.half
    }

    fn real_end(&self) -> usize {
        self.input.end(&self.shape.extents, self.shape.batch)
    }

    fn half_end(&self) -> usize {
        self.output.end(&self.half, self.shape.batch)
    }

    /// Starts the transform of `input`, which is real, into half a spectrum.
    ///
    /// # Errors
    /// [`FftError::BufferTooShort`], [`FftError::OtherDevice`], [`FftError::Device`].
    pub fn forward<'a>(
        &self,
        input: impl Into<BufferView<'a, T>>,
        output: impl Into<BufferViewMut<'a, Complex<T>>>,
    ) -> FftResult<Completion> {
        let (input, mut output) = (input.into(), output.into());
        expect_operand("input", self.real_end(), input.len(), [&self.device, input.device()])?;
        expect_operand("output", self.half_end(), output.len(), [&self.device, output.device()])?;
        self.run_forward(Some(Operand::new(input, false)), Operand::new(&mut output, true))
    }

    /// Starts the inverse of half a spectrum into a real array. `output` is only read.
    ///
    /// # Errors
    /// All errors of [`forward`](Self::forward).
    pub fn inverse<'a>(
        &self,
        output: impl Into<BufferView<'a, Complex<T>>>,
        input: impl Into<BufferViewMut<'a, T>>,
    ) -> FftResult<Completion> {
        let (output, mut input) = (output.into(), input.into());
        expect_operand("output", self.half_end(), output.len(), [&self.device, output.device()])?;
        expect_operand("input", self.real_end(), input.len(), [&self.device, input.device()])?;
        let scale = self.scale.factors(self.shape.points())[1];
        let (device, kernels, direction) = (&self.device, &*self.kernels, Direction::Inverse);
        let (from, to) = (Operand::new(output, true), Operand::new(&mut input, false));
        let Some(kept) = &self.kept else {
            let events = self.back.run(device, kernels, direction, Some(from), to, scale)?;
            return Ok(Completion::of(events));
        };
        let mut between = device.scratch::<Complex<T>>(kept.len)?;
        let there = Operand::new(between.output(), true);
        let mut events = run(device, kernels, &kept.others, direction, Some(from), there, 1.0)?;
        let back = Operand::new(between.input(), true);
        events.extend(kept.back.run(device, kernels, direction, Some(back), to, scale)?);
        Ok(Completion::of(events))
    }

    /// Starts the inverse of half a spectrum into a real array.
    ///
    /// `output` is overwritten, and no memory is needed beside it.
    ///
    /// # Errors
    /// All errors of [`forward`](Self::forward).
    pub fn inverse_overwriting<'a>(
        &self,
        output: impl Into<BufferViewMut<'a, Complex<T>>>,
        input: impl Into<BufferViewMut<'a, T>>,
    ) -> FftResult<Completion> {
        let (mut output, mut input) = (output.into(), input.into());
        expect_operand("output", self.half_end(), output.len(), [&self.device, output.device()])?;
        expect_operand("input", self.real_end(), input.len(), [&self.device, input.device()])?;
        let scale = self.scale.factors(self.shape.points())[1];
        let (device, kernels, direction) = (&self.device, &*self.kernels, Direction::Inverse);
        let half = Operand::new(&mut output, true);
        let mut events = run(device, kernels, &self.others, direction, None, half, 1.0)?;
        let to = Operand::new(&mut input, false);
        events.extend(self.back.run(device, kernels, direction, Some(half), to, scale)?);
        Ok(Completion::of(events))
    }

    /// Starts the transform of a real array in place.
    ///
    /// Real rows must be twice as far apart as rows of the half spectrum, and so on for all axes:
    /// give `input` the layout [`Layout::padded`] with rows of 2(⌊n/2⌋ + 1) reals.
    ///
    /// # Errors
    /// [`FftError::NotInPlace`], and all errors of [`forward`](Self::forward).
    pub fn forward_in_place(&self, data: &mut Buffer<T>) -> FftResult<Completion> {
        self.expect_in_place("the forward transform", data)?;
        self.run_forward(None, Operand::new(data, false))
    }

    /// Starts the inverse in place, from half a spectrum to the real array.
    ///
    /// # Errors
    /// [`FftError::NotInPlace`], and all errors of [`forward`](Self::forward).
    pub fn inverse_in_place(&self, data: &mut Buffer<T>) -> FftResult<Completion> {
        self.expect_in_place("the inverse transform", data)?;
        let scale = self.scale.factors(self.shape.points())[1];
        let (device, kernels, direction) = (&self.device, &*self.kernels, Direction::Inverse);
        let data = Operand::new(data, false);
        let mut events = run(device, kernels, &self.others, direction, None, data, 1.0)?;
        events.extend(self.back.run(device, kernels, direction, None, data, scale)?);
        Ok(Completion::of(events))
    }

    fn run_forward(&self, from: Option<Operand<'_>>, to: Operand<'_>) -> FftResult<Completion> {
        let scale = self.scale.factors(self.shape.points())[0];
        let (device, kernels, direction) = (&self.device, &*self.kernels, Direction::Forward);
        let row_scale = if self.others.is_empty() { scale } else { 1.0 };
        let mut events = self.rows.run(device, kernels, direction, from, to, row_scale)?;
        events.extend(run(device, kernels, &self.others, direction, None, to, scale)?);
        Ok(Completion::of(events))
    }

    /// Checks that each real row lies where its half spectrum does.
    fn expect_in_place(&self, operation: &'static str, data: &Buffer<T>) -> FftResult<()> {
        let last = self.half.len() - 1;
        let agree = |real: usize, half: usize, extent: usize| extent == 1 || real == 2 * half;
        let rows = (0..last)
            .all(|axis| agree(self.input.strides[axis], self.output.strides[axis], self.half[axis]))
            && agree(self.input.distance, self.output.distance, self.shape.batch);
        if !rows || self.input.strides[last] != 1 || self.output.strides[last] != 1 {
            return Err(FftError::NotInPlace { operation });
        }
        let wanted = self.real_end().max(2 * self.half_end());
        expect_operand("data", wanted, data.len(), [&self.device, data.device()])
    }
}
