// The product on the matrix units of NVIDIA GPUs: mma.sync of shape 16 x 8 x MMA_K, in double, or in single as three
// products of TF32 parts.
//
// A work-group computes a TILE_M x TILE_N tile of C, each warp WARP_M x WARP_N of it. Pieces of the factors, TILE_K
// deep, are copied asynchronously into a ring of STAGES places in local memory; one barrier a piece. The fragments of a
// step, MMA_K deep, are read while those of the step before are multiplied, also across the barrier: TILE_K is two steps
// at least. The copies of a piece follow its first step, so that the matrix units have work meanwhile.
//
// Local memory keeps the order of global memory: lines of TILE_M (TILE_N) elements if these are neighbours there, of
// TILE_K if those are.
//
// Fragments, by the PTX manual ("Matrix Fragments for mma.m16n8k4", k8 and k16 with .f64, and .tf32), with
// g = lane / 4 and t = lane % 4: element 2j + h of A is (row g + 8h, column 4j + t), element j of B is (row 4j + t, column
// g), element 2h + e of C is (row g + 8h, column 2t + e).
//
// Which row of the tile is called which is free, and so is the order of terms, if it is the same for A and B. Elements of at most 8
// bytes are therefore named in pairs (PAIR), so that one access brings two neighbours: row g + 8h of A is row 2g + h of 16,
// column g of the instructions 2i and 2i + 1 is column 2g (+ 1) of 16, and term 4j + t is term 2t + j of 8 (PAIR_TERMS, with
// MMA_K = 8 and 16). Elements of 16 bytes keep the manual's places.
//
// The lanes that are served together touch all banks evenly, because lines are longer by so much (TILE_M, TILE_N and TILE_K are
// multiples of 8): lines of TILE_M by 16 bytes with PAIR_TERMS, else by 32; lines of TILE_K by four elements, by two if they
// are of 8 bytes and terms are not paired.
//
// Instructions that add to the same sums follow each other as far apart as a row of fragments allows.
//
// Complex products are four real ones. 3xTF32: x is split into big + small, each rounded to the 11 bits of TF32, and
// a b is taken as small big + big small + big big. Left out are small small and what small lost to rounding, each below
// 2^-22 |a b|.
//
// Without INLINE_PTX the instructions are done by their definition, through local memory and with plain copies: slow, but it lets
// every device test the addressing.
//
// SPREAD: 1 if the fragments of the next step are read between the rows of products, 0 if before all of them.
//
// A_TRANSPOSED, B_TRANSPOSED: see gemm.cl. A_CONJUGATE, B_CONJUGATE: 1 for the complex conjugate (the arguments of this
// name are not looked at). COPY: elements of one 16-byte copy.

#define WARPS_M (TILE_M / WARP_M)
#define WARPS_N (TILE_N / WARP_N)
#define WORK_ITEMS (32 * WARPS_M * WARPS_N)
#define MMAS_M (WARP_M / 16)
#define MMAS_N (WARP_N / 8)
#define ELEMENT_BYTES (REALS * REAL_BITS / 8)
#define COPY (16 / ELEMENT_BYTES)

#define A_LENGTH (A_TRANSPOSED ? TILE_K : TILE_M)
#define B_LENGTH (B_TRANSPOSED ? TILE_N : TILE_K)
#define A_LINES (A_TRANSPOSED ? TILE_M : TILE_K)
#define B_LINES (B_TRANSPOSED ? TILE_K : TILE_N)
#define PAIR (ELEMENT_BYTES < 16)
#define PAIR_TERMS (PAIR && MMA_K > 4)
#define ROWS_PAD ((PAIR_TERMS ? 16 : 32) / ELEMENT_BYTES)
#define TERMS_PAD (ELEMENT_BYTES == 8 && !PAIR_TERMS ? 2 : 4)
#define A_PITCH (A_LENGTH + (A_TRANSPOSED ? TERMS_PAD : ROWS_PAD))
#define B_PITCH (B_LENGTH + (B_TRANSPOSED ? ROWS_PAD : TERMS_PAD))

// Rows of element h of A and columns of instruction j, of lane group g; terms of element j, of t.
#define ROW_STEP (PAIR ? 2 : 1)
#define ROW_OF(h) ((h) * (PAIR ? 1 : 8))
#define COLUMN_OF(j) (PAIR ? (j) / 2 * 16 + (j) % 2 : 8 * (j))
#define TERM_STEP (PAIR_TERMS ? 2 : 1)
#define TERM_OF(j) (PAIR_TERMS ? (j) / 2 * 8 + (j) % 2 : 4 * (j))
#define A_PIECE (A_LINES * A_PITCH)
#define B_PIECE (B_LINES * B_PITCH)

