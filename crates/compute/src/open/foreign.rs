//! Devices in contexts that other programs of the process made, and the handles of ours.

use super::handle::Device;
use super::options::DeviceOptions;
use crate::error::{DeviceError, Result};
use crate::select::discover;
use cl3::context::{CL_CONTEXT_DEVICES, get_context_info, retain_context};
use opencl3::context::Context;
use opencl3::error_codes::ClError;
use opencl3::types::{cl_context, cl_device_id};
use std::any::Any;
use std::fmt;
use std::sync::Arc;

/// An OpenCL object of another program of the process, by its handle.
///
/// The boundary to programs whose objects come as numbers. A driver reads the memory that a handle
/// points to, so that nothing can check a wrong one. Whoever calls [`ForeignHandle::trusting`] answers
/// for it. With a handle that keeps this promise, the functions that take it are safe.
#[derive(Clone)]
pub struct ForeignHandle {
    handle: usize,
    owner: Arc<dyn Any + Send + Sync>,
}

impl ForeignHandle {
    /// Trusts a caller that a handle is that of a living object, which `owner` keeps.
    ///
    /// # Trust
    /// The handle is null, or that of an OpenCL object of the kind that it is used for. The object
    /// lives as long as `owner`. `owner` may be what returns memory to a pool.
    pub fn trusting(handle: usize, owner: impl Any + Send + Sync) -> Self {
        Self { handle, owner: Arc::new(owner) }
    }

    /// Returns the handle as a number.
    pub fn number(&self) -> usize {
        self.handle
    }

    /// Returns what keeps the object.
    pub(crate) fn owner(&self) -> &Arc<dyn Any + Send + Sync> {
        &self.owner
    }
}

impl fmt::Debug for ForeignHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignHandle({:#x})", self.handle)
    }
}

impl Device {
    /// Opens the device of a context that another program made, with queues of its own.
    ///
    /// Memory of that context then serves without a copy. `context` is a `cl_context`, and the
    /// device keeps a reference to it.
    ///
    /// # Errors
    /// * [`DeviceError::Foreign`] if the context has several devices, or one that
    ///   [`discover`] does not list.
    /// * The errors of [`open`](Self::open).
    pub fn open_in_foreign(context: &ForeignHandle, options: &DeviceOptions) -> Result<Self> {
        let foreign = |reason: &str| DeviceError::Foreign { what: "context", reason: reason.to_owned() };
        let handle = context.number() as cl_context;
        if handle.is_null() {
            return Err(foreign("its handle is null"));
        }
        let asked = get_context_info(handle, CL_CONTEXT_DEVICES);
        let ids = asked.map_err(|code| foreign(&ClError(code).to_string()))?.to_vec_intptr();
        let &[id] = ids.as_slice() else {
            return Err(foreign(&format!("it has {} devices; make one of a single device", ids.len())));
        };
        let found = discover().devices.into_iter().find(|found| found.raw.id() as isize == id);
        let found = found.ok_or_else(|| foreign("its device is not among those found here"))?;
        Self::open_in(&found, options, false, || {
            // SAFETY: `ForeignHandle` keeps the context alive. The reference is given back when
            // `Context` is dropped.
            unsafe { retain_context(handle) }
                .map_err(|code| DeviceError::opencl("clRetainContext", &found.label())(ClError(code)))?;
            Ok(Arc::new(Context::new(handle, &[id as cl_device_id])))
        })
    }

    /// Returns the `cl_context` as a number. It lives as long as the device.
    pub fn context_handle(&self) -> usize {
        self.core().context.get() as usize
    }

    /// Returns the `cl_command_queue` of kernels as a number. It lives as long as the device.
    ///
    /// Commands that another program puts there run in order with those of this library.
    pub fn queue_handle(&self) -> usize {
        self.core().compute.get() as usize
    }
}
