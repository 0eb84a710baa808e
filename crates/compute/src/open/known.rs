//! The list of open devices, from which teams that are opened later take theirs.

use crate::select::DeviceIndex;
use crate::sync::lock;
use std::any::Any;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

/// The place of an open device, and what is alive as long as it is open.
pub(super) type Known = (DeviceIndex, Weak<dyn Any + Send + Sync>);

/// Devices that teams share if they are opened one after the other.
///
/// Buffers of such teams can be combined. The list keeps no device open. Clones are one list.
#[derive(Clone, Default)]
pub struct OpenDevices(Arc<Mutex<Vec<Known>>>);

impl OpenDevices {
    /// Returns the list, without the devices that were closed.
    ///
    /// Whoever opens devices holds it, so that two threads do not open one device twice.
    pub(super) fn known(&self) -> MutexGuard<'_, Vec<Known>> {
        let mut known = lock(&self.0);
        known.retain(|(_, device)| device.strong_count() > 0);
        known
    }
}

impl PartialEq for OpenDevices {
    /// Returns `true` for clones of one list.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for OpenDevices {}

impl fmt::Debug for OpenDevices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places: Vec<DeviceIndex> = lock(&self.0).iter().map(|(place, _)| *place).collect();
        write!(f, "OpenDevices({places:?})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Buffer, DeviceOptions, Selector, Team};

    #[test]
    fn teams_share_open_devices_and_keep_none_open() {
        let options = DeviceOptions { open: Some(OpenDevices::default()), ..DeviceOptions::default() };
        let open = |names: &str| Team::select_with(Selector::list(names), &options).unwrap();
        let auto = open("auto");
        let Some(device) = auto.devices().first() else { return };
        let index = device.index().to_string();
        let [one, two] = [(); 2].map(|()| open(&format!("{index},{index}")));
        assert!(one.devices()[0] == *device && one.devices()[1] != *device);
        assert_eq!(one.devices(), two.devices());
        // Buffers of both are of one device.
        let x = Buffer::from_slice(device, &[1.0, 2.0]).unwrap();
        let mut y = Buffer::from_slice(&two.devices()[0], &[0.0; 2]).unwrap();
        y.copy_from(&x).unwrap();
        assert_eq!(y.to_vec().unwrap(), [1.0, 2.0]);
        // Other options have devices of their own.
        assert!(Team::select(Selector::Auto).unwrap().devices()[0] != *device);
        let old = one.devices()[1].downgrade();
        drop((one, two));
        assert!(old.upgrade().is_none());
    }
}
