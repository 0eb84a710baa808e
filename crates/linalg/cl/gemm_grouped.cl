// Products C = op(A) B of a list, in one launch: a work-group computes one tile of one product. crates/linalg/src/host/gemm.rs is the twin.
//
// All matrices are column-major. A_TRANSPOSED: op(A) = A^T, and the terms of a sum are neighbours in both factors. `products` has nine numbers
// for each product: m, n, k, then the first element and the leading dimension of A, of B and of C. `tiles` has for each work-group the number of
// its product, and the first row and the first column of its tile; the host sorts it, so that long tiles begin first.

#define PRODUCT_WORDS 9

#define GROUPED_PARAMETERS                                                                                          \
    __global const ulong *products, __global const uint4 *tiles, __global const real *a, ulong a_offset,             \
        __global const real *b, ulong b_offset, __global real *c, ulong c_offset

#define GROUPED_PRODUCT                                                                                             \
    const uint4 tile = tiles[get_group_id(0)];                                                                      \
    __global const ulong *product = products + PRODUCT_WORDS * (ulong)tile.x;                                       \
    const uint m = (uint)product[0], n = (uint)product[1], k = (uint)product[2];                                    \
    const ulong a_leading = product[4], b_leading = product[6], c_leading = product[8];                             \
    a += a_offset + product[3];                                                                                     \
    b += b_offset + product[5];                                                                                     \
    c += c_offset + product[7]

#if LANES > 1

// Processors: a work-item computes TILE_M rows and all columns, in blocks of registers. The last block of a tile begins so early that it is
// whole, where the tile has room for one: it computes the same numbers once more.

#define load_lanes(p) JOIN(vload, LANES)(0, p)
#define store_lanes(v, p) JOIN(vstore, LANES)(v, 0, p)

#if A_TRANSPOSED

static inline real sum_of_lanes(const vreal x) {
    real parts[LANES];
    store_lanes(x, parts);
#pragma unroll
    for (uint half_way = LANES / 2; half_way > 0; half_way /= 2) {
#pragma unroll
        for (uint i = 0; i < half_way; i++) {
            parts[i] += parts[i + half_way];
        }
    }
    return parts[0];
}

// ROWS x COLUMNS elements of C. A vector has LANES terms of a sum.
#define DEFINE_BLOCK(NAME, ROWS, COLUMNS)                                                                           \
    static inline void NAME(__global const real *a, ulong a_leading, __global const real *b, ulong b_leading,       \
                            uint k, __global real *c, ulong c_leading) {                                           \
        vreal sum[COLUMNS][ROWS];                                                                                   \
        _Pragma("unroll") for (uint j = 0; j < COLUMNS; j++) {                                                      \
            _Pragma("unroll") for (uint i = 0; i < ROWS; i++) { sum[j][i] = (vreal)0; }                             \
        }                                                                                                           \
        const uint whole = k - k % LANES;                                                                           \
        for (uint p = 0; p < whole; p += LANES) {                                                                   \
            vreal x[ROWS];                                                                                          \
            _Pragma("unroll") for (uint i = 0; i < ROWS; i++) { x[i] = load_lanes(a + i * a_leading + p); }         \
            _Pragma("unroll") for (uint j = 0; j < COLUMNS; j++) {                                                  \
                const vreal y = load_lanes(b + j * b_leading + p);                                                  \
                _Pragma("unroll") for (uint i = 0; i < ROWS; i++) { sum[j][i] = sum[j][i] + x[i] * y; }             \
            }                                                                                                       \
        }                                                                                                           \
        for (uint j = 0; j < COLUMNS; j++) {                                                                        \
            for (uint i = 0; i < ROWS; i++) {                                                                       \
                real total = sum_of_lanes(sum[j][i]);                                                               \
                for (uint p = whole; p < k; p++) {                                                                  \
                    total += a[i * a_leading + p] * b[j * b_leading + p];                                           \
                }                                                                                                   \
                c[i + j * c_leading] = total;                                                                       \
            }                                                                                                       \
        }                                                                                                           \
    }

#else

// ROWS vectors of rows, of COLUMNS columns of C.
#define DEFINE_BLOCK(NAME, ROWS, COLUMNS)                                                                           \
    static inline void NAME(__global const real *a, ulong a_leading, __global const real *b, ulong b_leading,       \
                            uint k, __global real *c, ulong c_leading) {                                           \
        vreal sum[COLUMNS][ROWS];                                                                                   \
        _Pragma("unroll") for (uint j = 0; j < COLUMNS; j++) {                                                      \
            _Pragma("unroll") for (uint i = 0; i < ROWS; i++) { sum[j][i] = (vreal)0; }                             \
        }                                                                                                           \
        for (uint p = 0; p < k; p++) {                                                                              \
            vreal x[ROWS];                                                                                          \
            _Pragma("unroll") for (uint i = 0; i < ROWS; i++) { x[i] = load_lanes(a + p * a_leading + i * LANES); } \
            _Pragma("unroll") for (uint j = 0; j < COLUMNS; j++) {                                                  \
                const vreal y = (vreal)b[j * b_leading + p];                                                        \
                _Pragma("unroll") for (uint i = 0; i < ROWS; i++) { sum[j][i] = sum[j][i] + x[i] * y; }             \
            }                                                                                                       \
        }                                                                                                           \
        _Pragma("unroll") for (uint j = 0; j < COLUMNS; j++) {                                                      \
            _Pragma("unroll") for (uint i = 0; i < ROWS; i++) {                                                     \
                store_lanes(sum[j][i], c + j * c_leading + i * LANES);                                              \
            }                                                                                                       \
        }                                                                                                           \
    }

