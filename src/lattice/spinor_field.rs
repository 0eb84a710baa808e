//! A fermion field where the operators need it.

use super::{Lattice, transfer};
use crate::device::{Buffer, DeviceError};
use crate::host::Spinor;
use crate::scalar::Real;
use rayon::prelude::*;
use std::fmt;

/// One Dirac spinor with colour for each site of a lattice, on its devices.
///
/// 12 complex numbers a site: 3·spin + colour.
pub struct SpinorField<T: Real> {
    lattice: Lattice,
    pub(crate) storage: SpinorStorage<T>,
}

pub(crate) enum SpinorStorage<T: Real> {
    /// Lexicographic order of sites.
    Host(Vec<Spinor<T>>),
    /// One buffer for each slab of the lattice.
    Devices(Vec<Buffer<T>>),
}

impl<T: Real> SpinorField<T> {
    pub(crate) const COMPONENTS: usize = Spinor::<T>::COMPONENTS;

    pub(super) fn zero(lattice: &Lattice) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let storage = if lattice.team().is_host() {
            SpinorStorage::Host(vec![Spinor::default(); dims.volume()])
        } else {
            let buffers = lattice.slabs().iter().map(|slab| {
                Buffer::zeroed(&slab.device, slab.layout(dims, T::PRECISION).reals(Self::COMPONENTS))
            });
            SpinorStorage::Devices(buffers.collect::<Result<_, _>>()?)
        };
        Ok(Self { lattice: lattice.clone(), storage })
    }

    pub(super) fn from_host(lattice: &Lattice, spinors: &[Spinor<T>]) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let mut field = Self::zero(lattice)?;
        match &mut field.storage {
            SpinorStorage::Host(own) => own.copy_from_slice(spinors),
            SpinorStorage::Devices(buffers) => {
                for (slab, buffer) in lattice.slabs().iter().zip(buffers) {
                    let layout = slab.layout(dims, T::PRECISION);
                    transfer::upload(buffer, dims, &layout, Self::COMPONENTS, &[0, 1], |site, values| {
                        values.copy_from_slice(spinors[site].0.as_flattened());
                    })?;
                }
            }
        }
        Ok(field)
    }

    /// The lattice it lives on.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The values on the host, one spinor for each site in lexicographic order.
    pub fn to_host(&self) -> Result<Vec<Spinor<T>>, DeviceError> {
        match &self.storage {
            SpinorStorage::Host(own) => Ok(own.clone()),
            SpinorStorage::Devices(buffers) => {
                let dims = self.lattice.dims();
                let mut spinors = vec![Spinor::default(); dims.volume()];
                let slice_sites = dims.volume() / dims[3];
                for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
                    let layout = slab.layout(dims, T::PRECISION);
                    let first = slab.t_origin * slice_sites;
                    let part = &mut spinors[first..first + layout.volume()];
                    transfer::download(
                        buffer,
                        &layout,
                        Self::COMPONENTS,
                        None,
                        part,
                        |spinor, component| {
                            *spinor = Spinor::from_fn(|spin, colour| component(3 * spin + colour));
                        },
                    )?;
                }
                Ok(spinors)
            }
        }
    }

    /// The same field in another precision.
    pub fn cast<R: Real>(&self) -> Result<SpinorField<R>, DeviceError> {
        let storage = match &self.storage {
            SpinorStorage::Host(own) => SpinorStorage::Host(own.par_iter().map(Spinor::cast).collect()),
            SpinorStorage::Devices(buffers) => {
                let dims = self.lattice.dims();
                let mut cast = Vec::new();
                for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
                    let (from, to) = (slab.layout(dims, T::PRECISION), slab.layout(dims, R::PRECISION));
                    cast.push(transfer::cast(buffer, dims, &from, &to, Self::COMPONENTS)?);
                }
                SpinorStorage::Devices(cast)
            }
        };
        Ok(SpinorField { lattice: self.lattice.clone(), storage })
    }
}

impl<T: Real> fmt::Debug for SpinorField<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SpinorField({} {})", self.lattice.dims(), T::PRECISION)
    }
}
