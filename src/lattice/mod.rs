//! Fields on a lattice that is spread over a team of devices, or on the host.
//!
//! A [`Lattice`] ties extents to a [`Team`]. Each device of the team holds a slab of whole time slices of every field;
//! nothing above this module and the stencil of [`dirac`](crate::dirac) knows how many devices there are. Without a device the fields are plain host data.

mod block;
mod gauge_field;
mod halo;
mod host_order;
mod layout;
mod parity_field;
mod slab;
mod space;
mod spin_basis;
mod spinor_field;
mod spinors;
mod transfer;

pub(crate) use block::{GramSums, MATRIX_TILE, Matrices, PendingGram, can_end_blocks, ends_on_matrix_units};
pub use gauge_field::GaugeField;
pub(crate) use gauge_field::{GaugeStorage, LinkFormat};
pub(crate) use halo::{Halo, Packing};
pub(crate) use host_order::host_order_key;
pub use layout::{Layout, Place, Shape, split_time};
pub use parity_field::ParityField;
pub(crate) use slab::Slab;
pub use space::{ParitySpace, SpinorSpace};
pub(crate) use space::{field_key, matrix, space_key, sum_of_slabs};
pub use spinor_field::SpinorField;
pub use spinors::{RESTORING_A_FIELD, StoredField};
pub(crate) use spinors::{Sites, Spinors};
pub(crate) use transfer::conversion_key;

use crate::device::{DeviceError, Team};
use crate::host::{Boundary, Dims, GaugeConfiguration, NDIM, Reconstruction, Spinor};
use crate::scalar::{Storage, StoragePrecision};
use std::sync::Arc;

/// A lattice of given extents on the devices of a team. Cheap to clone.
#[derive(Clone)]
pub struct Lattice {
    inner: Arc<Inner>,
}

struct Inner {
    team: Team,
    dims: Dims,
    slabs: Vec<Slab>,
}

