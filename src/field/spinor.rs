//! A fermion field on the devices of a lattice or on the host.

use super::ParityField;
use super::site_field::Sites;
use super::spinors::{Field, Spinors, StoredField, expect_count};
use crate::compute::DeviceError;
use crate::geometry::{Lattice, LatticeError, NDIM};
use crate::host::Spinor;
use crate::scalar::Storage;
use std::fmt;

/// One Dirac spinor with colour for each site of a lattice, on its devices.
///
/// The field may have several columns, to which an operator is applied at once. A site has 12
/// complex numbers, with the index 3·spin + colour.
pub struct SpinorField<T: Storage> {
    pub(crate) spinors: Spinors<T>,
}

impl<T: Storage> SpinorField<T> {
    pub(crate) fn zero(lattice: &Lattice, columns: usize) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::zero(lattice, Sites::All, columns)? })
    }

    pub(super) fn from_host(
        lattice: &Lattice,
        columns: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::from_host(lattice, Sites::All, columns, spinors)? })
    }

    /// Returns the lattice of the field.
    pub fn lattice(&self) -> &Lattice {
        self.spinors.lattice()
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.spinors.columns()
    }

    /// Copies the values to the host, one spinor for each site in lexicographic order.
    ///
    /// Several columns follow one after the other.
    pub fn to_host(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        self.spinors.to_host()
    }

    /// Copies the values like [`to_host`](Self::to_host), into memory of the caller.
    ///
    /// # Panics
    /// When `spinors` does not have one spinor for each site of each column.
    pub fn copy_to_host(&self, spinors: &mut [Spinor<T::Real>]) -> Result<(), DeviceError> {
        self.spinors.copy_to_host(spinors)
    }

    /// Copies the part on the sites of `parity` into `parity`.
    ///
    /// # Panics
    /// When the fields live on different lattices, or differ in the number of columns.
    pub fn copy_parity_to(&self, parity: &mut ParityField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_parity_to(&mut parity.spinors)
    }

    /// Replaces the part on the sites of `parity` by `parity`.
    ///
    /// The other sites stay unchanged.
    ///
    /// # Panics
    /// The panics of [`copy_parity_to`](Self::copy_parity_to).
    pub fn copy_parity_from(&mut self, parity: &ParityField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_parity_from(&parity.spinors)
    }

    /// Copies `field` into column `column`.
    ///
    /// # Panics
    /// When the fields live on different lattices, `field` has several columns, or there is no
    /// column `column`.
    pub fn copy_column_from(&mut self, column: usize, field: &SpinorField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_column_from(column, &field.spinors)
    }

    /// Copies column `column` into `field`.
    ///
    /// # Panics
    /// The panics of [`copy_column_from`](Self::copy_column_from).
    pub fn copy_column_to(&self, column: usize, field: &mut SpinorField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_column_to(column, &mut field.spinors)
    }

    /// Converts the field to another precision.
    pub fn cast<R: Storage>(&self) -> Result<SpinorField<R>, DeviceError> {
        Ok(SpinorField { spinors: self.spinors.cast()? })
    }

    /// Copies the field into `to`, in the precision of `to`.
    ///
    /// # Panics
    /// When the fields live on different lattices or sites.
    pub fn cast_to<R: Storage>(&self, to: &mut SpinorField<R>) -> Result<(), DeviceError> {
        self.spinors.cast_to(&mut to.spinors)
    }
}

impl<T: Storage> Field<T> for SpinorField<T> {
    fn wrap(spinors: Spinors<T>) -> Self {
        Self { spinors }
    }

    fn spinors(&self) -> &Spinors<T> {
        &self.spinors
    }

    fn spinors_mut(&mut self) -> &mut Spinors<T> {
        &mut self.spinors
    }
}

impl<T: Storage> StoredField for SpinorField<T> {
    fn to_bytes(&self) -> Result<Vec<u8>, DeviceError> {
        self.spinors.to_bytes()
    }

    fn set_bytes(&mut self, bytes: &[u8]) -> Result<(), DeviceError> {
        self.spinors.set_bytes(bytes)
    }
}

impl<T: Storage> fmt::Debug for SpinorField<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpinorField({} {} × {})", self.lattice().dims(), T::STORAGE, self.columns())
    }
}

impl Lattice {
    /// Makes a spinor field equal to zero.
    pub fn spinor<T: Storage>(&self) -> Result<SpinorField<T>, LatticeError> {
        self.spinors(1)
    }

    /// Makes a spinor field of `columns` columns, equal to zero.
    ///
    /// An operator is applied to all columns at once.
    pub fn spinors<T: Storage>(&self, columns: usize) -> Result<SpinorField<T>, LatticeError> {
        Ok(SpinorField::zero(self, columns)?)
    }

    /// Makes a spinor field from values, one for each site in lexicographic order.
    ///
    /// # Errors
    /// When there is not one spinor for each site, or a device fails.
    pub fn spinor_from_host<T: Storage>(
        &self,
        spinors: &[Spinor<T::Real>],
    ) -> Result<SpinorField<T>, LatticeError> {
        self.spinors_from_host(1, spinors)
    }

    /// Makes a field like [`spinor_from_host`](Self::spinor_from_host), with columns.
    ///
    /// The values of one column follow those of the column before.
    ///
    /// # Errors
    /// The errors of [`spinor_from_host`](Self::spinor_from_host).
    pub fn spinors_from_host<T: Storage>(
        &self,
        columns: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<SpinorField<T>, LatticeError> {
        expect_count(self, columns * self.dims().volume(), spinors.len())?;
        Ok(SpinorField::from_host(self, columns, spinors)?)
    }

    /// Makes a source that is 1 at one site, spin and colour, and 0 elsewhere.
    ///
    /// The site is (x, y, z, t), the spin 0 to 3, the colour 0 to 2.
    ///
    /// # Errors
    /// When the site, spin or colour does not exist, or a device fails.
    pub fn point_source<T: Storage>(
        &self,
        site: [usize; NDIM],
        spin: usize,
        colour: usize,
    ) -> Result<SpinorField<T>, LatticeError> {
        let dims = self.dims();
        let ranges = [
            ("source coordinate x", site[0], dims[0]),
            ("source coordinate y", site[1], dims[1]),
            ("source coordinate z", site[2], dims[2]),
            ("source coordinate t", site[3], dims[3]),
            ("source spin", spin, 4),
            ("source colour", colour, 3),
        ];
        for (what, found, count) in ranges {
            if found >= count {
                return Err(LatticeError::OutOfRange { what, found, last: count - 1 });
            }
        }
        Ok(SpinorField { spinors: Spinors::point(self, site, spin, colour)? })
    }
}
