// Matrices with vectors: y = alpha op(A) x + beta y, and A = A + alpha x op(y).
//
// The host brings A to column-major order, m rows and n columns. Either every element of y is a sum along a row of A,
// and neighbouring work-items have neighbouring rows (gemv_rows); or it is one along a column, and the items of a
// work-group share it (gemv_columns). With few rows, or few columns, dimension 1 of the range cuts the sums into parts
// that are added afterwards (sum_of_parts), always in the same order.
//
// Besides the common definitions the host gives
//
//   LOCAL_ROWS    work-items beside each other along a column
//   LOCAL_SLICES  work-items that share the row of a pack
//   ITEM_PACKS    packs of rows for one work-item
//   COLUMNS       columns that a work-group takes at a time in gemv_columns, a work-item in rank_one

#define LOCAL_SIZE (LOCAL_ROWS * LOCAL_SLICES)
#define ROWS (ITEM_PACKS * PACK)

#if IS_COMPLEX
static inline element conjugate_if(uint conjugate, element x) { return (element)(x.s0, conjugate ? -x.s1 : x.s1); }
static inline element multiply(element a, element b) {
    return (element)(a.s0 * b.s0 - a.s1 * b.s1, a.s0 * b.s1 + a.s1 * b.s0);
}
static inline int is_zero(element x) { return x.s0 == (real)0 && x.s1 == (real)0; }
#else
static inline element conjugate_if(uint conjugate, element x) { return x; }
static inline element multiply(element a, element b) { return a * b; }
static inline int is_zero(element x) { return x == (real)0; }
#endif

// y = alpha sum + beta y for one element; with beta = 0, y is not read.
static inline void update(__global element *y, element alpha, element sum, element beta) {
    const element product = multiply(alpha, sum);
    *y = is_zero(beta) ? product : product + multiply(beta, *y);
}

// The elements of a pack one by one.
static inline void spread(pack v, element *elements) {
#if PACK == 1
    elements[0] = v;
#else
    JOIN(vstore, LANES)(v, 0, (real *)elements);
#endif
}

// Where a part of a sum over `count` terms begins.
static inline ulong part_begin(ulong part, ulong parts, ulong count) { return part * ((count + parts - 1) / parts); }

// A sum goes to y at once, or to `partials` as one of several parts.
#define RESULT(row, rows, sum)                                                                                  \
    if (get_num_groups(1) == 1) {                                                                               \
        update(y + y_offset + (row) * y_stride, alpha, sum, beta);                                              \
    } else {                                                                                                    \
        partials[get_group_id(1) * (rows) + (row)] = sum;                                                       \
    }

// y_i = sum over j of a_ij x_j, or of conj(a_ij) x_j.
__kernel __attribute__((reqd_work_group_size(LOCAL_ROWS, LOCAL_SLICES, 1))) void
gemv_rows(ulong m, ulong n, element alpha, IN(a), ulong a_leading, uint conjugate, IN(x), ulong x_stride, element beta,
          OUT(y), ulong y_stride, __global element *partials) {
    const ulong row = get_global_id(0) * ROWS;
    const uint slice = get_local_id(1);
    const ulong begin = part_begin(get_group_id(1), get_num_groups(1), n);
    const ulong end = min(part_begin(get_group_id(1) + 1, get_num_groups(1), n), n);
    __global const element *from = a + a_offset + row;
    // conj(a) x is the conjugate of a conj(x).
    element sums[ROWS];
    if (row + ROWS <= m) {
        pack total[ITEM_PACKS];
#pragma unroll
        for (uint v = 0; v < ITEM_PACKS; v++) {
            total[v] = (pack)0;
        }
        UNROLL_8
        for (ulong j = begin + slice; j < end; j += LOCAL_SLICES) {
            const element factor = conjugate_if(conjugate, x[x_offset + j * x_stride]);
#pragma unroll
            for (uint v = 0; v < ITEM_PACKS; v++) {
                total[v] += times(factor, load_whole(from + j * a_leading, v));
            }
        }
        for (uint v = 0; v < ITEM_PACKS; v++) {
            spread(total[v], sums + v * PACK);
        }
    } else {
        for (uint i = 0; i < ROWS; i++) {
            sums[i] = (element)0;
        }
        for (ulong j = begin + slice; row < m && j < end; j += LOCAL_SLICES) {
            const element factor = conjugate_if(conjugate, x[x_offset + j * x_stride]);
            for (uint i = 0; i < m - row; i++) {
                sums[i] += multiply(factor, from[j * a_leading + i]);
            }
        }
    }
#if LOCAL_SLICES > 1
    __local element scratch[ROWS * LOCAL_SIZE];
    for (uint i = 0; i < ROWS; i++) {
        scratch[(i * LOCAL_SLICES + slice) * LOCAL_ROWS + get_local_id(0)] = sums[i];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; slice == 0 && i < ROWS; i++) {
        for (uint other = 1; other < LOCAL_SLICES; other++) {
            sums[i] += scratch[(i * LOCAL_SLICES + other) * LOCAL_ROWS + get_local_id(0)];
        }
    }
#endif
    for (uint i = 0; slice == 0 && i < ROWS; i++) {
        if (row + i < m) {
            RESULT(row + i, m, conjugate_if(conjugate, sums[i]))
        }
    }
}

