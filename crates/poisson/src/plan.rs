//! What a user prepares and solves.

use super::cell::Cell;
use super::coulomb::{Coulomb, Cutoff};
use super::device::{OnDevice, Results};
use super::error::{PoissonError, PoissonResult};
use super::host::{self, FreeSpace};
use super::order::{MeshOrder, reorder};
use super::sums::Stress;
use lattice_compute::scalar::{Precision, Real};
use lattice_compute::{Buffer, Team, reserve};
use std::time::{Duration, Instant};

/// Largest value of a density in single precision.
const LARGEST_SINGLE: f64 = 1e30;

/// What is around the cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Boundary {
    /// The cell repeats. A net charge is neutralised by a uniform background.
    #[default]
    Periodic,
    /// Nothing: free space.
    Isolated,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
        }
    }
}

/// How long the parts of a solution took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// To the device and back; zero on the host.
    pub transfer: Duration,
    /// Transforms and all that is between them.
    pub compute: Duration,
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
enum Way {
    Periodic(Coulomb),
    FreeSpace(FreeSpace),
    Single(OfPrecision<f32>),
    Double(OfPrecision<f64>),
}

/// A device with buffers for density and potential, and for one of them in another order.
struct OfPrecision<T: Real> {
    solver: OnDevice<T>,
    density: Buffer<T>,
    potential: Buffer<T>,
    clustered: Option<(Buffer<T>, usize)>,
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
    way: Way,
}

impl<T: Real> OfPrecision<T> {
    fn new(solver: OnDevice<T>, points: usize, order: MeshOrder) -> PoissonResult<Self> {
        let buffer = || Buffer::uninitialised(solver.device(), points);
        let (density, potential) = (buffer()?, buffer()?);
        let clustered = match order {
            MeshOrder::Sequential => None,
            MeshOrder::Clustered(n) => Some((buffer()?, n)),
        };
        Ok(Self { solver, density, potential, clustered })
    }

    fn solve(&mut self, values: &[f64], potential: &mut Vec<f64>) -> PoissonResult<(Results, Times)> {
        let mut clock = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut clock, now)
        };
        let rounded: Vec<T> = values.iter().map(|&value| T::from_f64(value)).collect();
        match &mut self.clustered {
            None => self.density.write(&rounded)?,
            Some((clustered, _)) => clustered.write(&rounded)?,
        }
        let sent = lap();
        if let Some((clustered, n)) = &self.clustered {
            self.solver.reorder(clustered, &mut self.density, *n, false)?;
        }
        let results = self.solver.solve(&self.density, &mut self.potential)?;
        if let Some((clustered, n)) = &mut self.clustered {
            self.solver.reorder(&self.potential, clustered, *n, true)?;
        }
        self.solver.device().finish()?;
        let compute = lap();
        let found = self.clustered.as_ref().map_or(&self.potential, |(clustered, _)| clustered).to_vec()?;
        potential.extend(found.iter().map(|&value| value.to_f64()));
        Ok((results, Times { transfer: sent + lap(), compute }))
    }
}

impl Plan {
    /// Prepares potentials on the first device of the team, or on the host.
    ///
    /// # Errors
    /// A mesh without points; an isolated density in a skew cell; an order that does not divide the
    /// mesh; too little memory; a failure of the device.
    pub fn new(team: &Team, cell: Cell, shape: [usize; 3], options: Options) -> PoissonResult<Self> {
        let points = shape.iter().try_fold(1_usize, |all, &n| all.checked_mul(n));
        let points = match points.filter(|points| points.checked_mul(1 << 10).is_some()) {
            Some(0) => return Err(PoissonError::NoPoints(shape)),
            Some(points) => points,
            None => {
                let (available, place) = (u64::MAX >> 11, "any device".to_owned());
                return Err(PoissonError::Memory { wanted: u64::MAX, available, place });
            }
        };
        if let Some(axis) = options.order.misfit(shape) {
            return Err(PoissonError::Order { order: options.order, axis: axis + 1, extent: shape[axis] });
        }
        if options.boundary == Boundary::Isolated && !cell.is_orthogonal() {
            return Err(PoissonError::SkewIsolated);
        }
        let way = match (team.is_host(), options.precision) {
            (true, _) => match options.boundary {
                Boundary::Periodic => Way::Periodic(Coulomb::new(&cell, shape, options.cutoff)),
                Boundary::Isolated => Way::FreeSpace(FreeSpace::new(&cell, shape)?),
            },
            (false, Precision::Single) => {
                let solver = on_device(team, &cell, shape, options)?;
                Way::Single(OfPrecision::new(solver, points, options.order)?)
            }
            (false, Precision::Double) => {
                let solver = on_device(team, &cell, shape, options)?;
                Way::Double(OfPrecision::new(solver, points, options.order)?)
            }
        };
        Ok(Self { cell, shape, options, way })
    }

