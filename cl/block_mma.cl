// The kernels of block.cl on the matrix units of NVIDIA GPUs, for fields in double: mma.sync of shape 8 x 8 x 4, two at a time.
//
// SOURCES      fields in a block
// LOCAL_SIZE   work-items of a group, a multiple of 32
// ALL_EXIST    1 if all work-items have numbers in each round
//
// A warp has sixteen numbers of every field at a time, in two halves of eight. With g = lane / 4 and t = lane % 4 fragments are, by the PTX manual ("Matrix
// Fragments for mma.m8n8k4" with .f64): of A (row g, column t), of B (row t, column g), of C (row g, columns 2t and 2t + 1).
//
// Fields are taken four at a time, a *quad*. A complex product is four real ones. Which row of C is called which is free, and so is the order of terms. Where a
// block is multiplied by a matrix (block_advance), rows are numbers of a field and columns are fields, real and imaginary part of one beside each other; the
// terms are the real parts of a quad and then its imaginary parts. So an item has the same number of the same field in A and in C, and nothing is exchanged.
//
// For a Gram matrix the terms are numbers. block_subtract makes what it takes the matrix of, and makes it transposed: rows are the real parts of a quad and then
// its imaginary parts; columns are numbers, in such an order that what an item has of C is what it needs of A and of B. For loads and stores two items
// exchange parts: one has the real parts of two numbers, the other their imaginary parts.
//
// Without INLINE_PTX the instructions are done by their definition, through local memory: slow, but it lets every device test the addressing.

#define WARPS (LOCAL_SIZE / 32)
#define QUADS ((SOURCES + 3) / 4)

// Numbers that an item has of all fields, one of each quad and half.
#define NUMBERS (2 * QUADS)

// Tiles of a Gram matrix, on and above its diagonal, row after row.
#define TILES (QUADS * (QUADS + 1) / 2)
#define TILE_AT(row, column) ((row) * QUADS - (row) * ((row) - 1) / 2 + (column) - (row))

#ifdef INLINE_PTX
#define UNROLLED _Pragma("unroll")
#else
// Some compilers take minutes where many barriers follow each other.
#define UNROLLED _Pragma("nounroll")
#endif
#define FOR_QUADS(quad) UNROLLED for (int quad = 0; quad < QUADS; ++quad)
#define FOR_NUMBERS(k) UNROLLED for (int k = 0; k < NUMBERS; ++k)
#define FOR_HALVES(first) UNROLLED for (int first = 0; first < NUMBERS; first += QUADS)

// For functions that are given a work-item's numbers, which have to stay in registers. None of them returns a structure, for which Oclgrind does not know what
// the inliner notes.
#define INLINE static inline __attribute__((always_inline))

// An operand is two fragments, for four terms and for four more; an item has a number of each. It comes from the items' registers, once they have been shown, or
// from local memory.
#ifdef INLINE_PTX

#define operand double2
#define SHOWN_LOCAL
#define SHOWN_PARAMETER
#define SHOWN
#define SHOW(z)
#define FROM_REGISTERS(z, k) (z)[k]
#define FROM_MEMORY(fragments) (fragments)[get_local_id(0) % 32]

// c += a b
INLINE void add_tile(double2 *c, operand a, operand b)
{
#define ADD_FRAGMENTS(terms)                                                                                    \
    __asm__("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"                     \
            : "+d"(c->x), "+d"(c->y)                                                                            \
            : "d"(a.terms), "d"(b.terms));
    ADD_FRAGMENTS(x)
    ADD_FRAGMENTS(y)
}

// What the item sixteen lanes from here gives.
INLINE double from_partner(const double given)
{
    const uint2 words = as_uint2(given);
    uint2 others;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, 16, 0x1f, 0xffffffff;" : "=r"(others.x) : "r"(words.x));
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, 16, 0x1f, 0xffffffff;" : "=r"(others.y) : "r"(words.y));
    return as_double(others);
}
#define FROM_PARTNER(mine, k) from_partner(second ? mine.x : mine.y)

#else

