// The two products of the textbooks, one work-item for each element of C. They are here to be read and to be
// compared with; TILE is the edge of the square work-group. And the product with nothing, C = beta C,
// and the sum of products that were computed in parts.

static inline element element_of_a(__global const element *a, ulong leading, uint transposed, uint conjugate, ulong i,
                                   ulong p) {
    return conjugate_if(conjugate, transposed ? a[i * leading + p] : a[i + p * leading]);
}

static inline element element_of_b(__global const element *b, ulong leading, uint transposed, uint conjugate, ulong p,
                                   ulong j) {
    return conjugate_if(conjugate, transposed ? b[j + p * leading] : b[j * leading + p]);
}

// Everything from global memory.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
gemm_global(GEMM_PARAMETERS, uint a_transposed, uint b_transposed) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i >= m || j >= n) {
        return;
    }
    const ulong terms = TERMS;
    element sum = 0;
    for (ulong p = 0; p < terms; p++) {
        sum = multiply_add(sum, element_of_a(A_OF_BATCH, a_leading, a_transposed, a_conjugate, i, p),
                           element_of_b(B_OF_BATCH, b_leading, b_transposed, b_conjugate, p, j));
    }
    update(C_OF_BATCH + i + j * c_leading, alpha, sum, beta);
}

// Tiles of the factors through local memory: each work-item loads one element of either and uses TILE of either.
__kernel __attribute__((reqd_work_group_size(TILE, TILE, 1))) void
gemm_local(GEMM_PARAMETERS, uint a_transposed, uint b_transposed) {
    __local element a_tile[TILE][TILE + 1];
    __local element b_tile[TILE][TILE + 1];
    const uint x = get_local_id(0);
    const uint y = get_local_id(1);
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    const ulong terms = TERMS;
    element sum = 0;
    for (ulong start = 0; start < terms; start += TILE) {
        a_tile[y][x] = i < m && start + y < terms
                           ? element_of_a(A_OF_BATCH, a_leading, a_transposed, a_conjugate, i, start + y)
                           : (element)0;
        b_tile[y][x] = start + x < terms && j < n
                           ? element_of_b(B_OF_BATCH, b_leading, b_transposed, b_conjugate, start + x, j)
                           : (element)0;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint p = 0; p < TILE; p++) {
            sum = multiply_add(sum, a_tile[p][x], b_tile[y][p]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < m && j < n) {
        update(C_OF_BATCH + i + j * c_leading, alpha, sum, beta);
    }
}

// C = beta C.
__kernel void scale(ulong m, ulong n, element beta, __global element *c, ulong c_offset, ulong c_leading,
                    ulong c_stride) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i < m && j < n) {
        scale_element(C_OF_BATCH + i + j * c_leading, beta);
    }
}

// C = alpha (sum of the parts) + beta C, for parts that are whole matrices, one after another and without gaps. Dimension 0
// counts elements; the items of dimension 1, which is one work-group wide, share the parts.
__kernel void add_parts(ulong m, ulong n, ulong parts, __global const element *partials, element alpha, element beta,
                        __global element *c, ulong c_offset, ulong c_leading, ulong c_stride) {
    __local element sums[TILE * TILE];
    const ulong index = get_global_id(0);
    const uint across = get_local_size(0);
    const uint slices = get_local_size(1);
    const uint slice = get_local_id(1);
    element sum = 0;
    if (index < m * n) {
        UNROLL_4
        for (ulong part = slice; part < parts; part += slices) {
            sum += partials[part * m * n + index];
        }
    }
    sums[slice * across + get_local_id(0)] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0 && index < m * n) {
        for (uint other = 1; other < slices; other++) {
            sum += sums[other * across + get_local_id(0)];
        }
        update(C_OF_BATCH + index % m + index / m * c_leading, alpha, sum, beta);
    }
}
