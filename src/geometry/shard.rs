//! One device's part of a lattice.

use super::Domain;
use super::layout::Layout;
use crate::compute::{Device, DeviceKind, PeerWay};
use crate::scalar::StoragePrecision;

/// A device and the sites that it holds.
#[derive(Clone)]
pub(crate) struct Shard {
    pub device: Device,
    pub domain: Domain,
    /// The way to other domains, if the device's kernels raise flags for them after packing.
    pub flags: Option<PeerWay>,
    /// The number of devices that hold the lattice.
    pub team: usize,
}

impl Shard {
    /// Most lanes that a kernel has: the widest vectors of OpenCL C.
    const MAX_LANES: usize = 16;

    /// Returns the layout of fields of a precision in the device's memory.
    pub fn layout(&self, precision: StoragePrecision) -> Layout {
        Layout::new(self.domain, self.lanes(precision), precision)
    }

    /// Returns the number of lanes of a precision.
    ///
    /// Neighbouring work-items of a GPU read neighbouring addresses by themselves. A CPU needs
    /// explicit vectors, as wide as its vector unit.
    fn lanes(&self, precision: StoragePrecision) -> usize {
        let info = self.device.info();
        if info.kind != DeviceKind::Cpu {
            return 1;
        }
        let width = match precision {
            StoragePrecision::Half | StoragePrecision::Single => info.native_vector_width_float,
            StoragePrecision::Double => info.native_vector_width_double,
        };
        width.clamp(1, Self::MAX_LANES).next_power_of_two()
    }
}
