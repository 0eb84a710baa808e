// The product of 16-bit matrices on the matrix units of NVIDIA GPUs: mma.sync of shape 16 x 8 x 16 with sums in single.
//
// The host brings every product to one form, see gemm.cl: C is column-major. A work-group computes a TILE_M x TILE_N tile
// of C, each warp WARP_M x WARP_N of it. Pieces of the factors, TILE_K deep, are copied asynchronously into a ring of
// STAGES places in local memory. The fragments of a step of 16 terms are read while those of the step before are
// multiplied, also across the barrier.
//
// Local memory keeps the order of global memory. Its lines are PAD numbers longer than what they hold: the eight lines that
// ldmatrix reads together then lie in different banks. If terms are not neighbours in a line, ldmatrix transposes.
//
// Fragments, by the PTX manual ("Matrix Fragments for mma.m16n8k16"), with g = lane / 4 and t = lane % 4. Register r of A
// has row g + 8 (r % 2) and terms 2t + 8 (r / 2), and the next. Register r of B has column g and terms 2t + 8r, and the
// next. Sum 2h + e of C has row g + 8h and column 2t + e.
//
// Without INLINE_PTX the instructions are done by their definition: slow, but it lets every device test the addressing.
//
// SPREAD: 1 if the fragments of the next step are read between the rows of products, 0 if before all of them.
//
// A_TRANSPOSED, B_TRANSPOSED: see gemm.cl. BAND: see bands.cl. BFLOAT, RESULT: see half.cl.

#define WARPS_M (TILE_M / WARP_M)
#define WARPS_N (TILE_N / WARP_N)
#define WORK_ITEMS (32 * WARPS_M * WARPS_N)
#define MMAS_M (WARP_M / 16)
#define MMAS_N (WARP_N / 8)
#define STEPS (TILE_K / 16)
#define COPY 8
#define PAD 8

// Terms are neighbours in a line of A if it is transposed, and in a line of B if it is not.
#define A_LENGTH (A_TRANSPOSED ? TILE_K : TILE_M)
#define A_LINES (A_TRANSPOSED ? TILE_M : TILE_K)
#define B_LENGTH (B_TRANSPOSED ? TILE_N : TILE_K)
#define B_LINES (B_TRANSPOSED ? TILE_K : TILE_N)
#define A_PITCH (A_LENGTH + PAD)
#define B_PITCH (B_LENGTH + PAD)
#define A_PIECE (A_LINES * A_PITCH)
#define B_PIECE (B_LINES * B_PITCH)

#ifdef INLINE_PTX

#define UNROLL _Pragma("unroll")

// Starts to copy `bytes` of 16 bytes; the rest is set to zero.
#define COPY_SEVERAL(to, from, bytes)                                                                           \
    __asm__ volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(local_address(to)),         \
                     "l"((ulong)(from)), "r"(bytes)                                                             \
                     : "memory")

#else

// There are barriers in the loops, and a compiler that follows each of them by itself would take minutes.
#define UNROLL

#define COPY_SEVERAL(to, from, bytes)                                                                           \
    for (int e = 0; e < COPY; e++) {                                                                            \
        (to)[e] = 2 * e < (bytes) ? (from)[e] : (ushort)0;                                                      \
    }

#endif

// Starts to copy a piece of `lines` lines of `length` numbers, of which those up to lines_left and length_left exist.
// Tiles at the edge come here, and factors that are not aligned: loops that are not unrolled leave the registers to the
// others.
static inline void copy_piece(__local ushort *to, __global const ushort *from, ulong leading, long lines_left,
                              long length_left, int lines, int length, int aligned, int item) {
    const int pitch = length + PAD;
    if (aligned) {
#pragma unroll 1
        for (int q = 0; q < lines * length / COPY / WORK_ITEMS; q++) {
            const int number = q * WORK_ITEMS + item;
            const int line = number / (length / COPY);
            const int start = number % (length / COPY) * COPY;
            const long rest = line < lines_left ? min(max(length_left - start, 0L), (long)COPY) : 0;
            __global const ushort *source = rest > 0 ? from + line * leading + start : from;
            COPY_SEVERAL(to + line * pitch + start, source, (uint)rest * 2);
        }
    } else {
#pragma unroll 1
        for (int q = 0; q < lines * length / WORK_ITEMS; q++) {
            const int number = q * WORK_ITEMS + item;
            const int line = number / length;
            const int start = number % length;
            const int exists = line < lines_left && start < length_left;
            to[line * pitch + start] = exists ? from[line * leading + start] : (ushort)0;
        }
    }
}

