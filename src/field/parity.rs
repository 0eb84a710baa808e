//! Half of a fermion field: the sites of one parity.

use super::site_field::Sites;
use super::spinors::{Field, Spinors, StoredField, expect_count};
use crate::compute::DeviceError;
use crate::geometry::{Lattice, LatticeError};
use crate::host::Spinor;
use crate::scalar::Storage;
use std::fmt;

/// One Dirac spinor with colour for each site of one parity, on the devices.
///
/// The field may have several columns, to which the hop is applied at once.
pub struct ParityField<T: Storage> {
    pub(crate) spinors: Spinors<T>,
}

impl<T: Storage> ParityField<T> {
    pub(crate) fn zero(lattice: &Lattice, parity: usize, columns: usize) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::zero(lattice, Sites::Parity(parity), columns)? })
    }

    /// Makes a field that is to be overwritten.
    pub(crate) fn uninitialised(
        lattice: &Lattice,
        parity: usize,
        columns: usize,
    ) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::uninitialised(lattice, Sites::Parity(parity), columns)? })
    }

    pub(super) fn from_host(
        lattice: &Lattice,
        parity: usize,
        columns: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::from_host(lattice, Sites::Parity(parity), columns, spinors)? })
    }

    /// Returns the lattice of the field.
    pub fn lattice(&self) -> &Lattice {
        self.spinors.lattice()
    }

    /// Returns 0 for the even sites, 1 for the odd ones.
    pub fn parity(&self) -> usize {
        self.spinors.sites().parities()[0]
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.spinors.columns()
    }

    /// Copies the values to the host, one spinor for each site of this parity.
    ///
    /// Sites are in lexicographic order. Several columns follow one after the other.
    pub fn to_host(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        self.spinors.to_host()
    }

    /// Makes column `column` equal to `field`.
    ///
    /// # Panics
    /// When the fields live on different lattices or parities, `field` has several columns, or there
    /// is no column `column`.
    pub fn copy_column_from(&mut self, column: usize, field: &ParityField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_column_from(column, &field.spinors)
    }

    /// Copies column `column` into `field`.
    ///
    /// # Panics
    /// The panics of [`copy_column_from`](Self::copy_column_from).
    pub fn copy_column_to(&self, column: usize, field: &mut ParityField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_column_to(column, &mut field.spinors)
    }

    /// Converts the field to another precision.
    pub fn cast<R: Storage>(&self) -> Result<ParityField<R>, DeviceError> {
        Ok(ParityField { spinors: self.spinors.cast()? })
    }

    /// Copies the field into `to`, in the precision of `to`.
    ///
    /// # Panics
    /// When the fields live on different lattices or sites.
    pub fn cast_to<R: Storage>(&self, to: &mut ParityField<R>) -> Result<(), DeviceError> {
        self.spinors.cast_to(&mut to.spinors)
    }
}

impl<T: Storage> Field<T> for ParityField<T> {
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

impl<T: Storage> StoredField for ParityField<T> {
    fn to_bytes(&self) -> Result<Vec<u8>, DeviceError> {
        self.spinors.to_bytes()
    }

    fn set_bytes(&mut self, bytes: &[u8]) -> Result<(), DeviceError> {
        self.spinors.set_bytes(bytes)
    }
}

impl<T: Storage> fmt::Debug for ParityField<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (dims, columns) = (self.lattice().dims(), self.columns());
        write!(f, "ParityField({dims} parity {} {} × {columns})", self.parity(), T::STORAGE)
    }
}

impl Lattice {
    /// Makes a spinor field on the sites of one parity from values of the host.
    ///
    /// There is one value for each of these sites, in lexicographic order.
    ///
    /// # Errors
    /// When there is not one spinor for each second site, or a device fails.
    pub fn parity_from_host<T: Storage>(
        &self,
        parity: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<ParityField<T>, LatticeError> {
        self.parities_from_host(parity, 1, spinors)
    }

    /// Makes a field of `columns` columns on the sites of one parity, equal to zero.
    pub fn parities<T: Storage>(
        &self,
        parity: usize,
        columns: usize,
    ) -> Result<ParityField<T>, LatticeError> {
        Ok(ParityField::zero(self, parity, columns)?)
    }

    /// Makes a field like [`parity_from_host`](Self::parity_from_host), with columns.
    ///
    /// The values of one column follow those of the column before.
    ///
    /// # Errors
    /// The errors of [`parity_from_host`](Self::parity_from_host).
    pub fn parities_from_host<T: Storage>(
        &self,
        parity: usize,
        columns: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<ParityField<T>, LatticeError> {
        expect_count(self, columns * self.dims().volume() / 2, spinors.len())?;
        Ok(ParityField::from_host(self, parity, columns, spinors)?)
    }
}
