// The product for processors, in the shape of BLIS (Van Zee, van de Geijn, ACM Trans. Math. Softw. 41, 14 (2015)).
//
// Both factors are packed first: op(A) into panels of PANEL_M rows, op(B) into panels of PANEL_N columns, each panel
// stored p after p, so that the multiplication reads both from front to back. Edges and missing terms are filled with zeros.
// For complex elements a panel of A holds, for each p, all real parts and then all imaginary parts: the arithmetic is then
// that of whole vectors; a panel of B has (re, im) side by side.
//
// Then one work-item computes a BLOCK_M x BLOCK_N block of C: for each stretch of BLOCK_K terms, every panel of B with every
// panel of A, PANEL_M x PANEL_N sums at a time in registers, PANEL_M / LANES vectors of LANES rows for each column.
// BLOCK_M x BLOCK_K of A stay in the second-level cache, BLOCK_K x PANEL_N of B in the first.
//
// The host may ask for a part of the product. It begins `skipped` elements after the first one of a factor or of C.

#define VECTORS (PANEL_M / LANES)

// op(A) into panels: dimension 0 counts p, dimension 1 panels.
__kernel void pack_a(ulong m, ulong k, ulong missing, __global const element *a, ulong a_offset, ulong a_leading,
                     ulong a_stride, ulong skipped, uint a_transposed, uint a_conjugate, __global element *packed) {
    __global const element *from = A_OF_BATCH + skipped;
    const ulong panel = get_global_id(1);
    const ulong row = panel * PANEL_M;
    const uint rows = (uint)min((ulong)PANEL_M, m - row);
    const ulong first = get_global_id(0) * PACK_STEPS;
    const ulong last = min(first + PACK_STEPS, k);
    const ulong terms = TERMS;
    __global real *to =
        (__global real *)(packed + (get_group_id(2) * get_global_size(1) + panel) * PANEL_M * k + first * PANEL_M);
    for (ulong p = first; p < last; p++, to += PANEL_M * REALS) {
        for (uint i = 0; i < PANEL_M; i++) {
            const element x = i < rows && p < terms
                                  ? from[a_transposed ? (row + i) * a_leading + p : row + i + p * a_leading]
                                  : (element)0;
#if IS_COMPLEX
            to[i] = x.s0;
            to[PANEL_M + i] = a_conjugate ? -x.s1 : x.s1;
#else
            to[i] = x;
#endif
        }
    }
}

// op(B) into panels.
__kernel void pack_b(ulong n, ulong k, ulong missing, __global const element *b, ulong b_offset, ulong b_leading,
                     ulong b_stride, ulong skipped, uint b_transposed, uint b_conjugate, __global element *packed) {
    __global const element *from = B_OF_BATCH + skipped;
    const ulong panel = get_global_id(1);
    const ulong column = panel * PANEL_N;
    const uint columns = (uint)min((ulong)PANEL_N, n - column);
    const ulong first = get_global_id(0) * PACK_STEPS;
    const ulong last = min(first + PACK_STEPS, k);
    const ulong terms = TERMS;
    __global element *to = packed + (get_group_id(2) * get_global_size(1) + panel) * PANEL_N * k + first * PANEL_N;
    for (ulong p = first; p < last; p++, to += PANEL_N) {
        for (uint j = 0; j < PANEL_N; j++) {
            to[j] = j < columns && p < terms
                        ? conjugate_if(b_conjugate, from[b_transposed ? column + j + p * b_leading
                                                                      : (column + j) * b_leading + p])
                        : (element)0;
        }
    }
}

#define load_lanes(p) JOIN(vload, LANES)(0, p)
#define store_lanes(v, p) JOIN(vstore, LANES)(v, 0, p)

// rows x columns elements of C with the sums of one pair of panels.
static inline void update_corner(__global element *c, ulong leading, uint rows, uint columns, const real *sums,
                                 element alpha, element beta) {
    for (uint j = 0; j < columns; j++) {
        for (uint i = 0; i < rows; i++) {
#if IS_COMPLEX
            const element sum = (element)(sums[j * PANEL_M + i], sums[(PANEL_N + j) * PANEL_M + i]);
#else
            const element sum = sums[j * PANEL_M + i];
#endif
            update(c + i + j * leading, alpha, sum, beta);
        }
    }
}

