// Densities at points, and what the factors of a functional make of functions. Twin: crates/xc/src/host/evaluate.rs.
//
//   PLANES    1 without the gradient of the density, 4 with it

// The part of a density matrix that belongs to a group's functions.
__kernel void xc_gather(__global const ulong *groups, __global const uint *group_functions, const uint all_functions,
                        __global const real *density, __global real *squares) {
    GROUP;
    __global const uint *number = group_functions + numbers;
    for (uint e = get_global_id(0); e < functions * functions; e += get_global_size(0)) {
        squares[square + e] = density[(ulong)number[e / functions] * all_functions + number[e % functions]];
    }
}

// rho = sum X chi and its gradient 2 sum X chi': four planes of all points for each spin.
__kernel EXPLICIT_VECTORS void xc_density(__global const ulong *groups, const ulong all_points, const ulong plane,
                                          __global const real *chi, __global const real *products, const uint spin,
                                          __global wide *values) {
    GROUP;
    FOR_EACH_VECTOR {
        vsum sum[PLANES];
        for (uint c = 0; c < PLANES; c++) {
            clear_sum(&sum[c]);
        }
        ulong at = first_value + p;
        for (uint f = 0; f < functions; f++, at += points) {
            const vwide x = to_vwide(load_lanes(products + at));
            for (uint c = 0; c < PLANES; c++) {
                add_product(&sum[c], x, to_vwide(load_lanes(chi + c * plane + at)));
            }
        }
        __global wide *to = values + 4 * spin * all_points + first_point + p;
        for (uint c = 0; c < PLANES; c++) {
            store_sum(&sum[c], c == 0 ? 1 : 2, to + c * all_points, 8 * all_points);
        }
    }
}

// `scale` times the first factor times chi, and the other factors times the derivatives of chi.
__kernel EXPLICIT_VECTORS void xc_weighted(__global const ulong *groups, const ulong all_points, const ulong plane,
                                           __global const real *chi, __global const wide *factors, const uint spin,
                                           const wide scale, __global real *weighted) {
    GROUP;
    FOR_EACH_VECTOR {
        __global const wide *from = factors + 4 * spin * all_points + first_point + p;
        vreal factor[PLANES];
        for (uint c = 0; c < PLANES; c++) {
            factor[c] = to_vreal((c == 0 ? scale : (wide)1) * load_lanes(from + c * all_points));
        }
        ulong at = first_value + p;
        for (uint f = 0; f < functions; f++, at += points) {
            vreal sum = (vreal)0;
            for (uint c = 0; c < PLANES; c++) {
                sum = sum + factor[c] * load_lanes(chi + c * plane + at);
            }
            store_lanes(sum, weighted + at);
        }
    }
}
