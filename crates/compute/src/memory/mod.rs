//! The memory of a device, and the transfers between it and the host.

mod any_buffer;
mod buffer;
mod counters;
mod first_touch;
mod foreign;
mod fresh;
mod huge_pages;
mod image;
mod mapped;
mod mapping;
mod pending;
mod pinned;
mod pinned_memory;
mod pool;
mod raw;
mod scratch;

pub use any_buffer::AnyBuffer;
pub use buffer::{Buffer, BufferView, BufferViewMut, check_device, check_length};
pub use counters::Counters;
pub use huge_pages::vec_in_huge_pages;
pub use image::Image2d;
pub use pending::Pending;
pub use pinned::PinnedBuffer;
pub use scratch::Scratch;

pub(crate) use raw::{Blocking, CopyAcross, Memory};
