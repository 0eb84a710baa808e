//! Failures of work on lattices.

use crate::failure::{Failure, Status};
use lattice_cl::gauge::{FixError, FlowError, GenerateError, SmearError, WilsonLoopError};
use lattice_cl::geometry::LatticeError;
use lattice_cl::hadron::SourceError;
use lattice_cl::job::{Invalid, JobError};
use lattice_cl::modes::{ModesError, ModesFileError};
use lattice_cl::multigrid::SetupFileError;
use lattice_cl::operator::DiracError;
use lattice_cl::solve::InvertError;
use lattice_files::number::shown;

impl From<GenerateError> for Failure {
    fn from(error: GenerateError) -> Self {
        let status = match error {
            GenerateError::NotSpecialUnitary { .. } => Status::File,
            GenerateError::Beta(_)
            | GenerateError::Epsilon(_)
            | GenerateError::TooManySweeps { .. }
            | GenerateError::OtherDims { .. }
            | GenerateError::OutOfMemory { .. } => Status::Usage,
        };
        Self::new(status, error)
    }
}

impl From<FixError> for Failure {
    fn from(error: FixError) -> Self {
        match error {
            FixError::NotConverged { .. } => Self::new(Status::Failed, error)
                .hint("allow more --max-iterations, a larger --tolerance, or more --starts"),
            FixError::Projection(_) => Self::new(Status::File, error),
            FixError::Tolerance(_)
            | FixError::OverRelaxation(_)
            | FixError::NoStart
            | FixError::OutOfMemory(_) => Self::new(Status::Usage, error),
        }
    }
}

impl From<FlowError> for Failure {
    fn from(error: FlowError) -> Self {
        let status = match error {
            FlowError::Device(error) => return error.into(),
            FlowError::StepTooSmall(_) => Status::Failed,
            FlowError::Step { .. } | FlowError::Tolerance(_) | FlowError::OutOfMemory(_) => Status::Usage,
        };
        Self::new(status, error)
    }
}

impl From<SmearError> for Failure {
    fn from(error: SmearError) -> Self {
        let status = match error {
            SmearError::Device(error) => return error.into(),
            SmearError::Projection(_) => Status::File,
            SmearError::Parameter { .. }
            | SmearError::HypDirections(_)
            | SmearError::HostOnly(_)
            | SmearError::OutOfMemory(_) => Status::Usage,
        };
        Self::new(status, error)
    }
}

impl From<WilsonLoopError> for Failure {
    fn from(error: WilsonLoopError) -> Self {
        let failure = Self::new(Status::Usage, error.clone());
        match error {
            WilsonLoopError::NoSide(_) | WilsonLoopError::TooLong { .. } => failure.hint(
                "choose sides between 1 and the extents of the lattice, for example --wilson-loops 4x4",
            ),
            WilsonLoopError::OtherDims { .. } | WilsonLoopError::OutOfMemory(_) => failure,
        }
    }
}

impl From<LatticeError> for Failure {
    fn from(error: LatticeError) -> Self {
        match error {
            LatticeError::Device(error) => error.into(),
            error => Failure::new(Status::Usage, error),
        }
    }
}

impl From<DiracError> for Failure {
    fn from(error: DiracError) -> Self {
        match error {
            DiracError::Lattice(error) => error.into(),
            error => Failure::new(Status::Usage, error),
        }
    }
}

/// Puts an invalid job into the words of the command line.
impl From<Invalid> for Failure {
    fn from(invalid: Invalid) -> Self {
        let failure = Failure::usage;
        match invalid {
            Invalid::Tolerance(tolerance) => failure(format!(
                "--tol {} is not allowed: it must be a positive number below 1, which is the residual of x = 0",
                shown(&tolerance)
            )),
            Invalid::SystemOfAuto(system) => failure(format!(
                "--solver auto chooses the system with the method, and cannot be told {system}"
            ))
            .hint("leave out --system, or choose a method with --solver"),
            Invalid::OtherSystem { solver, only, system } => {
                failure(format!("{solver} solves the {only} system, not the {system} one"))
                    .hint(format!("leave out --system or choose --system {only}, or choose --solver cr"))
            }
            Invalid::SeveralColumns => {
                failure("--solver block-cg solves for several sources at once, and invert has one".to_owned())
                    .hint("choose --solver cg, or the command spectrum")
            }
            other => Failure::new(Status::Usage, other),
        }
    }
}

impl From<JobError> for Failure {
    fn from(error: JobError) -> Self {
        match error {
            JobError::Invalid(invalid) => invalid.into(),
            JobError::Source(SourceError::File(error)) => error.into(),
            JobError::Source(SourceError::Lattice(error)) => error.into(),
            JobError::Source(error) => Failure::new(Status::Usage, error),
            JobError::Smearing(error) => error.into(),
            JobError::Momenta(error) => Failure::new(Status::Usage, error),
            JobError::OutOfMemory(error) => {
                let hint = "hadrons keep 2304 bytes for each site, for each mass and source of the job";
                Failure::new(Status::Usage, error).hint(hint)
            }
            JobError::Configuration(error) => error.into(),
            JobError::Lattice(error) | JobError::Solve(InvertError::Lattice(error)) => error.into(),
            JobError::Operator(error) => error.into(),
            JobError::SetupFile(SetupFileError::File(error)) => error.into(),
            JobError::SetupFile(error) => Failure::new(Status::File, error),
            JobError::Multigrid(error) => Failure::new(Status::Usage, *error)
                .hint("choose another --multigrid-block or --multigrid-vectors, or --solver auto"),
            JobError::SetUpInterrupted { .. } | JobError::SearchInterrupted { .. } => {
                Failure::new(Status::Interrupted, error)
            }
            JobError::ModesFile(error) => error.into(),
            JobError::Modes(error) => error.into(),
            JobError::Solve(error) => Failure::new(Status::Usage, error),
            JobError::Callback(error) => match error.downcast::<Failure>() {
                Ok(failure) => *failure,
                Err(error) => Failure::new(Status::Failed, anyhow::Error::from_boxed(error)),
            },
        }
    }
}

impl From<ModesFileError> for Failure {
    fn from(error: ModesFileError) -> Self {
        match error {
            ModesFileError::File(error) => error.into(),
            ModesFileError::Lattice(error) => error.into(),
            error => Failure::new(Status::File, error),
        }
    }
}

impl From<ModesError> for Failure {
    fn from(error: ModesError) -> Self {
        match error {
            ModesError::Lattice(error) => error.into(),
            error @ ModesError::NotConverged { .. } => Failure::new(Status::Failed, error)
                .hint("a larger --tol, a larger --degree or a larger --subspace may help"),
            error => Failure::new(Status::Usage, error),
        }
    }
}
