// Eigenvalues of a real tridiagonal matrix from signs of pivots, each without the others.
//
// SECTIONS work-items share an eigenvalue, and GROUP is a multiple of SECTIONS. The number of negative pivots of T - x is the number of
// eigenvalues below x. The work-items cut the interval of their eigenvalue into SECTIONS + 1 parts of one length, and keep the part that holds it,
// `rounds` times. `squares` has the squares of the elements beside the diagonal, the element before the first row's, 0, included.
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
section(uint n, uint first, uint count, uint rounds, double low, double high, __global const double *diagonal, __global const double *squares,
        __global double *values) {
    __local uint above[GROUP];
    const uint item = get_local_id(0);
    const uint part = item % SECTIONS;
    const uint k = get_global_id(0) / SECTIONS;
    double from = low;
    double to = high;
    for (uint round = 0; round < rounds; round++) {
        const double width = (to - from) / (SECTIONS + 1);
        const double x = from + (part + 1) * width;
        double pivot = 1.0;
        uint negative = 0;
        for (uint i = 0; i < n; i++) {
            pivot = (diagonal[i] - x) - squares[i] / pivot;
            // The numbers are near 1, so that this changes nothing, and no quotient leaves the range.
            pivot = fabs(pivot) < 1e-290 ? -1e-290 : pivot;
            negative += pivot < 0.0;
        }
        above[item] = negative > first + k;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint parts = 0;
        for (uint other = 0; other < SECTIONS; other++) {
            parts += above[item - part + other] ? 0 : 1;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        from += parts * width;
        to = from + width;
    }
    if (k < count && part == 0) {
        values[k] = 0.5 * (from + to);
    }
}
