// What the kernels of C = alpha op(A) op(B) + beta C have in common.
//
// The host brings every product to one form: C is column-major, m rows and n columns; op(A) is m x k and op(B) is
// k x n. An operand is a buffer, the number of its first element, its leading dimension, and the distance to the
// next matrix of a batch; dimension 2 of the range counts the batch. "Transposed" says which index of op(X) runs
// along neighbouring elements: the first one if not, the second if so. All offsets are 64-bit numbers.
//
// Sums that are cut are a batch too: each of its products has k terms of the sums, but the last lacks `missing` of them.
// CUT: 0 where none is ever missing.

#define GEMM_PARAMETERS                                                                                         \
    ulong m, ulong n, ulong k, ulong missing, element alpha, __global const element *a, ulong a_offset,          \
        ulong a_leading, ulong a_stride, uint a_conjugate, __global const element *b, ulong b_offset,            \
        ulong b_leading, ulong b_stride, uint b_conjugate, element beta, __global element *c, ulong c_offset,    \
        ulong c_leading, ulong c_stride

// Terms of the sums of this work-group.
#if CUT
#define TERMS (k - (get_group_id(2) + 1 == get_num_groups(2) ? missing : 0))
#else
#define TERMS k
#endif

#define A_OF_BATCH (a + a_offset + get_group_id(2) * a_stride)
#define B_OF_BATCH (b + b_offset + get_group_id(2) * b_stride)
#define C_OF_BATCH (c + c_offset + get_group_id(2) * c_stride)

// sum + a b
static inline element multiply_add(element sum, element a, element b) {
#if IS_COMPLEX
    sum.s0 = fma(a.s0, b.s0, sum.s0);
    sum.s1 = fma(a.s0, b.s1, sum.s1);
    sum.s0 = fma(-a.s1, b.s1, sum.s0);
    sum.s1 = fma(a.s1, b.s0, sum.s1);
    return sum;
#else
    return fma(a, b, sum);
#endif
}