// Distances in local memory from a row of the tile to the next, and from one p to the next.
#define A_ROW_STEP (A_TRANSPOSED ? A_PITCH : 1)
#define A_INNER_STEP (A_TRANSPOSED ? 1 : A_PITCH)
#define B_COLUMN_STEP (B_TRANSPOSED ? 1 : B_PITCH)
#define B_INNER_STEP (B_TRANSPOSED ? B_PITCH : 1)

// Numbers in a fragment, of each work-item.
#define A_FRAGMENT (MMA_K / 2)
#define B_FRAGMENT (MMA_K / 4)

#ifdef INLINE_PTX

// With PREFETCH, the second-level cache fetches so many bytes around what is copied.
#if PREFETCH == 0
#define L2_AHEAD ""
#elif PREFETCH == 128
#define L2_AHEAD ".L2::128B"
#else
#define L2_AHEAD ".L2::256B"
#endif

// Starts to copy `bytes` of WIDTH_BYTES bytes; the rest is set to zero.
#define COPY_ASYNC(WIDTH_BYTES, MODE, to, from, bytes)                                                          \
    __asm__ volatile("cp.async." MODE ".shared.global" L2_AHEAD " [%0], [%1], " #WIDTH_BYTES ", %2;" ::"r"(local_address(to)), \
                     "l"((ulong)(from)), "r"(bytes)                                                             \
                     : "memory")
#if REAL_BITS == 32 && !IS_COMPLEX
#define COPY_ONE(to, from, bytes) COPY_ASYNC(4, "ca", to, from, bytes)
#elif REAL_BITS * REALS == 64
#define COPY_ONE(to, from, bytes) COPY_ASYNC(8, "ca", to, from, bytes)
#else
#define COPY_ONE(to, from, bytes) COPY_ASYNC(16, "cg", to, from, bytes)
#endif
#define COPY_SEVERAL(to, from, bytes) COPY_ASYNC(16, "cg", to, from, bytes)

#else

#define COPY_SEVERAL(to, from, bytes)                                                                           \
    for (int e = 0; e < COPY; e++) {                                                                            \
        (to)[e] = e * ELEMENT_BYTES < (bytes) ? (from)[e] : (element)0;                                         \
    }
#define COPY_ONE(to, from, bytes) (to)[0] = (bytes) != 0 ? (from)[0] : (element)0

#endif

// Starts to copy a piece of `lines` lines of `length` elements, of which those up to lines_left and length_left exist.
// Tiles at the edge come here, and factors that are not aligned: loops that are not unrolled leave the registers to the
// others.
static inline void copy_part(__local element *to, __global const element *from, ulong leading, long lines_left,
                             long length_left, int lines, int length, int pitch, int aligned, int item) {
    if (aligned) {
#pragma unroll 1
        for (int q = 0; q < lines * length / COPY / WORK_ITEMS; q++) {
            const int number = q * WORK_ITEMS + item;
            const int line = number / (length / COPY);
            const int start = number % (length / COPY) * COPY;
            const long rest = line < lines_left ? min(max(length_left - start, 0L), (long)COPY) : 0;
            __global const element *source = rest > 0 ? from + line * leading + start : from;
            COPY_SEVERAL(to + line * pitch + start, source, (uint)rest * ELEMENT_BYTES);
        }
    } else {
#pragma unroll 1
        for (int q = 0; q < lines * length / WORK_ITEMS; q++) {
            const int number = q * WORK_ITEMS + item;
            const int line = number / length;
            const int start = number % length;
            const int exists = line < lines_left && start < length_left;
            __global const element *source = exists ? from + line * leading + start : from;
            COPY_ONE(to + line * pitch + start, source, exists ? (uint)ELEMENT_BYTES : 0u);
        }
    }
}

// The same for a piece that is there as a whole and aligned: a work-item copies at one place of every so many lines,
// `from` and `to` are at its first one.
static inline void copy_whole(__local element *to, __global const element *from, ulong leading, int lines, int length,
                              int pitch) {
    const int distance = WORK_ITEMS / (length / COPY);
#pragma unroll
    for (int q = 0; q < lines / distance; q++) {
        COPY_SEVERAL(to + q * distance * pitch, from, (uint)(COPY * ELEMENT_BYTES));
        from += distance * leading;
    }
}