#endif

DEFINE_BLOCK(block, BLOCK_ROWS, BLOCK_COLUMNS)
DEFINE_BLOCK(short_block, 1, BLOCK_COLUMNS)

// Rows and columns that fill no block.
static inline void corner(__global const real *a, ulong a_leading, __global const real *b, ulong b_leading, uint k,
                          __global real *c, ulong c_leading, uint rows, uint columns) {
    for (uint j = 0; j < columns; j++) {
        for (uint i = 0; i < rows; i++) {
            real sum = 0;
            for (uint p = 0; p < k; p++) {
#if A_TRANSPOSED
                sum += a[i * a_leading + p] * b[j * b_leading + p];
#else
                sum += a[p * a_leading + i] * b[j * b_leading + p];
#endif
            }
            c[i + j * c_leading] = sum;
        }
    }
}

// Rows of a block, and elements of A from one row to the next.
#if A_TRANSPOSED
#define ROW_WIDTH 1
#define ROW_OF_A(row) (a + (row) * a_leading)
#else
#define ROW_WIDTH LANES
#define ROW_OF_A(row) (a + (row))
#endif
#define WHOLE_ROWS (BLOCK_ROWS * ROW_WIDTH)

__kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(1, 1, 1))) void gemm_grouped(GROUPED_PARAMETERS) {
    GROUPED_PRODUCT;
    const uint end = min(m, tile.y + TILE_M);
    for (uint i = tile.y; i < end;) {
        uint rows = min(end - i, (uint)WHOLE_ROWS);
        if (rows < WHOLE_ROWS && end - tile.y >= WHOLE_ROWS) {
            i = end - WHOLE_ROWS;
            rows = WHOLE_ROWS;
        } else if (rows < WHOLE_ROWS && rows >= ROW_WIDTH) {
            rows = ROW_WIDTH;
        }
        __global const real *row = ROW_OF_A((ulong)i);
        for (uint j = 0; j < n;) {
            uint columns = min(n - j, (uint)BLOCK_COLUMNS);
            if (columns < BLOCK_COLUMNS && n >= BLOCK_COLUMNS) {
                j = n - BLOCK_COLUMNS;
                columns = BLOCK_COLUMNS;
            }
            __global const real *column = b + j * b_leading;
            __global real *place = c + i + j * c_leading;
            if (columns < BLOCK_COLUMNS || rows < ROW_WIDTH) {
                corner(row, a_leading, column, b_leading, k, place, c_leading, rows, columns);
            } else if (rows == WHOLE_ROWS) {
                block(row, a_leading, column, b_leading, k, place, c_leading);
            } else {
                short_block(row, a_leading, column, b_leading, k, place, c_leading);
            }
            j += columns;
        }
        i += rows;
    }
}

#else

// GPUs: TILE_M x TILE_N elements of C in a group, ITEM_M x ITEM_N of them by each work-item. STEP terms at a time lie in local memory, from where
// items read VECTOR numbers at once. With PREFETCH the next terms are on their way from global memory meanwhile.

#define ITEMS_M (TILE_M / ITEM_M)
#define ITEMS_N (TILE_N / ITEM_N)
#define GROUP (ITEMS_M * ITEMS_N)

#if VECTOR == 1
#define packed real
#define UNPACK(to, i, v) to[i] = (v);
#elif VECTOR == 2
#define packed JOIN(REAL, 2)
#define UNPACK(to, i, v) to[2 * (i)] = (v).s0; to[2 * (i) + 1] = (v).s1;
#else
#define packed JOIN(REAL, 4)
#define UNPACK(to, i, v) to[4 * (i)] = (v).s0; to[4 * (i) + 1] = (v).s1; to[4 * (i) + 2] = (v).s2; to[4 * (i) + 3] = (v).s3;
#endif

// Numbers from the terms of one step to those of the next in local memory: one vector more than they are, against conflicts of banks.
#define PITCH_A (TILE_M + VECTOR)
#define PITCH_B (TILE_N + VECTOR)

