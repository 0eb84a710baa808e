//! A method chosen by how it behaves.
//!
//! The fastest method comes first. A safer method goes on from where a faster one gives up.

use super::attempts::{Attempt, Earlier, InOrder, KeptChoice};
use super::checkpoints::Checkpoints;
use super::error::InvertError;
use super::experience::{Experience, Next, bytes_worth_a_comparison};
use super::methods::{Solution, solve};
use super::params::{BicgstabParams, CgParams, CrParams, Plan, SolveParams};
use super::plan::{IterationPrecision, Preconditioning};
use crate::compute::{DeviceError, Team};
use crate::field::{SpinorField, StoredField};
use crate::operator::Dirac;
use derive_setters::Setters;
use lattice_solvers::{Failure, ForeignState, Look, SolverInfo, SolverState, Wish};

/// Iterations over which BiCGStab has to bring the residual down.
///
/// The number holds if another method can still take over. Otherwise BiCGStab has 1000 iterations.
const PATIENCE: usize = 200;

/// Parameters of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct AutoParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations of all methods together. Default 10 000.
    pub max_iterations: usize,
    /// Precision of every iteration. Default `None`.
    ///
    /// `None` means [`IterationPrecision::mixed_on`] the team, and double at the end.
    pub precision: Option<IterationPrecision>,
    /// The preconditioning. Default [`Preconditioning::EvenOdd`].
    pub preconditioning: Preconditioning,
    /// Memory traffic in bytes of a solve by BiCGStab, from which on CG is compared with it.
    ///
    /// Default `None`: what makes up for the compilation of the kernels of CG on the team, nothing on the
    /// host.
    pub compared_from: Option<u64>,
}

impl Default for AutoParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, .. } = CrParams::default();
        let preconditioning = Preconditioning::EvenOdd;
        Self { tol, max_iterations, precision: None, preconditioning, compared_from: None }
    }
}

/// An observer of a solve of [`Auto`], which may keep the states of the solve.
///
/// The trait adds the record of earlier attempts to [`Checkpoints`](super::Checkpoints).
pub trait Watch {
    /// Returns the state that the solve goes on from, with the methods tried before it.
    ///
    /// The solve asks once. Default: none.
    fn kept(&mut self) -> Option<KeptChoice> {
        None
    }

    /// Takes the residual, whenever it has been looked at.
    ///
    /// The call must be quick. Default: ignores the residual.
    ///
    /// Iterations are those of all methods together. A method that goes on from an iterate begins
    /// with a look at it.
    fn looked(&mut self, _look: &Look) {}

    /// Returns the wish of the observer for the solve. Default: to go on.
    ///
    /// The solve asks between two iterations, whenever the residual has been looked at. The call
    /// must be quick.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state, if [`wish`](Self::wish) asked for one. Default: does nothing.
    ///
    /// # Errors
    /// When a field cannot be read.
    fn keep(
        &mut self,
        _earlier: &Earlier<&dyn StoredField>,
        _state: &SolverState<&dyn StoredField>,
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    /// Learns that a method gave up and another one goes on from the best iterate.
    ///
    /// `from` is the residual of the best iterate so far: 1 if that iterate is still x = 0.
    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64);

    /// Learns that CG was tried for a part of the way, to compare it with BiCGStab.
    ///
    /// `next` goes on from the iterate that CG reached. Default: ignores it.
    fn compares(&mut self, _tried: &Attempt, _next: &SolveParams) {}
}

/// A solution and how it was found.
pub struct AutoSolution {
    /// The solution.
    pub x: SpinorField<f64>,
    /// The report of the solve, for all methods together.
    ///
    /// The residual is the one at the end.
    pub info: SolverInfo,
    /// The methods that were tried. The last one found the solution.
    pub attempts: Vec<Attempt>,
}

/// The first method of an automatic choice: cycles of a multigrid method.
pub(crate) struct First<'a> {
    /// Its parameters, with its own limit of iterations.
    pub params: SolveParams,
    /// Solves, and keeps states.
    pub solve: &'a mut dyn FnMut(&mut dyn Checkpoints) -> Solution,
}

/// Solves M x = b by BiCGStab, and by CG if BiCGStab fails.
///
/// BiCGStab fails if it breaks down, stagnates, meets the limit of its precision or takes too many
/// iterations. CG on M†M then goes on from the best iterate so far. CG in double comes last. A
/// source after the first one begins with the method that worked for the source before.
///
/// **Comparison.** If BiCGStab has solved the first source, and the solve was long enough
/// ([`AutoParams::compared_from`]), the second source begins with CG, for half as many iterations. None of these moves more memory than an iteration of BiCGStab. The
/// total memory traffic of CG ([`SolverInfo::work`]) is then extrapolated. The logarithm of the
/// residual is taken to fall at the same rate as so far. If CG moves less memory than BiCGStab did,
/// CG solves this source and the next one. Otherwise BiCGStab goes on from the iterate that CG
/// reached. From then on every source begins with the method that moved less memory for a whole
/// source.
///
/// **Limits.** BiCGStab has half of the iterations that are allowed. For later sources every method
/// but the last has three times as many iterations as it needed before.
///
/// **Reproducibility.** The choice depends on residuals, numbers of iterations and counted memory
/// traffic, never on time. Equal equations are therefore solved in equal ways.
pub struct Auto {
    params: AutoParams,
    experience: Experience,
}

