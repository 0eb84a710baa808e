//! Forces that a user prepares once and evaluates often.

use super::device::{OnDevice, PairsToTune};
use super::error::{MdError, MdResult};
use super::evaluation::{Evaluation, Lists};
use super::host::Pairs;
use super::options::{BelowRange, Fetch, Options, PairTuning, Precision};
use super::potential::Potential;
use super::system::{System, below_range, expect_finite, expect_length, overlap};
use lattice_compute::tuning::{self, Key, RenewError, Tunable, TuningResult};
use lattice_compute::{Device, Team};
use std::time::Duration;

/// Where forces are computed.
enum ForceBackend {
    Host,
    Single(OnDevice<f32>),
    Double(OnDevice<f64>),
}

/// The forces of a system, prepared for its potential on a device or on the host.
///
/// ```
/// use lattice_compute::Team;
/// use lattice_md::{Forces, Mixing, Options, Potential, System};
///
/// // Two argon atoms at the distance of least energy, across the boundary of the box.
/// let r = 3.405 * 2.0_f64.powf(1.0 / 6.0);
/// let positions = vec![[0.1, 1.0, 1.0], [30.1 - r, 1.0, 1.0]];
/// let system = System::new([30.0; 3], vec!["Ar".into()], vec![0, 0], positions)?;
/// let potential = Potential::lennard_jones(&[[0.238, 3.405]], Mixing::default())?;
/// let mut forces = Forces::new(&Team::host(), &system, &potential, Options::new(8.5))?;
/// let found = forces.evaluate(system.positions())?;
/// assert!((found.sums.energy + 0.238).abs() < 1e-12 && found.sums.pairs == 1);
/// # Ok::<(), lattice_md::MdError>(())
/// ```
pub struct Forces {
    edges: [f64; 3],
    types: Vec<u32>,
    potential: Potential,
    options: Options,
    backend: ForceBackend,
}

