//! Building programs before they are asked for.

use super::handle::Device;
use crate::kernel::KernelKey;

/// Builds programs for [`Device::program`] to have them when they are asked for, one after the other: the compilers of NVIDIA (580.159.04) and of PoCL 3.1 take
/// one at a time in a process, and give nothing for eight threads that ask at once but longer waits.
///
/// What does not build is not told here: whoever asks for it is.
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
