//! The levels, and how a residual of the finest one goes through them.

use super::coarse_operator::CoarseOperator;
use super::coarse_space::WholeVector;
use super::cycle_kind::CycleKind;
use super::dense::DenseInverse;
use super::kept_setup::{KeptCoarse, KeptMeans, KeptOperator, KeptSetup};
use super::transfer::{Members, Transfer};
use crate::compute::DeviceError;
use crate::field::{
    Numbers, NumbersView, ParityField, ParitySpace, SpinorField, buffer_of_mut, numbers_of, plain_spinors,
    set_numbers,
};
use crate::geometry::LatticeError;
use crate::operator::{Dirac, SchurComplement};
use crate::scalar::{Real, Storage};
use lattice_solvers::{
    CoarseCorrection, CoarseSolve, Cycle, LinearOperator, Polynomial, Preconditioned, Preconditioner,
    VectorSpace, Work,
};

/// Degree of the polynomial that smooths coarse levels.
///
/// One cycle with it does what two or three do with half of it.
pub(super) const COARSE_DEGREE: usize = 8;

/// Steps and fall of the residual of the coarsest level.
const COARSEST: (usize, f64) = (24, 0.1);

/// A transfer and the level below it.
pub(super) struct Coarsening<R: Real> {
    transfer: Transfer<R>,
    solver: CoarseSolver<R>,
    source: WholeVector<R>,
    solution: WholeVector<R>,
}

/// The solve of a coarse level.
struct CoarseSolver<R: Real> {
    operator: CoarseOperator<R>,
    method: CoarseMethod<R>,
    turned: WholeVector<R>,
    source: SpinorField<R>,
}

/// The method that solves a coarse level's system.
enum CoarseMethod<R: Real> {
    Cycles(Box<Cycles<R>>),
    Inverse(Box<DenseInverse<R>>),
}

struct Cycles<R: Real> {
    cycle: Cycle<CoarseOperator<R>>,
    solve: CoarseSolve<CoarseOperator<R>>,
    below: Option<Below<R>>,
}

/// The parts of the method for a coarse level.
pub(super) enum Means<R: Real> {
    /// A smoother, and the levels below.
    Cycles(Polynomial, Option<Deeper<R>>),
    /// For a coarsest level of few numbers.
    Inverse(Box<DenseInverse<R>>),
}

/// The levels below a coarse one, and the kind of its cycles.
pub(super) type Deeper<R> = (CycleKind, Box<Coarsening<R>>);

/// The level below a coarse one.
struct Below<R: Real> {
    kind: CycleKind,
    coarsening: Box<Coarsening<R>>,
    residual: SpinorField<R>,
}

impl<R: Real> Coarsening<R> {
    /// With the operator of the coarse level, and the means to solve its system.
    ///
    /// All parts have the same number of right-hand sides.
    pub fn new(
        transfer: Transfer<R>,
        operator: CoarseOperator<R>,
        means: Means<R>,
    ) -> Result<Self, LatticeError> {
        let zero = || WholeVector::zero(operator.coarse_space(), operator.lattice());
        let (source, solution, turned) = (zero()?, zero()?, zero()?);
        let field = || operator.space().zero_vector();
        let method = match means {
            Means::Inverse(inverse) => CoarseMethod::Inverse(inverse),
            Means::Cycles(smoother, below) => {
                let (steps, tolerance) = below.as_ref().map_or(COARSEST, |(kind, _)| kind.steps());
                let below = match below {
                    None => None,
                    Some((kind, coarsening)) => Some(Below { kind, coarsening, residual: field()? }),
                };
                let cycle = Cycle::new(&operator, smoother)?;
                let solve = CoarseSolve::new(&operator, steps, tolerance)?;
                CoarseMethod::Cycles(Box::new(Cycles { cycle, solve, below }))
            }
        };
        let solver = CoarseSolver { method, turned, source: field()?, operator };
        Ok(Self { transfer, solver, source, solution })
    }