#ifdef INLINE_PTX

// sum += a b for one fragment.
#define MMA_TEXT(SHAPE, TYPES) "mma.sync.aligned." SHAPE ".row.col." TYPES " "
#if REAL_BITS == 64
#define A_REGISTER "d"
#define SUM_REGISTER "+d"
#define MMA_TYPES "f64.f64.f64.f64"
#define AS_OPERAND(x) (x)
#else
#define A_REGISTER "r"
#define SUM_REGISTER "+f"
#define MMA_TYPES "f32.tf32.tf32.f32"
#define AS_OPERAND(x) as_uint(x)
#endif
#define SUMS_OF(c) SUM_REGISTER((c)[0]), SUM_REGISTER((c)[1]), SUM_REGISTER((c)[2]), SUM_REGISTER((c)[3])
#define IN(x) A_REGISTER(AS_OPERAND(x))

static inline void mma(real *c, const real *a, const real *b, __local real *unused, int item) {
#if MMA_K == 4
    __asm__(MMA_TEXT("m16n8k4", MMA_TYPES) "{%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : SUMS_OF(c)
            : IN(a[0]), IN(a[1]), IN(b[0]));
#elif MMA_K == 8
    __asm__(MMA_TEXT("m16n8k8", MMA_TYPES) "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : SUMS_OF(c)
            : IN(a[0]), IN(a[1]), IN(a[2]), IN(a[3]), IN(b[0]), IN(b[1]));
#else
    __asm__(MMA_TEXT("m16n8k16", MMA_TYPES)
            "{%0,%1,%2,%3}, {%4,%5,%6,%7,%8,%9,%10,%11}, {%12,%13,%14,%15}, {%0,%1,%2,%3};"
            : SUMS_OF(c)
            : IN(a[0]), IN(a[1]), IN(a[2]), IN(a[3]), IN(a[4]), IN(a[5]), IN(a[6]), IN(a[7]), IN(b[0]), IN(b[1]),
              IN(b[2]), IN(b[3]));
#endif
}

#define MMA_SCRATCH
#define MMA_SCRATCH_OF_WARP 0

#else

// The same by its definition: the lanes of a warp show each other their fragments.
#define MMA_SCRATCH __local real mma_scratch[WARPS_M * WARPS_N * 24 * MMA_K];
#define MMA_SCRATCH_OF_WARP (mma_scratch + item / 32 * 24 * MMA_K)

static inline void mma(real *c, const real *a, const real *b, __local real *scratch, int item) {
    const int g = item % 32 / 4;
    const int t = item % 4;
    __local real *a_all = scratch;
    __local real *b_all = scratch + 16 * MMA_K;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int j = 0; j < MMA_K / 4; j++) {
        a_all[g * MMA_K + 4 * j + t] = a[2 * j];
        a_all[(g + 8) * MMA_K + 4 * j + t] = a[2 * j + 1];
        b_all[(4 * j + t) * 8 + g] = b[j];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < MMA_K; p++) {
        for (int h = 0; h < 2; h++) {
            for (int e = 0; e < 2; e++) {
                c[2 * h + e] = fma(a_all[(g + 8 * h) * MMA_K + p], b_all[p * 8 + 2 * t + e], c[2 * h + e]);
            }
        }
    }
}

#endif

// The real parts that an element is multiplied by: TF32 has two for each number.
#if REAL_BITS == 32
#define PARTS 2
#else
#define PARTS 1
#endif

// A number as the parts that the matrix unit takes.
static inline void split(real *parts, real x) {
#if REAL_BITS == 32
    // Rounded to 11 bits, half away from zero; what has no such neighbour is cut off, so that a NaN stays one. The unit itself drops the bits that small has
    // too many.
    const uint half_bit = fabs(x) < 0x1.ffep127f ? 0x1000u : 0u;
    const float big = as_float((as_uint(x) + half_bit) & 0xffffe000u);
    parts[0] = big;
    parts[1] = as_float(as_uint(x - big) + 0x1000u);
#ifndef INLINE_PTX
    parts[1] = as_float(as_uint(parts[1]) & 0xffffe000u);
#endif
#else
    parts[0] = x;
#endif
}

