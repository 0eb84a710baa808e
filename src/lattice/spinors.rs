//! Spinors on some of the sites of a lattice, one field or several: what the public types of fields are made of.

use super::layout::Shape;
use super::{Lattice, transfer};
use crate::device::{Buffer, DeviceError};
use crate::host::Spinor;
use crate::scalar::Storage;
use rayon::prelude::*;

/// The sites that a field lives on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sites {
    All,
    /// Those of one parity, 0 for even ones.
    Parity(usize),
}

impl Sites {
    fn parities(self) -> &'static [usize] {
        match self {
            Sites::All => &[0, 1],
            Sites::Parity(0) => &[0],
            Sites::Parity(_) => &[1],
        }
    }

    /// Of `count` sites of the lattice.
    pub fn of(self, count: usize) -> usize {
        count * self.parities().len() / 2
    }
}

/// One field, or several side by side, on the same sites of a lattice.
pub(crate) struct Spinors<T: Storage> {
    lattice: Lattice,
    sites: Sites,
    /// How many fields these are.
    sources: usize,
    pub storage: SpinorStorage<T>,
}

pub(crate) enum SpinorStorage<T: Storage> {
    /// One field after the other, each in lexicographic order of its sites. In half precision too the host holds `f32`.
    Host(Vec<Spinor<T::Real>>),
    /// One buffer for each slab of the lattice, in it one field after the other.
    Devices(Vec<Buffer<T::Stored>>),
}

impl<T: Storage> Spinors<T> {
    pub fn zero(lattice: &Lattice, sites: Sites, sources: usize) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let storage = if lattice.team().is_host() {
            SpinorStorage::Host(vec![Spinor::default(); sources * sites.of(dims.volume())])
        } else {
            let buffers = lattice.slabs().iter().map(|slab| {
                let half_field = slab.layout(dims, T::STORAGE).half_field(Shape::SPINOR);
                Buffer::zeroed(&slab.device, sources * sites.parities().len() * half_field)
            });
            SpinorStorage::Devices(buffers.collect::<Result<_, _>>()?)
        };
        Ok(Self { lattice: lattice.clone(), sites, sources, storage })
    }

    /// `spinors` has one field after the other, the sites of each in lexicographic order.
    pub fn from_host(
        lattice: &Lattice,
        sites: Sites,
        sources: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<Self, DeviceError> {
        let dims = lattice.dims();
        let mut field = Self::zero(lattice, sites, sources)?;
        match &mut field.storage {
            SpinorStorage::Host(own) => own.copy_from_slice(spinors),
            SpinorStorage::Devices(buffers) => {
                let parities = sites.parities();
                for (slab, buffer) in lattice.slabs().iter().zip(buffers) {
                    let layout = slab.layout(dims, T::STORAGE);
                    for (source, spinors) in spinors.chunks(sites.of(dims.volume())).enumerate() {
                        let start = source * parities.len() * layout.half_field(Shape::SPINOR);
                        let values = |site: usize, values: &mut [_]| {
                            // Each row along x has as many even sites as odd ones: half a site's number counts its parity.
                            values.copy_from_slice(spinors[sites.of(site)].0.as_flattened());
                        };
                        transfer::upload::<T>(buffer, start, dims, &layout, Shape::SPINOR, parities, values)?;
                    }
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

    pub fn sources(&self) -> usize {
        self.sources
    }

    /// One field after the other, the sites of each in lexicographic order.
    pub fn to_host(&self) -> Result<Vec<Spinor<T::Real>>, DeviceError> {
        let buffers = match &self.storage {
            SpinorStorage::Host(own) => return Ok(own.clone()),
            SpinorStorage::Devices(buffers) => buffers,
        };
        let dims = self.lattice.dims();
        let sites = self.sites.of(dims.volume());
        let parity = match self.sites {
            Sites::All => None,
            Sites::Parity(parity) => Some(parity),
        };
        let mut spinors = vec![Spinor::default(); self.sources * sites];
        for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
            let layout = slab.layout(dims, T::STORAGE);
            let first = slab.t_origin * sites / dims[3];
            for (source, spinors) in spinors.chunks_mut(sites).enumerate() {
                let part = &mut spinors[first..first + self.sites.of(layout.volume())];
                let start = source * self.sites.parities().len() * layout.half_field(Shape::SPINOR);
                transfer::download::<T, _>(
                    buffer,
                    start,
                    &layout,
                    Shape::SPINOR,
                    parity,
                    part,
                    |spinor, component| {
                        *spinor = Spinor::from_fn(|spin, colour| component(3 * spin + colour));
                    },
                )?;
            }
        }
        Ok(spinors)
    }

    /// The same fields in another precision.
    pub fn cast<R: Storage>(&self) -> Result<Spinors<R>, DeviceError> {
        let storage = match &self.storage {
            SpinorStorage::Host(own) => SpinorStorage::Host(own.par_iter().map(Spinor::cast).collect()),
            SpinorStorage::Devices(buffers) => {
                let dims = self.lattice.dims();
                let parities = self.sources * self.sites.parities().len();
                let mut cast = Vec::new();
                for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
                    let (from, to) = (slab.layout(dims, T::STORAGE), slab.layout(dims, R::STORAGE));
                    cast.push(transfer::cast::<T, R>(buffer, &from, &to, Shape::SPINOR, parities)?);
                }
                SpinorStorage::Devices(cast)
            }
        };
        Ok(Spinors { lattice: self.lattice.clone(), sites: self.sites, sources: self.sources, storage })
    }
}