#define operand __local const double2 *
#define SHOWN_LOCAL __local double2 shown[NUMBERS * LOCAL_SIZE]
#define SHOWN_PARAMETER , __local double2 *shown
#define SHOWN , shown
#define SHOW(z)                                                                                                 \
    GROUP_BARRIER;                                                                                              \
    FOR_NUMBERS(k)                                                                                              \
        shown[k * LOCAL_SIZE + get_local_id(0)] = (z)[k];                                                       \
    GROUP_BARRIER;
#define FROM_REGISTERS(z, k) (shown + (k) * LOCAL_SIZE + get_local_id(0) / 32 * 32)
#define FROM_MEMORY(fragments) (fragments)

INLINE void add_tile(double2 *c, operand a, operand b)
{
    const int g = get_local_id(0) % 32 / 4, t = get_local_id(0) % 4;
    for (int term = 0; term < 4; ++term) {
        const double2 row = a[4 * g + term], left = b[8 * t + term], right = b[8 * t + 4 + term];
        c->x = fma(row.y, left.y, fma(row.x, left.x, c->x));
        c->y = fma(row.y, right.y, fma(row.x, right.x, c->y));
    }
}

INLINE double from_partner(__local const double2 *of_all, const int second)
{
    const double2 of_partner = of_all[get_local_id(0) ^ 16];
    return second ? of_partner.y : of_partner.x;
}
#define FROM_PARTNER(mine, k) from_partner(shown + (k) * LOCAL_SIZE, second)

#endif

// From whole numbers, of which those of the items in the second half of a warp come four later, to the real parts of both in the first half of it and their
// imaginary parts in the second; and back.
INLINE void exchange(double2 *z SHOWN_PARAMETER)
{
    const int second = get_local_id(0) / 16 % 2;
    SHOW(z)
    FOR_NUMBERS(k) {
        const double2 mine = z[k];
        const double part = FROM_PARTNER(mine, k);
        z[k] = second ? (double2)(part, mine.y) : (double2)(mine.x, part);
    }
}

// Where an item has its numbers, in the first and in the second half: in the first quad, and in which of its fields.
typedef struct {
    size_t start[2];
    uint exists[2];
    uint field;
} place;

INLINE uint count_numbers(const uint parities, const uint blocks) { return SPINOR_COMPONENTS * parities * blocks; }

// `number` is that in the first half.
static inline place place_of(const uint parities, const uint blocks, const uint number, const uint field)
{
    const uint of_parity = SPINOR_COMPONENTS * blocks;
    place at;
    at.field = field;
    UNROLLED
    for (int half_warp = 0; half_warp < 2; ++half_warp) {
        const uint mine = number + 8 * half_warp, parity = mine >= of_parity ? 1 : 0;
        at.start[half_warp] = ((size_t)field * parities + parity) * SPINOR_HALF_FIELD(blocks) + 2 * (size_t)(mine - parity * of_parity);
        at.exists[half_warp] = ALL_EXIST || mine < count_numbers(parities, blocks);
    }
    return at;
}

// Runs `body` for each number `k` that the item has in the place `at`, if it is there, with its `address` in a block.
#define FOR_THOSE_THERE(body)                                                                                   \
    FOR_NUMBERS(k) {                                                                                            \
        const size_t quad = (size_t)(k % QUADS * 4) * parities * SPINOR_HALF_FIELD(blocks);                     \
        const size_t address = quad + at.start[k / QUADS];                                                      \
        if (at.exists[k / QUADS] && (SOURCES % 4 == 0 || k % QUADS * 4 + at.field < SOURCES)) {                 \
            body                                                                                                \
        }                                                                                                       \
    }

// Those that are not there are zero.
INLINE void load_numbers(__global const stored *all, const uint parities, const uint blocks, const place at, double2 *z)
{
    FOR_NUMBERS(k)
        z[k] = (double2)(0.0, 0.0);
    FOR_THOSE_THERE(z[k] = as_double2(load_16(all + address, 0));)
}

INLINE void store_numbers(__global stored *all, const uint parities, const uint blocks, const place at, const double2 *z)
{
    FOR_THOSE_THERE(store_16(all + address, STREAM_OUTPUT, as_uint4(z[k]));)
}

