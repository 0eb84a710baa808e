// Columns of A = Q R by Householder's reflectors, and what products need to apply them.
//
// The host defines WIDTH, the most columns of a panel, ROWS, SLOTS and KEPT. A work-group of a panel has ROWS * SLOTS work-items. Element (i, j)
// of an operand lies i * down + j * across elements behind its first. A reflector is H = 1 - tau v vᴴ with v = (0, …, 0, 1, v_{c+1}, …), and
// Hᴴ makes a real number of what it finds in column c from row c on. Sums of squares are kept in double.

#define ITEMS (ROWS * SLOTS)
#define PARTS 8
#define LANES (ROWS + 1)
#define COLUMNS_OF_SLOT ((WIDTH + SLOTS - 1) / SLOTS)

#if IS_COMPLEX
static inline wide reciprocal(wide x) {
    if (fabs(x.s0) >= fabs(x.s1)) {
        const double ratio = x.s1 / x.s0;
        const double denominator = x.s0 + x.s1 * ratio;
        return (wide)(1.0 / denominator, -ratio / denominator);
    }
    const double ratio = x.s0 / x.s1;
    const double denominator = x.s0 * ratio + x.s1;
    return (wide)(ratio / denominator, -1.0 / denominator);
}
#else
static inline wide reciprocal(wide x) { return 1.0 / x; }
#endif

// Adds what all groups have summed up for the columns from `column` on, in PARTS parts a column.
static inline __attribute__((always_inline)) void sum_groups(__global const wide *partial, uint groups, uint column, uint width,
                                                             __local wide *sums, uint item) {
    for (uint index = item; index < WIDTH * PARTS; index += ITEMS) {
        const uint k = index % WIDTH;
        const uint part = index / WIDTH;
        wide sum = wide_of(0.0, 0.0);
        if (k >= column && k < width) {
            for (uint other = part; other < groups; other += PARTS) {
                sum += partial[other * WIDTH + k];
            }
        }
        sums[k * LANES + part] = sum;
    }
}

// The reflector of a column with `alpha` on the diagonal, of parts of the sum of squares below it. Returns tau; `beta` takes the place
// of alpha, and the elements below are multiplied by `scale`.
static inline __attribute__((always_inline)) wide reflector(wide alpha, __local const wide *squares, double *beta, wide *scale) {
    double below = 0.0;
    for (uint part = 0; part < PARTS; part++) {
        below += first_part(squares[part]);
    }
    const double re = first_part(alpha);
    const double im = second_part(alpha);
    *beta = re;
    if (below == 0.0 && im == 0.0) {
        return wide_of(0.0, 0.0);
    }
    *beta = -copysign(sqrt(re * re + im * im + below), re);
    *scale = reciprocal(alpha - wide_of(*beta, 0.0));
    return wide_of((*beta - re) / *beta, -im / *beta);
}

