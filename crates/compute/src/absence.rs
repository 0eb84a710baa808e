//! The reasons for having no device.

/// The reason why there is no OpenCL device to use.
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
        /// The symbolic name of the status.
        symbol: &'static str,
    },
    /// The host was chosen, for work that only a device can do.
    #[error(
        "there is no OpenCL device in use: `host` was chosen, and this needs one; choose `auto` or a device"
    )]
    HostChosen,
}

/// Names the folder that the environment sends the loader to.
///
/// A mistake may be there.
fn searched_folder() -> String {
    match std::env::var_os("OCL_ICD_VENDORS") {
        Some(folder) if !folder.is_empty() => format!(" in OCL_ICD_VENDORS={}", folder.display()),
        _ => String::new(),
    }
}
