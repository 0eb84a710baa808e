//! Vector operations on one device.
//!
//! The kernels are in `cl/level1.cl`, their twins in [`host::level1`](crate::host::level1).
//!
//! Operands are buffers or views of equal length on one device. Elements are `f32`, `f64`,
//! `Complex<f32>` or `Complex<f64>`. Factors are any [`Scalar`] of the elements.
//!
//! The inner product is (x, y) = Σ conj(xᵢ) yᵢ.
//!
//! Special values are those of the reference BLAS. With α = 0, x is not read, also if the element
//! type rounds α to 0. With β = 0, y is only written. β = 1 multiplies nothing. NaNs and infinities
//! propagate otherwise.
//!
//! Functions start an operation and do not wait for it. Later commands of the device run after it.
//! An operation that writes comes with a [`Completion`], a sum with a [`Sum`].
//!
//! A sum is accumulated in double, in an order that depends on nothing but the length and the
//! device. So a sum has the same bits every time. Start the sums of all devices of a team before
//! waiting for the first ([`Sum::wait`]).
//!
//! # Errors
//! All functions return these errors:
//! * [`DeviceError::LengthMismatch`](lattice_compute::DeviceError::LengthMismatch) or
//!   [`DeviceError::ForeignBuffer`](lattice_compute::DeviceError::ForeignBuffer) for operands that
//!   do not fit together,
//! * [`DeviceError::Build`](lattice_compute::DeviceError::Build) if a driver does not take the
//!   kernels,
//! * [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the device fails.
//!
//! Sums also return [`DeviceError::TooManySums`](lattice_compute::DeviceError::TooManySums) while
//! thousands of a device's sums are kept.

use super::completion::Completion;
use crate::host::SafeSquares;
use lattice_compute::scalar::{AnyFactor, Element, ElementType, Factor, Precision, Real, Scalar};
use lattice_compute::{
    Argument, ArgumentList, AttachmentKey, BufferView, BufferViewMut, Device, DeviceInfo, DeviceKind, Event,
    Kernel, KernelFamily, KernelKey, REDUCTION_SOURCE, REDUCTION_VALUES, Range, Reduction, Result,
    check_device, check_length,
};
use num_complex::Complex;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

const LEVEL1: KernelFamily = KernelFamily::new(
    "level1",
    &[
        REDUCTION_SOURCE,
        include_str!("../cl/elements.cl"),
        include_str!("../cl/packs.cl"),
        include_str!("../cl/level1.cl"),
    ],
);

/// The way in which operations are cut into work-groups on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Shape {
    /// Work-items of a group.
    local: usize,
    /// Reals that one work-item loads at a time.
    lanes: usize,
    /// `true` if operands begin at addresses that allow such loads.
    aligned: bool,
    /// Groups that keep the whole device busy.
    max_groups: usize,
    /// Elements below which a group is not worth starting.
    min_elements: usize,
}

impl Shape {
    fn of(info: &DeviceInfo, element: ElementType, aligned: bool) -> Self {
        let real = element.precision.bytes();
        if info.kind == DeviceKind::Cpu {
            // One work-item a group, whole vectors of the widest kind, and long stretches, like a
            // loop on the processor.
            let (lanes, max_groups) = (if real == 4 { 16 } else { 8 }, 4 * info.compute_units);
            return Self { local: 1, lanes, aligned: false, max_groups, min_elements: 4096 };
        }
        // Neighbours read neighbouring elements, each with the widest load. On an H200 an update is
        // fastest with one pack for a work-item, by 4 % over two and 8 % over four. A sum of 1 GiB
        // is fastest with eight groups a unit: 4.24 TB/s against 3.72 with four. More groups cost
        // more at their end than they gain.
        let local = info.max_work_group_size.min(256);
        let lanes = if aligned { WIDEST_LOAD / real } else { element.reals() };
        Self { local, lanes, aligned, max_groups: 8 * info.compute_units, min_elements: 4 * local }
    }

    /// Returns the number of groups of a sum over vectors of `len` elements.
    ///
    /// The groups are never more than keep the device busy, so that the sum has few parts.
    fn groups(&self, len: usize) -> usize {
        len.div_ceil(self.min_elements).clamp(1, self.max_groups)
    }

    /// Returns the number of groups of an update of vectors of `len` elements.
    fn groups_of_update(&self, element: ElementType, len: usize) -> usize {
        if self.local == 1 {
            self.groups(len)
        } else {
            (len * element.reals()).div_ceil(self.lanes * self.local).clamp(1, MOST_ITEMS / self.local)
        }
    }
}

