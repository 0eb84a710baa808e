//! Half of a fermion field: the sites of one parity.

use super::{Lattice, SpinorField, transfer};
use crate::device::{Buffer, DeviceError};
use crate::host::Spinor;
use crate::scalar::Real;
use std::fmt;

/// One Dirac spinor with colour for each even, or each odd site of a lattice, on its devices.
pub struct ParityField<T: Real> {
    lattice: Lattice,
    parity: usize,
    pub(crate) storage: ParityStorage<T>,
}

pub(crate) enum ParityStorage<T: Real> {
    /// Lexicographic order of the sites of this parity.
    Host(Vec<Spinor<T>>),
    /// One buffer for each slab of the lattice.
    Devices(Vec<Buffer<T>>),
}

impl<T: Real> ParityField<T> {
    pub(crate) fn zero(lattice: &Lattice, parity: usize) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let storage = if lattice.team().is_host() {
            ParityStorage::Host(vec![Spinor::default(); dims.volume() / 2])
        } else {
            let buffers = lattice.slabs().iter().map(|slab| {
                let reals = slab.layout(dims, T::PRECISION).reals(SpinorField::<T>::COMPONENTS);
                Buffer::zeroed(&slab.device, reals / 2)
            });
            ParityStorage::Devices(buffers.collect::<Result<_, _>>()?)
        };
        Ok(Self { lattice: lattice.clone(), parity, storage })
    }

    pub(super) fn from_host(
        lattice: &Lattice,
        parity: usize,
        spinors: &[Spinor<T>],
    ) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let mut field = Self::zero(lattice, parity)?;
        match &mut field.storage {
            ParityStorage::Host(own) => own.copy_from_slice(spinors),
            ParityStorage::Devices(buffers) => {
                for (slab, buffer) in lattice.slabs().iter().zip(buffers) {
                    let layout = slab.layout(dims, T::PRECISION);
                    let components = SpinorField::<T>::COMPONENTS;
                    // Each row along x has as many even sites as odd ones: half a site's number counts its parity.
                    transfer::upload(buffer, dims, &layout, components, &[parity], |site, values| {
                        values.copy_from_slice(spinors[site / 2].0.as_flattened());
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

    /// 0 for the even sites, 1 for the odd ones.
    pub fn parity(&self) -> usize {
        self.parity
    }

    /// The values on the host, one spinor for each site of this parity in lexicographic order.
    pub fn to_host(&self) -> Result<Vec<Spinor<T>>, DeviceError> {
        match &self.storage {
            ParityStorage::Host(own) => Ok(own.clone()),
            ParityStorage::Devices(buffers) => {
                let dims = self.lattice.dims();
                let mut spinors = vec![Spinor::default(); dims.volume() / 2];
                let slice_sites = dims.volume() / dims[3] / 2;
                for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
                    let layout = slab.layout(dims, T::PRECISION);
                    let first = slab.t_origin * slice_sites;
                    let part = &mut spinors[first..first + layout.volume() / 2];
                    let components = SpinorField::<T>::COMPONENTS;
                    transfer::download(
                        buffer,
                        &layout,
                        components,
                        Some(self.parity),
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
}

impl<T: Real> fmt::Debug for ParityField<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ParityField({} parity {} {})", self.lattice.dims(), self.parity, T::PRECISION)
    }
}
