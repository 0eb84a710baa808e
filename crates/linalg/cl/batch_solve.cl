// Solutions with small triangles and factors, a batch at a time: a work-item for a column of a right-hand side.

// X = T^-1 X for a column of X and a triangular T of `n` rows, by substitution. With `unit` the diagonal of T is not read.
static inline void substitute(uint n, uint lower, uint unit, uint conjugate, __global const element *t, ulong t_down, ulong t_across,
                              __global element *x, ulong x_down) {
    for (uint number = 0; number < n; number++) {
        const uint i = lower ? number : n - 1 - number;
        const uint first = lower ? 0 : i + 1;
        const uint last = lower ? i : n;
        element sum = x[i * x_down];
        for (uint k = first; k < last; k++) {
            sum -= multiply(conjugate_if(conjugate, t[i * t_down + k * t_across]), x[k * x_down]);
        }
        x[i * x_down] = unit ? sum : divide(sum, conjugate_if(conjugate, t[i * (t_down + t_across)]));
    }
}

// X = (L L^H)^-1 B in the place of B, for each matrix of a batch: a work-item for a column. With `conjugate` L enters conjugate.
__kernel void batch_potrs(uint n, uint columns, uint conjugate, __global const element *l, ulong l_offset, ulong l_down, ulong l_across,
                          ulong l_stride, __global element *b, ulong b_offset, ulong b_down, ulong b_across, ulong b_stride) {
    const ulong column = get_global_id(0);
    const ulong number = get_global_id(1);
    if (column < columns) {
        __global const element *factor = l + l_offset + number * l_stride;
        __global element *x = b + b_offset + number * b_stride + column * b_across;
        substitute(n, 1, 0, conjugate, factor, l_down, l_across, x, b_down);
        substitute(n, 0, 0, !conjugate, factor, l_across, l_down, x, b_down);
    }
}

// X = alpha T^-1 B in the place of B, for each matrix of a batch: a work-item for a column. With alpha = 0 nothing is read.
__kernel void batch_trsm(uint n, uint columns, uint lower, uint unit, uint conjugate, element alpha, __global const element *t,
                         ulong t_offset, ulong t_down, ulong t_across, ulong t_stride, __global element *b, ulong b_offset,
                         ulong b_down, ulong b_across, ulong b_stride) {
    const ulong column = get_global_id(0);
    const ulong number = get_global_id(1);
    if (column < columns) {
        __global element *x = b + b_offset + number * b_stride + column * b_across;
        for (uint i = 0; i < n; i++) {
            x[i * b_down] = is_zero(alpha) ? (element)0 : scaled(alpha, x[i * b_down]);
        }
        if (!is_zero(alpha)) {
            substitute(n, lower, unit, conjugate, t + t_offset + number * t_stride, t_down, t_across, x, b_down);
        }
    }
}

// X = A^-1 X for a column of X, with the factors and pivots of a matrix of `n` rows.
//
// With `turned` the factors are given as the transposed matrix. They enter as A^T = U^T L^T P then, and conjugate with `conjugate`. Pivots
// that name no row exchange nothing.
static inline void solve_factorised(uint n, uint turned, uint conjugate, __global const uint *pivots, __global const element *factors,
                                    ulong down, ulong across, __global element *x, ulong x_down) {
    if (turned) {
        substitute(n, 1, 0, conjugate, factors, down, across, x, x_down);
        substitute(n, 0, 1, conjugate, factors, down, across, x, x_down);
    }
    for (uint exchange = 0; exchange < n; exchange++) {
        const uint i = turned ? n - 1 - exchange : exchange;
        const uint other = pivots[i];
        if (other < n) {
            const element moved = x[i * x_down];
            x[i * x_down] = x[other * x_down];
            x[other * x_down] = moved;
        }
    }
    if (!turned) {
        substitute(n, 1, 1, conjugate, factors, down, across, x, x_down);
        substitute(n, 0, 0, conjugate, factors, down, across, x, x_down);
    }
}

// X = A^-1 B in the place of B with the factors and pivots of A, for each matrix of a batch: a work-item for a column.
__kernel void batch_getrs(uint n, uint columns, uint turned, uint conjugate, __global const uint *pivots, ulong pivots_offset,
                          __global const element *lu, ulong lu_offset, ulong lu_down, ulong lu_across, ulong lu_stride,
                          __global element *b, ulong b_offset, ulong b_down, ulong b_across, ulong b_stride) {
    const ulong column = get_global_id(0);
    const ulong number = get_global_id(1);
    if (column < columns) {
        solve_factorised(n, turned, conjugate, pivots + pivots_offset + number * n, lu + lu_offset + number * lu_stride, lu_down,
                         lu_across, b + b_offset + number * b_stride + column * b_across, b_down);
    }
}

// X = A^-1 with the factors and pivots of A, for each matrix of a batch: a work-item for a column.
__kernel void batch_getri(uint n, __global const uint *pivots, ulong pivots_offset, __global const element *lu, ulong lu_offset,
                          ulong lu_down, ulong lu_across, ulong lu_stride, __global element *x, ulong x_offset, ulong x_down,
                          ulong x_across, ulong x_stride) {
    const ulong column = get_global_id(0);
    const ulong number = get_global_id(1);
    if (column < n) {
        __global element *to = x + x_offset + number * x_stride + column * x_across;
        for (uint i = 0; i < n; i++) {
            to[i * x_down] = i == column ? ONE : (element)0;
        }
        solve_factorised(n, 0, 0, pivots + pivots_offset + number * n, lu + lu_offset + number * lu_stride, lu_down, lu_across, to,
                         x_down);
    }
}
