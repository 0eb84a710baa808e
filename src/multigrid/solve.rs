//! Solving with a multigrid method.

use super::block::Block;
use super::error::{SetupError, SetupFileError};
use super::finest::Finest;
use super::kept_setup::Known;
use super::params::{Blocking, MOST_CYCLES, MultigridParams, RESTART, STAGNATION, replaced_at};
use super::raw_vectors;
use super::room::{self, columns_at_once};
use super::setup::{self, Keeper, LevelsInfo, SetupProgress, SetupWatch, Unfinished, Watching};
use super::setup_file::Binding;
use crate::compute::DeviceError;
use crate::field::SpinorField;
use crate::geometry::{Lattice, NDIM};
use crate::io::CheckpointWriter;
use crate::operator::Dirac;
use crate::solve::{
    Auto, AutoSolution, BlockSolution, Checkpoints, First, GcrParams, InvertError, IterationPrecision, Plan,
    Preconditioning, SolveParams, Watch, solve_preconditioned, true_residuals,
};
use lattice_solvers::{Residual, SolverInfo};
use std::path::Path;

/// A multigrid method that stands ready for an operator.
///
/// ```
/// # use lattice_cl::{compute::Team, geometry::{Boundary, Dims, Lattice}, host::random, operator::{Dirac, Kappa}};
/// use lattice_cl::multigrid::{Multigrid, MultigridParams};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let lattice = Lattice::new(&Team::host(), Dims::new([4, 4, 4, 4])?)?;
/// # let links = lattice.gauge::<f64>(&random::weak(lattice.dims(), 0.2, 1), Boundary::antiperiodic_t())?;
/// let dirac = Dirac::wilson(&links, Kappa(0.12))?;
/// let params = MultigridParams::default().with_vectors(Some(4));
/// let mut multigrid = Multigrid::new(&dirac, params, |_progress| ())?;
/// let b = lattice.point_source::<f64>([0, 0, 0, 0], 0, 0)?;
/// let (x, info) = multigrid.solve(&dirac, &b, None)?; // and so for other sources
/// assert!(info.residual.true_residual <= 1e-10);
/// # Ok(())
/// # }
/// ```
pub struct Multigrid {
    params: MultigridParams,
    /// Extents of the lattice.
    extents: [usize; NDIM],
    blockings: Vec<Blocking>,
    levels: Finest,
    /// The levels for several columns at once, and their number.
    of_columns: Option<(usize, Finest)>,
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
        let plan = room::plan::<f32>(&params, dirac.lattice())?;
        Self::of_known(dirac, params, plan, Known::Nothing, &mut Watching(progress), None)
    }

    fn of_known(
        dirac: &Dirac<f64>,
        params: MultigridParams,
        plan: room::Plan,
        known: Known<f32>,
        watch: &mut dyn SetupWatch,
        keeper: Option<Keeper<'_, f32>>,
    ) -> Result<Self, SetupError> {
        let room::Plan { blockings, sources } = plan;
        let single = dirac.cast()?;
        let (smoother, below) = setup::levels(&single, &params, &blockings, sources, known, watch, keeper)?;
        let levels = Finest::new(&single, params.precision, smoother, &below)?;
        let extents = dirac.lattice().dims().extents();
        Ok(Self { params, extents, blockings, levels, of_columns: None })
    }

    /// Makes the levels for an operator as a job does, with a file that keeps them.
    ///
    /// The second result tells whether the file had all vectors. Otherwise [`write`](Self::write) is still to be
    /// called. If `watch` stops the set-up, the file keeps the vectors that are done. A set-up that begins with such
    /// a file continues, to the same bits. All ranks call this together.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new). [`SetupError::Interrupted`] if the set-up was stopped.
    /// [`SetupError::File`] if the file cannot be read, written or believed, or belongs to other links or parameters.
    pub fn set_up(
        dirac: &Dirac<f64>,
        params: MultigridParams,
        file: Option<SetupFile<'_>>,
        watch: &mut dyn SetupWatch,
    ) -> Result<(Self, bool), SetupError> {
        let plan = room::plan::<f32>(&params, dirac.lattice())?;
        let Some(SetupFile { path, configuration, exists }) = file else {
            return Ok((Self::of_known(dirac, params, plan, Known::Nothing, watch, None)?, false));
        };
        let blockings = plan.blockings.clone();
        let binding = binding(dirac, configuration, &params, &blockings);
        let known = if exists { binding.read(path, plan.sources)? } else { Known::Nothing };
        let is_read = matches!(known, Known::Kept(_));
        let mut keep = |unfinished: &Unfinished<'_, f32>| Ok(keep_unfinished(&binding, path, unfinished)?);
        Ok((Self::of_known(dirac, params, plan, known, watch, Some(&mut keep))?, is_read))
    }

    /// Makes the method for another operator on these links, with the known vectors.
    ///
    /// This is for masses nearby.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn for_operator(
        self,
        dirac: &Dirac<f64>,
        progress: impl FnMut(SetupProgress),
    ) -> Result<Self, SetupError> {
        let Self { params, levels, .. } = self;
        let plan = room::plan::<f32>(&params, dirac.lattice())?;
        let known = Known::Transfers(levels.into_transfers());
        Self::of_known(dirac, params, plan, known, &mut Watching(progress), None)
    }

    /// Writes the near-null vectors and the coarse operators to a file.
    ///
    /// `configuration` tells the links from others. All ranks call this together, and the first one writes.
    ///
    /// # Errors
    /// When the file cannot be written, or a device fails.
    pub fn write(&self, path: &Path, dirac: &Dirac<f64>, configuration: &str) -> Result<(), SetupFileError> {
        let kept = self.levels.kept()?;
        if dirac.lattice().ranks().is_some_and(|world| world.rank() > 0) {
            return Ok(());
        }
        binding(dirac, configuration, &self.params, &self.blockings).write(path, &kept)
    }

    /// Makes the method like [`new`](Self::new), with vectors from a file.
    ///
    /// [`write`](Self::write) has kept the vectors. They may belong to another mass. If they belong
    /// to this operator, its coarse operators come from the file too.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new). The inner error says that the file cannot be read or
    /// believed, or belongs to other links or parameters.
    pub fn read(
        path: &Path,
        dirac: &Dirac<f64>,
        configuration: &str,
        params: MultigridParams,
        progress: impl FnMut(SetupProgress),
    ) -> Result<Result<Self, SetupFileError>, SetupError> {
        let file = SetupFile { path, configuration, exists: true };
        match Self::set_up(dirac, params, Some(file), &mut Watching(progress)) {
            Ok((multigrid, _)) => Ok(Ok(multigrid)),
            Err(SetupError::File(error)) => Ok(Err(*error)),
            Err(error) => Err(error),
        }
    }

    /// Returns the parameters that the method was made with.
    pub fn params(&self) -> &MultigridParams {
        &self.params
    }

    /// Returns the levels of the method.
    pub fn levels(&self) -> LevelsInfo {
        let blockings = self.blockings.clone();
        let wanted = self.params.levels.filter(|&wanted| wanted > blockings.len() + 1);
        let divided = |extents: [usize; NDIM], blocking: &Blocking| {
            std::array::from_fn(|mu| extents[mu] / blocking.block.0[mu])
        };
        let fewer = wanted.map(|wanted| (wanted, Block(blockings.iter().fold(self.extents, divided))));
        LevelsInfo { blockings, fewer }
    }

    /// Returns the parameters of the outer solver, which this method preconditions.
    ///
    /// The outer solver is GCR on the Schur complement, in mixed precision with that of the finest level.
    pub fn outer(params: &MultigridParams) -> SolveParams {
        SolveParams::Gcr(GcrParams {
            tol: params.tol,
            max_iterations: params.max_iterations,
            restart: RESTART,
            smoothing: 0,
            precision: IterationPrecision::Mixed(params.precision),
            preconditioning: Preconditioning::EvenOdd,
        })
    }

    /// Solves M x = b for the operator of this method.
    ///
    /// The solve starts from x = 0, or from the state that `checkpoints` has.
    ///
    /// # Errors
    /// The errors of [`gcr`](crate::solve::gcr).
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
        let replaced_at = replaced_at(self.params.precision);
        solve_preconditioned(dirac, b, plan(outer), replaced_at, self.levels.cycles(), checkpoints)
    }

    /// Returns the number of columns that can be solved at once.
    ///
    /// [`solve_columns`](Self::solve_columns) has memory for so many. The number is a divisor
    /// of `columns`, and equal on all ranks. The columns take at most two thirds of the memory.
    pub fn columns_at_once(&self, lattice: &Lattice, columns: usize) -> usize {
        columns_at_once(lattice, self.params.precision, columns)
    }

    /// Solves M xⱼ = bⱼ for all columns of `b` at once.
    ///
    /// The solve starts from x = 0 or from a kept state. Every link, near-null vector and block of
    /// a coarse operator is loaded once for all columns. The outer method has the same coefficients
    /// for all columns. The solve stops when every column's ‖bⱼ − M xⱼ‖ / ‖bⱼ‖ is at most
    /// [`MultigridParams::tol`]. The residuals that decide are recomputed in double.
    ///
    /// # Errors
    /// The errors of [`solve`](Self::solve). [`InvertError::NotConverged`] has the best iterates of
    /// all columns. No more than 200 cycles are tried.
    pub fn solve_columns(
        &mut self,
        dirac: &Dirac<f64>,
        b: &SpinorField<f64>,
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<BlockSolution, InvertError> {
        let columns = b.columns();
        let dirac = dirac.for_columns(columns)?;
        let levels = match self.of_columns.take() {
            Some((known, levels)) if known == columns => levels,
            _ => self.levels.for_columns(columns)?,
        };
        let (_, levels) = self.of_columns.insert((columns, levels));
        let outer = Self::outer(&self.params).with_limit(self.params.max_iterations.min(MOST_CYCLES));
        let replaced_at = replaced_at(self.params.precision);
        let (x, info) =
            solve_preconditioned(&dirac, b, plan(outer), replaced_at, levels.cycles(), checkpoints)?;
        let residual = |true_residual| Residual { true_residual, ..info.residual };
        let residuals = true_residuals(&dirac, b, &x)?.into_iter().map(residual).collect();
        Ok(BlockSolution { x, residuals, info })
    }

    /// Solves M x = b by cycles, and by `auto` if they do not converge.
    ///
    /// The cycles are those of [`solve`](Self::solve). They do not converge if they stagnate, or if
    /// 200 are not enough. The methods of `auto` then go on from the best iterate.
    ///
    /// # Errors
    /// The errors of [`Auto::solve`].
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

/// The file of a set-up.
#[derive(Clone, Copy, Debug)]
pub struct SetupFile<'a> {
    /// The path.
    pub path: &'a Path,
    /// The text that tells the links from others.
    pub configuration: &'a str,
    /// `true` if the file is to be read, equally on all ranks.
    pub exists: bool,
}