/// Most work-items of a launch.
///
/// Some drivers count work-items in 32 bits. With more elements, work-items have several packs.
const MOST_ITEMS: usize = 1 << 30;

/// Bytes of the widest load of a GPU's work-item.
pub(super) const WIDEST_LOAD: usize = 16;

/// The kernels for elements of one type on one device.
struct Kernels {
    element: ElementType,
    shape: Shape,
    copy: Kernel,
    swap: Kernel,
    scal: Kernel,
    scaled_copy: Kernel,
    axpy: Kernel,
    xpby: Kernel,
    axpby: Kernel,
    dot: Kernel,
    norm2: Kernel,
    /// `None` in single precision.
    safe_squares: Option<Kernel>,
    asum: Kernel,
    iamax: Kernel,
    dot_norm2: Kernel,
    axpy_norm2: Kernel,
    cr_step: Kernel,
    cr_direction: Kernel,
}

impl Kernels {
    /// Returns the kernels that are fastest for these operands.
    ///
    /// They are built on first use and kept by the device.
    fn for_operands(device: &Device, operands: &[Argument<'_>]) -> Result<Arc<Self>> {
        let element = operands.iter().find_map(Argument::element).expect("one operand is a vector");
        let aligned = device.info().kind == DeviceKind::Cpu
            || operands.iter().all(|operand| operand.is_aligned_to(WIDEST_LOAD));
        let key = AttachmentKey::from(element).with_variant(usize::from(aligned));
        device.attached_as(key, |device| Self::new(device, element, aligned))
    }

    fn new(device: &Device, element: ElementType, aligned: bool) -> Result<Self> {
        let shape = Shape::of(device.info(), element, aligned);
        let key = KernelKey::of(LEVEL1, element)
            .lanes(shape.lanes)
            .define("LOCAL_SIZE", shape.local)
            .define("ALIGNED", usize::from(shape.aligned));
        let program = device.program(&key)?;
        let kernel = |name| program.kernel(name);
        Ok(Self {
            element,
            shape,
            copy: kernel("copy")?,
            swap: kernel("swap")?,
            scal: kernel("scal")?,
            scaled_copy: kernel("scaled_copy")?,
            axpy: kernel("axpy")?,
            xpby: kernel("xpby")?,
            axpby: kernel("axpby")?,
            dot: kernel("inner_product")?,
            norm2: kernel("norm2")?,
            safe_squares: (element.precision == Precision::Double)
                .then(|| kernel("safe_squares"))
                .transpose()?,
            asum: kernel("asum")?,
            iamax: kernel("iamax")?,
            dot_norm2: kernel("dot_norm2")?,
            axpy_norm2: kernel("axpy_norm2")?,
            cr_step: kernel("cr_step")?,
            cr_direction: kernel("cr_direction")?,
        })
    }
}

/// Starts a kernel that only writes vectors of `len` elements.
fn update(
    device: &Device,
    kernel: fn(&Kernels) -> &Kernel,
    len: usize,
    operands: &[Argument<'_>],
) -> Result<Completion> {
    if len == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Kernels::for_operands(device, operands)?;
    let range = Range::groups(kernels.shape.groups_of_update(kernels.element, len), kernels.shape.local);
    let arguments = ArgumentList::new(operands.iter().copied()).and([Argument::value(len as u64)]);
    Ok(Completion::of(vec![kernel(&kernels).launch(range, arguments.as_slice())?]))
}

/// Starts a kernel that sums over vectors of `len` elements.
fn reduce<R>(
    device: &Device,
    kernel: fn(&Kernels) -> &Kernel,
    len: usize,
    operands: &[Argument<'_>],
    result: fn([f64; REDUCTION_VALUES]) -> R,
) -> Result<Sum<R>> {
    let started = if len == 0 { None } else { Some(start_sum(device, kernel, len, operands)?) };
    let (reduction, event) = started.unzip();
    Ok(Sum { reduction, event, result })
}

fn start_sum(
    device: &Device,
    kernel: fn(&Kernels) -> &Kernel,
    len: usize,
    operands: &[Argument<'_>],
) -> Result<(Reduction, Event)> {
    let kernels = Kernels::for_operands(device, operands)?;
    let groups = kernels.shape.groups(len);
    let mut reduction = device.reduction(groups)?;
    let arguments = ArgumentList::new(operands.iter().copied())
        .and([Argument::value(len as u64)])
        .and(reduction.arguments());
    let event = kernel(&kernels).launch(Range::groups(groups, kernels.shape.local), arguments.as_slice())?;
    Ok((reduction, event))
}

/// A sum, or another result of all elements, under way on a device.
#[must_use = "the sum is read by `wait`"]
pub struct Sum<R> {
    /// `None` for the sum of nothing.
    reduction: Option<Reduction>,
    event: Option<Event>,
    result: fn([f64; REDUCTION_VALUES]) -> R,
}

impl<R> Sum<R> {
    /// Waits for the kernel and returns how long it ran.
    ///
    /// The time does not include the way of the sum to the host. `None` for the sum of nothing, and
    /// unless the device was opened with [`Profiling::On`](lattice_compute::Profiling::On).
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the device failed.
    pub fn duration(&self) -> Result<Option<Duration>> {
        self.event.as_ref().map_or(Ok(None), Event::duration)
    }

    /// Waits for the sum and returns it.
    ///
    /// # Errors
    /// [`DeviceError::OpenCl`](lattice_compute::DeviceError::OpenCl) if the device failed.
    pub fn wait(self) -> Result<R> {
        let sums = self.reduction.map_or(Ok([0.0; REDUCTION_VALUES]), Reduction::read)?;
        Ok((self.result)(sums))
    }
}

impl<R> fmt::Debug for Sum<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sum({:?})", self.reduction)
    }
}

fn complex_sum([re, im, _]: [f64; REDUCTION_VALUES]) -> Complex<f64> {
    Complex::new(re, im)
}

fn dot_and_norm2([re, im, norm2]: [f64; REDUCTION_VALUES]) -> (Complex<f64>, f64) {
    (Complex::new(re, im), norm2)
}

fn real_sum([sum, ..]: [f64; REDUCTION_VALUES]) -> f64 {
    sum
}

/// Checks that an operand is on `device` and has `len` elements.
fn check<T: Element>(
    what: &'static str,
    device: &Device,
    len: usize,
    operand: BufferView<'_, T>,
) -> Result<()> {
    check_length(what, len, operand.len())?;
    check_device(device, operand.device())
}

/// Starts y = x.
pub fn copy<'a, 'b, T: Element>(
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferViewMut<'b, T>>,
) -> Result<Completion> {
    let (x, y) = (x.into(), y.into());
    let (device, len) = (y.device(), y.len());
    check("copy: x", device, len, x)?;
    update(device, |kernels| &kernels.copy, len, &[x.into(), y.into()])
}

/// Starts the exchange of x and y.
pub fn swap<'a, 'b, T: Element>(
    x: impl Into<BufferViewMut<'a, T>>,
    y: impl Into<BufferViewMut<'b, T>>,
) -> Result<Completion> {
    let (x, y) = (x.into(), y.into());
    let (device, len) = (y.device(), y.len());
    check("swap: x", device, len, x.as_view())?;
    update(device, |kernels| &kernels.swap, len, &[x.into(), y.into()])
}

/// Starts x = αx.
///
/// With α = 0, NaNs and infinities become NaN.
pub fn scal<'a, T: Element>(alpha: impl Scalar<T>, x: impl Into<BufferViewMut<'a, T>>) -> Result<Completion> {
    let (alpha, x) = (alpha.factor(), x.into());
    let (device, len) = (x.device(), x.len());
    if alpha.is_one() {
        return Ok(Completion::nothing());
    }
    update(device, |kernels| &kernels.scal, len, &[argument(alpha), x.into()])
}

/// Starts y = y + αx.
///
/// With α = 0, x is not read.
pub fn axpy<'a, 'b, T: Element>(
    alpha: impl Scalar<T>,
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferViewMut<'b, T>>,
) -> Result<Completion> {
    let (alpha, x, y) = (alpha.factor(), x.into(), y.into());
    let (device, len) = (y.device(), y.len());
    check("axpy: x", device, len, x)?;
    if alpha.is_zero() {
        return Ok(Completion::nothing());
    }
    update(device, |kernels| &kernels.axpy, len, &[argument(alpha), x.into(), y.into()])
}

/// Starts y = αx + βy.
///
/// With α = 0, x is not read. With β = 0, y is not read.
pub fn axpby<'a, 'b, T: Element>(
    alpha: impl Scalar<T>,
    x: impl Into<BufferView<'a, T>>,
    beta: impl Scalar<T>,
    y: impl Into<BufferViewMut<'b, T>>,
) -> Result<Completion> {
    let (alpha, x, beta, mut y) = (alpha.factor(), x.into(), beta.factor().keeping(), y.into());
    let (device, len) = (y.device(), y.len());
    check("axpby: x", device, len, x)?;
    match (alpha.is_zero(), beta.is_zero()) {
        (true, true) => {
            y.fill(T::default())?;
            Ok(Completion::nothing())
        }
        (true, false) => scal(beta, y),
        (false, true) => {
            let operands = [argument(alpha), x.into(), y.into()];
            update(device, |kernels| &kernels.scaled_copy, len, &operands)
        }
        (false, false) => {
            let operands = [argument(alpha), x.into(), argument(beta), y.into()];
            update(device, |kernels| &kernels.axpby, len, &operands)
        }
    }
}

/// Starts y = x + βy.
///
/// With β = 0, y is not read.
pub fn xpby<'a, 'b, T: Element>(
    x: impl Into<BufferView<'a, T>>,
    beta: impl Scalar<T>,
    y: impl Into<BufferViewMut<'b, T>>,
) -> Result<Completion> {
    let (x, beta, y) = (x.into(), beta.factor().keeping(), y.into());
    let (device, len) = (y.device(), y.len());
    check("xpby: x", device, len, x)?;
    if beta.is_zero() {
        update(device, |kernels| &kernels.copy, len, &[x.into(), y.into()])
    } else {
        update(device, |kernels| &kernels.xpby, len, &[x.into(), argument(beta), y.into()])
    }
}

/// Starts Σ xᵢ yᵢ of real vectors.
///
/// Complex vectors have [`dotc`] and [`dotu`].
pub fn dot<'a, 'b, T: Element + Real>(
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferView<'b, T>>,
) -> Result<Sum<f64>> {
    product(false, x.into(), y.into(), real_sum)
}

/// Starts Σ conj(xᵢ) yᵢ.
pub fn dotc<'a, 'b, T: Element>(
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferView<'b, T>>,
) -> Result<Sum<Complex<f64>>> {
    product(true, x.into(), y.into(), complex_sum)
}

/// Starts Σ xᵢ yᵢ.
pub fn dotu<'a, 'b, T: Element>(
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferView<'b, T>>,
) -> Result<Sum<Complex<f64>>> {
    product(false, x.into(), y.into(), complex_sum)
}

fn product<T: Element, R>(
    conjugate: bool,
    x: BufferView<'_, T>,
    y: BufferView<'_, T>,
    result: fn([f64; REDUCTION_VALUES]) -> R,
) -> Result<Sum<R>> {
    let (device, len) = (y.device(), y.len());
    check("dot: x", device, len, x)?;
    let operands = [Argument::value(u32::from(conjugate)), x.into(), y.into()];
    reduce(device, |kernels| &kernels.dot, len, &operands, result)
}

/// Starts ‖x‖² = Σ |xᵢ|².
pub fn norm2<'a, T: Element>(x: impl Into<BufferView<'a, T>>) -> Result<Sum<f64>> {
    let x = x.into();
    reduce(x.device(), |kernels| &kernels.norm2, x.len(), &[x.into()], real_sum)
}