// Stages `first_stage` to `last_stage` - 1 in a panel of m rows. A stage applies the reflector of column stage - 1, if there is one, and then sums
// up conj(a_is) a_ik below row s = stage for every column k from s on, if there is such a column. Between two stages all work-groups meet, see
// meeting.cl.
//
// Work-groups share the rows in order. Each leaves its sums in `dots`, and the group of row s leaves that row in `pivot_rows`. The next stage
// makes the reflector of them: vᴴ a_k needs no other sums, as v is a multiple of column s below its first element. Stages take turns
// between the halves of `dots` and `pivot_rows`.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reflect(uint m, uint width, uint first_stage, uint last_stage, __global element *a, ulong a_offset, ulong a_down, ulong a_across,
        __global double *dots, __global element *pivot_rows, __global element *tau, ulong tau_offset,
        __global uint *arrived, ulong arrived_offset) {
    __local wide sums[WIDTH * LANES];
    __local element updates[WIDTH];
    __local element old_column[ROWS];
    __local element new_column[ROWS];
    const uint item = get_local_id(0);
    const uint lane = item % ROWS;
    const uint slot = item / ROWS;
    const uint group = get_group_id(0);
    const uint groups = get_num_groups(0);
    const uint share = (m + groups - 1) / groups;
    const uint begin = min(group * share, m);
    const uint end = min(begin + share, m);
    __global element *matrix = a + a_offset;
    __global wide *partial = (__global wide *)dots;
    for (uint stage = first_stage; stage < last_stage; stage++) {
        const uint from = stage % 2;
        const uint to = 1 - from;
        const bool finishes = stage > 0;
        const bool searches = stage < width;
        const uint column = finishes ? stage - 1 : 0;

        wide scale = wide_of(0.0, 0.0);
        double beta = 0.0;
        if (finishes) {
            sum_groups(partial + from * groups * WIDTH, groups, column, width, sums, item);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (finishes) {
            __global const element *pivot_row = pivot_rows + from * WIDTH;
            const wide alpha = widened(pivot_row[column]);
            const wide factor = reflector(alpha, sums + column * LANES, &beta, &scale);
            for (uint k = column + 1 + item; k < width; k += ITEMS) {
                wide sum = wide_of(0.0, 0.0);
                for (uint part = 0; part < PARTS; part++) {
                    sum += sums[k * LANES + part];
                }
                const wide product = widened(pivot_row[k]) + times(conjugated(scale), sum);
                updates[k] = narrowed(times(conjugated(factor), product));
            }
            if (group == 0 && item == 0) {
                tau[tau_offset + column] = narrowed(factor);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        wide own[COLUMNS_OF_SLOT];
        for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
            own[n] = wide_of(0.0, 0.0);
        }
        for (uint first = begin; first < end; first += ROWS) {
            const uint i = first + lane;
            __global element *row = matrix + i * a_down;
            if (slot == 0 && i < end && finishes) {
                old_column[lane] = row[column * a_across];
            }
            if (slot == SLOTS - 1 && i < end && searches) {
                new_column[lane] = row[stage * a_across];
            }
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
            if (i < end && (!finishes || i >= column)) {
                element v = (element)0;
                if (finishes) {
                    v = i == column ? narrowed(wide_of(1.0, 0.0)) : narrowed(times(scale, widened(old_column[lane])));
                }
                const bool counts = searches && i > stage;
                wide x = wide_of(0.0, 0.0);
                if (counts) {
                    x = conjugated(widened(finishes ? new_column[lane] - multiply(v, updates[stage]) : new_column[lane]));
                }
                for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
                    const uint k = slot + n * SLOTS;
                    if (k < width && finishes && k == column) {
                        row[k * a_across] = i == column ? narrowed(wide_of(beta, 0.0)) : v;
                    } else if (k < width && k >= stage) {
                        element value = row[k * a_across];
                        if (finishes) {
                            value -= multiply(v, updates[k]);
                            row[k * a_across] = value;
                        }
                        if (counts) {
                            own[n] += times(x, widened(value));
                        }
                    }
                }
            }
            // The columns are read before the next rows take their place.
            barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        }
        for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
            if (slot + n * SLOTS < WIDTH) {
                sums[(slot + n * SLOTS) * LANES + lane] = own[n];
            }
        }
        // Elements of row `stage` that other work-items of the group have written are read now.
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        // After the last column there is nothing to sum up.
        for (uint k = stage + item; k < width; k += ITEMS) {
            wide sum = wide_of(0.0, 0.0);
            for (uint other = 0; other < ROWS; other++) {
                sum += sums[k * LANES + other];
            }
            partial[(to * groups + group) * WIDTH + k] = sum;
            if (begin <= stage && stage < end) {
                pivot_rows[to * WIDTH + k] = matrix[stage * a_down + k * a_across];
            }
        }
        if (stage + 1 < last_stage) {
            meet(arrived + arrived_offset, (stage + 1 - first_stage) * groups, groups);
        }
    }
}

