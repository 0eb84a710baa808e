//! Products of matrices of 16-bit numbers, with sums in single precision.
//!
//! The numbers are [`struct@f16`] (IEEE binary16) or [`bf16`] (bfloat16). C has numbers of either kind, or
//! `f32`. Each sum is made in single precision and rounded once.
//!
//! NVIDIA GPUs multiply on their matrix units (`cl/gemm_half_mma.cl`). Other devices convert the
//! factors to single precision in scratch memory, and multiply by [`gemm`](fn@crate::gemm). The twin is
//! [`host::gemm`](crate::host::gemm::gemm()) of the converted numbers.
//!
//! ```
//! use lattice_linalg::gemm::half::{f16, gemm_half};
//! use lattice_linalg::{MatMut, MatRef, MatrixLayout, Op};
//! use lattice_compute::{Buffer, Selector, Team};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let team = Team::select(Selector::Auto)?;
//! let Some(device) = team.devices().first() else { return Ok(()) };
//! let a = Buffer::from_slice(device, &[1.0, 2.0, 3.0, 4.0].map(f16::from_f32))?;
//! let mut c = Buffer::<f32>::zeroed(device, 4)?;
//! let layout = MatrixLayout::row_major(2, 2); // (1 2), (3 4)
//! let (a, to) = (MatRef::new(&a, layout)?, MatMut::new(&mut c, layout)?);
//! gemm_half(Op::N, Op::T, 1.0, a, a, 0.0, to)?;
//! assert_eq!(c.to_vec()?, [5.0, 11.0, 11.0, 25.0]);
//! # Ok(())
//! # }
//! ```

mod format;
mod mma;
mod widened;

pub use ::half::{bf16, f16};
pub use format::{HalfFormat, HalfResult};
pub use mma::HalfMma;

use crate::completion::Completion;
use crate::error::{BlasError, BlasResult, operand_name};
use crate::level2::{check_device, check_extent};
use crate::matrix::{MatMut, MatRef, Order};
use crate::op::Op;
use lattice_compute::{Device, MatrixOperation};

/// The kernel of a product of 16-bit numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HalfKernel {
    /// Matrix units. Devices without such units compute the same slowly.
    Mma(HalfMma),
    /// Conversion to single precision.
    Widened,
}

impl HalfKernel {
    /// Returns the kernel that suits a device, for a column-major C of these extents, m and n.
    ///
    /// `along_terms` is `true` if neighbouring numbers of op(A) run along the terms of the sums.
    pub fn suitable(device: &Device, extents: [usize; 2], along_terms: bool) -> Self {
        if device.supports_matrix_units(MatrixOperation::Bfloat16) {
            Self::Mma(HalfMma::suitable(device.info().compute_units, extents, along_terms))
        } else {
            Self::Widened
        }
    }
}

/// Starts C = α op(A) op(B) + β C.
///
/// Shapes, batches and contract are those of [`gemm`](fn@crate::gemm). [`Op::C`] is [`Op::T`] here.
///
/// # Errors
/// The errors of [`gemm`](fn@crate::gemm).
pub fn gemm_half<H: HalfFormat, C: HalfResult>(
    op_a: Op,
    op_b: Op,
    alpha: f32,
    a: MatRef<'_, H>,
    b: MatRef<'_, H>,
    beta: f32,
    c: MatMut<'_, C>,
) -> BlasResult<Completion> {
    // The first factor of the product whose C is column-major.
    let (extents, along_terms) = match c.layout().order {
        Order::ColumnMajor => ([c.rows(), c.columns()], is_transposed(op_a, &a)),
        Order::RowMajor => ([c.columns(), c.rows()], !is_transposed(op_b, &b)),
    };
    let kernel = HalfKernel::suitable(c.device(), extents, along_terms);
    gemm_half_with(kernel, [op_a, op_b], alpha, a, b, beta, c)
}

/// Starts a product like [`gemm_half`], with a choice of kernel.
///
/// # Errors
/// The errors of [`gemm_half`]. [`BlasError::Variant`] for a kernel whose sizes do not go together.
pub fn gemm_half_with<H: HalfFormat, C: HalfResult>(
    kernel: HalfKernel,
    ops: [Op; 2],
    alpha: f32,
    a: MatRef<'_, H>,
    b: MatRef<'_, H>,
    beta: f32,
    c: MatMut<'_, C>,
) -> BlasResult<Completion> {
    let (m, n) = (c.rows(), c.columns());
    let ((a_rows, k), (b_rows, b_columns)) =
        (ops[0].shape(a.rows(), a.columns()), ops[1].shape(b.rows(), b.columns()));
    let [a_name, b_name] = [operand_name("A", ops[0]), operand_name("B", ops[1])];
    check_extent("gemm", &a_name, "rows", m, a_rows, "as C has")?;
    check_extent("gemm", &b_name, "columns", n, b_columns, "as C has")?;
    check_extent("gemm", &b_name, "rows", k, b_rows, "as A, so transposed, has columns")?;
    for (operand, x) in [("A", &a), ("B", &b)] {
        if x.count() != c.count() {
            let (wanted, found) = (c.count(), x.count());
            return Err(BlasError::BatchCount { operation: "gemm", operand, wanted, found });
        }
        check_device("gemm", operand, c.device(), x.device())?;
    }
    // Without terms a factor that is not finite must not matter.
    let alpha = if k == 0 { 0.0 } else { alpha };
    if m == 0 || n == 0 || c.count() == 0 || (alpha == 0.0 && beta == 1.0) {
        return Ok(Completion::nothing());
    }
    match kernel {
        HalfKernel::Widened => widened::multiply(ops, alpha, a, b, beta, c),
        HalfKernel::Mma(variant) => {
            if let Some(reason) = variant.complaint(c.device()) {
                return Err(BlasError::Variant { variant: variant.to_string(), reason });
            }
            // A row-major C is computed as Cᵀ = op(B)ᵀ op(A)ᵀ.
            let transposed = [is_transposed(ops[0], &a), is_transposed(ops[1], &b)];
            match c.layout().order {
                Order::ColumnMajor => mma::multiply(variant, transposed, [m, n, k], alpha, [a, b], beta, c),
                Order::RowMajor => {
                    let transposed = [!transposed[1], !transposed[0]];
                    mma::multiply(variant, transposed, [n, m, k], alpha, [b, a], beta, c)
                }
            }
        }
    }
}

/// `true` if neighbouring numbers run along the second index of op(X).
fn is_transposed<H: HalfFormat>(op: Op, x: &MatRef<'_, H>) -> bool {
    (op != Op::N) != (x.layout().order == Order::RowMajor)
}
