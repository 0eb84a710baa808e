//! The variant for a product of a given size.

use super::narrow;
use super::tuning::{GemmTuning, Mma, Registers};
use lattice_compute::scalar::{ElementType, Precision};

impl GemmTuning {
    /// Returns the variant for `count` products of this size.
    ///
    /// Another variant replaces this one if there are too few tiles for a GPU, or so few that it
    /// works only a short time.
    pub(super) fn for_size(
        self,
        element: ElementType,
        [m, n, k]: [usize; 3],
        count: usize,
        units: usize,
    ) -> Self {
        if let Some(narrow) = narrow::variant(element, self, [m, n, k]) {
            return narrow;
        }
        let groups =
            |tile: [usize; 3]| m.div_ceil(tile[0]).saturating_mul(n.div_ceil(tile[1])).saturating_mul(count);
        match self {
            GemmTuning::Registers(registers) if groups(registers.tile) < units => {
                let load = if element.complex { 1 } else { 2 };
                GemmTuning::Registers(Registers::new([32, 32, 16], [4, 4], load, load))
            }
            GemmTuning::Mma(mma) if groups(mma.tile) < units => {
                GemmTuning::Mma(Mma::new([32, 32, 16], [16, 16], 4, mma.instruction.min(8), 8))
            }
            GemmTuning::Registers(_)
                if groups([128, 128, 0]) < 4 * units
                    && groups([128, 128, 0]) >= units
                    && element.precision == Precision::Single
                    && !element.complex =>
            {
                GemmTuning::Registers(Registers::new([128, 128, 16], [16, 8], 4, 4))
            }
            other => other,
        }
    }
}