/// Why a field cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum LatticeError {
    /// A field was given data of another lattice.
    #[error("the lattice is {wanted}, the {what} is of {found}")]
    Dims {
        /// What was given.
        what: &'static str,
        /// The lattice's extents.
        wanted: Dims,
        /// The extents found.
        found: Dims,
    },
    /// Not one spinor for each site.
    #[error("fields on a {dims} lattice need {wanted} spinors, but {found} were given")]
    SpinorCount {
        /// The lattice's extents.
        dims: Dims,
        /// One for each site and field.
        wanted: usize,
        /// The spinors given.
        found: usize,
    },
    /// A link that half precision has no number for.
    #[error(
        "a link has an element of size {found:.6}, and half precision has numbers up to 1 only; store the links in single or \
         double, or re-unitarise the configuration (`cr-solve convert --reunitarise`)"
    )]
    LinkTooLarge {
        /// Size of the largest real or imaginary part.
        found: f64,
    },
    /// Links that are not in SU(3) accurately enough to be stored in fewer than 18 reals.
    #[error(
        "links deviate from SU(3) by {deviation:.1e}, too much to be stored in {reals} reals (limit {limit:.1e}); \
         store all 18, or re-unitarise the configuration (`cr-solve convert --reunitarise`)"
    )]
    NotSpecialUnitary {
        /// Reals of each link that were asked for.
        reals: usize,
        /// The largest deviation of any link.
        deviation: f64,
        /// The largest that is allowed in this precision.
        limit: f64,
    },
    /// A source outside the lattice, or a spin or colour that does not exist.
    #[error("{what} {found} is outside the allowed range 0 to {last}")]
    OutOfRange {
        /// The coordinate, spin or colour.
        what: &'static str,
        /// The value given.
        found: usize,
        /// The largest allowed value.
        last: usize,
    },
    /// A device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Lattice {
    /// A lattice on the devices of a team, cut along t. A team with more devices than time slices leaves the last ones idle.
    pub fn new(team: &Team, dims: Dims) -> Result<Self, LatticeError> {
        let parts = split_time(dims[3], team.devices().len());
        let slabs = team
            .devices()
            .iter()
            .zip(parts)
            .map(|(device, (t_origin, t_extent))| Slab { device: device.clone(), t_origin, t_extent })
            .collect();
        Ok(Self { inner: Arc::new(Inner { team: team.clone(), dims, slabs }) })
    }

    /// The extents.
    pub fn dims(&self) -> Dims {
        self.inner.dims
    }

    /// The team that holds the fields.
    pub fn team(&self) -> &Team {
        &self.inner.team
    }

    /// Whether two handles are of the same lattice: equal extents on the same open devices.
    pub fn is(&self, other: &Lattice) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
            || (self.dims() == other.dims() && self.team().devices() == other.team().devices())
    }

    /// Panics unless `other`, the lattice of a field, is this one: its buffers would have other sizes.
    pub(crate) fn expect_same(&self, other: &Lattice) {
        assert!(
            self.is(other),
            "a field on a {} lattice is used with one on a {} lattice, or with other devices",
            other.dims(),
            self.dims()
        );
    }

    /// Devices of the team that have no time slice.
    pub fn idle_devices(&self) -> usize {
        self.team().len() - self.slabs().len()
    }

    /// How its fields are stored, in words that are the same where the bytes of a field are.
    pub fn storage_description(&self) -> String {
        if self.team().is_host() {
            return "on the host".to_owned();
        }
        let slabs = self.slabs().iter().map(|slab| {
            let lanes = [StoragePrecision::Double, StoragePrecision::Single, StoragePrecision::Half]
                .map(|precision| slab.layout(self.dims(), precision).lanes().to_string());
            format!("{} time slices in {} lanes", slab.t_extent, lanes.join("/"))
        });
        format!("on devices, γ_t diagonal: {}", slabs.collect::<Vec<_>>().join(", "))
    }

    /// Extents of the sub-lattice that one lane of the first device walks through, in fields of a precision.
    ///
    /// `None` on the host, which has no lanes.
    pub fn lane_extents(&self, precision: StoragePrecision) -> Option<[usize; NDIM]> {
        Some(self.slabs().first()?.layout(self.dims(), precision).sub_extents())
    }

    /// The parts of the lattice, one for each device that has one; none on the host.
    pub(crate) fn slabs(&self) -> &[Slab] {
        &self.inner.slabs
    }

    /// Puts the links of a configuration on the devices, in precision `T`, all 18 reals of each.
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

    /// As [`gauge`](Self::gauge), with fewer reals stored for each link: less memory to read for every hop.
    ///
    /// # Errors
    /// As [`gauge`](Self::gauge), and when links deviate from SU(3) by more than
    /// 1e-12 (double), 1e-5 (single) or 1e-4 (half), or have elements that half precision cannot hold.
    pub fn gauge_in<T: Storage>(
        &self,
        configuration: &GaugeConfiguration,
        boundary: Boundary,
        reconstruction: Reconstruction,
    ) -> Result<GaugeField<T>, LatticeError> {
        GaugeField::new(self, configuration, boundary, reconstruction)
    }

    /// The space of spinor fields on this lattice.
    pub fn spinor_space<T: Storage>(&self) -> Result<SpinorSpace<T>, LatticeError> {
        self.spinor_block_space(1)
    }

    /// The space of blocks of this many spinor fields.
    ///
    /// # Panics
    /// This and [`parity_block_space`](Self::parity_block_space) when there is no field.
    pub fn spinor_block_space<T: Storage>(&self, fields: usize) -> Result<SpinorSpace<T>, LatticeError> {
        Ok(SpinorSpace::new(self, Sites::All, fields)?)
    }

    /// The space of spinor fields on the sites of `parity` (0 even, 1 odd).
    pub fn parity_space<T: Storage>(&self, parity: usize) -> Result<ParitySpace<T>, LatticeError> {
        self.parity_block_space(parity, 1)
    }

    /// The space of blocks of this many spinor fields on the sites of `parity`.
    pub fn parity_block_space<T: Storage>(
        &self,
        parity: usize,
        fields: usize,
    ) -> Result<ParitySpace<T>, LatticeError> {
        Ok(SpinorSpace::new(self, Sites::Parity(parity), fields)?)
    }

    /// A spinor field equal to zero.
    pub fn spinor<T: Storage>(&self) -> Result<SpinorField<T>, LatticeError> {
        self.spinors(1)
    }

    /// This many spinor fields equal to zero, that an operator is applied to at once.
    pub fn spinors<T: Storage>(&self, sources: usize) -> Result<SpinorField<T>, LatticeError> {
        Ok(SpinorField::zero(self, sources)?)
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
        sources: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<SpinorField<T>, LatticeError> {
        self.expect_count(sources * self.dims().volume(), spinors.len())?;
        Ok(SpinorField::from_host(self, sources, spinors)?)
    }

    /// The part of a spinor field on the sites of one parity, with these values, one for each of these sites in
    /// lexicographic order.
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

    /// This many fields on the sites of one parity, equal to zero.
    pub fn parities<T: Storage>(
        &self,
        parity: usize,
        sources: usize,
    ) -> Result<ParityField<T>, LatticeError> {
        Ok(ParityField::zero(self, parity, sources)?)
    }

    /// As [`parity_from_host`](Self::parity_from_host) for this many fields, the values of one after those of the other.
    ///
    /// # Errors
    /// As [`parity_from_host`](Self::parity_from_host).
    pub fn parities_from_host<T: Storage>(
        &self,
        parity: usize,
        sources: usize,
        spinors: &[Spinor<T::Real>],
    ) -> Result<ParityField<T>, LatticeError> {
        self.expect_count(sources * self.dims().volume() / 2, spinors.len())?;
        Ok(ParityField::from_host(self, parity, sources, spinors)?)
    }

    fn expect_count(&self, wanted: usize, found: usize) -> Result<(), LatticeError> {
        if wanted == found {
            return Ok(());
        }
        Err(LatticeError::SpinorCount { dims: self.dims(), wanted, found })
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
