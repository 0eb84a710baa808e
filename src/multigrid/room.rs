//! The memory that a set-up takes, compared with what there is.

use super::coarse_space::SiteNumbers;
use super::error::{SetupError, agreed};
use super::kept::DeviceNumbers;
use super::params::{Blocking, MultigridParams, RESTART};
use super::setup_kernels::reals_of_row;
use crate::compute::{DeviceError, DeviceKind};
use crate::geometry::{Lattice, NDIM, Shard};
use crate::host::multigrid::BLOCKS;
use crate::host::{Spinor, available_memory};
use crate::scalar::{Half, Real, Storage};
use crate::solve::Inner;

/// Bytes of a site on the host: its coordinates, its number, and its places in lists.
const BYTES_OF_SITE: usize = 128;

/// Most near-null vectors that are made at a time.
///
/// Each link and each block is then loaded once for all of them.
const MOST_AT_ONCE: usize = 8;

/// Bytes that a set-up takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Need {
    pub on_host: u64,
    /// On the first device, which has the coarse levels.
    pub on_device: u64,
    /// The part that stays on the device for solves.
    pub stays: u64,
}

impl Need {
    /// Returns the need of these levels, with so many sites on the first device.
    ///
    /// `sources` vectors and columns of coarse operators are made at a time.
    pub fn of<R: Real>(
        extents: [usize; NDIM],
        sites_of_device: usize,
        blockings: &[Blocking],
        sources: usize,
    ) -> Self {
        let mut sites = extents.iter().product::<usize>();
        let mut sites_here = sites_of_device;
        let mut components = Spinor::<R>::COMPONENTS;
        let (number, complex) = (DeviceNumbers::<R>::bytes_of_number() as usize, 2 * size_of::<R>());
        let (mut on_device, mut stays) = (0, 0);
        for Blocking { block, vectors } in blockings {
            let columns = 2 * vectors;
            let vector = sites_here * components * complex;
            let made = vectors * vector;
            let rows = reals_of_row(*vectors) / 2 * vector;
            let kept = sites_here * components / 2 * columns * number;
            let (of_vectors, of_columns) = (FIELDS_OF_VECTOR * sources, FIELDS_OF_COLUMN * sources);
            sites /= block.0.iter().product::<usize>();
            // Coarse levels are on one device.
            (sites_here, components) = (sites, columns);
            let padded = SiteNumbers { columns, lanes: 16 }.padded();
            let blocks = sites * BLOCKS * columns * padded;
            // Blocks as they are and those of the system, before they are kept, and as they are kept.
            let all_blocks = 2 * blocks * (complex + number);
            // The fields of vectors are there until the last vectors are made, beside those that are done.
            let applied = kept + of_columns * vector + blocks * complex;
            let steps = [made + of_vectors * vector, made + rows + kept, applied, kept + all_blocks];
            on_device = steps.into_iter().map(|step| stays + step).fold(on_device, usize::max);
            stays += kept + blocks * number;
        }
        // Members of aggregates, and the numbers of sites.
        let on_host = sites_of_device * BYTES_OF_SITE;
        Self { on_host: on_host as u64, on_device: on_device as u64, stays: stays as u64 }
    }

    /// With the memory of a device that is the host's.
    fn all_on_host(self) -> Self {
        Self { on_host: self.on_host + self.on_device, on_device: 0, stays: 0 }
    }

    /// Refuses a set-up for which there is too little memory.
    ///
    /// # Errors
    /// When there is.
    fn expect(self, device: Option<(&str, u64)>, host: Option<u64>) -> Result<(), SetupError> {
        let short = |owner: &str, needed, available| {
            Err(SetupError::Memory { owner: owner.to_owned(), needed, available })
        };
        match (device, host) {
            (Some((name, available)), _) if self.on_device > available => {
                short(name, self.on_device, available)
            }
            (_, Some(available)) if self.on_host > available => {
                short("this machine", self.on_host, available)
            }
            _ => Ok(()),
        }
    }
}

/// The coarsenings of a lattice, and the number of vectors made at a time.
///
/// The finest coarsening comes first.
pub(super) struct Plan {
    pub blockings: Vec<Blocking>,
    pub sources: usize,
}

/// Bytes that a method takes on a device beside links, or in the place of a device on the host.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    /// Vectors and coarse operators.
    pub levels: u64,
    /// Fields beside them while they are made.
    pub set_up: u64,
    /// Fields of columns that are solved for at once; 0 if there is one.
    pub columns: u64,
    /// Vectors and coarse operators on the host while they are made.
    pub on_host: u64,
}

/// Fields on all sites in single precision that BiCGStab takes for each near-null vector.
///
/// Its twelve vectors are on half of the sites.
const FIELDS_OF_VECTOR: usize = 6;

/// Fields on all sites in single precision for each column of a coarse operator that is made.
///
/// The column and its image are there in the order of transfers and in that of operators.
const FIELDS_OF_COLUMN: usize = 5;

/// Fields on all sites of a right-hand side in a solve: in the precision of cycles, and in double.
///
/// The directions of GCR come on top.
const FIELDS_OF_SOLUTION: [usize; 2] = [8, 6];

/// Bytes of a spinor in half precision, with its unit.
const BYTES_IN_HALF: usize = Spinor::<f32>::REALS * size_of::<<Half as Storage>::Stored>() + size_of::<f32>();

/// Directions of GCR that are usually in use when the residual is replaced.
const USUAL_DIRECTIONS: usize = 6;

/// Returns the bytes of a right-hand side in a solve with so many directions.
///
/// A direction and its image are on half of the sites.
fn bytes_of_solution(sites: usize, precision: Inner, directions: usize) -> u64 {
    let [of_cycles, double] = FIELDS_OF_SOLUTION;
    let spinor = match precision {
        Inner::Single => size_of::<Spinor<f32>>(),
        Inner::Half => BYTES_IN_HALF,
    };
    (sites * ((of_cycles + directions) * spinor + double * size_of::<Spinor<f64>>())) as u64
}

