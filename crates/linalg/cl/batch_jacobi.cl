// Eigenvalues and singular values of small matrices, a batch at a time: a work-group for a matrix, which lies in local memory. Rotations make
// its columns orthogonal, a pair for a work-item.
//
// The host defines EDGE, the most rows and columns, which is also the number of work-items.

#define PITCH (EDGE + 1 - EDGE % 2)
#define ELEMENT(i, j) square[(i) * PITCH + (j)]
#define MOST_SWEEPS 30

static inline bool is_nan(element x) { return isnan(real_of(x)) || isnan(imaginary_of(x)); }

// The largest of the group's numbers, for all of its work-items.
static inline real largest_of_group(__local real *numbers, real own) {
    numbers[get_local_id(0)] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    real largest = (real)0;
    for (uint item = 0; item < EDGE; item++) {
        largest = fmax(largest, numbers[item]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return largest;
}

// Makes all columns orthogonal up to the tolerance, and rotates columns of V with them if there is a V. False if the sweeps do not suffice.
static inline bool make_orthogonal(uint rows, uint columns, real tolerance, __local element *square, __local real *numbers,
                                   __global element *v, ulong down, ulong across) {
    const uint item = get_local_id(0);
    const uint players = columns + columns % 2;
    bool done = false;
    for (uint sweep = 0; sweep < MOST_SWEEPS && !done; sweep++) {
        real turned = (real)0;
        for (uint turn = 0; turn + 1 < players; turn++) {
            const uint2 pair = pair_of(players, turn, min(item, players / 2 - 1));
            if (item < players / 2 && pair.s1 < columns) {
                double p2 = 0.0;
                double q2 = 0.0;
                wide product = wide_of(0.0, 0.0);
                for (uint i = 0; i < rows; i++) {
                    const wide p = widened(ELEMENT(i, pair.s0));
                    const wide q = widened(ELEMENT(i, pair.s1));
                    p2 += square_of_wide(p);
                    q2 += square_of_wide(q);
                    product += times(conjugated(p), q);
                }
                const double size = hypot(first_part(product), second_part(product));
                const double norms = sqrt(p2) * sqrt(q2);
                if (norms > 0.0 && size > tolerance * norms) {
                    turned = (real)1;
                    const rotation r = rotation_of(p2, q2, product, size);
                    for (uint i = 0; i < rows; i++) {
                        const wide p = widened(ELEMENT(i, pair.s0));
                        const wide q = widened(ELEMENT(i, pair.s1));
                        ELEMENT(i, pair.s0) = narrowed(rotated_first(r, p, q));
                        ELEMENT(i, pair.s1) = narrowed(rotated_second(r, p, q));
                    }
                    for (uint i = 0; v && i < columns; i++) {
                        const ulong first = i * down + pair.s0 * across;
                        const ulong second = i * down + pair.s1 * across;
                        const wide p = widened(v[first]);
                        const wide q = widened(v[second]);
                        v[first] = narrowed(rotated_first(r, p, q));
                        v[second] = narrowed(rotated_second(r, p, q));
                    }
                }
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        done = largest_of_group(numbers, turned) == (real)0;
    }
    return done;
}

// The norm of the work-item's column.
static inline double norm_of_column(uint rows, __local const element *square, uint j) {
    double sum = 0.0;
    for (uint i = 0; i < rows; i++) {
        sum += square_of_wide(widened(ELEMENT(i, j)));
    }
    return sqrt(sum);
}

// The place of number `item` of `count` among all that are smaller, or larger if `descending`.
static inline uint place_of(uint item, uint count, bool descending, __local const real *numbers) {
    uint place = 0;
    for (uint other = 0; other < count; other++) {
        const bool before = descending ? numbers[other] > numbers[item] : numbers[other] < numbers[item];
        place += before || (numbers[other] == numbers[item] && other < item);
    }
    return place;
}

// Eigenvalues of the lower triangle of each matrix, the lowest first, and eigenvectors in its place if they are wanted.
//
// A + s has the eigenvectors of A. With s = 2 |A| all of its eigenvalues are positive and of one size. Rotations V make its columns
// orthogonal: (A + s) V = V diag, so that they are multiples of the eigenvectors. With `turned` the matrix is the transpose of what is
// stored, and its eigenvectors are stored transposed and conjugate.
__kernel __attribute__((reqd_work_group_size(EDGE, 1, 1))) void
batch_heev(uint n, uint vectors, uint turned, double tolerance, __global element *a, ulong a_offset, ulong a_down, ulong a_across,
           ulong stride, __global real *values, ulong values_offset, __global uint *info) {
    __local element square[EDGE * PITCH];
    __local real numbers[EDGE];
    const uint item = get_local_id(0);
    const ulong number = get_group_id(0);
    __global element *place = a + a_offset + number * stride;
    real own = (real)0;
    for (uint index = item; index < n * n; index += EDGE) {
        const uint i = index % n;
        const uint j = index / n;
        if (i >= j) {
            const element x = i == j ? real_part(place[i * a_down + j * a_across]) : place[i * a_down + j * a_across];
            ELEMENT(j, i) = conjugate_if(1, x);
            ELEMENT(i, j) = x;
            own = is_nan(x) ? (real)INFINITY : fmax(own, largest_part(x));
        }
    }
    const real largest = largest_of_group(numbers, own);
    const bool finite = largest < (real)INFINITY;
    const int power = finite && largest > (real)0 ? ilogb(largest) : 0;
    // A column is at most 3 n in size.
    real sum = (real)0;
    if (finite && item < n) {
        for (uint i = 0; i < n; i++) {
            const element x = power_scaled(ELEMENT(i, item), -power);
            ELEMENT(i, item) = x;
            sum += size_of(x);
        }
    }
    const real norm = largest_of_group(numbers, sum);
    const real shift = norm > (real)0 ? 2 * norm : (real)1;
    if (finite && item < n) {
        ELEMENT(item, item) += of_real(shift);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool converged = make_orthogonal(finite ? n : 0, finite ? n : 0, (real)tolerance, square, numbers, 0, 0, 0);
    const bool good = finite && converged;
    if (item < n) {
        const double size = norm_of_column(n, square, item);
        numbers[item] = good ? (real)(size - shift) : (real)NAN;
        for (uint i = 0; i < n; i++) {
            ELEMENT(i, item) = good ? narrowed(widened(ELEMENT(i, item)) / size) : of_real((real)NAN);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < n) {
        const uint to = good ? place_of(item, n, false, numbers) : item;
        values[values_offset + number * n + to] = ldexp(numbers[item], power);
        for (uint i = 0; vectors && i < n; i++) {
            const element x = ELEMENT(i, item);
            if (turned) {
                place[to * a_down + i * a_across] = conjugate_if(1, x);
            } else {
                place[i * a_down + to * a_across] = x;
            }
        }
    }
    if (item == 0) {
        info[number] = good ? 0 : 1;
    }
}

// A = U diag Vᴴ of each matrix with at least as many rows as columns: U in the place of A, the singular values, the largest first, and V if it
// is wanted.
//
// Columns of U for singular values that are zero complete an orthonormal basis.
__kernel __attribute__((reqd_work_group_size(EDGE, 1, 1))) void
batch_gesvj(uint rows, uint columns, uint wanted, double tolerance, __global element *a, ulong a_offset, ulong a_down, ulong a_across,
            ulong stride, __global real *values, ulong values_offset, __global element *v, ulong v_offset, ulong v_down, ulong v_across,
            ulong v_stride, __global uint *info) {
    __local element square[EDGE * PITCH];
    __local real numbers[EDGE];
    __local real sizes[EDGE];
    const uint item = get_local_id(0);
    const ulong number = get_group_id(0);
    __global element *place = a + a_offset + number * stride;
    __global element *turned = v + v_offset + number * v_stride;
    real own = (real)0;
    for (uint index = item; index < rows * columns; index += EDGE) {
        const uint i = index % rows;
        const uint j = index / rows;
        const element x = place[i * a_down + j * a_across];
        ELEMENT(i, j) = x;
        own = is_nan(x) ? (real)INFINITY : fmax(own, largest_part(x));
    }
    if (wanted) {
        for (uint index = item; index < columns * columns; index += EDGE) {
            turned[index % columns * v_down + index / columns * v_across] = index % columns == index / columns ? ONE : (element)0;
        }
    }
    const real largest = largest_of_group(numbers, own);
    const bool finite = largest < (real)INFINITY;
    const int power = finite && largest > (real)0 ? ilogb(largest) : 0;
    if (item < columns) {
        for (uint i = 0; i < rows; i++) {
            ELEMENT(i, item) = power_scaled(ELEMENT(i, item), -power);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const bool converged = make_orthogonal(rows, finite ? columns : 0, (real)tolerance, square, numbers, wanted ? turned : 0, v_down, v_across);
    const bool good = finite && converged;
    if (item < columns) {
        const double size = norm_of_column(rows, square, item);
        sizes[item] = good ? (real)size : (real)NAN;
        for (uint i = 0; i < rows; i++) {
            const element x = ELEMENT(i, item);
            ELEMENT(i, item) = !good ? of_real((real)NAN) : size > 0.0 ? narrowed(widened(x) / size) : (element)0;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint to = good && item < columns ? place_of(item, columns, true, sizes) : item;
    if (item < columns) {
        values[values_offset + number * columns + to] = ldexp(sizes[item], power);
    }
    // A column that is zero becomes the part of a unit vector that is orthogonal to all others. Columns still to come are zero.
    for (uint j = 0; j < columns; j++) {
        const bool missing = good && !(sizes[j] > (real)0);
        double left = -1.0;
        if (missing && item < rows) {
            left = 1.0;
            for (uint k = 0; k < columns; k++) {
                left -= square_of_wide(widened(ELEMENT(item, k)));
            }
        }
        numbers[item] = (real)left;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint unit = 0;
        for (uint i = 1; i < rows; i++) {
            unit = numbers[i] > numbers[unit] ? i : unit;
        }
        wide part = wide_of(item == unit ? 1.0 : 0.0, 0.0);
        if (missing && item < rows) {
            for (uint k = 0; k < columns; k++) {
                part -= times(widened(ELEMENT(item, k)), conjugated(widened(ELEMENT(unit, k))));
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (missing && item < rows) {
            // The square of its norm is what the unit vector has left.
            ELEMENT(item, j) = narrowed(part / sqrt((double)numbers[unit]));
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item < columns) {
        for (uint i = 0; i < rows; i++) {
            place[i * a_down + to * a_across] = ELEMENT(i, item);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    for (uint index = item; wanted && index < columns * columns; index += EDGE) {
        const uint i = index % columns;
        const uint j = index / columns;
        ELEMENT(i, j) = good ? turned[i * v_down + j * v_across] : of_real((real)NAN);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (wanted && item < columns) {
        for (uint i = 0; i < columns; i++) {
            turned[i * v_down + to * v_across] = ELEMENT(i, item);
        }
    }
    if (item == 0) {
        info[number] = good ? 0 : 1;
    }
}
