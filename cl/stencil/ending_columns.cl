// The ending of a hop of several right-hand sides on matrix units, while its result z is in registers.
// needs: quads.cl fragments.cl
//
// It takes one parity in double, one lane, SHARED_LINKS, no ROUNDS and LOCAL_SIZE 16. COLUMNS is even, and a
// work-item has one of them.
//
// SUBTRACT_COLUMNS  0: stores z, and makes its Gram matrix z†z
//                   1: subtracts z D from the columns q in `out`, with a matrix D, and makes q†q of the difference
//
// A work-group has all right-hand sides of LOCAL_SIZE sites, and an item has one of them at one site.
// Components go through local memory to the fragments, half of them at a time. A warp has the sixteen
// numbers of one component.

#define STAGED_COMPONENTS (SPINOR_COMPONENTS / 2)

// From one field to the next, so that what the items of a warp read together lies in different banks.
#define STAGED_STRIDE (LOCAL_SIZE + (SUBTRACT_COLUMNS ? 1 : 4))
#define STAGED_NUMBERS (STAGED_COMPONENTS * COLUMNS * STAGED_STRIDE)

// In place of a block that there is not.
#define NOWHERE 0xffffffffu

// What a warp does after each other: in rounds, each for one component.
#define ROUNDS_OF_HALF ((STAGED_COMPONENTS + WARPS - 1) / WARPS)
#define IN_HALF(round) ((round) % ROUNDS_OF_HALF * WARPS + ITEM / 32)

// The numbers of the item in the staged component `c`, if there is one, from its first number on and of one field in each quad.
INLINE void read_staged(__local const double2 *staged, const uint c, const uint number, const uint of_quad, double2 *z)
{
    FOR_NUMBERS(k) {
        const int exists = c < STAGED_COMPONENTS && FIELD_EXISTS(k, of_quad);
        const uint at = (c * COLUMNS + FIELD(k, of_quad)) * STAGED_STRIDE + number + 8 * (k / QUADS);
        z[k] = exists ? staged[at] : (double2)(0.0, 0.0);
    }
}

#if SUBTRACT_COLUMNS
// Runs `body` for each number `k` of the item that there is in a round, with its `address` in the columns.
#define FOR_NUMBERS_OF(round, body)                                                                             \
    const uint in_half = IN_HALF(round), component = (round) / ROUNDS_OF_HALF * STAGED_COMPONENTS + in_half;    \
    FOR_NUMBERS(k) {                                                                                            \
        const uint block = places[NUMBER_OF_TERM + 8 * (k / QUADS)];                                            \
        if (block != NOWHERE && in_half < STAGED_COMPONENTS && FIELD_EXISTS(k, FIELD_OF_TERM)) {                \
            const size_t address = (size_t)FIELD(k, FIELD_OF_TERM) * SPINOR_HALF_FIELD(blocks) +                \
                                   (size_t)VECTOR_OF(0, SPINOR_COMPONENTS, component, 1, blocks, block);        \
            body                                                                                                \
        }                                                                                                       \
    }

INLINE void load_terms(__global const stored *q, const uint blocks, __local const uint *places, const int round, double2 *terms)
{
    FOR_NUMBERS(k)
        terms[k] = (double2)(0.0, 0.0);
    FOR_NUMBERS_OF(round, terms[k] = as_double2(load_16(q + address, 0));)
}

INLINE void store_terms(__global stored *q, const uint blocks, __local const uint *places, const int round, const double2 *terms)
{
    FOR_NUMBERS_OF(round, store_16(q + address, STREAM_OUTPUT, as_uint4(terms[k]));)
}
#endif