// The same for at most KEPT * ROWS rows in a group: work-items keep their elements in registers from the first of the stages to the last. Numbers
// and their order are those of `reflect`.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
reflect_in_registers(uint m, uint width, uint first_stage, uint last_stage, __global element *a, ulong a_offset, ulong a_down,
                     ulong a_across, __global double *dots, __global element *pivot_rows, __global element *tau,
                     ulong tau_offset, __global uint *arrived, ulong arrived_offset) {
    __local wide sums[WIDTH * LANES];
    __local element updates[WIDTH];
    __local element pivot_row[WIDTH];
    __local element old_column[KEPT * ROWS];
    __local element new_column[KEPT * ROWS];
    const uint item = get_local_id(0);
    const uint lane = item % ROWS;
    const uint slot = item / ROWS;
    const uint group = get_group_id(0);
    const uint groups = get_num_groups(0);
    const uint share = (m + groups - 1) / groups;
    const uint begin = min(group * share, m);
    const uint end = min(begin + share, m);
    __global element *matrix = a + a_offset;
    __global wide *partial = (__global wide *)dots;
    element x[KEPT][COLUMNS_OF_SLOT];
#pragma unroll
    for (uint q = 0; q < KEPT; q++) {
#pragma unroll
        for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
            const uint i = begin + q * ROWS + lane;
            const uint k = slot + n * SLOTS;
            x[q][n] = i < end && k < width ? matrix[i * a_down + k * a_across] : (element)0;
        }
    }
    for (uint stage = first_stage; stage < last_stage; stage++) {
        const uint from = stage % 2;
        const uint to = 1 - from;
        const bool finishes = stage > 0;
        const bool searches = stage < width;
        const uint column = finishes ? stage - 1 : 0;

        if (finishes) {
            sum_groups(partial + from * groups * WIDTH, groups, column, width, sums, item);
            for (uint k = column + item; k < width; k += ITEMS) {
                pivot_row[k] = pivot_rows[from * WIDTH + k];
            }
        }
#pragma unroll
        for (uint q = 0; q < KEPT; q++) {
#pragma unroll
            for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
                const uint k = slot + n * SLOTS;
                if (finishes && k == column) {
                    old_column[q * ROWS + lane] = x[q][n];
                }
                if (searches && k == stage) {
                    new_column[q * ROWS + lane] = x[q][n];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        wide scale = wide_of(0.0, 0.0);
        double beta = 0.0;
        if (finishes) {
            const wide alpha = widened(pivot_row[column]);
            const wide factor = reflector(alpha, sums + column * LANES, &beta, &scale);
            for (uint k = column + 1 + item; k < width; k += ITEMS) {
                wide sum = wide_of(0.0, 0.0);
                for (uint part = 0; part < PARTS; part++) {
                    sum += sums[k * LANES + part];
                }
                const wide product = widened(pivot_row[k]) + times(conjugated(scale), sum);
                updates[k] = narrowed(times(conjugated(factor), product));
            }
            if (group == 0 && item == 0) {
                tau[tau_offset + column] = narrowed(factor);
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);

        wide own[COLUMNS_OF_SLOT];
#pragma unroll
        for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
            own[n] = wide_of(0.0, 0.0);
        }
#pragma unroll
        for (uint q = 0; q < KEPT; q++) {
            const uint i = begin + q * ROWS + lane;
            if (i < end && (!finishes || i >= column)) {
                element v = (element)0;
                if (finishes) {
                    v = i == column ? narrowed(wide_of(1.0, 0.0))
                                    : narrowed(times(scale, widened(old_column[q * ROWS + lane])));
                }
                const bool counts = searches && i > stage;
                wide conjugate = wide_of(0.0, 0.0);
                if (counts) {
                    const element found = new_column[q * ROWS + lane];
                    conjugate = conjugated(widened(finishes ? found - multiply(v, updates[stage]) : found));
                }
#pragma unroll
                for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
                    const uint k = slot + n * SLOTS;
                    if (k < width && finishes && k == column) {
                        x[q][n] = i == column ? narrowed(wide_of(beta, 0.0)) : v;
                    } else if (k < width && k >= stage) {
                        if (finishes) {
                            x[q][n] -= multiply(v, updates[k]);
                        }
                        if (counts) {
                            own[n] += times(conjugate, widened(x[q][n]));
                        }
                        if (i == stage) {
                            pivot_rows[to * WIDTH + k] = x[q][n];
                        }
                    }
                }
            }
        }
#pragma unroll
        for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
            if (slot + n * SLOTS < WIDTH) {
                sums[(slot + n * SLOTS) * LANES + lane] = own[n];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // After the last column there is nothing to sum up.
        for (uint k = stage + item; k < width; k += ITEMS) {
            wide sum = wide_of(0.0, 0.0);
            for (uint other = 0; other < ROWS; other++) {
                sum += sums[k * LANES + other];
            }
            partial[(to * groups + group) * WIDTH + k] = sum;
        }
        if (stage + 1 < last_stage) {
            meet(arrived + arrived_offset, (stage + 1 - first_stage) * groups, groups);
        }
    }
#pragma unroll
    for (uint q = 0; q < KEPT; q++) {
#pragma unroll
        for (uint n = 0; n < COLUMNS_OF_SLOT; n++) {
            const uint i = begin + q * ROWS + lane;
            const uint k = slot + n * SLOTS;
            if (i < end && k < width) {
                matrix[i * a_down + k * a_across] = x[q][n];
            }
        }
    }
}

// The vectors v of `width` reflectors as a matrix of m rows, with their zeros and ones. A reflector that changes nothing, with tau = 0, gets zeros.
__kernel void spread_reflectors(ulong m, ulong width, __global const element *a, ulong a_offset, ulong a_down, ulong a_across,
                                __global const element *tau, ulong tau_offset, __global element *v) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i >= m || j >= width) {
        return;
    }
    element x = (element)0;
    if (i >= j && !is_zero(tau[tau_offset + j])) {
        x = i == j ? ONE : a[a_offset + i * a_down + j * a_across];
    }
    v[i + j * m] = x;
}

