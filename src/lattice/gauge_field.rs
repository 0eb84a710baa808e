//! The gauge field where the operators need it.

use super::{Lattice, LatticeError, transfer};
use crate::device::{Buffer, DeviceError};
use crate::host::{Boundary, GaugeConfiguration, LinkField, NDIM, Reconstruction, unitarity};
use crate::scalar::{Precision, Real};
use num_complex::Complex;
use std::sync::Arc;

/// The links of a configuration on the devices of a lattice, with their boundary condition. Cheap to clone.
///
/// Links are stored in 18, 12 or 8 reals ([`Reconstruction`]). With 18 they have the boundary signs on them; with fewer they
/// are elements of SU(3), and the kernels apply the signs.
#[derive(Clone)]
pub struct GaugeField<T: Real> {
    lattice: Lattice,
    boundary: Boundary,
    reconstruction: Reconstruction,
    storage: Arc<GaugeStorage<T>>,
}

pub(crate) enum GaugeStorage<T: Real> {
    /// Always whole matrices: memory of the host is not what limits the twins.
    Host(LinkField<T>),
    Devices(Vec<Buffer<T>>),
}

impl<T: Real> GaugeField<T> {
    pub(super) fn new(
        lattice: &Lattice,
        configuration: &GaugeConfiguration,
        boundary: Boundary,
        reconstruction: Reconstruction,
    ) -> Result<Self, LatticeError> {
        let dims = lattice.dims();
        if configuration.dims() != dims {
            return Err(LatticeError::Dims {
                what: "gauge configuration",
                wanted: dims,
                found: configuration.dims(),
            });
        }
        if reconstruction != Reconstruction::None {
            check_special_unitary::<T>(configuration, reconstruction)?;
        }
        let storage = if lattice.team().is_host() {
            GaugeStorage::Host(LinkField::new(configuration, boundary))
        } else {
            let signs = match reconstruction {
                Reconstruction::None => boundary,
                Reconstruction::Twelve | Reconstruction::Eight => Boundary::periodic(),
            };
            let stored = reconstruction.reals() / 2;
            let link = |site: usize, mu: usize| {
                let wraps = dims.coordinates(site)[mu] + 1 == dims[mu];
                let sign = if wraps { f64::from(signs.signs()[mu]) } else { 1.0 };
                reconstruction.encode::<T>(&configuration.link(site, mu).scale(sign))
            };
            let values = |site: usize, components: &mut [Complex<T>]| {
                for (mu, components) in components.chunks_mut(stored).enumerate() {
                    components.copy_from_slice(&link(site, mu)[..stored]);
                }
            };
            let mut buffers = Vec::new();
            for slab in lattice.slabs() {
                let layout = slab.layout(dims, T::PRECISION);
                let components = NDIM * stored;
                let mut buffer = Buffer::zeroed(&slab.device, layout.reals(components))?;
                transfer::upload(&mut buffer, dims, &layout, components, &[0, 1], values)?;
                buffers.push(buffer);
            }
            GaugeStorage::Devices(buffers)
        };
        Ok(Self { lattice: lattice.clone(), boundary, reconstruction, storage: Arc::new(storage) })
    }

    /// The lattice it lives on.
    pub fn lattice(&self) -> &Lattice {
        &self.lattice
    }

    /// The boundary condition of the fermions.
    pub fn boundary(&self) -> Boundary {
        self.boundary
    }

    /// How many reals of each link are stored.
    pub fn reconstruction(&self) -> Reconstruction {
        self.reconstruction
    }

    /// The same field in another precision, stored in as many reals.
    pub fn cast<R: Real>(&self) -> Result<GaugeField<R>, DeviceError> {
        let storage = match self.storage() {
            GaugeStorage::Host(links) => GaugeStorage::Host(links.cast()),
            GaugeStorage::Devices(buffers) => {
                let dims = self.lattice.dims();
                let components = NDIM * self.reconstruction.reals() / 2;
                let mut cast = Vec::new();
                for (slab, buffer) in self.lattice.slabs().iter().zip(buffers) {
                    let (from, to) = (slab.layout(dims, T::PRECISION), slab.layout(dims, R::PRECISION));
                    cast.push(transfer::cast(buffer, dims, &from, &to, components)?);
                }
                GaugeStorage::Devices(cast)
            }
        };
        Ok(GaugeField {
            lattice: self.lattice.clone(),
            boundary: self.boundary,
            reconstruction: self.reconstruction,
            storage: Arc::new(storage),
        })
    }

    pub(crate) fn storage(&self) -> &GaugeStorage<T> {
        &self.storage
    }
}

/// Refuses links that rebuilding would change by more than the precision does.
fn check_special_unitary<T: Real>(
    configuration: &GaugeConfiguration,
    reconstruction: Reconstruction,
) -> Result<(), LatticeError> {
    // Room for the rounding of whoever made the links, far below what the precision of a solve notices.
    let limit = match T::PRECISION {
        Precision::Double => 1e-12,
        Precision::Single => 1e-5,
    };
    let found = unitarity(configuration);
    let deviation = found.unitarity_deviation.max(found.determinant_deviation);
    // So put that NaN is refused as well.
    if found.unitarity_deviation <= limit && found.determinant_deviation <= limit {
        return Ok(());
    }
    Err(LatticeError::NotSpecialUnitary { reals: reconstruction.reals(), deviation, limit })
}