// `places` are the blocks of the group's sites, and `staged` has memory for STAGED_NUMBERS, which may still be read for something else.
INLINE void end_block(const spinor result, __local const uint *places, __local double2 *staged, double2 *sums
#if SUBTRACT_COLUMNS
                      , const uint blocks, __local const double2 *factors, __global stored *q
#endif
                      SHOWN_PARAMETER)
{
#if SUBTRACT_COLUMNS
    // Loaded a round ahead.
    double2 terms[2][NUMBERS];
    load_terms(q, blocks, places, 0, terms[0]);
#endif
    UNROLLED
    for (int round = 0; round < 2 * ROUNDS_OF_HALF; ++round) {
        if (round % ROUNDS_OF_HALF == 0) {
            const int first = round / ROUNDS_OF_HALF * STAGED_COMPONENTS;
            GROUP_BARRIER;
            UNROLLED
            for (int c = 0; c < STAGED_COMPONENTS; ++c)
                staged[(c * COLUMNS + get_local_id(1)) * STAGED_STRIDE + get_local_id(0)] =
                    (double2)(result.s[first + c].re, result.s[first + c].im);
            GROUP_BARRIER;
        }
        double2 z[NUMBERS];
#if SUBTRACT_COLUMNS
        if (round + 1 < 2 * ROUNDS_OF_HALF)
            load_terms(q, blocks, places, round + 1, terms[(round + 1) % 2]);
        double2 *difference = terms[round % 2];
        read_staged(staged, IN_HALF(round), NUMBER_OF_FACTOR, FIELD_OF_FACTOR, z);
        exchange(difference SHOWN);
        subtract_fields(difference, z, factors SHOWN);
        add_gram(sums, difference SHOWN);
        exchange(difference SHOWN);
        store_terms(q, blocks, places, round, difference);
#else
        read_staged(staged, IN_HALF(round), NUMBER_OF_TERM, FIELD_OF_TERM, z);
        exchange(z SHOWN);
        add_gram(sums, z SHOWN);
#endif
    }
}

#if SUBTRACT_COLUMNS
#define ENDING_PARAMETERS , __global const double2 *restrict matrix, __global double2 *restrict partials
#define SPREAD_MATRIX                                                                                          \
    __local double2 matrix_fragments[FRAGMENTS];                                                               \
    spread_factors(matrix, matrix_fragments);
#define KEEP(value, at)
#define MATRIX_ARGUMENTS , blocks, matrix_fragments, out
#else
#define ENDING_PARAMETERS , __global double2 *restrict partials
#define SPREAD_MATRIX
#define KEEP(value, at) store_spinor(out + at, blocks, block, value);
#define MATRIX_ARGUMENTS
#endif

// The local memory is for links, then for results, then for sums.
#define ENDING_SHARED LARGER(STAGED_NUMBERS, GRAM_NUMBERS)
#define ENDING_BEGIN                                                                                           \
    __local uint places[LOCAL_SIZE];                                                                           \
    SHOWN_LOCAL;                                                                                               \
    GRAM_SUMS;                                                                                                 \
    spinor result;                                                                                             \
    _Pragma("unroll") for (int c = 0; c < SPINOR_COMPONENTS; ++c)                                              \
        result.s[c].re = result.s[c].im = 0;                                                                   \
    SPREAD_MATRIX
#define ENDING_PLACE(share)                                                                                    \
    if (get_local_id(1) == 0) {                                                                                \
        const uint item = ITEM_OF(get_local_id(0), share);                                                     \
        const position p = position_of_item(item, parity, origin, divisors, factors, shifts, order);         \
        places[get_local_id(0)] = item < blocks ? block_of(extents, p.x, p.y, p.z, p.t) : NOWHERE;             \
    }
#define ENDING_PREFETCH
#define ENDING_TAKE(value, at)                                                                                 \
    result = value;                                                                                            \
    KEEP(value, at)
#define ENDING_FINISH                                                                                          \
    end_block(result, places, shared_links, sums MATRIX_ARGUMENTS SHOWN);                                      \
    GROUP_BARRIER;                                                                                             \
    publish(sums, shared_links, partials FRONT);
