// Columns of P A = L U with partial pivoting, and the rows that it exchanges.
//
// The host defines WIDTH, the most columns of a panel, and PANEL_ITEMS, the work-items of a group, a power of two. Element (i, j) of an
// operand lies i * down + j * across elements behind its first.

// The largest size of all work-items and its place, in element 0 of `sizes` and `places`: the lowest place among equal ones. A call would take the
// rows out of the registers of those who keep them there.
static inline __attribute__((always_inline)) void best_of_items(__local real *sizes, __local uint *places, real size, uint place, uint item) {
    barrier(CLK_LOCAL_MEM_FENCE);
    sizes[item] = size;
    places[item] = place;
    for (uint half_way = PANEL_ITEMS / 2; half_way > 0; half_way /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < half_way) {
            const real other = sizes[item + half_way];
            const uint other_place = places[item + half_way];
            if (other > sizes[item] || (other == sizes[item] && other_place < places[item])) {
                sizes[item] = other;
                places[item] = other_place;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// The best row of all groups, as best_of_items leaves it. Groups have their rows in order, so the first of equal ones wins.
static inline __attribute__((always_inline)) void best_of_groups(__local real *best_sizes, __local uint *best_places, __global const real *sizes,
                                                                 uint groups, uint item) {
    real largest = (real)-1;
    uint winner = groups;
    for (uint other = item; other < groups; other += PANEL_ITEMS) {
        const real size = sizes[other];
        if (size > largest) {
            largest = size;
            winner = other;
        }
    }
    best_of_items(best_sizes, best_places, largest, winner, item);
}

// Steps `first_step` to `last_step` - 1 in a panel of m rows. Step `search` finishes column search - 1, if there is one, and then searches column
// `search`, if it is one of the `count` that get a pivot. Between two steps all work-groups meet, see meeting.cl.
//
// Work-groups share the rows in order. Each leaves its best row of column `search` in `rows`, with its size and its number, and the group
// of row `search` leaves that row behind all others. The next step then needs no row of another group: it exchanges the pivot's row and
// row `search` by these copies. Steps take turns between the halves of `rows`, `sizes` and `places`. The size is |Re| + |Im|, the lowest
// row wins among equal ones, and NaNs are passed over. The first pivot that is exactly zero gives `info`, counted from 1 in the whole matrix, of
// which row 0 of the panel is row `first`. Its column is left as it is.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
panel_steps(uint m, uint width, uint first_step, uint last_step, uint count, __global element *a, ulong a_offset, ulong a_down, ulong a_across,
           __global element *rows, __global real *sizes, __global uint *places, __global uint *pivots,
           ulong pivots_offset, uint first, __global uint *info, __global uint *arrived, ulong arrived_offset) {
    __local element pivot_row[WIDTH];
    __local real best_sizes[PANEL_ITEMS];
    __local uint best_places[PANEL_ITEMS];
    const uint item = get_local_id(0);
    const uint group = get_group_id(0);
    const uint groups = get_num_groups(0);
    const uint share = (m + groups - 1) / groups;
    const uint begin = min(group * share, m);
    const uint end = min(begin + share, m);
    __global element *matrix = a + a_offset;
    for (uint search = first_step; search < last_step; search++) {
        const uint from = search % 2;
        const uint to = 1 - from;
        __global const element *row_in_place = rows + (from * (groups + 1) + groups) * WIDTH;

        uint column = 0;
        uint pivot = 0;
        bool eliminates = false;
        if (search > 0) {
            column = search - 1;
            pivot = column;
            best_of_groups(best_sizes, best_places, sizes + from * groups, groups, item);
            __global const element *new_row = row_in_place;
            if (best_sizes[0] >= (real)0) {
                pivot = places[from * groups + best_places[0]];
                new_row = rows + (from * (groups + 1) + best_places[0]) * WIDTH;
            }
            for (uint k = item; k < width; k += PANEL_ITEMS) {
                pivot_row[k] = new_row[k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (search > 0) {
            eliminates = !is_zero(pivot_row[column]);
            if (group == 0 && item == 0) {
                pivots[pivots_offset + column] = first + pivot;
                if (!eliminates && info[0] == 0) {
                    info[0] = first + column + 1;
                }
            }
        }

        real best_size = (real)-1;
        uint best_place = m;
        for (uint i = begin + item; i < end; i += PANEL_ITEMS) {
            __global element *row = matrix + i * a_down;
            if (search > 0 && i == column && pivot != column) {
                for (uint k = 0; k < width; k++) {
                    row[k * a_across] = pivot_row[k];
                }
            }
            if (search > 0 && i > column) {
                if (i == pivot) {
                    for (uint k = 0; k < width; k++) {
                        row[k * a_across] = row_in_place[k];
                    }
                }
                if (eliminates) {
                    const element factor = divide(row[column * a_across], pivot_row[column]);
                    row[column * a_across] = factor;
                    // All elements are read before the first is written: reads need not wait for each other then.
                    element old[WIDTH];
#pragma unroll
                    for (uint k = 0; k < WIDTH; k++) {
                        old[k] = k > column && k < width ? row[k * a_across] : (element)0;
                    }
#pragma unroll
                    for (uint k = 0; k < WIDTH; k++) {
                        if (k > column && k < width) {
                            row[k * a_across] = old[k] - multiply(factor, pivot_row[k]);
                        }
                    }
                }
            }
            if (search < count && i >= search) {
                const real size = size_of(row[search * a_across]);
                if (size > best_size) {
                    best_size = size;
                    best_place = i;
                }
            }
        }
        // The winners of the last column are not read any more.
        best_of_items(best_sizes, best_places, best_size, best_place, item);
        // Rows that other work-items of the group have written are read now.
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        if (search < count) {
            const uint place = best_places[0];
            if (item == 0) {
                sizes[to * groups + group] = best_sizes[0];
                places[to * groups + group] = place;
            }
            for (uint k = item; k < width; k += PANEL_ITEMS) {
                if (place < m) {
                    rows[(to * (groups + 1) + group) * WIDTH + k] = matrix[place * a_down + k * a_across];
                }
                if (begin <= search && search < end) {
                    rows[(to * (groups + 1) + groups) * WIDTH + k] = matrix[search * a_down + k * a_across];
                }
            }
        }
        if (search + 1 < last_step) {
            meet(arrived + arrived_offset, (search + 1 - first_step) * groups, groups);
        }
    }
}

// The same for panels of at most PANEL_ITEMS rows in a group: a work-item keeps its row in registers from the first of the steps to the last. The rows of
// the exchange alone go through memory. Numbers and their order are those of panel_steps.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
panel_in_registers(uint m, uint width, uint first_step, uint last_step, uint count, __global element *a, ulong a_offset, ulong a_down,
                   ulong a_across, __global element *rows, __global real *sizes, __global uint *places,
                   __global uint *pivots, ulong pivots_offset, uint first, __global uint *info,
                   __global uint *arrived, ulong arrived_offset) {
    // The pivot's row and the row that it changes places with, as they come from other groups and as they leave this one.
    __local element pivot_row[WIDTH];
    __local element row_in_place[WIDTH];
    __local element leaving[2 * WIDTH];
    __local real best_sizes[PANEL_ITEMS];
    __local uint best_places[PANEL_ITEMS];
    const uint item = get_local_id(0);
    const uint group = get_group_id(0);
    const uint groups = get_num_groups(0);
    const uint begin = group * PANEL_ITEMS;
    const uint i = begin + item;
    __global element *row = a + a_offset + min(i, m - 1) * a_down;
    element x[WIDTH];
    // The element in the column that is searched, or finished.
    element current = (element)0;
#pragma unroll
    for (uint k = 0; k < WIDTH; k++) {
        x[k] = i < m && k < width ? row[k * a_across] : (element)0;
        if (k == (first_step > 0 ? first_step - 1 : 0)) {
            current = x[k];
        }
    }
    for (uint search = first_step; search < last_step; search++) {
        const uint from = search % 2;
        const uint to = 1 - from;
        uint column = 0;
        uint pivot = 0;
        if (search > 0) {
            column = search - 1;
            pivot = column;
            for (uint k = item; k < width; k += PANEL_ITEMS) {
                row_in_place[k] = rows[(from * (groups + 1) + groups) * WIDTH + k];
            }
            best_of_groups(best_sizes, best_places, sizes + from * groups, groups, item);
            uint new_row = groups;
            if (best_sizes[0] >= (real)0) {
                new_row = best_places[0];
                pivot = places[from * groups + new_row];
            }
            for (uint k = item; k < width; k += PANEL_ITEMS) {
                pivot_row[k] = rows[(from * (groups + 1) + new_row) * WIDTH + k];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (search > 0) {
            const bool eliminates = !is_zero(pivot_row[column]);
            if (group == 0 && item == 0) {
                pivots[pivots_offset + column] = first + pivot;
                if (!eliminates && info[0] == 0) {
                    info[0] = first + column + 1;
                }
            }
            if (pivot != column && (i == column || i == pivot)) {
                __local const element *other = i == column ? pivot_row : row_in_place;
#pragma unroll
                for (uint k = 0; k < WIDTH; k++) {
                    if (k < width) {
                        x[k] = other[k];
                    }
                }
                current = other[column];
            }
            if (i > column && eliminates) {
                const element factor = divide(current, pivot_row[column]);
#pragma unroll
                for (uint k = 0; k < WIDTH; k++) {
                    if (k == column) {
                        x[k] = factor;
                    }
                    if (k > column && k < width) {
                        x[k] = x[k] - multiply(factor, pivot_row[k]);
                    }
                }
            }
#pragma unroll
            for (uint k = 0; k < WIDTH; k++) {
                if (k == search) {
                    current = x[k];
                }
            }
        }

        const real size = search < count && i < m && i >= search ? size_of(current) : (real)-1;
        best_of_items(best_sizes, best_places, size >= (real)0 ? size : (real)-1, size >= (real)0 ? i : m, item);
        const uint place = best_places[0];
        if (search < count && (i == place || i == search)) {
#pragma unroll
            for (uint k = 0; k < WIDTH; k++) {
                if (i == place) {
                    leaving[k] = x[k];
                }
                if (i == search) {
                    leaving[WIDTH + k] = x[k];
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (search < count) {
            if (item == 0) {
                sizes[to * groups + group] = best_sizes[0];
                places[to * groups + group] = place;
            }
            for (uint k = item; k < 2 * WIDTH; k += PANEL_ITEMS) {
                if (k < WIDTH ? place < m : begin <= search && search < begin + PANEL_ITEMS) {
                    rows[(to * (groups + 1) + (k < WIDTH ? group : groups)) * WIDTH + k % WIDTH] = leaving[k];
                }
            }
        }
        if (search + 1 < last_step) {
            meet(arrived + arrived_offset, (search + 1 - first_step) * groups, groups);
        }
    }
#pragma unroll
    for (uint k = 0; k < WIDTH; k++) {
        if (i < m && k < width) {
            row[k * a_across] = x[k];
        }
    }
}

// X = L^-1 X with the triangle L below a diagonal of ones, of at most WIDTH rows. A work-item has a column.
__kernel __attribute__((reqd_work_group_size(PANEL_ITEMS, 1, 1))) void
substitute(uint size, ulong columns, __global const element *l, ulong l_offset, ulong l_down, ulong l_across,
           __global element *x, ulong x_offset, ulong x_down, ulong x_across) {
    __local element lower[WIDTH * WIDTH];
    for (uint index = get_local_id(0); index < WIDTH * WIDTH; index += PANEL_ITEMS) {
        const uint i = index % WIDTH;
        const uint k = index / WIDTH;
        lower[index] = k < i && i < size ? l[l_offset + i * l_down + k * l_across] : (element)0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const ulong j = get_global_id(0);
    if (j >= columns) {
        return;
    }
    __global element *column = x + x_offset + j * x_across;
    element y[WIDTH];
#pragma unroll
    for (uint i = 0; i < WIDTH; i++) {
        y[i] = i < size ? column[i * x_down] : (element)0;
    }
#pragma unroll
    for (uint k = 0; k < WIDTH; k++) {
#pragma unroll
        for (uint i = 0; i < WIDTH; i++) {
            if (k < i && i < size) {
                y[i] -= multiply(lower[i + k * WIDTH], y[k]);
            }
        }
    }
#pragma unroll
    for (uint i = 0; i < WIDTH; i++) {
        if (i < size) {
            column[i * x_down] = y[i];
        }
    }
}

// The row of A that exchanges bring to each of m rows. Exchange number j is that of rows j and pivots[j] - first, from the first to the last, or
// backwards. Numbers of rows that do not exist exchange nothing.
__kernel void trace_exchanges(uint m, uint count, __global const uint *pivots, ulong pivots_offset, uint first,
                              uint backwards, __global uint *origins) {
    const uint i = get_global_id(0);
    if (i >= m) {
        return;
    }
    // The last exchange is undone first.
    uint place = i;
    for (uint number = 0; number < count; number++) {
        const uint j = backwards ? number : count - 1 - number;
        const uint other = pivots[pivots_offset + j] - first;
        if (other < m) {
            place = place == j ? other : place == other ? j : place;
        }
    }
    origins[i] = place;
}

// Rows of X in Y, for rows that do not stay where they are: their origins, or themselves. Dimension 0 of the range counts columns if
// `columns_first`, and rows if not.
__kernel void move_rows(uint m, ulong columns, __global const uint *origins, uint to_origins, uint columns_first,
                        __global const element *x, ulong x_offset, ulong x_down, ulong x_across, __global element *y,
                        ulong y_offset, ulong y_down, ulong y_across) {
    const ulong i = get_global_id(columns_first ? 1 : 0);
    const ulong j = get_global_id(columns_first ? 0 : 1);
    if (i >= m || j >= columns || origins[i] == i) {
        return;
    }
    const ulong from = to_origins ? origins[i] : i;
    y[y_offset + i * y_down + j * y_across] = x[x_offset + from * x_down + j * x_across];
}
