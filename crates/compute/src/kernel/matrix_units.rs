//! The matrix units of NVIDIA GPUs.

use crate::scalar::Precision;

/// The multiply-add operations of matrix units.
///
/// The instructions are `mma.sync` of NVIDIA's assembly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixOperation {
    /// 8 × 8 × 4 in double.
    SmallDouble,
    /// 16 × 8 × 4, 8 or 16 in double.
    Double,
    /// 16 × 8 × 4 or 8 in TF32.
    Tf32,
    /// 16 × 8 × 8 or 16 in bfloat16.
    Bfloat16,
}

impl MatrixOperation {
    /// Returns the operation for products of matrices in a precision.
    pub fn of_products(precision: Precision) -> Self {
        match precision {
            Precision::Double => Self::Double,
            Precision::Single => Self::Tf32,
        }
    }

    /// Returns the lowest compute capability, major and minor, with this operation.
    ///
    /// Source: PTX manual, "mma", notes on targets. `cp.async` exists from 8.0 on as well.
    pub(crate) fn least_capability(self) -> [u32; 2] {
        match self {
            Self::SmallDouble | Self::Tf32 | Self::Bfloat16 => [8, 0],
            Self::Double => [9, 0],
        }
    }

    /// Returns the major version of the first driver that compiles the operation.
    ///
    /// The driver of CUDA 11.0 brought PTX 7.0, the driver of CUDA 11.8 brought PTX 7.8. PTX 7.8
    /// has the new 16 × 8 in double, and `movmatrix`. `cl/columns_mma_half.cl` uses `movmatrix`
    /// with bfloat16.
    pub(crate) fn least_driver(self) -> u32 {
        match self {
            Self::SmallDouble | Self::Tf32 => 450,
            Self::Double | Self::Bfloat16 => 520,
        }
    }
}
