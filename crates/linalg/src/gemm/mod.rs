//! Products of matrices, C = α op(A) op(B) + β C, on one device.
//!
//! ```
//! use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op, gemm};
//! use lattice_compute::{Buffer, Selector, Team};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let team = Team::select(Selector::Auto)?;
//! let Some(device) = team.devices().first() else { return Ok(()) };
//! let a = Buffer::from_slice(device, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])?; // rows (1 2 3), (4 5 6)
//! let mut c = Buffer::zeroed(device, 4)?;
//! let a = MatRef::new(&a, MatrixLayout::row_major(2, 3))?;
//! gemm(Op::N, Op::T, 1.0, a, a, 0.0, MatMut::new(&mut c, MatrixLayout::column_major(2, 2))?)?;
//! assert_eq!(c.to_vec()?, [14.0, 32.0, 32.0, 77.0]); // A Aᵀ; reading waits, nothing else has to
//! # Ok(())
//! # }
//! ```
//!
//! # The contract
//! The contract is that of the BLAS. With β = 0, C is only written, whatever it holds. With α = 0,
//! A and B are not read. Any extent may be 0. With no terms to add, C = β C. If also β = 1, C
//! stays unchanged. NaNs and infinities in A and B enter all sums, also if they meet zeros.
//!
//! Elements are `f32`, `f64`, `Complex<f32>` or `Complex<f64>`. α and β are any [`Scalar`] of the
//! elements. Factors and result may be row- or column-major independently.
//!
//! Batches ([`MatRef::batch`], [`MatMut::batch`]) of equally many matrices are multiplied one by
//! one, in one launch. A [`Grouped`] list has products of different shapes. Matrices of 16-bit numbers
//! are multiplied by [`gemm_half`](half::gemm_half).
//!
//! # Kernels
//! [`gemv`](super::gemv) computes a product with one row or one column. If C has too few tiles to
//! keep the device busy, sums are cut into parts. The parts are added afterwards, always in the
//! same order. With at most 32 rows, columns or terms, tiles are narrow.
//!
//! [`GemmTuning`] names the kernels; [`gemm_with`] takes one. [`gemm`] takes the fastest that an
//! earlier search ([`tune_gemm`]) has kept for products of this class, or the shipped one. The
//! [`TuningMode`](lattice_compute::TuningMode) of the device decides between the two. The twin of
//! all kernels is [`host::gemm`](crate::host::gemm::gemm).
//!
//! # Memory
//! Processors pack parts of both factors into scratch memory, at most 64 MiB at a time. Sums in
//! parts take as much memory as C for each part. The device keeps scratch memory for later
//! products.

mod grouped;
mod grouped_launch;
mod grouped_tile;
pub mod half;
mod kernels;
mod narrow;
mod output_region;
mod panels;
mod problem;
mod size;
mod skinny;
mod triangle;
mod tunable;
mod tuning;

pub use grouped::{Grouped, MatrixLocation, Product};
pub use tunable::{TunedGemm, tune_gemm};
pub use tuning::{Arithmetic, GemmTuning, Mma, Panels, Registers};

use super::block::{Block, Operand};
use super::completion::Completion;
use super::error::{BlasError, BlasResult};
use super::matrix::{MatMut, MatRef};
use super::op::Op;
use derive_setters::Setters;
use kernels::Kernels;
use lattice_compute::scalar::{AnyFactor, Element, Scalar};
use lattice_compute::{Device, DeviceError};
pub(super) use output_region::OutputRegion;
pub(super) use problem::Problem;
pub(super) use triangle::start_part;

/// The way in which a product is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct GemmParams {
    /// Accuracy of products in single precision.
    pub arithmetic: Arithmetic,
    /// The kernel.
    ///
    /// `None` for the kernel that was found fastest for device, element type and shape, or is
    /// shipped for them.
    pub tuning: Option<GemmTuning>,
    /// Most parts that sums are cut into.
    ///
    /// Parts are of use if C has few tiles. Products of a batch are not cut. `None` for as many
    /// parts as keep the device busy, or for one if `tuning` names a kernel.
    pub parts: Option<usize>,
}

/// Starts C = α op(A) op(B) + β C.
///
/// op(A) has as many rows as C, and op(B) as many columns. op(A) has as many columns as op(B) has
/// rows. Elements and contract are described [above](self). The call returns when the work is
/// enqueued.
///
/// # Errors
/// [`BlasError::Shape`], [`BlasError::BatchCount`], [`BlasError::OtherDevice`]: nothing is started
/// then. [`BlasError::Device`] if a driver does not take the kernels, memory is short or the device
/// fails.
pub fn gemm<T: Element>(
    op_a: Op,
    op_b: Op,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: impl Scalar<T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    gemm_with(&GemmParams::default(), op_a, op_b, alpha, a, b, beta, c)
}

