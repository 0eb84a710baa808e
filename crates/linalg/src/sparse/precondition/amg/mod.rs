//! Algebraic multigrid by smoothed aggregation.

mod aggregates;
mod dense_rows;
mod kernels;
mod levels;
mod on_device;
mod options;
mod spectrum;
mod tentative;

pub use options::{AmgOptions, Cycle};

use super::{PreconditionError, dense};
use crate::error::BlasResult;
use crate::host::level1::Arithmetic;
use crate::sparse::csr::Csr;
use crate::sparse::matrix::Placed;
use crate::sparse::processor::Processor;
use crate::sparse::space::{CHEBYSHEV_STEP, Space};
use crate::sparse::vector::Vector;
use lattice_compute::Number;
use lattice_solvers::update::{AXPY, SOLUTION_AND_RESIDUAL};
use lattice_solvers::{CoarseSolve, LinearOperator, VectorSpace, Work};
use levels::{Hierarchy, SmoothedLevel};
use num_complex::Complex64;
use std::cell::RefCell;

/// A cycle of smoothed aggregation, K ≈ A⁻¹.
///
/// Sources: P. Vaněk, J. Mandel and M. Brezina, Computing 56 (1996) 179; M. Adams, M. Brezina, J. Hu
/// and R. Tuminaro, J. Comput. Phys. 188 (2003) 593 for the smoother. The V-cycle is Hermitian if A is.
/// [`Cycle::K`] makes another operator of each vector.
///
/// Unknowns with dense rows stay on the finest level (`dense_rows.rs`).
///
/// Levels are kept as D⁻¹A with the diagonal D of each level's A. So the smoother, a polynomial of
/// D⁻¹A, needs no diagonal. The coarsest level has a dense inverse, which is applied as a matrix.
pub struct Amg<T: Arithmetic> {
    space: Space<T>,
    /// Multiplies by D⁻¹ of the finest level.
    scale: Placed<T>,
    levels: Vec<Level<T>>,
    coarsest: Coarsest<T>,
    operator_complexity: f64,
    rows: Vec<usize>,
}

/// A level that is smoothed.
struct Level<T: Arithmetic> {
    /// D⁻¹A.
    matrix: Placed<T>,
    /// The next level's residual from this level's, with the scales of both.
    restrict: Placed<T>,
    prolong: Placed<T>,
    space: Space<T>,
    /// Step along a direction, and the share of it in the next direction.
    steps: Vec<[Number; 2]>,
    work: RefCell<Vectors<T>>,
    /// The solver on this level; only in the K-cycle, and not on the finest level.
    krylov: Option<RefCell<Krylov<T>>>,
}

/// A few steps of a Krylov method, with its right-hand side and its solution.
struct Krylov<T: Arithmetic> {
    solve: CoarseSolve<Placed<T>>,
    b: Vector<T>,
    x: Vector<T>,
}

/// Steps of the K-cycle on a level, and the residual that needs no second one.
const KRYLOV_STEPS: usize = 2;
const KRYLOV_TOLERANCE: f64 = 0.25;

/// Solution, residual, direction and image.
struct Vectors<T> {
    x: Vector<T>,
    r: Vector<T>,
    p: Vector<T>,
    q: Vector<T>,
}

impl<T: Arithmetic> Vectors<T> {
    fn new(space: &Space<T>) -> BlasResult<Self> {
        let zero = || space.zero_vector();
        Ok(Self { x: zero()?, r: zero()?, p: zero()?, q: zero()? })
    }
}

struct Coarsest<T: Arithmetic> {
    inverse: Placed<T>,
    /// Residual and solution.
    work: RefCell<[Vector<T>; 2]>,
}