    /// Returns this coarsening for another number of right-hand sides.
    fn for_sources(&self, sources: usize) -> Result<Self, LatticeError> {
        let means = match &self.solver.method {
            CoarseMethod::Inverse(inverse) => Means::Inverse(Box::new(inverse.for_sources(sources)?)),
            CoarseMethod::Cycles(cycles) => {
                let of_below = |below: &Below<R>| {
                    Ok::<_, LatticeError>((below.kind, Box::new(below.coarsening.for_sources(sources)?)))
                };
                let below = cycles.below.as_ref().map(of_below).transpose()?;
                Means::Cycles(cycles.cycle.smoother().clone(), below)
            }
        };
        let operator = self.solver.operator.for_sources(sources)?;
        Self::new(self.transfer.for_sources(sources)?, operator, means)
    }

    /// Adds what this level and those below it keep of their set-up.
    fn keep(&self, setup: &mut KeptSetup<R>, coarse: &mut Vec<KeptCoarse<R>>) -> Result<(), DeviceError> {
        setup.vectors.push(self.transfer.kept()?);
        let blocks = self.solver.operator.kept()?;
        let (means, below) = match &self.solver.method {
            CoarseMethod::Inverse(inverse) => (KeptMeans::Inverse(inverse.kept()?), None),
            CoarseMethod::Cycles(cycles) => {
                (KeptMeans::Smoother(cycles.cycle.smoother().clone()), cycles.below.as_ref())
            }
        };
        coarse.push(KeptCoarse { blocks, means });
        below.map_or(Ok(()), |below| below.coarsening.keep(setup, coarse))
    }

    /// Returns the transfers of this level and those below it.
    fn into_transfers(self) -> Vec<Transfer<R>> {
        let mut transfers = vec![self.transfer];
        if let CoarseMethod::Cycles(cycles) = self.solver.method
            && let Some(below) = cycles.below
        {
            transfers.extend(below.coarsening.into_transfers());
        }
        transfers
    }

    /// Solves the coarse equation for a residual of the finer level.
    ///
    /// The residual is on the first half of the finer level's sites.
    fn solve(&mut self, residual: NumbersView<'_, R>) -> Result<Work, DeviceError> {
        self.transfer.restrict(residual, Members::Evens, &mut self.source)?;
        let mut work = self.transfer.work();
        work += self.solver.solve(&self.source, &mut self.solution)?;
        Ok(work)
    }
}

impl<R: Real> CoarseSolver<R> {
    /// e ≈ M⁻¹ c
    fn solve(&mut self, c: &WholeVector<R>, e: &mut WholeVector<R>) -> Result<Work, DeviceError> {
        let Self { operator, method, turned, source } = self;
        operator.source(c, turned, source)?;
        let mut work = match method {
            CoarseMethod::Inverse(inverse) => inverse.apply(source, &mut e.even)?,
            CoarseMethod::Cycles(cycles) => {
                let Cycles { cycle, solve, below } = &mut **cycles;
                solve.solve(operator, source, &mut e.even, |r, z, image| match below {
                    None => cycle.apply(operator, None, r, z, image),
                    Some(below) => {
                        let mut correction = OfCoarse { operator, below };
                        cycle.apply(operator, Some(&mut correction), r, z, image)
                    }
                })?
            }
        };
        operator.solution(turned, e)?;
        work += operator.work_of_sides();
        Ok(work)
    }
}

/// The correction of a coarse level by the one below it.
struct OfCoarse<'a, R: Real> {
    operator: &'a CoarseOperator<R>,
    below: &'a mut Below<R>,
}

impl<R: Real> CoarseCorrection<CoarseOperator<R>> for OfCoarse<'_, R> {
    fn correct(&mut self, r: &SpinorField<R>, z: &mut SpinorField<R>) -> Result<Work, DeviceError> {
        let Below { coarsening, residual, .. } = &mut *self.below;
        // The system is D⁻¹ times the equation that is restricted.
        self.operator.within(r, residual)?;
        let work = numbers_of(residual, |residual| coarsening.solve(residual))?;
        let Coarsening { transfer, solution, .. } = &**coarsening;
        if self.operator.coarse_space().place().is_host() {
            let space = self.operator.coarse_space();
            let reals = space.sources() * space.stride();
            let mut numbers = Numbers::Host(vec![R::zero(); reals]);
            transfer.prolong(solution, &mut numbers)?;
            if let Numbers::Host(numbers) = numbers {
                set_numbers(z, &numbers)?;
            }
        } else {
            transfer.prolong_to(solution, std::slice::from_mut(buffer_of_mut(z)))?;
        }
        Ok(work)
    }
}

