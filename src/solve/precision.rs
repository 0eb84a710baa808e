//! The preconditioned equation A x = b, solved by any method in any precision.

use super::best_solution::BestSolution;
use super::checkpoints::{Beside, Checkpoints, Keeper};
use super::error::InvertError;
use super::iteration::{Iterated, Iteration, MethodResult};
use super::params::{Plan, SolveParams};
use super::plan::{Inner, IterationPrecision};
use super::start::PartOfModes;
use crate::compute::DeviceError;
use crate::field::StoredField;
use crate::operator::{DiracOperator, InPrecision, System};
use crate::scalar::{Half, Storage};
use lattice_solvers::{
    Callbacks, Failure, LinearOperator, Replaced, Residual, SolverError, SolverInfo, StateKeeper,
    TrueResidual, VectorOf, VectorSpace,
};
use std::cell::{Cell, RefCell};
use std::time::Duration;

/// The largest relative residual of a guess that is used: the residual of x = 0.
///
/// Rounding errors of a worse guess would stay, so such a guess is replaced by x = 0.
const FARTHEST_GUESS: f64 = 1.0;

/// The part of the first ‖source‖ / ‖residual‖ below which modes are taken out of a residual again.
///
/// The source of A†A x = A†b has parts along modes only by their singular values. Rounding errors
/// that are small in the source are therefore large in the residual.
const HIDDEN_MODES: f64 = 0.5;

/// The equation A x = b, preconditioned or not.
///
/// b − A x is the residual of the original equation too.
pub(crate) struct Equation<'a, A: DiracOperator> {
    pub operator: &'a A,
    pub b: &'a VectorOf<A>,
    /// The norm to which relative residuals refer.
    pub b_norm: f64,
    /// The relative residual of the equation, from its definition.
    pub true_residual: &'a mut dyn FnMut(&VectorOf<A>) -> Result<f64, DeviceError>,
    /// The part of a solution that modes span, if there are modes.
    pub part_of_modes: Option<&'a PartOfModes<'a, A>>,
    /// The keeper of the solve's states, if there is one.
    pub checkpoints: Option<&'a mut dyn Checkpoints>,
}

impl<A: InPrecision<f32> + InPrecision<Half>> Equation<'_, A> {
    /// Solves it.
    ///
    /// # Errors
    /// The errors of making operators. The errors of the method are in the outcome.
    pub fn solve(
        self,
        guess: Option<&VectorOf<A>>,
        plan: Plan,
    ) -> Result<MethodResult<VectorOf<A>>, InvertError> {
        if plan.params.system() == System::Hermitian && !self.operator.is_gamma5_hermitian() {
            return Err(InvertError::NotHermitian);
        }
        let begun = self.part_of_modes.map(|part| part(self.b)).transpose()?;
        let mut of_use = None;
        if let Some(guess) = guess.or(begun.as_ref()) {
            let residual = (self.true_residual)(guess)?;
            // In low precision a method could not tell that it is the solution.
            if residual <= plan.stopping.tolerance {
                return self.already_found(guess, residual);
            }
            of_use = Some(guess).filter(|_| residual <= FARTHEST_GUESS);
        }
        let guess = of_use;
        match plan.params.precision() {
            IterationPrecision::Double => {
                let mut source = self.operator.space().zero_vector()?;
                SourceMap::new(self.operator, &plan.params)?.apply(self.b, &mut source)?;
                let mut keeper = self.checkpoints.map(|checkpoints| Keeper {
                    space: self.operator.space(),
                    checkpoints,
                    begun_at: 1.0,
                    beside: None,
                });
                let callbacks = callbacks(TrueResidual::Computed(self.true_residual), &mut keeper);
                let stopping = plan.stopping;
                let of = Iteration { operator: self.operator, source: &source, guess, stopping, callbacks };
                Ok(plan.params.iterate(of)?)
            }
            IterationPrecision::Single => self.solve_low::<f32>(guess, plan),
            IterationPrecision::Mixed(inner @ Inner::Single) => {
                self.solve_mixed::<f32>(guess, plan, inner.replaced_at(), |of| plan.params.iterate(of))
            }
            IterationPrecision::Mixed(inner @ Inner::Half) => {
                self.solve_mixed::<Half>(guess, plan, inner.replaced_at(), |of| plan.params.iterate(of))
            }
        }
    }
}

