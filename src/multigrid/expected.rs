//! The work that a multigrid method is expected to take, before there is one.

use super::dense::MOST_NUMBERS;
use super::error::SetupError;
use super::hierarchy::COARSE_DEGREE;
use super::params::{Blocking, MultigridParams};
use super::room::{Plan, columns_at_once, plan};
use super::setup::COARSE_ITERATIONS;
use crate::geometry::NDIM;
use crate::host::Spinor;
use crate::operator::Dirac;
use crate::solve::Inner;
use lattice_solvers::LinearOperator;

/// Expected work, in applications of the Schur complement in single precision.
///
/// Such an application is as much work as two hops from all sites of one parity. Work is counted by
/// the memory that it moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExpectedWork {
    /// A solve.
    pub solve: f64,
    /// A set-up.
    pub set_up: f64,
    /// Coarse operators for known near-null vectors.
    pub coarse_operators: f64,
    /// Bytes that an application moves.
    pub bytes: u64,
}

/// Cycles to a relative residual of 1e-10, as light quarks take.
const CYCLES: f64 = 26.0;

/// Bytes that a number of a block or a near-null vector counts for.
///
/// There are four. To make numbers of 16 bits those of an arithmetic unit takes a processor as long
/// again.
const BYTES_OF_NUMBER: f64 = 8.0;

/// How many columns share what is loaded of near-null vectors and coarse blocks.
///
/// With more of them arithmetic takes longer than memory.
const MOST_SHARING: f64 = 4.0;

/// Passes over a spinor on all sites, for each hop of an iteration of BiCGStab.
const PASSES_OF_ITERATION: f64 = 4.0;

/// Passes over a spinor on all sites, for each application to a column of V.
const PASSES_OF_COLUMN: f64 = 8.0;

/// What a set-up does beside the work that is counted.
const SLOWNESS_OF_SET_UP: f64 = 1.5;

impl MultigridParams {
    /// Returns the work that is expected of this method for an operator.
    ///
    /// A solve is one of `columns`. As many as there is memory for are solved at once.
    ///
    /// # Errors
    /// When there will be no such method: no blocks fit, or there is too little memory.
    pub fn expected_work(&self, dirac: &Dirac<f64>, columns: usize) -> Result<ExpectedWork, SetupError> {
        let lattice = dirac.lattice();
        let Plan { blockings, .. } = plan::<f32>(self, lattice)?;
        // In double it moves twice as much.
        let bytes = dirac.schur_complement()?.work().bytes / 2;
        let at_once = columns_at_once(lattice, self.precision, columns.max(1));
        Ok(self.expected(lattice.dims().extents(), &blockings, bytes, at_once))
    }

