//! Which OpenCL devices there are, or why there are none.

use super::info::DeviceInfo;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device as RawDevice};
use opencl3::error_codes::{CL_PLATFORM_NOT_FOUND_KHR, DLOPEN_RUNTIME_LOAD_FAILED, error_text};
use opencl3::platform::get_platforms;
use serde::Serialize;
use std::fmt;
use std::sync::OnceLock;

/// Why there is no OpenCL device to use.
///
/// Every message begins with "there is no OpenCL device" and says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Absence {
    /// The OpenCL loader, `libOpenCL`, is not installed.
    #[error(
        "there is no OpenCL device: no OpenCL loader (libOpenCL.so.1) is installed; install one \
         (Debian, Ubuntu: ocl-icd-libopencl1) and the OpenCL driver of your device, or pocl-opencl-icd \
         for the processor"
    )]
    NoLoader,
    /// The loader finds no implementation.
    #[error(
        "there is no OpenCL device: the OpenCL loader finds no platform{}; install the OpenCL driver of \
         your device, or pocl-opencl-icd for the processor (Debian, Ubuntu)",
        searched_folder()
    )]
    NoPlatform,
    /// There are platforms, but none has a device.
    #[error(
        "there is no OpenCL device: the platforms here ({}) offer none; check the driver of your device and \
         the permissions of its device files, or install pocl-opencl-icd for the processor (Debian, Ubuntu)",
        platforms.join(", ")
    )]
    NoDevice {
        /// The platforms that there are.
        platforms: Vec<String>,
    },
    /// There are devices, but none computes in double precision.
    #[error(
        "there is no OpenCL device with double precision (cl_khr_fp64), in which all sums are made, so these are \
         not used: {}; install pocl-opencl-icd for the processor (Debian, Ubuntu), or compute on the host",
        devices.join(", ")
    )]
    NoDoublePrecision {
        /// The devices that there are.
        devices: Vec<String>,
    },
    /// The loader itself failed.
    #[error(
        "there is no OpenCL device: the loader fails when asked for platforms: {symbol} ({code}); \
         check the installation of the drivers with clinfo"
    )]
    Broken {
        /// The status of `clGetPlatformIDs`.
        code: i32,
        /// Its symbolic name.
        symbol: &'static str,
    },
    /// The host was chosen, for work that only a device can do.
    #[error(
        "there is no OpenCL device in use: `host` was chosen, and this needs one; choose `auto` or a device"
    )]
    HostChosen,
}

/// Where the environment sends the loader, which is where a mistake may be.
fn searched_folder() -> String {
    match std::env::var_os("OCL_ICD_VENDORS") {
        Some(folder) if !folder.is_empty() => format!(" in OCL_ICD_VENDORS={}", folder.display()),
        _ => String::new(),
    }
}

/// Where a device stands in the list: `platform.device`, both counted from 0 in the loader's order.
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

/// A device that is there, not opened yet.
#[derive(Clone, Debug)]
pub struct FoundDevice {
    /// Its place in the list.
    pub index: DeviceIndex,
    /// Its properties.
    pub info: DeviceInfo,
    pub(super) raw: RawDevice,
}

impl FoundDevice {
    /// `0.1 name (platform)`, as messages show it.
    pub fn label(&self) -> String {
        format!("{} {} ({})", self.index, self.info.name, self.info.platform)
    }
}

/// Everything that OpenCL offers on this machine.
#[derive(Clone, Debug)]
pub struct Discovery {
    /// All devices of all platforms, in the loader's order.
    pub devices: Vec<FoundDevice>,
    /// Why `devices` is empty, if it is.
    pub absence: Option<Absence>,
}

/// Asks every platform for its devices.
///
/// Never fails: a machine without OpenCL gives an empty list and the reason. A platform that cannot be asked
/// is passed over, with a warning in the log, so that a broken driver does not hide the others.
///
/// The drivers are asked once in the life of the process, by one thread: some set themselves up on the first
/// question, and crash if two threads ask it together.
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
                        Ok(info) => devices.push(FoundDevice { index, info, raw }),
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