// The same for a piece that is there as a whole and aligned: a work-item copies at one place of every so many lines,
// `from` and `to` are at its first one.
static inline void copy_whole(__local ushort *to, __global const ushort *from, ulong leading, int lines, int length) {
    const int distance = WORK_ITEMS / (length / COPY);
#pragma unroll
    for (int q = 0; q < lines / distance; q++) {
        COPY_SEVERAL(to + q * distance * (length + PAD), from, (uint)(2 * COPY));
        from += distance * leading;
    }
}

// The place of a lane's first of eight numbers of 16 x 16: rows of A or columns of B from `first`, terms from p.
#define A_PLACE(l, first, p)                                                                                    \
    (A_TRANSPOSED ? ((first) + (l) % 8 + (l) / 8 % 2 * 8) * A_PITCH + (p) + (l) / 16 * 8                        \
                  : ((p) + (l) % 8 + (l) / 16 * 8) * A_PITCH + (first) + (l) / 8 % 2 * 8)
#define B_PLACE(l, first, p)                                                                                    \
    (B_TRANSPOSED ? ((p) + (l) % 8 + (l) / 8 % 2 * 8) * B_PITCH + (first) + (l) / 16 * 8                        \
                  : ((first) + (l) % 8 + (l) / 16 * 8) * B_PITCH + (p) + (l) / 8 % 2 * 8)

#ifdef INLINE_PTX

#define LOAD_TEXT(MODE) "ldmatrix.sync.aligned.m8n8.x4" MODE ".shared.b16 {%0,%1,%2,%3}, [%4];"
#define LOAD(r, base, PLACE, first, p, transposes)                                                              \
    if (transposes) {                                                                                           \
        __asm__ volatile(LOAD_TEXT(".trans")                                                                    \
                         : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                               \
                         : "r"(local_address((base) + PLACE(lane, first, p))));                                 \
    } else {                                                                                                    \
        __asm__ volatile(LOAD_TEXT("")                                                                          \
                         : "=r"((r)[0]), "=r"((r)[1]), "=r"((r)[2]), "=r"((r)[3])                               \
                         : "r"(local_address((base) + PLACE(lane, first, p))));                                 \
    }

#if BFLOAT
#define MMA_TYPES "f32.bf16.bf16.f32"
#else
#define MMA_TYPES "f32.f16.f16.f32"
#endif

