//! Large buffers of processors in huge pages. The fields of a lattice are read in a dozen streams at once, each of which comes to another page
//! every few sites; with pages of 2 MiB two cores read memory up to 1.6 times as fast as with pages of 4 KiB.

use super::raw::Memory;

/// Bytes from which on a buffer is worth asking for: several pages.
#[cfg(target_os = "linux")]
const LEAST_BYTES: usize = 4 << 20;

impl Memory {
    /// Asks the system for huge pages, where the device is a processor, whose buffers are memory of this process. To be called before anything
    /// is written. It is advice: whatever becomes of it, the buffer can be used.
    #[cfg(target_os = "linux")]
    pub(super) fn prefer_huge_pages(&self) {
        if self.core().info.kind != crate::select::DeviceKind::Cpu || self.bytes() < LEAST_BYTES {
            return;
        }
        if let Err(error) = self.advise() {
            tracing::debug!("no huge pages on {}: {error}", self.core().label);
        }
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn prefer_huge_pages(&self) {}

    #[cfg(target_os = "linux")]
    fn advise(&self) -> Result<(), Box<dyn std::error::Error>> {
        use super::mapping::Mapping;
        use crate::queue::Queue;
        use opencl3::memory::CL_MAP_READ;
        use rustix::mm::{Advice, madvise};

        // The mapping tells where the buffer is. On the copy queue it need not wait for kernels.
        let mapping = Mapping::new(self, Queue::Copy, self.bytes(), CL_MAP_READ)?;
        let page = rustix::param::page_size();
        let address = mapping.address().as_ptr();
        let before = address.align_offset(page);
        let whole_pages = self.bytes().saturating_sub(before) / page * page;
        // SAFETY: `before` bytes are less than a page and lie in the buffer, which has many. The pages are mapped, and this advice changes the
        // contents of none.
        let advised = unsafe { madvise(address.byte_add(before), whole_pages, Advice::LinuxHugepage) };
        mapping.unmap()?;
        Ok(advised?)
    }
}