impl Auto {
    /// Makes a solver that knows nothing of the equation yet.
    pub fn new(params: AutoParams) -> Self {
        Self { params, experience: Experience::default() }
    }

    /// Returns the methods to try, in order.
    pub(crate) fn steps(&self, team: &Team) -> Vec<SolveParams> {
        let AutoParams { tol, max_iterations, precision, preconditioning, .. } = self.params;
        let first = precision.unwrap_or(IterationPrecision::mixed_on(team));
        let cg = |precision| SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning });
        let bicgstab = BicgstabParams { tol, max_iterations, precision: first, preconditioning };
        let mut steps = vec![SolveParams::Bicgstab(bicgstab), cg(first)];
        if precision.is_none() {
            steps.push(cg(IterationPrecision::Double));
        }
        steps
    }

    /// Returns the method with which the next solve on this team begins.
    pub fn first_step(&self, team: &Team) -> SolveParams {
        self.steps(team)[self.experience.begins_with()]
    }

    /// Returns the method to try next, and `true` if it is a trial.
    ///
    /// The method has its limit of iterations, which is 0 if none are left. The result is `None` if
    /// all methods have given up.
    fn next<V>(&self, steps: &[SolveParams], earlier: &Earlier<V>) -> Option<(SolveParams, bool)> {
        let AutoParams { tol, max_iterations, .. } = self.params;
        let left = max_iterations.saturating_sub(earlier.iterations());
        let attempts = placed(steps, &earlier.attempts);
        // A method that continues from another method's iterate is not compared.
        let settled = has_multigrid(&earlier.attempts).then(|| self.experience.settled());
        let experience = settled.as_ref().unwrap_or(&self.experience);
        let Next { place, limit, trial } = experience.next(&attempts, steps.len(), tol, left)?;
        Some((steps[place].with_limit(limit), trial))
    }

    /// Takes note of how a source was solved.
    ///
    /// The source may have been solved by [`solve`](Self::solve), or by an earlier run. An earlier
    /// run must have had the same parameters and a team like this one. `attempts` are the attempts
    /// for the source. The last attempt found the solution. Later solves then behave like those of
    /// one run that solved all sources.
    pub fn learn(&mut self, team: &Team, attempts: &[Attempt]) {
        // The rest of another method's way tells nothing of a whole one.
        if has_multigrid(attempts) {
            return;
        }
        self.experience.worth = self.worth(team);
        self.experience.learn(&placed(&self.steps(team), attempts));
    }

    /// Returns the memory traffic of a solve from which on methods are compared.
    fn worth(&self, team: &Team) -> u64 {
        self.params.compared_from.unwrap_or_else(|| bytes_worth_a_comparison(team))
    }

    /// Solves M x = b, from x = 0 or from the state that `watch` has kept.
    ///
    /// If a solve goes on from a state, its result is that of the solve without interruption. The
    /// results agree to the last bit on the same device, after the same sources
    /// ([`learn`](Self::learn)).
    ///
    /// # Errors
    /// * [`InvertError::AllGaveUp`], with the best iterate and all attempts.
    /// * [`InvertError::NotConverged`] with [`Failure::Interrupted`], if `watch` stops the solve.
    /// * [`InvertError::ForeignState`].
    pub fn solve(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        watch: &mut dyn Watch,
    ) -> Result<AutoSolution, InvertError> {
        self.solve_after(None, dirac, b, watch)
    }

    /// Solves like [`solve`](Self::solve), after another method has tried.
    ///
    /// The methods of this choice go on from the best iterate of the other one.
    ///
    /// # Errors
    /// All errors of [`solve`](Self::solve).
    pub(crate) fn solve_after(
        &mut self,
        first: Option<First<'_>>,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        watch: &mut dyn Watch,
    ) -> Result<AutoSolution, InvertError> {
        let team = dirac.lattice().team();
        self.experience.worth = self.worth(team);
        let steps = self.steps(team);
        let (mut earlier, mut state) = kept(dirac, watch)?;
        let mut first = first.filter(|_| earlier.attempts.is_empty());
        let mut why = None;
        let mut was_trial = false;
        loop {
            let first = first.take();
            let step = match &first {
                Some(first) => Some((first.params, false)),
                None => self.next(&steps, &earlier),
            };
            let Some((params, trial)) = step else { break };
            if let (Some(_), Some(last)) = (why, earlier.attempts.last()) {
                if earlier.iterations() >= self.params.max_iterations {
                    break;
                }
                if was_trial {
                    watch.compares(last, &params);
                } else {
                    watch.falls_back(last, &params, earlier.smallest());
                }
            }
            was_trial = trial;
            let mut plan = Plan::from(params);
            if let SolveParams::Bicgstab(_) = params {
                plan.stopping.stagnation_window = PATIENCE;
            }
            let mut keeper = Attempting {
                state: state.take(),
                earlier: earlier.map(|best| best as &dyn StoredField),
                watch: &mut *watch,
            };
            let multigrid = first.is_some();
            let solved = match first {
                Some(first) => (first.solve)(&mut keeper),
                None => solve(dirac, b, earlier.best.as_ref(), plan, Some(&mut keeper)),
            };
            let (x, info, failure) = match solved {
                Ok((x, info)) => (x, info, None),
                Err(InvertError::NotConverged { failure, best, info }) => (*best, *info, Some(failure)),
                Err(error) => return Err(error),
            };
            let (residual, smallest) = (info.residual.true_residual, earlier.smallest());
            earlier.add(params, multigrid, info, failure.map(|failure| failure.to_string()));
            if failure.is_none() {
                self.learn(team, &earlier.attempts);
                return Ok(AutoSolution { x, info: earlier.info(residual), attempts: earlier.attempts });
            }
            // Written so that a residual that is not a number is not the smallest.
            if residual < smallest {
                earlier.best = Some(x);
            }
            why = failure;
            if why == Some(Failure::Interrupted) {
                break;
            }
        }
        let Some(failure) = why else {
            let needed = "attempts of its own, and one of its methods to go on with".to_owned();
            let found = format!("a solve after these: {}", InOrder(&earlier.attempts));
            return Err(InvertError::ForeignState(ForeignState {
                method: "the automatic choice",
                needed,
                found,
            }));
        };
        let info = Box::new(earlier.info(earlier.smallest()));
        let best = Box::new(earlier.best.map_or_else(|| dirac.lattice().spinor(), Ok)?);
        match failure {
            Failure::Interrupted => Err(InvertError::NotConverged { failure, best, info }),
            _ => Err(InvertError::AllGaveUp { failure, best, info, attempts: earlier.attempts }),
        }
    }
}

