//! The building of programs before they are asked for.

use super::handle::Device;
use crate::kernel::KernelKey;

/// Builds programs one after another, for [`Device::program`] to find later.
///
/// The compilers of NVIDIA (580.159.04) and of PoCL 3.1 take one program at a time in a process.
/// Eight threads that ask at once gain nothing but longer waits.
///
/// A failure to build is not told here. Whoever asks for the program is told.
pub fn build_programs(wanted: &[(Device, KernelKey)]) {
    if let Some((first, _)) = wanted.first() {
        let missing = wanted.iter().filter(|(device, key)| !device.has_program(key)).count();
        first.core().compiling.expect(missing);
    }
    for (device, key) in wanted {
        if let Err(error) = device.program(key) {
            tracing::debug!("program {key}: {error}");
        }
    }
}