/// Starts ‖x‖, without overflow or underflow in between ([`SafeSquares`]).
pub fn nrm2<'a, T: Element>(x: impl Into<BufferView<'a, T>>) -> Result<Sum<f64>> {
    let x = x.into();
    // A double holds the squares of all numbers in single precision.
    if T::Real::PRECISION == Precision::Single {
        return reduce(x.device(), |kernels| &kernels.norm2, x.len(), &[x.into()], |[sum, ..]| sum.sqrt());
    }
    fn kernel(kernels: &Kernels) -> &Kernel {
        kernels.safe_squares.as_ref().unwrap_or(&kernels.norm2)
    }
    let root = |[large, medium, small]: [f64; REDUCTION_VALUES]| SafeSquares { large, medium, small }.root();
    reduce(x.device(), kernel, x.len(), &[x.into()], root)
}

/// Starts Σ |Re xᵢ| + |Im xᵢ|: the sum of absolute values in the sense of the BLAS.
pub fn asum<'a, T: Element>(x: impl Into<BufferView<'a, T>>) -> Result<Sum<f64>> {
    let x = x.into();
    reduce(x.device(), |kernels| &kernels.asum, x.len(), &[x.into()], real_sum)
}

/// Starts the search for the first element with the largest |Re xᵢ| + |Im xᵢ|.
///
/// The result is the element's number, from 0. NaNs are passed over. `None` if there is nothing
/// else.
pub fn iamax<'a, T: Element>(x: impl Into<BufferView<'a, T>>) -> Result<Sum<Option<usize>>> {
    let x = x.into();
    // The kernel counts from 1.
    let result = |[_, number, _]: [f64; REDUCTION_VALUES]| (number as usize).checked_sub(1);
    reduce(x.device(), |kernels| &kernels.iamax, x.len(), &[x.into()], result)
}

