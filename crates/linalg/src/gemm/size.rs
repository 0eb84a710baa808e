//! The variant for a product of a given size.

use super::narrow;
use super::tuning::{GemmTuning, Mma, Registers};
use lattice_compute::scalar::{Element, Precision, Real};

impl GemmTuning {
    /// Returns the variant for `count` products of this size.
    ///
    /// Another variant replaces this one if there are too few tiles for a GPU, or so few that it
    /// works only a short time.
    pub(super) fn for_size<T: Element>(self, [m, n, k]: [usize; 3], count: usize, units: usize) -> Self {
        if let Some(narrow) = narrow::variant::<T>(self, [m, n, k]) {
            return narrow;
        }
        let groups =
            |tile: [usize; 3]| m.div_ceil(tile[0]).saturating_mul(n.div_ceil(tile[1])).saturating_mul(count);
        match self {
            GemmTuning::Registers(registers) if groups(registers.tile) < units => {
                let load = if T::IS_COMPLEX { 1 } else { 2 };
                GemmTuning::Registers(Registers::new([32, 32, 16], [4, 4], load, load))
            }
            GemmTuning::Mma(mma) if groups(mma.tile) < units => {
                GemmTuning::Mma(Mma::new([32, 32, 16], [16, 16], 4, mma.instruction.min(8), 8))
            }
            GemmTuning::Registers(_)
                if groups([128, 128, 0]) < 4 * units
                    && groups([128, 128, 0]) >= units
                    && T::Real::PRECISION == Precision::Single
                    && !T::IS_COMPLEX =>
            {
                GemmTuning::Registers(Registers::new([128, 128, 16], [16, 8], 4, 4))
            }
            other => other,
        }
    }
}