// One pair of panels over `steps` terms: C = alpha A B + beta C for PANEL_M x PANEL_N elements, of which
// rows x columns exist.
static inline void multiply_panels(__global const real *a, __global const real *b, ulong steps, __global element *c,
                                   ulong leading, uint rows, uint columns, element alpha, element beta) {
    vreal sum[REALS][PANEL_N][VECTORS];
#pragma unroll
    for (uint r = 0; r < REALS; r++) {
#pragma unroll
        for (uint j = 0; j < PANEL_N; j++) {
#pragma unroll
            for (uint v = 0; v < VECTORS; v++) {
                sum[r][j][v] = (vreal)0;
            }
        }
    }
    for (ulong p = 0; p < steps; p++, a += PANEL_M * REALS, b += PANEL_N * REALS) {
        vreal x[REALS][VECTORS];
#pragma unroll
        for (uint v = 0; v < REALS * VECTORS; v++) {
            x[v / VECTORS][v % VECTORS] = load_lanes(a + v * LANES);
        }
#pragma unroll
        for (uint j = 0; j < PANEL_N; j++) {
#pragma unroll
            for (uint v = 0; v < VECTORS; v++) {
#if IS_COMPLEX
                const vreal re = (vreal)b[2 * j];
                const vreal im = (vreal)b[2 * j + 1];
                sum[0][j][v] = sum[0][j][v] + x[0][v] * re;
                sum[1][j][v] = sum[1][j][v] + x[0][v] * im;
                sum[0][j][v] = sum[0][j][v] - x[1][v] * im;
                sum[1][j][v] = sum[1][j][v] + x[1][v] * re;
#else
                sum[0][j][v] = sum[0][j][v] + x[0][v] * (vreal)b[j];
#endif
            }
        }
    }
#if !IS_COMPLEX
    if (rows == PANEL_M && columns == PANEL_N) {
        const int accumulate = !is_zero(beta);
#pragma unroll
        for (uint j = 0; j < PANEL_N; j++) {
#pragma unroll
            for (uint v = 0; v < VECTORS; v++) {
                __global real *place = c + j * leading + v * LANES;
                vreal result = alpha * sum[0][j][v];
                if (accumulate) {
                    result += beta * load_lanes(place);
                }
                store_lanes(result, place);
            }
        }
        return;
    }
#endif
    real sums[REALS * PANEL_N * PANEL_M];
#pragma unroll
    for (uint r = 0; r < REALS; r++) {
#pragma unroll
        for (uint j = 0; j < PANEL_N; j++) {
#pragma unroll
            for (uint v = 0; v < VECTORS; v++) {
                store_lanes(sum[r][j][v], sums + (r * PANEL_N + j) * PANEL_M + v * LANES);
            }
        }
    }
    update_corner(c, leading, rows, columns, sums, alpha, beta);
}

// Dimensions 0 and 1 count the blocks of C.
__kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(1, 1, 1))) void
gemm_panels(ulong m, ulong n, ulong k, element alpha, __global const element *a_packed,
            __global const element *b_packed, element beta, __global element *c, ulong c_offset, ulong c_leading,
            ulong c_stride, ulong c_skipped) {
    const ulong a_panels = (m + PANEL_M - 1) / PANEL_M;
    const ulong b_panels = (n + PANEL_N - 1) / PANEL_N;
    const ulong a_first = get_global_id(0) * (BLOCK_M / PANEL_M);
    const ulong b_first = get_global_id(1) * (BLOCK_N / PANEL_N);
    const ulong a_last = min(a_first + BLOCK_M / PANEL_M, a_panels);
    const ulong b_last = min(b_first + BLOCK_N / PANEL_N, b_panels);
    __global const element *a = a_packed + get_group_id(2) * a_panels * PANEL_M * k;
    __global const element *b = b_packed + get_group_id(2) * b_panels * PANEL_N * k;
    for (ulong p = 0; p < k; p += BLOCK_K) {
        const ulong steps = min((ulong)BLOCK_K, k - p);
        const element factor = p == 0 ? beta : REAL_ONE;
        for (ulong b_panel = b_first; b_panel < b_last; b_panel++) {
            const ulong column = b_panel * PANEL_N;
            for (ulong a_panel = a_first; a_panel < a_last; a_panel++) {
                const ulong row = a_panel * PANEL_M;
                multiply_panels((__global const real *)(a + (a_panel * k + p) * PANEL_M),
                                (__global const real *)(b + (b_panel * k + p) * PANEL_N), steps,
                                C_OF_BATCH + c_skipped + row + column * c_leading, c_leading,
                                (uint)min((ulong)PANEL_M, m - row), (uint)min((ulong)PANEL_N, n - column), alpha,
                                factor);
            }
        }
    }
}