/// Starts (x, y) and ‖x‖², in one pass.
pub fn dot_norm2<'a, 'b, T: Element>(
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferView<'b, T>>,
) -> Result<Sum<(Complex<f64>, f64)>> {
    let (x, y) = (x.into(), y.into());
    let (device, len) = (y.device(), y.len());
    check("dot_norm2: x", device, len, x)?;
    reduce(device, |kernels| &kernels.dot_norm2, len, &[x.into(), y.into()], dot_and_norm2)
}

/// Starts y = y + αx, and ‖y‖² of the new y.
///
/// With α = 0, x is not read.
pub fn axpy_norm2<'a, 'b, T: Element>(
    alpha: impl Scalar<T>,
    x: impl Into<BufferView<'a, T>>,
    y: impl Into<BufferViewMut<'b, T>>,
) -> Result<Sum<f64>> {
    let (alpha, x, y) = (alpha.factor(), x.into(), y.into());
    let (device, len) = (y.device(), y.len());
    check("axpy_norm2: x", device, len, x)?;
    if alpha.is_zero() {
        return norm2(y.as_view());
    }
    let operands = [argument(alpha), x.into(), y.into()];
    reduce(device, |kernels| &kernels.axpy_norm2, len, &operands, real_sum)
}

/// Starts one step of Conjugate Residual in one pass.
///
/// The step is x = x + αp, r = r − αAp, and ‖r‖² of the new r. With α = 0, p and Ap are not read.
pub fn cr_step<'a, 'b, 'c, 'd, T: Element>(
    alpha: impl Scalar<T>,
    p: impl Into<BufferView<'a, T>>,
    x: impl Into<BufferViewMut<'b, T>>,
    ap: impl Into<BufferView<'c, T>>,
    r: impl Into<BufferViewMut<'d, T>>,
) -> Result<Sum<f64>> {
    let (alpha, p, x, ap, r) = (alpha.factor(), p.into(), x.into(), ap.into(), r.into());
    let (device, len) = (r.device(), r.len());
    check("cr_step: p", device, len, p)?;
    check("cr_step: x", device, len, x.as_view())?;
    check("cr_step: Ap", device, len, ap)?;
    if alpha.is_zero() {
        return norm2(r.as_view());
    }
    let operands = [argument(alpha), p.into(), x.into(), ap.into(), r.into()];
    reduce(device, |kernels| &kernels.cr_step, len, &operands, real_sum)
}

