// The common prelude of all kernels. The host defines:
//
//   REAL         float or double, the precision of the fields
//   REAL_BITS    32 or 64
//   IS_COMPLEX   1 if an element is a pair (re, im) of REAL
//   LANES        width of the vectors `vreal`, in REALs: 1, 2, 4, 8 or 16
//   LOCAL_SIZE   work-group size, in the first dimension, where kernels are compiled for one
//   INLINE_PTX   defined where NVIDIA's assembly may be used
//
// Types are macros, not typedefs: drivers then report the plain type of an argument.

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#define real REAL

// Before a loop of which several rounds shall be under way at once. PoCL warns of each such loop that it leaves as it is.
#ifdef INLINE_PTX
#define UNROLL_2 _Pragma("unroll 2")
#define UNROLL_4 _Pragma("unroll 4")
#define UNROLL_8 _Pragma("unroll 8")
#else
#define UNROLL_2
#define UNROLL_4
#define UNROLL_8
#endif

// Kernels whose vectors are explicit say so, that compilers which make vectors of work-items, as Intel's, leave them as they are: they would
// take ten times as long for code that is no faster.
#if LANES == 1
#define vreal real
#define EXPLICIT_VECTORS
#else
#define vreal JOIN(REAL, LANES)
#define EXPLICIT_VECTORS __attribute__((vec_type_hint(vreal)))
#endif

// Where a group may be one work-item, which needs none.
#if LOCAL_SIZE > 1
#define GROUP_BARRIER barrier(CLK_LOCAL_MEM_FENCE)
#else
#define GROUP_BARRIER
#endif

// Orders this work-item's accesses to global memory, before and after, for every work-item of the device.
// Standard OpenCL 1.2 has no such fence: mem_fence speaks of one work-group only. Without the device's own, the
// callers rely on atomics that depend on each other's results, see reduction.cl.
static inline void device_fence(void) {
    mem_fence(CLK_GLOBAL_MEM_FENCE);
#ifdef INLINE_PTX
    __asm__ volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}
