//! What a user prepares and solves.

use super::cell::Cell;
use super::coulomb::{Coulomb, Cutoff};
use super::device::{OnDevice, Results};
use super::error::{PoissonError, PoissonResult};
use super::host::{self, FreeSpace};
use super::numbers;
use super::order::{MeshOrder, reorder};
use super::share::shared_out;
use super::slabs::Slabs;
use super::sums::Stress;
use super::transfer::{FromHost, Times, planes_of_slab};
use derive_setters::Setters;
use lattice_compute::parallel::*;
use lattice_compute::scalar::{Precision, Real};
use lattice_compute::{Stopwatch, Team, expect_room, reserve};

/// What is around the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// The cell repeats. A net charge is neutralised by a uniform background.
    #[default]
    Periodic,
    /// Nothing: free space.
    Isolated,
}

lattice_files::words! {
    Boundary, "boundary":
    Periodic = "periodic", "The cell repeats; a net charge gets a uniform background";
    Isolated = "isolated", "Nothing repeats; for cells at right angles"
}

/// The units of energies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Units {
    /// Hartree.
    #[default]
    Hartree,
    /// Half a hartree: potential, energy and stress have twice the value.
    Rydberg,
}

lattice_files::words! { Units, "unit": Hartree = "hartree"; Rydberg = "rydberg" }

impl Units {
    /// Returns the value of a hartree.
    pub fn of_hartree(self) -> f64 {
        match self {
            Units::Hartree => 1.0,
            Units::Rydberg => 2.0,
        }
    }
}

/// How a potential is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Setters)]
#[setters(prefix = "with_")]
#[non_exhaustive]
pub struct Options {
    /// What is around the cell.
    pub boundary: Boundary,
    /// Which components of a periodic density are kept.
    pub cutoff: Cutoff,
    /// The precision of transforms on devices. The host computes in double.
    pub precision: Precision,
    /// The units of potential, energy and stress.
    pub units: Units,
    /// The order of density and potential.
    pub order: MeshOrder,
    /// Most bytes that a density takes on each device; it then goes through all devices by slabs.
    ///
    /// `None` for densities that lie on a device as a whole. The host does not look at this.
    pub out_of_core: Option<u64>,
}

impl Default for Options {
    /// Returns a periodic cell without cutoff, double precision, hartree, sequential order.
    fn default() -> Self {
        Self {
            boundary: Boundary::default(),
            cutoff: Cutoff::default(),
            precision: Precision::Double,
            units: Units::default(),
            order: MeshOrder::default(),
            out_of_core: None,
        }
    }
}

/// A potential, and what came with it.
#[derive(Clone, Debug)]
pub struct Solution {
    /// The potential at each mesh point, in the order of the options.
    ///
    /// In a periodic cell its mean is zero.
    pub potential: Vec<f64>,
    /// The electrostatic energy ½ ∫ρV.
    pub energy: f64,
    /// The stress; `None` for an isolated density.
    pub stress: Option<Stress>,
    /// ∫ρ r, with r from the middle of the cell, in e bohr.
    ///
    /// For a charged or truly periodic density it depends on that choice.
    pub dipole: [f64; 3],
    /// ∫ρ.
    pub charge: f64,
    /// How long it took.
    pub times: Times,
}

/// Where and how potentials are computed.
enum PotentialBackend {
    Periodic(Coulomb),
    FreeSpace(FreeSpace),
    Single(OnTeam<f32>),
    Double(OnTeam<f64>),
    SingleSlabs(Slabs<f32>),
    DoubleSlabs(Slabs<f64>),
}

/// The devices that are prepared for whole densities: the first one, others when there are many.
struct OnTeam<T: Real> {
    team: Team,
    prepared: Vec<FromHost<T>>,
}

/// A prepared solution of Poisson's equation for a cell and a mesh.
///
/// ∇²V = −4πρ in hartree atomic units. The density is in electrons/bohr³ as given: no sign is put in.
///
/// ```
/// use lattice_compute::Team;
/// use lattice_poisson::{Cell, Options, Plan};
///
/// // cos(G·r) with G = 2π/4 has the potential 4π/G² cos(G·r).
/// let cell = Cell::new([[4.0, 0.0, 0.0], [0.0, 4.0, 0.0], [0.0, 0.0, 4.0]])?;
/// let density: Vec<f64> = (0..512).map(|l| (2.0 * std::f64::consts::PI * (l % 8) as f64 / 8.0).cos()).collect();
/// let mut plan = Plan::new(&Team::host(), cell, [8, 8, 8], Options::default())?;
/// let solution = plan.solve(&density)?;
/// assert!((solution.potential[0] - 16.0 / std::f64::consts::PI).abs() < 1e-13);
/// # Ok::<(), lattice_poisson::PoissonError>(())
/// ```
pub struct Plan {
    cell: Cell,
    shape: [usize; 3],
    options: Options,
    backend: PotentialBackend,
    /// Starts the stopwatches of solutions.
    clock: Stopwatch,
}

