//! The OpenCL devices that there are, or the reason for having none.

use super::info::DeviceInfo;
use crate::absence::Absence;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device as RawDevice};
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, DLOPEN_RUNTIME_LOAD_FAILED, error_text};
use opencl3::platform::get_platforms;
use serde::Serialize;
use std::fmt;
use std::sync::OnceLock;

/// The place of a device in the list: `platform.device`, in the loader's order.
///
/// Both numbers are counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
pub struct DeviceIndex {
    /// Number of the platform.
    pub platform: usize,
    /// Number of the device within the platform.
    pub device: usize,
}

impl fmt::Display for DeviceIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.platform, self.device)
    }
}

/// A device that exists and is not opened yet.
#[derive(Clone, Debug)]
pub struct DiscoveredDevice {
    /// The device's place in the list.
    pub index: DeviceIndex,
    /// The device's properties.
    pub info: DeviceInfo,
    pub(crate) raw: RawDevice,
}

impl DiscoveredDevice {
    /// Returns `0.1 name (platform)`, the form that messages show.
    pub fn label(&self) -> String {
        format!("{} {} ({})", self.index, self.info.name, self.info.platform)
    }
}

/// Everything that OpenCL offers on this machine.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// All devices of all platforms, in the loader's order.
    pub devices: Vec<DiscoveredDevice>,
    /// The reason why `devices` is empty, if it is.
    pub absence: Option<Absence>,
}

/// Asks every platform for its devices.
///
/// The function never fails: a machine without OpenCL gives an empty list and the reason. A
/// platform that cannot be asked is passed over, with a warning in the log. So a broken driver does
/// not hide the others.
///
/// The drivers are asked once in the life of the process, by one thread. Some drivers set
/// themselves up on the first question, and crash if two threads ask together.
pub fn discover() -> Discovery {
    static FOUND: OnceLock<Discovery> = OnceLock::new();
    FOUND.get_or_init(ask_all_platforms).clone()
}

fn ask_all_platforms() -> Discovery {
    let nothing = |absence| Discovery { devices: Vec::new(), absence: Some(absence) };
    let platforms = match get_platforms() {
        Ok(platforms) => platforms,
        Err(error) => {
            return nothing(match error.0 {
                DLOPEN_RUNTIME_LOAD_FAILED => Absence::NoLoader,
                CL_PLATFORM_NOT_FOUND_KHR => Absence::NoPlatform,
                code => Absence::Broken { code, symbol: error_text(code) },
            });
        }
    };
    if platforms.is_empty() {
        return nothing(Absence::NoPlatform);
    }

    let mut devices = Vec::new();
    let mut names = Vec::new();
    for (platform_index, platform) in platforms.iter().enumerate() {
        let name = platform.name().unwrap_or_else(|_| format!("platform {platform_index}"));
        match platform.get_devices(CL_DEVICE_TYPE_ALL) {
            Ok(ids) => {
                for (device_index, id) in ids.into_iter().enumerate() {
                    let index = DeviceIndex { platform: platform_index, device: device_index };
                    let raw = RawDevice::new(id);
                    match DeviceInfo::query(&name, &raw) {
                        Ok(info) => devices.push(DiscoveredDevice { index, info, raw }),
                        Err(error) => {
                            tracing::warn!("device {index} of {name} does not describe itself: {error}");
                        }
                    }
                }
            }
            Err(error) => tracing::warn!("{name} does not list its devices: {error}"),
        }
        names.push(name);
    }
    let absence = devices.is_empty().then_some(Absence::NoDevice { platforms: names });
    Discovery { devices, absence }
}
