//! The inverse of a dense matrix.

use crate::compute::parallel::*;
use crate::scalar::Real;
use num_complex::{Complex, Complex64};

/// Rows from which elimination is for several threads.
const MANY_ROWS: usize = 128;

/// A row, with real and imaginary parts apart, so that loops over them are vectorised.
#[derive(Clone, Default)]
struct Row {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Row {
    fn at(&self, k: usize) -> Complex64 {
        Complex64::new(self.re[k], self.im[k])
    }

    fn set(&mut self, k: usize, z: Complex64) {
        (self.re[k], self.im[k]) = (z.re, z.im);
    }

    /// self = self − z x
    fn subtract(&mut self, z: Complex64, x: &Self) {
        for ((re, im), (x, y)) in self.re.iter_mut().zip(&mut self.im).zip(x.re.iter().zip(&x.im)) {
            *re -= z.re * x - z.im * y;
            *im -= z.re * y + z.im * x;
        }
    }

    fn scale(&mut self, z: Complex64) {
        for (re, im) in self.re.iter_mut().zip(&mut self.im) {
            (*re, *im) = (z.re * *re - z.im * *im, z.re * *im + z.im * *re);
        }
    }
}

/// Returns the inverse of a matrix that is given column by column.
///
/// Elimination with pivots is in double, in place. `None` if there is no inverse.
pub(super) fn inverse<R: Real>(n: usize, matrix: &[Complex<R>]) -> Option<Vec<Complex<R>>> {
    // Rows of the transpose are columns: the inverse of the transpose is the transpose of the inverse.
    let row = |numbers: &[Complex<R>]| Row {
        re: numbers.iter().map(|z| z.re.to_f64()).collect(),
        im: numbers.iter().map(|z| z.im.to_f64()).collect(),
    };
    let mut rows: Vec<Row> = matrix.chunks(n).map(row).collect();
    let mut pivots = Vec::with_capacity(n);
    for k in 0..n {
        let size = |i: &usize| rows[*i].at(k).norm_sqr();
        let pivot = (k..n).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(k);
        pivots.push(pivot);
        rows.swap(k, pivot);
        let factor = 1.0 / rows[k].at(k);
        if !factor.is_finite() {
            return None;
        }
        // The column that is done has its place for one of the inverse.
        rows[k].set(k, 1.0.into());
        rows[k].scale(factor);
        let pivot_row = std::mem::take(&mut rows[k]);
        let eliminate = |(i, row): (usize, &mut Row)| {
            if i != k {
                let factor = row.at(k);
                row.set(k, 0.0.into());
                row.subtract(factor, &pivot_row);
            }
        };
        if n >= MANY_ROWS {
            rows.par_iter_mut().enumerate().for_each(eliminate);
        } else {
            rows.iter_mut().enumerate().for_each(eliminate);
        }
        rows[k] = pivot_row;
    }
    // Rows that were exchanged are columns of the inverse, the last ones first.
    let mut sources: Vec<usize> = (0..n).collect();
    for (k, &pivot) in pivots.iter().enumerate().rev() {
        sources.swap(k, pivot);
    }
    let of_row = |row: &Row| sources.iter().map(|&k| row.at(k)).collect::<Vec<_>>();
    let all = rows.iter().flat_map(of_row);
    let inverse: Vec<_> = all.map(|z| Complex::new(R::from_f64(z.re), R::from_f64(z.im))).collect();
    inverse.iter().all(|z| z.re.is_finite() && z.im.is_finite()).then_some(inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_inverse_is_one() {
        let n = 7;
        let number = |k: usize| Complex::new((1.7 * (k * k) as f64).sin(), (0.9 * k as f64).cos());
        let matrix: Vec<_> = (0..n * n).map(number).collect();
        let inverse = inverse(n, &matrix).unwrap();
        for row in 0..n {
            for column in 0..n {
                let sum: Complex64 = (0..n).map(|k| matrix[k * n + row] * inverse[column * n + k]).sum();
                let expected = f64::from(u8::from(row == column));
                assert!((sum - expected).norm() < 1e-12, "{row} {column}: {sum}");
            }
        }
        assert!(super::inverse(2, &[Complex::new(1.0, 0.0); 4]).is_none());
    }
}
