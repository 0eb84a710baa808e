//! The cell that a density is given in.

use lattice_files::number::shown;
use std::f64::consts::PI;

/// Least volume of a cell, relative to the product of its sides.
const LEAST_VOLUME: f64 = 1e-8;

/// Largest cosine of an angle that counts as right.
const RIGHT: f64 = 1e-10;

/// Why three vectors are no cell.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CellError {
    /// A number is infinite or none.
    #[error("the cell has a number that is not finite; give nine finite numbers, in bohr")]
    NotFinite,
    /// The vectors lie in a plane, or nearly so.
    #[error(
        "the cell has no volume: |det| is {volume} bohr³, the product of the sides {product}; \
         give three vectors that do not lie in a plane",
        volume = shown(.volume), product = shown(.product)
    )]
    Flat {
        /// |det a|.
        volume: f64,
        /// |a₁||a₂||a₃|.
        product: f64,
    },
}

/// A cell: three vectors a₁, a₂, a₃ in bohr, as rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    rows: [[f64; 3]; 3],
    determinant: f64,
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

pub(crate) fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl Cell {
    /// Makes a cell of its vectors.
    ///
    /// # Errors
    /// [`CellError`].
    pub fn new(rows: [[f64; 3]; 3]) -> Result<Self, CellError> {
        if rows.iter().flatten().any(|x| !x.is_finite()) {
            return Err(CellError::NotFinite);
        }
        let determinant = dot(rows[0], cross(rows[1], rows[2]));
        let product: f64 = rows.iter().map(|&row| dot(row, row).sqrt()).product();
        let volume = determinant.abs();
        if volume > LEAST_VOLUME * product {
            Ok(Self { rows, determinant })
        } else {
            Err(CellError::Flat { volume, product })
        }
    }

    /// Returns the vectors.
    pub fn rows(&self) -> [[f64; 3]; 3] {
        self.rows
    }

    /// Returns the volume Ω in bohr³.
    pub fn volume(&self) -> f64 {
        self.determinant.abs()
    }

    /// Returns `true` if the vectors are those of a left hand.
    pub fn is_left_handed(&self) -> bool {
        self.determinant < 0.0
    }

    /// Returns `true` if the vectors are at right angles.
    pub fn is_orthogonal(&self) -> bool {
        [(0, 1), (0, 2), (1, 2)].into_iter().all(|(i, j)| {
            let [a, b] = [self.rows[i], self.rows[j]];
            dot(a, b).abs() <= RIGHT * (dot(a, a) * dot(b, b)).sqrt()
        })
    }

    /// Returns the lengths of the vectors.
    pub fn sides(&self) -> [f64; 3] {
        self.rows.map(|row| dot(row, row).sqrt())
    }

    /// Returns b_i = 2π (a_j × a_k)/det a, for which a_i·b_j is 2π if i = j and else 0.
    pub fn reciprocal(&self) -> [[f64; 3]; 3] {
        let [a, b, c] = self.rows;
        [cross(b, c), cross(c, a), cross(a, b)].map(|row| row.map(|x| 2.0 * PI * x / self.determinant))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocal_vectors_belong_to_the_cell() {
        for rows in [
            [[9.0, 0.0, 0.0], [1.8, 8.1, 0.0], [0.9, -1.35, 9.9]],
            [[0.0, 2.0, 0.0], [3.0, 0.1, 0.2], [0.5, 0.0, 4.0]],
        ] {
            let cell = Cell::new(rows).unwrap();
            let b = cell.reciprocal();
            for i in 0..3 {
                for j in 0..3 {
                    let wanted = if i == j { 2.0 * PI } else { 0.0 };
                    assert!((dot(rows[i], b[j]) - wanted).abs() < 1e-14);
                }
            }
            assert!(cell.volume() > 0.0 && !cell.is_orthogonal());
        }
        assert!(Cell::new([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 3.0]]).unwrap().is_left_handed());
    }

    #[test]
    fn flat_cells_are_refused() {
        let flat = Cell::new([[1.0, 0.0, 0.0], [1.0, 1e-9, 0.0], [0.0, 0.0, 1.0]]);
        assert!(matches!(flat, Err(CellError::Flat { .. })));
        assert!(matches!(Cell::new([[0.0; 3]; 3]), Err(CellError::Flat { .. })));
        assert_eq!(Cell::new([[f64::NAN; 3]; 3]), Err(CellError::NotFinite));
    }
}
