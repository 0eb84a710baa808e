// The triad of the STREAM benchmark, a = b + s c: three streams through memory and next to no arithmetic.
// LOCAL_SIZE is the work-group size. Each group has one stretch of the vectors, its items take them in turns.
__kernel __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void
triad(__global vreal *restrict a, __global const vreal *restrict b, __global const vreal *restrict c, REAL s,
      ulong count) {
    const size_t stretch = (count + get_num_groups(0) - 1) / get_num_groups(0);
    const size_t begin = get_group_id(0) * stretch;
    const size_t end = min(begin + stretch, (size_t)count);
    for (size_t i = begin + get_local_id(0); i < end; i += LOCAL_SIZE) {
        a[i] = b[i] + s * c[i];
    }
}
