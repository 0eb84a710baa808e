// What is added up over groups: the matrix, and the gradient. Twin: crates/xc/src/host/evaluate.rs.

// Adds the square matrices of a batch, each with its transpose, to the whole one.
//
// A work-item owns an element, and adds the groups that have both shells in their order: no atomics, always the same bits. `begins` and `entries` have
// for each shell the groups that it is significant in, and the number of its first function there; `places` has for each function its shell and its
// number within.
__kernel void xc_scatter(__global const ulong *groups, const uint all_functions, __global const uint2 *places,
                         __global const uint *begins, __global const uint2 *entries, __global const real *squares,
                         __global wide *matrix) {
    const ulong elements = (ulong)all_functions * all_functions;
    for (ulong e = get_global_id(0); e < elements; e += get_global_size(0)) {
        const uint row = (uint)(e / all_functions), column = (uint)(e % all_functions);
        if (column <= row) {
            const uint2 mine = places[row], other = places[column];
            uint a = begins[mine.x], b = begins[other.x];
            const uint a_end = begins[mine.x + 1], b_end = begins[other.x + 1];
            vsum sum;
            load_sum(&sum, matrix + e, elements);
            while (a < a_end && b < b_end) {
                const uint2 left = entries[a], right = entries[b];
                if (left.x == right.x) {
                    __global const ulong *group = groups + GROUP_WORDS * left.x;
                    const ulong functions = group[2];
                    const ulong i = left.y + mine.y, j = right.y + other.y;
                    add(&sum, to_vwide(squares[group[7] + i * functions + j]));
                    add(&sum, to_vwide(squares[group[7] + j * functions + i]));
                }
                a += left.x <= right.x;
                b += right.x <= left.x;
            }
            store_sum(&sum, 1, matrix + e, elements);
            store_sum(&sum, 1, matrix + (ulong)column * all_functions + row, elements);
        }
    }
}

// Minus twice the sum over points of chi' Y + (chi'' c) X for each function of each group, c the last three factors. Functions have ten planes, of which
// the derivatives of the derivative along x are 4, 5 and 6, along y 5, 7 and 8, along z 6, 8 and 9.
__kernel void xc_pull(__global const ulong *groups, const ulong all_points, const ulong plane, __global const real *chi,
                      __global const real *products, __global const real *weighted_products, __global const wide *factors,
                      const uint spin, const ulong pull_count, __global wide *pulls) {
    GROUP;
    __global const wide *factor = factors + 4 * spin * all_points + first_point;
    for (uint f = get_global_id(0); f < functions; f += get_global_size(0)) {
        vsum sum[3];
        for (uint axis = 0; axis < 3; axis++) {
            clear_sum(&sum[axis]);
        }
        for (uint p = 0; p < points; p++) {
            const ulong at = first_value + (ulong)f * points + p;
            const wide cx = factor[all_points + p], cy = factor[2 * all_points + p], cz = factor[3 * all_points + p];
            const wide x = products[at], y = weighted_products[at];
            __global const real *values = chi + at;
            const wide xy = values[5 * plane], xz = values[6 * plane], yz = values[8 * plane];
            add_product(&sum[0], to_vwide(values[plane]), y);
            add_product(&sum[0], values[4 * plane] * cx + xy * cy + xz * cz, x);
            add_product(&sum[1], to_vwide(values[2 * plane]), y);
            add_product(&sum[1], xy * cx + values[7 * plane] * cy + yz * cz, x);
            add_product(&sum[2], to_vwide(values[3 * plane]), y);
            add_product(&sum[2], xz * cx + yz * cy + values[9 * plane] * cz, x);
        }
        for (uint axis = 0; axis < 3; axis++) {
            __global wide *pull = pulls + 3 * ((ulong)numbers + f) + axis;
            vsum total;
            load_sum(&total, pull, pull_count);
            add_sum(&total, -2, &sum[axis]);
            store_sum(&total, 1, pull, pull_count);
        }
    }
}
