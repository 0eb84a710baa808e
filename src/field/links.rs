//! The gauge field on the devices of a lattice or on the host.

use super::clover::{BlockField, CloverField};
use super::link_scale::LinkScale;
use super::site_field::{SiteField, Sites};
use crate::compute::DeviceError;
use crate::geometry::{Anisotropy, Boundary, Lattice, LatticeError, NDIM, Shape};
use crate::host::{
    GaugeConfiguration, LinkField, Matrix3, Reconstruction, SiteMatrix, TimePhases, expect_room,
    link_with_phase, unitarity,
};
use crate::scalar::{Storage, StoragePrecision};
use num_complex::Complex;
use std::sync::Arc;

/// The links of a configuration on a lattice's devices, with a boundary condition.
///
/// Cheap to clone. Links are stored in 18, 12 or 8 reals ([`Reconstruction`]). With 18 reals the
/// links contain the boundary's phases. With fewer they are elements of SU(3), and the kernels
/// apply the phases. Kernels always apply the weight of hops in space.
#[derive(Clone)]
pub struct GaugeField<T: Storage> {
    format: LinkFormat,
    storage: Arc<GaugeStorage<T>>,
    scale: LinkScale,
    clover: Option<Arc<CloverField<T>>>,
    time_phases: Arc<TimePhases>,
}

/// The format of stored links, which the kernels that load them need to know.
#[derive(Clone)]
pub(crate) struct LinkFormat {
    pub lattice: Lattice,
    pub boundary: Boundary,
    pub anisotropy: Anisotropy,
    pub reconstruction: Reconstruction,
}

pub(crate) enum GaugeStorage<T: Storage> {
    /// Whole matrices, `f32` also in half precision.
    ///
    /// The host's memory is not the limit of the twins.
    Host(LinkField<T::Real>),
    /// Links divided by [`GaugeField::scale`].
    Devices(SiteField<T>),
}

impl<T: Storage> GaugeField<T> {
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
        let on_host = lattice.team().is_host();
        let scale = match reconstruction {
            Reconstruction::None if !on_host => LinkScale::of(configuration),
            _ => LinkScale::SPECIAL_UNITARY,
        };
        expect_precision::<T>(scale)?;
        let storage = if on_host {
            expect_room((NDIM * dims.volume() * size_of::<Matrix3<T::Real>>()) as u64)
                .map_err(DeviceError::from)?;
            GaugeStorage::Host(LinkField::new(configuration, boundary))
        } else {
            let phases = match reconstruction {
                Reconstruction::None => boundary,
                Reconstruction::Twelve | Reconstruction::Eight => Boundary::periodic(),
            };
            let divided = 1.0 / scale.factor;
            let link = |site, mu| link_with_phase::<f64>(configuration, phases, site, mu).scale(divided);
            GaugeStorage::Devices(upload::<T>(lattice, reconstruction, link)?)
        };
        let (lattice, anisotropy) = (lattice.clone(), Anisotropy::default());
        let format = LinkFormat { lattice, boundary, anisotropy, reconstruction };
        let time_phases = Arc::new(TimePhases::of_links(configuration, boundary));
        Ok(Self { format, storage: Arc::new(storage), scale, clover: None, time_phases })
    }

    /// Makes the lattice anisotropic and keeps the links.
    ///
    /// Hops in space have the weight ν/ξ0, and masses follow.
    ///
    /// # Panics
    /// When the lattice is anisotropic already.
    #[must_use]
    pub fn with_anisotropy(self, anisotropy: Anisotropy) -> Self {
        assert!(self.format.anisotropy == Anisotropy::default(), "the lattice is anisotropic already");
        let storage = match &*self.storage {
            GaugeStorage::Host(links) if anisotropy.spatial_weight() != 1.0 => {
                Arc::new(GaugeStorage::Host(links.weighted_in_space(anisotropy.spatial_weight())))
            }
            _ => Arc::clone(&self.storage),
        };
        Self { format: LinkFormat { anisotropy, ..self.format }, storage, ..self }
    }

    /// Adds the links of a clover term, which may be of another configuration.
    ///
    /// Operators with a clover term compute its blocks when the operators are made.
    ///
    /// # Errors
    /// When the configuration has other extents.
    pub fn with_clover(
        self,
        configuration: impl Into<Arc<GaugeConfiguration>>,
    ) -> Result<Self, LatticeError> {
        self.with_weighted_clover(configuration, [1.0; 2])
    }

    /// Adds a clover term like [`with_clover`](Self::with_clover), with a weighted F.
    ///
    /// `weights` multiply the field strength F in planes of space, and in planes with time. On an
    /// anisotropic lattice the weights are c_R/ξ0 and c_T for c_sw = 1.
    ///
    /// # Errors
    /// The errors of [`with_clover`](Self::with_clover).
    pub fn with_weighted_clover(
        self,
        configuration: impl Into<Arc<GaugeConfiguration>>,
        weights: [f64; 2],
    ) -> Result<Self, LatticeError> {
        let clover = CloverField::new(self.lattice(), configuration.into(), weights)?;
        Ok(Self { clover: Some(Arc::new(clover)), ..self })
    }

    /// Returns `true` if operators with a clover term can be made of the field.
    pub fn has_clover(&self) -> bool {
        self.clover.is_some()
    }

    /// Returns the blocks of a matrix, or `None` without a matrix.
    ///
    /// # Errors
    /// [`LatticeError::CloverNotPositive`] if there is no inverse.
    ///
    /// # Panics
    /// When there is a matrix, but no links of a clover term.
    pub(crate) fn blocks(&self, matrix: SiteMatrix) -> Result<Option<Arc<BlockField<T>>>, LatticeError> {
        match &self.clover {
            Some(clover) => clover.blocks(matrix),
            None => {
                assert!(matrix == SiteMatrix::None, "links without a clover term");
                Ok(None)
            }
        }
    }

    /// Returns the lattice of the field.
    pub fn lattice(&self) -> &Lattice {
        &self.format.lattice
    }

    /// Returns the boundary condition of the fermions.
    pub fn boundary(&self) -> Boundary {
        self.format.boundary
    }

    /// Returns the phases of the fermions' hops in t.
    ///
    /// They are those of the boundary condition and of signs in the links.
    pub fn time_phases(&self) -> &TimePhases {
        &self.time_phases
    }

    /// Returns the anisotropy of the lattice.
    pub fn anisotropy(&self) -> Anisotropy {
        self.format.anisotropy
    }

    /// Returns the number of reals that are stored for each link.
    pub fn reconstruction(&self) -> Reconstruction {
        self.format.reconstruction
    }

    /// Converts the field to another precision, stored in as many reals.
    ///
    /// # Errors
    /// When a device fails. When half precision would round most of the elements away.
    pub fn cast<R: Storage>(&self) -> Result<GaugeField<R>, LatticeError> {
        expect_precision::<R>(self.scale)?;
        let storage = match self.storage() {
            GaugeStorage::Host(links) => GaugeStorage::Host(links.cast()),
            GaugeStorage::Devices(links) => GaugeStorage::Devices(links.cast()?),
        };
        let clover = self.clover.as_ref().map(|clover| clover.cast());
        let (format, scale, time_phases) = (self.format.clone(), self.scale, Arc::clone(&self.time_phases));
        Ok(GaugeField { format, storage: Arc::new(storage), scale, clover, time_phases })
    }

    /// Returns the factor of stored links on devices, by which their products are multiplied.
    pub(crate) fn scale(&self) -> f64 {
        self.scale.factor
    }

    pub(crate) fn format(&self) -> &LinkFormat {
        &self.format
    }

    pub(crate) fn storage(&self) -> &GaugeStorage<T> {
        &self.storage
    }
}

