//! A fermion field where the operators need it.

use super::ParityField;
use super::site_field::Sites;
use super::spinors::{Field, Spinors, StoredField, expect_count};
use crate::device::DeviceError;
use crate::geometry::{Lattice, LatticeError, NDIM};
use crate::host::Spinor;
use crate::scalar::Storage;
use std::fmt;

/// One Dirac spinor with colour for each site of a lattice, on its devices; or several such fields, that an operator is applied to
/// at once.
///
/// 12 complex numbers a site: 3·spin + colour.
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

    /// The lattice it lives on.
    pub fn lattice(&self) -> &Lattice {
        self.spinors.lattice()
    }

    /// How many fields these are.
    pub fn columns(&self) -> usize {
        self.spinors.columns()
    }

    /// The values on the host, one spinor for each site in lexicographic order; of several fields one after the other.
    pub fn to_host(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        self.spinors.to_host()
    }

    /// As [`to_host`](Self::to_host), into memory that is there.
    ///
    /// # Panics
    /// When it has not one spinor for each site of each field.
    pub fn copy_to_host(&self, spinors: &mut [Spinor<T::Real>]) -> Result<(), DeviceError> {
        self.spinors.copy_to_host(spinors)
    }

    /// parity = the part of this field on the sites of `parity`.
    ///
    /// # Panics
    /// When the fields live on different lattices, or are not equally many.
    pub fn copy_parity_to(&self, parity: &mut ParityField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_parity_to(&mut parity.spinors)
    }

    /// The part of this field on the sites of `parity` becomes `parity`; the other sites stay as they are.
    ///
    /// # Panics
    /// As [`copy_parity_to`](Self::copy_parity_to).
    pub fn copy_parity_from(&mut self, parity: &ParityField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_parity_from(&parity.spinors)
    }

    /// Copies `field` into column `column`.
    ///
    /// # Panics
    /// This and [`copy_column_to`](Self::copy_column_to) when the fields live on different lattices, `field` is several, or there is none of that number.
    pub fn copy_column_from(&mut self, column: usize, field: &SpinorField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_column_from(column, &field.spinors)
    }

    /// Copies column `column` into `field`.
    pub fn copy_column_to(&self, column: usize, field: &mut SpinorField<T>) -> Result<(), DeviceError> {
        self.spinors.copy_column_to(column, &mut field.spinors)
    }

    /// The same field in another precision.
    pub fn cast<R: Storage>(&self) -> Result<SpinorField<R>, DeviceError> {
        Ok(SpinorField { spinors: self.spinors.cast()? })
    }

    /// to = this field, in the precision of `to`.
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
    /// A spinor field equal to zero.
    pub fn spinor<T: Storage>(&self) -> Result<SpinorField<T>, LatticeError> {
        self.spinors(1)
    }

    /// This many spinor fields equal to zero, that an operator is applied to at once.
    pub fn spinors<T: Storage>(&self, columns: usize) -> Result<SpinorField<T>, LatticeError> {
        Ok(SpinorField::zero(self, columns)?)
    }

    /// A spinor field with these values, one for each site in lexicographic order.
    ///
    /// # Errors
    /// When there is not one spinor for each site, or a device fails.
    pub fn spinor_from_host<T: Storage>(
        &self,
        spinors: &[Spinor<T::Real>],
    ) -> Result<SpinorField<T>, LatticeError> {
        self.spinors_from_host(1, spinors)
    }

    /// As [`spinor_from_host`](Self::spinor_from_host) for this many fields, the values of one after those of the other.
    ///
    /// # Errors
    /// As [`spinor_from_host`](Self::spinor_from_host).
    pub fn spinors_from_host<T: Storage>(
        &self,
        columns: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<SpinorField<T>, LatticeError> {
        expect_count(self, columns * self.dims().volume(), spinors.len())?;
        Ok(SpinorField::from_host(self, columns, spinors)?)
    }

    /// A source that is 1 at one site (x, y, z, t), spin (0 to 3) and colour (0 to 2), and 0 elsewhere.
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
