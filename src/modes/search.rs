//! The search for the lowest modes of an operator.

use super::columns::OnColumns;
use super::error::ModesError;
use super::field::ModeField;
use super::params::ModesParams;
use crate::compute::DeviceError;
use crate::field::{ParityField, SpinorField, StoredField};
use crate::geometry::{Lattice, LatticeError};
use crate::operator::{Dirac, DiracOperator, Normal, System};
use crate::solve::{Checkpoints, Keeper, Preconditioning};
use lattice_solvers::{
    LanczosCallbacks, LanczosInfo, LanczosLook, Mode, StateKeeper, VectorOf, VectorSpace, modes_nearest_zero,
    modes_nearest_zero_on_columns, thick_restart_lanczos, thick_restart_lanczos_on_columns,
};
use std::fmt;

/// Most fields that the operator is applied to at once.
const MOST_COLUMNS: usize = 24;

/// The lowest modes of M†M, or the modes of γ5M nearest to zero.
///
/// With even-odd preconditioning M stands for the Schur complement on the even sites.
///
/// ```
/// # use lattice_cl::{compute::Team, geometry::{Boundary, Dims, Lattice}, host::random, operator::{Dirac, Kappa}};
/// use lattice_cl::modes::{DiracModes, ModesParams};
/// use lattice_cl::solve::{CgParams, Preconditioning, SolveParams};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let lattice = Lattice::new(&Team::host(), Dims::new([4, 4, 2, 2])?)?;
/// # let links = lattice.gauge::<f64>(&random::weak(lattice.dims(), 0.2, 1), Boundary::antiperiodic_t())?;
/// let dirac = Dirac::wilson(&links, Kappa(0.12))?;
/// let (modes, _) = DiracModes::find(&dirac, &ModesParams::new(4), &mut |_| (), None)?;
/// let b = lattice.point_source::<f64>([0, 0, 0, 0], 0, 0)?;
/// let cg = CgParams::default().with_preconditioning(Preconditioning::EvenOdd);
/// let (x, info) = modes.solve(&dirac, &b, &SolveParams::Cg(cg), None)?;
/// assert!(info.residual.true_residual <= 1e-10);
/// # Ok(())
/// # }
/// ```
pub struct DiracModes {
    pub(super) system: System,
    pub(super) preconditioning: Preconditioning,
    pub(super) tolerance: f64,
    pub(super) fields: Fields,
}

impl fmt::Debug for DiracModes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut modes = f.debug_struct("DiracModes");
        modes.field("system", &self.system).field("preconditioning", &self.preconditioning);
        modes.field("values", &self.values()).finish_non_exhaustive()
    }
}

/// The modes, by their sites.
pub(super) enum Fields {
    All(Vec<Mode<SpinorField<f64>>>),
    Even(Vec<Mode<ParityField<f64>>>),
}

impl DiracModes {
    /// Finds modes of an operator.
    ///
    /// `watch` is told of every restart. `checkpoints` is asked for its wish before each
    /// application, and keeps states: a search that goes on from one gives the same bits.
    ///
    /// # Errors
    /// * [`ModesError::NotConverged`] with [`Failure::Interrupted`](lattice_solvers::Failure) if
    ///   `checkpoints` wishes to stop, or if the limit of applications is reached.
    /// * [`ModesError::NotHermitian`] for γ5M with one flavour of twisted mass.
    /// * A parameter that makes no sense, or a device that fails.
    pub fn find(
        dirac: &Dirac<f64>,
        params: &ModesParams,
        watch: &mut dyn FnMut(&LanczosLook),
        checkpoints: Option<&mut dyn Checkpoints>,
    ) -> Result<(Self, LanczosInfo), ModesError> {
        let ModesParams { system, preconditioning, tolerance, block, .. } = *params;
        let at_once = block.min(MOST_COLUMNS);
        let on_columns = (at_once > 1).then(|| dirac.for_columns(at_once)).transpose()?;
        let (fields, info) = match preconditioning.schur_symmetry() {
            None => {
                let operators = (dirac, on_columns.as_ref());
                let (modes, info) = search(operators, dirac.lattice(), params, watch, checkpoints)?;
                (Fields::All(modes), info)
            }
            Some(symmetry) => {
                let operator = dirac.schur_complement_in(symmetry)?;
                let on_columns = on_columns.map(|dirac| dirac.schur_complement_in(symmetry)).transpose()?;
                let operators = (&operator, on_columns.as_ref());
                let (modes, info) = search(operators, dirac.lattice(), params, watch, checkpoints)?;
                (Fields::Even(modes), info)
            }
        };
        Ok((Self { system, preconditioning, tolerance, fields }, info))
    }

