// Matrices of 16-bit numbers on devices that multiply floats. Dimension 2 of the range counts a batch.

// Y = X, column after column and without gaps.
__kernel void widen(ulong rows, ulong columns, __global const ushort *x, ulong x_offset, ulong x_down, ulong x_across,
                    ulong x_stride, __global float *y) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    const ulong number = get_global_id(2);
    if (i < rows && j < columns) {
        __global const ushort *from = x + x_offset + number * x_stride + i * x_down + j * x_across;
        y[i + rows * (j + columns * number)] = half_at(BFLOAT, from);
    }
}

#ifdef RESULT
// C = S + beta C for sums S, column after column and without gaps.
__kernel void add_result(ulong rows, ulong columns, __global const float *s, float beta, __global result *c,
                         ulong c_offset, ulong c_down, ulong c_across, ulong c_stride) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    const ulong number = get_global_id(2);
    if (i < rows && j < columns) {
        __global result *to = c + c_offset + number * c_stride + i * c_down + j * c_across;
        update_result(to, 1.0f, s[i + rows * (j + columns * number)], beta);
    }
}
#endif