impl<T: Arithmetic> Amg<T> {
    /// Makes the levels of a matrix, for cycles at a place.
    ///
    /// A device that is no processor makes levels of more rows than [`AmgOptions::host_rows`]. All
    /// others are made on the host. Both make the same levels, to rounding.
    ///
    /// # Errors
    /// [`PreconditionError::ZeroDiagonal`], [`PreconditionError::NearNullSpace`],
    /// [`PreconditionError::Block`], [`PreconditionError::NotSquare`], [`PreconditionError::Outgrown`],
    /// [`PreconditionError::SingularBlock`] for a singular coarsest level; errors of the device.
    pub fn new(
        place: &Processor,
        matrix: &Csr<T>,
        options: &AmgOptions<T>,
    ) -> Result<Self, PreconditionError> {
        let Hierarchy { levels, coarsest, scale, rows, entries } = levels::hierarchy(place, matrix, options)?;
        let coarsest = Coarsest::new(place, &coarsest, levels.is_empty())?;
        let level = |(k, level): (usize, SmoothedLevel<T>)| {
            let SmoothedLevel { matrix, restrict, prolong, radius } = level;
            let space = matrix.space().clone();
            let krylov = match options.cycle {
                Cycle::K if k > 0 => Some(RefCell::new(Krylov {
                    solve: CoarseSolve::new(&matrix, KRYLOV_STEPS, KRYLOV_TOLERANCE)?,
                    b: space.zero_vector()?,
                    x: space.zero_vector()?,
                })),
                _ => None,
            };
            let work = RefCell::new(Vectors::new(&space)?);
            let steps = chebyshev(options.degree.max(1), radius, options.ratio);
            Ok(Level { matrix, restrict, prolong, space, steps, work, krylov })
        };
        Ok(Self {
            space: Space::new(place, matrix.rows())?,
            scale,
            levels: levels.into_iter().enumerate().map(level).collect::<BlasResult<_>>()?,
            coarsest,
            operator_complexity: entries as f64 / matrix.entries().max(1) as f64,
            rows,
        })
    }

    /// Returns the rows of each level, the finest first.
    pub fn rows(&self) -> &[usize] {
        &self.rows
    }

    /// Returns the entries of all levels over those of the finest.
    pub fn operator_complexity(&self) -> f64 {
        self.operator_complexity
    }

    /// Returns the bytes of all levels.
    pub fn bytes(&self) -> u64 {
        let of_level =
            |level: &Level<T>| level.matrix.bytes() + level.restrict.bytes() + level.prolong.bytes();
        self.scale.bytes() + self.coarsest.inverse.bytes() + self.levels.iter().map(of_level).sum::<u64>()
    }

    /// Carries out a cycle from level `k` on.
    ///
    /// The cycle turns the residual of the level's vectors into the solution.
    fn cycle(&self, k: usize) -> BlasResult<()> {
        let Some(level) = self.levels.get(k) else {
            let [r, x] = &mut *self.coarsest.work.borrow_mut();
            return self.coarsest.inverse.apply(r, x);
        };
        let Level { matrix, restrict, prolong, space, steps, work, .. } = level;
        let Vectors { x, r, p, q } = &mut *work.borrow_mut();
        let one = space.scalar(Complex64::from(1.0));
        space.set_zero(x)?;
        space.copy(r, p)?;
        for [step, share] in steps {
            matrix.apply(p, q)?;
            CHEBYSHEV_STEP.apply(space, [step, share], [q], [&mut *x, &mut *p, &mut *r])?;
        }
        match self.levels.get(k + 1).and_then(|below| below.krylov.as_ref().map(|krylov| (below, krylov))) {
            None => {
                self.with_residual(k + 1, |below| restrict.multiply(r, below))?;
                self.cycle(k + 1)?;
                self.with_solution(k + 1, |below| prolong.multiply(below, q))?;
            }
            Some((below, krylov)) => {
                let Krylov { solve, b, x } = &mut *krylov.borrow_mut();
                restrict.multiply(r, b)?;
                solve.solve(&below.matrix, b, x, |r, p, image| {
                    self.with_residual(k + 1, |own| below.space.copy(r, own))?;
                    self.cycle(k + 1)?;
                    self.with_solution(k + 1, |own| below.space.copy(own, p))?;
                    below.matrix.apply(p, image)?;
                    Ok(Work::default())
                })?;
                prolong.multiply(x, q)?;
            }
        }
        AXPY.apply(space, [&one], [q], [&mut *x])?;
        matrix.apply(q, p)?;
        AXPY.apply(space, [&space.negate(&one)], [p], [&mut *r])?;
        space.copy(r, p)?;
        for (k, [step, share]) in steps.iter().enumerate() {
            // Nobody needs the last residual.
            if k + 1 == steps.len() {
                AXPY.apply(space, [step], [p], [&mut *x])?;
            } else {
                matrix.apply(p, q)?;
                CHEBYSHEV_STEP.apply(space, [step, share], [q], [&mut *x, &mut *p, &mut *r])?;
            }
        }
        Ok(())
    }

