//! The clover term on a lattice: its blocks, and the inverses of what it is part of.

use super::clover_blocks::{Made, clover_blocks};
use super::site_field::SiteField;
use crate::device::{Buffer, DeviceError};
use crate::geometry::{Lattice, LatticeError, NDIM};
use crate::host::{
    BlockForm, CloverMatrix, GaugeConfiguration, SiteBlocks, SiteMatrix, StoredBlocks, expect_room,
};
use crate::scalar::{Real, Storage};
use crate::sync::lock;
use num_complex::Complex;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The blocks of all sites.
pub(crate) struct BlockField<T: Storage> {
    form: BlockForm,
    storage: BlockStorage<T>,
}

enum BlockStorage<T: Storage> {
    /// Site after site, lexicographic.
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
        Ok(made.map(|storage| Self { form: stored.form(), storage }))
    }

    /// The blocks of a site.
    ///
    /// # Panics
    /// When they are on devices.
    pub fn at(&self, site: usize, adjoint: bool) -> SiteBlocks<'_, T::Real> {
        let BlockStorage::Host(numbers) = &self.storage else { panic!("blocks are on devices") };
        let count = 2 * self.form.numbers();
        SiteBlocks { form: self.form, adjoint, numbers: &numbers[site * count..][..count] }
    }

    /// The buffer of each device.
    ///
    /// # Panics
    /// When they are on the host.
    pub fn on_devices(&self) -> &[Buffer<T::Stored>] {
        let BlockStorage::Devices(field) = &self.storage else { panic!("blocks are on the host") };
        field.buffers()
    }
}

/// The numbers of all sites, lexicographic.
fn blocks_on_host<T: Storage>(
    configuration: &GaugeConfiguration,
    weights: [f64; 2],
    stored: StoredBlocks,
) -> Result<Made<Vec<Complex<T::Real>>>, DeviceError> {
    let (volume, count) = (configuration.dims().volume(), 2 * stored.form().numbers());
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

/// The clover term of a gauge field, and what was made of it.
pub(crate) struct CloverField<T: Storage> {
    lattice: Lattice,
    /// The links that it is made of. They may be others than those of the hops, for example smeared ones.
    configuration: Arc<GaugeConfiguration>,
    /// What multiplies the field strength in planes of space, and in planes with time.
    weights: [f64; 2],
    /// What somebody still uses.
    made: Mutex<Vec<(StoredBlocks, Weak<BlockField<T>>)>>,
}

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
        Ok(Self { lattice: lattice.clone(), configuration, weights, made: Mutex::default() })
    }

    /// The same in another precision: made anew, from the same links in double.
    pub fn cast<R: Storage>(&self) -> CloverField<R> {
        let (lattice, configuration) = (self.lattice.clone(), Arc::clone(&self.configuration));
        CloverField { lattice, configuration, weights: self.weights, made: Mutex::default() }
    }

    /// The blocks of a matrix; none without one. They are made when nobody has them.
    ///
    /// # Errors
    /// [`LatticeError::CloverNotPositive`], where there is no inverse.
    pub fn blocks(&self, matrix: SiteMatrix) -> Result<Option<Arc<BlockField<T>>>, LatticeError> {
        let Some(stored) = matrix.stored() else { return Ok(None) };
        let mut made = lock(&self.made);
        made.retain(|(_, field)| field.strong_count() > 0);
        if let Some(field) = made.iter().find(|(of, _)| *of == stored).and_then(|(_, field)| field.upgrade())
        {
            return Ok(Some(field));
        }
        let field = match (BlockField::new(&self.lattice, &self.configuration, self.weights, stored)?, stored)
        {
            (Ok(field), _) => field,
            (Err(site), StoredBlocks::Inverse(of)) => return Err(self.not_positive(site, of)),
            (Err(_), StoredBlocks::Term) => unreachable!("a term exists at each site"),
        };
        let field = Arc::new(field);
        made.push((stored, Arc::downgrade(&field)));
        Ok(Some(field))
    }

    fn not_positive(&self, site: usize, of: CloverMatrix) -> LatticeError {
        let coordinates: [usize; NDIM] = self.lattice.dims().coordinates(site);
        let eigenvalue = of.blocks_at(&*self.configuration, self.weights, site).smallest_eigenvalue();
        LatticeError::CloverNotPositive { site: coordinates, eigenvalue }
    }
}
