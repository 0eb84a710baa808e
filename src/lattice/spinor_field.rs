//! A fermion field where the operators need it.

use super::Lattice;
use super::spinors::{Sites, Spinors};
use crate::device::DeviceError;
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
    pub(super) fn zero(lattice: &Lattice, sources: usize) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::zero(lattice, Sites::All, sources)? })
    }

    pub(super) fn from_host(
        lattice: &Lattice,
        sources: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<Self, DeviceError> {
        Ok(Self { spinors: Spinors::from_host(lattice, Sites::All, sources, spinors)? })
    }

    /// The lattice it lives on.
    pub fn lattice(&self) -> &Lattice {
        self.spinors.lattice()
    }

    /// How many fields these are.
    pub fn sources(&self) -> usize {
        self.spinors.sources()
    }

    /// The values on the host, one spinor for each site in lexicographic order; of several fields one after the other.
    pub fn to_host(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        self.spinors.to_host()
    }

    /// The same field in another precision.
    pub fn cast<R: Storage>(&self) -> Result<SpinorField<R>, DeviceError> {
        Ok(SpinorField { spinors: self.spinors.cast()? })
    }
}

impl<T: Storage> fmt::Debug for SpinorField<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpinorField({} {} × {})", self.lattice().dims(), T::STORAGE, self.sources())
    }
}
