//! The clover term on a lattice: its blocks, and the inverses of what it is part of.

use super::site_field::{SiteField, Sites};
use crate::device::{Buffer, DeviceError};
use crate::geometry::{Lattice, LatticeError, NDIM, Shape};
use crate::host::{
    BlockForm, CloverMatrix, GaugeConfiguration, SiteBlocks, SiteMatrix, StoredBlocks, expect_room,
};
use crate::scalar::{Real, Storage};
use crate::sync::lock;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
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
    /// Of the numbers of each site; zeros where there are none.
    fn new(
        lattice: &Lattice,
        form: BlockForm,
        numbers: impl Fn(usize) -> Option<Vec<Complex64>> + Sync,
    ) -> Result<Self, DeviceError> {
        let (dims, shape) = (lattice.dims(), Shape::blocks(form.numbers()));
        let count = shape.components();
        let values = |site: usize, scale: f64, components: &mut [Complex<T::Real>]| {
            for (component, z) in components.iter_mut().zip(numbers(site).into_iter().flatten()) {
                *component = Complex::new(T::Real::from_f64(z.re * scale), T::Real::from_f64(z.im * scale));
            }
        };
        if lattice.team().is_host() {
            expect_room((dims.volume() * count * size_of::<Complex<T::Real>>()) as u64)?;
            let mut all = vec![Complex::default(); dims.volume() * count];
            all.par_chunks_mut(count)
                .enumerate()
                .for_each(|(site, site_values)| values(site, 1.0, site_values));
            return Ok(Self { form, storage: BlockStorage::Host(all) });
        }
        let halved = |site: usize, components: &mut [Complex<T::Real>]| values(site, 0.5, components);
        let field = SiteField::from_values(lattice, shape, Sites::All, halved)?;
        Ok(Self { form, storage: BlockStorage::Devices(field) })
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

/// The clover term of a gauge field, and what was made of it.
pub(crate) struct CloverField<T: Storage> {
    lattice: Lattice,
    /// The links that it is made of. They may be others than those of the hops, for example smeared ones.
    configuration: Arc<GaugeConfiguration>,
    /// What somebody still uses.
    made: Mutex<Vec<(StoredBlocks, Weak<BlockField<T>>)>>,
}

impl<T: Storage> CloverField<T> {
    pub fn new(lattice: &Lattice, configuration: Arc<GaugeConfiguration>) -> Result<Self, LatticeError> {
        if configuration.dims() != lattice.dims() {
            return Err(LatticeError::Dims {
                what: "configuration of the clover term",
                wanted: lattice.dims(),
                found: configuration.dims(),
            });
        }
        Ok(Self { lattice: lattice.clone(), configuration, made: Mutex::default() })
    }

    /// The same in another precision: made anew, from the same links in double.
    pub fn cast<R: Storage>(&self) -> CloverField<R> {
        let (lattice, configuration) = (self.lattice.clone(), Arc::clone(&self.configuration));
        CloverField { lattice, configuration, made: Mutex::default() }
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
        let failed = AtomicU64::new(u64::MAX);
        let field = BlockField::new(&self.lattice, stored.form(), |site| {
            let numbers = stored.at(&*self.configuration, site);
            if numbers.is_none() {
                failed.fetch_min(site as u64, Ordering::Relaxed);
            }
            numbers
        })?;
        let failed = failed.into_inner();
        if let (true, StoredBlocks::Inverse(of)) = (failed < u64::MAX, stored) {
            return Err(self.not_positive(failed as usize, of));
        }
        let field = Arc::new(field);
        made.push((stored, Arc::downgrade(&field)));
        Ok(Some(field))
    }

    fn not_positive(&self, site: usize, of: CloverMatrix) -> LatticeError {
        let coordinates: [usize; NDIM] = self.lattice.dims().coordinates(site);
        let eigenvalue = of.blocks_at(&*self.configuration, site).smallest_eigenvalue();
        LatticeError::CloverNotPositive { site: coordinates, eigenvalue }
    }
}
