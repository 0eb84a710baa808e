// What devices tell each other by kernels of their own: flags (flags.cl), sums (mailboxes.cl), and the kernels of the probe.

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

#define SEND_PARAMETERS                                                                                                   \
    __global double *sums, const uint own, __global double *boxes_one, __global double *boxes_other,                      \
        __global uint *flags_one, __global uint *flags_other, const uint self, const uint devices, const uint epoch,      \
        const uint told, __global uint *mark

__kernel void peer_send(SEND_PARAMETERS)
{
    send_sums(sums, own, boxes_one, boxes_other, flags_one, flags_other, self, devices, epoch, told, mark);
}

// Sends them too, and then adds the sums of all devices into slot number `slot` of this one.
__kernel void peer_add(SEND_PARAMETERS, const uint slot, __global const double *boxes, __global uint *flags, const uint patience)
{
    send_sums(sums, own, boxes_one, boxes_other, flags_one, flags_other, self, devices, epoch, told, mark);
    add_sums(sums, own, self, devices, epoch, slot, boxes, flags, patience, mark);
}

// Sends an array of sums, up to ARRAY_DOUBLES of them, like send_sums, by all work-items of a group. The item that raises the flags is behind all of them.
static inline void send_array(__global const double *sums, const uint count, __global double *boxes_one, __global double *boxes_other,
                              __global uint *flags_one, __global uint *flags_other, const uint self, const uint devices,
                              const uint epoch, const uint told, __global uint *mark)
{
    const uint box = ARRAY_DOUBLES * ((epoch & 1) * devices + self);
    const int is_whole = *(volatile __global uint *)mark == 0;
    for (uint k = get_local_id(0); k < count; k += get_local_size(0)) {
        const double sum = is_whole ? sums[k] : (double)NAN;
        boxes_one[box + k] = sum;
        if (flags_other != flags_one)
            boxes_other[box + k] = sum;
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        fence_system();
        flag_raise_both(flags_one, flags_other, self, told);
    }
}

#define SEND_ARRAY_PARAMETERS                                                                                             \
    __global const double *sums, const uint count, __global double *boxes_one, __global double *boxes_other,              \
        __global uint *flags_one, __global uint *flags_other, const uint self, const uint devices, const uint epoch,      \
        const uint told, __global uint *mark

__kernel void peer_send_array(SEND_ARRAY_PARAMETERS)
{
    send_array(sums, count, boxes_one, boxes_other, flags_one, flags_other, self, devices, epoch, told, mark);
}

// Sends them too, and then adds the arrays of all devices in their order, like peer_add, into `totals`. One work-item waits, and the others for it.
__kernel void peer_add_array(SEND_ARRAY_PARAMETERS, __global double *totals, __global const double *boxes, __global uint *flags,
                             const uint patience)
{
    send_array(sums, count, boxes_one, boxes_other, flags_one, flags_other, self, devices, epoch, told, mark);
    if (get_local_id(0) == 0) {
        for (uint from = 0; from < devices; ++from)
            if (from != self)
                flag_wait(flags + from * FLAG_STRIDE, epoch, patience, mark, from + 1);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    volatile __global const double *box = boxes + ARRAY_DOUBLES * (epoch & 1) * devices;
    const int is_whole = *(volatile __global uint *)mark == 0;
    for (uint k = get_local_id(0); k < count; k += get_local_size(0)) {
        double sum = 0.0;
        for (uint from = 0; from < devices; ++from)
            sum += from == self ? sums[k] : box[ARRAY_DOUBLES * from + k];
        totals[k] = is_whole ? sum : (double)NAN;
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