// sum += a b for one fragment.
static inline void mma(float *c, const uint *a, const uint *b, __local ushort *unused, int lane) {
    __asm__("mma.sync.aligned.m16n8k16.row.col." MMA_TYPES
            " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

#define MMA_SCRATCH
#define MMA_SCRATCH_OF_WARP 0

#else

#define LOAD(r, base, PLACE, first, p, transposes)                                                              \
    for (int q = 0; q < 4; q++) {                                                                               \
        const int t = lane % 4 * 2;                                                                             \
        const int g = lane / 4;                                                                                 \
        const ushort low = transposes ? (base)[PLACE(8 * q + t, first, p) + g] : (base)[PLACE(8 * q + g, first, p) + t]; \
        const ushort high = transposes ? (base)[PLACE(8 * q + t + 1, first, p) + g]                             \
                                       : (base)[PLACE(8 * q + g, first, p) + t + 1];                            \
        (r)[q] = (uint)high << 16 | low;                                                                        \
    }

// The same by its definition: the lanes of a warp show each other their fragments.
#define MMA_SCRATCH __local ushort mma_scratch[WARPS_M * WARPS_N * 24 * 16];
#define MMA_SCRATCH_OF_WARP (mma_scratch + item / 32 * 24 * 16)

static inline float of_local(ushort x) {
    // binary16 by hand: there is no vload_half for a value.
    if (BFLOAT) {
        return as_float((uint)x << 16);
    }
    const int exponent = x >> 10 & 31;
    const float fraction = (float)(x & 1023);
    const float size = exponent == 0    ? ldexp(fraction, -24)
                       : exponent == 31 ? (fraction == 0.0f ? INFINITY : NAN)
                                        : ldexp(1024.0f + fraction, exponent - 25);
    return x >> 15 ? -size : size;
}

static inline void mma(float *c, const uint *a, const uint *b, __local ushort *scratch, int lane) {
    const int g = lane / 4;
    const int t = lane % 4 * 2;
    __local ushort *a_all = scratch;
    __local ushort *b_all = scratch + 16 * 16;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int r = 0; r < 4; r++) {
        for (int e = 0; e < 2; e++) {
            a_all[(g + r % 2 * 8) * 16 + t + r / 2 * 8 + e] = (ushort)(a[r] >> 16 * e);
            if (r < 2) {
                b_all[(t + 8 * r + e) * 8 + g] = (ushort)(b[r] >> 16 * e);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int p = 0; p < 16; p++) {
        for (int h = 0; h < 2; h++) {
            for (int e = 0; e < 2; e++) {
                c[2 * h + e] =
                    fma(of_local(a_all[(g + 8 * h) * 16 + p]), of_local(b_all[p * 8 + t + e]), c[2 * h + e]);
            }
        }
    }
}

#endif

__kernel __attribute__((reqd_work_group_size(WORK_ITEMS, 1, 1))) void gemm_half_mma(
    ulong m, ulong n, ulong k, float alpha, __global const ushort *a, ulong a_offset, ulong a_leading, ulong a_stride,
    __global const ushort *b, ulong b_offset, ulong b_leading, ulong b_stride, float beta, __global result *c,
    ulong c_offset, ulong c_leading, ulong c_stride) {
    __local ushort ring[STAGES * (A_PIECE + B_PIECE)] __attribute__((aligned(16)));
    MMA_SCRATCH

    const int item = get_local_id(0);
    const int lane = item % 32;
    const int warp_row = item / 32 % WARPS_M * WARP_M;
    const int warp_column = item / 32 / WARPS_M * WARP_N;

    const ulong2 tile = tile_of_group(get_group_id(0), (m + TILE_M - 1) / TILE_M, (n + TILE_N - 1) / TILE_N);
    const ulong row = tile.s0 * TILE_M;
    const ulong column = tile.s1 * TILE_N;
    const long rows = m - row;
    const long columns = n - column;

    __global const ushort *a_next = a + a_offset + get_group_id(2) * a_stride + row * (A_TRANSPOSED ? a_leading : 1);
    __global const ushort *b_next = b + b_offset + get_group_id(2) * b_stride + column * (B_TRANSPOSED ? 1 : b_leading);
    const ulong a_step = TILE_K * (A_TRANSPOSED ? 1 : a_leading);
    const ulong b_step = TILE_K * (B_TRANSPOSED ? b_leading : 1);
    const int a_aligned = (a_offset | a_leading | a_stride) % COPY == 0;
    const int b_aligned = (b_offset | b_leading | b_stride) % COPY == 0;

    // The places that this work-item copies, if pieces are whole.
    const int a_line = item / (A_LENGTH / COPY);
    const int a_start = item % (A_LENGTH / COPY) * COPY;
    const int b_line = item / (B_LENGTH / COPY);
    const int b_start = item % (B_LENGTH / COPY) * COPY;
    const int whole = a_aligned && b_aligned && rows >= TILE_M && columns >= TILE_N;

    float sum[MMAS_M][MMAS_N][4];
UNROLL
    for (int i = 0; i < MMAS_M; i++) {
UNROLL
        for (int j = 0; j < MMAS_N; j++) {
UNROLL
            for (int e = 0; e < 4; e++) {
                sum[i][j][e] = 0.0f;
            }
        }
    }

    long to_copy = k;
    int copy_stage = 0;
#define COPY_NEXT_PIECE                                                                                         \
    {                                                                                                           \
        __local ushort *place = ring + copy_stage * (A_PIECE + B_PIECE);                                        \
        if (whole && to_copy >= TILE_K) {                                                                       \
            copy_whole(place + a_line * A_PITCH + a_start, a_next + a_line * a_leading + a_start, a_leading,    \
                       A_LINES, A_LENGTH);                                                                      \
            copy_whole(place + A_PIECE + b_line * B_PITCH + b_start, b_next + b_line * b_leading + b_start,     \
                       b_leading, B_LINES, B_LENGTH);                                                           \
        } else if (to_copy > 0) {                                                                               \
            copy_piece(place, a_next, a_leading, A_TRANSPOSED ? rows : to_copy, A_TRANSPOSED ? to_copy : rows,  \
                       A_LINES, A_LENGTH, a_aligned, item);                                                     \
            copy_piece(place + A_PIECE, b_next, b_leading, B_TRANSPOSED ? to_copy : columns,                    \
                       B_TRANSPOSED ? columns : to_copy, B_LINES, B_LENGTH, b_aligned, item);                   \
        }                                                                                                       \
        a_next += a_step;                                                                                       \
        b_next += b_step;                                                                                       \
        to_copy -= TILE_K;                                                                                      \
        CLOSE_COPIES;                                                                                           \
        copy_stage = copy_stage + 1 == STAGES ? 0 : copy_stage + 1;                                             \
    }

#pragma unroll 1
    for (int stage = 0; stage < STAGES - 1; stage++) {
        COPY_NEXT_PIECE
    }

    uint a_fragments[2][MMAS_M][4];
    uint b_fragments[2][MMAS_N / 2][4];
    __local const ushort *piece = ring;
    int stage = 0;
#define READ_A(which, i, p) LOAD(a_fragments[which][i], piece, A_PLACE, warp_row + 16 * (i), p, !A_TRANSPOSED)
#define READ_B(which, j, p)                                                                                     \
    LOAD(b_fragments[which][j], piece + A_PIECE, B_PLACE, warp_column + 16 * (j), p, B_TRANSPOSED)
#define READ_FRAGMENTS(which, p)                                                                                \
    UNROLL for (int i = 0; i < MMAS_M; i++) { READ_A(which, i, p) }                                             \
    UNROLL for (int j = 0; j < MMAS_N / 2; j++) { READ_B(which, j, p) }

    // The oldest piece is here, everybody's.
    WAIT_FOR_COPIES(STAGES - 2);
    barrier(CLK_LOCAL_MEM_FENCE);
    READ_FRAGMENTS(0, 0)

    for (long rest = k; rest > 0; rest -= TILE_K) {
UNROLL
        for (int step = 0; step < STEPS; step++) {
            const int next = (step + 1) % STEPS;
            if (next == 0) {
                // The next piece is here, everybody's; and everybody has read all of this one, whose place the copy
                // after the next takes. After the last piece, what is read here is not used.
                WAIT_FOR_COPIES(STAGES - 2);
                barrier(CLK_LOCAL_MEM_FENCE);
                stage = stage + 1 == STAGES ? 0 : stage + 1;
                piece = ring + stage * (A_PIECE + B_PIECE);
            }
            if (!SPREAD) {
                READ_FRAGMENTS((step + 1) % 2, 16 * next)
            }
            if (step == 0) {
                COPY_NEXT_PIECE
            }
UNROLL
            for (int i = 0; i < MMAS_M; i++) {
                if (SPREAD) {
                    // Before each row of products its share of what the next step needs.
                    READ_A((step + 1) % 2, i, 16 * next)
UNROLL
                    for (int j = 0; j < MMAS_N / 2; j++) {
                        if (j * MMAS_M / (MMAS_N / 2) == i) {
                            READ_B((step + 1) % 2, j, 16 * next)
                        }
                    }
                }
UNROLL
                for (int j = 0; j < MMAS_N; j++) {
                    mma(sum[i][j], a_fragments[step % 2][i], b_fragments[step % 2][j / 2] + j % 2 * 2,
                        MMA_SCRATCH_OF_WARP, lane);
                }
            }
        }
    }

    const int g = lane / 4;
    const int t = lane % 4 * 2;
    __global result *c_tile = c + c_offset + get_group_id(2) * c_stride + row + column * c_leading;
UNROLL
    for (int i = 0; i < MMAS_M; i++) {
UNROLL
        for (int j = 0; j < MMAS_N; j++) {
UNROLL
            for (int e = 0; e < 4; e++) {
                const int tile_row = warp_row + 16 * i + g + e / 2 * 8;
                const int tile_column = warp_column + 8 * j + t + e % 2;
                if (tile_row < rows && tile_column < columns) {
                    update_result(c_tile + tile_row + tile_column * c_leading, alpha, sum[i][j][e], beta);
                }
            }
        }
    }
}
