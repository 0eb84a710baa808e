//! Energy, matrix and gradient of groups on the host; the twin of `cl/xc_density.cl`, `xc_potential.cl` and `xc_matrix.cl`.

use super::functions::Functions;
use crate::basis::Basis;
use crate::density::Density;
use crate::functional::Functional;
use crate::grid::Grid;
use crate::groups::Group;
use lattice_compute::parallel::*;

/// Groups whose matrices are in memory at once.
const AT_ONCE: usize = 64;

/// What all groups add up to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sums {
    /// The exchange-correlation energy.
    pub energy: f64,
    /// The electrons of each spin; without polarisation half of them each.
    pub electrons: [f64; 2],
    /// The matrix of each spin, row after row.
    pub matrices: Vec<Vec<f64>>,
}

/// A group with its functions, and the numbers of the functions in the basis.
struct Prepared {
    functions: Functions,
    numbers: Vec<usize>,
    weights: Vec<f64>,
}

/// ρ and ∇ρ at each point.
type Values = Vec<[f64; 4]>;

/// Factors at each point: w v_ρ/2, then w (2 v_ss ∇ρ_s + v_↑↓ ∇ρ_s').
type Factors = Vec<[f64; 4]>;

/// What a point adds to energy and electrons, and its factors for each spin.
pub(crate) struct AtPoint {
    pub energy: f64,
    pub electrons: [f64; 2],
    pub factors: [[f64; 4]; 2],
}

/// Evaluates the functional at a point, from ρ and ∇ρ of each spin, or of both spins together.
pub(crate) fn at_point(functional: Functional, weight: f64, spins: usize, values: [[f64; 4]; 2]) -> AtPoint {
    let values = if spins == 1 { [values[0].map(|value| 0.5 * value); 2] } else { values };
    let product = |a: usize, b: usize| (1..4).map(|k| values[a][k] * values[b][k]).sum::<f64>();
    let at = functional.at([values[0][0], values[1][0]], [product(0, 0), product(0, 1), product(1, 1)]);
    let of_spin = |spin: usize| {
        let (own, other) = (at.by_sigma[2 * spin], at.by_sigma[1]);
        let gradient = |k: usize| 2.0 * own * values[spin][k] + other * values[1 - spin][k];
        [0.5 * at.by_rho[spin], gradient(1), gradient(2), gradient(3)].map(|factor| weight * factor)
    };
    AtPoint {
        energy: weight * at.energy,
        electrons: values.map(|spin| weight * spin[0]),
        factors: [of_spin(0), of_spin(1)],
    }
}

impl Prepared {
    fn new(basis: &Basis, grid: &Grid, group: &Group, planes: usize) -> Self {
        let points: Vec<[f64; 3]> = group.points.iter().map(|&point| grid.points()[point as usize]).collect();
        Self {
            functions: Functions::new(basis, &group.shells, &points, planes),
            numbers: group.shells.iter().flat_map(|&shell| basis.functions_of(shell as usize)).collect(),
            weights: group.points.iter().map(|&point| grid.weights()[point as usize]).collect(),
        }
    }

    /// Σ_μ Y_μ D_μν for each function ν at all points.
    fn times(&self, functions: usize, matrix: &[f64], y: impl Fn(usize) -> Vec<f64>) -> Vec<Vec<f64>> {
        let columns: Vec<Vec<f64>> = (0..self.numbers.len()).map(y).collect();
        let of = |&nu: &usize| {
            let mut sum = vec![0.0; self.weights.len()];
            for (column, &mu) in columns.iter().zip(&self.numbers) {
                let element = matrix[mu * functions + nu];
                sum.iter_mut().zip(column).for_each(|(sum, value)| *sum += value * element);
            }
            sum
        };
        self.numbers.iter().map(of).collect()
    }

    /// X = χ D.
    fn products(&self, density: &Density, spin: usize) -> Vec<Vec<f64>> {
        self.times(density.functions(), &density.spins()[spin], |mu| self.functions.of(0, mu).to_vec())
    }

    /// ρ = Σ X χ and ∇ρ = 2 Σ X ∇χ.
    fn values(&self, products: &[Vec<f64>], with_gradient: bool) -> Values {
        let mut values = vec![[0.0; 4]; self.weights.len()];
        for (function, x) in products.iter().enumerate() {
            for plane in 0..if with_gradient { 4 } else { 1 } {
                let scale = if plane == 0 { 1.0 } else { 2.0 };
                for ((value, x), chi) in values.iter_mut().zip(x).zip(self.functions.of(plane, function)) {
                    value[plane] += scale * x * chi;
                }
            }
        }
        values
    }

    /// Evaluates the functional: energy, electrons of each spin, and the factors of each spin.
    fn factors(&self, functional: Functional, values: &[Values]) -> (f64, [f64; 2], Vec<Factors>) {
        let (mut energy, mut electrons) = (0.0, [0.0; 2]);
        let mut factors = vec![vec![[0.0; 4]; self.weights.len()]; values.len()];
        for (point, &weight) in self.weights.iter().enumerate() {
            let values = [values[0][point], values[values.len() - 1][point]];
            let at = at_point(functional, weight, factors.len(), values);
            energy += at.energy;
            electrons.iter_mut().zip(at.electrons).for_each(|(sum, part)| *sum += part);
            factors.iter_mut().zip(at.factors).for_each(|(factors, at)| factors[point] = at);
        }
        (energy, electrons, factors)
    }