    /// Returns |G|² from which on components are dropped; `None` without a cutoff.
    pub fn g2max(&self) -> Option<f64> {
        let is_cut = self.options.cutoff == Cutoff::Sphere && self.options.boundary == Boundary::Periodic;
        is_cut.then(|| Coulomb::new(&self.cell, self.shape, self.options.cutoff).g2max)
    }

    /// Computes the potential of a density, in the order of the options.
    ///
    /// # Errors
    /// [`PoissonError::Length`]; [`PoissonError::NotFinite`]; [`PoissonError::TooLarge`]; a failure of
    /// the device.
    pub fn solve(&mut self, density: &[f64]) -> PoissonResult<Solution> {
        self.check(density)?;
        let points = density.len();
        let mut potential = Vec::new();
        let began = Instant::now();
        let (results, times) = match &mut self.way {
            Way::Single(device) => {
                reserve(&mut potential, points)?;
                device.solve(density, &mut potential)?
            }
            Way::Double(device) => {
                reserve(&mut potential, points)?;
                device.solve(density, &mut potential)?
            }
            way => {
                let (shape, order) = (self.shape, self.options.order);
                let mut sequential = Vec::new();
                if order != MeshOrder::Sequential {
                    sequential = vec![0.0; points];
                    reorder(shape, (density, order), (&mut sequential, MeshOrder::Sequential));
                }
                let density = if sequential.is_empty() { density } else { &sequential };
                let moments = host::moments(shape, density);
                let (found, results) = match way {
                    Way::FreeSpace(space) => {
                        let found = space.solve(density)?;
                        let overlap = Some(host::overlap(density, &found));
                        (found, Results { moments, spectral: None, overlap })
                    }
                    Way::Periodic(coulomb) => {
                        let (found, spectral) = host::periodic(coulomb, density)?;
                        (found, Results { moments, spectral: Some(spectral), overlap: None })
                    }
                    Way::Single(_) | Way::Double(_) => unreachable!("devices are served above"),
                };
                potential = found;
                if order != MeshOrder::Sequential {
                    let mut clustered = vec![0.0; points];
                    reorder(shape, (&potential, MeshOrder::Sequential), (&mut clustered, order));
                    potential = clustered;
                }
                (results, Times { compute: began.elapsed(), ..Times::default() })
            }
        };
        Ok(self.solution(potential, &results, times))
    }

    fn solution(&self, mut potential: Vec<f64>, results: &Results, times: Times) -> Solution {
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
            potential.iter_mut().for_each(|value| *value *= unit);
        }
        let charge = moments.charge * point;
        Solution { potential, energy: unit * energy, stress, dipole, charge, times }
    }

    fn check(&self, density: &[f64]) -> PoissonResult<()> {
        let wanted = self.shape.iter().product();
        if density.len() != wanted {
            return Err(PoissonError::Length { shape: self.shape, wanted, found: density.len() });
        }
        if let Some(index) = density.iter().position(|value| !value.is_finite()) {
            return Err(PoissonError::NotFinite { index, value: density[index] });
        }
        if self.options.precision == Precision::Single
            && let Some(index) = density.iter().position(|value| value.abs() > LARGEST_SINGLE)
        {
            return Err(PoissonError::TooLarge { index, value: density[index] });
        }
        Ok(())
    }
}

/// Prepares the first device of a team.
fn on_device<T: Real>(
    team: &Team,
    cell: &Cell,
    shape: [usize; 3],
    options: Options,
) -> PoissonResult<OnDevice<T>> {
    let device = team.device()?;
    match options.boundary {
        Boundary::Periodic => OnDevice::periodic(device, &Coulomb::new(cell, shape, options.cutoff)),
        Boundary::Isolated => OnDevice::isolated(device, cell, shape),
    }
}
