//! The matrix units of NVIDIA GPUs.

use crate::scalar::{Precision, Real};

/// What matrix units multiply and add, by instructions `mma.sync` of NVIDIA's assembly.
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
    /// That of the products of matrices in a precision.
    pub fn of_products<R: Real>() -> Self {
        match R::PRECISION {
            Precision::Double => Self::Double,
            Precision::Single => Self::Tf32,
        }
    }

    /// The compute capability, major and minor, from which on devices have it: PTX manual, "mma", notes on targets. From 8.0 on there is `cp.async` as well.
    pub(crate) fn least_capability(self) -> [u32; 2] {
        match self {
            Self::SmallDouble | Self::Tf32 | Self::Bfloat16 => [8, 0],
            Self::Double => [9, 0],
        }
    }

    /// Major version of the driver from which on its compiler knows them: that of CUDA 11.0 brought PTX 7.0, of CUDA 11.8 PTX 7.8, in which 16 × 8 in double
    /// are new, and `movmatrix`, which goes with bfloat16 in `cl/columns_mma_half.cl`.
    pub(crate) fn least_driver(self) -> u32 {
        match self {
            Self::SmallDouble | Self::Tf32 => 450,
            Self::Double | Self::Bfloat16 => 520,
        }
    }
}
