//! Variants for products with few rows, columns or terms on GPUs.
//!
//! Tiles are narrow, so that little of a tile is outside of the matrices. Memory limits such
//! products. If there are too few elements of C, work-items share the terms of a piece (slices).

use super::tuning::{GemmTuning, Mma, Registers};
use lattice_compute::scalar::{ElementType, Precision};

/// Rows, columns or terms up to which a product is narrow.
pub(super) const WIDTH: usize = 32;

/// Terms up to which the portable kernel is faster than the matrix units.
///
/// The limit holds if C has many rows and columns. Nearly all of the work is then to store C.
const TERMS_OF_STORES: usize = 16;

/// Returns the variant for a product with these m, n and k in place of a wide one.
///
/// `None` if the product is not narrow.
pub(super) fn variant(element: ElementType, wide: GemmTuning, [m, n, k]: [usize; 3]) -> Option<GemmTuning> {
    let portable = match wide {
        GemmTuning::Registers(_) => true,
        // Single precision in parts of TF32 is for large matrices.
        GemmTuning::Mma(_) if element.precision == Precision::Double => false,
        _ => return None,
    };
    let [few_rows, few_columns, few_terms] = [m, n, k].map(|extent| extent <= WIDTH);
    let stores = few_terms && (portable || few_rows || few_columns || k <= TERMS_OF_STORES);
    Some(match (few_rows, few_columns) {
        (true, true) if portable => GemmTuning::Registers(Registers::corner(element, m.max(n))),
        (true, true) => GemmTuning::Mma(Mma::corner(element)),
        _ if stores => GemmTuning::Registers(Registers::few_terms(element, [m, n, k])),
        (false, true) if portable => GemmTuning::Registers(Registers::column(element, n)),
        (false, true) => GemmTuning::Mma(Mma::column(element, n)),
        (true, false) if portable => GemmTuning::Registers(Registers::row(element, m)),
        (true, false) => GemmTuning::Mma(Mma::row(element, m)),
        (false, false) => return None,
    })
}

impl Registers {
    /// Returns a variant with all of C in one tile.
    ///
    /// Many work-items share the terms.
    fn corner(element: ElementType, width: usize) -> Self {
        match (element.bytes(), width <= 16) {
            (4, true) => Self::new([16, 16, 32], [4, 4], 4, 4).sliced(8),
            (4, false) => Self::new([32, 32, 32], [8, 8], 4, 4).sliced(8),
            (8, true) => Self::new([16, 16, 16], [4, 4], 2, 2).sliced(8),
            (8, false) => Self::new([32, 32, 16], [4, 4], 2, 2).sliced(4),
            (_, true) => Self::new([16, 16, 8], [2, 4], 1, 1).sliced(4),
            (_, false) => Self::new([32, 32, 16], [4, 4], 1, 1).sliced(4),
        }
    }

    /// Returns a variant with all columns of C in one tile.
    fn column(element: ElementType, n: usize) -> Self {
        match (element.bytes(), n) {
            (4, ..=8) => Self::new([128, 8, 32], [4, 8], 4, 4).sliced(2),
            (4, ..=16) => Self::new([128, 16, 32], [8, 8], 4, 4).sliced(4),
            (4, _) => Self::new([128, 32, 32], [8, 8], 4, 4).sliced(4),
            (8, ..=8) => Self::new([128, 8, 16], [4, 8], 2, 2).sliced(2),
            (8, ..=16) => Self::new([128, 16, 16], [4, 8], 2, 2).sliced(2),
            (8, _) => Self::new([128, 32, 16], [4, 8], 2, 2).sliced(2),
            (_, ..=8) => Self::new([64, 8, 8], [2, 8], 1, 1).sliced(2),
            (_, ..=16) => Self::new([64, 16, 8], [2, 8], 1, 1).sliced(2),
            (_, _) => Self::new([64, 32, 8], [2, 8], 1, 1),
        }
    }

    /// Returns a variant with all rows of C in one tile.
    fn row(element: ElementType, m: usize) -> Self {
        let column = Self::column(element, m);
        let ([columns, rows, terms], [j, i]) = (column.tile, column.item);
        Self { tile: [rows, columns, terms], item: [i, j], ..column }
    }

