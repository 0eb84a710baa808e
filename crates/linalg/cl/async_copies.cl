// Copies to local memory that work-items only start, in NVIDIA's assembly. Without it copies are done at once, and nobody waits.

#ifdef INLINE_PTX

static inline uint local_address(__local const void *p) { return (uint)(size_t)p; }

#define CLOSE_COPIES __asm__ volatile("cp.async.commit_group;" ::: "memory")
#define WAIT_FOR_COPIES(groups_under_way)                                                                       \
    __asm__ volatile("cp.async.wait_group %0;" ::"n"(groups_under_way) : "memory")

#else

#define CLOSE_COPIES
#define WAIT_FOR_COPIES(groups_under_way)

#endif
