//! Pair forces on the host: the twin of the kernels, in double.

use super::evaluation::{Evaluation, SUMS, Sums};
use super::potential::{Potential, Shift};
use super::system::nearest;
use lattice_compute::parallel::*;

/// What forces are made of, beside positions.
pub(crate) struct Pairs<'a> {
    pub edges: [f64; 3],
    pub types: &'a [u32],
    pub potential: &'a Potential,
    pub cutoff: f64,
    pub shift: Shift,
}

impl Pairs<'_> {
    /// Evaluates all pairs. The sums have the order of the atoms.
    pub fn evaluate(&self, positions: &[[f64; 3]]) -> Evaluation {
        let types = self.potential.types();
        let shifts: Vec<_> =
            (0..types * types).map(|row| self.potential.shift(self.shift, self.cutoff, row)).collect();
        let of_atom = |i: usize| {
            let (mut force, mut sums) = ([0.0; 3], [0.0; SUMS]);
            for j in (0..positions.len()).filter(|&j| j != i) {
                let d = nearest(positions[i], positions[j], self.edges);
                let square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
                if square < self.cutoff * self.cutoff {
                    let (r, row) = (square.sqrt(), self.types[i] as usize * types + self.types[j] as usize);
                    let [energy, slope] = self.potential.energy_and_slope(row, r);
                    let [constant, rise] = shifts[row];
                    let f = d.map(|d| -(slope - rise) / r * d);
                    force = std::array::from_fn(|axis| force[axis] + f[axis]);
                    let below = if r < self.potential.rmin() { 1.0 } else { 0.0 };
                    let energy = energy - constant - (r - self.cutoff) * rise;
                    let virial =
                        [d[0] * f[0], d[1] * f[1], d[2] * f[2], d[1] * f[2], d[0] * f[2], d[0] * f[1]];
                    let [xx, yy, zz, yz, xz, xy] = virial;
                    let terms = [energy, xx, yy, zz, yz, xz, xy, 1.0, below];
                    sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
                }
            }
            (force, sums)
        };
        let of_atoms: Vec<_> = (0..positions.len()).into_par_iter().map(of_atom).collect();
        let mut sums = [0.0; SUMS];
        for (_, of_atom) in &of_atoms {
            sums.iter_mut().zip(of_atom).for_each(|(sum, term)| *sum += term);
        }
        let forces = of_atoms.into_iter().map(|(force, _)| force).collect();
        Evaluation { sums: Sums::of_doubled(sums), forces }
    }
}