    fn with_residual(&self, k: usize, f: impl FnOnce(&mut Vector<T>) -> BlasResult<()>) -> BlasResult<()> {
        match self.levels.get(k) {
            Some(level) => f(&mut level.work.borrow_mut().r),
            None => f(&mut self.coarsest.work.borrow_mut()[0]),
        }
    }

    fn with_solution(&self, k: usize, f: impl FnOnce(&Vector<T>) -> BlasResult<()>) -> BlasResult<()> {
        match self.levels.get(k) {
            Some(level) => f(&level.work.borrow().x),
            None => f(&self.coarsest.work.borrow()[1]),
        }
    }
}

impl<T: Arithmetic> Coarsest<T> {
    /// `is_only` if there is no other level: its residual has the scale of D⁻¹ then.
    fn new(place: &Processor, matrix: &Csr<T>, is_only: bool) -> Result<Self, PreconditionError> {
        let n = matrix.rows();
        let mut elements = vec![T::default(); n * n];
        for row in 0..n {
            matrix.row(row).for_each(|(column, value)| elements[row * n + column] = value);
        }
        let inverse = dense::inverse(n, &elements);
        let inverse = inverse.ok_or(PreconditionError::SingularBlock { first: 1, last: n })?;
        let scale =
            |column: usize| if is_only { matrix.at(column, column) } else { T::from_complex(1.0.into()) };
        let scales: Vec<T> = (0..n).map(scale).collect();
        let row = |row: usize| {
            let values = &inverse[row * n..(row + 1) * n];
            values.iter().zip(&scales).enumerate().map(|(j, (value, scale))| (j as u32, *value * *scale))
        };
        let inverse = Placed::chosen(place, Csr::from_rows(n, (0..n).map(row)))?;
        let space = Space::new(place, n)?;
        Ok(Self { inverse, work: RefCell::new([space.zero_vector()?, space.zero_vector()?]) })
    }
}

/// Returns the steps of Chebyshev's iteration.
///
/// The iteration suits eigenvalues from `radius` / `ratio` to `radius`.
///
/// Source: Y. Saad, *Iterative Methods for Sparse Linear Systems*, 2nd ed., algorithm 12.1. Its
/// direction dₖ is cₖ pₖ here, so that pₖ₊₁ = r + βₖ pₖ.
fn chebyshev(degree: usize, radius: f64, ratio: f64) -> Vec<[Number; 2]> {
    let (centre, half) = (0.5 * (radius + radius / ratio), 0.5 * (radius - radius / ratio));
    let sigma = centre / half;
    let (mut rho, mut step) = (1.0 / sigma, 1.0 / centre);
    (0..degree)
        .map(|_| {
            let next_rho = 1.0 / (2.0 * sigma - rho);
            let next_step = 2.0 * next_rho / half;
            let share = next_rho * rho * step / next_step;
            let now = [step, share].map(|value| Number::from(Complex64::from(value)));
            (rho, step) = (next_rho, next_step);
            now
        })
        .collect()
}

impl<T: Arithmetic> LinearOperator for Amg<T> {
    type Space = Space<T>;

    fn space(&self) -> &Space<T> {
        &self.space
    }

    fn apply(&self, x: &Vector<T>, out: &mut Vector<T>) -> BlasResult<()> {
        self.with_residual(0, |r| self.scale.apply(x, r))?;
        self.cycle(0)?;
        self.with_solution(0, |solution| self.space.copy(solution, out))
    }

    fn work(&self) -> Work {
        let mut work = self.scale.work();
        let mut visits = 1;
        for level in &self.levels {
            if level.krylov.is_some() {
                visits *= KRYLOV_STEPS as u64;
                work += level.matrix.work().times(visits);
                work += SOLUTION_AND_RESIDUAL.work(&level.space).times(2 * visits);
            }
            let degree = level.steps.len() as u64;
            work += level.matrix.work().times(2 * degree * visits);
            work += level.restrict.work().times(visits);
            work += level.prolong.work().times(visits);
            work += CHEBYSHEV_STEP.work(&level.space).times((2 * degree - 1) * visits);
            work += AXPY.work(&level.space).times(3 * visits);
        }
        work += self.coarsest.inverse.work().times(visits);
        work
    }
}
