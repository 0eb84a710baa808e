// Sums of several devices, by mailboxes in the memory of each. For kernels with flags.cl.

// Sends the sums of a launch, the four doubles of slot `own`, to box number `self` of the mailboxes of two other devices, or of one that is
// given twice, and raises its flags there to `told`. A mailbox has a box for each device in each of two epochs in turn.
// A device with a mark has computed with what another one has not sent, and sends no numbers.
static inline void send_sums(__global const double *sums, const uint own, __global double *boxes_one, __global double *boxes_other,
                             __global uint *flags_one, __global uint *flags_other, const uint self, const uint devices,
                             const uint epoch, const uint told, __global uint *mark)
{
    const uint box = 4 * ((epoch & 1) * devices + self);
    const int is_whole = *(volatile __global uint *)mark == 0;
    for (uint k = 0; k < 4; ++k) {
        const double sum = is_whole ? sums[4 * own + k] : (double)NAN;
        boxes_one[box + k] = sum;
        if (flags_other != flags_one)
            boxes_other[box + k] = sum;
    }
    flag_raise_both(flags_one, flags_other, self, told);
}

// Waits for the sums of all others, and adds those of all devices in their order, as the host would, into slot number `slot` of this
// device, number `self`. In vain it gives no number. With a mark other sums are not to be trusted either.
static inline void add_sums(__global double *sums, const uint own, const uint self, const uint devices, const uint epoch, const uint slot,
                            __global const double *boxes, __global uint *flags, const uint patience, __global uint *mark)
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