fn has_multigrid(attempts: &[Attempt]) -> bool {
    attempts.iter().any(|attempt| attempt.multigrid)
}

/// Returns the attempts with their places among the steps.
///
/// Attempts with other parameters are left out.
fn placed<'a>(steps: &[SolveParams], attempts: &'a [Attempt]) -> Vec<(usize, &'a Attempt)> {
    let what = |params: &SolveParams| (params.method(), params.precision());
    let place = |attempt: &Attempt| steps.iter().position(|step| what(step) == what(&attempt.params));
    attempts.iter().filter_map(|attempt| Some((place(attempt)?, attempt))).collect()
}

/// The state from which a solve goes on, with the attempts before it.
type ResumeState = (Earlier<SpinorField<f64>>, Option<SolverState<Vec<u8>>>);

/// Returns the state that `watch` has kept, with the best iterate as a field again.
fn kept(dirac: &Dirac<f64>, watch: &mut dyn Watch) -> Result<ResumeState, InvertError> {
    let Some((Earlier { attempts, history, best }, state)) = watch.kept() else {
        return Ok((Earlier::default(), None));
    };
    let field = |bytes: Vec<u8>| {
        let mut field = dirac.lattice().spinor()?;
        field.set_bytes(&bytes)?;
        Ok::<_, InvertError>(field)
    };
    Ok((Earlier { attempts, history, best: best.map(field).transpose()? }, Some(state)))
}

/// A keeper of the states of one attempt, with the methods tried before.
struct Attempting<'a> {
    state: Option<SolverState<Vec<u8>>>,
    earlier: Earlier<&'a dyn StoredField>,
    watch: &'a mut dyn Watch,
}

impl Checkpoints for Attempting<'_> {
    fn kept(&mut self) -> Option<SolverState<Vec<u8>>> {
        self.state.take()
    }

    fn looked(&mut self, look: &Look) {
        let iterations = self.earlier.iterations() + look.iterations;
        self.watch.looked(&Look { iterations, ..*look });
    }

    fn wish(&mut self) -> Wish {
        self.watch.wish()
    }

    fn keep(&mut self, state: &SolverState<&dyn StoredField>) -> Result<(), DeviceError> {
        self.watch.keep(&self.earlier, state)
    }
}