// for (each round of the work-groups): a warp has sixteen numbers from `first` on.
#define FOR_EACH_ROUND                                                                                          \
    const uint lane = get_local_id(0) % 32, g = lane / 4, t = lane % 4;                                         \
    const uint per_group = 16 * WARPS, numbers = count_numbers(parities, blocks);                               \
    for (uint start = get_group_id(0) * per_group, first = start + get_local_id(0) / 32 * 16; start < numbers;  \
         start += get_num_groups(0) * per_group, first += get_num_groups(0) * per_group)

// What an item has of a Gram matrix: to be exchanged after loads, and before stores.
#define PLACE_OF_TERM place_of(parities, blocks, first + lane / 16 * 4 + t, g % 4)

// What a warp adds up.
#define GRAM_SUMS                                                                                               \
    __local double gram_memory[WARPS * TILES * 64];                                                             \
    double2 sums[TILES];                                                                                        \
    UNROLLED                                                                                                    \
    for (int tile = 0; tile < TILES; ++tile)                                                                    \
        sums[tile] = (double2)(0.0, 0.0)

// Adds the products of numbers that have been exchanged.
INLINE void add_gram(double2 *sums, const double2 *z SHOWN_PARAMETER)
{
    SHOW(z)
    FOR_HALVES(half_first) {
        FOR_QUADS(row) {
            FOR_QUADS(column) {
                if (column >= row)
                    add_tile(&sums[TILE_AT(row, column)], FROM_REGISTERS(z, half_first + row), FROM_REGISTERS(z, half_first + column));
            }
        }
    }
}

// The sums of a work-group to `partials`: [number of the tiles][work-group], where a tile has four rows and columns.
INLINE void publish(const double2 *sums, __local double *memory, __global double2 *partials)
{
    const uint item = get_local_id(0);
    UNROLLED
    for (int tile = 0; tile < TILES; ++tile) {
        memory[(item / 32 * TILES + tile) * 64 + item % 32 * 2] = sums[tile].x;
        memory[(item / 32 * TILES + tile) * 64 + item % 32 * 2 + 1] = sums[tile].y;
    }
    GROUP_BARRIER;
    for (uint number = item; number < TILES * 16; number += LOCAL_SIZE) {
        // (re + i im)* (re + i im), of which the parts are four rows or columns from each other.
        const uint row = number / 4 % 4, column = number % 4;
        double2 sum = (double2)(0.0, 0.0);
        for (int warp = 0; warp < WARPS; ++warp) {
            __local const double *tile = memory + (warp * TILES + number / 16) * 64;
            sum.x += tile[row * 8 + column] + tile[(row + 4) * 8 + column + 4];
            sum.y += tile[row * 8 + column + 4] - tile[(row + 4) * 8 + column];
        }
        partials[(size_t)number * get_num_groups(0) + get_group_id(0)] = sum;
    }
}

// x†x
__kernel void block_gram(const uint parities, const uint blocks, __global const stored *restrict x, __global double2 *restrict partials)
{
    SHOWN_LOCAL;
    GRAM_SUMS;
    FOR_EACH_ROUND {
        double2 z[NUMBERS];
        load_numbers(x, parities, blocks, PLACE_OF_TERM, z);
        exchange(z SHOWN);
        add_gram(sums, z SHOWN);
    }
    publish(sums, gram_memory, partials);
}

// Of a matrix, the number of which an item has a part in the fragments of a pair of quads; zero beyond its last row or column.
INLINE double2 matrix_number(__global const double2 *matrix, const uint i, const uint j)
{
    return SOURCES % 4 == 0 || (i < SOURCES && j < SOURCES) ? matrix[i * SOURCES + j] : (double2)(0.0, 0.0);
}

// Operands of a matrix: [quad][quad][item of a warp]
#define FRAGMENTS (QUADS * QUADS * 32)
#define FRAGMENT(fragments, i, j) FROM_MEMORY((fragments) + ((i) * QUADS + (j)) * 32)

