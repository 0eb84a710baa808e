//! How lines are shared out over work-groups.

use lattice_compute::{Device, DeviceKind};

/// Lines of a vector on a processor, `LANES` of `cl/fft.cl`.
const CPU_LANES: usize = 8;

/// Most local memory that is used on a processor, in bytes: about what its second cache holds.
const CPU_LOCAL: usize = 1 << 19;

/// How lines are cut into work-groups on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cut {
    /// Lines of a vector.
    pub lanes: usize,
    /// Work-items of a group.
    pub local: usize,
    /// Bytes of local memory of a group.
    pub local_bytes: usize,
}

impl Cut {
    /// Returns how a device's lines are cut.
    pub fn of(device: &Device) -> Self {
        let info = device.info();
        let local_bytes = info.local_memory_bytes as usize;
        if info.kind == DeviceKind::Cpu {
            Self { lanes: CPU_LANES, local: 1, local_bytes: local_bytes.min(CPU_LOCAL) }
        } else {
            Self { lanes: 1, local: info.max_work_group_size.min(256), local_bytes }
        }
    }

    /// Returns the bytes of local memory for lines of `elements` elements in so many vectors.
    ///
    /// Two halves hold real and imaginary parts, and four places of each line are kept.
    pub fn bytes(&self, elements: usize, vectors: usize, real: usize) -> usize {
        vectors * self.lanes * (4 * elements * real + 4 * size_of::<u64>())
    }

    /// Returns the longest line that fits.
    pub fn longest(&self, real: usize) -> usize {
        let rest = self.local_bytes.saturating_sub(self.bytes(0, 1, real));
        rest / self.bytes(1, 1, real).saturating_sub(self.bytes(0, 1, real)).max(1)
    }

    /// Returns the number of vectors of a group for lines of `elements` elements.
    ///
    /// A GPU's group has enough elements for its items, and lines side by side fill 64 bytes.
    pub fn vectors(&self, elements: usize, real: usize) -> usize {
        if self.lanes > 1 {
            return 1;
        }
        let wanted = (2048 / elements.max(1)).max(64 / (2 * real)).min(64);
        (1..=wanted)
            .rev()
            .find(|&vectors| self.bytes(elements, vectors, real) <= self.local_bytes)
            .unwrap_or(1)
    }
}
