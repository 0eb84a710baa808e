// Products with sparse matrices for several vectors at once, and for matrices of blocks.
//
// A work-item computes PACK neighbouring vectors of a row, which one load brings: each entry of the matrix is read once for all of them, and the
// neighbours that compute the other vectors of the row read it from the same line of the cache. The host gives PACK, a power of two that divides
// the number of vectors, 1 for complex elements; SLICE and BLOCK_SLICE, the rows of a slice and the rows of blocks of one; ROWS, the rows of a
// stencil that a work-item computes at once. The number of a result is row · packs + pack, with `packs` packs in a row. A work-item computes
// `chunk` results one after the other. Formats are those of sparse.cl.

#if IS_COMPLEX || PACK == 1
#define packed element
#else
#define packed JOIN(REAL, PACK)
#endif

#if IS_COMPLEX
#define times(value, x) multiply(value, x)
#else
#define times(value, x) ((value) * (x))
#endif

#define PACKS_OF_X const __global packed *restrict from = (const __global packed *)x
#define PACKS_OF_Y __global packed *restrict to = (__global packed *)y

// Rows of at most `longest` entries.
KERNEL csr_packs(const ulong results, const uint packs, const ulong chunk, const uint longest, STARTS(starts), INDICES(columns),
                 VALUES(values), X, Y) {
    PACKS_OF_X;
    PACKS_OF_Y;
    const ulong first = get_global_id(0) * chunk;
    for (ulong result = first; result < min(first + chunk, results); result++) {
        const ulong row = row_of(result, packs);
        const uint at = vector_of(result, packs);
        const ulong begin = starts[row];
        const ulong end = starts[row + 1];
        if (end - begin > longest) {
            continue;
        }
        packed sum = (packed)0;
        UNROLL_4
        for (ulong k = begin; k < end; k++) {
            sum += times(value_of(values[k]), from[(ulong)columns[k] * packs + at]);
        }
        to[result] = sum;
    }
}

// Slices of SLICE rows.
KERNEL sell_packs(const ulong results, const uint packs, const ulong chunk, const uint rows, STARTS(starts), INDICES(lengths),
                  INDICES(rows_of), INDICES(columns), VALUES(values), X, Y) {
    PACKS_OF_X;
    PACKS_OF_Y;
    const ulong first = get_global_id(0) * chunk;
    for (ulong result = first; result < min(first + chunk, results); result++) {
        const ulong slot = row_of(result, packs);
        const uint at = vector_of(result, packs);
        const ulong begin = starts[slot / SLICE] + slot % SLICE;
        const uint length = lengths[slot];
        packed sum = (packed)0;
        UNROLL_4
        for (uint k = 0; k < length; k++) {
            const ulong entry = begin + (ulong)k * SLICE;
            sum += times(value_of(values[entry]), from[(ulong)columns[entry] * packs + at]);
        }
        const uint row = rows_of[slot];
        if (row < rows) {
            to[(ulong)row * packs + at] = sum;
        }
    }
}

// The sums of a row of blocks. `column` is the place of its first block's column.
static inline void add_blocks(const uint size, ulong column, const uint length, const uint packs, const uint at, INDICES(columns),
                              VALUES(values), const __global packed *restrict from, packed *sums) {
    const ulong lane = column % BLOCK_SLICE;
    for (uint i = 0; i < size; i++) {
        sums[i] = (packed)0;
    }
    for (uint k = 0; k < length; k++) {
        const ulong block = (column - lane) * size * size + lane;
        const ulong first = (ulong)columns[column] * size * packs + at;
        for (uint j = 0; j < size; j++) {
            const packed factor = from[first + j * packs];
            for (uint i = 0; i < size; i++) {
                sums[i] += times(value_of(values[block + BLOCK_SLICE * (size * j + i)]), factor);
            }
        }
        column += BLOCK_SLICE;
    }
}

// Square blocks of `size` rows, in slices of BLOCK_SLICE rows of blocks like those of `sell`. The column of block k of slot l has number
// starts[slice] + BLOCK_SLICE k + l. Element (i, j) of the block has number size² (starts[slice] + BLOCK_SLICE k) + BLOCK_SLICE (size j + i) + l.
KERNEL blocks(const ulong results, const uint packs, const ulong chunk, const uint block_rows, const uint size, STARTS(starts),
              INDICES(lengths), INDICES(rows_of), INDICES(columns), VALUES(values), X, Y) {
    PACKS_OF_X;
    PACKS_OF_Y;
    const ulong first = get_global_id(0) * chunk;
    for (ulong result = first; result < min(first + chunk, results); result++) {
        const ulong slot = row_of(result, packs);
        const uint at = vector_of(result, packs);
        const ulong column = starts[slot / BLOCK_SLICE] + slot % BLOCK_SLICE;
        const uint length = lengths[slot];
        packed sums[8];
        // The compiler unrolls loops over a size that it knows.
        switch (size) {
        case 2: add_blocks(2, column, length, packs, at, columns, values, from, sums); break;
        case 3: add_blocks(3, column, length, packs, at, columns, values, from, sums); break;
        case 4: add_blocks(4, column, length, packs, at, columns, values, from, sums); break;
        case 6: add_blocks(6, column, length, packs, at, columns, values, from, sums); break;
        default: add_blocks(size, column, length, packs, at, columns, values, from, sums);
        }
        const uint row = rows_of[slot];
        if (row < block_rows) {
            for (uint i = 0; i < size; i++) {
                to[((ulong)row * size + i) * packs + at] = sums[i];
            }
        }
    }
}

// Diagonals. A work-item computes ROWS results at once, a group's size apart, so that their loads are under way together.
KERNEL diagonals_packs(const ulong results, const uint packs, const ulong chunk, const ulong rows, const ulong column_count, const uint count,
                       __global const long *restrict offsets, VALUES(values), X, Y) {
    PACKS_OF_X;
    PACKS_OF_Y;
    const ulong first = (get_group_id(0) * LOCAL_SIZE * ROWS + get_local_id(0)) * chunk;
    for (ulong begin = first; begin < min(first + chunk, results); begin++) {
        packed sums[ROWS];
        long row[ROWS];
        uint at[ROWS];
        for (uint r = 0; r < ROWS; r++) {
            // Behind the last result it is computed once more.
            const ulong result = min(begin + (ulong)r * LOCAL_SIZE, results - 1);
            sums[r] = (packed)0;
            row[r] = (long)row_of(result, packs);
            at[r] = vector_of(result, packs);
        }
        for (uint d = 0; d < count; d++) {
            const long offset = offsets[d];
            __global const stored *restrict diagonal = values + (ulong)d * rows;
            for (uint r = 0; r < ROWS; r++) {
                // All loads are within the arrays, so none waits for the decision whether its product counts.
                const long column = row[r] + offset;
                const int inside = column >= 0 && column < (long)column_count;
                const packed product = times(value_of(diagonal[row[r]]), from[(ulong)(inside ? column : 0) * packs + at[r]]);
                sums[r] += inside ? product : (packed)0;
            }
        }
        for (uint r = 0; r < ROWS; r++) {
            if (begin + (ulong)r * LOCAL_SIZE < results) {
                to[(ulong)row[r] * packs + at[r]] = sums[r];
            }
        }
    }
}