/// All levels, as a preconditioner of the Schur complement.
///
/// The finest level is in the storage `T`, whose arithmetic is that of coarse levels. Vectors have
/// one or more right-hand sides, which go through the levels at once.
pub(super) struct Hierarchy<T: Storage> {
    dirac: Dirac<T>,
    schur: SchurComplement<T>,
    cycle: Cycle<SchurComplement<T>>,
    fine: OfFine<T::Real>,
}

/// The correction of the finest level.
struct OfFine<R: Real> {
    coarsening: Coarsening<R>,
    /// Spinors of the even sites, in the order of transfers.
    plain: Numbers<R>,
}

impl<T: Storage> Hierarchy<T> {
    /// Makes the hierarchy for `sources` right-hand sides.
    ///
    /// The coarsening may have another number.
    pub fn new(
        dirac: &Dirac<T>,
        smoother: Polynomial,
        coarsening: &Coarsening<T::Real>,
        sources: usize,
    ) -> Result<Self, LatticeError> {
        let dirac = dirac.for_columns(sources)?;
        let schur = dirac.schur_complement()?;
        let plain = plain_spinors::zero(schur.lattice(), false, sources)?;
        let cycle = Cycle::new(&schur, smoother)?;
        let coarsening = coarsening.for_sources(sources)?;
        Ok(Self { dirac, schur, cycle, fine: OfFine { coarsening, plain } })
    }

    /// Returns these levels for another number of right-hand sides.
    pub fn for_columns(&self, sources: usize) -> Result<Self, LatticeError> {
        Self::new(&self.dirac, self.cycle.smoother().clone(), &self.fine.coarsening, sources)
    }

    /// Returns all that these levels are made of, to be kept. All ranks call this together.
    pub fn kept(&self) -> Result<KeptSetup<T::Real>, DeviceError> {
        let mut setup = KeptSetup { vectors: Vec::new(), of_operator: None };
        let mut coarse = Vec::new();
        self.fine.coarsening.keep(&mut setup, &mut coarse)?;
        setup.of_operator = Some(KeptOperator { smoother: self.cycle.smoother().clone(), coarse });
        Ok(setup)
    }

    /// Returns the transfers of all levels, finest first; the operators are let go.
    pub fn into_transfers(self) -> Vec<Transfer<T::Real>> {
        self.fine.coarsening.into_transfers()
    }
}

impl<T: Storage> CoarseCorrection<SchurComplement<T>> for OfFine<T::Real> {
    fn correct(&mut self, r: &ParityField<T>, z: &mut ParityField<T>) -> Result<Work, DeviceError> {
        plain_spinors::take(r, &mut self.plain)?;
        let work = self.coarsening.solve(self.plain.view())?;
        self.coarsening.transfer.prolong(&self.coarsening.solution, &mut self.plain)?;
        plain_spinors::put(&self.plain, z)?;
        Ok(work)
    }
}

impl<T: Storage> Preconditioner<ParitySpace<T>> for Hierarchy<T> {
    fn apply(&mut self, r: &ParityField<T>, z: &mut ParityField<T>) -> Preconditioned<ParitySpace<T>> {
        let mut image = self.schur.space().scratch_vector()?;
        Ok(self.apply_with_image(r, z, &mut image)?.0)
    }

    fn apply_with_image(
        &mut self,
        r: &ParityField<T>,
        z: &mut ParityField<T>,
        image: &mut ParityField<T>,
    ) -> Preconditioned<ParitySpace<T>, (Work, Option<usize>)> {
        let work = self.cycle.apply(&self.schur, Some(&mut self.fine), r, z, image)?;
        Ok((work, Some(self.cycle.applications(true))))
    }
}
