// Factorisations of small matrices with any pattern, a batch at a time: a work-group for a matrix, which lies in local memory.
//
// The host defines EDGE, the most rows and columns, which is also the number of work-items. An odd distance between rows keeps
// neighbouring work-items apart in the banks of local memory.

#define PITCH (EDGE + 1 - EDGE % 2)
#define ELEMENT(i, j) square[(i) * PITCH + (j)]

static inline void load(uint rows, uint columns, __global const element *from, ulong down, ulong across, __local element *square) {
    for (uint index = get_local_id(0); index < rows * columns; index += EDGE) {
        const uint i = index % rows;
        const uint j = index / rows;
        ELEMENT(i, j) = from[i * down + j * across];
    }
}

static inline void store(uint rows, uint columns, __local const element *square, __global element *to, ulong down, ulong across) {
    for (uint index = get_local_id(0); index < rows * columns; index += EDGE) {
        const uint i = index % rows;
        const uint j = index / rows;
        to[i * down + j * across] = ELEMENT(i, j);
    }
}

// P A = L U in the place of each matrix; row i was exchanged with row pivots[i].
//
// The pivot has the largest |Re| + |Im|, and is the first of equal ones; NaNs are passed over. The first pivot that is exactly zero gives
// the matrix's `info`, counted from 1, and its column is left as it is.
__kernel __attribute__((reqd_work_group_size(EDGE, 1, 1))) void
batch_getrf(uint rows, uint columns, __global element *a, ulong a_offset, ulong a_down, ulong a_across, ulong stride,
            __global uint *pivots, ulong pivots_offset, __global uint *info) {
    __local element square[EDGE * PITCH];
    __local real sizes[EDGE];
    const uint item = get_local_id(0);
    const ulong number = get_group_id(0);
    __global element *place = a + a_offset + number * stride;
    load(rows, columns, place, a_down, a_across, square);
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint count = min(rows, columns);
    uint failed = 0;
    for (uint k = 0; k < count; k++) {
        if (item >= k && item < rows) {
            sizes[item] = size_of(ELEMENT(item, k));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Every work-item finds the same row.
        uint pivot = k;
        real largest = (real)-1;
        for (uint i = k; i < rows; i++) {
            if (sizes[i] > largest) {
                largest = sizes[i];
                pivot = i;
            }
        }
        if (item < columns) {
            const element moved = ELEMENT(k, item);
            ELEMENT(k, item) = ELEMENT(pivot, item);
            ELEMENT(pivot, item) = moved;
        }
        if (item == 0) {
            pivots[pivots_offset + number * count + k] = pivot;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const element diagonal = ELEMENT(k, k);
        if (is_zero(diagonal)) {
            failed = failed == 0 ? k + 1 : failed;
        } else if (item > k && item < rows) {
            const element factor = divide(ELEMENT(item, k), diagonal);
            ELEMENT(item, k) = factor;
            for (uint j = k + 1; j < columns; j++) {
                ELEMENT(item, j) -= multiply(factor, ELEMENT(k, j));
            }
        }
        // A work-item goes on with its own row, which nobody else has written since the exchange.
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store(rows, columns, square, place, a_down, a_across);
    if (item == 0) {
        info[number] = failed;
    }
}

// A = Q R in the place of each matrix, with the reflectors and `tau` of LAPACK: Q = H_1 H_2 ..., and H = 1 - tau v v^H.
//
// The column is divided by its largest number for its norm, so that no square overflows. A column with nothing below a real diagonal has
// tau = 0.
__kernel __attribute__((reqd_work_group_size(EDGE, 1, 1))) void
batch_geqrf(uint rows, uint columns, __global element *a, ulong a_offset, ulong a_down, ulong a_across, ulong stride,
            __global element *taus, ulong taus_offset) {
    __local element square[EDGE * PITCH];
    const uint item = get_local_id(0);
    const ulong number = get_group_id(0);
    __global element *place = a + a_offset + number * stride;
    load(rows, columns, place, a_down, a_across, square);
    barrier(CLK_LOCAL_MEM_FENCE);

    const uint count = min(rows, columns);
    for (uint k = 0; k < count; k++) {
        // Every work-item finds the same reflector.
        real below = (real)0;
        for (uint i = k + 1; i < rows; i++) {
            below = fmax(below, size_of(ELEMENT(i, k)));
        }
        const element alpha = ELEMENT(k, k);
        const real largest = fmax(below, size_of(alpha));
        const bool reflects = below > (real)0 || imaginary_of(alpha) != (real)0;
        element tau = (element)0;
        element difference = (element)0;
        real beta = (real)0;
        if (reflects) {
            real sum = (real)0;
            for (uint i = k; i < rows; i++) {
                sum += square_of(ELEMENT(i, k) / largest);
            }
            beta = copysign(largest * sqrt(sum), -real_of(alpha));
            tau = (of_real(beta) - alpha) / beta;
            difference = alpha - of_real(beta);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (reflects && item > k && item < rows) {
            ELEMENT(item, k) = divide(ELEMENT(item, k), difference);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (reflects && item > k && item < columns) {
            element sum = ELEMENT(k, item);
            for (uint i = k + 1; i < rows; i++) {
                sum += multiply(conjugate_if(1, ELEMENT(i, k)), ELEMENT(i, item));
            }
            sum = multiply(conjugate_if(1, tau), sum);
            ELEMENT(k, item) -= sum;
            for (uint i = k + 1; i < rows; i++) {
                ELEMENT(i, item) -= multiply(sum, ELEMENT(i, k));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item == 0) {
            if (reflects) {
                ELEMENT(k, k) = of_real(beta);
            }
            taus[taus_offset + number * count + k] = tau;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    store(rows, columns, square, place, a_down, a_across);
}
