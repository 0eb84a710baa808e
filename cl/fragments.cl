// Operands of products of small matrices with columns, in double: mma.sync of shape 8 x 8 x 4, two at a time. See quads.cl.
//
// A warp has sixteen numbers of every field at a time, in two halves of eight. With g = lane / 4 and t = lane % 4 fragments are, by the PTX manual ("Matrix
// Fragments for mma.m8n8k4" with .f64): of A (row g, column t), of B (row t, column g), of C (row g, columns 2t and 2t + 1).
//
// A complex product is four real ones. Which row of C is called which is free, and so is the order of terms.
//
// For a Gram matrix the terms are numbers. Where a product is subtracted from what a Gram matrix is made of (subtract_fields), it is made transposed: rows are
// the real parts of a quad and then its imaginary parts; columns are numbers, in such an order that what an item has of C is what it needs of A and of B. For
// loads and stores two items exchange parts: one has the real parts of two numbers, the other their imaginary parts.

// Numbers that an item has of all fields, one of each quad and half.
#define NUMBERS (2 * QUADS)

// The field that an item's number `k` is of, by which field of its quad that is, and whether there is one.
#define FIELD(k, of_quad) ((k) % QUADS * 4 + (of_quad))
#define FIELD_EXISTS(k, of_quad) (COLUMNS % 4 == 0 || FIELD(k, of_quad) < COLUMNS)

#define FOR_NUMBERS(k) UNROLLED for (int k = 0; k < NUMBERS; ++k)
#define FOR_HALVES(first) UNROLLED for (int first = 0; first < NUMBERS; first += QUADS)

// An operand is two fragments, for four terms and for four more; an item has a number of each. It comes from the items' registers, once they have been shown, or
// from local memory.
#ifdef INLINE_PTX

#define operand double2
#define SHOWN_LOCAL
#define SHOWN_PARAMETER
#define SHOWN
#define SHOW(z)
#define FROM_REGISTERS(z, k) (z)[k]
#define FROM_MEMORY(fragments) (fragments)[LANE]

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
#define SHOWN_LOCAL __local double2 shown[NUMBERS * ITEMS]
#define SHOWN_PARAMETER , __local double2 *shown
#define SHOWN , shown
#define SHOW(z)                                                                                                 \
    GROUP_BARRIER;                                                                                              \
    FOR_NUMBERS(k)                                                                                              \
        shown[k * ITEMS + ITEM] = (z)[k];                                                       \
    GROUP_BARRIER;
#define FROM_REGISTERS(z, k) (shown + (k) * ITEMS + ITEM / 32 * 32)
#define FROM_MEMORY(fragments) (fragments)

INLINE void add_tile(double2 *c, operand a, operand b)
{
    const int g = LANE / 4, t = LANE % 4;
    for (int term = 0; term < 4; ++term) {
        const double2 row = a[4 * g + term], left = b[8 * t + term], right = b[8 * t + 4 + term];
        c->x = fma(row.y, left.y, fma(row.x, left.x, c->x));
        c->y = fma(row.y, right.y, fma(row.x, right.x, c->y));
    }
}

INLINE double from_partner(__local const double2 *of_all, const int second)
{
    const double2 of_partner = of_all[ITEM ^ 16];
    return second ? of_partner.y : of_partner.x;
}
#define FROM_PARTNER(mine, k) from_partner(shown + (k) * ITEMS, second)

#endif

// From whole numbers, of which those of the items in the second half of a warp come four later, to the real parts of both in the first half of it and their
// imaginary parts in the second; and back.
INLINE void exchange(double2 *z SHOWN_PARAMETER)
{
    const int second = ITEM / 16 % 2;
    SHOW(z)
    FOR_NUMBERS(k) {
        const double2 mine = z[k];
        const double part = FROM_PARTNER(mine, k);
        z[k] = second ? (double2)(part, mine.y) : (double2)(mine.x, part);
    }
}

// What an item has, in the first half, of a Gram matrix (to be exchanged after loads, and before stores), and of what is multiplied by -D: a number and which
// field of a quad.
#define NUMBER_OF_TERM (LANE / 16 * 4 + LANE % 4)
#define FIELD_OF_TERM (LANE / 4 % 4)
#define NUMBER_OF_FACTOR (LANE / 4 % 2 * 4 + LANE / 8)
#define FIELD_OF_FACTOR (LANE % 4)

// The numbers of local memory in which a work-group adds up its sums.
#define GRAM_NUMBERS (WARPS * TILES * 32)

// What a warp adds up.
#define GRAM_SUMS                                                                                               \
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

// The sums of a work-group to `partials`: see publish_sums_of_warps. `memory` has GRAM_NUMBERS numbers.
INLINE void publish(const double2 *sums, __local double2 *memory, __global double2 *partials FRONT_PARAMETER)
{
    UNROLLED
    for (int tile = 0; tile < TILES; ++tile)
        memory[(ITEM / 32 * TILES + tile) * 32 + LANE] = sums[tile];
    publish_sums_of_warps((__local const double *)memory, partials FRONT);
}

// An operand of a matrix.
#define FRAGMENT(fragments, i, j) FROM_MEMORY((fragments) + ((i) * QUADS + (j)) * 32)

// -D, transposed, to be followed by a barrier.
INLINE void spread_factors(__global const double2 *matrix, __local double2 *factors)
{
    for (uint at = ITEM; at < FRAGMENTS; at += ITEMS) {
        const uint item = at % 32, from = at / 32 % QUADS, to = at / (32 * QUADS);
        const double2 number = matrix_number(matrix, 4 * from + item % 4, 4 * to + item / 4 % 4);
        factors[at] = item < 16 ? (double2)(-number.x, number.y) : -number.yx;
    }
}

// difference - z D, of numbers `difference` that have been exchanged and others `z`, of which columns 2t and 2t + 1 are the numbers t and t + 4.
INLINE void subtract_fields(double2 *difference, const double2 *z, __local const double2 *factors SHOWN_PARAMETER)
{
    SHOW(z)
    FOR_QUADS(from) {
        FOR_QUADS(to) {
            FOR_HALVES(half_first)
                add_tile(&difference[half_first + to], FRAGMENT(factors, to, from), FROM_REGISTERS(z, half_first + from));
        }
    }
}