// The row of a tile that number i of a work-item's rows is; columns likewise.
#define PLACE(i, item, items) ((i) / VECTOR * (items) * VECTOR + (item) * VECTOR + (i) % VECTOR)

// How many of the numbers of a step each work-item brings.
#define SHARE_A (STEP * TILE_M / GROUP)
#define SHARE_B (STEP * TILE_N / GROUP)

// Number t of a step: its term, and its row or column, for matrices whose terms are neighbours, and for those whose rows are.
#define TERM_OF_COLUMN(t) ((t) % STEP)
#define PLACE_IN_COLUMN(t) ((t) / STEP)
#define TERM_OF_ROW(t, tile) ((t) / (tile))
#define PLACE_IN_ROW(t, tile) ((t) % (tile))
#if A_TRANSPOSED
#define A_TERM(t) TERM_OF_COLUMN(t)
#define A_PLACE(t) PLACE_IN_COLUMN(t)
#define A_AT(i, p) ((i) * a_leading + (p))
#else
#define A_TERM(t) TERM_OF_ROW(t, TILE_M)
#define A_PLACE(t) PLACE_IN_ROW(t, TILE_M)
#define A_AT(i, p) ((p) * a_leading + (i))
#endif

// Brings the terms from `first` on into registers; beyond the matrices they are 0.
#define FETCH(first)                                                                                                \
    _Pragma("unroll") for (uint s = 0; s < SHARE_A; s++) {                                                          \
        const uint t = item + s * GROUP, i = A_PLACE(t);                                                            \
        const ulong term = (first) + A_TERM(t);                                                                     \
        next_a[s] = term < k && i < rows ? a[A_AT(i, term)] : (real)0;                                              \
    }                                                                                                               \
    _Pragma("unroll") for (uint s = 0; s < SHARE_B; s++) {                                                          \
        const uint t = item + s * GROUP, j = PLACE_IN_COLUMN(t);                                                    \
        const ulong term = (first) + TERM_OF_COLUMN(t);                                                             \
        next_b[s] = term < k && j < columns ? b[j * b_leading + term] : (real)0;                                    \
    }

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemm_grouped(GROUPED_PARAMETERS) {
    GROUPED_PRODUCT;
    __local packed a_terms[STEP * PITCH_A / VECTOR], b_terms[STEP * PITCH_B / VECTOR];
    __local real *to_a = (__local real *)a_terms, *to_b = (__local real *)b_terms;
    const uint item = get_local_id(0), row = item % ITEMS_M, column = item / ITEMS_M;
    const uint rows = min(m - tile.y, (uint)TILE_M), columns = min(n - tile.z, (uint)TILE_N);
    a += A_AT((ulong)tile.y, 0);
    b += tile.z * b_leading;
    real sum[ITEM_N][ITEM_M], next_a[SHARE_A], next_b[SHARE_B];
    for (uint j = 0; j < ITEM_N; j++) {
        for (uint i = 0; i < ITEM_M; i++) {
            sum[j][i] = 0;
        }
    }
#if PREFETCH
    FETCH(0)
#endif
    for (uint p = 0; p < k; p += STEP) {
#if !PREFETCH
        FETCH(p)
#endif
        _Pragma("unroll") for (uint s = 0; s < SHARE_A; s++) {
            const uint t = item + s * GROUP;
            to_a[A_TERM(t) * PITCH_A + A_PLACE(t)] = next_a[s];
        }
        _Pragma("unroll") for (uint s = 0; s < SHARE_B; s++) {
            const uint t = item + s * GROUP;
            to_b[TERM_OF_COLUMN(t) * PITCH_B + PLACE_IN_COLUMN(t)] = next_b[s];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
#if PREFETCH
        FETCH(p + STEP)
#endif
        for (uint q = 0; q < STEP; q++) {
            real x[ITEM_M], y[ITEM_N];
            _Pragma("unroll") for (uint i = 0; i < ITEM_M / VECTOR; i++) {
                UNPACK(x, i, a_terms[q * (PITCH_A / VECTOR) + i * ITEMS_M + row])
            }
            _Pragma("unroll") for (uint j = 0; j < ITEM_N / VECTOR; j++) {
                UNPACK(y, j, b_terms[q * (PITCH_B / VECTOR) + j * ITEMS_N + column])
            }
            _Pragma("unroll") for (uint j = 0; j < ITEM_N; j++) {
                _Pragma("unroll") for (uint i = 0; i < ITEM_M; i++) { sum[j][i] = fma(x[i], y[j], sum[j][i]); }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    _Pragma("unroll") for (uint j = 0; j < ITEM_N; j++) {
        _Pragma("unroll") for (uint i = 0; i < ITEM_M; i++) {
            const uint down = PLACE(i, row, ITEMS_M), across = PLACE(j, column, ITEMS_N);
            if (down < rows && across < columns) {
                c[tile.y + down + (tile.z + across) * c_leading] = sum[j][i];
            }
        }
    }
}

#endif
