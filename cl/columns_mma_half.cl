// The kernels of columns.cl on the matrix units of NVIDIA GPUs, for fields in half precision: mma.sync of shapes 16 x 8 x 16 and 16 x 8 x 8 for bfloat16, sums in
// single. See quads.cl.
//
// LOCAL_SIZE   work-items of a group, a multiple of 96; ITEMS is the same
// ALL_EXIST    1 if all work-items have a site in each round
//
// A number is the sum of two in bfloat16, a high part and a low one, which are together as exact as what is stored. A product has three terms then, without that
// of the low parts, but for squares, which are in Gram matrices: there it always has the same sign.
//
// Three warps beside each other have the spinors of all fields at eight sites, each a vector of their components; what they store they agree on a unit for. An
// item has one field of each quad at one site. With g = lane / 4 and t = lane % 4, its site and its field, fragments are words of two numbers beside each other,
// by the PTX manual ("Matrix Fragments for mma.m16n8k16 with floating point type"): of A rows g and g + 8, columns 2t and 2t + 1, and then the same with columns
// eight later; of B column g, rows 2t and 2t + 1, and then eight later; of C, in single, rows g and g + 8, columns 2t and 2t + 1.
//
// Where fields are multiplied by a matrix, rows are two components of eight sites, and columns the real and imaginary parts of a quad: an item has the same
// fields in A and in C. For Gram matrices eight sites are the terms, and fragments are transposed.

#define VECTORS (SPINOR_COMPONENTS / PACK)
#define PAIRS (PACK / 2)

// The vector that an item's warp has, and of which eight sites of the group.
#define VECTOR (ITEM / 32 % VECTORS)
#define EIGHT_SITES (ITEM / (32 * VECTORS))

#define FOR_PAIRS(pair) UNROLLED for (int pair = 0; pair < PAIRS; ++pair)

#define FIELD(quad) (4 * (quad) + LANE % 4)
#define FIELD_EXISTS(quad) (COLUMNS % 4 == 0 || FIELD(quad) < COLUMNS)

#ifdef INLINE_PTX

#define SHOWN_LOCAL
#define SHOWN_PARAMETER
#define SHOWN

