//! NVIDIA's driver, by its library libcuda, which is opened at run time.

mod driver;
mod identity;

use crate::select::DiscoveredDevice;
pub(crate) use driver::{Driver, MemoryLocation};
pub(crate) use identity::Identity;

/// Tells whether kernels of each device can reach the memory of all others, by the driver's word.
///
/// # Errors
/// The reason in words, if the driver does not tell.
pub(crate) fn reach_each_other(devices: &[&DiscoveredDevice]) -> Result<bool, String> {
    let driver = Driver::get()?;
    let owner = |found: &&DiscoveredDevice| driver.owner(Identity::of(&found.info, found.raw)?);
    let owners = devices.iter().map(owner).collect::<Result<Vec<_>, _>>()?;
    for (k, one) in owners.iter().enumerate() {
        for (_, other) in owners.iter().enumerate().filter(|&(other, _)| other != k) {
            if !one.can_reach(other)? {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
