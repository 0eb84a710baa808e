// What the kernels of C = alpha op(A) op(B) + beta C have in common.
//
// The host brings every product to one form: C is column-major, m rows and n columns; op(A) is m x k and op(B) is
// k x n. An operand is a buffer, the number of its first element, its leading dimension, and the distance to the
// next matrix of a batch; dimension 2 of the range counts the batch. "Transposed" says which index of op(X) runs
// along neighbouring elements: the first one if not, the second if so. All offsets are 64-bit numbers.
//
// Sums that are cut are a batch too: each of its products has k terms of the sums, but the last lacks `missing` of them.
// CUT: 0 where none is ever missing.

#if IS_COMPLEX
#define element JOIN(REAL, 2)
#define REALS 2
#else
#define element real
#define REALS 1
#endif

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

#if IS_COMPLEX

static inline element conjugate_if(uint conjugate, element x) {
    return (element)(x.s0, conjugate ? -x.s1 : x.s1);
}

static inline element multiply(element a, element b) {
    return (element)(a.s0 * b.s0 - a.s1 * b.s1, a.s0 * b.s1 + a.s1 * b.s0);
}

// sum + a b
static inline element multiply_add(element sum, element a, element b) {
    sum.s0 = fma(a.s0, b.s0, sum.s0);
    sum.s1 = fma(a.s0, b.s1, sum.s1);
    sum.s0 = fma(-a.s1, b.s1, sum.s0);
    sum.s1 = fma(a.s1, b.s0, sum.s1);
    return sum;
}

static inline int is_zero(element x) { return x.s0 == (real)0 && x.s1 == (real)0; }

#else

static inline element conjugate_if(uint conjugate, element x) { return x; }
static inline element multiply(element a, element b) { return a * b; }
static inline element multiply_add(element sum, element a, element b) { return fma(a, b, sum); }
static inline int is_zero(element x) { return x == (real)0; }

#endif

// C = alpha sum + beta C for one element; with beta = 0, C is not read.
static inline void update(__global element *c, element alpha, element sum, element beta) {
    const element product = multiply(alpha, sum);
    *c = is_zero(beta) ? product : product + multiply(beta, *c);
}

// The tile that work-group number `group` computes: tiles in bands of BAND rows, each band column after column, so
// that groups which run at the same time share rows of A and columns of B in the cache.
#ifdef BAND
static inline ulong2 tile_of_group(ulong group, ulong tile_rows, ulong tile_columns) {
    const ulong band = group / (BAND * tile_columns);
    const ulong height = min(tile_rows - band * BAND, (ulong)BAND);
    const ulong within = group - band * BAND * tile_columns;
    return (ulong2)(band * BAND + within % height, within / height);
}
#endif