// The nearest in bfloat16: the first number in the lower half of the word.
INLINE uint to_bfloat16(const float2 z)
{
    uint word;
    __asm__("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(z.y), "f"(z.x));
    return word;
}

// c += a b
INLINE void add_tile(float4 *c, const uint4 a, const uint2 b)
{
    __asm__("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c->x), "+f"(c->y), "+f"(c->z), "+f"(c->w)
            : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
}

// The same with the first eight terms.
INLINE void add_half_tile(float4 *c, const uint2 a, const uint b)
{
    __asm__("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"
            : "+f"(c->x), "+f"(c->y), "+f"(c->z), "+f"(c->w)
            : "r"(a.x), "r"(a.y), "r"(b));
}

// Of rows g and columns 2t and 2t + 1 of eight by eight numbers, to columns g and rows 2t and 2t + 1.
INLINE uint transposed(const uint word)
{
    uint result;
    __asm__ volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(result) : "r"(word));
    return result;
}

#else

// A and B of every item.
#define SHOWN_LOCAL __local uint shown[6 * ITEMS]
#define SHOWN_PARAMETER , __local uint *shown
#define SHOWN , shown

// Half of a word.
#define HALF_WORD(word, half_word) ((word) >> 16 * (half_word) & 0xffff)

static inline uint nearest_bfloat16(const float x)
{
    const uint bits = as_uint(x);
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
}

INLINE uint to_bfloat16(const float2 z) { return nearest_bfloat16(z.x) | nearest_bfloat16(z.y) << 16; }

// Numbers of A and B, in row or column g, which an item has for all.
static inline float shown_number(__local const uint *shown, const int word, const int g, const int term)
{
    const uint words = shown[(word + term / 8) * ITEMS + ITEM / 32 * 32 + 4 * g + term % 8 / 2];
    return as_float(HALF_WORD(words, term % 2) << 16);
}

INLINE void add_tile(float4 *c, const uint4 a, const uint2 b SHOWN_PARAMETER)
{
    GROUP_BARRIER;
    const uint words[6] = {a.x, a.z, a.y, a.w, b.x, b.y};
    for (int word = 0; word < 6; ++word)
        shown[word * ITEMS + ITEM] = words[word];
    GROUP_BARRIER;
    const int g = LANE / 4, t = LANE % 4;
    for (int term = 0; term < 16; ++term) {
        const float upper = shown_number(shown, 0, g, term), lower = shown_number(shown, 2, g, term);
        const float left = shown_number(shown, 4, 2 * t, term), right = shown_number(shown, 4, 2 * t + 1, term);
        *c += (float4)(upper * left, upper * right, lower * left, lower * right);
    }
}

INLINE void add_half_tile(float4 *c, const uint2 a, const uint b SHOWN_PARAMETER)
{
    add_tile(c, (uint4)(a, (uint2)(0, 0)), (uint2)(b, 0) SHOWN);
}

INLINE uint transposed(const uint word SHOWN_PARAMETER)
{
    GROUP_BARRIER;
    shown[ITEM] = word;
    GROUP_BARRIER;
    const int g = LANE / 4, t = LANE % 4, row = ITEM / 32 * 32 + 8 * t + g / 2;
    return HALF_WORD(shown[row], g % 2) | HALF_WORD(shown[row + 4], g % 2) << 16;
}

#endif

// A number in its two parts.
INLINE uint2 in_parts(const float2 z)
{
    const uint high = to_bfloat16(z);
    const float2 rest = z - (float2)(as_float(high << 16), as_float(high & 0xffff0000u));
    return (uint2)(high, to_bfloat16(rest));
}

// Where an item has its spinors: that of the first quad, of a parity of its field.
typedef struct {
    size_t half_field;
    uint block;
    uint exists;
} place;

static inline place place_of(const uint parities, const uint blocks, const uint site)
{
    const uint parity = site >= blocks ? 1 : 0;
    place at;
    at.half_field = ((size_t)FIELD(0) * parities + parity) * SPINOR_HALF_FIELD(blocks);
    at.block = site - parity * blocks;
    at.exists = ALL_EXIST || site < parities * blocks;
    return at;
}

// Runs `body` for the spinor of each quad that the item has in the place `at`, if it is there, with the numbers `before` its parity of the columns.
#define FOR_THOSE_THERE(body)                                                                                   \
    FOR_QUADS(quad) {                                                                                           \
        const size_t before = (size_t)(4 * quad) * parities * SPINOR_HALF_FIELD(blocks) + at.half_field;        \
        if (at.exists && FIELD_EXISTS(quad)) {                                                                  \
            body                                                                                                \
        }                                                                                                       \
    }

#define VECTOR_AT(all) VECTOR_OF((all) + before, SPINOR_COMPONENTS, PACK *VECTOR, PACK, blocks, at.block)

// Vectors as they are stored: words of real and imaginary part, and units.
typedef struct {
    uint words[QUADS][PACK];
    float units[QUADS];
} stored_vectors;

// Those that are not there are zero.
INLINE void load_vectors(__global const stored *all, const uint parities, const uint blocks, const place at, stored_vectors *z)
{
    FOR_QUADS(quad) {
        z->units[quad] = 0;
        UNROLLED
        for (int c = 0; c < PACK; ++c)
            z->words[quad][c] = 0;
    }
    FOR_THOSE_THERE({
        vstore4(load_16(VECTOR_AT(all), 0), 0, z->words[quad]);
        z->units[quad] = load_unit(all + before, blocks, at.block);
    })
}

// Two components.
INLINE float4 numbers_of(const stored_vectors *z, const int quad, const int pair)
{
    const vcomplex first = unpack(z->words[quad][2 * pair], 1), second = unpack(z->words[quad][2 * pair + 1], 1);
    return ((float4)(first.re, first.im, second.re, second.im) - RAISED) * z->units[quad];
}

INLINE void to_numbers(const stored_vectors *z, float4 (*numbers)[QUADS])
{
    FOR_PAIRS(pair) {
        FOR_QUADS(quad)
            numbers[pair][quad] = numbers_of(z, quad, pair);
    }
}

// Where the warps with a site agree: two in turn, so that one barrier is enough.
#define AGREEMENT_LOCAL                                                                                         \
    __local float agreement[2 * QUADS * ITEMS];                                                                 \
    uint turn = 0
#define AGREEMENT , agreement + (turn ^= 1) * QUADS * ITEMS

// To be called by all work-items of a group.
INLINE void store_numbers(__global stored *all, const uint parities, const uint blocks, const place at, float4 (*numbers)[QUADS],
                          __local float *agreement)
{
    FOR_QUADS(quad) {
        float4 largest = fabs(numbers[0][quad]);
        UNROLLED
        for (int pair = 1; pair < PAIRS; ++pair)
            largest = fmax(largest, fabs(numbers[pair][quad]));
        largest.xy = fmax(largest.xy, largest.zw);
        agreement[quad * ITEMS + ITEM] = fmax(largest.x, largest.y);
    }
    // Also after every item has loaded the units that are overwritten now.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    FOR_THOSE_THERE({
        __local const float *of_site = agreement + quad * ITEMS + EIGHT_SITES * 32 * VECTORS + LANE;
        float largest = of_site[0];
        UNROLLED
        for (int vector = 1; vector < VECTORS; ++vector)
            largest = fmax(largest, of_site[32 * vector]);
        const float unit = unit_of(largest);
        const float inverse = inverse_of(unit);
        vcomplex raised[PACK];
        FOR_PAIRS(pair) {
            vcomplex z;
            COMPLEX(z, numbers[pair][quad].x, numbers[pair][quad].y)
            raised[2 * pair] = in_unit(z, inverse);
            COMPLEX(z, numbers[pair][quad].z, numbers[pair][quad].w)
            raised[2 * pair + 1] = in_unit(z, inverse);
        }
        if (VECTOR == 0)
            ((__global float *)UNITS(all + before, blocks))[at.block] = unit;
        store_vector(VECTOR_AT(all), PACK, raised);
    })
}

