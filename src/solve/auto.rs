//! A method chosen by how it behaves: the fastest first, and from where it gives up a safer one.

use super::attempts::{Attempt, Earlier, InOrder, KeptChoice};
use super::checkpoints::Checkpoints;
use super::error::InvertError;
use super::experience::{Experience, Next};
use super::methods::solve;
use super::params::{BicgstabParams, CgParams, CrParams, Plan, SolveParams};
use super::plan::{IterationPrecision, Preconditioning};
use crate::device::{DeviceError, Team};
use crate::field::{SpinorField, StoredField};
use crate::operator::Dirac;
use lattice_solvers::{Failure, ForeignState, Look, SolverInfo, SolverState, Wish};

/// Iterations over which BiCGStab has to bring the residual down if another method can still take over; 1000 where none can.
const PATIENCE: usize = 200;

/// Parameters of [`Auto`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AutoParams {
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double. Default 1e-10.
    pub tol: f64,
    /// Most iterations of all methods together. Default 10 000.
    pub max_iterations: usize,
    /// Precision of every iteration. Default `None`: [`IterationPrecision::mixed_on`] the team, and double at the end.
    pub precision: Option<IterationPrecision>,
    /// Which form of the equation is iterated. Default [`Preconditioning::EvenOdd`].
    pub preconditioning: Preconditioning,
}

impl Default for AutoParams {
    fn default() -> Self {
        let CrParams { tol, max_iterations, .. } = CrParams::default();
        Self { tol, max_iterations, precision: None, preconditioning: Preconditioning::EvenOdd }
    }
}

/// Who watches a solve of [`Auto`], and keeps its states if it is to go on later: see [`Checkpoints`](super::Checkpoints), to which this adds what was tried before.
pub trait Watch {
    /// The state that the solve goes on from, with what was tried before it. Asked once. Default: none.
    fn kept(&mut self) -> Option<KeptChoice> {
        None
    }

    /// Told of the residual whenever it has been looked at, so it must be quick. Default: ignores it.
    ///
    /// Iterations are those of all methods together. A method that goes on from an iterate begins with a look at it.
    fn looked(&mut self, _look: &Look) {}

    /// Asked between two iterations whenever the residual has been looked at, so it must be quick. Default: to go on.
    fn wish(&mut self) -> Wish {
        Wish::GoOn
    }

    /// Keeps a state; called if it was wished. Default: does nothing.
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

    /// A method gave up, and another goes on from the best iterate so far, whose residual is `from`: 1 if that is still x = 0.
    fn falls_back(&mut self, failed: &Attempt, next: &SolveParams, from: f64);

    /// CG was tried for a part of the way to compare it with BiCGStab, and `next` goes on from what it reached. Default: nobody is told.
    fn compares(&mut self, _tried: &Attempt, _next: &SolveParams) {}
}

/// A solution and how it was found.
pub struct AutoSolution {
    /// The solution.
    pub x: SpinorField<f64>,
    /// How it went: of all methods together, but for the residual, which is that at the end.
    pub info: SolverInfo,
    /// The methods that were tried, the last of which found the solution.
    pub attempts: Vec<Attempt>,
}

/// Solves M x = b by BiCGStab; when this breaks down, stagnates, meets the limit of its precision or takes too many iterations, CG on M†M goes on from the
/// best iterate so far, and at last CG in double. For the sources that follow it begins with what worked for the one before.
///
/// Where BiCGStab has solved the first source, the second one begins with CG for half as many iterations, none of which moves more memory than one of BiCGStab.
/// If CG, going on at the rate at which the logarithm of its residual has fallen till then, moves less memory in all
/// ([`SolverInfo::work`]) than BiCGStab did, it solves this source and the next one; otherwise BiCGStab goes on from what it reached. From then on every
/// source begins with the one that moved less for a whole source.
///
/// BiCGStab has half of the iterations that are allowed; for later sources every method but the last has three times as many as it needed before.
///
/// Which method goes on when depends on residuals, numbers of iterations and counted memory traffic alone, never on time: the same equation is solved in the
/// same way each time.
pub struct Auto {
    params: AutoParams,
    experience: Experience,
}