    /// Returns the operator of the modes.
    ///
    /// [`System::Normal`] stands for M†M, [`System::Hermitian`] for γ5M.
    pub fn system(&self) -> System {
        self.system
    }

    /// Returns the preconditioning of the operator.
    pub fn preconditioning(&self) -> Preconditioning {
        self.preconditioning
    }

    /// Returns the number of modes.
    pub fn count(&self) -> usize {
        self.values().len()
    }

    /// Returns the eigenvalues, the one nearest to zero first.
    pub fn values(&self) -> Vec<f64> {
        self.numbers(|mode| mode[0])
    }

    /// Returns ‖A v − λ v‖ of each mode, as it was computed from the definition.
    pub fn residuals(&self) -> Vec<f64> {
        self.numbers(|mode| mode[1])
    }

    fn numbers(&self, of: impl Fn([f64; 2]) -> f64) -> Vec<f64> {
        match &self.fields {
            Fields::All(modes) => modes.iter().map(|mode| of([mode.value, mode.residual])).collect(),
            Fields::Even(modes) => modes.iter().map(|mode| of([mode.value, mode.residual])).collect(),
        }
    }
}

/// The modes of an operator with the course of the search.
type SearchResult<A> = Result<(Vec<Mode<VectorOf<A>>>, LanczosInfo), ModesError>;

/// Searches with an operator on one field, and the same on columns.
fn search<A>(
    (operator, on_columns): (&A, Option<&A>),
    lattice: &Lattice,
    params: &ModesParams,
    watch: &mut dyn FnMut(&LanczosLook),
    checkpoints: Option<&mut dyn Checkpoints>,
) -> SearchResult<A>
where
    A: DiracOperator<Space: VectorSpace<Error = DeviceError, Vector: StoredField + ModeField>>,
{
    let space = operator.space();
    if params.count > space.dimension() {
        return Err(ModesError::TooMany { wanted: params.count, dimension: space.dimension() });
    }
    let mut keeper =
        checkpoints.map(|checkpoints| Keeper { space, checkpoints, begun_at: 1.0, beside: None });
    let keeper = keeper.as_mut().map(|keeper| keeper as &mut dyn StateKeeper<_, _>);
    let callbacks = LanczosCallbacks::default().with_watch(Some(watch)).with_keeper(keeper);
    let mut random = |number: u64, vector: &mut VectorOf<A>| {
        *vector = VectorOf::<A>::random(lattice, number).map_err(device_error)?;
        Ok(())
    };
    let options = params.options();
    let count = params.block.min(MOST_COLUMNS);
    let random = &mut random;
    let found = match params.system {
        System::Normal => {
            let a = Normal::new(operator)?;
            match on_columns {
                None => thick_restart_lanczos(&a, &options, random, callbacks),
                Some(operator) => {
                    let columns = OnColumns { operator: Normal::new(operator)?, count };
                    thick_restart_lanczos_on_columns(&a, &columns, &options, random, callbacks)
                }
            }
        }
        System::Hermitian if operator.is_gamma5_hermitian() => {
            let q = operator.times_gamma5()?;
            match on_columns {
                None => modes_nearest_zero(&q, &options, random, callbacks),
                Some(operator) => {
                    let columns = OnColumns { operator: operator.times_gamma5()?, count };
                    modes_nearest_zero_on_columns(&q, &columns, &options, random, callbacks)
                }
            }
        }
        System::Hermitian => return Err(ModesError::NotHermitian("γ5M")),
        System::Direct => return Err(ModesError::NotHermitian("M")),
    };
    found.map_err(|error| ModesError::of(error, params.count))
}

/// Returns the error of a device: a field on a lattice that exists has no other.
fn device_error(error: LatticeError) -> DeviceError {
    match error {
        LatticeError::Device(error) => error,
        other => unreachable!("a field of its own lattice: {other}"),
    }
}
