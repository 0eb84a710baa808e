// A = L L^H for a block that fits into local memory, by one work-group, and the inverse of L.
//
// The lower triangle of A is read and overwritten by L; imaginary parts on the diagonal are not read and become zero. If the
// leading minor of order k is not positive, `info` becomes the number of its last row in the whole matrix, counted from 1, and
// the first k - 1 columns are those of L; what follows is left as it is, and has zeros for an inverse. If `info` is not 0 before,
// nothing is done.

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
cholesky_block(uint n, uint first, __global element *a, ulong a_offset, ulong a_down, ulong a_across,
               __global element *inverses, ulong inverses_offset, __global uint *info) {
    __local element square[EDGE * PITCH];
    const uint item = get_local_id(0);
    const uint failed = info[0];
    __global element *place = a + a_offset;
    for (uint index = item; index < n * n; index += ITEMS) {
        const uint i = index % n;
        const uint j = index / n;
        if (i >= j) {
            const element x = place[i * a_down + j * a_across];
            LOWER(i, j) = i == j ? of_real(real_of(x)) : x;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

    // Columns keep their factor 1 / sqrt(pivot) until the end. Both factors of a product get it at once, so that no product overflows.
    uint done = failed == 0 ? n : 0;
    const uint row = item % EDGE;
    const uint slice = item / EDGE;
    for (uint k = 0; k < n; k++) {
        const real pivot = real_of(LOWER(k, k));
        if (k < done && !(pivot > (real)0)) {
            done = k;
        }
        if (k < done && row > k && row < n) {
            const real scale = (real)1 / sqrt(pivot);
            const element factor = scale * LOWER(row, k);
            for (uint j = k + 1 + slice; j <= row; j += SLICES) {
                LOWER(row, j) -= multiply(factor, conjugate_if(1, scale * LOWER(j, k)));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint index = item; index < n * n; index += ITEMS) {
        const uint i = index % n;
        const uint j = index / n;
        if (i > j && j < done) {
            LOWER(i, j) = ((real)1 / sqrt(real_of(LOWER(j, j)))) * LOWER(i, j);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint index = item; index < n * n; index += ITEMS) {
        const uint i = index % n;
        const uint j = index / n;
        if (i > j && j < done) {
            place[i * a_down + j * a_across] = LOWER(i, j);
        } else if (i == j && j < done) {
            const real root = sqrt(real_of(LOWER(i, i)));
            place[i * (a_down + a_across)] = of_real(root);
            LOWER(i, i) = of_real((real)1 / root);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    invert(square, done);
    for (uint index = item; index < n * n; index += ITEMS) {
        const uint i = index % n;
        const uint j = index / n;
        inverses[inverses_offset + i + j * EDGE] = i < done && j < done ? INVERTED(i, j) : (element)0;
    }
    if (item == 0 && failed == 0 && done < n) {
        info[0] = first + done + 1;
    }
}
