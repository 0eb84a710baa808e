// Matrices with vectors: y = alpha op(A) x + beta y, and A = A + alpha x op(y).
//
// The host brings A to column-major order, m rows and n columns. Either every element of y is a sum along a row of A,
// and neighbouring work-items have neighbouring rows (gemv_rows); or it is one along a column, and the items of a
// work-group share it (gemv_columns). With few rows, or few columns, dimension 1 of the range cuts the sums into parts
// that are added afterwards, always in the same order: by another launch (sum_of_parts), or by that group of gemv_rows
// which finds the others of its rows done.
//
// Besides the common definitions the host gives
//
//   LOCAL_ROWS    work-items beside each other along a column
//   LOCAL_SLICES  work-items that share the row of a pack
//   ITEM_PACKS    packs of rows for one work-item
//   AHEAD         columns that a work-item of gemv_rows has under way at a time
//   TREE          sums that an item adds at a time where those of a work-group of gemv_rows become one
//   LAST_ADDS     1 where the last group of gemv_rows adds the parts
//   COLUMNS       columns that a work-group takes at a time in gemv_columns, a work-item in rank_one
//   UPDATE_SIZE   work-items of a group of rank_one

#define LOCAL_SIZE (LOCAL_ROWS * LOCAL_SLICES)
#define ROWS (ITEM_PACKS * PACK)

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

// Elements by which a column that begins at this place of its buffer begins behind a multiple of the widest load.
#if ALIGNED && PACK > 1
#define SHIFT(place) ((uint)((place) % PACK))
#else
#define SHIFT(place) 0u
#endif

// Rows for which a group of gemv_rows has places.
#define GROUP_ROWS (LOCAL_ROWS * ROWS)

#if LOCAL_SIZE > 1
// Adds `lines` lines of `width` elements, one after the other in scratch, into the first: always in the same order.
static inline void add_lines(uint lines, uint width, uint item, __local element *scratch) {
    while (lines > 1) {
        const uint remaining = (lines + TREE - 1) / TREE;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint e = item; e < remaining * width; e += LOCAL_SIZE) {
            element terms[TREE];
#pragma unroll
            for (uint k = 0; k < TREE; k++) {
                const uint other = e + k * remaining * width;
                terms[k] = other < lines * width ? scratch[other] : (element)0;
            }
#pragma unroll
            for (uint half_way = TREE / 2; half_way > 0; half_way /= 2) {
#pragma unroll
                for (uint k = 0; k < half_way; k++) {
                    terms[k] += terms[k + half_way];
                }
            }
            scratch[e] = terms[0];
        }
        lines = remaining;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}
#endif

