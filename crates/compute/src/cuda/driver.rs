//! The few functions of libcuda that are used.

// The names come from cuda.h.
#![allow(non_snake_case)]

use super::identity::Identity;
use crate::sync::lock;
use dlopen2::wrapper::{Container, WrapperApi};
use std::ffi::{c_int, c_uint, c_void};
use std::os::fd::{FromRawFd, OwnedFd};
use std::ptr;
use std::sync::{Mutex, OnceLock};

type Handle = u64;
type Context = *mut c_void;

/// The functions as declared in cuda.h.
///
/// A library without one of them is too old.
#[derive(WrapperApi)]
struct Functions {
    cuInit: unsafe extern "C" fn(flags: c_uint) -> c_int,
    cuDeviceGetCount: unsafe extern "C" fn(count: *mut c_int) -> c_int,
    cuDeviceGet: unsafe extern "C" fn(device: *mut c_int, ordinal: c_int) -> c_int,
    cuDeviceGetUuid: unsafe extern "C" fn(uuid: *mut [u8; 16], device: c_int) -> c_int,
    cuDeviceGetAttribute: unsafe extern "C" fn(value: *mut c_int, attribute: c_int, device: c_int) -> c_int,
    cuDeviceCanAccessPeer: unsafe extern "C" fn(can: *mut c_int, device: c_int, peer: c_int) -> c_int,
    cuDevicePrimaryCtxRetain: unsafe extern "C" fn(context: *mut Context, device: c_int) -> c_int,
    cuCtxPushCurrent_v2: unsafe extern "C" fn(context: Context) -> c_int,
    cuCtxPopCurrent_v2: unsafe extern "C" fn(context: *mut Context) -> c_int,
    cuMemGetAllocationGranularity:
        unsafe extern "C" fn(granularity: *mut usize, properties: *const Properties, option: c_int) -> c_int,
    cuMemCreate: unsafe extern "C" fn(
        handle: *mut Handle,
        size: usize,
        properties: *const Properties,
        flags: u64,
    ) -> c_int,
    cuMemExportToShareableHandle:
        unsafe extern "C" fn(descriptor: *mut c_int, handle: Handle, kind: c_int, flags: u64) -> c_int,
    cuMemRelease: unsafe extern "C" fn(handle: Handle) -> c_int,
}

/// CUmemAllocationProp.
#[repr(C)]
struct Properties {
    /// CU_MEM_ALLOCATION_TYPE_PINNED.
    kind: c_int,
    handle_kind: c_int,
    /// CU_MEM_LOCATION_TYPE_DEVICE or CU_MEM_LOCATION_TYPE_HOST_NUMA.
    location_kind: c_int,
    location: c_int,
    windows: *mut c_void,
    flags: [u8; 8],
}

/// CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR.
const DESCRIPTOR: c_int = 1;

/// CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, …_DEVICE_ID, …_DOMAIN_ID.
const PCI: [c_int; 3] = [33, 34, 50];

/// CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID.
const HOST_NODE: c_int = 134;

/// The place of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryLocation {
    /// The memory of the device.
    Device,
    /// The memory of the host that is nearest to the device.
    Host,
}

/// libcuda, initialised.
pub(crate) struct Driver {
    functions: Container<Functions>,
    /// The contexts of devices, by their addresses.
    contexts: Mutex<Vec<(c_int, usize)>>,
}

/// One of the driver's devices.
pub(crate) struct Owner<'a> {
    driver: &'a Driver,
    device: c_int,
}

fn check(call: &str, status: c_int) -> Result<(), String> {
    if status == 0 { Ok(()) } else { Err(format!("{call} of libcuda: status {status}")) }
}

impl Driver {
    /// Returns the driver, opened once in the life of the process.
    pub fn get() -> Result<&'static Self, String> {
        static DRIVER: OnceLock<Result<Driver, String>> = OnceLock::new();
        DRIVER.get_or_init(Self::open).as_ref().map_err(Clone::clone)
    }

    fn open() -> Result<Self, String> {
        // SAFETY: the library of this name is NVIDIA's driver, whose functions have these
        // signatures.
        let functions = unsafe { Container::<Functions>::load("libcuda.so.1") };
        let functions = functions.map_err(|error| format!("libcuda.so.1: {error}"))?;
        // SAFETY: this must be called first, with 0.
        check("cuInit", unsafe { functions.cuInit(0) })?;
        Ok(Self { functions, contexts: Mutex::default() })
    }

    /// Returns the device of this identity.
    pub fn owner(&self, wanted: Identity) -> Result<Owner<'_>, String> {
        let mut count = 0;
        // SAFETY: a place for the count.
        check("cuDeviceGetCount", unsafe { self.functions.cuDeviceGetCount(&mut count) })?;
        for ordinal in 0..count {
            let mut device = 0;
            // SAFETY: a place for the device, and a number that there is.
            check("cuDeviceGet", unsafe { self.functions.cuDeviceGet(&mut device, ordinal) })?;
            if self.is(device, wanted)? {
                return Ok(Owner { driver: self, device });
            }
        }
        Err(format!("libcuda has {count} devices, but none is {wanted:?}"))
    }

    fn is(&self, device: c_int, wanted: Identity) -> Result<bool, String> {
        match wanted {
            Identity::Uuid(wanted) => {
                let mut uuid = [0; 16];
                // SAFETY: a place for 16 bytes.
                check("cuDeviceGetUuid", unsafe { self.functions.cuDeviceGetUuid(&mut uuid, device) })?;
                Ok(uuid == wanted)
            }
            Identity::Pci { bus, slot, domain } => {
                let mut found = [0; 3];
                for (value, attribute) in found.iter_mut().zip(PCI) {
                    // SAFETY: a place for the value.
                    let status = unsafe { self.functions.cuDeviceGetAttribute(value, attribute, device) };
                    check("cuDeviceGetAttribute", status)?;
                }
                let [found_bus, found_slot, found_domain] = found.map(|value| value as u32);
                // Some drivers put the function of the device into the low bits of its slot.
                let same_slot = found_slot == slot || found_slot == slot >> 3;
                Ok(found_bus == bus && same_slot && domain.is_none_or(|domain| domain == found_domain))
            }
        }
    }
}

