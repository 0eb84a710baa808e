//! Capabilities that are tried, because no query tells them.

use crate::queue::Core;
use opencl3::program::Program as RawProgram;

/// Kernel that reads the lane number, which only NVIDIA's assembly has.
const PTX: &str = r#"
__kernel void probe(__global uint *x) {
    uint lane;
    __asm__ volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
    __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
    x[get_global_id(0)] = lane;
}
"#;

/// Returns `true` if the compiler takes inline PTX.
///
/// Only NVIDIA is asked. A processor's compiler may take any assembly text now. Such a compiler
/// fails later, when it translates the text to machine code.
pub(crate) fn takes_inline_ptx(core: &Core) -> bool {
    if !core.info.vendor.to_uppercase().contains("NVIDIA") {
        return false;
    }
    let built = RawProgram::create_and_build_from_source(&core.context, PTX, "-cl-std=CL1.2");
    if let Err(error) = &built {
        tracing::debug!("device {} takes no inline PTX: {error}", core.label);
    }
    built.is_ok()
}
