//! The description of a device by its driver.

use super::caches;
use opencl3::device::{
    CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU, CL_DEVICE_TYPE_GPU, Device as RawDevice,
};
use opencl3::error_codes::ClError;
use serde::Serialize;
use std::fmt;

/// The kinds of device that OpenCL tells apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DeviceKind {
    /// A processor, the host's own or another.
    Cpu,
    /// A graphics processor.
    Gpu,
    /// A dedicated accelerator.
    Accelerator,
    /// Anything else.
    Other,
}

impl fmt::Display for DeviceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceKind::Cpu => "cpu",
            DeviceKind::Gpu => "gpu",
            DeviceKind::Accelerator => "accelerator",
            DeviceKind::Other => "other",
        })
    }
}

/// The properties of one device, read once when it is discovered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DeviceInfo {
    /// Name of the platform (the OpenCL implementation) that the device belongs to.
    pub platform: String,
    /// The device's own name.
    pub name: String,
    /// The maker of the device.
    pub vendor: String,
    /// Version of the driver.
    pub driver_version: String,
    /// OpenCL version, in the driver's words.
    pub opencl_version: String,
    /// Processor, graphics processor, accelerator.
    pub kind: DeviceKind,
    /// `true` if the device computes in double precision.
    pub fp64: bool,
    /// Global memory, in bytes.
    pub memory_bytes: u64,
    /// Largest single allocation that the driver promises, in bytes.
    pub max_allocation_bytes: u64,
    /// Cache of global memory, in bytes; 0 if nobody tells.
    ///
    /// The value is the last level that the driver names. For processors a larger value of the
    /// operating system is taken.
    pub cache_bytes: u64,
    /// Local memory of a work-group by the driver's word, in bytes.
    pub local_memory_bytes: u64,
    /// Compute units: streaming multiprocessors of a GPU, threads of a CPU.
    pub compute_units: usize,
    /// Clock, in MHz; 0 if the driver does not tell.
    pub clock_mhz: u32,
    /// Width of the vector unit in `float`s; 1 on devices without explicit vectors.
    pub native_vector_width_float: usize,
    /// Width of the vector unit in `double`s; 0 without double precision.
    pub native_vector_width_double: usize,
    /// Largest work-group, in work-items.
    pub max_work_group_size: usize,
    /// Alignment that a sub-buffer's origin must have, in bits.
    pub mem_base_addr_align_bits: usize,
    /// NVIDIA's compute capability, major and minor.
    pub compute_capability: Option<[u32; 2]>,
    /// Supported extensions.
    pub extensions: Vec<String>,
}

/// PoCL's name of its platform.
pub(crate) const POCL: &str = "Portable Computing Language";

impl DeviceInfo {
    /// Returns the major version of PoCL; `None` for other implementations of OpenCL.
    pub fn pocl_version(&self) -> Option<u32> {
        if self.platform == POCL { self.driver_major() } else { None }
    }

    /// Returns `true` if the device computes in the host's memory.
    ///
    /// Processors and devices of PoCL compute there.
    pub(crate) fn computes_in_host_memory(&self) -> bool {
        self.kind == DeviceKind::Cpu || self.pocl_version().is_some()
    }

    /// Returns the major version of the driver, if its version begins with one.
    pub(crate) fn driver_major(&self) -> Option<u32> {
        let (major, _) = self.driver_version.split_once('.')?;
        major.parse().ok()
    }

    /// Returns `true` if the driver may confuse kernels and abort.
    ///
    /// The driver may abort when two queues run the same kernel on grids of different sizes. PoCL
    /// 5.0 aborts: on releasing the compiled code of one grid, PoCL takes it for the code of the
    /// other. PoCL 3.1, 6.0 and 7.1 do not abort. Nobody tried PoCL 4, which is assumed to abort.
    pub(crate) fn confuses_kernels(&self) -> bool {
        matches!(self.pocl_version(), Some(4 | 5))
    }

    /// Returns `true` if the device may hang in a context that it shares with other devices.
    ///
    /// These devices of PoCL run a command on the thread that ends another one. That thread may hold
    /// a lock that the command needs, if its event belongs to another device. PoCL 3.1 hangs so.
    pub(crate) fn hangs_in_common_contexts(&self) -> bool {
        let is_without_threads = ["basic", "cpu-minimal"].iter().any(|kind| self.name.starts_with(kind));
        self.pocl_version().is_some() && is_without_threads
    }

    /// Asks the driver for the properties.
    pub(super) fn query(platform: &str, device: &RawDevice) -> Result<Self, ClError> {
        let kind_bits = device.dev_type()?;
        let kind = if kind_bits & CL_DEVICE_TYPE_GPU != 0 {
            DeviceKind::Gpu
        } else if kind_bits & CL_DEVICE_TYPE_CPU != 0 {
            DeviceKind::Cpu
        } else if kind_bits & CL_DEVICE_TYPE_ACCELERATOR != 0 {
            DeviceKind::Accelerator
        } else {
            DeviceKind::Other
        };
        let extensions: Vec<String> = device.extensions()?.split_whitespace().map(str::to_owned).collect();
        // The configuration query is an error on some devices without doubles, so it alone cannot
        // decide.
        let fp64 = device.double_fp_config().is_ok_and(|bits| bits != 0)
            || extensions.iter().any(|e| e == "cl_khr_fp64");
        let capability =
            || Some([device.compute_capability_major_nv().ok()?, device.compute_capability_minor_nv().ok()?]);
        let by_system = if kind == DeviceKind::Cpu { caches::largest() } else { 0 };
        let tells_capability = extensions.iter().any(|e| e == "cl_nv_device_attribute_query");
        Ok(Self {
            platform: platform.to_owned(),
            name: device.name()?.trim().to_owned(),
            vendor: device.vendor()?.trim().to_owned(),
            driver_version: device.driver_version()?,
            opencl_version: device.version()?.trim().to_owned(),
            kind,
            fp64,
            memory_bytes: device.global_mem_size()?,
            max_allocation_bytes: device.max_mem_alloc_size()?,
            cache_bytes: device.global_mem_cache_size().unwrap_or(0).max(by_system),
            local_memory_bytes: device.local_mem_size()?,
            compute_units: device.max_compute_units()? as usize,
            clock_mhz: device.max_clock_frequency().unwrap_or(0),
            native_vector_width_float: device.native_vector_width_float()? as usize,
            native_vector_width_double: device.native_vector_width_double()? as usize,
            max_work_group_size: device.max_work_group_size()?,
            mem_base_addr_align_bits: device.mem_base_addr_align()? as usize,
            compute_capability: if tells_capability { capability() } else { None },
            extensions,
        })
    }
}