#if IS_COMPLEX
#define ADD_PRODUCTS(c, u, v)                                                                                   \
    straight[c] += (u) * (v);                                                                                   \
    crossed[c] += (u) * swap_parts(v);
static inline element inner_product(pack straight, pack crossed, uint conjugate) {
    const double2 sum = dot_fold(to_double(straight), to_double(crossed), conjugate);
    return (element)((real)sum.x, (real)sum.y);
}
#else
#define ADD_PRODUCTS(c, u, v) straight[c] += (u) * (v);
#define inner_product(straight, crossed, conjugate) ((real)fold_all(to_double(straight)))
#endif

// y_j = sum over i of a_ij x_i, or of conj(a_ij) x_i; the elements of x are neighbours.
__kernel __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void
gemv_columns(ulong m, ulong n, element alpha, IN(a), ulong a_leading, uint conjugate, IN(x), element beta, OUT(y),
             ulong y_stride, __global element *partials) {
    const ulong first = get_group_id(0) * COLUMNS;
    const uint item = get_local_id(0);
    const ulong packs = m / PACK;
    const ulong begin = part_begin(get_group_id(1), get_num_groups(1), packs);
    const ulong end = min(part_begin(get_group_id(1) + 1, get_num_groups(1), packs), packs);
    __global const element *column[COLUMNS];
    pack straight[COLUMNS];
    pack crossed[COLUMNS];
#pragma unroll
    for (uint c = 0; c < COLUMNS; c++) {
        // Beyond the last column it is read again.
        column[c] = a + a_offset + min(first + c, n - 1) * a_leading;
        straight[c] = (pack)0;
        crossed[c] = (pack)0;
    }
    UNROLL_2
    for (ulong i = begin + item; i < end; i += LOCAL_SIZE) {
        const pack factor = load_whole(x + x_offset, i);
#pragma unroll
        for (uint c = 0; c < COLUMNS; c++) {
            const pack entry = load_whole(column[c], i);
            ADD_PRODUCTS(c, entry, factor)
        }
    }
    if (PACK > 1 && packs * PACK < m && item == 0 && get_group_id(1) == 0) {
        const uint rest = (uint)(m - packs * PACK);
        const pack factor = load_part(x + x_offset, packs, rest);
        for (uint c = 0; c < COLUMNS; c++) {
            const pack entry = load_part(column[c], packs, rest);
            ADD_PRODUCTS(c, entry, factor)
        }
    }
    __local element scratch[COLUMNS * LOCAL_SIZE];
    for (uint c = 0; c < COLUMNS; c++) {
        scratch[c * LOCAL_SIZE + item] = inner_product(straight[c], crossed[c], conjugate);
    }
    uint active = LOCAL_SIZE;
    while (active > 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        const uint half_way = (active + 1) / 2;
        if (item + half_way < active) {
            for (uint c = 0; c < COLUMNS; c++) {
                scratch[c * LOCAL_SIZE + item] += scratch[c * LOCAL_SIZE + item + half_way];
            }
        }
        active = half_way;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint c = item; c < COLUMNS && first + c < n; c += LOCAL_SIZE) {
        RESULT(first + c, n, scratch[c * LOCAL_SIZE])
    }
}

// y = alpha (sum of the parts) + beta y; without parts, y = beta y.
__kernel void sum_of_parts(ulong count, ulong parts, __global const element *partials, element alpha, element beta,
                           OUT(y), ulong y_stride) {
    const ulong i = get_global_id(0);
    if (i < count) {
        element sum = (element)0;
        for (ulong part = 0; part < parts; part++) {
            sum += partials[part * count + i];
        }
        update(y + y_offset + i * y_stride, alpha, sum, beta);
    }
}

// Elements at equal distances, side by side.
__kernel void gather(ulong count, IN(x), ulong x_stride, __global element *to) {
    const ulong i = get_global_id(0);
    if (i < count) {
        to[i] = x[x_offset + i * x_stride];
    }
}

// a_ij = a_ij + alpha x_i y_j, either factor conjugated or not; dimension 1 counts blocks of COLUMNS columns.
__kernel __attribute__((reqd_work_group_size(LOCAL_ROWS, 1, 1))) void
rank_one(ulong m, ulong n, element alpha, IN(x), ulong x_stride, uint x_conjugate, IN(y), ulong y_stride,
         uint y_conjugate, OUT(a), ulong a_leading) {
    const ulong row = get_global_id(0) * PACK;
    const ulong first = get_global_id(1) * COLUMNS;
    if (row >= m) {
        return;
    }
    const uint n_rows = (uint)min((ulong)PACK, m - row);
    element parts[PACK];
    for (uint i = 0; i < PACK; i++) {
        parts[i] = i < n_rows ? conjugate_if(x_conjugate, x[x_offset + (row + i) * x_stride]) : (element)0;
    }
#if PACK == 1
    const pack factor = parts[0];
#else
    const pack factor = JOIN(vload, LANES)(0, (const real *)parts);
#endif
    for (ulong j = first; j < min(first + COLUMNS, n); j++) {
        const element scale = multiply(alpha, conjugate_if(y_conjugate, y[y_offset + j * y_stride]));
        __global element *place = a + a_offset + row + j * a_leading;
        if (n_rows == PACK) {
            store_whole(load_whole(place, 0) + times(scale, factor), place, 0);
        } else {
            store_part(load_part(place, 0, n_rows) + times(scale, factor), place, 0, n_rows);
        }
    }
}
