// What is added up over groups: the matrix, and the gradient. Twin: crates/xc/src/host/evaluate.rs.

// Adds the square matrices of a batch, each with its transpose, to the whole one.
//
// A work-item owns an element, and adds the groups that have both shells in their order: no atomics, always the same bits. `begins` and `entries` have
// for each shell the groups that it is significant in, and the number of its first function there; `places` has for each function its shell and its
// number within.
__kernel void xc_scatter(__global const ulong *groups, const uint all_functions, __global const uint2 *places,
                         __global const uint *begins, __global const uint2 *entries, __global const real *squares,
                         __global double *matrix) {
    const ulong elements = (ulong)all_functions * all_functions;
    for (ulong e = get_global_id(0); e < elements; e += get_global_size(0)) {
        const uint row = (uint)(e / all_functions), column = (uint)(e % all_functions);
        if (column <= row) {
            const uint2 mine = places[row], other = places[column];
            uint a = begins[mine.x], b = begins[other.x];
            const uint a_end = begins[mine.x + 1], b_end = begins[other.x + 1];
            double sum = 0;
            while (a < a_end && b < b_end) {
                const uint2 left = entries[a], right = entries[b];
                if (left.x == right.x) {
                    __global const ulong *group = groups + GROUP_WORDS * left.x;
                    const ulong functions = group[2];
                    const ulong i = left.y + mine.y, j = right.y + other.y;
                    sum += (double)squares[group[7] + i * functions + j] + (double)squares[group[7] + j * functions + i];
                }
                a += left.x <= right.x;
                b += right.x <= left.x;
            }
            const double total = matrix[e] + sum;
            matrix[e] = total;
            matrix[(ulong)column * all_functions + row] = total;
        }
    }
}

// Minus twice the sum over points of chi' Y + (chi'' c) X for each function of each group, c the last three factors. Functions have ten planes, of which
// the derivatives of the derivative along x are 4, 5 and 6, along y 5, 7 and 8, along z 6, 8 and 9.
__kernel void xc_pull(__global const ulong *groups, const ulong all_points, const ulong plane, __global const real *chi,
                      __global const real *products, __global const real *weighted_products, __global const double *factors,
                      const uint spin, __global double *pulls) {
    GROUP;
    __global const double *factor = factors + 4 * spin * all_points + first_point;
    for (uint f = get_global_id(0); f < functions; f += get_global_size(0)) {
        double sum[3] = {0, 0, 0};
        for (uint p = 0; p < points; p++) {
            const ulong at = first_value + (ulong)f * points + p;
            const double cx = factor[all_points + p], cy = factor[2 * all_points + p], cz = factor[3 * all_points + p];
            const double x = products[at], y = weighted_products[at];
            __global const real *values = chi + at;
            const double xy = values[5 * plane], xz = values[6 * plane], yz = values[8 * plane];
            sum[0] += values[plane] * y + (values[4 * plane] * cx + xy * cy + xz * cz) * x;
            sum[1] += values[2 * plane] * y + (xy * cx + values[7 * plane] * cy + yz * cz) * x;
            sum[2] += values[3 * plane] * y + (xz * cx + yz * cy + values[9 * plane] * cz) * x;
        }
        for (uint axis = 0; axis < 3; axis++) {
            pulls[3 * ((ulong)numbers + f) + axis] += -2 * sum[axis];
        }
    }
}
