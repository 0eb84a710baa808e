//! Spinors on some of the sites of a lattice, one field or several.
//!
//! The public types of fields are made of them.

use super::gathered;
use super::host_order;
use super::site_field::{SiteField, Sites};
use super::spin_basis;
use crate::compute::parallel::*;
use crate::compute::{Buffer, DeviceError, check_length, vec_in_huge_pages};
use crate::geometry::{Lattice, LatticeError, NDIM, Shape};
use crate::host::{Spinor, expect_room};
use crate::scalar::Storage;
use num_traits::One;

/// The action in a [`DeviceError::LengthMismatch`] of a restored field.
///
/// The error says that the bytes are not those of a kept field.
pub const RESTORING_A_FIELD: &str = "restore a field";

/// One field, or several side by side, on the same sites of a lattice.
pub struct Spinors<T: Storage> {
    lattice: Lattice,
    sites: Sites,
    /// Number of fields.
    columns: usize,
    storage: SpinorStorage<T>,
}

enum SpinorStorage<T: Storage> {
    /// One field after the other, each in lexicographic order of its sites.
    ///
    /// In half precision too the host holds `f32`.
    Host(Vec<Spinor<T::Real>>),
    /// In the basis of [`spin_basis`].
    Devices(SiteField<T>),
}

/// A public type of field.
///
/// A [`SpinorSpace`](super::SpinorSpace) makes its vectors of this type.
pub trait Field<T: Storage>: 'static {
    fn wrap(spinors: Spinors<T>) -> Self;

    fn spinors(&self) -> &Spinors<T>;

    fn spinors_mut(&mut self) -> &mut Spinors<T>;
}

/// A field as the bytes of its storage, in any precision and on any sites.
///
/// The bytes are kept, and restored to a field with the same storage.
pub trait StoredField {
    /// Returns the bytes.
    ///
    /// # Errors
    /// When a device fails.
    fn to_bytes(&self) -> Result<Vec<u8>, DeviceError>;

    /// Restores the field from the bytes.
    ///
    /// # Errors
    /// When the number of bytes is not the size of the storage, or a device fails.
    fn set_bytes(&mut self, bytes: &[u8]) -> Result<(), DeviceError>;
}

impl<T: Storage> Spinors<T> {
    pub fn zero(lattice: &Lattice, sites: Sites, columns: usize) -> Result<Self, DeviceError> {
        Self::made_by(SiteField::zero, lattice, sites, columns)
    }

    /// Makes fields that are to be overwritten.
    pub fn uninitialised(lattice: &Lattice, sites: Sites, columns: usize) -> Result<Self, DeviceError> {
        Self::made_by(SiteField::uninitialised, lattice, sites, columns)
    }

    fn made_by(
        make: impl Fn(&Lattice, Shape, Sites, usize) -> Result<SiteField<T>, DeviceError>,
        lattice: &Lattice,
        sites: Sites,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        let storage = if lattice.team().is_host() {
            let count = columns * sites.of(lattice.dims().volume());
            expect_room((count * size_of::<Spinor<T::Real>>()) as u64)?;
            SpinorStorage::Host(vec![Spinor::default(); count])
        } else {
            SpinorStorage::Devices(make(lattice, Shape::SPINOR, sites, columns)?)
        };
        Ok(Self { lattice: lattice.clone(), sites, columns, storage })
    }

    pub fn set_zero(&mut self) -> Result<(), DeviceError> {
        match &mut self.storage {
            SpinorStorage::Host(own) => own.fill(Spinor::default()),
            SpinorStorage::Devices(field) => field.set_zero()?,
        }
        Ok(())
    }

