//! The devices that there are, their properties, and their selection.

mod caches;
mod discovery;
mod info;
mod remark;
mod selector;

pub use discovery::{DeviceIndex, DiscoveredDevice, Discovery, discover};
pub use info::{DeviceInfo, DeviceKind};
pub use remark::Remark;
pub use selector::Selector;

pub(crate) use info::POCL;
pub(crate) use remark::remarks_on;
