//! The inverse of the lattice Laplacian, by Fourier transforms.

use crate::compute::parallel::*;
use crate::geometry::Dims;
use crate::host::Matrix3;
use lattice_linalg::host::fft::{Direction, Line};
use num_complex::Complex64;
use std::f64::consts::PI;

/// Solves Σ_μ \[2X(x) − X(x+μ) − X(x−μ)\] = `field`, with one matrix for each site.
///
/// The sum is over the first `directions`. Modes that are constant along these directions have no
/// solution and are left out. Any extent is allowed.
pub(super) fn inverse_laplacian(
    field: Vec<Matrix3<f64>>,
    dims: Dims,
    directions: usize,
) -> Vec<Matrix3<f64>> {
    let forward = (0..directions).fold(field, |field, mu| transformed(&field, dims, mu, Direction::Forward));
    let sites: usize = (0..directions).map(|mu| dims[mu]).product();
    let divided = |(site, mode): (usize, &Matrix3<f64>)| {
        let at = dims.coordinates(site);
        let square = |mu: usize| 4.0 * (PI * at[mu] as f64 / dims[mu] as f64).sin().powi(2);
        let momentum2 = (0..directions).map(square).sum::<f64>();
        if at[..directions] == [0; 4][..directions] {
            Matrix3::zero()
        } else {
            mode.scale(1.0 / (momentum2 * sites as f64))
        }
    };
    let modes = forward.par_iter().enumerate().map(divided).collect();
    (0..directions).fold(modes, |field, mu| transformed(&field, dims, mu, Direction::Inverse))
}

/// Returns Σ_y e^{∓2πi n y/L} field(y) along a direction, with a minus sign for the forward transform.
///
/// n and y are coordinates in this direction.
fn transformed(field: &[Matrix3<f64>], dims: Dims, mu: usize, direction: Direction) -> Vec<Matrix3<f64>> {
    let extent = dims[mu];
    let stride: usize = (0..mu).map(|nu| dims[nu]).product();
    let line = Line::new(extent);
    let of_line = |number: usize| {
        let first = number / stride * stride * extent + number % stride;
        let mut modes = vec![Matrix3::zero(); extent];
        let mut values = vec![Complex64::default(); extent];
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            for (y, value) in values.iter_mut().enumerate() {
                *value = field[first + y * stride].0[i][j];
            }
            match direction {
                Direction::Forward => line.forward(&mut values),
                Direction::Inverse => line.inverse(&mut values),
            }
            modes.iter_mut().zip(&values).for_each(|(mode, value)| mode.0[i][j] = *value);
        }
        modes
    };
    let lines: Vec<_> = (0..field.len() / extent).into_par_iter().map(of_line).collect();
    let of_site =
        |site: usize| lines[site / (stride * extent) * stride + site % stride][site / stride % extent];
    (0..field.len()).into_par_iter().map(of_site).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::Philox;

    #[test]
    fn the_laplacian_undoes_its_inverse() {
        let dims = Dims::new([6, 2, 4, 10]).unwrap();
        let matrix = |site: usize| {
            let mut random = Philox::new(1, 0, site as u64);
            Matrix3::from_fn(|_, _| random.gaussian()).traceless_anti_hermitian()
        };
        let field: Vec<Matrix3<f64>> = (0..dims.volume()).map(matrix).collect();
        for directions in [3, 4] {
            let x = inverse_laplacian(field.clone(), dims, directions);
            // The mean over the sites that share the coordinates in the other directions.
            let count = (0..directions).map(|mu| dims[mu]).product::<usize>();
            let mean = |site: usize| {
                let first = site / count * count;
                field[first..first + count]
                    .iter()
                    .fold(Matrix3::zero(), |a, b| a + *b)
                    .scale(1.0 / count as f64)
            };
            for site in 0..dims.volume() {
                let image = (0..directions).fold(Matrix3::zero(), |sum, mu| {
                    let neighbours = x[dims.forward(site, mu)] + x[dims.backward(site, mu)];
                    sum + x[site].scale(2.0) - neighbours
                });
                assert!(image.max_difference(&(field[site] - mean(site))) < 1e-13);
            }
        }
    }
}
