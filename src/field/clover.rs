//! The clover term on a lattice: its blocks, and the inverses that contain them.

use super::clover_blocks::{Made, clover_blocks};
use super::site_field::SiteField;
use crate::compute::parallel::*;
use crate::compute::{Buffer, DeviceError};
use crate::geometry::{Lattice, LatticeError, NDIM};
use crate::host::{
    BlockLayout, CloverMatrix, GaugeConfiguration, SiteBlocks, SiteMatrix, StoredBlocks, expect_room,
};
use crate::scalar::{Real, Storage};
use crate::sync::lock;
use num_complex::Complex;
use std::any::Any;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The blocks of all sites.
pub(crate) struct BlockField<T: Storage> {
    layout: BlockLayout,
    storage: BlockStorage<T>,
}

enum BlockStorage<T: Storage> {
    /// Site after site, in lexicographic order.
    Host(Vec<Complex<T::Real>>),
    /// Halved, because kernels turn spins without the factors 1/√2.
    Devices(SiteField<T>),
}

impl<T: Storage> BlockField<T> {
    fn new(
        lattice: &Lattice,
        configuration: &GaugeConfiguration,
        weights: [f64; 2],
        stored: StoredBlocks,
    ) -> Result<Made<Self>, DeviceError> {
        let made = if lattice.team().is_host() {
            blocks_on_host::<T>(configuration, weights, stored)?.map(BlockStorage::Host)
        } else {
            clover_blocks(lattice, configuration, weights, stored)?.map(BlockStorage::Devices)
        };
        Ok(made.map(|storage| Self { layout: stored.layout(), storage }))
    }

    /// Returns the blocks of a site.
    ///
    /// # Panics
    /// When the blocks are on devices.
    pub fn at(&self, site: usize, adjoint: bool) -> SiteBlocks<'_, T::Real> {
        let BlockStorage::Host(numbers) = &self.storage else { panic!("blocks are on devices") };
        let count = 2 * self.layout.numbers();
        SiteBlocks { layout: self.layout, adjoint, numbers: &numbers[site * count..][..count] }
    }

    /// Returns the buffer of each device.
    ///
    /// # Panics
    /// When the blocks are on the host.
    pub fn on_devices(&self) -> &[Buffer<T::Stored>] {
        let BlockStorage::Devices(field) = &self.storage else { panic!("blocks are on the host") };
        field.buffers()
    }
}

/// Returns the numbers of all sites, in lexicographic order.
fn blocks_on_host<T: Storage>(
    configuration: &GaugeConfiguration,
    weights: [f64; 2],
    stored: StoredBlocks,
) -> Result<Made<Vec<Complex<T::Real>>>, DeviceError> {
    let (volume, count) = (configuration.dims().volume(), 2 * stored.layout().numbers());
    expect_room((volume * count * size_of::<Complex<T::Real>>()) as u64)?;
    let mut all = vec![Complex::default(); volume * count];
    let failed = AtomicUsize::new(usize::MAX);
    all.par_chunks_mut(count).enumerate().for_each(|(site, numbers)| {
        let Some(exact) = stored.at(configuration, weights, site) else {
            failed.fetch_min(site, Ordering::Relaxed);
            return;
        };
        for (number, z) in numbers.iter_mut().zip(exact) {
            *number = Complex::new(T::Real::from_f64(z.re), T::Real::from_f64(z.im));
        }
    });
    let failed = failed.into_inner();
    Ok(if failed == usize::MAX { Ok(all) } else { Err(failed) })
}

/// The clover term of a gauge field, and the fields of blocks made from it.
pub(crate) struct CloverField<T: Storage> {
    lattice: Lattice,
    /// The links of the clover term.
    ///
    /// They may differ from the links of the hops, for example smeared ones.
    configuration: Arc<GaugeConfiguration>,
    /// The factors of the field strength in planes of space, and in planes with time.
    weights: [f64; 2],
    /// The fields of blocks requested last, the newest at the end.
    ///
    /// They are kept because each solve asks for the same blocks again.
    made: Mutex<Vec<(StoredBlocks, Arc<BlockField<T>>)>>,
    /// The clover term in other precisions, as far as requested.
    casts: Mutex<Vec<Arc<dyn Any + Send + Sync>>>,
}