    /// Returns the work expected on a lattice, where an application moves so many bytes.
    ///
    /// `at_once` columns are solved at once.
    fn expected(
        &self,
        extents: [usize; NDIM],
        blockings: &[Blocking],
        bytes: u64,
        at_once: usize,
    ) -> ExpectedWork {
        let sharing = (at_once as f64).min(MOST_SHARING);
        let mut sites = extents.iter().product::<usize>() as f64;
        let mut components = Spinor::<f32>::COMPONENTS as f64;
        // Bytes of an application to all sites of the level, and of a vector on all sites.
        let mut application = bytes as f64;
        let mut vector = sites * size_of::<Spinor<f32>>() as f64;
        let mut cycle = 0.0;
        // In half precision an application moves half as much.
        let in_cycle = match self.precision {
            Inner::Single => 1.0,
            Inner::Half => 0.5,
        };
        let (mut vectors_made, mut coarse_operators) = (0.0, 0.0);
        for (level, Blocking { block, vectors }) in blockings.iter().enumerate() {
            let columns = 2.0 * *vectors as f64;
            let (degree, iterations) = match level {
                0 => (self.smoother_degree, self.setup_iterations),
                _ => (COARSE_DEGREE, COARSE_ITERATIONS),
            };
            // V is read for half of the sites, to restrict and to prolong.
            let transfer = sites * components / 2.0 * columns * BYTES_OF_NUMBER;
            let shared = if level == 0 { 1.0 / in_cycle } else { sharing };
            // Cycles of this level in one of the finest.
            let cycles = self.cycle.expected_steps().powi(level as i32);
            cycle += cycles * ((degree + 1) as f64 * application / shared + transfer / sharing);
            let made = (2 * iterations + 2) as f64 * (application + PASSES_OF_ITERATION / 2.0 * vector);
            vectors_made += *vectors as f64 * made;
            // M on all sites, and for each direction on the first slices of blocks.
            let slices: f64 = block.0.iter().map(|&extent| 1.0 / extent as f64).sum();
            let applied = (1 + NDIM) as f64 * (application + PASSES_OF_COLUMN * vector);
            coarse_operators += columns * (applied + (1.0 + slices) * transfer);

            sites /= block.0.iter().product::<usize>() as f64;
            components = columns;
            application = sites * (2 * NDIM) as f64 * columns * columns * BYTES_OF_NUMBER;
            vector = sites * columns * BYTES_OF_NUMBER;
            // To the system of the level, and from there.
            cycle += cycles * application / sharing * (2 * NDIM + 1) as f64 / (2 * NDIM) as f64;
        }
        let numbers = sites * components / 2.0;
        let cycles = self.cycle.expected_steps().powi(blockings.len() as i32 - 1);
        cycle += cycles
            * match numbers <= MOST_NUMBERS as f64 {
                true => numbers * numbers * BYTES_OF_NUMBER,
                // Some steps of GCR, each with a smoother.
                false => (COARSE_DEGREE * COARSE_DEGREE) as f64 * application,
            }
            / sharing;
        let in_applications = |work: f64| work / bytes.max(1) as f64;
        ExpectedWork {
            solve: in_applications(cycle) * (CYCLES * self.tol.ln() / 1e-10_f64.ln()).max(1.0),
            set_up: in_applications(SLOWNESS_OF_SET_UP * (vectors_made + coarse_operators)),
            coarse_operators: in_applications(SLOWNESS_OF_SET_UP * coarse_operators),
            bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::block::Block;
    use super::*;

    #[test]
    fn a_cycle_is_some_applications_and_a_set_up_some_solves_of_light_quarks() {
        let blockings =
            [[3, 3, 3, 4], [2, 2, 2, 3]].map(|block| Blocking { block: Block(block), vectors: 24 });
        // Links and spinors of 12³×24 as even-odd hops read them.
        let params = MultigridParams::default();
        let expected = params.expected([12, 12, 12, 24], &blockings, 41_472 * 800, 1);
        assert!((400.0..1000.0).contains(&expected.solve), "{expected:?}");
        assert!((3000.0..10_000.0).contains(&expected.set_up), "{expected:?}");
        assert!((0.2..0.6).contains(&(expected.coarse_operators / expected.set_up)), "{expected:?}");
        let loose =
            MultigridParams { tol: 1e-5, ..params }.expected([12, 12, 12, 24], &blockings, 41_472 * 800, 1);
        assert!((loose.solve / expected.solve - 0.5).abs() < 1e-12);
        let half = MultigridParams { precision: Inner::Half, ..params };
        let in_half = half.expected([12, 12, 12, 24], &blockings, 41_472 * 800, 1);
        // 26 cycles of five applications, each of which moves half as much.
        assert!((expected.solve - in_half.solve - 26.0 * 2.5).abs() < 1e-9, "{in_half:?}");
        assert_eq!(in_half.set_up, expected.set_up);
        // Hops of the finest level are not shared.
        let at_once = params.expected([12, 12, 12, 24], &blockings, 41_472 * 800, 12);
        assert!((130.0..0.6 * expected.solve).contains(&at_once.solve), "{at_once:?}");
        assert_eq!(at_once.set_up, expected.set_up);
    }
}