// y_i = sum over j of a_ij x_j, or of conj(a_ij) x_j.
//
// Where columns do not begin at multiples of a pack, an item takes the packs that do, and so rows that lie higher by
// its `shift`: the same for all of its columns, as LOCAL_SLICES is a multiple of PACK then. Groups begin every
// group_rows = GROUP_ROWS - PACK rows, and have places to spare. A pack may begin in what is before the column, and
// end in what is behind: the next column, mostly. Nothing comes of those lanes. Before A the buffer goes on at least
// to the multiple; behind A it may end, so the last columns, `apart`, are taken by elements.
__kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(LOCAL_ROWS, LOCAL_SLICES, 1))) void
gemv_rows(ulong m, ulong n, element alpha, IN(a), ulong a_leading, uint conjugate, IN(x), ulong x_stride, element beta,
          OUT(y), ulong y_stride, ulong group_rows, __global element *partials, __global uint *counters) {
#if LAST_ADDS
    __local uint is_last;
#endif
    const uint slice = get_local_id(1);
    const uint item = slice * LOCAL_ROWS + get_local_id(0);
    const ulong begin = part_begin(get_group_id(1), get_num_groups(1), n);
    const ulong end = min(part_begin(get_group_id(1) + 1, get_num_groups(1), n), n);
    const ulong first = get_group_id(0) * group_rows;
    const uint shift = SHIFT(a_offset + (begin + slice) * a_leading);
    const ulong row = first + get_local_id(0) * ROWS;
    const ulong apart = min(n, (ROWS - 1 + a_leading - 1) / a_leading);
    const ulong whole = min(end, n - apart);
    ulong j = begin + slice;
    // conj(a) x is the conjugate of a conj(x).
    element sums[ROWS];
    pack total[ITEM_PACKS];
#pragma unroll
    for (uint v = 0; v < ITEM_PACKS; v++) {
        total[v] = (pack)0;
    }
    if (row < m + shift) {
        for (; j < whole; j += AHEAD * LOCAL_SLICES) {
            pack entries[AHEAD * ITEM_PACKS];
            element factors[AHEAD];
#pragma unroll
            for (uint k = 0; k < AHEAD; k++) {
                // Beyond the last column the first of the round is read again, and left out.
                const ulong column = j + k * LOCAL_SLICES < whole ? j + k * LOCAL_SLICES : j;
                factors[k] = x[x_offset + column * x_stride];
                __global const element *from = a + (a_offset + column * a_leading + row - shift);
#pragma unroll
                for (uint v = 0; v < ITEM_PACKS; v++) {
                    entries[k * ITEM_PACKS + v] = load_whole(from, v);
                }
            }
#pragma unroll
            for (uint k = 0; k < AHEAD; k++) {
                const int inside = k == 0 || j + k * LOCAL_SLICES < whole;
                const element factor = inside ? conjugate_if(conjugate, factors[k]) : (element)0;
#pragma unroll
                for (uint v = 0; v < ITEM_PACKS; v++) {
                    total[v] += times(factor, inside ? entries[k * ITEM_PACKS + v] : (pack)0);
                }
            }
        }
    }
    for (uint v = 0; v < ITEM_PACKS; v++) {
        spread(total[v], sums + v * PACK);
    }
    // The first of this slice's columns that is not whole.
    j = begin + slice;
    j += j < whole ? (whole - j + LOCAL_SLICES - 1) / LOCAL_SLICES * LOCAL_SLICES : 0;
    for (; j < end; j += LOCAL_SLICES) {
        const element factor = conjugate_if(conjugate, x[x_offset + j * x_stride]);
        for (uint i = 0; i < ROWS; i++) {
            // Above the first row the difference is a large number.
            if (row + i - shift < m) {
                sums[i] += multiply(factor, a[a_offset + j * a_leading + row + i - shift]);
            }
        }
    }
#if LOCAL_SIZE > 1
    __local element scratch[GROUP_ROWS * LOCAL_SLICES];
    for (uint i = 0; i < ROWS; i++) {
        const uint place = get_local_id(0) * ROWS + i;
        // Rows above the group's first go where its places to spare are.
        scratch[slice * GROUP_ROWS + (place >= shift ? place : place + GROUP_ROWS) - shift] = sums[i];
    }
    add_lines(LOCAL_SLICES, GROUP_ROWS, item, scratch);
    for (uint i = item; i < group_rows; i += LOCAL_SIZE) {
        if (first + i < m) {
            RESULT(first + i, m, conjugate_if(conjugate, scratch[i]))
        }
    }
#else
    for (uint i = 0; i < ROWS; i++) {
        if (row + i < m) {
            RESULT(row + i, m, conjugate_if(conjugate, sums[i]))
        }
    }
#endif
#if LAST_ADDS
    // The counters are zero between launches. What makes this correct is said in reduction.cl.
    if (get_num_groups(1) > 1) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (item == 0) {
            device_fence();
            is_last = atomic_add(counters + get_group_id(0), 1u) == get_num_groups(1) - 1;
            device_fence();
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (is_last) {
            for (uint i = item; i < group_rows; i += LOCAL_SIZE) {
                if (first + i < m) {
                    element sum = (element)0;
                    UNROLL_8
                    for (uint part = 0; part < get_num_groups(1); part++) {
                        sum += *(volatile __global element *)(partials + part * m + first + i);
                    }
                    update(y + y_offset + (first + i) * y_stride, alpha, sum, beta);
                }
            }
            if (item == 0) {
                atomic_xchg(counters + get_group_id(0), 0u);
            }
        }
    }
#endif
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
__kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void
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

// y = beta y
__kernel void scale(ulong count, element beta, OUT(y), ulong y_stride) {
    const ulong i = get_global_id(0);
    if (i < count) {
        scale_element(y + y_offset + i * y_stride, beta);
    }
}

// y = alpha (sum of the parts) + beta y
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
__kernel __attribute__((reqd_work_group_size(UPDATE_SIZE, 1, 1))) void
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
        const element scale = scaled(alpha, conjugate_if(y_conjugate, y[y_offset + j * y_stride]));
        __global element *place = a + a_offset + row + j * a_leading;
        if (n_rows == PACK) {
            store_whole(load_whole(place, 0) + times(scale, factor), place, 0);
        } else {
            store_part(load_part(place, 0, n_rows) + times(scale, factor), place, 0, n_rows);
        }
    }
}
