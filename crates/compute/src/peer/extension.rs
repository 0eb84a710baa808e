//! Functions that extensions of OpenCL add.

use crate::open::Device;
use cl3::load_library;
use std::ffi::{CStr, c_void};

/// Returns the address of a function of an extension, never null.
pub(super) fn function(device: &Device, name: &CStr) -> Result<*mut c_void, String> {
    let platform = device.core().raw.platform().map_err(|error| error.to_string())?;
    let library = load_library().as_ref().map_err(ToString::to_string)?;
    let address = library.clGetExtensionFunctionAddressForPlatform(platform, name.as_ptr());
    match address {
        Some(address) if !address.is_null() => Ok(address),
        _ => Err(format!("the driver has no {}", name.to_string_lossy())),
    }
}
