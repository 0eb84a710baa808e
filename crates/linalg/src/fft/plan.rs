//! Transforms of complex arrays.

use super::axis::{Axis, Direction};
use super::error::{FftError, FftResult};
use super::kernels::Kernels;
use super::lines::{Mode, lines};
use super::operand::Operand;
use super::shape::{Layout, Scale, Shape};
use crate::completion::Completion;
use lattice_compute::scalar::Real;
use lattice_compute::{BufferView, BufferViewMut, Device, Event};
use num_complex::Complex;
use std::sync::Arc;

/// A prepared transform of complex arrays, for one device.
///
/// Forward: X_k = Σ_j x_j exp(−2πi jk/n) along every axis. The inverse has a plus sign. Neither is
/// scaled, unless [`scaled`](Self::scaled) says so. Plans are used as often as wanted. Calls only
/// enqueue.
///
/// ```no_run
/// use lattice_compute::{Buffer, Team};
/// use lattice_linalg::fft::{Plan, Scale, Shape};
/// use num_complex::Complex;
///
/// let team = Team::select([])?;
/// let device = team.device()?;
/// let plan = Plan::<f64>::new(device, &Shape::new(&[30, 31, 32]))?.scaled(Scale::ByLength);
/// let mut data = Buffer::<Complex<f64>>::zeroed(device, 30 * 31 * 32)?;
/// plan.forward_in_place(&mut data)?;
/// plan.inverse_in_place(&mut data)?.wait()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plan<T: Real> {
    device: Device,
    kernels: Arc<Kernels<T>>,
    shape: Shape,
    input: Layout,
    output: Layout,
    /// From input to output along the last axis, then in place in the output.
    forward: Vec<Axis<T>>,
    /// From output to input, then in place in the input; `None` if both have one layout.
    inverse: Option<Vec<Axis<T>>>,
    scale: Scale,
}

/// Prepares the complex axes, last axis first: the first one from one layout to another.
fn axes<T: Real>(
    device: &Device,
    kernels: &Kernels<T>,
    shape: &Shape,
    from: &Layout,
    to: &Layout,
) -> FftResult<Vec<Axis<T>>> {
    let mut source = from;
    let mut axes = Vec::new();
    let mut left = shape.extents.len();
    if Axis::<T>::are_planes(kernels, shape, [Mode::Complex; 2]) {
        axes.push(Axis::planes(device, kernels, shape, (from, Mode::Complex), (to, Mode::Complex))?);
        (left, source) = (left - 2, to);
    }
    for axis in (0..left).rev() {
        // An axis of one element is a copy, which the first transform makes anyway.
        if shape.extents[axis] == 1 && axis + 1 < shape.extents.len() {
            continue;
        }
        let (from, to) = ((source, Mode::Complex), (to, Mode::Complex));
        axes.push(Axis::new(device, kernels, lines(&shape.extents, shape.batch, axis, from, to))?);
        source = to.0;
    }
    Ok(axes)
}

/// Checks that the device has the memory that a plan needs beside the data.
pub(super) fn expect_memory<T: Real>(device: &Device, axes: &[&Axis<T>], more: u64) -> FftResult<()> {
    let wanted = axes.iter().map(|axis| axis.scratch_bytes()).max().unwrap_or(0).saturating_add(more);
    let available = device.info().memory_bytes;
    if wanted <= available {
        return Ok(());
    }
    Err(FftError::Memory { wanted, available, device: device.label().to_owned() })
}

/// Checks an operand's length and device.
pub(super) fn expect_operand(
    side: &'static str,
    wanted: usize,
    found: usize,
    [plan, operand]: [&Device; 2],
) -> FftResult<()> {
    if plan != operand {
        let (wanted, found) = (plan.label().to_owned(), operand.label().to_owned());
        return Err(FftError::OtherDevice { side, wanted, found });
    }
    if wanted > found { Err(FftError::BufferTooShort { side, wanted, found }) } else { Ok(()) }
}

/// Runs axes one after another: the first from one operand to the other, the rest in place.
pub(super) fn run<T: Real>(
    device: &Device,
    kernels: &Kernels<T>,
    axes: &[Axis<T>],
    direction: Direction,
    mut from: Option<Operand<'_>>,
    to: Operand<'_>,
    scale: f64,
) -> FftResult<Vec<Event>> {
    let mut events = Vec::with_capacity(axes.len());
    for (number, axis) in axes.iter().enumerate() {
        let scale = if number + 1 == axes.len() { scale } else { 1.0 };
        events.extend(axis.run(device, kernels, direction, from.take(), to, scale)?);
    }
    Ok(events)
}

