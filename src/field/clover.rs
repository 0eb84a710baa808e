//! The clover term on a lattice: its blocks, and the inverses of what it is part of.

use super::site_field::{SiteField, Sites};
use crate::device::{Buffer, DeviceError};
use crate::geometry::{Dims, Lattice, LatticeError, NDIM, Shape};
use crate::host::{
    BlockForm, CloverBlocks, CloverMatrix, FieldStrength, GaugeConfiguration, SiteBlocks, SiteMatrix,
    expect_room,
};
use crate::scalar::{Real, Storage};
use crate::sync::lock;
use num_complex::{Complex, Complex64};
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};

/// The links that a clover term is made of. They may be others than those of the hops, for example smeared ones.
#[derive(Clone)]
pub struct CloverSource {
    configuration: Arc<GaugeConfiguration>,
}

impl CloverSource {
    pub fn new(configuration: Arc<GaugeConfiguration>) -> Self {
        Self { configuration }
    }

    pub fn dims(&self) -> Dims {
        self.configuration.dims()
    }

    /// scalar + factor T at a site.
    fn blocks(&self, site: usize, scalar: f64, factor: f64) -> CloverBlocks {
        let f = FieldStrength::at(&*self.configuration, site);
        CloverBlocks::of_field_strength(&f.0, scalar, factor, [1.0; 6])
    }

    /// The numbers of a matrix at a site; false where it does not exist.
    fn numbers(&self, matrix: Kept, site: usize, numbers: &mut [Complex64]) -> bool {
        match matrix {
            Kept::Term => {
                numbers.copy_from_slice(self.blocks(site, 0.0, 1.0).packed().as_flattened());
            }
            Kept::Inverse(CloverMatrix { scalar, twist, factor }) => {
                let blocks = self.blocks(site, scalar, factor);
                if twist == 0.0 {
                    let Some(inverse) = blocks.inverse() else { return false };
                    numbers.copy_from_slice(inverse.packed().as_flattened());
                } else {
                    let Some(inverse) = blocks.inverse_with_twist(twist) else { return false };
                    numbers.copy_from_slice(inverse.as_flattened());
                }
            }
        }
        true
    }
}

/// A matrix that is kept for all sites. That of the opposite twist is its adjoint.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kept {
    Term,
    Inverse(CloverMatrix),
}

/// Which stored blocks a factor takes, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BlockUse {
    /// How they are stored.
    pub form: BlockForm,
    /// Whether their adjoint is meant.
    pub adjoint: bool,
}

impl BlockUse {
    /// Those of this matrix; none without one.
    pub fn of(matrix: SiteMatrix) -> Option<Self> {
        match matrix {
            SiteMatrix::None => None,
            SiteMatrix::Clover { .. } => Some(Self { form: BlockForm::Hermitian, adjoint: false }),
            SiteMatrix::Inverse(of) if of.twist == 0.0 => {
                Some(Self { form: BlockForm::Hermitian, adjoint: false })
            }
            SiteMatrix::Inverse(of) => Some(Self { form: BlockForm::General, adjoint: of.twist < 0.0 }),
        }
    }
}

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
        form: BlockForm,
        numbers: impl Fn(usize, &mut [Complex64]) + Sync,
    ) -> Result<Self, DeviceError> {
        let (dims, shape) = (lattice.dims(), Shape::blocks(form.numbers()));
        let count = shape.components();
        let values = |site: usize, scale: f64, components: &mut [Complex<T::Real>]| {
            let mut exact = vec![Complex64::default(); count];
            numbers(site, &mut exact);
            for (component, z) in components.iter_mut().zip(exact) {
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
    source: CloverSource,
    /// What somebody still uses.
    made: Mutex<Vec<(Kept, Weak<BlockField<T>>)>>,
}

impl<T: Storage> CloverField<T> {
    pub fn new(lattice: &Lattice, source: CloverSource) -> Result<Self, LatticeError> {
        if source.dims() != lattice.dims() {
            return Err(LatticeError::Dims {
                what: "configuration of the clover term",
                wanted: lattice.dims(),
                found: source.dims(),
            });
        }
        Ok(Self { lattice: lattice.clone(), source, made: Mutex::default() })
    }

    /// The same in another precision: made anew, from the same links in double.
    pub fn cast<R: Storage>(&self) -> CloverField<R> {
        CloverField { lattice: self.lattice.clone(), source: self.source.clone(), made: Mutex::default() }
    }

    /// The blocks of a matrix; none without one. They are made when nobody has them.
    ///
    /// # Errors
    /// [`LatticeError::CloverNotPositive`], where there is no inverse.
    pub fn blocks(&self, matrix: SiteMatrix) -> Result<Option<Arc<BlockField<T>>>, LatticeError> {
        let (Some(usage), Some(kept)) = (BlockUse::of(matrix), kept(matrix)) else { return Ok(None) };
        let mut made = lock(&self.made);
        made.retain(|(_, field)| field.strong_count() > 0);
        if let Some(field) = made.iter().find(|(of, _)| *of == kept).and_then(|(_, field)| field.upgrade()) {
            return Ok(Some(field));
        }
        let failed = AtomicU64::new(u64::MAX);
        let field = BlockField::new(&self.lattice, usage.form, |site, numbers| {
            if !self.source.numbers(kept, site, numbers) {
                failed.fetch_min(site as u64, Ordering::Relaxed);
            }
        })?;
        let failed = failed.into_inner();
        if let (true, Kept::Inverse(of)) = (failed < u64::MAX, kept) {
            return Err(self.not_positive(failed as usize, of));
        }
        let field = Arc::new(field);
        made.push((kept, Arc::downgrade(&field)));
        Ok(Some(field))
    }

    fn not_positive(&self, site: usize, of: CloverMatrix) -> LatticeError {
        let coordinates: [usize; NDIM] = self.lattice.dims().coordinates(site);
        let eigenvalue = self.source.blocks(site, of.scalar, of.factor).smallest_eigenvalue();
        LatticeError::CloverNotPositive { site: coordinates, eigenvalue }
    }
}

fn kept(matrix: SiteMatrix) -> Option<Kept> {
    match matrix {
        SiteMatrix::None => None,
        SiteMatrix::Clover { .. } => Some(Kept::Term),
        SiteMatrix::Inverse(of) => Some(Kept::Inverse(CloverMatrix { twist: of.twist.abs(), ..of })),
    }
}
