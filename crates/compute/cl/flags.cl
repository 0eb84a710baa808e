// Flags by which kernels of different devices wait for each other.
//
// A flag is a number that only grows, the epoch of what it speaks of. It lies in the memory of the device that waits for it, alone in its cache
// line, FLAG_STRIDE words from the next. Who raises it has written what it speaks of before.
//
// On NVIDIA's devices flags are written with release semantics for the system, and a fence follows where they are read. Elsewhere, on
// processors, atomics are barriers of their own.

#define FLAG_STRIDE 32

#ifdef INLINE_PTX
static inline uint flag_read(volatile __global uint *flag)
{
    uint value;
    __asm__ volatile("ld.relaxed.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

static inline void flag_raise(volatile __global uint *flag, const uint epoch)
{
    __asm__ volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(epoch) : "memory");
}

// Orders this work-item's accesses to memory, before and after, for all devices.
static inline void fence_system(void) { __asm__ volatile("fence.acq_rel.sys;" ::: "memory"); }

// Nanoseconds.
static inline ulong now(void)
{
    ulong time;
    __asm__ volatile("mov.u64 %0, %%globaltimer;" : "=l"(time)::"memory");
    return time;
}
#define NOW now()
#define IS_OVER(begun, round, patience) (now() - begun > (ulong)patience * 1000000UL)
#else
static inline uint flag_read(volatile __global uint *flag)
{
    return atomic_or(flag, 0u);
}

static inline void flag_raise(volatile __global uint *flag, const uint epoch)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(flag, epoch);
}

static inline void fence_system(void) { mem_fence(CLK_GLOBAL_MEM_FENCE); }

// There is no clock: rounds are counted, each of which takes a processor 10 to 100 ns.
#define NOW 0UL
#define IS_OVER(begun, round, patience) (round > (ulong)patience * 20000UL)
#endif

// Waits until the flag is at `epoch`, but no longer than `patience` milliseconds. In vain it leaves `name`, which is not 0, as the mark, unless there is
// one. Where there is a mark nobody waits any more. Epochs may run over.
static inline uint flag_wait(volatile __global uint *flag, const uint epoch, const uint patience, volatile __global uint *mark, const uint name)
{
    const ulong begun = NOW;
    for (ulong round = 1;; ++round) {
        if ((int)(flag_read(flag) - epoch) >= 0) {
            // Behind the last look only: to acquire is to forget what the cache of the first level holds.
            fence_system();
            return 1;
        }
        // To look at the clock takes as long as to look at the flag.
        if (round % 64 == 0 && (*mark != 0 || IS_OVER(begun, round, patience)))
            break;
    }
    atomic_cmpxchg(mark, 0u, name);
    return 0;
}

// For `groups` work-groups of a kernel that together write what flags speak of: counts those that are done, and gives 1 to one work-item of
// the last of them, which then raises the flags. To be called by all work-items of these groups when they have written. `done` is 0 between
// launches.
#ifdef INLINE_PTX
static inline uint is_behind_all_groups(volatile __global uint *done, const uint groups)
{
    uint is_behind = 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0 && get_local_id(1) == 0) {
        fence_system();
        if (atomic_inc(done) == groups - 1) {
            fence_system();
            atomic_xchg(done, 0u);
            is_behind = 1;
        }
    }
    return is_behind;
}
#else
// Counts work-items: a barrier that only some groups of a launch reach is none on PoCL 3.1.
static inline uint is_behind_all_groups(volatile __global uint *done, const uint groups)
{
    fence_system();
    if (atomic_inc(done) != groups * get_local_size(0) * get_local_size(1) * get_local_size(2) - 1)
        return 0;
    atomic_xchg(done, 0u);
    return 1;
}
#endif

// Raises flag number `self` at two devices, or at one that is given twice.
static inline void flag_raise_both(__global uint *at_one, __global uint *at_other, const uint self, const uint epoch)
{
    flag_raise(at_one + self * FLAG_STRIDE, epoch);
    if (at_other != at_one)
        flag_raise(at_other + self * FLAG_STRIDE, epoch);
}
