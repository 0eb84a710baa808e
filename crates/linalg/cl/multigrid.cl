// Set-up of algebraic multigrid: strong connections, aggregates, prolongators, products of sparse matrices.
//
// Matrices are compressed sparse rows with ascending columns. The host gives LOCAL_SIZE, the work-group size, and CHUNK, the numbers that a
// work-item adds up. A work-item makes a row. Sums have the order of the host's loops, so that host and devices make the same levels. Atomic
// operations only count or find a place, and what they put into any order is sorted. TABLE is the number of columns that a row of a product may
// find room for in local memory.

#define KERNEL __kernel __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void
#define IN(type, name) __global const type *restrict name
#define OUT(type, name) __global type *restrict name

// No point, no aggregate, no row.
#define NONE UINT_MAX

// States of a point: out, undecided, or the seed of an aggregate, with its priority in the lower half.
#define UNDECIDED ((ulong)1 << 32)
#define SEED ((ulong)2 << 32)

#if IS_COMPLEX
static inline double square(const element x) { return (double)x.s0 * (double)x.s0 + (double)x.s1 * (double)x.s1; }
static inline double magnitude(const element x) { return hypot((double)x.s0, (double)x.s1); }
static inline double positive_part(const element x) { return x.s1 == (real)0 ? (double)x.s0 : -1.0; }
static inline element reciprocal(const element x) {
    const double size = square(x);
    return (element)((real)((double)x.s0 / size), (real)(-(double)x.s1 / size));
}
#else
static inline double square(const element x) { return (double)x * (double)x; }
static inline double magnitude(const element x) { return fabs((double)x); }
static inline double positive_part(const element x) { return (double)x; }
static inline element reciprocal(const element x) { return (real)(1.0 / (double)x); }
#endif

