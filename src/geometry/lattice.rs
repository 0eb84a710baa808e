//! The lattice on the devices of a team.

use super::{Dims, Grid, GridError, NDIM, Placement, Shard};
use crate::compute::mpi::World;
use crate::compute::{Device, DeviceError, Peers, Team, TeamSums};
use crate::scalar::StoragePrecision;
use crate::sync::lock;
use lattice_files::text::tuple;
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
    /// The shards of this process.
    shards: Vec<Shard>,
    /// The shards of all processes.
    ///
    /// Each shard is on a device of this process that is like its own.
    everywhere: Vec<Shard>,
    /// The devices of the shards, if several reach each other's memory.
    peers: Option<Arc<Peers>>,
    /// The memory for sums of all shards, made on first use.
    sums: OnceLock<Arc<TeamSums>>,
    /// Values that go with the lattice, by their types.
    kept: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

/// The reason why a field cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LatticeError {
    /// A field was given data of another lattice.
    #[error("the lattice is {wanted}, the {what} is of {found}")]
    Dims {
        /// The object that was given.
        what: &'static str,
        /// The lattice's extents.
        wanted: Dims,
        /// The extents found.
        found: Dims,
    },
    /// Not one spinor for each site.
    #[error("fields on a lattice of {dims} need {wanted} spinors, but {found} were given")]
    SpinorCount {
        /// The lattice's extents.
        dims: Dims,
        /// The spinors needed: one for each site and field.
        wanted: usize,
        /// The spinors given.
        found: usize,
    },
    /// A link beside which half precision would round most others away.
    #[error(
        "a link has an element of size {found:.3e}, and elements are usually of size {usual:.3e}; half precision would round \
         them away: choose --precision mixed-single or double, or re-unitarise the configuration (`cr-solve convert --reunitarise`)"
    )]
    LinkTooLarge {
        /// Absolute value of the largest element.
        found: f64,
        /// Geometric mean over links of the root of their mean square element.
        usual: f64,
    },
    /// Links that deviate too much from SU(3) to be stored in fewer than 18 reals.
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
    /// A site term without an inverse.
    ///
    /// The configuration is exceptional, or c_sw is too large.
    #[error(
        "at site {} the smallest eigenvalue of 1 + κ c_sw T is {eigenvalue:.3e}, and even-odd preconditioning needs \
         positive ones; choose `--preconditioning none`, a smaller c_sw, or smear the links of the clover term",
        tuple(site)
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
    /// Makes a lattice on the devices of a team.
    ///
    /// The lattice is cut over the grid with the least surface ([`Grid::least_surface`]). If a team
    /// has more devices than there can be parts, the last devices stay idle. With several ranks,
    /// the last devices of every rank stay idle, and every rank calls this.
    ///
    /// # Errors
    /// When there are more ranks than parts.
    pub fn new(team: &Team, dims: Dims) -> Result<Self, LatticeError> {
        Self::with_grids(team, dims, None, None)
    }

    /// Makes a lattice on the devices of a team, cut over this grid.
    ///
    /// Domain number *k* is on the team's device number *k*.
    ///
    /// # Errors
    /// When the lattice cannot be cut like this, or the number of parts is not the number of
    /// devices. The host counts as one device.
    pub fn with_grid(team: &Team, dims: Dims, grid: Grid) -> Result<Self, LatticeError> {
        Self::with_grids(team, dims, Some(grid), None)
    }

    /// Makes a lattice cut over a grid of domains and a coarser grid of ranks.
    ///
    /// The grid of ranks cuts the grid of domains into equal blocks. `None` is the grid with the
    /// least surface.
    ///
    /// # Errors
    /// The errors of [`with_grid`](Self::with_grid). The grid of ranks must have one part for each
    /// rank, and must divide the grid of domains.
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
        let flags = peers.as_ref().map(|peers| peers.way()).filter(|way| way.has_flags());
        let everywhere: Vec<Shard> = if devices.is_empty() {
            Vec::new()
        } else {
            let device = |number: usize| devices[placement.place_in_rank(number)].clone();
            let shard =
                |(number, domain)| Shard { device: device(number), domain, flags, team: grid.count() };
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

    /// Returns the extents.
    pub fn dims(&self) -> Dims {
        self.inner.dims
    }

    /// Returns the number of parts in each direction; the host has one part.
    pub fn grid(&self) -> Grid {
        self.inner.grid
    }

    /// Returns the number of parts in each direction that ranks cut the lattice into.
    ///
    /// The result is one part without other ranks.
    pub fn ranks_grid(&self) -> Grid {
        self.inner.placement.ranks()
    }

    /// Returns the processes that hold the domains.
    ///
    /// `None` if this process has all domains.
    pub(crate) fn ranks(&self) -> Option<&Arc<World>> {
        self.team().ranks()
    }

    /// Returns the placement of domains on ranks.
    pub(crate) fn placement(&self) -> Placement {
        self.inner.placement
    }

    /// Returns the team that holds the fields.
    pub fn team(&self) -> &Team {
        &self.inner.team
    }

    /// Returns `true` if two handles are of the same lattice.
    ///
    /// Extents, grids and open devices are then equal.
    pub fn is(&self, other: &Lattice) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
            || (self.dims() == other.dims()
                && self.grid() == other.grid()
                && self.placement() == other.placement()
                && self.team().devices() == other.team().devices())
    }

    /// Panics unless `other`, the lattice of a field, is this lattice.
    ///
    /// Buffers of other lattices have other sizes.
    pub(crate) fn expect_same(&self, other: &Lattice) {
        assert!(
            self.is(other),
            "a field on a lattice of {} is used with one on a lattice of {}, or with other devices or another grid",
            other.dims(),
            self.dims()
        );
    }

    /// Returns the number of devices of the team in this process that have no part.
    pub fn idle_devices(&self) -> usize {
        self.team().len() - self.shards().len()
    }

    /// Describes how fields are stored. Equal texts mean equal bytes of a field.
    pub fn storage_description(&self) -> String {
        if self.team().is_host() {
            return "on the host".to_owned();
        }
        // Whole time slices are described like before other cuts existed. So old kept states stay
        // readable.
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

    /// Returns the extents of the sub-lattice of a lane of the first device.
    ///
    /// The extents depend on the precision of the fields. `None` on the host, which has no lanes.
    pub fn lane_extents(&self, precision: StoragePrecision) -> Option<[usize; NDIM]> {
        Some(self.shards().first()?.layout(precision).sub_extents())
    }

    /// Returns this lattice with devices that wait for each other like `peers`.
    #[cfg(test)]
    pub(crate) fn with_peers(&self, peers: Arc<Peers>) -> Self {
        let Inner { team, dims, grid, placement, shards, everywhere, .. } = &*self.inner;
        let flags = Some(peers.way()).filter(|way| way.has_flags());
        let with_flags = |shards: &[Shard]| {
            shards.iter().map(|shard| Shard { flags, ..shard.clone() }).collect::<Vec<_>>()
        };
        let inner = Inner {
            team: team.clone(),
            dims: *dims,
            grid: *grid,
            placement: *placement,
            shards: with_flags(shards),
            everywhere: with_flags(everywhere),
            peers: Some(peers),
            sums: OnceLock::new(),
            kept: Mutex::default(),
        };
        Self { inner: Arc::new(inner) }
    }

    /// Returns the devices of the shards, if their kernels reach each other's memory.
    pub(crate) fn peers(&self) -> Option<&Arc<Peers>> {
        self.inner.peers.as_ref()
    }

    /// Returns the memory in which devices add sums; `None` if the host has to wait.
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

    /// Returns the one value of type `V` that goes with the lattice, made on first use.
    ///
    /// `V` must not hold a lattice.
    pub(crate) fn kept<V: Default + Send + Sync + 'static>(&self) -> Arc<V> {
        let mut kept = lock(&self.inner.kept);
        let value = kept.entry(TypeId::of::<V>()).or_insert_with(|| Arc::new(V::default()));
        Arc::clone(value).downcast().expect("values are stored under their own type")
    }

    /// Fails if a device waited for another device in vain.
    ///
    /// Results since then are worth nothing.
    pub(crate) fn check_peers(&self) -> Result<(), DeviceError> {
        self.peers().map_or(Ok(()), |peers| peers.check())
    }

    /// Returns the parts of the lattice in this process, one for each device in use.
    ///
    /// The host has no parts.
    pub(crate) fn shards(&self) -> &[Shard] {
        &self.inner.shards
    }

    /// Returns the parts of the lattice in all processes, in the order of the domains.
    ///
    /// A part of another rank is on a device of this process that is like its own. The part tells
    /// how fields lie in that rank's memory.
    pub(crate) fn everywhere(&self) -> &[Shard] {
        &self.inner.everywhere
    }
}