impl<A: DiracOperator> Equation<'_, A> {
    /// Returns the guess, which is the solution.
    fn already_found(
        self,
        guess: &VectorOf<A>,
        residual: f64,
    ) -> Result<MethodResult<VectorOf<A>>, InvertError> {
        let mut x = self.operator.space().zero_vector()?;
        self.operator.space().copy(guess, &mut x)?;
        let info = SolverInfo {
            iterations: 0,
            residual: Residual { iterated: residual, true_residual: residual },
            history: vec![residual],
            applications: 1,
            time: Duration::ZERO,
            work: self.operator.work(),
        };
        Ok(Ok((x, info)))
    }

    /// Solves in a lower precision, except for the true residual.
    fn solve_low<R: Storage>(
        self,
        guess: Option<&VectorOf<A>>,
        plan: Plan,
    ) -> Result<MethodResult<VectorOf<A>>, InvertError>
    where
        A: InPrecision<R>,
    {
        let low = self.operator.in_precision()?;
        let mut b = low.space().zero_vector()?;
        let mut source = low.space().zero_vector()?;
        A::lower(self.b, &mut b)?;
        SourceMap::new(&low, &plan.params)?.apply(&b, &mut source)?;
        if let Some(guess) = guess {
            A::lower(guess, &mut b)?;
        }
        let guess = guess.map(|_| &b);
        let mut raised = self.operator.space().zero_vector()?;
        let mut true_residual = |x: &VectorOf<A::Low>| {
            A::raise(x, &mut raised)?;
            (self.true_residual)(&raised)
        };
        let mut keeper = self.checkpoints.map(|checkpoints| Keeper {
            space: low.space(),
            checkpoints,
            begun_at: 1.0,
            beside: None,
        });
        let callbacks = callbacks(TrueResidual::Computed(&mut true_residual), &mut keeper);
        let stopping = plan.stopping;
        let of = Iteration { operator: &low, source: &source, guess, stopping, callbacks };
        let outcome = plan.params.iterate(of)?;
        Ok(match outcome {
            Ok((x, info)) => {
                A::raise(&x, &mut raised)?;
                Ok((raised, info))
            }
            Err(error) => Err(error.map_best(|best, _| A::raise(&best, &mut raised).map(|()| raised))),
        })
    }

    /// Solves by corrections in a lower precision, which `iterate` finds.
    ///
    /// The solution is in this precision. The residual is replaced when it has fallen to
    /// `replaced_at`.
    pub fn solve_mixed<R: Storage>(
        self,
        guess: Option<&VectorOf<A>>,
        plan: Plan,
        replaced_at: f64,
        iterate: impl FnOnce(Iteration<'_, '_, A::Low>) -> Iterated<A::Low>,
    ) -> Result<MethodResult<VectorOf<A>>, InvertError>
    where
        A: InPrecision<R>,
    {
        let Self { operator, b, b_norm, true_residual, part_of_modes, checkpoints } = self;
        let space = operator.space();
        let low = operator.in_precision()?;
        // A residual that starts a stretch of low precision needs no more precision on its way to
        // the system that is iterated.
        let map = SourceMap::new(&low, &plan.params)?;
        let mut solution = space.zero_vector()?;
        let mut residual = space.zero_vector()?;
        space.copy(b, &mut residual)?;
        if let Some(guess) = guess {
            space.copy(guess, &mut solution)?;
            operator.residual(b, guess, &mut residual)?;
        }
        let mut low_residual = low.space().zero_vector()?;
        let mut source = low.space().zero_vector()?;
        A::lower(&residual, &mut low_residual)?;
        map.apply(&low_residual, &mut source)?;
        // To the method the residual of the guess is the source; all it says of residuals is
        // relative to that one.
        let begun = norm(low.space(), &source)?;
        let begun_at = match guess {
            None => 1.0,
            Some(_) => {
                A::lower(b, &mut low_residual)?;
                let mut whole = low.space().zero_vector()?;
                map.apply(&low_residual, &mut whole)?;
                begun / scale(low.space(), &whole)?
            }
        };
        // Corrections need not bring it nearer.
        let residual_norm = norm(space, &residual)?;
        let source_of_residual = begun / residual_norm;
        let mut best = BestSolution::new(space.scratch_vector()?, residual_norm / b_norm);
        let (solution, replacements) = (RefCell::new(solution), Cell::new(0));
        let mut replace = |x: &mut VectorOf<A::Low>, r: &mut VectorOf<A::Low>| {
            let mut solution = solution.borrow_mut();
            best.correct(&mut solution, &mut residual, |from, to| A::sum_with_raised(x, from, to))?;
            low.space().set_zero(x)?;
            let mut deflates = part_of_modes;
            let (r_norm2, value, residual_norm) = loop {
                replacements.set(replacements.get() + 1);
                operator.residual(b, &solution, &mut residual)?;
                A::lower(&residual, &mut low_residual)?;
                map.apply(&low_residual, r)?;
                let r_norm2 = low.space().norm2(r)?;
                let [value, norm2] = space.read([&r_norm2, &space.norm2(&residual)?])?;
                let (source_norm, residual_norm) = (value.re.sqrt(), norm2.re.sqrt());
                let hidden = source_norm < HIDDEN_MODES * source_of_residual * residual_norm;
                match deflates.take() {
                    Some(part) if hidden && residual_norm / b_norm > plan.stopping.tolerance => {
                        let one = space.scalar(1.0.into());
                        space.axpy(&one, &part(&residual)?, &mut solution)?;
                    }
                    _ => break (r_norm2, value.re, residual_norm),
                }
            };
            let mut relative = residual_norm / b_norm;
            if relative <= plan.stopping.tolerance {
                relative = true_residual(&solution)?;
            }
            best.judge(relative);
            Ok::<_, DeviceError>(Replaced { true_residual: relative, r_norm2, value })
        };
        let mut keeper = checkpoints.map(|checkpoints| Keeper {
            space: low.space(),
            checkpoints,
            begun_at,
            beside: Some(Beside { solution: &solution, replacements: &replacements }),
        });
        let residual = TrueResidual::Replaced { replace: &mut replace, at: replaced_at };
        let callbacks = callbacks(residual, &mut keeper);
        let stopping = plan.stopping;
        let of = Iteration { operator: &low, source: &source, guess: None, stopping, callbacks };
        let outcome = iterate(of)?;
        let work = operator.work().times(replacements.get());
        let solution = solution.into_inner();
        Ok(match outcome {
            Ok((_, mut info)) => {
                info.work += work;
                relate(&mut info, begun_at);
                Ok((solution, info))
            }
            Err(error) => {
                let mut error = error.map_best(|_, _| Ok(solution));
                if let SolverError::NotConverged { failure, best: last, info } = &mut error {
                    if let Some(better) = best.better_than_last() {
                        *last = better;
                        info.residual.true_residual = true_residual(last)?;
                    }
                    info.work += work;
                    relate(info, begun_at);
                    if let Failure::Stagnation { residual, .. }
                    | Failure::PrecisionLimit { iterated: residual, .. } = failure
                    {
                        *residual *= begun_at;
                    }
                }
                Err(error)
            }
        })
    }
}

