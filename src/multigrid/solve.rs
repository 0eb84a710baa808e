//! Solving with a multigrid method.

use super::error::SetupError;
use super::hierarchy::Hierarchy;
use super::params::{Blocking, MOST_CYCLES, MultigridParams, REPLACED_AT, RESTART, STAGNATION};
use super::room::coarsenings;
use super::setup::{self, Known, LevelsInfo, Made, SetupProgress};
use super::setup_file::{Binding, SetupFileError};
use crate::field::SpinorField;
use crate::operator::Dirac;
use crate::solve::{
    Auto, AutoSolution, Checkpoints, First, GcrParams, Inner, InvertError, IterationPrecision, Plan,
    Preconditioning, SolveParams, Watch, solve_preconditioned,
};
use lattice_solvers::SolverInfo;
use std::path::Path;

/// A multigrid method that stands ready for an operator.
///
/// ```
/// # use lattice_cl::{device::Team, geometry::{Boundary, Dims, Lattice}, host::random, operator::{Dirac, Kappa}};
/// use lattice_cl::multigrid::{Multigrid, MultigridParams};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let lattice = Lattice::new(&Team::host(), Dims::new([4, 4, 4, 4])?)?;
/// # let links = lattice.gauge::<f64>(&random::weak(lattice.dims(), 0.2, 1), Boundary::antiperiodic_t())?;
/// let dirac = Dirac::wilson(&links, Kappa(0.12))?;
/// let params = MultigridParams { vectors: Some(4), ..Default::default() };
/// let mut multigrid = Multigrid::new(&dirac, params, |_progress| ())?;
/// let b = lattice.point_source::<f64>([0, 0, 0, 0], 0, 0)?;
/// let (x, info) = multigrid.solve(&dirac, &b, None)?; // and so for other sources
/// assert!(info.residual.true_residual <= 1e-10);
/// # Ok(())
/// # }
/// ```
pub struct Multigrid {
    params: MultigridParams,
    blockings: Vec<Blocking>,
    hierarchy: Hierarchy<f32>,
    made: Vec<Made<f32>>,
}

impl Multigrid {
    /// Makes the levels for an operator.
    ///
    /// # Errors
    /// When no blocks fit the lattice, when a level cannot be made, or a device fails. Nothing is
    /// wrong with the equation then: another method may solve it.
    pub fn new(
        dirac: &Dirac<f64>,
        params: MultigridParams,
        progress: impl FnMut(SetupProgress),
    ) -> Result<Self, SetupError> {
        Self::of_known(dirac, params, Vec::new(), progress)
    }

    fn of_known(
        dirac: &Dirac<f64>,
        params: MultigridParams,
        known: Vec<Known<f32>>,
        progress: impl FnMut(SetupProgress),
    ) -> Result<Self, SetupError> {
        let blockings = coarsenings::<f32>(&params, dirac.lattice())?;
        let (hierarchy, made) = setup::hierarchy(dirac.cast()?, &params, &blockings, known, progress)?;
        Ok(Self { params, blockings, hierarchy, made })
    }

    /// Makes the method for another operator on these links, with the known vectors.
    ///
    /// This is for masses nearby.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_operator(
        self,
        dirac: &Dirac<f64>,
        progress: impl FnMut(SetupProgress),
    ) -> Result<Self, SetupError> {
        let Self { params, made, hierarchy, .. } = self;
        let transfers = hierarchy.into_transfers();
        let known =
            made.into_iter().zip(transfers).map(|(Made { vectors, are_orthonormal, .. }, transfer)| Known {
                vectors,
                are_orthonormal,
                transfer: Some(transfer),
                blocks: None,
            });
        Self::of_known(dirac, params, known.collect(), progress)
    }

    /// Writes the near-null vectors and the coarse operators to a file.
    ///
    /// `configuration` tells the links from others.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path, dirac: &Dirac<f64>, configuration: &str) -> Result<(), SetupFileError> {
        binding(dirac, configuration, &self.params, &self.blockings).write(path, &self.made)
    }

    /// Makes the method like [`new`](Self::new), with vectors from a file.
    ///
    /// [`write`](Self::write) has kept the vectors. They may belong to another mass. If they belong
    /// to this operator, its coarse operators come from the file too.
    ///
    /// # Errors
    /// As [`new`](Self::new). The inner error says that the file cannot be read or believed, or
    /// belongs to other links or parameters.
    pub fn read(
        path: &Path,
        dirac: &Dirac<f64>,
        configuration: &str,
        params: MultigridParams,
        progress: impl FnMut(SetupProgress),
    ) -> Result<Result<Self, SetupFileError>, SetupError> {
        let blockings = params.blockings(dirac.lattice())?;
        match binding(dirac, configuration, &params, &blockings).read(path) {
            Ok(known) => Self::of_known(dirac, params, known, progress).map(Ok),
            Err(error) => Ok(Err(error)),
        }
    }

    /// Returns the levels of the method.
    pub fn levels(&self) -> LevelsInfo {
        LevelsInfo(self.blockings.clone())
    }

    /// Returns the parameters of the outer solver, which this method preconditions.
    ///
    /// The outer solver is GCR on the Schur complement, in mixed precision.
    pub fn outer(params: &MultigridParams) -> SolveParams {
        SolveParams::Gcr(GcrParams {
            tol: params.tol,
            max_iterations: params.max_iterations,
            restart: RESTART,
            smoothing: 0,
            precision: IterationPrecision::Mixed(Inner::Single),
            preconditioning: Preconditioning::EvenOdd,
        })
    }

    /// Solves M x = b for the operator of this method.
    ///
    /// The solve starts from x = 0, or from the state that `checkpoints` has.
    ///
    /// # Errors
    /// As [`gcr`](crate::solve::gcr).
    pub fn solve(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
        let outer = Self::outer(&self.params);
        self.solve_by(dirac, b, outer, checkpoints)
    }

    fn solve_by(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        outer: SolveParams,
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<(SpinorField<f64>, SolverInfo), InvertError> {
        let mut plan = Plan::from(outer);
        plan.stopping.stagnation_window = STAGNATION;
        solve_preconditioned(dirac, b, plan, REPLACED_AT, &mut self.hierarchy, checkpoints)
    }

    /// Solves M x = b like [`solve`](Self::solve), and by `auto` if the cycles do not converge.
    ///
    /// The cycles do not converge if they stagnate, or if 200 are not enough. The methods of `auto`
    /// then go on from the best iterate.
    ///
    /// # Errors
    /// As [`Auto::solve`].
    pub fn solve_or(
        &mut self,
        auto: &mut Auto,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        watch: &mut dyn Watch,
    ) -> Result<AutoSolution, InvertError> {
        let params = Self::outer(&self.params).with_limit(self.params.max_iterations.min(MOST_CYCLES));
        let mut by_cycles =
            |checkpoints: &mut dyn Checkpoints| self.solve_by(dirac, b, params, Some(checkpoints));
        auto.solve_after(Some(First { params, solve: &mut by_cycles }), dirac, b, watch)
    }
}

fn binding<'a>(
    dirac: &'a Dirac<f64>,
    configuration: &'a str,
    params: &'a MultigridParams,
    blockings: &'a [Blocking],
) -> Binding<'a> {
    let operator = format!("{:?}, {:?}", dirac.coupling(), dirac.site_term());
    Binding {
        lattice: dirac.lattice(),
        configuration,
        links: dirac.links_text(),
        operator,
        params,
        blockings,
    }
}
