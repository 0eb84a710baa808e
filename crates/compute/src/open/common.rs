//! Contexts that devices of a team have in common.
//!
//! In a common context a queue waits for events of other devices, so data go from one device to another
//! by pinned memory while the host does something else. Devices that reach each other's memory need no
//! such context, and keep one each.

use super::handle::Device;
use super::options::DeviceOptions;
use super::peer_ways::{PeerWay, PeerWays};
use crate::error::{DeviceError, Result};
use crate::select::DiscoveredDevice;
use opencl3::context::Context;
use opencl3::types::cl_device_id;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// Opens devices that will work together, in their order.
///
/// Devices of one platform have a context in common unless there is a thinkable way to each other's
/// memory, or one of them hangs in such a context. Then data go by the host.
///
/// # Errors
/// The errors of [`Device::open`].
pub(super) fn open_together(found: &[&DiscoveredDevice], options: &DeviceOptions) -> Result<Vec<Device>> {
    let ways = options.peer.map_or_else(PeerWays::by_environment, Ok)?;
    let mut contexts: HashMap<usize, Option<Arc<Context>>> = HashMap::new();
    let open = |device: &&DiscoveredDevice| {
        let platform = device.index.platform;
        let context = match contexts.entry(platform) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let beside: Vec<&DiscoveredDevice> =
                    found.iter().filter(|other| other.index.platform == platform).copied().collect();
                let hangs = beside.iter().any(|device| device.info.hangs_in_common_contexts());
                let is_common = beside.len() > 1 && !hangs && !have_way(&beside, ways);
                new.insert(is_common.then(|| context_of(&beside).map(Arc::new)).transpose()?)
            }
        };
        match context {
            Some(context) => Device::open_in(device, options, true, || Ok(Arc::clone(context))),
            None => Device::open(device, options),
        }
    };
    found.iter().map(open).collect()
}

/// Tells whether a way between these devices is allowed and thinkable.
fn have_way(devices: &[&DiscoveredDevice], ways: PeerWays) -> bool {
    ways.iter().any(|way| {
        devices.iter().all(|device| way.is_thinkable_for(&device.info))
            && (way != PeerWay::Cuda || are_linked(devices))
    })
}

/// Tells whether NVIDIA's GPUs reach each other's memory, by the word of their driver.
fn are_linked(devices: &[&DiscoveredDevice]) -> bool {
    #[cfg(unix)]
    match crate::cuda::reach_each_other(devices) {
        Ok(linked) => linked,
        Err(reason) => {
            tracing::debug!("devices have a context in common: {reason}");
            false
        }
    }
    #[cfg(not(unix))]
    {
        let _ = devices;
        false
    }
}

/// Makes a context of these devices, some of which may be given twice.
fn context_of(devices: &[&DiscoveredDevice]) -> Result<Context> {
    let mut ids: Vec<cl_device_id> = devices.iter().map(|device| device.raw.id()).collect();
    ids.sort_unstable();
    ids.dedup();
    Context::from_devices(&ids, &[], None, std::ptr::null_mut())
        .map_err(DeviceError::opencl("clCreateContext", &devices[0].label()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, discover};

    #[test]
    fn devices_have_a_context_in_common_if_nothing_else_connects_them() {
        let is_fit = |found: &DiscoveredDevice| found.info.fp64 && !found.info.hangs_in_common_contexts();
        let Some(found) = discover().devices.into_iter().find(is_fit) else { return };
        let open = |ways| {
            let options = DeviceOptions { peer: Some(ways), ..DeviceOptions::default() };
            open_together(&[&found, &found], &options).unwrap()
        };
        let together = open(PeerWays::OFF);
        assert!(together[0] != together[1] && together[0].shares_context(&together[1]));
        if PeerWay::Host.is_thinkable_for(&found.info) {
            let apart = open(PeerWays::only(PeerWay::Host));
            assert!(!apart[0].shares_context(&apart[1]));
        }
        let alone = open_together(&[&found], &DeviceOptions::default()).unwrap();
        assert!(!alone[0].shares_context(&together[0]));
        // Each has memory and queues of its own.
        for (device, value) in together.iter().zip([2.0, 3.0]) {
            let x = Buffer::from_slice(device, &[value; 7]).unwrap();
            assert_eq!(x.to_vec().unwrap(), [value; 7]);
        }
    }
}