impl Owner<'_> {
    /// Tells whether kernels of this device can reach the memory of another one.
    pub fn can_reach(&self, other: &Self) -> Result<bool, String> {
        let mut can = 0;
        // SAFETY: a place for the answer, and two devices of the driver.
        let status =
            unsafe { self.driver.functions.cuDeviceCanAccessPeer(&mut can, self.device, other.device) };
        check("cuDeviceCanAccessPeer", status)?;
        Ok(can != 0)
    }

    /// Allocates at least so many bytes at a place.
    ///
    /// Returns a descriptor of the memory and the number of its bytes. The memory lives as long as
    /// the descriptor or an import of it.
    pub fn allocate(&self, location: MemoryLocation, bytes: usize) -> Result<(OwnedFd, usize), String> {
        let functions = &self.driver.functions;
        let context = self.context()?;
        // SAFETY: the context stays, and is taken from this thread again below.
        check("cuCtxPushCurrent", unsafe { functions.cuCtxPushCurrent_v2(context) })?;
        let allocated = self.allocate_in_context(location, bytes);
        let mut popped = ptr::null_mut();
        // SAFETY: a place for the context that was pushed above.
        check("cuCtxPopCurrent", unsafe { functions.cuCtxPopCurrent_v2(&mut popped) })?;
        allocated
    }

    /// Returns the primary context of the device.
    ///
    /// The context is kept as long as the process: to make it takes much longer than to allocate.
    fn context(&self) -> Result<Context, String> {
        let mut contexts = lock(&self.driver.contexts);
        if let Some((_, context)) = contexts.iter().find(|(device, _)| *device == self.device) {
            return Ok(*context as Context);
        }
        let mut context = ptr::null_mut();
        // SAFETY: a place for the context.
        check("cuDevicePrimaryCtxRetain", unsafe {
            self.driver.functions.cuDevicePrimaryCtxRetain(&mut context, self.device)
        })?;
        contexts.push((self.device, context as usize));
        Ok(context)
    }

    /// Returns CU_MEM_LOCATION_TYPE and the number of a place.
    fn location(&self, location: MemoryLocation) -> (c_int, c_int) {
        if location == MemoryLocation::Device {
            return (1, self.device);
        }
        let mut node = 0;
        // SAFETY: a place for the value.
        let status = unsafe { self.driver.functions.cuDeviceGetAttribute(&mut node, HOST_NODE, self.device) };
        // A machine without several nodes has node 0.
        (3, if status == 0 { node.max(0) } else { 0 })
    }

    fn allocate_in_context(
        &self,
        location: MemoryLocation,
        bytes: usize,
    ) -> Result<(OwnedFd, usize), String> {
        let functions = &self.driver.functions;
        let (location_kind, location) = self.location(location);
        let properties = Properties {
            kind: 1,
            handle_kind: DESCRIPTOR,
            location_kind,
            location,
            windows: ptr::null_mut(),
            flags: [0; 8],
        };
        let mut granularity = 0;
        // SAFETY: a place for the result; the properties have the layout of cuda.h.
        check("cuMemGetAllocationGranularity", unsafe {
            functions.cuMemGetAllocationGranularity(&mut granularity, &properties, 0)
        })?;
        let bytes = bytes.max(1).next_multiple_of(granularity.max(1));
        let mut handle = 0;
        // SAFETY: a place for the handle; the properties have the layout of cuda.h. The size is a
        // multiple of the granularity.
        check("cuMemCreate", unsafe { functions.cuMemCreate(&mut handle, bytes, &properties, 0) })?;
        let mut descriptor = -1;
        // SAFETY: a place for the descriptor, and a handle that allows this kind.
        let exported =
            unsafe { functions.cuMemExportToShareableHandle(&mut descriptor, handle, DESCRIPTOR, 0) };
        // SAFETY: the handle is given back once. The descriptor keeps the memory.
        let released = unsafe { functions.cuMemRelease(handle) };
        check("cuMemExportToShareableHandle", exported)?;
        // SAFETY: a descriptor of this process that nobody else owns.
        let descriptor = unsafe { OwnedFd::from_raw_fd(descriptor) };
        check("cuMemRelease", released)?;
        Ok((descriptor, bytes))
    }
}