// Operands of a matrix, high and low parts, multiplied by a sign; to be followed by a barrier.
INLINE void spread_matrix(__global const double2 *matrix, const float sign, __local uint2 *fragments)
{
    for (uint at = ITEM; at < FRAGMENTS; at += ITEMS) {
        const uint item = at % 32, to = at / 32 % QUADS, from = at / (32 * QUADS);
        const double2 number = matrix_number(matrix, 4 * from + item % 4, 4 * to + item / 8);
        const float re = sign * (float)number.x, im = sign * (float)number.y;
        fragments[at] = in_parts(item / 4 % 2 ? (float2)(im, re) : (float2)(re, -im));
    }
}

// sums + z M, with the quads of columns of M from `begin` to `end` for those of rows `from`.
#define ADD_FIELDS(sums, z, fragments, begin, end)                                                              \
    FOR_QUADS(from) {                                                                                           \
        FOR_PAIRS(pair) {                                                                                       \
            const float4 numbers = numbers_of(z, from, pair);                                                   \
            const uint2 first = in_parts(numbers.xy), second = in_parts(numbers.zw);                            \
            UNROLLED                                                                                            \
            for (int to = begin; to < end; ++to) {                                                              \
                const uint2 m = (fragments)[(from * QUADS + to) * 32 + LANE];                                   \
                add_tile(&sums[pair][to], (uint4)(first.x, second.x, first.y, second.y), m.xx SHOWN);           \
                add_half_tile(&sums[pair][to], (uint2)(first.x, second.x), m.y SHOWN);                          \
            }                                                                                                   \
        }                                                                                                       \
    }

