// Double precision to single and back, and the sizes that tell when a refinement is done. Elements are those of the double precision.
//
// The host defines ITEMS, the work-items of a group that measures a column, a power of two.

#if IS_COMPLEX
#define narrow_element float2
#define to_narrow(x) convert_float2(x)
#define to_wide(x) convert_double2(x)
static inline double part_size(element x) { return fmax(fabs(x.s0), fabs(x.s1)); }
#else
#define narrow_element float
#define to_narrow(x) convert_float(x)
#define to_wide(x) convert_double(x)
static inline double part_size(element x) { return fabs(x); }
#endif

// Y = X in single precision, without gaps, column after column. Of a Hermitian matrix one triangle is read and written: with `part` 1 the
// lower one, with 2 the upper one, with 0 everything. `overflow` becomes 1 if a number is too large.
__kernel void narrow(ulong rows, ulong columns, uint part, __global const element *x, ulong x_offset, ulong x_down, ulong x_across,
                     __global narrow_element *y, __global uint *overflow) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < rows && j < columns && (part == 0 || (part == 1 ? i >= j : i <= j))) {
        const element value = x[x_offset + i * x_down + j * x_across];
        if (part_size(value) > (double)FLT_MAX) {
            atomic_or(overflow, 1u);
        }
        y[i + j * rows] = to_narrow(value);
    }
}

// X = X + D, or with `first` X = D, for D in single precision without gaps.
__kernel void add_widened(ulong rows, ulong columns, uint first, __global const narrow_element *d, __global element *x, ulong x_offset,
                          ulong x_down, ulong x_across) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < rows && j < columns) {
        __global element *to = x + x_offset + i * x_down + j * x_across;
        const element value = to_wide(d[i + j * rows]);
        *to = first ? value : *to + value;
    }
}

// The largest |Re| + |Im| of each column of R and of X, in pairs; a NaN counts as infinite. A work-group for a column.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
largest(ulong rows, __global const element *r, __global const element *x, ulong x_offset, ulong x_down, ulong x_across,
        __global double *sizes) {
    __local double best[2 * ITEMS];
    const uint item = get_local_id(0);
    const ulong j = get_group_id(0);
    double of_r = 0;
    double of_x = 0;
    for (ulong i = item; i < rows; i += ITEMS) {
        const double rest = size_of(r[i + j * rows]);
        const double found = size_of(x[x_offset + i * x_down + j * x_across]);
        of_r = fmax(of_r, isnan(rest) ? INFINITY : rest);
        of_x = fmax(of_x, isnan(found) ? INFINITY : found);
    }
    best[2 * item] = of_r;
    best[2 * item + 1] = of_x;
    for (uint half_way = ITEMS / 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_way) {
            best[2 * item] = fmax(best[2 * item], best[2 * (item + half_way)]);
            best[2 * item + 1] = fmax(best[2 * item + 1], best[2 * (item + half_way) + 1]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < 2) {
        sizes[2 * j + item] = best[item];
    }
}