/// Starts a product like [`gemm`], with a choice of kernel and parts.
///
/// # Errors
/// The errors of [`gemm`]. [`BlasError::Variant`] for a kernel that cannot be used here: its sizes
/// do not go together, or it is less accurate than `params.arithmetic` says.
#[allow(clippy::too_many_arguments)]
pub fn gemm_with<T: Element>(
    params: &GemmParams,
    op_a: Op,
    op_b: Op,
    alpha: impl Scalar<T>,
    a: MatRef<'_, T>,
    b: MatRef<'_, T>,
    beta: impl Scalar<T>,
    c: MatMut<'_, T>,
) -> BlasResult<Completion> {
    let scalars = [alpha.factor().into(), beta.factor().keeping().into()];
    multiply(params, [op_a, op_b], scalars, [a.into(), b.into()], c.into())
}

fn multiply(
    params: &GemmParams,
    ops: [Op; 2],
    scalars: [AnyFactor; 2],
    factors: [Operand<'_>; 2],
    c: Operand<'_>,
) -> BlasResult<Completion> {
    let problem = Problem::new("gemm", ["A", "B"], ops, scalars, factors, c)?;
    let own_choice = params.tuning.is_none() && params.parts.is_none();
    if own_choice
        && !problem.is_empty()
        && problem.count == 1
        && let Some(started) = skinny::as_vector(ops, scalars, factors, c)?
    {
        return Ok(started);
    }
    start(c.device, params, problem)
}

/// Starts C = α A B + β C for blocks that fit together.
///
/// Each factor is conjugated or not. C must have no element in common with A or B.
pub(super) fn multiply_blocks(
    device: &Device,
    alpha: i32,
    factors: [(Block<'_>, bool); 2],
    beta: i32,
    c: Block<'_>,
) -> BlasResult<Completion> {
    let scalars = [alpha, beta].map(|number| c.element.factor(number));
    start(device, &GemmParams::default(), Problem::of_blocks(scalars, factors, c))
}

/// Starts a product whose operands fit together.
pub(super) fn start(device: &Device, params: &GemmParams, problem: Problem<'_>) -> BlasResult<Completion> {
    let tuning = choose(device, params, &problem)?;
    let uncut = params.tuning.map(|_| 1);
    launch(device, tuning, params.parts.or(uncut), problem)
}

/// Starts a product with the chosen kernel.
///
/// Sums are cut into `parts`. `None` for as many parts as keep the device busy.
fn launch(
    device: &Device,
    tuning: GemmTuning,
    parts: Option<usize>,
    problem: Problem<'_>,
) -> BlasResult<Completion> {
    if problem.m == 0 || problem.n == 0 || problem.count == 0 {
        return Ok(Completion::nothing());
    }
    let kernels = Kernels::of(device, problem.element())?;
    if problem.is_empty() {
        if problem.beta.is_one() {
            return Ok(Completion::nothing());
        }
        return Ok(kernels.scale(device, problem)?);
    }
    let extents = [problem.m, problem.n, problem.k];
    let parts = parts.unwrap_or_else(|| skinny::parts(device.info().compute_units, tuning, extents));
    match skinny::multiply(device, &kernels, tuning, parts, problem) {
        Err(DeviceError::InvalidRange { reason, .. }) => {
            Err(BlasError::Variant { variant: tuning.to_string(), reason: reason.to_owned() })
        }
        result => Ok(result?),
    }
}

/// Returns the kernel for a product.
///
/// A kernel that the caller has chosen is checked.
fn choose(device: &Device, params: &GemmParams, problem: &Problem<'_>) -> BlasResult<GemmTuning> {
    let element = problem.element();
    let Some(tuning) = params.tuning else {
        let Problem { m, n, k, count, a, b, .. } = *problem;
        let transposed = [a.transposed, b.transposed];
        return Ok(tunable::chosen(device, element, params.arithmetic, transposed, [m, n, k], count));
    };
    let arithmetic = tuning.arithmetic_for(element);
    let complaint = tuning.complaint(element).or_else(|| tuning.miscompiled(device)).or_else(|| {
        (arithmetic != Arithmetic::Ieee && params.arithmetic == Arithmetic::Ieee)
            .then(|| "it is less accurate than single precision; ask for Arithmetic::ThreeTf32".to_owned())
    });
    match complaint {
        Some(reason) => Err(BlasError::Variant { variant: tuning.to_string(), reason }),
        None => Ok(tuning),
    }
}
