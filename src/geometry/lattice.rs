//! The lattice on the devices of a team.

use super::{Dims, Grid, GridError, NDIM, Placement, Shard};
use crate::device::mpi::World;
use crate::device::{Device, DeviceError, Peers, Team, TeamSums};
use crate::scalar::StoragePrecision;
use crate::sync::lock;
use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

/// A lattice of given extents on the devices of a team. Cheap to clone.
#[derive(Clone)]
pub struct Lattice {
    inner: Arc<Inner>,
}

struct Inner {
    team: Team,
    dims: Dims,
    grid: Grid,
    placement: Placement,
    /// Those of this process.
    shards: Vec<Shard>,
    /// All of them, each on a device of this process that is like its own.
    everywhere: Vec<Shard>,
    /// Present where the devices of several shards reach each other's memory.
    peers: Option<Arc<Peers>>,
    /// Where they add what each has summed up; made when it is wanted first.
    sums: OnceLock<Arc<TeamSums>>,
    /// What goes with the lattice, by its type.
    kept: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

/// Why a field cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LatticeError {
    /// A field was given data of another lattice.
    #[error("the lattice is {wanted}, the {what} is of {found}")]
    Dims {
        /// What was given.
        what: &'static str,
        /// The lattice's extents.
        wanted: Dims,
        /// The extents found.
        found: Dims,
    },
    /// Not one spinor for each site.
    #[error("fields on a {dims} lattice need {wanted} spinors, but {found} were given")]
    SpinorCount {
        /// The lattice's extents.
        dims: Dims,
        /// One for each site and field.
        wanted: usize,
        /// The spinors given.
        found: usize,
    },
    /// A link that half precision has no number for.
    #[error(
        "a link has an element of size {found:.6}, and half precision has numbers up to 1 only; store the links in single or \
         double, or re-unitarise the configuration (`cr-solve convert --reunitarise`)"
    )]
    LinkTooLarge {
        /// Size of the largest real or imaginary part.
        found: f64,
    },
    /// Links that are not in SU(3) accurately enough to be stored in fewer than 18 reals.
    #[error(
        "links deviate from SU(3) by {deviation:.1e}, too much to be stored in {reals} reals (limit {limit:.1e}); \
         store all 18, or re-unitarise the configuration (`cr-solve convert --reunitarise`)"
    )]
    NotSpecialUnitary {
        /// Reals of each link that were asked for.
        reals: usize,
        /// The largest deviation of any link.
        deviation: f64,
        /// The largest that is allowed in this precision.
        limit: f64,
    },
    /// A source outside the lattice, or a spin or colour that does not exist.
    #[error("{what} {found} is outside the allowed range 0 to {last}")]
    OutOfRange {
        /// The coordinate, spin or colour.
        what: &'static str,
        /// The value given.
        found: usize,
        /// The largest allowed value.
        last: usize,
    },
    /// What an operator with a clover term does within a site has no inverse: an exceptional configuration, or too large a c_sw.
    #[error(
        "at site {site:?} the smallest eigenvalue of 1 + κ c_sw T is {eigenvalue:.3e}, and even-odd preconditioning needs \
         positive ones; choose `--preconditioning none`, a smaller c_sw, or smear the links of the clover term"
    )]
    CloverNotPositive {
        /// x, y, z, t
        site: [usize; NDIM],
        /// The smallest eigenvalue of the site's blocks.
        eigenvalue: f64,
    },
    /// The lattice cannot be cut over this grid of devices.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Lattice {
    /// A lattice on the devices of a team, cut where that makes the least surface ([`Grid::least_surface`]).
    ///
    /// A team with more devices than there can be parts leaves the last ones idle. Over several ranks it is every rank's last ones, and the call
    /// is one of every rank.
    ///
    /// # Errors
    /// When there are more ranks than parts.
    pub fn new(team: &Team, dims: Dims) -> Result<Self, LatticeError> {
        Self::with_grids(team, dims, None, None)
    }

    /// A lattice on the devices of a team, cut over this grid: domain number *k* is on the team's device number *k*.
    ///
    /// # Errors
    /// When the lattice cannot be cut like this, or the grid has not as many parts as the team has devices. The host is one.
    pub fn with_grid(team: &Team, dims: Dims, grid: Grid) -> Result<Self, LatticeError> {
        Self::with_grids(team, dims, Some(grid), None)
    }

    /// A lattice cut over a grid of domains, which are cut over a coarser grid of ranks into equal blocks. `None` is the grid with
    /// the least surface.
    ///
    /// # Errors
    /// As [`with_grid`](Self::with_grid), and when the grid of ranks has not as many parts as there are ranks, or does not divide that of
    /// the domains.
    pub fn with_grids(
        team: &Team,
        dims: Dims,
        grid: Option<Grid>,
        ranks_grid: Option<Grid>,
    ) -> Result<Self, LatticeError> {
        let ranks = team.ranks().map_or(1, |world| world.size());
        if let Some(grid) = ranks_grid.filter(|grid| grid.count() != ranks) {
            return Err(GridError::RankCount { grid, ranks }.into());
        }
        let each = team.len().max(1);
        let grid = match grid {
            Some(grid) => {
                grid.check(dims)?;
                let devices = ranks * each;
                if grid.count() != devices {
                    return Err(GridError::DeviceCount { grid, devices }.into());
                }
                grid
            }
            None => {
                let counts = (1..=each).rev().map(|each| ranks * each);
                Grid::least_surface_in(dims, ranks_grid.unwrap_or(Grid::ONE), counts)
                    .ok_or(GridError::TooManyRanks { dims, ranks, among: ranks_grid })?
            }
        };
        let ranks_grid = ranks_grid.or_else(|| grid.least_surface_above(dims, ranks));
        match ranks_grid {
            Some(ranks) if ranks.divides(grid) => Self::cut(team, dims, grid, Placement::new(grid, ranks)),
            found => Err(GridError::RanksDoNotDivide { grid, ranks: found.unwrap_or(Grid::ONE) }.into()),
        }
    }

    fn cut(team: &Team, dims: Dims, grid: Grid, placement: Placement) -> Result<Self, LatticeError> {
        let domains = grid.domains(dims)?;
        let own = placement.domains_of(team.ranks().map_or(0, |world| world.rank()));
        let devices: Vec<Device> = team.devices().iter().take(own.len()).cloned().collect();
        let peers = match team.ranks() {
            None => Peers::of(&devices),
            Some(_) => {
                let ranks: Vec<usize> = (0..grid.count()).map(|number| placement.rank_of(number)).collect();
                Peers::of_ranks(team, &devices, &ranks)?
            }
        };
        let has_flags = peers.as_ref().is_some_and(|peers| peers.way().has_flags());
        let everywhere: Vec<Shard> = if devices.is_empty() {
            Vec::new()
        } else {
            let device = |number: usize| devices[placement.place_in_rank(number)].clone();
            let shard = |(number, domain)| Shard { device: device(number), domain, has_flags };
            domains.into_iter().enumerate().map(shard).collect()
        };
        let shards = own.iter().filter_map(|&number| everywhere.get(number).cloned()).collect();
        let inner = Inner {
            team: team.clone(),
            dims,
            grid,
            placement,
            shards,
            everywhere,
            peers,
            sums: OnceLock::new(),
            kept: Mutex::default(),
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The extents.
    pub fn dims(&self) -> Dims {
        self.inner.dims
    }

    /// The parts in each direction; a single one on the host.
    pub fn grid(&self) -> Grid {
        self.inner.grid
    }

    /// The parts that ranks cut it into in each direction; a single one without other ranks.
    pub fn ranks_grid(&self) -> Grid {
        self.inner.placement.ranks()
    }

    /// The processes that hold its domains; `None` if this one has all of them.
    pub(crate) fn ranks(&self) -> Option<&Arc<World>> {
        self.team().ranks()
    }

    /// Which rank has which domains.
    pub(crate) fn placement(&self) -> Placement {
        self.inner.placement
    }

    /// The team that holds the fields.
    pub fn team(&self) -> &Team {
        &self.inner.team
    }

    /// Whether two handles are of the same lattice: equal extents, cut alike over the same open devices.
    pub fn is(&self, other: &Lattice) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
            || (self.dims() == other.dims()
                && self.grid() == other.grid()
                && self.placement() == other.placement()
                && self.team().devices() == other.team().devices())
    }

    /// Panics unless `other`, the lattice of a field, is this one: its buffers would have other sizes.
    pub(crate) fn expect_same(&self, other: &Lattice) {
        assert!(
            self.is(other),
            "a field on a {} lattice is used with one on a {} lattice, or with other devices or another grid",
            other.dims(),
            self.dims()
        );
    }

    /// Devices of the team in this process that have no part.
    pub fn idle_devices(&self) -> usize {
        self.team().len() - self.shards().len()
    }

    /// How its fields are stored, in words that are the same where the bytes of a field are.
    pub fn storage_description(&self) -> String {
        if self.team().is_host() {
            return "on the host".to_owned();
        }
        // Whole time slices are described as they were when there was no other cut: so kept states of then can be taken back.
        let of_slices = self.grid().parts()[..NDIM - 1] == [1; NDIM - 1];
        let shards = self.everywhere().iter().map(|shard| {
            let lanes = [StoragePrecision::Double, StoragePrecision::Single, StoragePrecision::Half]
                .map(|precision| shard.layout(precision).lanes().to_string());
            let [x, y, z, t] = shard.domain.extents();
            let sites = if of_slices { format!("{t} time slices") } else { format!("{x}x{y}x{z}x{t} sites") };
            format!("{sites} in {} lanes", lanes.join("/"))
        });
        let grid = if of_slices { String::new() } else { format!(", grid {}", self.grid()) };
        format!("on devices, γ_t diagonal{grid}: {}", shards.collect::<Vec<_>>().join(", "))
    }

    /// Extents of the sub-lattice that one lane of the first device walks through, in fields of a precision.
    ///
    /// `None` on the host, which has no lanes.
    pub fn lane_extents(&self, precision: StoragePrecision) -> Option<[usize; NDIM]> {
        Some(self.shards().first()?.layout(precision).sub_extents())
    }

    /// The same lattice, whose devices wait for each other as these do.
    #[cfg(test)]
    pub(crate) fn with_peers(&self, peers: Arc<Peers>) -> Self {
        let Inner { team, dims, grid, placement, shards, everywhere, .. } = &*self.inner;
        let (shards, everywhere) = (shards.clone(), everywhere.clone());
        let inner = Inner {
            team: team.clone(),
            dims: *dims,
            grid: *grid,
            placement: *placement,
            shards,
            everywhere,
            peers: Some(peers),
            sums: OnceLock::new(),
            kept: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// The devices of its shards, if their kernels reach each other's memory.
    pub(crate) fn peers(&self) -> Option<&Arc<Peers>> {
        self.inner.peers.as_ref()
    }

    /// Where sums of all shards are added on the devices; `None` where the host has to wait for them.
    ///
    /// Every rank calls this.
    pub(crate) fn team_sums(&self) -> Result<Option<Arc<TeamSums>>, DeviceError> {
        let Some(peers) = self.peers().filter(|peers| peers.way().has_flags()) else { return Ok(None) };
        if let Some(sums) = self.inner.sums.get() {
            return Ok(Some(Arc::clone(sums)));
        }
        let sums = Arc::new(TeamSums::new(peers)?);
        Ok(Some(Arc::clone(self.inner.sums.get_or_init(|| sums))))
    }

    /// The one value of this type that goes with the lattice, made when it is wanted first. It must not hold a lattice.
    pub(crate) fn kept<V: Default + Send + Sync + 'static>(&self) -> Arc<V> {
        let mut kept = lock(&self.inner.kept);
        let value = kept.entry(TypeId::of::<V>()).or_insert_with(|| Arc::new(V::default()));
        Arc::clone(value).downcast().expect("values are stored under their own type")
    }

    /// Fails if a device waited for another one in vain; what was computed since is worth nothing then.
    pub(crate) fn check_peers(&self) -> Result<(), DeviceError> {
        self.peers().map_or(Ok(()), |peers| peers.check())
    }

    /// The parts of the lattice in this process, one for each device that has one; none on the host.
    pub(crate) fn shards(&self) -> &[Shard] {
        &self.inner.shards
    }

    /// The parts of the lattice in all processes, in the order of the domains. Those of other ranks are on a device of this process that is like
    /// their own: they say how fields lie in memory there.
    pub(crate) fn everywhere(&self) -> &[Shard] {
        &self.inner.everywhere
    }
}