/// Makes the residuals of the iteration relative to the whole source.
pub(crate) fn relate(info: &mut SolverInfo, begun_at: f64) {
    info.residual.iterated *= begun_at;
    info.history.iter_mut().for_each(|residual| *residual *= begun_at);
}

/// Makes the callbacks of a method, for the residual that counts and for a keeper.
fn callbacks<'a, S>(
    true_residual: TrueResidual<'a, S>,
    keeper: &'a mut Option<Keeper<'_, S>>,
) -> Callbacks<'a, S>
where
    S: VectorSpace<Error = DeviceError, Vector: StoredField>,
{
    let keeper = keeper.as_mut().map(|keeper| keeper as &mut dyn StateKeeper<_, _>);
    Callbacks::default().with_true_residual(Some(true_residual)).with_keeper(keeper)
}

/// Returns ‖x‖.
pub(crate) fn norm<S: VectorSpace>(space: &S, x: &S::Vector) -> Result<f64, S::Error> {
    let [norm2] = space.read([&space.norm2(x)?])?;
    Ok(norm2.re.sqrt())
}

/// Returns the norm to which residuals of a source refer: 1 if the source is 0.
pub(crate) fn scale<S: VectorSpace>(space: &S, b: &S::Vector) -> Result<f64, S::Error> {
    let norm = norm(space, b)?;
    Ok(if norm == 0.0 { 1.0 } else { norm })
}

/// Makes the source of the system that a method iterates of that of A x = b.
enum SourceMap<'a, A: DiracOperator> {
    Itself(&'a A),
    /// By A†, or by γ5.
    Through(A),
}

impl<'a, A: DiracOperator> SourceMap<'a, A> {
    fn new(operator: &'a A, params: &SolveParams) -> Result<Self, DeviceError> {
        Ok(match params.system() {
            System::Direct => Self::Itself(operator),
            System::Hermitian => Self::Through(operator.gamma5()?),
            System::Normal => Self::Through(operator.adjoint()?),
        })
    }

    /// Computes the source of the system.
    fn apply(&self, b: &VectorOf<A>, source: &mut VectorOf<A>) -> Result<(), DeviceError> {
        match self {
            Self::Itself(operator) => operator.space().copy(b, source),
            Self::Through(map) => map.apply(b, source),
        }
    }
}
