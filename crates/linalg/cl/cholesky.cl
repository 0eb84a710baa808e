// A = L L^H for a block of at most EDGE rows, by one work-group, and the inverse of L.
//
// The lower triangle of A is read from `a`, and L is written to `l`; imaginary parts on the diagonal are not read and become zero. If the
// leading minor of order k is not positive, `info` becomes the number of its last row in the whole matrix, counted from 1, and
// the first k - 1 columns are those of L; what follows is left as it is, and has zeros for an inverse. If `info` is not 0 before,
// nothing is done.
//
// A work-item keeps a part of a row in registers. Step k subtracts multiples of row k from the rows below it, so that column k becomes
// zero there. The same is done to the rows of the identity, which become those of the inverse. Column j of the identity is needed from
// step j on, and column j of A until then, so both have one place. Row k alone goes through local memory: A is Hermitian, so the row
// is the column too.

#define COLUMNS ((EDGE + SLICES - 1) / SLICES)

#if COLUMNS <= 16
#define UNROLL _Pragma("unroll")
#else
#define UNROLL
#endif

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
cholesky_block(uint n, uint first, __global const element *a, ulong a_offset, ulong a_down, ulong a_across, __global element *l,
               ulong l_offset, ulong l_down, ulong l_across, __global element *inverses, ulong inverses_offset,
               __global uint *info) {
    // Rows of even and of odd numbers: one is read while the next is written.
    __local element lines[2][SLICES * COLUMNS];
    const uint item = get_local_id(0);
    const uint row = item % EDGE;
    const uint slice = item / EDGE;
    const uint start = slice * COLUMNS;
    const uint failed = info[0];
    __global const element *from = a + a_offset;
    __global element *to = l + l_offset;
    __global element *inverse = inverses + inverses_offset;
    element x[COLUMNS];
    UNROLL for (uint c = 0; c < COLUMNS; c++) {
        const uint j = start + c;
        x[c] = (element)0;
        if (row < n && j < n) {
            const element stored = from[max(row, j) * a_down + min(row, j) * a_across];
            x[c] = row == j ? of_real(real_of(stored)) : conjugate_if(row < j, stored);
        }
        if (row == 0) {
            lines[0][j] = x[c];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);

    uint done = failed == 0 ? n : 0;
    real own = (real)1;
    for (uint k = 0; k < n; k++) {
        __local const element *line = lines[k % 2];
        const real pivot = real_of(line[k]);
        if (k < done && !(pivot > (real)0)) {
            done = k;
        }
        if (k < done) {
            const real scale = rsqrt(pivot);
            const element below = scale * conjugate_if(1, line[row]);
            if (row > k) {
                // Both factors of a product are scaled, so that no product overflows.
                const element factor = scale * below;
                UNROLL for (uint c = 0; c < COLUMNS; c++) {
                    x[c] -= multiply(factor, line[start + c]);
                }
                if (slice == k / COLUMNS) {
                    UNROLL for (uint c = 0; c < COLUMNS; c++) {
                        if (start + c == k) {
                            x[c] = -factor;
                        }
                    }
                }
            }
            if (row == k + 1) {
                UNROLL for (uint c = 0; c < COLUMNS; c++) {
                    lines[(k + 1) % 2][start + c] = x[c];
                }
            }
            if (row == k) {
                own = pivot;
            }
            if (slice == 0 && row > k && row < n) {
                to[row * l_down + k * l_across] = below;
            }
            if (slice == SLICES - 1 && row < n) {
                inverse[k + row * EDGE] = row < k ? scale * line[row] : row == k ? of_real(scale) : (element)0;
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (slice == 0 && row < done) {
        to[row * (l_down + l_across)] = of_real(sqrt(own));
    }
    for (uint index = item; index < (n - done) * n; index += ITEMS) {
        inverse[done + index / n + index % n * EDGE] = (element)0;
    }
    if (item == 0 && failed == 0 && done < n) {
        info[0] = first + done + 1;
    }
}