impl Auto {
    /// Nothing is known of the equation yet.
    pub fn new(params: AutoParams) -> Self {
        Self { params, experience: Experience::default() }
    }

    /// What is tried, in this order.
    fn steps(&self, team: &Team) -> Vec<SolveParams> {
        let AutoParams { tol, max_iterations, precision, preconditioning } = self.params;
        let first = precision.unwrap_or(IterationPrecision::mixed_on(team));
        let cg = |precision| SolveParams::Cg(CgParams { tol, max_iterations, precision, preconditioning });
        let bicgstab = BicgstabParams { tol, max_iterations, precision: first, preconditioning };
        let mut steps = vec![SolveParams::Bicgstab(bicgstab), cg(first)];
        if precision.is_none() {
            steps.push(cg(IterationPrecision::Double));
        }
        steps
    }

    /// With what the next solve on this team begins.
    pub fn first_step(&self, team: &Team) -> SolveParams {
        self.steps(team)[self.experience.begins_with()]
    }

    /// The method to try next, with its limit of iterations, which is 0 where none are left; `None` if all have given up.
    fn next<V>(&self, steps: &[SolveParams], earlier: &Earlier<V>) -> Option<(SolveParams, bool)> {
        let AutoParams { tol, max_iterations, .. } = self.params;
        let left = max_iterations.saturating_sub(earlier.iterations());
        let Next { place, limit, trial } =
            self.experience.next(&placed(steps, &earlier.attempts), steps.len(), tol, left)?;
        Some((steps[place].with_limit(limit), trial))
    }

    /// Takes note of how a source was solved, by [`solve`](Self::solve) or by an earlier run with the same parameters on such a team: of the attempts for
    /// it, the last of which found the solution. The solves that follow are then those of the run that did them all.
    pub fn learn(&mut self, team: &Team, attempts: &[Attempt]) {
        self.experience.learn(&placed(&self.steps(team), attempts));
    }

    /// Solves M x = b, from x = 0, or from the state that `watch` has kept. The result is then that of the solve which the state is of, to the last bit if it
    /// runs on the same device and the same sources were solved before ([`learn`](Self::learn)).
    ///
    /// # Errors
    /// [`InvertError::AllGaveUp`] with the best iterate and all attempts; [`InvertError::NotConverged`] with [`Failure::Interrupted`] if `watch` stops it;
    /// [`InvertError::ForeignState`].
    pub fn solve(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        watch: &mut dyn Watch,
    ) -> Result<AutoSolution, InvertError> {
        let team = dirac.lattice().team();
        let steps = self.steps(team);
        let (mut earlier, mut state) = kept(dirac, watch)?;
        let mut why = None;
        let mut was_trial = false;
        while let Some((params, trial)) = self.next(&steps, &earlier) {
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
            let (x, info, failure) = match solve(dirac, b, earlier.best.as_ref(), plan, Some(&mut keeper)) {
                Ok((x, info)) => (x, info, None),
                Err(InvertError::NotConverged { failure, best, info }) => (*best, *info, Some(failure)),
                Err(error) => return Err(error),
            };
            let (residual, smallest) = (info.residual.true_residual, earlier.smallest());
            earlier.add(params, info, failure.map(|failure| failure.to_string()));
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

/// The attempts with their places among the steps; without those of other parameters.
fn placed<'a>(steps: &[SolveParams], attempts: &'a [Attempt]) -> Vec<(usize, &'a Attempt)> {
    let what = |params: &SolveParams| (params.method(), params.precision());
    let place = |attempt: &Attempt| steps.iter().position(|step| what(step) == what(&attempt.params));
    attempts.iter().filter_map(|attempt| Some((place(attempt)?, attempt))).collect()
}

/// Where a solve goes on from.
type Kept = (Earlier<SpinorField<f64>>, Option<SolverState<Vec<u8>>>);

/// What `watch` has kept, with the best iterate as a field again.
fn kept(dirac: &Dirac<f64>, watch: &mut dyn Watch) -> Result<Kept, InvertError> {
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

/// Keeps the states of one attempt, with what was tried before.
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
