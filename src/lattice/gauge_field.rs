//! The gauge field where the operators need it.

use super::{Lattice, LatticeError, transfer};
use crate::device::{Buffer, DeviceError};
use crate::host::{Boundary, GaugeConfiguration, LinkField, NDIM};
use crate::scalar::Real;
use num_complex::Complex;
use std::sync::Arc;

/// The links of a configuration on the devices of a lattice, with the boundary signs on them. Cheap to clone.
///
/// 36 complex numbers a site: 9·mu + 3·row + column.
#[derive(Clone)]
pub struct GaugeField<T: Real> {
    lattice: Lattice,
    storage: Arc<GaugeStorage<T>>,
}

pub(crate) enum GaugeStorage<T: Real> {
    Host(LinkField<T>),
    Devices(Vec<Buffer<T>>),
}

impl<T: Real> GaugeField<T> {
    const COMPONENTS: usize = 9 * NDIM;

    pub(super) fn new(
        lattice: &Lattice,
        configuration: &GaugeConfiguration,
        boundary: Boundary,
    ) -> Result<Self, LatticeError> {
        let dims = lattice.dims();
        if configuration.dims() != dims {
            return Err(LatticeError::Dims {
                what: "gauge configuration",
                wanted: dims,
                found: configuration.dims(),
            });
        }
        let storage = if lattice.team().is_host() {
            GaugeStorage::Host(LinkField::new(configuration, boundary))
        } else {
            let entry = |site: usize, component: usize| {
                let (mu, row, column) = (component / 9, component / 3 % 3, component % 3);
                let wraps = dims.coordinates(site)[mu] + 1 == dims[mu];
                let sign = if wraps { f64::from(boundary.signs()[mu]) } else { 1.0 };
                let z = configuration.entry(site, mu, row, column) * sign;
                Complex::new(T::from_f64(z.re), T::from_f64(z.im))
            };
            let mut buffers = Vec::new();
            for slab in lattice.slabs() {
                let layout = slab.layout(dims, T::PRECISION);
                let mut buffer = Buffer::zeroed(&slab.device, layout.reals(Self::COMPONENTS))?;
                transfer::upload(&mut buffer, dims, &layout, Self::COMPONENTS, entry)?;
                buffers.push(buffer);
            }
            GaugeStorage::Devices(buffers)
        };
        Ok(Self { lattice: lattice.clone(), storage: Arc::new(storage) })
    }

    /// The lattice it lives on.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The same field in another precision.
    pub fn cast<R: Real>(&self) -> Result<GaugeField<R>, DeviceError> {
        let storage = match self.storage() {
            GaugeStorage::Host(links) => GaugeStorage::Host(links.cast()),
            GaugeStorage::Devices(buffers) => {
                let dims = self.lattice.dims();
                let mut cast = Vec::new();
                for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
                    let (from, to) = (slab.layout(dims, T::PRECISION), slab.layout(dims, R::PRECISION));
                    cast.push(transfer::cast(buffer, dims, &from, &to, Self::COMPONENTS)?);
                }
                GaugeStorage::Devices(cast)
            }
        };
        Ok(GaugeField { lattice: self.lattice.clone(), storage: Arc::new(storage) })
    }

    pub(crate) fn storage(&self) -> &GaugeStorage<T> {
        &self.storage
    }
}
