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

// GPUs: EDGE x EDGE elements of C by ITEMS x ITEMS work-items, in ITEM x ITEM sums each. STEP terms at a time lie in local memory.

#define ITEM (EDGE / ITEMS)
#define GROUP (ITEMS * ITEMS)

// STEP terms of EDGE columns whose terms are neighbours.
static inline void load_columns(__local real *to, __global const real *from, ulong leading, uint columns, uint terms, uint item) {
    for (uint t = item; t < STEP * EDGE; t += GROUP) {
        const uint p = t % STEP, j = t / STEP;
        to[p * (EDGE + 1) + j] = p < terms && j < columns ? from[j * leading + p] : (real)0;
    }
}

// STEP terms of EDGE rows that are neighbours.
static inline void load_rows(__local real *to, __global const real *from, ulong leading, uint rows, uint terms, uint item) {
    for (uint t = item; t < STEP * EDGE; t += GROUP) {
        const uint p = t / EDGE, i = t % EDGE;
        to[p * (EDGE + 1) + i] = p < terms && i < rows ? from[p * leading + i] : (real)0;
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void gemm_grouped(GROUPED_PARAMETERS) {
    GROUPED_PRODUCT;
    __local real a_terms[STEP * (EDGE + 1)], b_terms[STEP * (EDGE + 1)];
    const uint item = get_local_id(0), row = item % ITEMS, column = item / ITEMS;
    const uint rows = min(m - tile.y, (uint)EDGE), columns = min(n - tile.z, (uint)EDGE);
    real sum[ITEM][ITEM];
    for (uint j = 0; j < ITEM; j++) {
        for (uint i = 0; i < ITEM; i++) {
            sum[j][i] = 0;
        }
    }
    for (uint p = 0; p < k; p += STEP) {
        const uint terms = min(k - p, (uint)STEP);
#if A_TRANSPOSED
        load_columns(a_terms, a + tile.y * a_leading + p, a_leading, rows, terms, item);
#else
        load_rows(a_terms, a + p * a_leading + tile.y, a_leading, rows, terms, item);
#endif
        load_columns(b_terms, b + tile.z * b_leading + p, b_leading, columns, terms, item);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint q = 0; q < STEP; q++) {
            real x[ITEM], y[ITEM];
            for (uint i = 0; i < ITEM; i++) {
                x[i] = a_terms[q * (EDGE + 1) + row + i * ITEMS];
                y[i] = b_terms[q * (EDGE + 1) + column + i * ITEMS];
            }
            for (uint j = 0; j < ITEM; j++) {
                for (uint i = 0; i < ITEM; i++) {
                    sum[j][i] = fma(x[i], y[j], sum[j][i]);
                }
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (uint j = 0; j < ITEM; j++) {
        for (uint i = 0; i < ITEM; i++) {
            const uint down = row + i * ITEMS, across = column + j * ITEMS;
            if (down < rows && across < columns) {
                c[tile.y + down + (tile.z + across) * c_leading] = sum[j][i];
            }
        }
    }
}

#endif