// One number of a fragment goes where its parts are kept: parts of the real part, then of the imaginary part.
static inline void take(real *fragment, int distance, element x, int conjugate) {
    real parts[PARTS];
#if IS_COMPLEX
    split(parts, x.s0);
    for (int s = 0; s < PARTS; s++) {
        fragment[s * distance] = parts[s];
    }
    split(parts, conjugate ? -x.s1 : x.s1);
    for (int s = 0; s < PARTS; s++) {
        fragment[(PARTS + s) * distance] = parts[s];
    }
#else
    split(parts, x);
    for (int s = 0; s < PARTS; s++) {
        fragment[s * distance] = parts[s];
    }
#endif
}

// One row of fragments of C: to all its sums, real (0) or imaginary (1), is added the product of one part of A with one of B.
static inline void add_products(real sum[MMAS_N][REALS][4], int which, const real *a,
                                real b[MMAS_N][REALS * PARTS * B_FRAGMENT], int part, __local real *scratch,
                                int item) {
#pragma unroll
    for (int j = 0; j < MMAS_N; j++) {
        mma(sum[j][which], a, b[j] + part * B_FRAGMENT, scratch, item);
    }
}

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void gemm_mma(GEMM_PARAMETERS) {
    __local element ring[STAGES * (A_PIECE + B_PIECE)] __attribute__((aligned(16)));
    MMA_SCRATCH

    const int item = get_local_id(0);
    const int g = item % 32 / 4;
    const int t = item % 4;
    const int warp_row = item / 32 % WARPS_M * WARP_M;
    const int warp_column = item / 32 / WARPS_M * WARP_N;

    const ulong2 tile = tile_of_launch(m, n);
    const ulong row = tile.s0 * TILE_M;
    const ulong column = tile.s1 * TILE_N;
    if (TRIANGLE && (row >= m || column >= n)) {
        return;
    }
    const long rows = m - row;
    const long columns = n - column;

    __global const element *a_next = A_OF_BATCH + row * (A_TRANSPOSED ? a_leading : 1);
    __global const element *b_next = B_OF_BATCH + column * (B_TRANSPOSED ? 1 : b_leading);
    const ulong a_step = TILE_K * (A_TRANSPOSED ? 1 : a_leading);
    const ulong b_step = TILE_K * (B_TRANSPOSED ? b_leading : 1);
    const int a_aligned = (a_offset | a_leading | a_stride) % COPY == 0;
    const int b_aligned = (b_offset | b_leading | b_stride) % COPY == 0;

    real sum[MMAS_M][MMAS_N][REALS][4];
#pragma unroll
    for (int i = 0; i < MMAS_M; i++) {
#pragma unroll
        for (int j = 0; j < MMAS_N; j++) {
#pragma unroll
            for (int e = 0; e < 4 * REALS; e++) {
                sum[i][j][e / 4][e % 4] = 0;
            }
        }
    }

    // Where this work-item copies, if pieces are whole.
    const int a_line = item / (A_LENGTH / COPY);
    const int a_start = item % (A_LENGTH / COPY) * COPY;
    const int b_line = item / (B_LENGTH / COPY);
    const int b_start = item % (B_LENGTH / COPY) * COPY;
    const int whole = a_aligned && b_aligned && rows >= TILE_M && columns >= TILE_N;

    const long terms = TERMS;
    long to_copy = terms;
    int copy_stage = 0;
#define COPY_NEXT_PIECE                                                                                         \
    {                                                                                                           \
        __local element *place = ring + copy_stage * (A_PIECE + B_PIECE);                                       \
        if (whole && to_copy >= TILE_K) {                                                                       \
            copy_whole(place + a_line * A_PITCH + a_start, a_next + a_line * a_leading + a_start, a_leading,    \
                       A_LINES, A_LENGTH, A_PITCH);                                                             \
            copy_whole(place + A_PIECE + b_line * B_PITCH + b_start, b_next + b_line * b_leading + b_start,     \
                       b_leading, B_LINES, B_LENGTH, B_PITCH);                                                  \
        } else if (to_copy > 0) {                                                                               \
            copy_part(place, a_next, a_leading, A_TRANSPOSED ? rows : to_copy, A_TRANSPOSED ? to_copy : rows,   \
                      A_LINES, A_LENGTH, A_PITCH, a_aligned, item);                                             \
            copy_part(place + A_PIECE, b_next, b_leading, B_TRANSPOSED ? to_copy : columns,                     \
                      B_TRANSPOSED ? columns : to_copy, B_LINES, B_LENGTH, B_PITCH, b_aligned, item);           \
        }                                                                                                       \
        a_next += a_step;                                                                                       \
        b_next += b_step;                                                                                       \
        to_copy -= TILE_K;                                                                                      \
        CLOSE_COPIES;                                                                                           \
        copy_stage = copy_stage + 1 == STAGES ? 0 : copy_stage + 1;                                             \
    }

#pragma unroll
    for (int stage = 0; stage < STAGES - 1; stage++) {
        COPY_NEXT_PIECE
    }

    const int a_place = (warp_row + ROW_STEP * g) * A_ROW_STEP + TERM_STEP * t * A_INNER_STEP;
    const int b_place = A_PIECE + (warp_column + ROW_STEP * g) * B_COLUMN_STEP + TERM_STEP * t * B_INNER_STEP;
    __local const element *piece = ring;
    int stage = 0;
    element a_next_fragments[MMAS_M][A_FRAGMENT];
    element b_next_fragments[MMAS_N][B_FRAGMENT];
#if PAIR
#define pair JOIN(REAL, PAIR_REALS)
    // What lies next to each other is read at once: two rows if rows are neighbours, else two terms if these are paired.
#define READ_A(i, p)                                                                                            \
    _Pragma("unroll") for (int e = 0; e < A_FRAGMENT; e++) {                                                    \
        const int distance = (16 * (i) + ROW_OF(e % 2)) * A_ROW_STEP + ((p) + TERM_OF(e / 2)) * A_INNER_STEP;   \
        if (A_TRANSPOSED && !PAIR_TERMS) {                                                                      \
            a_next_fragments[i][e] = piece[a_place + distance];                                                 \
        } else if ((A_TRANSPOSED ? e / 2 : e) % 2 == 0) {                                                       \
            const pair v = *(__local const pair *)(piece + a_place + distance);                                 \
            a_next_fragments[i][e] = v.lo;                                                                      \
            a_next_fragments[i][e + (A_TRANSPOSED ? 2 : 1)] = v.hi;                                             \
        }                                                                                                       \
    }
#define READ_B(j, p)                                                                                            \
    _Pragma("unroll") for (int e = 0; e < B_FRAGMENT; e++) {                                                    \
        const int distance = COLUMN_OF(j) * B_COLUMN_STEP + ((p) + TERM_OF(e)) * B_INNER_STEP;                  \
        if (!B_TRANSPOSED && !PAIR_TERMS) {                                                                     \
            b_next_fragments[j][e] = piece[b_place + distance];                                                 \
        } else if ((B_TRANSPOSED ? (j) : e) % 2 == 0) {                                                         \
            const pair v = *(__local const pair *)(piece + b_place + distance);                                 \
            b_next_fragments[j][e] = v.lo;                                                                      \
            b_next_fragments[(j) + (B_TRANSPOSED ? 1 : 0)][e + (B_TRANSPOSED ? 0 : 1)] = v.hi;                  \
        }                                                                                                       \
    }
#else
#define READ_A(i, p)                                                                                            \
    _Pragma("unroll") for (int e = 0; e < A_FRAGMENT; e++) {                                                    \
        const int distance = (16 * (i) + ROW_OF(e % 2)) * A_ROW_STEP + ((p) + TERM_OF(e / 2)) * A_INNER_STEP;   \
        a_next_fragments[i][e] = piece[a_place + distance];                                                     \
    }
#define READ_B(j, p)                                                                                            \
    _Pragma("unroll") for (int e = 0; e < B_FRAGMENT; e++) {                                                    \
        const int distance = COLUMN_OF(j) * B_COLUMN_STEP + ((p) + TERM_OF(e)) * B_INNER_STEP;                  \
        b_next_fragments[j][e] = piece[b_place + distance];                                                     \
    }
#endif
#define READ_FRAGMENTS(p)                                                                                       \
    _Pragma("unroll") for (int i = 0; i < MMAS_M; i++) { READ_A(i, p) }                                         \
    _Pragma("unroll") for (int j = 0; j < MMAS_N; j++) { READ_B(j, p) }

    // The oldest piece is here, everybody's.
    WAIT_FOR_COPIES(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    READ_FRAGMENTS(0)

    for (long rest = terms; rest > 0; rest -= TILE_K) {
#pragma unroll
        for (int p = 0; p < TILE_K; p += MMA_K) {
            real a_fragments[MMAS_M][REALS * PARTS * A_FRAGMENT];
            real b_fragments[MMAS_N][REALS * PARTS * B_FRAGMENT];
#pragma unroll
            for (int i = 0; i < MMAS_M; i++) {
#pragma unroll
                for (int e = 0; e < A_FRAGMENT; e++) {
                    take(&a_fragments[i][e], A_FRAGMENT, a_next_fragments[i][e], A_CONJUGATE);
                }
            }
#pragma unroll
            for (int j = 0; j < MMAS_N; j++) {
#pragma unroll
                for (int e = 0; e < B_FRAGMENT; e++) {
                    take(&b_fragments[j][e], B_FRAGMENT, b_next_fragments[j][e], B_CONJUGATE);
                }
            }

            const int next = p + MMA_K < TILE_K ? p + MMA_K : 0;
            if (next == 0) {
                // The next piece is here, everybody's; and everybody has read all of this one, whose place the next
                // copy takes. After the last piece, what is read here is not used.
                WAIT_FOR_COPIES(STAGES - 2);
                barrier(CLK_LOCAL_MEM_FENCE);
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                piece = ring + stage * (A_PIECE + B_PIECE);
            }
            if (!SPREAD) {
                READ_FRAGMENTS(next)
            }

            // Products of real parts, which have the numbers 0 to PARTS - 1, and of imaginary parts, the rest.
#define ADD_PRODUCTS(which, a_part, b_part)                                                                     \
    add_products(sum[i], which, a_fragments[i] + (a_part) * A_FRAGMENT, b_fragments, b_part, MMA_SCRATCH_OF_WARP, item);
#if PARTS == 2
#define ADD_ALL_PARTS(which, a_part, b_part)                                                                    \
    ADD_PRODUCTS(which, (a_part) + 1, b_part)                                                                   \
    ADD_PRODUCTS(which, a_part, (b_part) + 1)                                                                   \
    ADD_PRODUCTS(which, a_part, b_part)
#else
#define ADD_ALL_PARTS(which, a_part, b_part) ADD_PRODUCTS(which, a_part, b_part)
#endif
#pragma unroll
            for (int i = 0; i < MMAS_M; i++) {
                if (SPREAD) {
                    // Before each row of products its share of what the next step needs.
                    READ_A(i, next)
#pragma unroll
                    for (int j = 0; j < MMAS_N; j++) {
                        if (j * MMAS_M / MMAS_N == i) {
                            READ_B(j, next)
                        }
                    }
                }
                ADD_ALL_PARTS(0, 0, 0)
#if IS_COMPLEX
                ADD_ALL_PARTS(1, PARTS, 0)
                ADD_ALL_PARTS(1, 0, PARTS)
#pragma unroll
                for (int e = PARTS * A_FRAGMENT; e < 2 * PARTS * A_FRAGMENT; e++) {
                    a_fragments[i][e] = -a_fragments[i][e];
                }
                ADD_ALL_PARTS(0, PARTS, PARTS)
#endif
            }
            if (p == 0) {
                COPY_NEXT_PIECE
            }
        }
    }

    __global element *c_tile = C_OF_BATCH + row + column * c_leading;
#define ROW_OF_SUM(i, e) (warp_row + 16 * (i) + ROW_STEP * g + ROW_OF((e) / 2))
#define COLUMN_OF_SUM(j, e) (warp_column + COLUMN_OF(j) + ROW_STEP * (2 * t + (e) % 2))
#define IS_INSIDE(i, j, e)                                                                                      \
    (ROW_OF_SUM(i, e) < rows && COLUMN_OF_SUM(j, e) < columns &&                                                \
     IS_WANTED(row + ROW_OF_SUM(i, e), column + COLUMN_OF_SUM(j, e)))
#pragma unroll
    for (int i = 0; i < MMAS_M; i++) {
        element before[MMAS_N][4];
#pragma unroll
        for (int j = 0; j < MMAS_N; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const int reads = !is_zero(beta) && IS_INSIDE(i, j, e);
                before[j][e] = reads ? c_tile[ROW_OF_SUM(i, e) + COLUMN_OF_SUM(j, e) * c_leading] : (element)0;
            }
        }
#pragma unroll
        for (int j = 0; j < MMAS_N; j++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                if (IS_INSIDE(i, j, e)) {
                    const int tile_row = ROW_OF_SUM(i, e);
                    const int tile_column = COLUMN_OF_SUM(j, e);
#if IS_COMPLEX
                    const element result = (element)(sum[i][j][0][e], sum[i][j][1][e]);
#else
                    const element result = sum[i][j][0][e];
#endif
                    store_result(c_tile + tile_row + tile_column * c_leading, row + tile_row, column + tile_column, alpha,
                                 result, beta, before[j][e]);
                }
            }
        }
    }
}