impl<T: Real> OnTeam<T> {
    fn new(team: &Team, cell: &Cell, shape: [usize; 3], options: Options) -> PoissonResult<Self> {
        let mut devices = Self { team: team.clone(), prepared: Vec::new() };
        devices.prepare(1, cell, shape, options)?;
        Ok(devices)
    }

    /// Prepares so many devices, if there are as many.
    fn prepare(
        &mut self,
        count: usize,
        cell: &Cell,
        shape: [usize; 3],
        options: Options,
    ) -> PoissonResult<()> {
        let wanted = count.min(self.team.devices().len());
        for device in self.team.devices().iter().take(wanted).skip(self.prepared.len()) {
            let planes = planes_of_slab(device, shape, size_of::<T>());
            let solver = match options.boundary {
                Boundary::Periodic => {
                    OnDevice::periodic(device, &Coulomb::new(cell, shape, options.cutoff), planes)?
                }
                Boundary::Isolated => OnDevice::isolated(device, cell, shape, planes)?,
            };
            self.prepared.push(FromHost::new(solver, shape, options.order)?);
        }
        Ok(())
    }

    /// Solves for several densities, which the prepared devices share.
    fn solve(&mut self, densities: &[&[f64]]) -> PoissonResult<Vec<Raw>> {
        shared_out(&mut self.prepared, densities.iter(), |device, density| {
            Self::solve_on(device, density, room(density.len())?)
        })
    }

    /// Solves for one density on the first device, with room for the potential.
    fn solve_into(&mut self, density: &[f64], potential: Vec<f64>) -> PoissonResult<Raw> {
        Self::solve_on(&mut self.prepared[0], density, potential)
    }

    fn solve_on(device: &mut FromHost<T>, density: &[f64], mut potential: Vec<f64>) -> PoissonResult<Raw> {
        let (results, times) = device.solve(density, &mut potential)?;
        Ok(Raw { potential, results, times })
    }
}

/// A potential in hartree, and what was found beside it.
struct Raw {
    potential: Vec<f64>,
    results: Results,
    times: Times,
}

/// Returns zeros, if the host has room for them.
fn room(points: usize) -> PoissonResult<Vec<f64>> {
    // The system's zero pages: the threads that write a part get its memory.
    expect_room((points * size_of::<f64>()) as u64)?;
    Ok(vec![0.0; points])
}

/// Solves with a function that takes the sequential order.
fn in_order(
    began: Stopwatch,
    shape: [usize; 3],
    order: MeshOrder,
    density: &[f64],
    solve: impl FnOnce(&[f64]) -> PoissonResult<(Vec<f64>, Results)>,
) -> PoissonResult<Raw> {
    let (potential, results) = if order == MeshOrder::Sequential {
        solve(density)?
    } else {
        let (mut sequential, mut ordered) = (room(density.len())?, room(density.len())?);
        reorder(shape, (density, order), (&mut sequential, MeshOrder::Sequential));
        let (potential, results) = solve(&sequential)?;
        reorder(shape, (&potential, MeshOrder::Sequential), (&mut ordered, order));
        (ordered, results)
    };
    Ok(Raw { potential, results, times: Times { compute: began.elapsed(), ..Times::default() } })
}

/// Solves for one density after another with a function that takes the sequential order.
fn one_by_one(
    clock: &Stopwatch,
    shape: [usize; 3],
    order: MeshOrder,
    densities: &[&[f64]],
    mut solve: impl FnMut(&[f64]) -> PoissonResult<(Vec<f64>, Results)>,
) -> PoissonResult<Vec<Raw>> {
    densities.iter().map(|density| in_order(clock.restarted(), shape, order, density, &mut solve)).collect()
}