/// Starts the next direction of Conjugate Residual in one pass.
///
/// The direction is p = r + βp, Ap = Ar + βAp, with (r, Ap) and ‖Ap‖² of the new Ap. With β = 0, p
/// and Ap are not read.
pub fn cr_direction<'a, 'b, 'c, 'd, T: Element>(
    beta: impl Scalar<T>,
    r: impl Into<BufferView<'a, T>>,
    p: impl Into<BufferViewMut<'b, T>>,
    ar: impl Into<BufferView<'c, T>>,
    ap: impl Into<BufferViewMut<'d, T>>,
) -> Result<Sum<(Complex<f64>, f64)>> {
    let (beta, r, mut p, ar, mut ap) = (beta.factor().keeping(), r.into(), p.into(), ar.into(), ap.into());
    let (device, len) = (ap.device(), ap.len());
    check("cr_direction: r", device, len, r)?;
    check("cr_direction: p", device, len, p.as_view())?;
    check("cr_direction: Ar", device, len, ar)?;
    if beta.is_zero() {
        copy(r, p.reborrow())?;
        copy(ar, ap.reborrow())?;
        // The sum is (Ap, r), the conjugate of the wanted (r, Ap).
        let result = |[re, im, norm2]: [f64; REDUCTION_VALUES]| (Complex::new(re, -im), norm2);
        let operands = [ap.as_view().into(), r.into()];
        return reduce(device, |kernels| &kernels.dot_norm2, len, &operands, result);
    }
    let operands = [argument(beta), r.into(), p.into(), ar.into(), ap.into()];
    reduce(device, |kernels| &kernels.cr_direction, len, &operands, dot_and_norm2)
}

/// Makes the argument of a kernel from a factor.
fn argument<T: Element>(factor: Factor<T>) -> Argument<'static> {
    AnyFactor::from(factor).into()
}