    /// Returns a variant for few terms.
    ///
    /// Most of the work is to store C. So neighbouring work-items have neighbouring rows of C.
    fn few_terms(element: ElementType, [m, n, k]: [usize; 3]) -> Self {
        if m <= WIDTH && n > WIDTH {
            let long = Self::few_terms(element, [n, m, k]);
            let [columns, rows, terms] = long.tile;
            return Self { tile: [rows, columns, terms], ..long };
        }
        let depth = if k <= 8 { 8 } else { 16 };
        match (element.bytes(), n) {
            (4, ..=16) => Self::new([128, 16, depth], [4, 8], 1, 2),
            (4, ..=32) => Self::new([128, 32, depth], [4, 8], 1, 2),
            (4, _) => Self::new([128, 64, depth], [4, 16], 1, 4),
            (8, ..=16) => Self::new([128, 16, depth], [4, 8], 1, 2),
            (8, _) => Self::new([128, 32, depth], [4, 8], 1, 2),
            (_, ..=16) => Self::new([64, 16, depth], [2, 8], 1, 1),
            (_, _) => Self::new([64, 32, depth], [2, 8], 1, 1),
        }
    }
}

impl Mma {
    /// Returns a variant with all of C in one tile.
    fn corner(element: ElementType) -> Self {
        if element.complex {
            Self::new([32, 32, 8], [16, 16], 4, 4, 8)
        } else {
            Self::new([32, 32, 16], [16, 16], 4, 8, 8)
        }
    }

    /// Returns a variant with all columns of C in one tile.
    fn column(element: ElementType, n: usize) -> Self {
        match (element.complex, n) {
            (false, ..=16) => Self::new([64, 16, 16], [16, 16], 4, 8, 8),
            (false, _) => Self::new([64, 32, 16], [16, 32], 4, 8, 8),
            (true, ..=8) => Self::new([64, 8, 8], [32, 8], 4, 4, 8),
            (true, ..=16) => Self::new([64, 16, 8], [16, 16], 4, 4, 8),
            (true, _) => Self::new([64, 32, 8], [16, 32], 4, 4, 8),
        }
    }

    /// Returns a variant with all rows of C in one tile.
    fn row(element: ElementType, m: usize) -> Self {
        match (element.complex, m) {
            (false, ..=16) => Self::new([16, 64, 16], [16, 16], 4, 8, 8),
            (false, _) => Self::new([32, 64, 16], [32, 16], 4, 8, 8),
            (true, ..=16) => Self::new([16, 64, 8], [16, 16], 4, 4, 8),
            (true, _) => Self::new([32, 64, 8], [32, 16], 4, 4, 8),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lattice_compute::scalar::Element;
    use num_complex::Complex;

    #[test]
    fn every_narrow_variant_can_be() {
        fn all<T: Element>() {
            let element = ElementType::of::<T>();
            let registers = GemmTuning::Registers(Registers::new([64, 64, 16], [4, 4], 1, 1));
            let mma = GemmTuning::Mma(Mma::new([64, 64, 16], [32, 32], 4, 8, 8));
            let extents = [3, 8, 9, 16, 17, 32, 100];
            for wide in [registers, mma] {
                for m in extents {
                    for n in extents {
                        for k in extents {
                            let narrow = variant(element, wide, [m, n, k]);
                            let complaint = narrow.and_then(|narrow| narrow.complaint(element));
                            assert_eq!(complaint, None, "{narrow:?} for {m}x{n}x{k}");
                        }
                    }
                }
            }
            assert_eq!(variant(element, registers, [33, 33, 33]), None);
            assert!(variant(element, registers, [33, 32, 33]).is_some_and(|v| v.tile()[1] == 32));
            assert!(variant(element, registers, [32, 33, 32]).is_some_and(|v| v.tile()[0] == 32));
        }
        all::<f32>();
        all::<f64>();
        all::<Complex<f32>>();
        all::<Complex<f64>>();
    }
}