/// Puts links, given by site and direction, on the devices of a lattice.
fn upload<T: Storage>(
    lattice: &Lattice,
    reconstruction: Reconstruction,
    link: impl Fn(usize, usize) -> Matrix3<f64> + Sync,
) -> Result<SiteField<T>, DeviceError> {
    let shape = Shape::links(reconstruction.reals());
    let values = |site: usize, components: &mut [Complex<T::Real>]| {
        for (mu, components) in components.chunks_mut(shape.group).enumerate() {
            components.copy_from_slice(&reconstruction.encode::<T::Real>(&link(site, mu))[..shape.group]);
        }
    };
    SiteField::from_values(lattice, shape, Sites::All, values)
}

/// Refuses links that reconstruction would change by more than the rounding.
///
/// The limit depends on the precision.
fn check_special_unitary<T: Storage>(
    configuration: &GaugeConfiguration,
    reconstruction: Reconstruction,
) -> Result<(), LatticeError> {
    // Room for rounding by the maker of the links, far below what the precision of a solve notices.
    let limit = match T::STORAGE {
        StoragePrecision::Double => 1e-12,
        StoragePrecision::Single => 1e-5,
        StoragePrecision::Half => 1e-4,
    };
    let found = unitarity(configuration);
    let deviation = found.unitarity_deviation.max(found.determinant_deviation);
    // Written so that NaN is refused as well.
    if found.unitarity_deviation <= limit && found.determinant_deviation <= limit {
        return Ok(());
    }
    Err(LatticeError::NotSpecialUnitary { reals: reconstruction.reals(), deviation, limit })
}

/// Refuses links that half precision cannot hold.
fn expect_precision<T: Storage>(scale: LinkScale) -> Result<(), LatticeError> {
    if T::STORAGE == StoragePrecision::Half { scale.expect_alike() } else { Ok(()) }
}

impl Lattice {
    /// Puts the links of a configuration on the devices, in precision `T`.
    ///
    /// All 18 reals of each link are stored.
    ///
    /// # Errors
    /// When the configuration has other extents, or a device fails.
    pub fn gauge<T: Storage>(
        &self,
        configuration: &GaugeConfiguration,
        boundary: Boundary,
    ) -> Result<GaugeField<T>, LatticeError> {
        self.gauge_in(configuration, boundary, Reconstruction::None)
    }

    /// Puts links on the devices like [`gauge`](Self::gauge), in fewer reals for each.
    ///
    /// Every hop then reads less memory.
    ///
    /// # Errors
    /// The errors of [`gauge`](Self::gauge). Links may deviate from SU(3) by at most 1e-12
    /// (double), 1e-5 (single) or 1e-4 (half). Half precision refuses an element that dwarfs the
    /// others.
    pub fn gauge_in<T: Storage>(
        &self,
        configuration: &GaugeConfiguration,
        boundary: Boundary,
        reconstruction: Reconstruction,
    ) -> Result<GaugeField<T>, LatticeError> {
        GaugeField::new(self, configuration, boundary, reconstruction)
    }
}