/// Number of fields of blocks that are kept.
///
/// The term itself, and the inverses of both flavours of a twisted mass.
const KEPT: usize = 3;

impl<T: Storage> CloverField<T> {
    pub fn new(
        lattice: &Lattice,
        configuration: Arc<GaugeConfiguration>,
        weights: [f64; 2],
    ) -> Result<Self, LatticeError> {
        if configuration.dims() != lattice.dims() {
            return Err(LatticeError::Dims {
                what: "configuration of the clover term",
                wanted: lattice.dims(),
                found: configuration.dims(),
            });
        }
        Ok(Self {
            lattice: lattice.clone(),
            configuration,
            weights,
            made: Mutex::default(),
            casts: Mutex::default(),
        })
    }

    /// Returns the clover term in another precision.
    ///
    /// Its blocks are made from the same links in double.
    pub fn cast<R: Storage>(&self) -> Arc<CloverField<R>> {
        let mut casts = lock(&self.casts);
        if let Some(cast) = casts.iter().find_map(|cast| Arc::clone(cast).downcast().ok()) {
            return cast;
        }
        let (lattice, configuration) = (self.lattice.clone(), Arc::clone(&self.configuration));
        let (made, further) = (Mutex::default(), Mutex::default());
        let cast =
            Arc::new(CloverField { lattice, configuration, weights: self.weights, made, casts: further });
        casts.push(Arc::clone(&cast) as Arc<dyn Any + Send + Sync>);
        cast
    }

    /// Returns the blocks of a matrix; `None` without one.
    ///
    /// Makes the blocks if they are not kept.
    ///
    /// # Errors
    /// [`LatticeError::CloverNotPositive`] if there is no inverse.
    pub fn blocks(&self, matrix: SiteMatrix) -> Result<Option<Arc<BlockField<T>>>, LatticeError> {
        let Some(stored) = matrix.stored() else { return Ok(None) };
        let mut made = lock(&self.made);
        if let Some(at) = made.iter().position(|(of, _)| *of == stored) {
            let newest = made.remove(at);
            let field = Arc::clone(&newest.1);
            made.push(newest);
            return Ok(Some(field));
        }
        // Before others are made, so that both need not be in memory at once.
        if made.len() == KEPT {
            made.remove(0);
        }
        let field = match (BlockField::new(&self.lattice, &self.configuration, self.weights, stored)?, stored)
        {
            (Ok(field), _) => field,
            (Err(site), StoredBlocks::Inverse(of)) => return Err(self.not_positive(site, of)),
            (Err(_), StoredBlocks::Term) => unreachable!("a term exists at each site"),
        };
        let field = Arc::new(field);
        made.push((stored, Arc::clone(&field)));
        Ok(Some(field))
    }

    fn not_positive(&self, site: usize, of: CloverMatrix) -> LatticeError {
        let coordinates: [usize; NDIM] = self.lattice.dims().coordinates(site);
        let computed = || of.blocks_at(&*self.configuration, self.weights, site).smallest_eigenvalue();
        let Some(part) = self.configuration.part() else {
            return LatticeError::CloverNotPositive { site: coordinates, eigenvalue: computed() };
        };
        // The rank of the site has the links, and tells the others.
        let is_own = self.lattice.shards().iter().any(|shard| shard.domain.local(coordinates).is_some());
        let own = if is_own { computed().to_ne_bytes().to_vec() } else { Vec::new() };
        let all = part.company().all(Some(&own)).unwrap_or_default().concat();
        let eigenvalue = all.first_chunk().map_or(f64::NAN, |bytes| f64::from_ne_bytes(*bytes));
        LatticeError::CloverNotPositive { site: coordinates, eigenvalue }
    }
}