impl<T: Real> Plan<T> {
    /// Prepares a transform: compiles kernels, and makes tables on the device.
    ///
    /// # Errors
    /// A shape without elements, with overlapping elements, or too long for the device.
    /// [`FftError::Memory`]; [`FftError::Device`].
    pub fn new(device: &Device, shape: &Shape) -> FftResult<Self> {
        shape.check()?;
        let [input, output] = shape.layouts(&shape.extents, &shape.extents)?;
        let kernels = Kernels::of(device)?;
        let forward = axes(device, &kernels, shape, &input, &output)?;
        let inverse =
            if input == output { None } else { Some(axes(device, &kernels, shape, &output, &input)?) };
        expect_memory(device, &forward.iter().chain(inverse.iter().flatten()).collect::<Vec<_>>(), 0)?;
        let (device, shape) = (device.clone(), shape.clone());
        Ok(Self { device, kernels, shape, input, output, forward, inverse, scale: Scale::None })
    }

    /// Sets what results are multiplied by.
    pub fn scaled(self, scale: Scale) -> Self {
        Self { scale, ..self }
    }

    /// Returns the shape.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Starts the transform of `input` into `output`.
    ///
    /// # Errors
    /// [`FftError::BufferTooShort`], [`FftError::OtherDevice`], [`FftError::Device`].
    pub fn forward<'a>(
        &self,
        input: impl Into<BufferView<'a, Complex<T>>>,
        output: impl Into<BufferViewMut<'a, Complex<T>>>,
    ) -> FftResult<Completion> {
        let layouts = [&self.input, &self.output];
        self.out_of_place(Direction::Forward, ["input", "output"], layouts, input.into(), output.into())
    }

    /// Starts the inverse transform of `output` into `input`.
    ///
    /// # Errors
    /// All errors of [`forward`](Self::forward).
    pub fn inverse<'a>(
        &self,
        output: impl Into<BufferView<'a, Complex<T>>>,
        input: impl Into<BufferViewMut<'a, Complex<T>>>,
    ) -> FftResult<Completion> {
        let layouts = [&self.output, &self.input];
        self.out_of_place(Direction::Inverse, ["output", "input"], layouts, output.into(), input.into())
    }

    /// Starts the transform of `data` in place.
    ///
    /// # Errors
    /// [`FftError::NotInPlace`], and all errors of [`forward`](Self::forward).
    pub fn forward_in_place<'a>(
        &self,
        data: impl Into<BufferViewMut<'a, Complex<T>>>,
    ) -> FftResult<Completion> {
        self.in_place("the forward transform", Direction::Forward, data.into())
    }

    /// Starts the inverse transform of `data` in place.
    ///
    /// # Errors
    /// [`FftError::NotInPlace`], and all errors of [`forward`](Self::forward).
    pub fn inverse_in_place<'a>(
        &self,
        data: impl Into<BufferViewMut<'a, Complex<T>>>,
    ) -> FftResult<Completion> {
        self.in_place("the inverse transform", Direction::Inverse, data.into())
    }

    fn axes_and_scale(&self, direction: Direction) -> (&[Axis<T>], f64) {
        let [forward, inverse] = self.scale.factors(self.shape.points());
        match direction {
            Direction::Forward => (&self.forward, forward),
            Direction::Inverse => (self.inverse.as_ref().unwrap_or(&self.forward), inverse),
        }
    }

    fn out_of_place(
        &self,
        direction: Direction,
        sides: [&'static str; 2],
        layouts: [&Layout; 2],
        from: BufferView<'_, Complex<T>>,
        mut to: BufferViewMut<'_, Complex<T>>,
    ) -> FftResult<Completion> {
        let end = |layout: &Layout| layout.end(&self.shape.extents, self.shape.batch);
        expect_operand(sides[0], end(layouts[0]), from.len(), [&self.device, from.device()])?;
        expect_operand(sides[1], end(layouts[1]), to.len(), [&self.device, to.device()])?;
        let (axes, scale) = self.axes_and_scale(direction);
        let (from, to) = (Operand::new(from, true), Operand::new(&mut to, true));
        let events = run(&self.device, &self.kernels, axes, direction, Some(from), to, scale)?;
        Ok(Completion::of(events))
    }

    fn in_place(
        &self,
        operation: &'static str,
        direction: Direction,
        mut data: BufferViewMut<'_, Complex<T>>,
    ) -> FftResult<Completion> {
        if self.input != self.output {
            return Err(FftError::NotInPlace { operation });
        }
        let end = self.input.end(&self.shape.extents, self.shape.batch);
        expect_operand("data", end, data.len(), [&self.device, data.device()])?;
        let (axes, scale) = self.axes_and_scale(direction);
        let data = Operand::new(&mut data, true);
        let events = run(&self.device, &self.kernels, axes, direction, None, data, scale)?;
        Ok(Completion::of(events))
    }
}
