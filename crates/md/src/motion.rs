//! The motion that pair forces make, by velocity Verlet.

use super::device::MovingOnDevice;
use super::error::{MdError, MdResult};
use super::evaluation::{Evaluation, Lists, Sums};
use super::forces::{expect_fitting, pairs_of};
use super::host::Pairs;
use super::options::{BelowRange, Fetch, Options, PairTuning, Precision};
use super::potential::Potential;
use super::state::MotionState;
use super::system::{System, below_range, expect_finite, expect_length, overlap};
use super::units::Units;
use lattice_compute::Team;

/// Where atoms move.
enum MotionBackend {
    Host(MotionState),
    Single(Box<MovingOnDevice<f32>>),
    Double(Box<MovingOnDevice<f64>>),
}

/// Atoms at a step.
#[derive(Clone, Debug, PartialEq)]
pub struct Frame {
    /// Steps that were taken.
    pub step: u64,
    /// Positions, not moved into the box.
    pub positions: Vec<[f64; 3]>,
    /// Velocities behind the whole step.
    pub velocities: Vec<[f64; 3]>,
    /// Potential energy, virial and counts.
    pub sums: Sums,
    /// The kinetic energy.
    pub kinetic: f64,
}

/// The motion of a system: v += a h/2; x += v h; forces; v += a h/2.
///
/// The same calls give the same bits on one device, whatever [`Motion::state`] it goes on from.
///
/// ```
/// use lattice_compute::Team;
/// use lattice_md::{Motion, Mixing, Options, Potential, System, Units};
///
/// // Two argon atoms swing about the distance of least energy.
/// let system = System::new([30.0; 3], vec!["Ar".into()], vec![0, 0], vec![[0.0; 3], [3.9, 0.0, 0.0]])?;
/// let potential = Potential::lennard_jones(&[[0.238, 3.405]], Mixing::default())?;
/// let mut motion =
///     Motion::new(&Team::host(), &system, &potential, Options::new(8.5), Units::Real, 2.0)?;
/// let begin = motion.frame()?;
/// motion.advance(500)?;
/// let end = motion.frame()?;
/// assert!((begin.energy() - end.energy()).abs() < 1e-5 && end.step == 500);
/// # Ok::<(), lattice_md::MdError>(())
/// ```
pub struct Motion {
    edges: [f64; 3],
    types: Vec<u32>,
    potential: Potential,
    options: Options,
    /// The acceleration of each atom by a unit of force.
    accelerations: Vec<f64>,
    duration: f64,
    step: u64,
    backend: MotionBackend,
}

impl Frame {
    /// Returns potential and kinetic energy together.
    pub fn energy(&self) -> f64 {
        self.sums.energy + self.kinetic
    }
}

impl Motion {
    /// Begins the motion of a system, in steps of `duration`. Atoms without velocities are at rest.
    ///
    /// # Errors
    /// All errors of [`Forces::new`](crate::Forces::new); [`MdError::NoMass`]; [`MdError::TooFar`]; [`MdError::Overlap`];
    /// [`MdError::Duration`]; [`MdError::BelowRange`] with [`BelowRange::Stop`].
    pub fn new(
        team: &Team,
        system: &System,
        potential: &Potential,
        options: Options,
        units: Units,
        duration: f64,
    ) -> MdResult<Self> {
        overlap(system.positions(), system.edges(), potential)?;
        Self::begin(team, system, potential, options, units, duration, None)
    }

    /// Goes on with the motion of a system from a state.
    ///
    /// System, potential, options, units and duration must be those of the motion before.
    ///
    /// # Errors
    /// All errors of [`Motion::new`]; [`MdError::Length`] if the state is of another system.
    pub fn resume(
        team: &Team,
        system: &System,
        potential: &Potential,
        options: Options,
        units: Units,
        duration: f64,
        state: MotionState,
    ) -> MdResult<Self> {
        expect_length("positions", system.atoms(), state.positions.len())?;
        Self::begin(team, system, potential, options, units, duration, Some(state))
    }

    /// Prepares motion from a state, or from the system's own, whose forces are computed.
    fn begin(
        team: &Team,
        system: &System,
        potential: &Potential,
        options: Options,
        units: Units,
        duration: f64,
        state: Option<MotionState>,
    ) -> MdResult<Self> {
        expect_fitting(system, potential, &options)?;
        if !(duration > 0.0 && duration.is_finite()) {
            return Err(MdError::Duration(duration));
        }
        let accelerations: Vec<f64> =
            system.known_masses()?.iter().map(|mass| units.acceleration() / mass).collect();
        let pairs = pairs_of(system, potential, &options);
        let has_forces = state.is_some();
        let state = state.unwrap_or_else(|| MotionState::beginning(system));
        let step = state.step;
        let backend = match (team.devices().first(), options.precision) {
            (None, _) if has_forces => MotionBackend::Host(state),
            (None, _) => {
                let Evaluation { sums, forces } = pairs.evaluate(&state.positions);
                if sums.below > 0 && options.below_range == BelowRange::Stop {
                    return Err(below_range(&state.positions, system.edges(), potential.rmin(), Some(step)));
                }
                MotionBackend::Host(MotionState { forces, below: sums.below, ..state })
            }
            (Some(device), Precision::Double) => {
                let mut moving = MovingOnDevice::new(device, &pairs, &options, &accelerations, duration)?;
                moving.take(&state, has_forces)?;
                MotionBackend::Double(Box::new(moving))
            }
            (Some(device), _) => {
                let mut moving = MovingOnDevice::new(device, &pairs, &options, &accelerations, duration)?;
                moving.take(&state, has_forces)?;
                MotionBackend::Single(Box::new(moving))
            }
        };
        let (types, potential) = (system.types().to_vec(), potential.clone());
        Ok(Self { edges: system.edges(), types, potential, options, accelerations, duration, step, backend })
    }

