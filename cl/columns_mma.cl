// The kernels of columns.cl on the matrix units of NVIDIA GPUs, for fields in double; see fragments.cl.
//
// COLUMNS      how many fields
// LOCAL_SIZE   work-items of a group, a multiple of 32; ITEMS is the same
// ALL_EXIST    1 if all work-items have numbers in each round
//
// Where columns are multiplied by a matrix in columns_advance, rows are numbers of a field and columns are fields, real and imaginary part of one beside each other;
// the terms are the real parts of a quad and then its imaginary parts. So an item has the same number of the same field in A and in C, and nothing is exchanged.

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

// Runs `body` for each number `k` that the item has in the place `at`, if it is there, with its `address` in the columns.
#define FOR_THOSE_THERE(body)                                                                                   \
    FOR_NUMBERS(k) {                                                                                            \
        const size_t quad = (size_t)(k % QUADS * 4) * parities * SPINOR_HALF_FIELD(blocks);                     \
        const size_t address = quad + at.start[k / QUADS];                                                      \
        if (at.exists[k / QUADS] && FIELD_EXISTS(k, at.field)) {                                                \
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
    const uint per_group = 16 * WARPS, numbers = count_numbers(parities, blocks);                               \
    for (uint start = get_group_id(0) * per_group, first = start + ITEM / 32 * 16; start < numbers;                        \
         start += get_num_groups(0) * per_group, first += get_num_groups(0) * per_group)

#define PLACE_OF_TERM place_of(parities, blocks, first + NUMBER_OF_TERM, FIELD_OF_TERM)

// x†x
__kernel void columns_gram(const uint parities, const uint blocks, __global const stored *restrict x, __global double2 *restrict partials)
{
    SHOWN_LOCAL;
    __local double2 gram_memory[GRAM_NUMBERS];
    GRAM_SUMS;
    FOR_EACH_ROUND {
        double2 z[NUMBERS];
        load_numbers(x, parities, blocks, PLACE_OF_TERM, z);
        exchange(z SHOWN);
        add_gram(sums, z SHOWN);
    }
    publish(sums, gram_memory, partials);
}

// q = q - z D, and q†q of that
__kernel void columns_subtract(const uint parities, const uint blocks, __global const double2 *restrict matrices, __global const stored *restrict z,
                             __global stored *restrict q, __global double2 *restrict partials)
{
    __local double2 factors[FRAGMENTS];
    SHOWN_LOCAL;
    __local double2 gram_memory[GRAM_NUMBERS];
    GRAM_SUMS;
    spread_factors(matrices, factors);
    GROUP_BARRIER;
    FOR_EACH_ROUND {
        const place at = PLACE_OF_TERM;
        double2 residual[NUMBERS], image[NUMBERS];
        load_numbers(q, parities, blocks, at, residual);
        load_numbers(z, parities, blocks, place_of(parities, blocks, first + NUMBER_OF_FACTOR, FIELD_OF_FACTOR), image);
        exchange(residual SHOWN);
        subtract_fields(residual, image, factors SHOWN);
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

// One step of block Conjugate Gradient: x = x + o D + p E, then o = q T + p F. If the number behind the matrices says so, q = q T too.
// `o` may be the same as `p`: then there is no D. T is upper triangular and F lower triangular.
__kernel void columns_advance(const uint parities, const uint blocks, const uint with_earlier, const uint with_step,
                            __global const double2 *restrict matrices, __global stored *restrict x, __global stored *restrict q,
                            __global stored *p, __global stored *o)
{
    const uint overwrite = matrices[4 * COLUMNS * COLUMNS].x != 0.0;
    __local double2 fragments[4 * FRAGMENTS];
    SHOWN_LOCAL;
    for (uint at = ITEM; at < 4 * FRAGMENTS; at += ITEMS) {
        const uint item = at % 32, to = at / 32 % QUADS, from = at / (32 * QUADS) % QUADS;
        const double2 number = matrix_number(matrices + at / FRAGMENTS * COLUMNS * COLUMNS, 4 * from + item % 4, 4 * to + item / 8);
        fragments[at] = item / 4 % 2 ? number.yx : (double2)(number.x, -number.y);
    }
    GROUP_BARRIER;
    FOR_EACH_ROUND {
        const place at = place_of(parities, blocks, first + LANE / 4, LANE % 4);
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