/// Solves by slabs, with the sums over the density made on the host.
fn by_slabs<T: Real>(
    slabs: &mut Slabs<T>,
    shape: [usize; 3],
    density: &[f64],
) -> PoissonResult<(Vec<f64>, Results)> {
    let mut potential = room(density.len())?;
    let spectral = Some(slabs.solve(density, &mut potential)?);
    Ok((potential, Results { moments: host::moments(shape, density), spectral, overlap: None }))
}

impl Plan {
    /// Prepares potentials on the first device of the team, or on the host.
    ///
    /// The other devices are prepared when [`solve_all`](Self::solve_all) first has enough for them.
    /// Out of core, all devices work on each density.
    ///
    /// # Errors
    /// A mesh without points; an isolated density in a skew cell, or out of core; an order that does
    /// not divide the mesh; too little memory; a failure of the device.
    pub fn new(team: &Team, cell: Cell, shape: [usize; 3], options: Options) -> PoissonResult<Self> {
        let points = shape.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        match points.filter(|points| points.checked_mul(1 << 10).is_some()) {
            Some(0) => return Err(PoissonError::NoPoints(shape)),
            Some(_) => {}
            None => {
                let (available, place) = (u64::MAX >> 11, "any device".to_owned());
                return Err(PoissonError::Memory { wanted: u64::MAX, available, place });
            }
        }
        if let Some(axis) = options.order.misfit(shape) {
            return Err(PoissonError::Order { order: options.order, axis: axis + 1, extent: shape[axis] });
        }
        if options.boundary == Boundary::Isolated && !cell.is_orthogonal() {
            return Err(PoissonError::SkewIsolated);
        }
        if options.boundary == Boundary::Isolated && options.out_of_core.is_some() {
            return Err(PoissonError::IsolatedSlabs);
        }
        let coulomb = || Coulomb::new(&cell, shape, options.cutoff);
        let backend = match (team.is_host(), options.out_of_core, options.precision) {
            (true, ..) => match options.boundary {
                Boundary::Periodic => PotentialBackend::Periodic(coulomb()),
                Boundary::Isolated => PotentialBackend::FreeSpace(FreeSpace::new(&cell, shape)?),
            },
            (_, None, Precision::Single) => {
                PotentialBackend::Single(OnTeam::new(team, &cell, shape, options)?)
            }
            (_, None, Precision::Double) => {
                PotentialBackend::Double(OnTeam::new(team, &cell, shape, options)?)
            }
            (_, Some(most), Precision::Single) => {
                PotentialBackend::SingleSlabs(Slabs::new(team.devices(), &coulomb(), most)?)
            }
            (_, Some(most), Precision::Double) => {
                PotentialBackend::DoubleSlabs(Slabs::new(team.devices(), &coulomb(), most)?)
            }
        };
        Ok(Self { cell, shape, options, backend, clock: team.stopwatch() })
    }

    /// Returns |G|² from which on components are dropped; `None` without a cutoff.
    pub fn g2max(&self) -> Option<f64> {
        let is_cut = self.options.cutoff == Cutoff::Sphere && self.options.boundary == Boundary::Periodic;
        is_cut.then(|| Coulomb::new(&self.cell, self.shape, self.options.cutoff).g2max)
    }

    /// Returns the bytes that the kernels of a solution move in the memory of devices.
    ///
    /// `None` on the host. A periodic solution moves two real arrays and eight half spectra at least.
    pub fn bytes_moved(&self) -> Option<u64> {
        match &self.backend {
            PotentialBackend::Periodic(_) | PotentialBackend::FreeSpace(_) => None,
            PotentialBackend::Single(devices) => devices.prepared.first().map(FromHost::bytes_moved),
            PotentialBackend::Double(devices) => devices.prepared.first().map(FromHost::bytes_moved),
            PotentialBackend::SingleSlabs(slabs) => Some(slabs.bytes_moved()),
            PotentialBackend::DoubleSlabs(slabs) => Some(slabs.bytes_moved()),
        }
    }

    /// Computes the potential of a density, in the order of the options.
    ///
    /// # Errors
    /// [`PoissonError::Length`]; [`PoissonError::NotFinite`]; [`PoissonError::TooLarge`]; a failure of
    /// the device.
    pub fn solve(&mut self, density: &[f64]) -> PoissonResult<Solution> {
        let mut solutions = self.solve_all(&[density])?;
        Ok(solutions.remove(0))
    }