/// Returns the bytes that a method takes, one entry for each device or one for the host.
///
/// Devices behind the first one have no coarse operators.
///
/// # Errors
/// When no blocks fit.
pub(crate) fn bytes(
    params: &MultigridParams,
    lattice: &Lattice,
    columns: usize,
) -> Result<Vec<Bytes>, SetupError> {
    let blockings = params.blockings(lattice)?;
    let sources = plan::<f32>(params, lattice).map_or(1, |plan| plan.sources);
    let extents = lattice.dims().extents();
    let at_once = columns_at_once(lattice, params.precision, columns);
    let of = |sites: usize, blockings: &[Blocking]| {
        let Need { on_host, on_device, stays } = Need::of::<f32>(extents, sites, blockings, sources);
        let columns = if at_once > 1 {
            at_once as u64 * bytes_of_solution(sites, params.precision, USUAL_DIRECTIONS)
        } else {
            0
        };
        Bytes { levels: stays, set_up: on_device - stays, columns, on_host }
    };
    // Coarse levels are made of the vectors of the finest one.
    let rest = |shard: &Shard| {
        let Bytes { levels, .. } = of(shard.domain.volume(), &blockings[..1]);
        let coarse = of(0, &blockings[..1]).levels;
        Bytes { levels: levels - coarse, ..of(shard.domain.volume(), &blockings[..1]) }
    };
    Ok(match lattice.shards() {
        [] => vec![of(lattice.dims().volume(), &blockings)],
        [first, others @ ..] => {
            std::iter::once(of(first.domain.volume(), &blockings)).chain(others.iter().map(rest)).collect()
        }
    })
}

/// Returns the coarsenings of a lattice for which there is memory on every rank.
///
/// # Errors
/// When no blocks fit, and when there is too little memory.
pub(super) fn plan<R: Real>(params: &MultigridParams, lattice: &Lattice) -> Result<Plan, SetupError> {
    let found = params.blockings(lattice).and_then(|blockings| {
        let divides = |sources: &usize| blockings.iter().all(|level| level.vectors.is_multiple_of(*sources));
        let mut result = Ok(1);
        // More at a time if there is room.
        for sources in (1..=MOST_AT_ONCE).filter(divides) {
            let room = expect_room::<R>(lattice, &blockings, sources);
            if sources == 1 || room.is_ok() {
                result = room.map(|()| sources);
            }
        }
        result.map(|sources| Plan { blockings, sources })
    });
    let Plan { blockings, sources } = agreed(lattice.ranks(), found)?;
    let sources = match lattice.ranks() {
        None => sources,
        Some(world) => {
            let all = world.gather(&[sources as u8]).map_err(DeviceError::from)?;
            all.into_iter().min().map_or(sources, usize::from)
        }
    };
    Ok(Plan { blockings, sources })
}

/// Returns the number of columns that take at most two thirds of each device's memory.
///
/// The number is a divisor of `columns`, and equal on all ranks.
pub(super) fn columns_at_once(lattice: &Lattice, precision: Inner, columns: usize) -> usize {
    let column = |sites: usize| bytes_of_solution(sites, precision, RESTART);
    let fits = |columns: usize| match lattice.everywhere() {
        [] => available_memory()
            .is_none_or(|available| columns as u64 * column(lattice.dims().volume()) <= available / 3 * 2),
        shards => shards.iter().all(|shard| {
            columns as u64 * column(shard.domain.volume()) <= shard.device.info().memory_bytes / 3 * 2
        }),
    };
    let divides = |count: &usize| columns.is_multiple_of(*count) && fits(*count);
    (1..=columns).rev().find(divides).unwrap_or(1)
}

/// Refuses a set-up for which there is too little memory.
///
/// # Errors
/// If the host or the first device has too little.
fn expect_room<R: Real>(lattice: &Lattice, blockings: &[Blocking], sources: usize) -> Result<(), SetupError> {
    let extents = lattice.dims().extents();
    let Some(shard) = lattice.shards().first() else {
        let need = Need::of::<R>(extents, lattice.dims().volume(), blockings, sources);
        return need.all_on_host().expect(None, available_memory());
    };
    let mut need = Need::of::<R>(extents, shard.domain.volume(), blockings, sources);
    let info = shard.device.info();
    if info.kind == DeviceKind::Cpu {
        need = need.all_on_host();
    }
    need.expect(Some((&info.name, info.memory_bytes)), available_memory())
}

#[cfg(test)]
mod tests {
    use super::super::block::Block;
    use super::*;

    #[test]
    fn a_set_up_short_of_memory_says_what_it_needs_and_what_there_is() {
        let blockings = [Blocking { block: Block([4; NDIM]), vectors: 24 }];
        let need = Need::of::<f32>([32, 32, 32, 64], 1 << 21, &blockings, 3);
        // Vectors as they are made and as rows, and in 16 bits.
        let vectors = (1 << 21) * 12 * 24;
        assert_eq!(need.on_device, vectors * (8 + 8 + 4));
        assert!(need.expect(Some(("a device", 80 << 30)), Some(1 << 36)).is_ok());
        let error = need.expect(Some(("a device", 1 << 30)), Some(1 << 36)).unwrap_err().to_string();
        assert!(error.contains("12.08 GB of a device") && error.contains("has 1.07 GB"), "{error}");
        let error = need.expect(None, Some(1 << 20)).unwrap_err().to_string();
        assert!(error.contains("of this machine") && error.contains("fewer vectors"), "{error}");
    }
}