    fn pairs(&self) -> Pairs<'_> {
        Pairs {
            edges: self.edges,
            types: &self.types,
            potential: &self.potential,
            cutoff: self.options.cutoff,
            shift: self.options.shift,
        }
    }

    /// Returns the steps that were taken.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// Returns how a table is read: from buffers or images; `None` without a table or on the host.
    pub fn fetch(&self) -> Option<Fetch> {
        match &self.backend {
            MotionBackend::Host(_) => None,
            MotionBackend::Single(device) => device.fetch(),
            MotionBackend::Double(device) => device.fetch(),
        }
    }

    /// Returns the variant of the device's kernels; `None` on the host.
    pub fn tuning(&self) -> Option<PairTuning> {
        match &self.backend {
            MotionBackend::Host(_) => None,
            MotionBackend::Single(device) => Some(device.tuning()),
            MotionBackend::Double(device) => Some(device.tuning()),
        }
    }

    /// Tells about the lists of neighbours; `None` if there are none.
    ///
    /// # Errors
    /// A failure of the device.
    pub fn lists(&self) -> MdResult<Option<Lists>> {
        match &self.backend {
            MotionBackend::Host(_) => Ok(None),
            MotionBackend::Single(device) => device.lists(),
            MotionBackend::Double(device) => device.lists(),
        }
    }

    /// Takes so many steps.
    ///
    /// # Errors
    /// [`MdError::TooFast`] if an atom moves more than half a skin in a step;
    /// [`MdError::BelowRange`] with [`BelowRange::Stop`]; [`MdError::NotFinite`]; a failure of the
    /// device. [`Motion::state`] and [`Motion::frame`] are not those of this motion any more.
    pub fn advance(&mut self, steps: u64) -> MdResult<()> {
        match &mut self.backend {
            MotionBackend::Single(device) => device.advance(self.step, steps)?,
            MotionBackend::Double(device) => device.advance(self.step, steps)?,
            MotionBackend::Host(_) => self.advance_on_host(steps)?,
        }
        self.step += steps;
        Ok(())
    }

    /// The twin of `cl/motion.cl`.
    fn advance_on_host(&mut self, steps: u64) -> MdResult<()> {
        for step in 0..steps {
            let (duration, accelerations) = (self.duration, self.accelerations.clone());
            let MotionBackend::Host(state) = &mut self.backend else { return Ok(()) };
            let half = 0.5 * duration;
            for (atom, factor) in accelerations.iter().enumerate() {
                for axis in 0..3 {
                    let acceleration = factor * state.forces[atom][axis];
                    let velocity = half.mul_add(acceleration, state.velocities[atom][axis]);
                    state.velocities[atom][axis] = velocity;
                    state.positions[atom][axis] += duration * velocity;
                }
            }
            let positions = state.positions.clone();
            expect_finite("the position", &positions)?;
            let Evaluation { sums, forces } = self.pairs().evaluate(&positions);
            if sums.below > 0 && self.options.below_range == BelowRange::Stop {
                let step = Some(self.step + step + 1);
                return Err(below_range(&positions, self.edges, self.potential.rmin(), step));
            }
            let MotionBackend::Host(state) = &mut self.backend else { return Ok(()) };
            for (atom, factor) in accelerations.iter().enumerate() {
                for axis in 0..3 {
                    let velocity = &mut state.velocities[atom][axis];
                    *velocity = half.mul_add(factor * forces[atom][axis], *velocity);
                }
            }
            state.forces = forces;
            state.below += sums.below;
        }
        Ok(())
    }

    /// Returns the pairs below the first sample of a table, in the forces of all steps.
    pub fn below(&self) -> u64 {
        match &self.backend {
            MotionBackend::Host(state) => state.below,
            MotionBackend::Single(device) => device.below(),
            MotionBackend::Double(device) => device.below(),
        }
    }

    /// Returns what the motion needs to go on.
    ///
    /// # Errors
    /// A failure of the device.
    pub fn state(&self) -> MdResult<MotionState> {
        match &self.backend {
            MotionBackend::Host(state) => {
                Ok(MotionState { step: self.step, sorted_at: state.positions.clone(), ..state.clone() })
            }
            MotionBackend::Single(device) => device.state(self.step),
            MotionBackend::Double(device) => device.state(self.step),
        }
    }

    /// Returns positions, velocities and energies. Looking changes nothing.
    ///
    /// # Errors
    /// [`MdError::NotFinite`]; a failure of the device.
    pub fn frame(&mut self) -> MdResult<Frame> {
        let state = self.state()?;
        let sums = match &mut self.backend {
            MotionBackend::Single(device) => device.sums()?,
            MotionBackend::Double(device) => device.sums()?,
            MotionBackend::Host(_) => self.pairs().evaluate(&state.positions).sums,
        };
        expect_finite("the position", &state.positions)?;
        expect_finite("the force", &state.forces)?;
        let of_atom = |(velocity, acceleration): (&[f64; 3], &f64)| {
            0.5 * velocity.iter().map(|v| v * v).sum::<f64>() / acceleration
        };
        let kinetic = state.velocities.iter().zip(&self.accelerations).map(of_atom).sum();
        let MotionState { step, positions, velocities, .. } = state;
        Ok(Frame { step, positions, velocities, sums, kinetic })
    }
}