impl Forces {
    /// Prepares forces on the first device of the team, or on the host.
    ///
    /// # Errors
    /// A cutoff that exceeds half the box or reaches beyond a table; a potential for another number
    /// of types; images that the device lacks; too little memory; a failure of the device.
    pub fn new(team: &Team, system: &System, potential: &Potential, options: Options) -> MdResult<Self> {
        expect_fitting(system, potential, &options)?;
        let pairs = pairs_of(system, potential, &options);
        let backend = match (team.devices().first(), options.precision) {
            (None, _) => ForceBackend::Host,
            (Some(device), Precision::Double) => {
                ForceBackend::Double(PairsToTune::new(device, &pairs, &options)?.prepared()?)
            }
            (Some(device), _) => {
                ForceBackend::Single(PairsToTune::new(device, &pairs, &options)?.prepared()?)
            }
        };
        let (types, potential) = (system.types().to_vec(), potential.clone());
        Ok(Self { edges: system.edges(), types, potential, options, backend })
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

    /// Returns how a table is read: from buffers or images; `None` without a table or on the host.
    pub fn fetch(&self) -> Option<Fetch> {
        match &self.backend {
            ForceBackend::Host => None,
            ForceBackend::Single(device) => device.fetch(),
            ForceBackend::Double(device) => device.fetch(),
        }
    }

    /// Returns the variant of the device's kernels; `None` on the host.
    pub fn tuning(&self) -> Option<PairTuning> {
        match &self.backend {
            ForceBackend::Host => None,
            ForceBackend::Single(device) => Some(device.tuning()),
            ForceBackend::Double(device) => Some(device.tuning()),
        }
    }

    /// Tells about the lists of neighbours of the last evaluation; `None` if there are none.
    ///
    /// # Errors
    /// A failure of the device.
    pub fn lists(&self) -> MdResult<Option<Lists>> {
        match &self.backend {
            ForceBackend::Host => Ok(None),
            ForceBackend::Single(device) => device.lists(),
            ForceBackend::Double(device) => device.lists(),
        }
    }

    /// Computes energy, virial and forces of these positions.
    ///
    /// The same positions give the same bits on one device.
    ///
    /// # Errors
    /// [`MdError::Length`]; [`MdError::NotFinite`] for positions and forces; [`MdError::TooFar`]; [`MdError::Overlap`];
    /// [`MdError::BelowRange`] with [`BelowRange::Stop`]; a failure of the device.
    pub fn evaluate(&mut self, positions: &[[f64; 3]]) -> MdResult<Evaluation> {
        expect_length("positions", self.types.len(), positions.len())?;
        expect_finite("the position", positions)?;
        overlap(positions, self.edges, &self.potential)?;
        let found = match &mut self.backend {
            ForceBackend::Host => self.pairs().evaluate(positions),
            ForceBackend::Single(device) => device.evaluate(positions)?,
            ForceBackend::Double(device) => device.evaluate(positions)?,
        };
        if found.sums.below > 0 && self.options.below_range == BelowRange::Stop {
            return Err(below_range(positions, self.edges, self.potential.rmin(), None));
        }
        found.checked()
    }

    /// Returns E and E′ of a pair of types at many distances, as forces have them, without a shift.
    ///
    /// # Errors
    /// A failure of the device.
    ///
    /// # Panics
    /// If there is no such pair of types.
    pub fn curve(&self, types: [usize; 2], distances: &[f64]) -> MdResult<Vec<[f64; 2]>> {
        let count = self.potential.types();
        assert!(types.iter().all(|&of_type| of_type < count), "types {types:?} of {count}");
        let row = types[0] * count + types[1];
        match &self.backend {
            ForceBackend::Host => {
                Ok(distances.iter().map(|&r| self.potential.energy_and_slope(row, r)).collect())
            }
            ForceBackend::Single(device) => device.curve(row, distances),
            ForceBackend::Double(device) => device.curve(row, distances),
        }
    }
}

/// Searches now for the fastest variant of a system's forces on a device. An earlier result is replaced.
///
/// Returns what the variant depends on, the variant that is used untuned, and the result. The
/// variant serves all systems of as many atoms, up to the next power of two.
///
/// # Errors
/// All errors of [`Forces::new`]; a result that cannot be kept.
pub fn tune_pairs(
    device: &Device,
    system: &System,
    potential: &Potential,
    options: Options,
    budget: Duration,
) -> Result<(Key, PairTuning, TuningResult<PairTuning>), RenewError<MdError>> {
    expect_fitting(system, potential, &options).map_err(RenewError::Kernel)?;
    let pairs = pairs_of(system, potential, &options);
    if options.precision == Precision::Double {
        renewed(&PairsToTune::<f64>::new(device, &pairs, &options).map_err(RenewError::Kernel)?, budget)
    } else {
        renewed(&PairsToTune::<f32>::new(device, &pairs, &options).map_err(RenewError::Kernel)?, budget)
    }
}

fn renewed<T: Tunable<Variant = PairTuning, Error = MdError>>(
    pairs: &T,
    budget: Duration,
) -> Result<(Key, PairTuning, TuningResult<PairTuning>), RenewError<MdError>> {
    let found = tuning::renew(pairs, budget)?;
    Ok((pairs.key(), pairs.shipped(), found))
}

/// Returns what forces are made of.
pub(crate) fn pairs_of<'a>(system: &'a System, potential: &'a Potential, options: &Options) -> Pairs<'a> {
    Pairs {
        edges: system.edges(),
        types: system.types(),
        potential,
        cutoff: options.cutoff,
        shift: options.shift,
    }
}

/// Checks that cutoff, box, skin and potential fit each other.
pub(crate) fn expect_fitting(system: &System, potential: &Potential, options: &Options) -> MdResult<()> {
    let cutoff = options.cutoff;
    if !(cutoff > 0.0 && cutoff.is_finite()) {
        return Err(MdError::Cutoff(cutoff));
    }
    if let Some(skin) = options.skin()
        && !(skin >= 1e-3 * cutoff && skin.is_finite())
    {
        return Err(MdError::Skin { skin, least: 1e-3 * cutoff });
    }
    let half = 0.5 * system.edges().into_iter().fold(f64::INFINITY, f64::min);
    if cutoff > half {
        return Err(MdError::BoxTooSmall { cutoff, half });
    }
    if potential.types() != system.names().len() {
        return Err(MdError::Types { wanted: system.names().len(), found: potential.types() });
    }
    match potential {
        Potential::Formula { .. } => Ok(()),
        Potential::Table { table, mode } => table.expect_cutoff(*mode, cutoff),
    }
}
