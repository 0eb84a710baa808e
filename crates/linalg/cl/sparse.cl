// Products with sparse matrices: Y = A X for `vectors` vectors, a row of X and Y for each component, row after row.
//
// Besides the common definitions the host gives LOCAL_SIZE, the work-group size; SLICE, the rows of a slice; SLICE_ROWS and DIAGONAL_ROWS, the rows
// that a work-item computes at a time: one where neighbours read what lies side by side, several on processors, whose loops over them become vectors;
// PART_SUMS, the sums of a work-item in a full row.
//
// A work-item computes `chunk` results one after the other. No result is added to by two work-groups: those that several have parts of
// are put together by a second kernel, in the order of the parts.

// The sum over `team` neighbours of a group, a power of two, in the first of them.
static inline element team_sum(element sum, const uint team, __local element *scratch) {
#if LOCAL_SIZE > 1
    const uint item = get_local_id(0);
    if (team == 1) {
        return sum;
    }
    scratch[item] = sum;
    for (uint active = team / 2; active > 0; active /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item % team < active) {
            scratch[item] += scratch[item + active];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sum = scratch[item - item % team];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    return sum;
}

// Rows of at most `longest` entries, each by a team of work-items.
KERNEL csr_rows(const ulong results, const uint vectors, const ulong chunk, const uint team, const uint longest, STARTS(starts),
                INDICES(columns), VALUES(values), X, Y) {
    __local element scratch[LOCAL_SIZE];
    const ulong first = get_global_id(0) / team * chunk;
    const uint member = get_local_id(0) % team;
    for (ulong result = first; result < first + chunk; result++) {
        element sum = (element)0;
        int is_short = 0;
        if (result < results) {
            const ulong row = row_of(result, vectors);
            const uint vector = vector_of(result, vectors);
            const ulong begin = starts[row];
            const ulong end = starts[row + 1];
            is_short = end - begin <= longest;
            if (is_short) {
                for (ulong k = begin + member; k < end; k += team) {
                    sum += multiply(value_of(values[k]), x[(ulong)columns[k] * vectors + vector]);
                }
            }
        }
        sum = team_sum(sum, team, scratch);
        if (is_short && member == 0) {
            y[result] = sum;
        }
    }
}

// Parts of longer rows, each by a group: part p has the entries from bounds[2p] to bounds[2p + 1].
KERNEL csr_parts(const uint vectors, STARTS(bounds), INDICES(columns), VALUES(values), X, __global element *restrict partials) {
    __local element scratch[LOCAL_SIZE];
    const ulong result = get_group_id(0);
    const ulong part = row_of(result, vectors);
    const uint vector = vector_of(result, vectors);
    element sum = (element)0;
    for (ulong k = bounds[2 * part] + get_local_id(0); k < bounds[2 * part + 1]; k += LOCAL_SIZE) {
        sum += multiply(value_of(values[k]), x[(ulong)columns[k] * vectors + vector]);
    }
    sum = team_sum(sum, LOCAL_SIZE, scratch);
    if (get_local_id(0) == 0) {
        partials[result] = sum;
    }
}

// Adds the parts of rows in their order: row rows[i] has the parts from first[i] to first[i + 1].
KERNEL part_sums(const ulong results, const uint vectors, INDICES(rows), INDICES(first), MATRIX(partials), Y) {
    const ulong result = get_global_id(0);
    if (result >= results) {
        return;
    }
    const ulong row = row_of(result, vectors);
    const uint vector = vector_of(result, vectors);
    element sum = (element)0;
    for (ulong part = first[row]; part < first[row + 1]; part++) {
        sum += partials[part * vectors + vector];
    }
    y[(ulong)rows[row] * vectors + vector] = sum;
}

// Parts of rows that are full between their first and their last entry, each by a group: part p has the values from bounds[2p] to bounds[2p + 1], and
// the columns from first_columns[p] on. A work-item adds every PART_SUMS sums on their own, so that their loads are under way together.
KERNEL full_parts(const uint vectors, STARTS(bounds), INDICES(first_columns), VALUES(values), X, __global element *restrict partials) {
    __local element scratch[LOCAL_SIZE];
    const ulong result = get_group_id(0);
    const ulong part = row_of(result, vectors);
    const uint vector = vector_of(result, vectors);
    const ulong end = bounds[2 * part + 1];
    ulong k = bounds[2 * part] + get_local_id(0);
    ulong from = ((ulong)first_columns[part] + get_local_id(0)) * vectors + vector;
    element sums[PART_SUMS];
    for (uint l = 0; l < PART_SUMS; l++) {
        sums[l] = (element)0;
    }
    for (; k + LOCAL_SIZE * (PART_SUMS - 1) < end; k += LOCAL_SIZE * PART_SUMS) {
        for (uint l = 0; l < PART_SUMS; l++) {
            sums[l] += multiply(value_of(values[k + LOCAL_SIZE * l]), x[from + (ulong)LOCAL_SIZE * l * vectors]);
        }
        from += (ulong)LOCAL_SIZE * PART_SUMS * vectors;
    }
    for (; k < end; k += LOCAL_SIZE) {
        sums[0] += multiply(value_of(values[k]), x[from]);
        from += (ulong)LOCAL_SIZE * vectors;
    }
    element sum = sums[0];
    for (uint l = 1; l < PART_SUMS; l++) {
        sum += sums[l];
    }
    sum = team_sum(sum, LOCAL_SIZE, scratch);
    if (get_local_id(0) == 0) {
        partials[result] = sum;
    }
}

// Slices of SLICE rows. Slots of a slice have descending lengths; a slot without a row has a number of `rows` or more.
KERNEL sell(const ulong results, const uint vectors, const ulong chunk, const uint rows, STARTS(starts), INDICES(lengths),
            INDICES(rows_of), INDICES(columns), VALUES(values), X, Y) {
    const ulong first = get_global_id(0) * chunk;
    for (ulong result = first; result < min(first + chunk, results); result++) {
        const ulong slot = row_of(result, vectors) * SLICE_ROWS;
        const uint vector = vector_of(result, vectors);
        const ulong begin = starts[slot / SLICE] + slot % SLICE;
        const uint longest = lengths[slot];
        const uint shortest = lengths[slot + SLICE_ROWS - 1];
        element sums[SLICE_ROWS];
        for (uint l = 0; l < SLICE_ROWS; l++) {
            sums[l] = (element)0;
        }
        uint k = 0;
        for (; k < shortest; k++) {
            const ulong entry = begin + (ulong)k * SLICE;
            for (uint l = 0; l < SLICE_ROWS; l++) {
                sums[l] += multiply(value_of(values[entry + l]), x[(ulong)columns[entry + l] * vectors + vector]);
            }
        }
        for (; k < longest; k++) {
            const ulong entry = begin + (ulong)k * SLICE;
            for (uint l = 0; l < SLICE_ROWS; l++) {
                if (k < lengths[slot + l]) {
                    sums[l] += multiply(value_of(values[entry + l]), x[(ulong)columns[entry + l] * vectors + vector]);
                }
            }
        }
        for (uint l = 0; l < SLICE_ROWS; l++) {
            const uint row = rows_of[slot + l];
            if (row < rows) {
                y[(ulong)row * vectors + vector] = sums[l];
            }
        }
    }
}

// Diagonals: element rows d + i of the values belongs to row i and column i + offsets[d].
KERNEL diagonals(const ulong results, const uint vectors, const ulong chunk, const ulong rows, const ulong column_count, const uint count,
                 __global const long *restrict offsets, VALUES(values), X, Y) {
    const ulong first_result = get_global_id(0) * chunk;
    for (ulong result = first_result; result < min(first_result + chunk, results); result++) {
        const uint vector = vector_of(result, vectors);
#if DIAGONAL_ROWS == 1
        // All loads are within the arrays, so none waits for the decision whether its product counts.
        const long row = (long)row_of(result, vectors);
        ulong entry = (ulong)row;
        element sum = (element)0;
#pragma unroll 4
        for (uint d = 0; d < count; d++) {
            const long column = row + offsets[d];
            const int inside = column >= 0 && column < (long)column_count;
            const element product = multiply(value_of(values[entry]), x[(ulong)(inside ? column : 0) * vectors + vector]);
            sum += inside ? product : (element)0;
            entry += rows;
        }
        y[result] = sum;
#else
        const long first = (long)(row_of(result, vectors) * DIAGONAL_ROWS);
        const long last = min(first + DIAGONAL_ROWS, (long)rows);
        element sums[DIAGONAL_ROWS];
        for (uint l = 0; l < DIAGONAL_ROWS; l++) {
            sums[l] = (element)0;
        }
        for (uint d = 0; d < count; d++) {
            const long offset = offsets[d];
            const long end = min(last, (long)column_count - offset);
            for (long row = max(first, -offset); row < end; row++) {
                sums[row - first] += multiply(value_of(values[rows * d + row]), x[(ulong)(row + offset) * vectors + vector]);
            }
        }
        for (long row = first; row < last; row++) {
            y[(ulong)row * vectors + vector] = sums[row - first];
        }
#endif
    }
}

// Entries sorted by rows, in segments. A row that a segment begins belongs to it. What it has of a row that an earlier segment began is its head.
KERNEL coo_segments(const ulong results, const uint vectors, const ulong entries, const ulong segment, INDICES(rows_of), INDICES(columns),
                    VALUES(values), X, __global element *restrict heads, Y) {
    const ulong result = get_global_id(0);
    if (result >= results) {
        return;
    }
    const ulong begin = row_of(result, vectors) * segment;
    const ulong end = min(begin + segment, entries);
    const uint vector = vector_of(result, vectors);
    int is_head = begin > 0 && rows_of[begin - 1] == rows_of[begin];
    element head = (element)0;
    element sum = (element)0;
    for (ulong k = begin; k < end; k++) {
        const uint row = rows_of[k];
        sum += multiply(value_of(values[k]), x[(ulong)columns[k] * vectors + vector]);
        if (k + 1 == end || rows_of[k + 1] != row) {
            if (is_head) {
                head = sum;
            } else {
                y[(ulong)row * vectors + vector] = sum;
            }
            is_head = 0;
            sum = (element)0;
        }
    }
    heads[result] = head;
}

// Adds to the last row of each segment the heads of the segments that it reaches into, if the row begins here.
KERNEL coo_heads(const ulong results, const uint vectors, const ulong entries, const ulong segment, INDICES(rows_of), MATRIX(heads), Y) {
    const ulong result = get_global_id(0);
    if (result >= results) {
        return;
    }
    const ulong number = row_of(result, vectors);
    const uint vector = vector_of(result, vectors);
    const ulong begin = number * segment;
    const uint row = rows_of[min(begin + segment, entries) - 1];
    if (begin > 0 && rows_of[begin - 1] == row) {
        return;
    }
    element sum = (element)0;
    int reaches = 0;
    for (ulong other = number + 1; other * segment < entries && rows_of[other * segment] == row; other++) {
        sum += heads[other * vectors + vector];
        reaches = 1;
    }
    if (reaches) {
        y[(ulong)row * vectors + vector] += sum;
    }
}

// The lower triangle of a Hermitian matrix: each entry below the diagonal gives a term to its row, and its conjugate one to its column. A work-item
// does a block of rows; the blocks of a launch write to different places. Terms are added to y.
KERNEL symmetric(const uint count, const uint first, const uint vectors, const uint rows, const uint block_rows, INDICES(order), STARTS(starts),
                 INDICES(columns), VALUES(values), X, Y) {
    if (get_global_id(0) >= count) {
        return;
    }
    const uint begin = order[first + get_global_id(0)] * block_rows;
    const uint end = min(begin + block_rows, rows);
    for (uint row = begin; row < end; row++) {
        for (uint vector = 0; vector < vectors; vector++) {
            const ulong own = (ulong)row * vectors + vector;
            const element x_own = x[own];
            element sum = (element)0;
            for (ulong k = starts[row]; k < starts[row + 1]; k++) {
                const ulong other = (ulong)columns[k] * vectors + vector;
                const element value = value_of(values[k]);
                sum += multiply(value, x[other]);
                if (other != own) {
                    y[other] += multiply(conjugate_if(1, value), x_own);
                }
            }
            y[own] += sum;
        }
    }
}

// Substitution in a triangular matrix, level after level: the rows of a level need those of earlier levels alone. One group may do several levels,
// because it can wait for itself; several groups do one.
KERNEL substitute(const uint first_level, const uint last_level, INDICES(level_starts), INDICES(order), STARTS(starts), INDICES(columns),
                  MATRIX(values), MATRIX(inverse), MATRIX(b), __global element *x) {
    for (uint level = first_level; level < last_level; level++) {
        for (uint i = level_starts[level] + get_global_id(0); i < level_starts[level + 1]; i += get_global_size(0)) {
            const uint row = order[i];
            element sum = b[row];
            for (ulong k = starts[row]; k < starts[row + 1]; k++) {
                sum -= multiply(values[k], x[columns[k]]);
            }
            x[row] = multiply(inverse[row], sum);
        }
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
}

// A sweep over all rows of a triangular matrix: x = inverse (b - N before), where N are the entries beside the diagonal; before = 0 if from_zero.
KERNEL sweep(const uint rows, const ulong chunk, const uint from_zero, STARTS(starts), INDICES(columns), MATRIX(values), MATRIX(inverse), MATRIX(b),
             MATRIX(before), __global element *restrict x) {
    const ulong first = get_global_id(0) * chunk;
    for (ulong row = first; row < min(first + chunk, (ulong)rows); row++) {
        element sum = b[row];
        const ulong end = from_zero ? starts[row] : starts[row + 1];
        for (ulong k = starts[row]; k < end; k++) {
            sum -= multiply(values[k], before[columns[k]]);
        }
        x[row] = multiply(inverse[row], sum);
    }
}
