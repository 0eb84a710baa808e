// Reads in patterns that memory likes more and less; writes are always in a row. LOCAL_SIZE is the work-group size;
// each work-group has one stretch of the `count` elements of y, a multiple of its size, its items take them in turns.

#define FOR_EACH_ELEMENT(i)                                                                                     \
    const size_t share = (count + get_num_groups(0) - 1) / get_num_groups(0);                                   \
    const size_t stretch = (share + LOCAL_SIZE - 1) / LOCAL_SIZE * LOCAL_SIZE;                                  \
    const size_t begin = get_group_id(0) * stretch;                                                             \
    const size_t end = min(begin + stretch, (size_t)count);                                                     \
    for (size_t i = begin + get_local_id(0); i < end; i += LOCAL_SIZE)

#define ACCESS __kernel __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void

// y[i] = x[start + stride i]
ACCESS access_strided(__global real *restrict y, __global const real *restrict x, ulong start, ulong stride,
                      ulong count) {
    FOR_EACH_ELEMENT(i) {
        y[i] = x[start + stride * i];
    }
}

// y[i] = x[list[i]]
ACCESS access_gather(__global real *restrict y, __global const real *restrict x, __global const uint *restrict list,
                     ulong count) {
    FOR_EACH_ELEMENT(i) {
        y[i] = x[list[i]];
    }
}
