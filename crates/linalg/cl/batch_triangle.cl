// Small Hermitian, positive definite matrices, a batch at a time. The host defines EDGE, the most rows of a matrix.

// Element (i, j) of a lower triangle, row after row.
#define PACKED(i, j) triangle[(i) * ((i) + 1) / 2 + (j)]

// A = L L^H in the lower triangle of each matrix: a work-group for a matrix, a work-item for a row.
//
// Imaginary parts on the diagonal are not read and become zero. If the leading minor of order k is not positive, the matrix's `info`
// becomes k, its first k - 1 columns are those of L, and the rest is left as it is.
__kernel __attribute__((reqd_work_group_size(EDGE, 1, 1))) void
batch_potrf(uint n, __global element *a, ulong a_offset, ulong a_down, ulong a_across, ulong stride, __global uint *info) {
    __local element triangle[EDGE * (EDGE + 1) / 2];
    const uint row = get_local_id(0);
    __global element *place = a + a_offset + get_group_id(0) * stride;
    for (uint index = row; index < n * n; index += EDGE) {
        const uint i = index % n;
        const uint j = index / n;
        if (i >= j) {
            const element x = place[i * a_down + j * a_across];
            PACKED(i, j) = i == j ? of_real(real_of(x)) : x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    // Columns keep their factor 1 / sqrt(pivot) until the end. Both factors of a product get it at once, so that no product overflows.
    uint done = n;
    for (uint k = 0; k < n; k++) {
        const real pivot = real_of(PACKED(k, k));
        if (k < done && !(pivot > (real)0)) {
            done = k;
        }
        if (k < done && row > k && row < n) {
            const real scale = (real)1 / sqrt(pivot);
            const element factor = scale * PACKED(row, k);
            for (uint j = k + 1; j <= row; j++) {
                PACKED(row, j) -= multiply(factor, conjugate_if(1, scale * PACKED(j, k)));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint index = row; index < n * n; index += EDGE) {
        const uint i = index % n;
        const uint j = index / n;
        if (i >= j && j < done) {
            const real root = sqrt(real_of(PACKED(j, j)));
            place[i * a_down + j * a_across] = i == j ? of_real(root) : ((real)1 / root) * PACKED(i, j);
        }
    }
    if (row == 0) {
        info[get_group_id(0)] = done < n ? done + 1 : 0;
    }
}