// Products for a Gram matrix have the rows of two quads.
#define ROW_PAIRS ((QUADS + 1) / 2)
#define GRAM_PRODUCTS (ROW_PAIRS * QUADS)

// What a warp adds up.
#define GRAM_SUMS                                                                                               \
    float4 sums[GRAM_PRODUCTS];                                                                                 \
    UNROLLED                                                                                                    \
    for (int product = 0; product < GRAM_PRODUCTS; ++product)                                                   \
        sums[product] = (float4)(0.0f, 0.0f, 0.0f, 0.0f)

// Adds the products of numbers, on and above the diagonal.
INLINE void add_gram(float4 *sums, float4 (*numbers)[QUADS] SHOWN_PARAMETER)
{
    FOR_PAIRS(pair) {
        // High and low parts of two components; rows of a quad that there is not are zero.
        uint2 high[2 * ROW_PAIRS], low[2 * ROW_PAIRS];
        high[2 * ROW_PAIRS - 1] = low[2 * ROW_PAIRS - 1] = (uint2)(0, 0);
        FOR_QUADS(quad) {
            const uint2 first = in_parts(numbers[pair][quad].xy), second = in_parts(numbers[pair][quad].zw);
            high[quad].x = transposed(first.x SHOWN);
            low[quad].x = transposed(first.y SHOWN);
            high[quad].y = transposed(second.x SHOWN);
            low[quad].y = transposed(second.y SHOWN);
        }
        UNROLLED
        for (int row = 0; row < QUADS; row += 2) {
            const uint4 high_rows = (uint4)(high[row].x, high[row + 1].x, high[row].y, high[row + 1].y);
            const uint4 low_rows = (uint4)(low[row].x, low[row + 1].x, low[row].y, low[row + 1].y);
            UNROLLED
            for (int column = row; column < QUADS; ++column) {
                // Matrix units do not round sums, they cut them off: few at a time.
                float4 sum = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
                add_tile(&sum, high_rows, low[column] SHOWN);
                add_tile(&sum, low_rows, high[column] SHOWN);
                add_tile(&sum, high_rows, high[column] SHOWN);
                add_tile(&sum, low_rows, low[column] SHOWN);
                sums[row / 2 * QUADS + column] += sum;
            }
        }
    }
}

// The numbers of local memory in which a work-group adds up its sums.
#define GRAM_NUMBERS (WARPS * TILES * 64)

// The sums of a work-group to `partials`: see publish_sums_of_warps. `memory` has GRAM_NUMBERS numbers.
INLINE void publish(const float4 *sums, __local double *memory, __global double2 *partials)
{
    const int part = LANE / 4 % 2, row_field = LANE / 8, column_field = LANE % 4;
    FOR_QUADS(row) {
        FOR_QUADS(column) {
            if (column >= row) {
                const float4 of_two = sums[row / 2 * QUADS + column];
                const float2 sum = row % 2 ? of_two.zw : of_two.xy;
                __local double *tile = memory + (ITEM / 32 * TILES + TILE_AT(row, column)) * 64 + (row_field + 4 * part) * 8;
                tile[column_field] = sum.x;
                tile[column_field + 4] = sum.y;
            }
        }
    }
    publish_sums_of_warps(memory, partials);
}

// for (each round of the work-groups): a group has so many sites from `first` on.
#define SITES_OF_GROUP (8 * WARPS / VECTORS)
#define FOR_EACH_ROUND                                                                                          \
    for (uint first = get_group_id(0) * SITES_OF_GROUP; first < parities * blocks; first += get_num_groups(0) * SITES_OF_GROUP)

#define PLACE place_of(parities, blocks, first + 8 * EIGHT_SITES + LANE / 4)

