//! Which devices there are, what they are, and which of them are meant.

mod caches;
mod discovery;
mod info;
mod remark;
mod selector;

pub use discovery::{DeviceIndex, Discovery, FoundDevice, discover};
pub use info::{DeviceInfo, DeviceKind};
pub use remark::Remark;
pub use selector::Selector;

pub(in crate::device) use info::POCL;
pub(in crate::device) use remark::remarks_on;