    /// Makes one field that is 1 in one component of one site, and zero elsewhere.
    pub fn point(
        lattice: &Lattice,
        site: [usize; NDIM],
        spin: usize,
        colour: usize,
    ) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let mut spinor = Spinor::<T::Real>::default();
        spinor.0[spin][colour].re = T::Real::one();
        let mut field = Self::zero(lattice, Sites::All, 1)?;
        match &mut field.storage {
            SpinorStorage::Host(own) => own[dims.site(site)] = spinor,
            SpinorStorage::Devices(own) => {
                own.set_site(site, spin_basis::turn(&spinor).0.as_flattened())?;
            }
        }
        Ok(field)
    }

    /// Makes fields of spinors of the host.
    ///
    /// `spinors` has one field after the other, the sites of each in lexicographic order.
    pub fn from_host(
        lattice: &Lattice,
        sites: Sites,
        columns: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let mut field = Self::zero(lattice, sites, columns)?;
        match &mut field.storage {
            SpinorStorage::Host(own) => own.copy_from_slice(spinors),
            SpinorStorage::Devices(own) => {
                for (source, spinors) in spinors.chunks(sites.of(dims.volume())).enumerate() {
                    own.set_column(source, |site: usize, values: &mut [_]| {
                        // Each row along x has as many even sites as odd ones: half a site's number
                        // counts its parity.
                        let spinor = spin_basis::turn(&spinors[sites.of(site)]);
                        values.copy_from_slice(spinor.0.as_flattened());
                    })?;
                }
            }
        }
        Ok(field)
    }

    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    pub fn sites(&self) -> Sites {
        self.sites
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Returns the data of fields of a lattice whose team is the host.
    ///
    /// # Panics
    /// When the fields are not on the host. The three functions below panic likewise. All fields of
    /// a lattice are in one place.
    pub fn on_host(&self) -> &[Spinor<T::Real>] {
        match &self.storage {
            SpinorStorage::Host(spinors) => spinors,
            SpinorStorage::Devices(_) => unreachable!("{ONE_PLACE}"),
        }
    }

    pub fn on_host_mut(&mut self) -> &mut [Spinor<T::Real>] {
        match &mut self.storage {
            SpinorStorage::Host(spinors) => spinors,
            SpinorStorage::Devices(_) => unreachable!("{ONE_PLACE}"),
        }
    }

    /// Returns one buffer for each device of the lattice.
    pub fn on_devices(&self) -> &[Buffer<T::Stored>] {
        match &self.storage {
            SpinorStorage::Devices(field) => field.buffers(),
            SpinorStorage::Host(_) => unreachable!("{ONE_PLACE}"),
        }
    }

    pub fn on_devices_mut(&mut self) -> &mut [Buffer<T::Stored>] {
        match &mut self.storage {
            SpinorStorage::Devices(field) => field.buffers_mut(),
            SpinorStorage::Host(_) => unreachable!("{ONE_PLACE}"),
        }
    }

    /// Returns the bytes of the storage, domain by domain, on every rank for all ranks.
    pub fn to_bytes(&self) -> Result<Vec<u8>, DeviceError> {
        expect_room(self.storage_bytes() as u64)?;
        let mut bytes = Vec::with_capacity(self.storage_bytes());
        match &self.storage {
            SpinorStorage::Host(own) => {
                own.iter().for_each(|spinor| bytes.extend_from_slice(bytemuck::bytes_of(&spinor.0)));
            }
            SpinorStorage::Devices(field) => field.append_bytes_to(&mut bytes)?,
        }
        Ok(bytes)
    }

    /// Restores the fields from the bytes of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// When the number of bytes is not the size of the storage, or a device fails.
    pub fn set_bytes(&mut self, bytes: &[u8]) -> Result<(), DeviceError> {
        check_length(RESTORING_A_FIELD, self.storage_bytes(), bytes.len())?;
        match &mut self.storage {
            SpinorStorage::Host(own) => {
                for (spinor, bytes) in own.iter_mut().zip(bytes.chunks(size_of::<Spinor<T::Real>>())) {
                    bytemuck::bytes_of_mut(&mut spinor.0).copy_from_slice(bytes);
                }
            }
            SpinorStorage::Devices(field) => field.set_bytes(bytes)?,
        }
        Ok(())
    }

    fn storage_bytes(&self) -> usize {
        match &self.storage {
            SpinorStorage::Host(own) => size_of_val(&own[..]),
            SpinorStorage::Devices(field) => field.bytes(),
        }
    }

    /// Returns one field after the other, each in lexicographic order of its sites.
    ///
    /// Every rank gets the sites of all ranks.
    pub fn to_host(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        let count = self.columns * self.sites.of(self.lattice.dims().volume());
        let mut spinors = vec_in_huge_pages(count)?;
        // All threads take part: the first touch of fresh memory takes longer than the transfer.
        (0..count).into_par_iter().map(|_| Spinor::default()).collect_into_vec(&mut spinors);
        self.copy_to_host(&mut spinors)?;
        Ok(spinors)
    }

    /// Copies the fields like [`to_host`](Self::to_host), into existing memory.
    ///
    /// # Panics
    /// When the number of spinors is wrong.
    pub fn copy_to_host(&self, spinors: &mut [Spinor<T::Real>]) -> Result<(), DeviceError> {
        let buffers = match &self.storage {
            SpinorStorage::Host(own) => {
                spinors.copy_from_slice(own);
                return Ok(());
            }
            SpinorStorage::Devices(field) => field.buffers(),
        };
        let dims = self.lattice.dims();
        let sites = self.sites.of(dims.volume());
        assert_eq!(spinors.len(), self.columns * sites, "one spinor for each site");
        for (shard, buffer) in self.lattice.shards().iter().zip(buffers) {
            let layout = shard.layout(T::STORAGE);
            for (source, spinors) in spinors.chunks_mut(sites).enumerate() {
                let start = source * self.sites.parities().len() * layout.half_field(Shape::SPINOR);
                host_order::download::<T>(buffer, start, &layout, self.sites == Sites::All, spinors)?;
            }
        }
        for spinors in spinors.chunks_mut(sites) {
            gathered::complete(&self.lattice, self.sites == Sites::All, spinors)?;
        }
        self.lattice.check_peers()
    }

    /// Copies the part of these fields on the sites of `to` to `to`.
    ///
    /// These fields are on all sites. Nothing passes through the host.
    ///
    /// # Panics
    /// When the fields live on different lattices, or their numbers differ.
    pub fn copy_parity_to(&self, to: &mut Self) -> Result<(), DeviceError> {
        let parity = to.parity_in(self);
        match (&self.storage, &mut to.storage) {
            (SpinorStorage::Host(all), SpinorStorage::Host(own)) => {
                let sites = sites_of(&self.lattice, parity, self.columns);
                own.par_iter_mut().zip(sites).for_each(|(own, site)| *own = all[site]);
            }
            (SpinorStorage::Devices(all), SpinorStorage::Devices(own)) => all.copy_parity_to(own)?,
            _ => unreachable!("{ONE_PLACE}"),
        }
        Ok(())
    }

    /// Copies `from` to the part of these fields on the sites of `from`.
    ///
    /// These fields are on all sites.
    ///
    /// # Panics
    /// The panics of [`copy_parity_to`](Self::copy_parity_to).
    pub fn copy_parity_from(&mut self, from: &Self) -> Result<(), DeviceError> {
        let parity = from.parity_in(self);
        match (&mut self.storage, &from.storage) {
            (SpinorStorage::Host(all), SpinorStorage::Host(own)) => {
                let sites: Vec<usize> = sites_of(&self.lattice, parity, self.columns).collect();
                sites.into_iter().zip(own).for_each(|(site, own)| all[site] = *own);
            }
            (SpinorStorage::Devices(all), SpinorStorage::Devices(own)) => all.copy_parity_from(own)?,
            _ => unreachable!("{ONE_PLACE}"),
        }
        Ok(())
    }

    /// Copies `from` into column `column`.
    ///
    /// Nothing passes through the host.
    ///
    /// # Panics
    /// This and [`copy_column_to`](Self::copy_column_to) panic when
    /// * the fields live on different lattices or sites,
    /// * the other is not one field, or
    /// * there is no field of this number.
    pub fn copy_column_from(&mut self, column: usize, from: &Self) -> Result<(), DeviceError> {
        self.check_column(column, from);
        match (&mut self.storage, &from.storage) {
            (SpinorStorage::Host(own), SpinorStorage::Host(from)) => {
                own[column * from.len()..][..from.len()].copy_from_slice(from);
            }
            (SpinorStorage::Devices(own), SpinorStorage::Devices(from)) => {
                own.copy_column_from(column, from)?
            }
            _ => unreachable!("{ONE_PLACE}"),
        }
        Ok(())
    }

    /// Copies column `column` into `to`. Nothing passes through the host.
    pub fn copy_column_to(&self, column: usize, to: &mut Self) -> Result<(), DeviceError> {
        self.check_column(column, to);
        match (&self.storage, &mut to.storage) {
            (SpinorStorage::Host(own), SpinorStorage::Host(to)) => {
                let count = to.len();
                to.copy_from_slice(&own[column * count..][..count]);
            }
            (SpinorStorage::Devices(own), SpinorStorage::Devices(to)) => own.copy_column_to(column, to)?,
            _ => unreachable!("{ONE_PLACE}"),
        }
        Ok(())
    }

    fn check_column(&self, column: usize, one: &Self) {
        self.lattice.expect_same(&one.lattice);
        assert_eq!((self.sites, 1), (one.sites, one.columns), "sites and number of fields");
        assert!(column < self.columns, "column {column} of {}", self.columns);
    }

    /// Returns the parity of these fields, which `all` contains too.
    fn parity_in(&self, all: &Self) -> usize {
        self.lattice.expect_same(&all.lattice);
        assert_eq!(self.columns, all.columns, "number of fields");
        match (self.sites, all.sites) {
            (Sites::Parity(parity), Sites::All) => parity,
            (own, all) => panic!("{own:?} is no parity of {all:?}"),
        }
    }

    /// Returns these fields in another precision.
    pub fn cast<R: Storage>(&self) -> Result<Spinors<R>, DeviceError> {
        let mut cast = Spinors::zero(&self.lattice, self.sites, self.columns)?;
        self.cast_to(&mut cast)?;
        Ok(cast)
    }

    /// Copies these fields to `to`, in the precision of `to`.
    ///
    /// # Panics
    /// When the fields live on different lattices or sites, or their numbers differ.
    pub fn cast_to<R: Storage>(&self, to: &mut Spinors<R>) -> Result<(), DeviceError> {
        self.convert(None, to)
    }

    /// Sets `sum` to `other` + these fields.
    ///
    /// The precision is that of `sum`, which is not half.
    ///
    /// # Panics
    /// The panics of [`cast_to`](Self::cast_to).
    pub fn sum_with<R: Storage>(&self, other: &Spinors<R>, sum: &mut Spinors<R>) -> Result<(), DeviceError> {
        sum.expect_same_kind(other);
        self.convert(Some(other), sum)
    }

    fn expect_same_kind<R: Storage>(&self, other: &Spinors<R>) {
        self.lattice.expect_same(&other.lattice);
        assert_eq!((self.sites, self.columns), (other.sites, other.columns), "sites and number of fields");
    }

    fn convert<R: Storage>(&self, plus: Option<&Spinors<R>>, to: &mut Spinors<R>) -> Result<(), DeviceError> {
        self.expect_same_kind(to);
        match (&self.storage, plus.map(|plus| &plus.storage), &mut to.storage) {
            (SpinorStorage::Host(own), None, SpinorStorage::Host(to)) => {
                to.par_iter_mut().zip(own).for_each(|(to, from)| *to = from.cast());
            }
            (SpinorStorage::Host(own), Some(SpinorStorage::Host(plus)), SpinorStorage::Host(to)) => {
                to.par_iter_mut().zip(own).zip(plus).for_each(|((to, from), plus)| {
                    let from: Spinor<R::Real> = from.cast();
                    *to = Spinor::from_fn(|spin, colour| plus.0[spin][colour] + from.0[spin][colour]);
                });
            }
            (SpinorStorage::Devices(own), None, SpinorStorage::Devices(to)) => own.convert_to(None, to)?,
            (SpinorStorage::Devices(own), Some(SpinorStorage::Devices(plus)), SpinorStorage::Devices(to)) => {
                own.convert_to(Some(plus), to)?;
            }
            _ => unreachable!("{ONE_PLACE}"),
        }
        Ok(())
    }
}

const ONE_PLACE: &str = "fields of one lattice are in one place";

/// Returns the sites of a parity in consecutive fields.
fn sites_of(lattice: &Lattice, parity: usize, columns: usize) -> impl Indexed<Item = usize> {
    let dims = lattice.dims();
    let half = dims.volume() / 2;
    (0..columns * half).into_par_iter().map(move |k| {
        // Each row along x has as many even sites as odd ones: half a site's number counts its
        // parity.
        let first = 2 * (k % half);
        k / half * dims.volume() + first + (dims.parity(first) + parity) % 2
    })
}

/// Fails unless there is one spinor for each site.
pub(super) fn expect_count(lattice: &Lattice, wanted: usize, found: usize) -> Result<(), LatticeError> {
    if wanted == found {
        return Ok(());
    }
    Err(LatticeError::SpinorCount { dims: lattice.dims(), wanted, found })
}
