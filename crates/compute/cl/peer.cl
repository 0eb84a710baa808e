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

// Sends the sums of a launch, the four doubles of a slot, to box number `from` of the mailbox of another device, and raises its flag. A mailbox has a
// box for each device in each of two epochs in turn.
__kernel void peer_send(__global const double *sums, const uint slot, __global double *boxes, __global uint *flags, const uint from,
                        const uint devices, const uint epoch)
{
    __global double *box = boxes + 4 * ((epoch & 1) * devices + from);
    for (uint k = 0; k < 4; ++k)
        box[k] = sums[4 * slot + k];
    flag_raise(flags + from * FLAG_STRIDE, epoch);
}

// Adds the sums of all devices in their order, as the host would, into a slot of this device, number `self`, whose own are in another one. In
// vain it gives no number. With a mark other sums are not to be trusted either.
__kernel void peer_add(__global double *sums, const uint slot, const uint own, __global const double *boxes, __global uint *flags,
                       const uint self, const uint devices, const uint epoch, const uint patience, __global uint *mark)
{
    for (uint from = 0; from < devices; ++from)
        if (from != self)
            flag_wait(flags + from * FLAG_STRIDE, epoch, patience, mark, from + 1);
    volatile __global const double *box = boxes + 4 * (epoch & 1) * devices;
    const int is_whole = *(volatile __global uint *)mark == 0;
    for (uint k = 0; k < 4; ++k) {
        double sum = 0.0;
        for (uint from = 0; from < devices; ++from)
            sum += from == self ? sums[4 * own + k] : box[4 * from + k];
        sums[4 * slot + k] = is_whole ? sum : (double)NAN;
    }
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
