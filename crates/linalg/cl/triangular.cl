// Triangular matrices: inverses of the blocks along their diagonal, and those blocks as full matrices.
//
// Element (i, j) of an operand lies i * down + j * across elements behind its first. The triangle that is not named is not read,
// and neither is the diagonal where it is all ones.

// The inverses of the blocks of EDGE rows along the diagonal, each a column-major matrix of EDGE rows; a work-group inverts one. An
// upper triangle is a lower one with its rows and columns counted from the end.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
invert_diagonal(ulong n, __global const element *a, ulong a_offset, ulong a_down, ulong a_across, uint lower, uint unit,
                __global element *inverses, ulong inverses_offset) {
    __local element square[EDGE * PITCH];
    const uint item = get_local_id(0);
    const ulong first = get_group_id(0) * EDGE;
    const uint size = (uint)min((ulong)EDGE, n - first);
    __global const element *from = a + a_offset + first * (a_down + a_across);
    for (uint index = item; index < size * size; index += ITEMS) {
        const uint i = index % size;
        const uint j = index / size;
        if (i > j) {
            LOWER(i, j) = lower ? from[i * a_down + j * a_across]
                                : from[(size - 1 - i) * a_down + (size - 1 - j) * a_across];
        } else if (i == j) {
            const uint place = lower ? i : size - 1 - i;
            LOWER(i, i) = unit ? ONE : divide(ONE, from[place * (a_down + a_across)]);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    invert(square, size);
    __global element *to = inverses + inverses_offset + get_group_id(0) * EDGE * EDGE;
    for (uint index = item; index < size * size; index += ITEMS) {
        const uint i = index % size;
        const uint j = index / size;
        const uint row = lower ? i : size - 1 - i;
        const uint column = lower ? j : size - 1 - j;
        to[i + j * EDGE] = INVERTED(row, column);
    }
}

// The blocks of `edge` rows along the diagonal, one after another, as full matrices with zeros in the other triangle.
__kernel void spread_diagonal(ulong n, ulong edge, __global const element *a, ulong a_offset, ulong a_down, ulong a_across,
                              uint lower, uint unit, __global element *full, ulong full_offset) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    const ulong first = get_global_id(2) * edge;
    if (i >= edge || j >= edge || first + i >= n || first + j >= n) {
        return;
    }
    element x = (element)0;
    if (unit && i == j) {
        x = ONE;
    } else if (lower ? i >= j : i <= j) {
        x = a[a_offset + (first + i) * a_down + (first + j) * a_across];
    }
    full[full_offset + (first + j) * edge + i] = x;
}

// Y = alpha X.
__kernel void copy_scaled(ulong rows, ulong columns, element alpha, __global const element *x, ulong x_offset, ulong x_down,
                          ulong x_across, __global element *y, ulong y_offset, ulong y_down, ulong y_across) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < rows && j < columns) {
        y[y_offset + i * y_down + j * y_across] = scaled(alpha, x[x_offset + i * x_down + j * x_across]);
    }
}

// Y = X if `info` is not 0.
__kernel void restore(ulong rows, ulong columns, __global const uint *info, __global const element *x, ulong x_offset,
                      ulong x_down, ulong x_across, __global element *y, ulong y_offset, ulong y_down, ulong y_across) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < rows && j < columns && info[0] != 0) {
        y[y_offset + i * y_down + j * y_across] = x[x_offset + i * x_down + j * x_across];
    }
}

// Y = 1.
__kernel void set_identity(ulong rows, ulong columns, __global element *y, ulong y_offset, ulong y_down, ulong y_across) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < rows && j < columns) {
        y[y_offset + i * y_down + j * y_across] = i == j ? ONE : (element)0;
    }
}

// The sum of sizes |x| in each column of a matrix, of which one triangle is stored if `hermitian`: the sizes in the other triangle are the same.
__kernel void column_sums(ulong rows, ulong columns, uint hermitian, uint lower, __global const element *x, ulong x_offset,
                          ulong x_down, ulong x_across, __global double *sums) {
    const ulong j = get_global_id(0);
    if (j >= columns) {
        return;
    }
    double sum = 0;
    for (ulong i = 0; i < rows; i++) {
        const bool stored = !hermitian || (lower ? i >= j : i <= j);
        const element value = x[x_offset + (stored ? i * x_down + j * x_across : j * x_down + i * x_across)];
#if IS_COMPLEX
        sum += i == j && hermitian ? fabs((double)value.s0) : hypot((double)value.s0, (double)value.s1);
#else
        sum += fabs((double)value);
#endif
    }
    sums[j] = sum;
}