    /// Computes the potential like [`solve`](Self::solve), in the memory of an earlier solution.
    ///
    /// On devices nothing is allocated. Out of core and on the host it is the same as `solve`. After an
    /// error the solution has no potential.
    ///
    /// # Errors
    /// All errors of [`solve`](Self::solve).
    pub fn solve_into(&mut self, density: &[f64], solution: &mut Solution) -> PoissonResult<()> {
        self.check(density)?;
        let mut potential = std::mem::take(&mut solution.potential);
        let more = density.len().saturating_sub(potential.len());
        reserve(&mut potential, more)?;
        potential.resize(density.len(), 0.0);
        let raw = match &mut self.backend {
            PotentialBackend::Single(devices) => devices.solve_into(density, potential)?,
            PotentialBackend::Double(devices) => devices.solve_into(density, potential)?,
            _ => {
                *solution = self.solve(density)?;
                return Ok(());
            }
        };
        *solution = self.solution(raw);
        Ok(())
    }

    /// Computes the potentials of several densities, in their order.
    ///
    /// The devices of the team share whole densities. Those of a plan out of core share the slabs of
    /// one density after another.
    ///
    /// # Errors
    /// All errors of [`solve`](Self::solve).
    pub fn solve_all(&mut self, densities: &[&[f64]]) -> PoissonResult<Vec<Solution>> {
        densities.iter().try_for_each(|density| self.check(density))?;
        let (cell, shape, options) = (self.cell, self.shape, self.options);
        let (order, all, clock) = (options.order, densities, &self.clock);
        let found = match &mut self.backend {
            PotentialBackend::Single(devices) => {
                devices.prepare(densities.len(), &cell, shape, options)?;
                devices.solve(densities)?
            }
            PotentialBackend::Double(devices) => {
                devices.prepare(densities.len(), &cell, shape, options)?;
                devices.solve(densities)?
            }
            PotentialBackend::SingleSlabs(slabs) => {
                one_by_one(clock, shape, order, all, |density| by_slabs(slabs, shape, density))?
            }
            PotentialBackend::DoubleSlabs(slabs) => {
                one_by_one(clock, shape, order, all, |density| by_slabs(slabs, shape, density))?
            }
            PotentialBackend::FreeSpace(space) => one_by_one(clock, shape, order, all, |density| {
                let found = space.solve(density)?;
                let overlap = Some(host::overlap(density, &found));
                Ok((found, Results { moments: host::moments(shape, density), spectral: None, overlap }))
            })?,
            PotentialBackend::Periodic(coulomb) => one_by_one(clock, shape, order, all, |density| {
                let (found, spectral) = host::periodic(coulomb, density)?;
                let moments = host::moments(shape, density);
                Ok((found, Results { moments, spectral: Some(spectral), overlap: None }))
            })?,
        };
        Ok(found.into_iter().map(|raw| self.solution(raw)).collect())
    }

    fn solution(&self, Raw { mut potential, results, times }: Raw) -> Solution {
        let (points, unit) = (potential.len(), self.options.units.of_hartree());
        let (volume, moments) = (self.cell.volume(), results.moments);
        let point = volume / points as f64;
        let rows = self.cell.rows();
        let dipole = std::array::from_fn(|a| {
            (0..3).map(|axis| moments.first[axis] * rows[axis][a]).sum::<f64>() * point
        });
        let energy = match (&results.spectral, results.overlap) {
            (Some(sums), _) => sums.energy(volume, points),
            (None, overlap) => 0.5 * point * overlap.unwrap_or(0.0),
        };
        let stress = results.spectral.map(|sums| {
            let stress = sums.stress(points);
            Stress {
                fixed_charge: stress.fixed_charge.map(|s| unit * s),
                fixed_density: stress.fixed_density.map(|s| unit * s),
            }
        });
        if unit != 1.0 {
            potential.par_iter_mut().for_each(|value| *value *= unit);
        }
        let charge = moments.charge * point;
        Solution { potential, energy: unit * energy, stress, dipole, charge, times }
    }

    fn check(&self, density: &[f64]) -> PoissonResult<()> {
        let wanted = self.shape.iter().product();
        if density.len() != wanted {
            return Err(PoissonError::Length { shape: self.shape, wanted, found: density.len() });
        }
        match &self.backend {
            // Devices look at the values on their way.
            PotentialBackend::Single(_) | PotentialBackend::Double(_) => Ok(()),
            _ => numbers::check(density, self.options.precision),
        }
    }
}