// x†x
__kernel void columns_gram(const uint parities, const uint blocks, __global const stored *restrict x, __global double2 *restrict partials)
{
    SHOWN_LOCAL;
    __local double gram_memory[GRAM_NUMBERS];
    GRAM_SUMS;
    FOR_EACH_ROUND {
        stored_vectors z;
        float4 numbers[PAIRS][QUADS];
        load_vectors(x, parities, blocks, PLACE, &z);
        to_numbers(&z, numbers);
        add_gram(sums, numbers SHOWN);
    }
    publish(sums, gram_memory, partials);
}

// q = q - z D, and q†q of that
__kernel void columns_subtract(const uint parities, const uint blocks, __global const double2 *restrict matrices, __global const stored *restrict z,
                             __global stored *restrict q, __global double2 *restrict partials)
{
    SHOWN_LOCAL;
    AGREEMENT_LOCAL;
    __local uint2 factors[FRAGMENTS];
    __local double gram_memory[GRAM_NUMBERS];
    GRAM_SUMS;
    spread_matrix(matrices, -1.0f, factors);
    GROUP_BARRIER;
    FOR_EACH_ROUND {
        const place at = PLACE;
        stored_vectors minuend, image;
        float4 residual[PAIRS][QUADS];
        load_vectors(q, parities, blocks, at, &minuend);
        load_vectors(z, parities, blocks, at, &image);
        to_numbers(&minuend, residual);
        ADD_FIELDS(residual, &image, factors, 0, QUADS)
        store_numbers(q, parities, blocks, at, residual AGREEMENT);
        add_gram(sums, residual SHOWN);
    }
    publish(sums, gram_memory, partials);
}

// One step of block Conjugate Gradient: x = x + o D + p E, then o = q T + p F. If the number behind the matrices says so, q = q T too.
// `o` may be the same as `p`: then there is no D. T is upper triangular and F lower triangular.
__kernel void columns_advance(const uint parities, const uint blocks, const uint with_earlier, const uint with_step,
                            __global const double2 *restrict matrices, __global stored *restrict x, __global stored *restrict q,
                            __global stored *p, __global stored *o)
{
    const uint overwrite = matrices[4 * COLUMNS * COLUMNS].x != 0.0;
    SHOWN_LOCAL;
    AGREEMENT_LOCAL;
    __local uint2 fragments[4 * FRAGMENTS];
    for (int matrix = 0; matrix < 4; ++matrix)
        spread_matrix(matrices + matrix * COLUMNS * COLUMNS, 1.0f, fragments + matrix * FRAGMENTS);
    GROUP_BARRIER;
    FOR_EACH_ROUND {
        const place at = PLACE;
        stored_vectors direction, other;
        float4 sums[PAIRS][QUADS];
        load_vectors(p, parities, blocks, at, &direction);
        if (with_earlier || with_step) {
            load_vectors(x, parities, blocks, at, &other);
            to_numbers(&other, sums);
            if (with_earlier) {
                load_vectors(o, parities, blocks, at, &other);
                ADD_FIELDS(sums, &other, fragments, 0, QUADS)
            }
            if (with_step) {
                ADD_FIELDS(sums, &direction, fragments + FRAGMENTS, 0, QUADS)
            }
            store_numbers(x, parities, blocks, at, sums AGREEMENT);
        }
        load_vectors(q, parities, blocks, at, &other);
        FOR_PAIRS(pair) {
            FOR_QUADS(quad)
                sums[pair][quad] = (float4)(0.0f, 0.0f, 0.0f, 0.0f);
        }
        ADD_FIELDS(sums, &other, fragments + 2 * FRAGMENTS, from, QUADS)
        if (overwrite)
            store_numbers(q, parities, blocks, at, sums AGREEMENT);
        ADD_FIELDS(sums, &direction, fragments + 3 * FRAGMENTS, 0, from + 1)
        store_numbers(o, parities, blocks, at, sums AGREEMENT);
    }
}