// Puts 1 / tau on the diagonal of the products of reflectors, a matrix of `width` rows. Its upper triangle is then the inverse of the T in
// H₁ H₂ … = 1 - V T Vᴴ (C. Puglisi, SIAM J. Sci. Stat. Comput. 13, 723 (1992)).
__kernel void set_reciprocals(ulong width, __global const element *tau, ulong tau_offset, __global element *products) {
    const ulong j = get_global_id(0);
    if (j < width) {
        const element x = tau[tau_offset + j];
        products[j * (width + 1)] = is_zero(x) ? ONE : divide(ONE, x);
    }
}

// For each column a power of two that keeps squares of its elements in range; 1 if they are anyway. A work-group has a column.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
column_factors(ulong m, __global const element *a, ulong a_offset, ulong a_down, ulong a_across, __global double *factors) {
    __local real largest[ITEMS];
    const uint item = get_local_id(0);
    const ulong j = get_group_id(0);
    real own = (real)0;
    for (ulong i = item; i < m; i += ITEMS) {
        own = fmax(own, largest_part(a[a_offset + i * a_down + j * a_across]));
    }
    largest[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (uint other = 1; other < ITEMS; other++) {
            own = fmax(own, largest[other]);
        }
        const int exponent = own > (real)0 && own < (real)INFINITY ? ilogb(own) : 0;
        factors[j] = abs(exponent) > 480 ? ldexp(1.0, clamp(-exponent, -1000, 1000)) : 1.0;
    }
}

// Multiplies or divides columns by their factors, of an upper triangle only if `upper`.
__kernel void scale_columns(ulong m, ulong n, uint upper, uint divides, __global const double *factors, __global element *a,
                            ulong a_offset, ulong a_down, ulong a_across) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i >= m || j >= n || (upper && i > j) || factors[j] == 1.0) {
        return;
    }
    const real factor = (real)(divides ? 1.0 / factors[j] : factors[j]);
    a[a_offset + i * a_down + j * a_across] *= factor;
}

// The number of the first element on the diagonal that is exactly zero, counted from 1, or 0. One work-group looks for it.
__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
first_zero(ulong n, __global const element *a, ulong a_offset, ulong a_down, ulong a_across, __global uint *info) {
    __local uint firsts[ITEMS];
    const uint item = get_local_id(0);
    uint first = (uint)n;
    for (ulong i = item; i < n && first == (uint)n; i += ITEMS) {
        if (is_zero(a[a_offset + i * (a_down + a_across)])) {
            first = (uint)i;
        }
    }
    firsts[item] = first;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item == 0) {
        for (uint other = 1; other < ITEMS; other++) {
            first = min(first, firsts[other]);
        }
        info[0] = first < (uint)n ? first + 1 : 0;
    }
}
