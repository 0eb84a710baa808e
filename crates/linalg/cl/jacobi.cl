// Singular values by rotations of pairs of columns. The host defines GROUP, the work-items of a group.

#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void

// The sums of the group's numbers, for all of its work-items.
static inline double4 sums_of_group(__local double4 *sums, double4 own) {
    const uint item = get_local_id(0);
    sums[item] = own;
    for (uint step = GROUP / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < step) {
            sums[item] += sums[item + step];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sums[0];
}

static inline void rotate(rotation r, ulong rows, uint2 pair, __global element *x) {
    __global element *first = x + pair.s0 * rows;
    __global element *second = x + pair.s1 * rows;
    for (ulong i = get_local_id(0); i < rows; i += GROUP) {
        const wide p = widened(first[i]);
        const wide q = widened(second[i]);
        first[i] = narrowed(rotated_first(r, p, q));
        second[i] = narrowed(rotated_second(r, p, q));
    }
}

// A round: each group makes a pair of columns of X orthogonal, if their cosine is above the tolerance, and rotates those of V with them.
// worst[group] becomes its largest cosine.
GROUP_KERNEL rotate_pairs(uint rows, uint columns, uint players, uint turn, double tolerance, __global element *x, __global element *v,
                          __global double *worst) {
    __local double4 sums[GROUP];
    const uint2 pair = pair_of(players, turn, get_group_id(0));
    if (pair.s1 < columns) {
        double4 own = (double4)0.0;
        for (ulong i = get_local_id(0); i < rows; i += GROUP) {
            const wide p = widened(x[(ulong)pair.s0 * rows + i]);
            const wide q = widened(x[(ulong)pair.s1 * rows + i]);
            const wide product = times(conjugated(p), q);
            own += (double4)(square_of_wide(p), square_of_wide(q), first_part(product), second_part(product));
        }
        const double4 sum = sums_of_group(sums, own);
        const double size = hypot(sum.s2, sum.s3);
        const double norms = sqrt(sum.s0) * sqrt(sum.s1);
        if (norms > 0.0 && size > tolerance * norms) {
            const rotation r = rotation_of(sum.s0, sum.s1, wide_of(sum.s2, sum.s3), size);
            rotate(r, rows, pair, x);
            rotate(r, columns, pair, v);
            if (get_local_id(0) == 0) {
                worst[get_group_id(0)] = fmax(worst[get_group_id(0)], size / norms);
            }
        }
    }
}

// The norm of each column, a group for a column.
GROUP_KERNEL column_norms(uint rows, __global const element *x, __global double *norms) {
    __local double4 sums[GROUP];
    double4 own = (double4)0.0;
    for (ulong i = get_local_id(0); i < rows; i += GROUP) {
        own.s0 += square_of_wide(widened(x[(ulong)get_group_id(0) * rows + i]));
    }
    const double4 sum = sums_of_group(sums, own);
    if (get_local_id(0) == 0) {
        norms[get_group_id(0)] = sqrt(sum.s0);
    }
}

// Column j of Y is column order[j] of X times factors[j], or the complex conjugate of it.
__kernel void gather_columns(ulong rows, ulong columns, uint conjugate, __global const uint *order, __global const double *factors,
                             __global const element *x, __global element *y, ulong y_offset, ulong y_down, ulong y_across) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < rows && j < columns) {
        const element value = narrowed(factors[j] * widened(x[i + (ulong)order[j] * rows]));
        y[y_offset + i * y_down + j * y_across] = conjugate_if(conjugate, value);
    }
}
