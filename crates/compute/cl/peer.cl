// Devices that reach each other's memory: flags, and the kernels of the probe.
//
// A flag is a number that only grows, the epoch of what it speaks of. It lies in the memory of the device that waits for it, alone in its cache
// line, FLAG_STRIDE words from the next. Who raises it has written what it speaks of before.
//
// On NVIDIA's devices flags are written with release and read with acquire semantics for the system. Elsewhere, on processors, atomics are
// barriers of their own.

#define FLAG_STRIDE 32

#ifdef INLINE_PTX
static inline uint flag_read(volatile __global uint *flag)
{
    uint value;
    __asm__ volatile("ld.acquire.sys.global.u32 %0, [%1];" : "=r"(value) : "l"(flag) : "memory");
    return value;
}

static inline void flag_raise(volatile __global uint *flag, const uint epoch)
{
    __asm__ volatile("st.release.sys.global.u32 [%0], %1;" ::"l"(flag), "r"(epoch) : "memory");
}

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
    const uint value = atomic_or(flag, 0u);
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    return value;
}

static inline void flag_raise(volatile __global uint *flag, const uint epoch)
{
    mem_fence(CLK_GLOBAL_MEM_FENCE);
    atomic_xchg(flag, epoch);
}

// There is no clock: rounds are counted, each of which takes a processor 10 to 100 ns.
#define NOW 0UL
#define IS_OVER(begun, round, patience) (round > (ulong)patience * 20000UL)
#endif

// Waits until the flag is at `epoch`, but no longer than `patience` milliseconds. In vain it leaves `name`, which is not 0, as the mark, unless there is
// one. Where there is a mark nobody waits any more. Epochs may run over.
static inline uint flag_wait(volatile __global uint *flag, const uint epoch, const uint patience, volatile __global uint *mark, const uint name)
{
    if ((int)(flag_read(flag) - epoch) >= 0)
        return 1;
    const ulong begun = NOW;
    for (ulong round = 1;; ++round) {
        if ((int)(flag_read(flag) - epoch) >= 0)
            return 1;
        // To look at the clock takes as long as to look at the flag.
        if (round % 64 == 0 && (*mark != 0 || IS_OVER(begun, round, patience)))
            break;
    }
    atomic_cmpxchg(mark, 0u, name);
    return 0;
}

// Raises the flags whose bits `which` has. Work-items are as many as a word has bits.
__kernel void peer_raise(__global uint *flags, const uint which, const uint epoch)
{
    const uint k = get_local_id(0);
    if (which >> k & 1)
        flag_raise(flags + k * FLAG_STRIDE, epoch);
}

// Waits for them. The name of a flag is its number and 1.
__kernel void peer_wait(__global uint *flags, const uint which, const uint epoch, const uint patience, __global uint *mark)
{
    const uint k = get_local_id(0);
    if (which >> k & 1)
        flag_wait(flags + k * FLAG_STRIDE, epoch, patience, mark, k + 1);
}

// A number for each place that no other seed has there.
#define WORD(seed, i) (((uint)(i) * 2654435761u) ^ (seed))

__kernel void peer_write(__global uint *to, const uint seed, const uint count)
{
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = WORD(seed, i);
}

__kernel void peer_read(__global const uint *from, __global uint *to, const uint count)
{
    for (uint i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = from[i];
}

// Rounds of question and answer between two devices: the first raises flag 0 and waits for flag 1, the second waits and answers.
__kernel void peer_ping(__global uint *flags, const uint second, const uint rounds, const uint patience, __global uint *mark)
{
    for (uint round = 1; round <= rounds; ++round) {
        if (!second)
            flag_raise(flags, round);
        if (!flag_wait(flags + (second ? 0 : FLAG_STRIDE), round, patience, mark, 1))
            return;
        if (second)
            flag_raise(flags + FLAG_STRIDE, round);
    }
}
