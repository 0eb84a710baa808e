// A barrier of all work-groups of a launch.
//
// All groups must run at the same time: the host launches at most one for each compute unit, and several only with INLINE_PTX. A single group
// needs no more than its own barrier.
//
// `arrived` is 0 before the launch, and `wanted` is the number of groups times the number of meetings so far, this one included. What was
// written before the meeting is read by all groups after it.
static inline __attribute__((always_inline)) void meet(__global uint *arrived, uint wanted, uint groups) {
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#ifdef INLINE_PTX
    if (groups > 1) {
        if (get_local_id(0) == 0) {
            uint seen;
            __asm__ volatile("fence.acq_rel.gpu;\n\tred.release.gpu.global.add.u32 [%0], 1;" ::"l"((ulong)arrived)
                             : "memory");
            do {
                __asm__ volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"((ulong)arrived) : "memory");
            } while (seen < wanted);
            __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    }
#endif
}
