// The product for GPUs: a work-group computes a TILE_M x TILE_N tile of C, each work-item ITEM_M x ITEM_N of it in
// registers.
//
// The factors pass through local memory in pieces of TILE_K, each twice there: while one piece is multiplied, the
// next is on its way from global memory into registers, and is stored to the other half before the last term. One
// barrier a piece. What a term needs is read from local memory while the term before is multiplied, also across the barrier.
//
// In local memory both pieces lie as [p][row of the tile], so that a work-item reads VECTOR rows at a time. Its
// rows are ITEM_M / VECTOR such vectors, spread over the tile at equal distances: neighbouring work-items then
// read neighbouring vectors. PAD elements between lines keep transposing stores off a single bank.
//
// Within 32 work-items the numbering goes along a Z-curve, 4 rows by 8 columns: then of two neighbours one or the other
// operand is the same, which local memory delivers to both at once.
//
// With SLICES > 1, for tiles with little to do, as many sets of work-items have the whole tile each and share the terms of a
// piece; their sums are added at the end, always in the same order.
//
// Edges: what lies outside of the factors is zero in local memory, what lies outside of C is not stored.
//
// A_TRANSPOSED, B_TRANSPOSED: see gemm.cl. LOAD: elements of one global load, where rows are aligned for it.

#define ITEMS_M (TILE_M / ITEM_M)
#define ITEMS_N (TILE_N / ITEM_N)
#define SLICE_ITEMS (ITEMS_M * ITEMS_N)
#define WORK_ITEMS (SLICE_ITEMS * SLICES)
#define A_PITCH (TILE_M + PAD)
#define B_PITCH (TILE_N + PAD)
#define A_PIECE (TILE_K * A_PITCH)
#define B_PIECE (TILE_K * B_PITCH)
#define A_LOADS (TILE_M * TILE_K / (LOAD * WORK_ITEMS))
#define B_LOADS (TILE_N * TILE_K / (LOAD * WORK_ITEMS))

#if LOAD * REALS == 1
#define wide_load real
#else
#define wide_load JOIN(REAL, LOAD_REALS)
#endif
#if VECTOR * REALS == 1
#define wide_local real
#else
#define wide_local JOIN(REAL, VECTOR_REALS)
#endif

// The elements of a wide vector, one by one.
#if LOAD == 1
#define UNPACK_LOAD(to, v) (to)[0] = (v)
#elif LOAD == 2
#define UNPACK_LOAD(to, v) (to)[0] = (v).lo, (to)[1] = (v).hi
#else
#define UNPACK_LOAD(to, v) (to)[0] = (v).lo.lo, (to)[1] = (v).lo.hi, (to)[2] = (v).hi.lo, (to)[3] = (v).hi.hi
#endif
#if VECTOR == 1
#define UNPACK_LOCAL(to, v) (to)[0] = (v)
#elif VECTOR == 2
#define UNPACK_LOCAL(to, v) (to)[0] = (v).lo, (to)[1] = (v).hi
#else
#define UNPACK_LOCAL(to, v) (to)[0] = (v).lo.lo, (to)[1] = (v).lo.hi, (to)[2] = (v).hi.lo, (to)[3] = (v).hi.hi
#endif

// LOAD elements of a line, of which `valid` exist; the others are zero.
static inline void load_line(element *to, __global const element *from, int valid, int aligned) {
    if (aligned && valid >= LOAD) {
        const wide_load v = *(__global const wide_load *)from;
        UNPACK_LOAD(to, v);
    } else {
#pragma unroll
        for (int e = 0; e < LOAD; e++) {
            to[e] = e < valid ? from[e] : (element)0;
        }
    }
}