/// Writes the vectors of a set-up that stops. All ranks call this together, and the first one writes.
fn keep_unfinished(
    binding: &Binding<'_>,
    path: &Path,
    unfinished: &Unfinished<'_, f32>,
) -> Result<(), SetupFileError> {
    let Unfinished { parts, finer, groups, sources } = *unfinished;
    let world = parts.world.as_ref();
    let writes = world.is_none_or(|world| world.rank() == 0);
    let mut writer = writes.then(|| binding.begin_unfinished(path, sources)).transpose();
    for group in groups {
        // All ranks have parts, even if the first one cannot write.
        let numbers = raw_vectors::to_host(parts, finer, group, sources)?;
        if let Ok(Some(file)) = &mut writer
            && let Err(error) = file.block(bytemuck::cast_slice(&numbers))
        {
            writer = Err(error);
        }
    }
    let written = writer.and_then(|writer| writer.map_or(Ok(()), CheckpointWriter::finish));
    if let Some(world) = world {
        world.barrier().map_err(DeviceError::from)?;
    }
    Ok(written?)
}

/// Returns the plan of a solve by cycles.
fn plan(outer: SolveParams) -> Plan {
    let mut plan = Plan::from(outer);
    plan.stopping.stagnation_window = STAGNATION;
    plan
}

fn binding<'a>(
    dirac: &'a Dirac<f64>,
    configuration: &'a str,
    params: &'a MultigridParams,
    blockings: &'a [Blocking],
) -> Binding<'a> {
    let smoother = params.smoother_degree;
    let operator = format!("{:?}, {:?}, smoother of degree {smoother}", dirac.coupling(), dirac.site_term());
    Binding {
        lattice: dirac.lattice(),
        configuration,
        links: dirac.links_text(),
        operator,
        params,
        blockings,
    }
}
