//! Poisson's equation on the host: the twin of the kernels, in double.

use super::cell::Cell;
use super::coulomb::{Coulomb, Isolated};
use super::sums::{Moments, SpectralSums};
use lattice_compute::parallel::*;
use lattice_compute::{NoRoom, expect_room};
use lattice_linalg::host::fft::{Direction, all_axes};
use num_complex::Complex64;

/// Returns the number of points of a mesh.
fn points(shape: [usize; 3]) -> usize {
    shape.iter().product()
}

/// Checks that the host has room for so many complex meshes of this shape.
fn expect_meshes(shape: [usize; 3], meshes: usize) -> Result<(), NoRoom> {
    let bytes = shape.iter().fold(16 * meshes as u64, |bytes, &n| bytes.saturating_mul(n as u64));
    expect_room(bytes)
}

/// Adds up what is made of each row along the third axis, in the order of the rows.
fn sum_of_rows<const COUNT: usize>(
    shape: [usize; 3],
    of_row: impl Fn([usize; 2]) -> [f64; COUNT] + Sync,
) -> [f64; COUNT] {
    let rows: Vec<[f64; COUNT]> = (0..shape[0] * shape[1])
        .into_par_iter()
        .map(|row| of_row([row / shape[1], row % shape[1]]))
        .collect();
    let mut sums = [0.0; COUNT];
    for row in rows {
        sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += row);
    }
    sums
}

/// Returns Σρ and Σρ(f_i − ½) with f_i = k_i/n_i.
pub(crate) fn moments(shape: [usize; 3], density: &[f64]) -> Moments {
    let [n1, n2, n3] = shape.map(|n| n as f64);
    let of_row = |[i, j]: [usize; 2]| {
        let first = (i * shape[1] + j) * shape[2];
        let (mut all, mut along) = (0.0, 0.0);
        for (k, value) in density[first..first + shape[2]].iter().enumerate() {
            all += value;
            along += value * (k as f64 / n3 - 0.5);
        }
        [all, all * (i as f64 / n1 - 0.5), all * (j as f64 / n2 - 0.5), along]
    };
    Moments::of(sum_of_rows(shape, of_row))
}

/// Returns Σ ρ V.
pub(crate) fn overlap(density: &[f64], potential: &[f64]) -> f64 {
    let rows = density.par_chunks(1024).zip(potential.par_chunks(1024));
    let parts: Vec<f64> =
        rows.map(|(density, potential)| density.iter().zip(potential).map(|(a, b)| a * b).sum()).collect();
    parts.iter().sum()
}

/// Solves in a periodic cell: the potential in hartree, and the sums over its spectrum.
pub(crate) fn periodic(coulomb: &Coulomb, density: &[f64]) -> Result<(Vec<f64>, SpectralSums), NoRoom> {
    let shape = coulomb.shape;
    expect_meshes(shape, 3)?;
    let mut spectrum: Vec<Complex64> = density.iter().map(|&value| value.into()).collect();
    all_axes(&mut spectrum, &shape, Direction::Forward);
    let of_row = |[i, j]: [usize; 2]| {
        let first = (i * shape[1] + j) * shape[2];
        let mut sums = [0.0; 7];
        for k in 0..shape[2] {
            let (factor, stress) = coulomb.mean([i, j, k]);
            let square = spectrum[first + k].norm_sqr();
            sums[0] += factor * square;
            (0..6).for_each(|s| sums[1 + s] += stress[s] * square);
        }
        sums
    };
    let sums = SpectralSums::of(sum_of_rows(shape, of_row));
    let scale = 1.0 / points(shape) as f64;
    spectrum.par_chunks_mut(shape[2]).enumerate().for_each(|(row, values)| {
        for (k, value) in values.iter_mut().enumerate() {
            *value *= scale * coulomb.mean([row / shape[1], row % shape[1], k]).0;
        }
    });
    all_axes(&mut spectrum, &shape, Direction::Inverse);
    Ok((spectrum.iter().map(|value| value.re).collect(), sums))
}

/// The transform of the potential of a point charge in free space, on twice the mesh.
pub(crate) struct FreeSpace {
    meshes: Isolated,
    kernel: Vec<f64>,
}

impl FreeSpace {
    pub fn new(cell: &Cell, shape: [usize; 3]) -> Result<Self, NoRoom> {
        let meshes = Isolated::new(cell, shape);
        let [long, double] = [meshes.long, meshes.double];
        expect_meshes(long, 3)?;
        let mut kernel: Vec<Complex64> = (0..points(long))
            .into_par_iter()
            .map(|l| meshes.of([l / (long[1] * long[2]), l / long[2] % long[1], l % long[2]]).into())
            .collect();
        all_axes(&mut kernel, &long, Direction::Inverse);
        let cut = |l: usize| {
            let [i, j, k] = [l / (double[1] * double[2]), l / double[2] % double[1], l % double[2]];
            let [i, j, k] = [meshes.cut(0, i), meshes.cut(1, j), meshes.cut(2, k)];
            kernel[(i * long[1] + j) * long[2] + k] * meshes.factor()
        };
        let mut kernel: Vec<Complex64> = (0..points(double)).into_par_iter().map(cut).collect();
        all_axes(&mut kernel, &double, Direction::Forward);
        // The kernel in real space is even, so its transform is real.
        Ok(Self { meshes, kernel: kernel.iter().map(|value| value.re).collect() })
    }

    /// Solves in free space: the potential in hartree.
    pub fn solve(&self, density: &[f64]) -> Result<Vec<f64>, NoRoom> {
        let [shape, double] = [self.meshes.shape, self.meshes.double];
        expect_meshes(double, 2)?;
        let places = || {
            (0..points(shape)).map(|l| {
                let [i, j, k] = [l / (shape[1] * shape[2]), l / shape[2] % shape[1], l % shape[2]];
                (i * double[1] + j) * double[2] + k
            })
        };
        let mut padded = vec![Complex64::default(); points(double)];
        places().zip(density).for_each(|(place, &value)| padded[place] = value.into());
        all_axes(&mut padded, &double, Direction::Forward);
        padded.par_iter_mut().zip(&self.kernel).for_each(|(value, factor)| *value *= factor);
        all_axes(&mut padded, &double, Direction::Inverse);
        Ok(places().map(|place| padded[place].re).collect())
    }
}