// This work-item's share of a piece of a factor, `rows` x `inner` elements of which exist from `from` on. Neighbouring
// elements run along the rows (along p if transposed). A work-item loads at one place of every so many lines; `first` is
// that place in the first of them.
#define LOAD_PIECE(to, from, first, leading, rows, inner, TILE, LOADS, TRANSPOSED)                              \
    {                                                                                                           \
        const int length = TRANSPOSED ? TILE_K : TILE;                                                          \
        const int distance = WORK_ITEMS / (length / LOAD);                                                      \
        __global const element *source = (from) + (first);                                                      \
        if (whole && (inner) >= TILE_K) {                                                                       \
            _Pragma("unroll") for (int q = 0; q < LOADS; q++) {                                                 \
                const wide_load v = *(__global const wide_load *)(source + q * distance * (leading));           \
                UNPACK_LOAD(&to[q * LOAD], v);                                                                  \
            }                                                                                                   \
        } else {                                                                                                \
            const int inner_there = (int)min((long)(inner), (long)TILE_K);                                      \
            const int lines_there = (TRANSPOSED ? (rows) : inner_there) - item / (length / LOAD);               \
            const int valid = (TRANSPOSED ? inner_there : (rows)) - item % (length / LOAD) * LOAD;              \
            _Pragma("unroll") for (int q = 0; q < LOADS; q++) {                                                 \
                load_line(&to[q * LOAD], source, q * distance < lines_there ? valid : 0, leading##_aligned);    \
                source += distance * (leading);                                                                 \
            }                                                                                                   \
        }                                                                                                       \
    }

// The columns of a work-item, from the first to the last and from the last to the first.
#define FORTH(j) _Pragma("unroll") for (int j = 0; j < ITEM_N; j++)
#define BACK(j) _Pragma("unroll") for (int j = ITEM_N - 1; j >= 0; j--)

#define STORE_PIECE(to, from, TILE, PITCH, LOADS, TRANSPOSED, conjugate)                                        \
    _Pragma("unroll") for (int q = 0; q < LOADS; q++) {                                                         \
        const int number = q * WORK_ITEMS + item;                                                               \
        const int length = TRANSPOSED ? TILE_K : TILE;                                                          \
        const int line = number / (length / LOAD);                                                              \
        const int start = number % (length / LOAD) * LOAD;                                                      \
        _Pragma("unroll") for (int e = 0; e < LOAD; e++) {                                                      \
            const int place = TRANSPOSED ? (start + e) * PITCH + line : line * PITCH + start + e;               \
            (to)[place] = conjugate_if(conjugate, from[q * LOAD + e]);                                          \
        }                                                                                                       \
    }

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void gemm_registers(GEMM_PARAMETERS) {
    __local element a_pieces[2 * A_PIECE] __attribute__((aligned(16)));
    __local element b_pieces[2 * B_PIECE] __attribute__((aligned(16)));

    const int item = get_local_id(0);
    const int slice = SLICES > 1 ? item / SLICE_ITEMS : 0;
    const int place = SLICES > 1 ? item % SLICE_ITEMS : item;
#if ITEMS_M % 4 == 0 && ITEMS_N % 8 == 0
    const int lane = place % 32;
    const int wave = place / 32;
    const int item_row = wave % (ITEMS_M / 4) * 4 + ((lane & 1) | (lane >> 1 & 2));
    const int item_column = wave / (ITEMS_M / 4) * 8 + ((lane >> 1 & 1) | (lane >> 2 & 6));
#else
    const int item_row = place % ITEMS_M;
    const int item_column = place / ITEMS_M;
#endif

    const ulong2 tile = tile_of_launch(m, n);
    const ulong row = tile.s0 * TILE_M;
    const ulong column = tile.s1 * TILE_N;
    if (TRIANGLE && (row >= m || column >= n)) {
        return;
    }
    const int rows = (int)min(m - row, (ulong)TILE_M);
    const int columns = (int)min(n - column, (ulong)TILE_N);

    __global const element *a_next = A_OF_BATCH + row * (A_TRANSPOSED ? a_leading : 1);
    __global const element *b_next = B_OF_BATCH + column * (B_TRANSPOSED ? 1 : b_leading);
    const ulong a_step = TILE_K * (A_TRANSPOSED ? 1 : a_leading);
    const ulong b_step = TILE_K * (B_TRANSPOSED ? b_leading : 1);
    // Lines start at aligned addresses if the first one does and the distance keeps it.
    const int a_leading_aligned = (a_offset | a_leading | a_stride) % LOAD == 0;
    const int b_leading_aligned = (b_offset | b_leading | b_stride) % LOAD == 0;
    const int whole = a_leading_aligned && b_leading_aligned && rows >= TILE_M && columns >= TILE_N;
    const int a_length = A_TRANSPOSED ? TILE_K : TILE_M;
    const int b_length = B_TRANSPOSED ? TILE_N : TILE_K;
    const ulong a_first = item / (a_length / LOAD) * a_leading + item % (a_length / LOAD) * LOAD;
    const ulong b_first = item / (b_length / LOAD) * b_leading + item % (b_length / LOAD) * LOAD;

    element a_share[A_LOADS * LOAD];
    element b_share[B_LOADS * LOAD];
    element sum[ITEM_M][ITEM_N];
#pragma unroll
    for (int i = 0; i < ITEM_M; i++) {
#pragma unroll
        for (int j = 0; j < ITEM_N; j++) {
            sum[i][j] = 0;
        }
    }

    // B is kept as its transposed: the piece of B is "not transposed" if its columns are neighbours.
    const long terms = TERMS;
    LOAD_PIECE(a_share, a_next, a_first, a_leading, rows, terms, TILE_M, A_LOADS, A_TRANSPOSED)
    LOAD_PIECE(b_share, b_next, b_first, b_leading, columns, terms, TILE_N, B_LOADS, !B_TRANSPOSED)
    STORE_PIECE(a_pieces, a_share, TILE_M, A_PITCH, A_LOADS, A_TRANSPOSED, a_conjugate)
    STORE_PIECE(b_pieces, b_share, TILE_N, B_PITCH, B_LOADS, !B_TRANSPOSED, b_conjugate)
    barrier(CLK_LOCAL_MEM_FENCE);

    // The terms of a slice lie SLICES apart.
    const int a_place = slice * A_PITCH + item_row * VECTOR;
    const int b_place = slice * B_PITCH + item_column * VECTOR;
    __local const element *a_now = a_pieces + a_place;
    __local const element *b_now = b_pieces + b_place;
    element a_next_rows[ITEM_M];
    element b_next_columns[ITEM_N];
#define READ_TERM(p)                                                                                            \
    _Pragma("unroll") for (int q = 0; q < ITEM_M / VECTOR; q++) {                                               \
        const wide_local v =                                                                                    \
            *(__local const wide_local *)(a_now + (p) * SLICES * A_PITCH + q * ITEMS_M * VECTOR);               \
        UNPACK_LOCAL(&a_next_rows[q * VECTOR], v);                                                              \
    }                                                                                                           \
    _Pragma("unroll") for (int q = 0; q < ITEM_N / VECTOR; q++) {                                               \
        const wide_local v =                                                                                    \
            *(__local const wide_local *)(b_now + (p) * SLICES * B_PITCH + q * ITEMS_N * VECTOR);               \
        UNPACK_LOCAL(&b_next_columns[q * VECTOR], v);                                                           \
    }
    READ_TERM(0)

    int half_now = 0;
    for (long rest = terms; rest > 0; rest -= TILE_K) {
        const int more = rest > TILE_K;
        if (more) {
            a_next += a_step;
            b_next += b_step;
            LOAD_PIECE(a_share, a_next, a_first, a_leading, rows, rest - TILE_K, TILE_M, A_LOADS, A_TRANSPOSED)
            LOAD_PIECE(b_share, b_next, b_first, b_leading, columns, rest - TILE_K, TILE_N, B_LOADS, !B_TRANSPOSED)
        }

#pragma unroll
        for (int p = 0; p < TILE_K / SLICES; p++) {
            element a_rows[ITEM_M];
            element b_columns[ITEM_N];
#pragma unroll
            for (int i = 0; i < ITEM_M; i++) {
                a_rows[i] = a_next_rows[i];
            }
#pragma unroll
            for (int j = 0; j < ITEM_N; j++) {
                b_columns[j] = b_next_columns[j];
            }
            if (p + 1 < TILE_K / SLICES) {
                READ_TERM(p + 1)
            } else if (more) {
                // Nobody reads the other half any more: the last barrier came after its last term was read.
                half_now ^= 1;
                STORE_PIECE(a_pieces + half_now * A_PIECE, a_share, TILE_M, A_PITCH, A_LOADS, A_TRANSPOSED,
                            a_conjugate)
                STORE_PIECE(b_pieces + half_now * B_PIECE, b_share, TILE_N, B_PITCH, B_LOADS, !B_TRANSPOSED,
                            b_conjugate)
                barrier(CLK_LOCAL_MEM_FENCE);
                a_now = a_pieces + half_now * A_PIECE + a_place;
                b_now = b_pieces + half_now * B_PIECE + b_place;
                READ_TERM(0)
            }
            // Row by row, along the columns and back: two instructions in a row share a factor, which keeps the register file of
            // NVIDIA GPUs from being the limit (an H200 does 44 TFLOP/s of complex products in another order, and 51 in this one).
#pragma unroll
            for (int i = 0; i < ITEM_M; i++) {
#if IS_COMPLEX
                FORTH(j) { sum[i][j].s0 = fma(a_rows[i].s0, b_columns[j].s0, sum[i][j].s0); }
                BACK(j) { sum[i][j].s1 = fma(a_rows[i].s0, b_columns[j].s1, sum[i][j].s1); }
                FORTH(j) { sum[i][j].s1 = fma(a_rows[i].s1, b_columns[j].s0, sum[i][j].s1); }
                BACK(j) { sum[i][j].s0 = fma(-a_rows[i].s1, b_columns[j].s1, sum[i][j].s0); }
#else
                FORTH(step) {
                    const int j = i % 2 == 0 ? step : ITEM_N - 1 - step;
                    sum[i][j] = fma(a_rows[i], b_columns[j], sum[i][j]);
                }
#endif
            }
        }
    }

#if SLICES > 1
    // There is room for the sums of one slice in place of the pieces of the longer side.
    __local element *room = TILE_M >= TILE_N ? a_pieces : b_pieces;
    for (int other = 1; other < SLICES; other++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice == other) {
#pragma unroll
            for (int i = 0; i < ITEM_M * ITEM_N; i++) {
                room[i * SLICE_ITEMS + place] = sum[i / ITEM_N][i % ITEM_N];
            }
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (slice == 0) {
#pragma unroll
            for (int i = 0; i < ITEM_M * ITEM_N; i++) {
                sum[i / ITEM_N][i % ITEM_N] += room[i * SLICE_ITEMS + place];
            }
        }
    }
    if (slice > 0) {
        return;
    }
#endif

    __global element *c_tile = C_OF_BATCH + row + column * c_leading;
#define ROW_OF_SUM(i) ((i) / VECTOR * ITEMS_M * VECTOR + item_row * VECTOR + (i) % VECTOR)
#pragma unroll
    for (int j = 0; j < ITEM_N; j++) {
        const int tile_column = j / VECTOR * ITEMS_N * VECTOR + item_column * VECTOR + j % VECTOR;
        element before[ITEM_M];
#pragma unroll
        for (int i = 0; i < ITEM_M; i++) {
            const int tile_row = ROW_OF_SUM(i);
            const int reads = !is_zero(beta) && tile_row < rows && tile_column < columns &&
                              IS_WANTED(row + tile_row, column + tile_column);
            before[i] = reads ? c_tile[tile_row + tile_column * c_leading] : (element)0;
        }
#pragma unroll
        for (int i = 0; i < ITEM_M; i++) {
            const int tile_row = ROW_OF_SUM(i);
            if (tile_row < rows && tile_column < columns && IS_WANTED(row + tile_row, column + tile_column)) {
                store_result(c_tile + tile_row + tile_column * c_leading, row + tile_row, column + tile_column, alpha,
                             sum[i][j], beta, before[i]);
            }
        }
    }
}