// Position of the first column in a part of a row that is `least` or more.
static inline ulong first_from(IN(uint, columns), ulong begin, ulong end, const uint least) {
    while (begin < end) {
        const ulong middle = begin + (end - begin) / 2;
        if (columns[middle] < least) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return begin;
}

// Sums of CHUNK lengths each.
KERNEL chunk_sums(const uint count, IN(uint, lengths), OUT(ulong, sums)) {
    const ulong begin = (ulong)get_global_id(0) * CHUNK;
    if (begin >= count) {
        return;
    }
    ulong sum = 0;
    for (ulong k = begin; k < min(begin + CHUNK, (ulong)count); k++) {
        sum += lengths[k];
    }
    sums[get_global_id(0)] = sum;
}

// starts[k] is the sum of the lengths before k, for k up to `count`. `before` has the sum before each chunk.
KERNEL chunk_starts(const uint count, IN(uint, lengths), IN(ulong, before), OUT(ulong, starts)) {
    const ulong begin = (ulong)get_global_id(0) * CHUNK;
    if (begin >= count) {
        return;
    }
    const ulong end = min(begin + CHUNK, (ulong)count);
    ulong sum = before[get_global_id(0)];
    for (ulong k = begin; k < end; k++) {
        starts[k] = sum;
        sum += lengths[k];
    }
    if (end == count) {
        starts[count] = sum;
    }
}

// The diagonal and its inverse. For each work-item also: the largest sum of a row over its diagonal entry, the least diagonal entry, -1 for one that is not
// real, and the first row without one.
KERNEL row_facts(const uint rows, IN(ulong, starts), IN(uint, columns), IN(element, values), OUT(element, diagonal), OUT(element, inverse),
                 OUT(double, ratios), OUT(double, least), OUT(uint, zeros)) {
    double ratio = 0.0;
    double smallest = INFINITY;
    uint zero = NONE;
    for (ulong row = get_global_id(0); row < rows; row += get_global_size(0)) {
        element own = (element)0;
        double sum = 0.0;
        for (ulong k = starts[row]; k < starts[row + 1]; k++) {
            if (columns[k] == row) {
                own = values[k];
            }
            sum += magnitude(values[k]);
        }
        diagonal[row] = own;
        inverse[row] = reciprocal(own);
        const double size = magnitude(own);
        if (size == 0.0) {
            zero = min(zero, (uint)row);
        }
        ratio = fmax(ratio, sum / size);
        smallest = fmin(smallest, positive_part(own));
    }
    ratios[get_global_id(0)] = ratio;
    least[get_global_id(0)] = smallest;
    zeros[get_global_id(0)] = zero;
}

// The sum of |a|² in the block of two points, in the order of rows.
static inline double block_square(const uint point, const uint other, const uint block, IN(ulong, starts), IN(uint, columns),
                                  IN(element, values)) {
    double sum = 0.0;
    for (uint row = point * block; row < (point + 1) * block; row++) {
        const ulong end = starts[row + 1];
        for (ulong k = first_from(columns, starts[row], end, other * block); k < end && columns[k] < (other + 1) * block; k++) {
            sum += square(values[k]);
        }
    }
    return sum;
}

// |a_ii| of each point.
KERNEL point_sizes(const uint points, const uint block, IN(ulong, starts), IN(uint, columns), IN(element, values), OUT(double, sizes)) {
    const uint point = get_global_id(0);
    if (point < points) {
        sizes[point] = sqrt(block_square(point, point, block, starts, columns, values));
    }
}

// The first point from `least` on that a point is connected with.
static inline uint next_point(const uint point, const uint block, const uint least, IN(ulong, starts), IN(uint, columns)) {
    uint next = NONE;
    for (uint row = point * block; row < (point + 1) * block; row++) {
        const ulong k = first_from(columns, starts[row], starts[row + 1], least * block);
        if (k < starts[row + 1]) {
            next = min(next, columns[k] / block);
        }
    }
    return next;
}

// |a_ij|² over |a_ii a_jj|; 0 if it is less than `least`, and for the point itself. Single precision, so that rounding decides nothing.
static inline float strength(const uint point, const uint other, const uint block, const float least, IN(ulong, starts), IN(uint, columns),
                             IN(element, values), IN(double, sizes)) {
    if (point == other) {
        return 0.0f;
    }
    const float found = (float)(block_square(point, other, block, starts, columns, values) / (sizes[point] * sizes[other]));
    return found >= least ? found : 0.0f;
}

// The number of strong connections of each point.
KERNEL graph_lengths(const uint points, const uint block, const float least, IN(ulong, starts), IN(uint, columns), IN(element, values),
                     IN(double, sizes), OUT(uint, lengths)) {
    const uint point = get_global_id(0);
    if (point >= points) {
        return;
    }
    uint length = 0;
    for (uint other = next_point(point, block, 0, starts, columns); other != NONE;
         other = next_point(point, block, other + 1, starts, columns)) {
        length += strength(point, other, block, least, starts, columns, values, sizes) > 0.0f;
    }
    lengths[point] = length;
}

// The strong connections of each point.
KERNEL graph_fill(const uint points, const uint block, const float least, IN(ulong, starts), IN(uint, columns), IN(element, values),
                  IN(double, sizes), IN(ulong, graph_starts), OUT(uint, neighbours), OUT(float, strengths)) {
    const uint point = get_global_id(0);
    if (point >= points) {
        return;
    }
    ulong k = graph_starts[point];
    for (uint other = next_point(point, block, 0, starts, columns); other != NONE;
         other = next_point(point, block, other + 1, starts, columns)) {
        const float found = strength(point, other, block, least, starts, columns, values, sizes);
        if (found > 0.0f) {
            neighbours[k] = other;
            strengths[k] = found;
            k++;
        }
    }
}

// A one-to-one function of 32 bits without pattern.
static inline uint shuffled(uint x) {
    x ^= x >> 16;
    x *= 0x7feb352dU;
    x ^= x >> 15;
    x *= 0x846ca68bU;
    return x ^ x >> 16;
}

// Points with neighbours are undecided, others are out.
KERNEL seeds_begin(const uint points, IN(ulong, graph_starts), OUT(ulong, states)) {
    const uint point = get_global_id(0);
    if (point < points) {
        states[point] = graph_starts[point + 1] > graph_starts[point] ? UNDECIDED | shuffled(point) : 0;
    }
}

static inline ulong largest_around(const uint point, IN(ulong, graph_starts), IN(uint, neighbours), IN(ulong, states)) {
    ulong largest = states[point];
    for (ulong k = graph_starts[point]; k < graph_starts[point + 1]; k++) {
        largest = max(largest, states[neighbours[k]]);
    }
    return largest;
}

// The largest state of each point and its neighbours.
KERNEL seeds_spread(const uint points, IN(ulong, graph_starts), IN(uint, neighbours), IN(ulong, states), OUT(ulong, around)) {
    const uint point = get_global_id(0);
    if (point < points) {
        around[point] = largest_around(point, graph_starts, neighbours, states);
    }
}

// An undecided point becomes a seed if no point within two steps is before it, and is out if one of them is a seed.
KERNEL seeds_decide(const uint points, IN(ulong, graph_starts), IN(uint, neighbours), IN(ulong, around), OUT(ulong, states),
                    OUT(uint, left)) {
    const uint point = get_global_id(0);
    if (point >= points) {
        return;
    }
    const ulong own = states[point];
    if ((own & UNDECIDED) == 0) {
        return;
    }
    const ulong largest = largest_around(point, graph_starts, neighbours, around);
    if (largest == own) {
        states[point] = SEED | (own & UINT_MAX);
    } else if (largest & SEED) {
        states[point] = 0;
    } else {
        atomic_or(left, 1);
    }
}

// 1 for each seed.
KERNEL seed_flags(const uint points, IN(ulong, states), OUT(uint, flags)) {
    const uint point = get_global_id(0);
    if (point < points) {
        flags[point] = (states[point] & SEED) != 0;
    }
}

// The aggregates of seeds and their neighbours.
KERNEL join_seeds(const uint points, IN(ulong, graph_starts), IN(uint, neighbours), IN(ulong, states), IN(ulong, numbers),
                  OUT(uint, aggregates)) {
    const uint point = get_global_id(0);
    if (point >= points) {
        return;
    }
    uint own = NONE;
    if (states[point] & SEED) {
        own = (uint)numbers[point];
    }
    for (ulong k = graph_starts[point]; own == NONE && k < graph_starts[point + 1]; k++) {
        if (states[neighbours[k]] & SEED) {
            own = (uint)numbers[neighbours[k]];
        }
    }
    aggregates[point] = own;
}

// Other points join the aggregate of their strongest connection, the first of equal ones.
KERNEL join_others(const uint points, IN(ulong, graph_starts), IN(uint, neighbours), IN(float, strengths), IN(uint, aggregates),
                   OUT(uint, joined)) {
    const uint point = get_global_id(0);
    if (point >= points) {
        return;
    }
    uint own = aggregates[point];
    if (own == NONE) {
        float strongest = 0.0f;
        for (ulong k = graph_starts[point]; k < graph_starts[point + 1]; k++) {
            if (aggregates[neighbours[k]] != NONE && strengths[k] > strongest) {
                strongest = strengths[k];
                own = aggregates[neighbours[k]];
            }
        }
    }
    joined[point] = own;
}

// 1 for each point of an aggregate.
KERNEL member_flags(const uint points, IN(uint, aggregates), OUT(uint, flags)) {
    const uint point = get_global_id(0);
    if (point < points) {
        flags[point] = aggregates[point] != NONE;
    }
}

// The aggregate of each member, one after the other.
KERNEL member_columns(const uint points, IN(uint, aggregates), IN(ulong, member_starts), OUT(uint, columns)) {
    const uint point = get_global_id(0);
    if (point < points && aggregates[point] != NONE) {
        columns[member_starts[point]] = aggregates[point];
    }
}

// Rows of the tentative prolongator: `modes` entries for each row of a member.
KERNEL tentative_pattern(const uint rows, const uint block, const uint modes, IN(uint, aggregates), IN(ulong, member_starts),
                         OUT(ulong, starts), OUT(uint, columns)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    const uint point = row / block;
    const uint aggregate = aggregates[point];
    const ulong begin = (member_starts[point] * block + (aggregate != NONE ? row % block : 0)) * modes;
    starts[row] = begin;
    if (aggregate != NONE) {
        for (uint mode = 0; mode < modes; mode++) {
            columns[begin + mode] = aggregate * modes + mode;
        }
    }
    if (row + 1 == rows) {
        starts[rows] = begin + (aggregate != NONE ? modes : 0);
    }
}

// Row `k` of an aggregate, in the tentative prolongator.
static inline ulong member_row(const uint k, const uint block, const ulong first, IN(uint, members), IN(ulong, starts)) {
    return starts[(ulong)members[first + k / block] * block + k % block];
}

static inline double column_norm(const uint mode, const uint rows, const uint block, const ulong first, IN(uint, members), IN(ulong, starts),
                                 __global element *q) {
    double sum = 0.0;
    for (uint k = 0; k < rows; k++) {
        sum += square(q[member_row(k, block, first, members, starts) + mode]);
    }
    return sqrt(sum);
}

// Near-null vectors of each aggregate, orthonormal by Gram and Schmidt, twice. `coarse` has the factors, a square matrix for each aggregate.
KERNEL orthonormalise(const uint aggregates, const uint block, const uint modes, const double dependent, IN(ulong, member_starts),
                      IN(uint, members), IN(ulong, starts), IN(element, near_null), __global element *q, __global element *coarse) {
    const uint aggregate = get_global_id(0);
    if (aggregate >= aggregates) {
        return;
    }
    const ulong first = member_starts[aggregate];
    const uint rows = (uint)(member_starts[aggregate + 1] - first) * block;
    __global element *r = coarse + (ulong)aggregate * modes * modes;
    for (uint k = 0; k < rows; k++) {
        const ulong from = ((ulong)members[first + k / block] * block + k % block) * modes;
        const ulong to = member_row(k, block, first, members, starts);
        for (uint mode = 0; mode < modes; mode++) {
            q[to + mode] = near_null[from + mode];
        }
    }
    for (uint j = 0; j < modes; j++) {
        for (uint i = 0; i < modes; i++) {
            r[i * modes + j] = (element)0;
        }
        const double before = column_norm(j, rows, block, first, members, starts, q);
        for (uint pass = 0; pass < 2; pass++) {
            for (uint i = 0; i < j; i++) {
                element share = (element)0;
                for (uint k = 0; k < rows; k++) {
                    const ulong at = member_row(k, block, first, members, starts);
                    share += multiply(conjugate_if(1, q[at + i]), q[at + j]);
                }
                r[i * modes + j] += share;
                for (uint k = 0; k < rows; k++) {
                    const ulong at = member_row(k, block, first, members, starts);
                    q[at + j] -= multiply(share, q[at + i]);
                }
            }
        }
        const double after = column_norm(j, rows, block, first, members, starts, q);
        const int independent = after > dependent * before;
        const element inverse = of_real(independent ? 1.0 / after : 0.0);
        for (uint k = 0; k < rows; k++) {
            const ulong at = member_row(k, block, first, members, starts) + j;
            q[at] = multiply(inverse, q[at]);
        }
        r[j * modes + j] = of_real(independent ? after : 0.0);
    }
}

// The number of entries of each column.
KERNEL count_columns(const ulong entries, IN(uint, columns), OUT(uint, lengths)) {
    const ulong k = get_global_id(0);
    if (k < entries) {
        atomic_inc(&lengths[columns[k]]);
    }
}

// Rows and numbers of the entries of each column, in any order. `filled` begins with zeros.
KERNEL fill_columns(const uint rows, IN(ulong, starts), IN(uint, columns), IN(ulong, column_starts), OUT(uint, filled), OUT(uint, rows_of),
                    OUT(ulong, entries_of)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    for (ulong k = starts[row]; k < starts[row + 1]; k++) {
        const ulong to = column_starts[columns[k]] + atomic_inc(&filled[columns[k]]);
        rows_of[to] = row;
        entries_of[to] = k;
    }
}

// Sorts the entries of each column by rows. Source of the method: D. L. Shell, Commun. ACM 2 (1959) 30.
KERNEL sort_columns(const uint columns, IN(ulong, starts), OUT(uint, rows_of), OUT(ulong, entries_of)) {
    const uint column = get_global_id(0);
    if (column >= columns) {
        return;
    }
    const ulong begin = starts[column];
    const ulong length = starts[column + 1] - begin;
    ulong gap = 1;
    while (3 * gap + 1 < length) {
        gap = 3 * gap + 1;
    }
    for (; gap > 0; gap /= 3) {
        for (ulong k = gap; k < length; k++) {
            const uint row = rows_of[begin + k];
            const ulong entry = entries_of[begin + k];
            ulong to = k;
            for (; to >= gap && rows_of[begin + to - gap] > row; to -= gap) {
                rows_of[begin + to] = rows_of[begin + to - gap];
                entries_of[begin + to] = entries_of[begin + to - gap];
            }
            rows_of[begin + to] = row;
            entries_of[begin + to] = entry;
        }
    }
}

// The conjugate values of entries in another order.
KERNEL gather_conjugate(const ulong entries, IN(ulong, entries_of), IN(element, values), OUT(element, gathered)) {
    const ulong k = get_global_id(0);
    if (k < entries) {
        gathered[k] = conjugate_if(1, values[entries_of[k]]);
    }
}

// The first column from `least` on in a row of a product A B.
static inline uint next_column(const ulong row, const uint least, IN(ulong, a_starts), IN(uint, a_columns), IN(ulong, b_starts),
                               IN(uint, b_columns)) {
    uint next = NONE;
    for (ulong k = a_starts[row]; k < a_starts[row + 1]; k++) {
        const uint through = a_columns[k];
        const ulong end = b_starts[through + 1];
        const ulong at = first_from(b_columns, b_starts[through], end, least);
        if (at < end) {
            next = min(next, b_columns[at]);
        }
    }
    return next;
}

// The number of entries of each row of a product A B.
KERNEL product_lengths(const uint rows, IN(ulong, a_starts), IN(uint, a_columns), IN(ulong, b_starts), IN(uint, b_columns),
                       OUT(uint, lengths)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    uint length = 0;
    for (uint column = next_column(row, 0, a_starts, a_columns, b_starts, b_columns); column != NONE;
         column = next_column(row, column + 1, a_starts, a_columns, b_starts, b_columns)) {
        length++;
    }
    lengths[row] = length;
}

// A row of a product A B, from entry `to` on. Sums go through A's entries in their order.
static inline void fill_row(const ulong row, ulong to, IN(ulong, a_starts), IN(uint, a_columns), IN(element, a_values), IN(ulong, b_starts),
                            IN(uint, b_columns), IN(element, b_values), OUT(uint, columns), OUT(element, values)) {
    uint column = next_column(row, 0, a_starts, a_columns, b_starts, b_columns);
    while (column != NONE) {
        uint next = NONE;
        element sum = (element)0;
        for (ulong k = a_starts[row]; k < a_starts[row + 1]; k++) {
            const uint through = a_columns[k];
            const ulong end = b_starts[through + 1];
            ulong at = first_from(b_columns, b_starts[through], end, column);
            if (at < end && b_columns[at] == column) {
                sum += multiply(a_values[k], b_values[at]);
                at++;
            }
            if (at < end) {
                next = min(next, b_columns[at]);
            }
        }
        columns[to] = column;
        values[to] = sum;
        to++;
        column = next;
    }
}

// The rows of a product A B.
KERNEL product_fill(const uint rows, IN(ulong, a_starts), IN(uint, a_columns), IN(element, a_values), IN(ulong, b_starts),
                    IN(uint, b_columns), IN(element, b_values), IN(ulong, starts), OUT(uint, columns), OUT(element, values)) {
    const uint row = get_global_id(0);
    if (row < rows) {
        fill_row(row, starts[row], a_starts, a_columns, a_values, b_starts, b_columns, b_values, columns, values);
    }
}

// The columns of a row of a product A B, in a table in local memory: by the work-items of a group, each with other entries of A. TABLE is a power
// of two. counts[0] is the number of columns; counts[1] is not zero if they have no room.
static inline void table_of_row(const ulong row, IN(ulong, a_starts), IN(uint, a_columns), IN(ulong, b_starts), IN(uint, b_columns),
                                __local uint *table, __local uint *counts) {
    const uint item = get_local_id(0);
    for (uint slot = item; slot < TABLE; slot += LOCAL_SIZE) {
        table[slot] = NONE;
    }
    if (item < 3) {
        counts[item] = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (ulong k = a_starts[row] + item; k < a_starts[row + 1]; k += LOCAL_SIZE) {
        const uint through = a_columns[k];
        for (ulong at = b_starts[through]; at < b_starts[through + 1]; at++) {
            const uint column = b_columns[at];
            // The golden ratio spreads neighbours.
            uint slot = column * 2654435769u % TABLE;
            uint tries = 0;
            uint found = atomic_cmpxchg(&table[slot], NONE, column);
            while (found != NONE && found != column && ++tries < TABLE / 4) {
                slot = (slot + 1) % TABLE;
                found = atomic_cmpxchg(&table[slot], NONE, column);
            }
            if (found == NONE) {
                atomic_inc(&counts[0]);
            } else if (found != column) {
                counts[1] = 1;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The number of entries of each row of a product A B, a row by a group.
KERNEL product_lengths_by_groups(IN(ulong, a_starts), IN(uint, a_columns), IN(ulong, b_starts), IN(uint, b_columns), OUT(uint, lengths)) {
    __local uint table[TABLE];
    __local uint counts[3];
    const ulong row = get_group_id(0);
    table_of_row(row, a_starts, a_columns, b_starts, b_columns, table, counts);
    if (get_local_id(0) != 0) {
        return;
    }
    uint length = counts[0];
    if (counts[1] != 0) {
        length = 0;
        for (uint column = next_column(row, 0, a_starts, a_columns, b_starts, b_columns); column != NONE;
             column = next_column(row, column + 1, a_starts, a_columns, b_starts, b_columns)) {
            length++;
        }
    }
    lengths[row] = length;
}

// The rows of a product A B, a row by a group and an entry by a work-item. Sums are those of product_fill.
KERNEL product_fill_by_groups(IN(ulong, a_starts), IN(uint, a_columns), IN(element, a_values), IN(ulong, b_starts), IN(uint, b_columns),
                              IN(element, b_values), IN(ulong, starts), OUT(uint, columns), OUT(element, values)) {
    __local uint table[TABLE];
    __local uint list[TABLE];
    __local uint counts[3];
    const ulong row = get_group_id(0);
    const uint item = get_local_id(0);
    const ulong to = starts[row];
    table_of_row(row, a_starts, a_columns, b_starts, b_columns, table, counts);
    if (counts[1] != 0) {
        if (item == 0) {
            fill_row(row, to, a_starts, a_columns, a_values, b_starts, b_columns, b_values, columns, values);
        }
        return;
    }
    for (uint slot = item; slot < TABLE; slot += LOCAL_SIZE) {
        if (table[slot] != NONE) {
            list[atomic_inc(&counts[2])] = table[slot];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint count = counts[0];
    for (uint i = item; i < count; i += LOCAL_SIZE) {
        const uint column = list[i];
        // Its place among the columns of the row.
        uint rank = 0;
        for (uint j = 0; j < count; j++) {
            rank += list[j] < column;
        }
        element sum = (element)0;
        for (ulong k = a_starts[row]; k < a_starts[row + 1]; k++) {
            const uint through = a_columns[k];
            const ulong end = b_starts[through + 1];
            const ulong at = first_from(b_columns, b_starts[through], end, column);
            if (at < end && b_columns[at] == column) {
                sum += multiply(a_values[k], b_values[at]);
            }
        }
        columns[to + rank] = column;
        values[to + rank] = sum;
    }
}

// T - omega D⁻¹ (A T), in place of A T, which has an entry for each of T.
KERNEL smooth_prolongator(const uint rows, const double omega, IN(ulong, starts), IN(uint, columns), IN(element, diagonal),
                          IN(ulong, t_starts), IN(uint, t_columns), IN(element, t_values), OUT(element, values)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    const element factor = multiply(of_real(omega), reciprocal(diagonal[row]));
    ulong t = t_starts[row];
    for (ulong k = starts[row]; k < starts[row + 1]; k++) {
        element own = (element)0;
        if (t < t_starts[row + 1] && t_columns[t] == columns[k]) {
            own = t_values[t];
            t++;
        }
        values[k] = own - multiply(factor, values[k]);
    }
}

// Puts a one on the diagonal of rows of zeros.
KERNEL mend_rows(const uint rows, IN(ulong, starts), IN(uint, columns), OUT(element, values)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    int is_empty = 1;
    for (ulong k = starts[row]; k < starts[row + 1]; k++) {
        is_empty &= is_zero(values[k]);
    }
    for (ulong k = starts[row]; is_empty && k < starts[row + 1]; k++) {
        if (columns[k] == row) {
            values[k] = of_real(1.0);
        }
    }
}

// Values times the number of their column, if `by_columns`, and over that of their row, if `by_rows`.
KERNEL scale_entries(const uint rows, const uint by_columns, const uint by_rows, IN(ulong, starts), IN(uint, columns), IN(element, values),
                     IN(element, of_columns), IN(element, of_rows), OUT(element, scaled_values)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    for (ulong k = starts[row]; k < starts[row + 1]; k++) {
        element value = values[k];
        if (by_columns) {
            value = multiply(value, of_columns[columns[k]]);
        }
        if (by_rows) {
            value = multiply(value, reciprocal(of_rows[row]));
        }
        scaled_values[k] = value;
    }
}

// Slots of slices: rows of descending length in windows, neighbours in their order.
KERNEL slots(const uint rows, const uint window, IN(ulong, starts), OUT(uint, rows_of), OUT(uint, lengths)) {
    const uint row = get_global_id(0);
    if (row >= rows) {
        return;
    }
    const uint begin = row - row % window;
    const uint end = (uint)min((ulong)begin + window, (ulong)rows);
    const uint own = (uint)(starts[row + 1] - starts[row]);
    uint slot = begin;
    for (uint other = begin; other < end; other++) {
        const uint length = (uint)(starts[other + 1] - starts[other]);
        slot += length > own || (length == own && other < row);
    }
    rows_of[slot] = row;
    lengths[slot] = own;
}

// The numbers of entries of slices, with those that fill up.
KERNEL slice_lengths(const uint slices, const uint height, IN(uint, lengths), OUT(uint, padded)) {
    const uint slice = get_global_id(0);
    if (slice < slices) {
        padded[slice] = height * lengths[(ulong)slice * height];
    }
}

// The entries of slices, which begin with zeros.
KERNEL slice_fill(const uint slots, const uint height, IN(ulong, starts), IN(uint, columns), IN(element, values), IN(ulong, slice_starts),
                  IN(uint, rows_of), IN(uint, lengths), OUT(uint, slice_columns), OUT(element, slice_values)) {
    const uint slot = get_global_id(0);
    if (slot >= slots || rows_of[slot] == NONE) {
        return;
    }
    const ulong from = starts[rows_of[slot]];
    const ulong to = slice_starts[slot / height] + slot % height;
    for (uint k = 0; k < lengths[slot]; k++) {
        slice_columns[to + (ulong)k * height] = columns[from + k];
        slice_values[to + (ulong)k * height] = values[from + k];
    }
}