// q = q - z D, and q†q of that
__kernel void block_subtract(const uint parities, const uint blocks, __global const double2 *restrict matrices, __global const stored *restrict z,
                             __global stored *restrict q, __global double2 *restrict partials)
{
    // -D, transposed.
    __local double2 factors[FRAGMENTS];
    SHOWN_LOCAL;
    GRAM_SUMS;
    for (uint at = get_local_id(0); at < FRAGMENTS; at += LOCAL_SIZE) {
        const uint item = at % 32, from = at / 32 % QUADS, to = at / (32 * QUADS);
        const double2 number = matrix_number(matrices, 4 * from + item % 4, 4 * to + item / 4 % 4);
        factors[at] = item < 16 ? (double2)(-number.x, number.y) : -number.yx;
    }
    GROUP_BARRIER;
    FOR_EACH_ROUND {
        const place at = PLACE_OF_TERM;
        double2 residual[NUMBERS], image[NUMBERS];
        load_numbers(q, parities, blocks, at, residual);
        // Columns 2t and 2t + 1 are the numbers t and t + 4.
        load_numbers(z, parities, blocks, place_of(parities, blocks, first + g % 2 * 4 + g / 2, t), image);
        exchange(residual SHOWN);
        SHOW(image)
        FOR_QUADS(from) {
            FOR_QUADS(to) {
                FOR_HALVES(half_first)
                    add_tile(&residual[half_first + to], FRAGMENT(factors, to, from), FROM_REGISTERS(image, half_first + from));
            }
        }
        add_gram(sums, residual SHOWN);
        exchange(residual SHOWN);
        store_numbers(q, parities, blocks, at, residual);
    }
    publish(sums, gram_memory, partials);
}

// sums + z M, of numbers that have been shown; `there` says which quads of M there are.
#define ADD_FIELDS(sums, z, matrix, there)                                                                      \
    FOR_QUADS(from) {                                                                                           \
        FOR_QUADS(to) {                                                                                         \
            if (there) {                                                                                        \
                FOR_HALVES(half_first)                                                                          \
                    add_tile(&sums[half_first + to], FROM_REGISTERS(z, half_first + from),                      \
                             FRAGMENT(fragments + (matrix) * FRAGMENTS, from, to));                             \
            }                                                                                                   \
        }                                                                                                       \
    }

// x = x + o D + p E; o = q T + p F; q = q T if it is to be overwritten. `o` may be the same as `p`: then there is no D. T is upper triangular and F lower
// triangular.
__kernel void block_advance(const uint parities, const uint blocks, const uint with_earlier, const uint with_step, const uint overwrite,
                            __global const double2 *restrict matrices, __global stored *restrict x, __global stored *restrict q,
                            __global stored *p, __global stored *o)
{
    __local double2 fragments[4 * FRAGMENTS];
    SHOWN_LOCAL;
    for (uint at = get_local_id(0); at < 4 * FRAGMENTS; at += LOCAL_SIZE) {
        const uint item = at % 32, to = at / 32 % QUADS, from = at / (32 * QUADS) % QUADS;
        const double2 number = matrix_number(matrices + at / FRAGMENTS * SOURCES * SOURCES, 4 * from + item % 4, 4 * to + item / 8);
        fragments[at] = item / 4 % 2 ? number.yx : (double2)(number.x, -number.y);
    }
    GROUP_BARRIER;
    FOR_EACH_ROUND {
        const place at = place_of(parities, blocks, first + g, t);
        double2 sums[NUMBERS], direction[NUMBERS], other[NUMBERS];
        load_numbers(p, parities, blocks, at, direction);
        if (with_earlier || with_step) {
            load_numbers(x, parities, blocks, at, sums);
            if (with_earlier) {
                load_numbers(o, parities, blocks, at, other);
                SHOW(other)
                ADD_FIELDS(sums, other, 0, true)
            }
            if (with_step) {
                SHOW(direction)
                ADD_FIELDS(sums, direction, 1, true)
            }
            store_numbers(x, parities, blocks, at, sums);
        }
        load_numbers(q, parities, blocks, at, other);
        FOR_NUMBERS(k)
            sums[k] = (double2)(0.0, 0.0);
        SHOW(other)
        ADD_FIELDS(sums, other, 2, from <= to)
        if (overwrite)
            store_numbers(q, parities, blocks, at, sums);
        SHOW(direction)
        ADD_FIELDS(sums, direction, 3, from >= to)
        store_numbers(o, parities, blocks, at, sums);
    }
}
