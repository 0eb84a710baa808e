//! How the equation of a job is solved: the options.

use super::failure::{Failure, Status};
use super::solver::Solver;
use super::solving::{Solved, Solving};
use super::wanted_precision::WantedPrecision;
use lattice_cl::device::Team;
use lattice_cl::operator::System;
use lattice_cl::solve::{
    Attempt, Auto, AutoParams, CrParams, IterationPrecision, Preconditioning, SolveMethod,
};
use lattice_solvers::Failure as SolverFailure;

/// How the equation is solved.
#[derive(Debug, clap::Args)]
pub struct Method {
    /// The method; auto begins with bicgstab, goes on with cg where that gives up or costs more, and says so
    #[arg(long, value_enum, default_value = "auto")]
    pub solver: Solver,
    /// What is iterated: normal (M†M x = M†b), hermitian (γ5M x = γ5b) or direct (M x = b) [default: that of the method.
    /// Only cr can iterate each, and takes normal]
    #[arg(long, hide_short_help = true)]
    system: Option<System>,
    /// Which form of the equation is iterated: even-odd (its Schur complement on the even sites, in about half as many iterations) or none
    /// (as it is)
    #[arg(long, default_value_t = Preconditioning::EvenOdd, hide_short_help = true)]
    pub preconditioning: Preconditioning,
    /// Wanted ‖b − M x‖ / ‖b‖, recomputed in double [default: 1e-10, with --precision single 1e-5]
    #[arg(long, allow_negative_numbers = true)]
    tol: Option<f64>,
    /// Most iterations
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = CrParams::default().max_iterations)]
    #[arg(hide_short_help = true)]
    max_iterations: usize,
    /// Precision of the iteration: double, single, mixed-single or mixed-half (the solution in double, corrections to it in single or half precision), or
    /// mixed: mixed-half where all devices are GPUs, mixed-single elsewhere [default: mixed with --solver auto, which ends in double if it must;
    /// double with a method by name]
    #[arg(long, hide_short_help = true)]
    precision: Option<WantedPrecision>,
}

impl Method {
    /// The precision of the iteration on this team; of an automatic choice that with which it begins.
    pub fn precision(&self, team: &Team) -> IterationPrecision {
        match (self.precision, self.solver) {
            (Some(wanted), _) => wanted.on(team),
            (None, Solver::Auto) => IterationPrecision::mixed_on(team),
            (None, _) => IterationPrecision::Double,
        }
    }

    /// Which system is iterated; an automatic choice is not told by it.
    pub fn system(&self) -> System {
        self.system.or(self.solver.only_system()).unwrap_or_default()
    }

    /// The wanted relative residual.
    pub fn tolerance(&self) -> f64 {
        self.tol.unwrap_or(match self.precision {
            Some(WantedPrecision::This(IterationPrecision::Single)) => 1e-5,
            _ => CrParams::default().tol,
        })
    }

    /// The value of an option whose default depends on others. `None` where this is left to the automatic choice.
    pub fn resolved(&self, option: &str) -> Option<String> {
        let chosen = self.solver == Solver::Auto;
        match option {
            "system" => (!chosen).then(|| self.system().to_string()),
            "precision" => match self.precision {
                Some(wanted) => Some(wanted.to_string()),
                None => (!chosen).then(|| IterationPrecision::Double.to_string()),
            },
            _ => None,
        }
    }

    /// Checks what the options say together.
    pub fn check(&self) -> Result<(), Failure> {
        let tolerance = self.tolerance();
        if !(tolerance > 0.0 && tolerance < 1.0) {
            return Err(Failure::usage(format!(
                "--tol {tolerance} is not allowed: it must be a positive number below 1, which is the residual of x = 0"
            )));
        }
        if self.solver == Solver::Auto {
            return match self.system {
                None => Ok(()),
                Some(system) => Err(Failure::usage(format!(
                    "--solver auto chooses the system with the method, and cannot be told {system}"
                ))
                .hint("leave out --system, or choose a method with --solver")),
            };
        }
        let system = self.system();
        if let Some(only) = self.solver.only_system().filter(|&only| only != system) {
            let message = format!("{} solves the {only} system, not the {system} one", self.solver);
            let hint = format!("leave out --system or choose --system {only}, or choose --solver cr");
            return Err(Failure::usage(message).hint(hint));
        }
        Ok(())
    }

    /// Checks that the method can solve for a single source.
    ///
    /// # Errors
    /// When it needs several.
    pub fn check_single_source(&self) -> Result<(), Failure> {
        if self.solver == Solver::BlockCg {
            let message = "--solver block-cg solves for several sources at once, and invert has one";
            return Err(
                Failure::usage(message.to_owned()).hint("choose --solver cg, or the command spectrum")
            );
        }
        Ok(())
    }

    /// The solver for the sources of a job on this team.
    pub fn begin(&self, team: &Team) -> Solving {
        let (tol, max_iterations, precision) = (self.tolerance(), self.max_iterations, self.precision(team));
        let preconditioning = self.preconditioning;
        let common = CrParams { tol, max_iterations, system: self.system(), precision, preconditioning };
        let params = match self.solver {
            Solver::Auto => {
                let given = self.precision.map(|_| precision);
                let auto = Auto::new(AutoParams { tol, max_iterations, precision: given, preconditioning });
                return Solving::choosing(auto, team);
            }
            Solver::One(method) => method.params(&common),
            // All at once or one after the other, it is Conjugate Gradient on the same system.
            Solver::BlockCg => SolveMethod::Cg.params(&common),
        };
        Solving::by(params)
    }

    /// The failure of a solve that gave up, with what the user can do about it.
    pub fn failure(&self, failure: &SolverFailure, solved: &Solved, solving: &Solving) -> Failure {
        let Solved { info, attempts, .. } = solved;
        let why = match attempts.as_slice() {
            [] => failure.to_string(),
            attempts => {
                let texts: Vec<_> = attempts.iter().map(Attempt::to_string).collect();
                format!("all methods gave up: {}", texts.join("; "))
            }
        };
        let message = format!(
            "no convergence after {} iterations: {why}; the true relative residual is {:.3e}, wanted {:.1e}",
            info.iterations,
            info.residual.true_residual,
            self.tolerance()
        );
        let params = &solving.params();
        let hint = match failure {
            SolverFailure::IterationLimit { .. } => "allow more with --max-iterations, or loosen --tol",
            SolverFailure::PrecisionLimit { .. } if params.precision() != IterationPrecision::Double => {
                "iterate with --precision double, or loosen --tol"
            }
            SolverFailure::PrecisionLimit { .. } => "loosen --tol",
            SolverFailure::NotFinite { .. } => {
                "is kappa or the mass enormous? If not, look at the links with `cr-solve info`"
            }
            SolverFailure::OutOfRange { .. } => "multiply the source by a power of two",
            SolverFailure::Interrupted => "a job that was interrupted can go on later with --checkpoint",
            SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. }
                if self.solver.only_system().is_some_and(|only| only != System::Normal) =>
            {
                "try --solver cg; beyond the critical kappa no method converges well"
            }
            SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. }
                if params.system() != System::Normal =>
            {
                "try --system normal; beyond the critical kappa no method converges well"
            }
            SolverFailure::Breakdown { .. } | SolverFailure::Stagnation { .. } => {
                "is kappa beyond its critical value? A smaller kappa converges faster"
            }
        };
        Failure::new(Status::Failed, anyhow::Error::msg(message)).hint(hint)
    }
}