    /// `scale` w v_ρ/2 χ + w (2 v_ss ∇ρ_s + v_↑↓ ∇ρ_s')·∇χ of a function at all points.
    fn weighted(&self, factors: &Factors, function: usize, scale: f64, with_gradient: bool) -> Vec<f64> {
        let mut sum = vec![0.0; self.weights.len()];
        for plane in 0..if with_gradient { 4 } else { 1 } {
            let scale = if plane == 0 { scale } else { 1.0 };
            for ((sum, factor), chi) in sum.iter_mut().zip(factors).zip(self.functions.of(plane, function)) {
                *sum += scale * factor[plane] * chi;
            }
        }
        sum
    }
}

/// Adds up what is made of each group, in the order of the groups.
fn in_order<R: Send>(groups: &[Group], of: impl Fn(&Group) -> R + Sync, mut add: impl FnMut(&Group, R)) {
    for groups in groups.chunks(AT_ONCE) {
        let results: Vec<R> = groups.par_iter().map(&of).collect();
        groups.iter().zip(results).for_each(|(group, result)| add(group, result));
    }
}

/// Computes energy, electrons and matrices.
pub(crate) fn evaluate(
    basis: &Basis,
    grid: &Grid,
    groups: &[Group],
    density: &Density,
    functional: Functional,
) -> Sums {
    let (n, spins) = (basis.functions(), density.spins().len());
    let with_gradient = functional.needs_gradient();
    let planes = functional.planes();
    let mut sums = Sums { energy: 0.0, electrons: [0.0; 2], matrices: vec![vec![0.0; n * n]; spins] };
    let of_group = |group: &Group| {
        let prepared = Prepared::new(basis, grid, group, planes);
        let values: Vec<Values> = (0..spins)
            .map(|spin| prepared.values(&prepared.products(density, spin), with_gradient))
            .collect();
        let (energy, electrons, factors) = prepared.factors(functional, &values);
        let count = prepared.numbers.len();
        let matrices: Vec<Vec<f64>> = factors
            .iter()
            .map(|factors| {
                let mut matrix = vec![0.0; count * count];
                for nu in 0..count {
                    let b = prepared.weighted(factors, nu, 1.0, with_gradient);
                    for mu in 0..count {
                        let chi = prepared.functions.of(0, mu);
                        matrix[mu * count + nu] = chi.iter().zip(&b).map(|(chi, b)| chi * b).sum();
                    }
                }
                matrix
            })
            .collect();
        (energy, electrons, matrices, prepared.numbers)
    };
    in_order(groups, of_group, |_, (energy, electrons, matrices, numbers)| {
        sums.energy += energy;
        sums.electrons.iter_mut().zip(electrons).for_each(|(sum, part)| *sum += part);
        let count = numbers.len();
        for (whole, matrix) in sums.matrices.iter_mut().zip(matrices) {
            for (i, &mu) in numbers.iter().enumerate() {
                for (j, &nu) in numbers.iter().enumerate() {
                    whole[mu * n + nu] += matrix[i * count + j] + matrix[j * count + i];
                }
            }
        }
    });
    sums
}

/// Computes what moves each atom's functions change of the energy, on a fixed grid and density matrix.
pub(crate) fn gradient(
    basis: &Basis,
    grid: &Grid,
    groups: &[Group],
    density: &Density,
    functional: Functional,
) -> Vec<[f64; 3]> {
    let (n, spins) = (basis.functions(), density.spins().len());
    let with_gradient = functional.needs_gradient();
    let mut found = vec![[0.0; 3]; basis.atoms().len()];
    let of_group = |group: &Group| {
        let prepared = Prepared::new(basis, grid, group, 10);
        let products: Vec<Vec<Vec<f64>>> = (0..spins).map(|spin| prepared.products(density, spin)).collect();
        let values: Vec<Values> =
            products.iter().map(|products| prepared.values(products, with_gradient)).collect();
        let (_, _, factors) = prepared.factors(functional, &values);
        let mut pulls = vec![[0.0; 3]; prepared.numbers.len()];
        for spin in 0..spins {
            let y = prepared.times(n, &density.spins()[spin], |nu| {
                prepared.weighted(&factors[spin], nu, 2.0, with_gradient)
            });
            for (function, pull) in pulls.iter_mut().enumerate() {
                for (axis, pull) in pull.iter_mut().enumerate() {
                    *pull -= 2.0 * prepared.pull(function, axis, &products[spin], &y, &factors[spin]);
                }
            }
        }
        pulls
    };
    in_order(groups, of_group, |group, pulls| {
        let mut pulls = pulls.into_iter();
        for &shell in &group.shells {
            let shell = &basis.shells()[shell as usize];
            for pull in pulls.by_ref().take(shell.functions()) {
                found[shell.atom].iter_mut().zip(pull).for_each(|(sum, part)| *sum += part);
            }
        }
    });
    found
}

impl Prepared {
    /// Σ_p ∂χ Y + (∂∇χ·c) X of a function, along an axis, with the last three factors c.
    fn pull(
        &self,
        function: usize,
        axis: usize,
        products: &[Vec<f64>],
        y: &[Vec<f64>],
        factors: &Factors,
    ) -> f64 {
        // The planes of ∂∂_x, ∂∂_y and ∂∂_z.
        let seconds = [[4, 5, 6], [5, 7, 8], [6, 8, 9]][axis].map(|plane| self.functions.of(plane, function));
        let first = self.functions.of(1 + axis, function);
        (0..self.weights.len())
            .map(|p| {
                let along: f64 = (0..3).map(|k| seconds[k][p] * factors[p][1 + k]).sum();
                first[p] * y[function][p] + along * products[function][p]
            })
            .sum()
    }
}
