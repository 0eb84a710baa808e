// Vector operations on columns: twin of src/host/columns.rs. Columns are COLUMNS fields one after the other, each of `parities` parities, one or two,
// of `blocks` blocks of sites; a matrix acts on the numbers that are at one place in all of them.
//
// COLUMNS      how many fields
// LOCAL_SIZE   work-group size
// SLOTS        pieces of each field that a work-item has in local memory at a time
// COPIES       work-items that have the same tile of a Gram matrix, each a part of the staged numbers
// TILE         rows and columns of a tile
// PIECE        complex numbers of a spinor that a work-item has at a time
// UNROLL       1 to unroll the loops over the fields, so that their numbers are in registers
// ALL_EXIST    1 if each work-item has a piece in each round: it then asks for none, and has the loads of all fields under way at once
// WIDTH        with several lanes: columns of a result that are summed up at a time
// SMALL        1 if 32 bits are enough for how many bytes it is from a field's start, and addresses take fewer registers for it
//
// A work-item has one *piece* of every field at a time, those of the result in its registers while the others pass by, or WIDTH of them. With several lanes it is a
// vector of lanes; with one, a vector of 16 bytes, or half of one in half precision, whose 16 bytes would take too many registers. There a site has a unit: with
// one lane the items with the pieces of a site, which are in one work-group, agree on it; with several lanes a piece is all of a block.
//
// A Gram matrix is Hermitian and made in tiles of TILE × TILE on and above its diagonal, of numbers that are staged in local memory. It is summed up in
// an order that never changes: over the staged numbers, the copies, the work-groups; in double, but for what a work-item adds by itself with one lane,
// which the host sees to be few numbers.

#if UNIT_NUMBERS && LANES == 1
#define SHARED_UNIT 1
#else
#define SHARED_UNIT 0
#endif

#if LANES == 1
#define PIECES_OF_VECTOR (PACK / PIECE)
#endif
#define PIECES_OF_BLOCK (SPINOR_COMPONENTS / PIECE)

#if UNROLL
#define FOR_FIELDS(i) _Pragma("unroll") for (int i = 0; i < COLUMNS; ++i)
#else
#define FOR_FIELDS(i) for (int i = 0; i < COLUMNS; ++i)
#endif
#define FOR_PIECE(c) _Pragma("unroll") for (int c = 0; c < PIECE; ++c)

// Keeps compilers from loading for the next step while there is one, for which there are no registers; with units there are barriers anyway.
#if SHARED_UNIT
#define BETWEEN_STEPS
#define BEFORE_NEXT_AGREEMENT GROUP_BARRIER
#else
#define BETWEEN_STEPS GROUP_BARRIER
#define BEFORE_NEXT_AGREEMENT
#endif

// A number of a matrix, and of a staged field.
#define pair JOIN(REAL, 2)

// What these functions are given are a work-item's numbers, which have to stay in registers. None of them returns a structure, for which Oclgrind does
// not know what the inliner notes.
#if UNROLL
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

// Where a piece is: a parity of a field, a block there, and which piece of that block. Without units a multiple of the piece's number would be enough, but for
// multiples NVIDIA's compiler keeps an address of each field from round to round: there are not enough registers, and `columns_advance` takes 1.4 times as long.
typedef struct {
    size_t half_field;
    uint blocks;
    uint block;
    uint part;
    uint exists;
} place;

static inline place place_of(const uint parities, const uint blocks, const uint piece)
{
    place at;
    at.blocks = blocks;
#if SHARED_UNIT
    // A work-group has whole sites.
    const uint sites = LOCAL_SIZE / PIECES_OF_BLOCK;
    const uint within = piece % LOCAL_SIZE;
    const uint site = piece / LOCAL_SIZE * sites + within / PIECES_OF_VECTOR % sites;
    at.part = within / (PIECES_OF_VECTOR * sites) * PIECES_OF_VECTOR + within % PIECES_OF_VECTOR;
    at.exists = ALL_EXIST || site < parities * blocks;
    const uint parity = site >= blocks ? 1 : 0;
    at.block = site - parity * blocks;
#else
    const uint count = PIECES_OF_BLOCK * blocks;
    at.exists = ALL_EXIST || piece < parities * count;
    const uint parity = piece >= count ? 1 : 0;
    const uint within = piece - parity * count;
#if LANES == 1
    at.block = within % blocks;
    at.part = within / blocks;
#else
    at.block = within / PIECES_OF_BLOCK;
    at.part = within % PIECES_OF_BLOCK;
#endif
#endif
    at.half_field = parity * SPINOR_HALF_FIELD(blocks);
    return at;
}

// Of a field, those with which a work-group has no whole sites included.
INLINE uint count_pieces(const uint parities, const uint blocks)
{
#if SHARED_UNIT
    const uint sites = LOCAL_SIZE / PIECES_OF_BLOCK;
    return (parities * blocks + sites - 1) / sites * LOCAL_SIZE;
#else
    return parities * blocks * PIECES_OF_BLOCK;
#endif
}

INLINE size_t field_start(const uint parities, const uint blocks, const int source)
{
    return (size_t)source * parities * SPINOR_HALF_FIELD(blocks);
}

#if SMALL
#define byte_distance uint
#else
#define byte_distance size_t
#endif

// Of a field, its numbers in the place, in bytes.
INLINE byte_distance piece_start(const place at)
{
#if LANES == 1
    const uint vector = at.part / PIECES_OF_VECTOR, within = at.part % PIECES_OF_VECTOR;
    const byte_distance number = PACK * ((byte_distance)vector * at.blocks + at.block) + PIECE * within;
#else
    const byte_distance number = PIECE * LANES * ((byte_distance)at.block * PIECES_OF_BLOCK + at.part);
#endif
    return (STORED_BITS / 8) * ((byte_distance)at.half_field + 2 * number);
}

#define BYTES_FROM(field, bytes) ((__global stored *)((__global char *)(field) + (bytes)))
#define BYTES_FROM_CONST(field, bytes) ((__global const stored *)((__global const char *)(field) + (bytes)))

#if SHARED_UNIT
// Of a field, the unit in the place.
INLINE byte_distance unit_start(const place at)
{
    return (STORED_BITS / 8) * ((byte_distance)at.half_field + 2 * (SPINOR_COMPONENTS * (byte_distance)at.blocks + at.block));
}
#endif

INLINE void load_existing_piece(__global const stored *field, const place at, vcomplex *z)
{
#if UNIT_NUMBERS && LANES > 1
    const spinor psi = load_spinor(field + at.half_field, at.blocks, at.block);
    FOR_PIECE(c)
        z[c] = psi.s[c];
#elif LANES > 1
    __global const vstored *numbers = (__global const vstored *)BYTES_FROM_CONST(field, piece_start(at));
    z[0].re = numbers[0];
    z[0].im = numbers[1];
#else
    load_vector(BYTES_FROM_CONST(field, piece_start(at)), PIECE, 0, 1, z);
#if SHARED_UNIT
    const real unit = *(__global const real *)BYTES_FROM_CONST(field, unit_start(at));
    FOR_PIECE(c) {
        z[c].re = (z[c].re - RAISED) * unit;
        z[c].im = (z[c].im - RAISED) * unit;
    }
#endif
#endif
}

// Zero where there is none.
INLINE void load_piece(__global const stored *field, const place at, vcomplex *z)
{
    FOR_PIECE(c)
        z[c].re = z[c].im = (vreal)0;
    if (at.exists)
        load_existing_piece(field, at, z);
}

#if SHARED_UNIT
#define AGREEMENT_PARAMETER , __local real *agreement
#define AGREEMENT_LOCAL __local real agreement[2 * COLUMNS * LOCAL_SIZE]
// Two in turn, so that one barrier is enough.
#define AGREEMENT(turn) , agreement + (turn) * COLUMNS * LOCAL_SIZE
#else
#define AGREEMENT_PARAMETER
#define AGREEMENT_LOCAL
#define AGREEMENT(turn)
#endif

#if LANES > 1
INLINE void store_piece(__global stored *field, const place at, const vcomplex *z)
{
#if UNIT_NUMBERS
    spinor psi;
    FOR_PIECE(c)
        psi.s[c] = z[c];
    store_spinor(field + at.half_field, at.blocks, at.block, psi);
#else
    __global vstored *numbers = (__global vstored *)BYTES_FROM(field, piece_start(at));
    numbers[0] = z[0].re;
    numbers[1] = z[0].im;
#endif
}
#else
// Stores the pieces of all columns. To be called by all work-items of a group.
INLINE void store_pieces(__global stored *all, const uint parities, const uint blocks, const place at,
                                const vcomplex (*z)[PIECE] AGREEMENT_PARAMETER)
{
#if SHARED_UNIT
    FOR_FIELDS(i) {
        real largest = (real)0;
        FOR_PIECE(c)
            largest = fmax(largest, fmax(fabs(z[i][c].re), fabs(z[i][c].im)));
        agreement[i * LOCAL_SIZE + get_local_id(0)] = largest;
    }
    // Also after every item has loaded the units that are overwritten now.
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
#endif
    FOR_FIELDS(i) {
        __global stored *field = all + field_start(parities, blocks, i);
#if SHARED_UNIT
        // As place_of has it.
        const uint sites = LOCAL_SIZE / PIECES_OF_BLOCK;
        const uint first = i * LOCAL_SIZE + get_local_id(0) / PIECES_OF_VECTOR % sites * PIECES_OF_VECTOR;
        real largest = (real)0;
#pragma unroll
        for (int part = 0; part < PIECES_OF_BLOCK; ++part)
            largest = fmax(largest, agreement[first + part / PIECES_OF_VECTOR * PIECES_OF_VECTOR * sites +
                                              part % PIECES_OF_VECTOR]);
        const real unit = unit_of(largest), inverse = inverse_of(unit);
        vcomplex raised[PIECE];
        FOR_PIECE(c)
            raised[c] = in_unit(z[i][c], inverse);
        if (at.exists) {
            if (at.part == 0)
                *(__global real *)BYTES_FROM(field, unit_start(at)) = unit;
            store_vector(BYTES_FROM(field, piece_start(at)), PIECE, raised);
        }
#else
        if (at.exists)
            store_vector(BYTES_FROM(field, piece_start(at)), PIECE, z[i]);
#endif
    }
}

// The pieces of all columns.
INLINE void load_pieces(__global const stored *all, const uint parities, const uint blocks, const place at, vcomplex (*z)[PIECE])
{
    FOR_FIELDS(i)
        load_piece(all + field_start(parities, blocks, i), at, z[i]);
}
#endif

// Brings `count` matrices to local memory, each row after row.
INLINE void load_matrices(const int count, __global const double2 *from, __local pair *to)
{
    for (int k = get_local_id(0); k < count * COLUMNS * COLUMNS; k += LOCAL_SIZE)
        to[k] = (pair)((real)from[k].x, (real)from[k].y);
    GROUP_BARRIER;
}

// sum += x m, for a number m of a matrix
INLINE void add_multiple(vcomplex *sum, const pair m, const vcomplex *x)
{
    vcomplex factor;
    factor.re = (vreal)m.x;
    factor.im = (vreal)m.y;
    FOR_PIECE(c)
        sum[c] = multiply_add(sum[c], factor, x[c]);
}

// for (each round of the work-groups): a work-item has the pieces `first`, `first` + LOCAL_SIZE, …, `slots` of them. On a processor, which has several lanes, a
// group goes on beside what it has just done; elsewhere the groups go through the field together.
#if LANES > 1
#define SHARE_OF_GROUP ((pieces + get_num_groups(0) * per_group - 1) / (get_num_groups(0) * per_group) * per_group)
#define START_OF_GROUP (get_group_id(0) * SHARE_OF_GROUP)
#define END_OF_GROUP min(pieces, (uint)(START_OF_GROUP + SHARE_OF_GROUP))
#define STEP_OF_GROUP per_group
#else
#define START_OF_GROUP (get_group_id(0) * per_group)
#define END_OF_GROUP pieces
#define STEP_OF_GROUP (get_num_groups(0) * per_group)
#endif
#define FOR_EACH_ROUND(slots)                                                                                   \
    const uint per_group = LOCAL_SIZE * (slots);                                                                \
    const uint pieces = count_pieces(parities, blocks);                                                         \
    const uint end = END_OF_GROUP;                                                                              \
    for (uint start = START_OF_GROUP, first = start + get_local_id(0); start < end; start += STEP_OF_GROUP, first += STEP_OF_GROUP)

#if LANES > 1
#define FOR_TILES(first) for (int first = 0; first < COLUMNS; first += WIDTH)
#define FOR_TILE(w) _Pragma("unroll") for (int w = 0; w < WIDTH; ++w)
// Rows of matrices are read to the end of a tile.
#define MATRIX_NUMBERS(count) ((count) * COLUMNS * COLUMNS + WIDTH)

#define SET_ZERO(z)                                                                                             \
    FOR_TILE(w) {                                                                                               \
        FOR_PIECE(c)                                                                                            \
            z[w][c].re = z[w][c].im = (vreal)0;                                                                 \
    }

// The columns of a tile that begins with the column `first`, or zero where there are none.
INLINE void load_tile(__global const stored *all, const uint parities, const uint blocks, const place at, const int first,
                      vcomplex (*z)[PIECE])
{
    SET_ZERO(z)
    FOR_TILE(w) {
        if (first + w < COLUMNS)
            load_piece(all + field_start(parities, blocks, first + w), at, z[w]);
    }
}

INLINE void store_tile(__global stored *all, const uint parities, const uint blocks, const place at, const int first,
                       const vcomplex (*z)[PIECE])
{
    FOR_TILE(w) {
        if (first + w < COLUMNS && at.exists)
            store_piece(all + field_start(parities, blocks, first + w), at, z[w]);
    }
}

// sums + sign·x D of a tile, for the fields of x in a range
INLINE void add_products(vcomplex (*sums)[PIECE], const int sign, __global const stored *x, __local const pair *d, const uint parities,
                         const uint blocks, const place at, const int first, const int from, const int to)
{
    for (int i = from; i < to; ++i) {
        vcomplex z[PIECE];
        load_piece(x + field_start(parities, blocks, i), at, z);
        FOR_TILE(w)
            add_multiple(sums[w], (real)sign * d[i * COLUMNS + first + w], z);
    }
}

#else
#define MATRIX_NUMBERS(count) ((count) * COLUMNS * COLUMNS)

// sum + x D, for the columns x. `there` says which numbers of D there are.
#define ADD_FIELDS(sums, x, d, there)                                                                           \
    FOR_FIELDS(i) {                                                                                             \
        vcomplex z[PIECE];                                                                                      \
        load_piece((x) + field_start(parities, blocks, i), at, z);                                              \
        FOR_FIELDS(j) {                                                                                         \
            if (there)                                                                                          \
                add_multiple(sums[j], (d)[i * COLUMNS + j], z);                                                 \
        }                                                                                                       \
    }
#endif

// One step of block Conjugate Gradient: x = x + o D + p E, then o = q T + p F. If the number behind the matrices says so, q = q T too. `o`
// may be the same as `p`: then there is no D. T is upper triangular and F lower triangular, so that what is overwritten of p and q in the
// orders below is not needed any more.
__kernel EXPLICIT_VECTORS void columns_advance(const uint parities, const uint blocks, const uint with_earlier, const uint with_step,
                                             __global const double2 *restrict matrices, __global stored *restrict x, __global stored *restrict q,
                                             __global stored *p, __global stored *o)
{
    const uint overwrite = matrices[4 * COLUMNS * COLUMNS].x != 0.0;
    __local pair local_matrices[MATRIX_NUMBERS(4)];
    AGREEMENT_LOCAL;
    load_matrices(4, matrices, local_matrices);
    __local const pair *earlier = local_matrices;
    __local const pair *step = local_matrices + COLUMNS * COLUMNS;
    __local const pair *turn = local_matrices + 2 * COLUMNS * COLUMNS;
    __local const pair *keep = local_matrices + 3 * COLUMNS * COLUMNS;
    FOR_EACH_ROUND(1) {
#if LANES > 1
        const place at = place_of(parities, blocks, first);
        vcomplex sums[WIDTH][PIECE];
        for (int tile = 0; (with_earlier || with_step) && tile < COLUMNS; tile += WIDTH) {
            load_tile(x, parities, blocks, at, tile, sums);
            if (with_earlier)
                add_products(sums, 1, o, earlier, parities, blocks, at, tile, 0, COLUMNS);
            if (with_step)
                add_products(sums, 1, p, step, parities, blocks, at, tile, 0, COLUMNS);
            store_tile(x, parities, blocks, at, tile, sums);
        }
        FOR_TILES(tile) {
            SET_ZERO(sums)
            add_products(sums, 1, q, turn, parities, blocks, at, tile, 0, min(tile + WIDTH, COLUMNS));
            add_products(sums, 1, p, keep, parities, blocks, at, tile, tile, COLUMNS);
            store_tile(o, parities, blocks, at, tile, sums);
        }
        for (int tile = (COLUMNS - 1) / WIDTH * WIDTH; overwrite && tile >= 0; tile -= WIDTH) {
            SET_ZERO(sums)
            add_products(sums, 1, q, turn, parities, blocks, at, tile, 0, min(tile + WIDTH, COLUMNS));
            store_tile(q, parities, blocks, at, tile, sums);
        }
#else
        // Keeps compilers from loading all numbers of the matrices before the rounds, for which there are no registers; and from one round to the next
        // items may have agreed on units.
        GROUP_BARRIER;
        const place at = place_of(parities, blocks, first);
        vcomplex sums[COLUMNS][PIECE];
        if (with_earlier || with_step) {
            load_pieces(x, parities, blocks, at, sums);
            if (with_earlier) {
                ADD_FIELDS(sums, o, earlier, true)
            }
            if (with_step) {
                ADD_FIELDS(sums, p, step, true)
            }
            store_pieces(x, parities, blocks, at, sums AGREEMENT(0));
            BETWEEN_STEPS;
        }
        FOR_FIELDS(j) {
            FOR_PIECE(c) {
                sums[j][c].re = (vreal)0;
                sums[j][c].im = (vreal)0;
            }
        }
        ADD_FIELDS(sums, q, turn, j >= i)
        if (overwrite)
            store_pieces(q, parities, blocks, at, sums AGREEMENT(1));
        else
            BEFORE_NEXT_AGREEMENT;
        BETWEEN_STEPS;
        // After a step from the cache.
        ADD_FIELDS(sums, p, keep, j <= i)
        store_pieces(o, parities, blocks, at, sums AGREEMENT(0));
#endif
    }
}

#define TILE_NUMBERS (TILE * TILE)
#define TILES_ACROSS ((COLUMNS + TILE - 1) / TILE)
#define TILES (TILES_ACROSS * (TILES_ACROSS + 1) / 2)
#define TASKS (TILES * COPIES)
#define TASKS_OF_ITEM ((TASKS + LOCAL_SIZE - 1) / LOCAL_SIZE)

// Staged numbers of a field; fields that are missing in the last tile are zero.
#define ROWS (SLOTS * LOCAL_SIZE * PIECE)

#if LANES == 1
#define staged_number pair
#define RE x
#define IM y
#else
#define staged_number vcomplex
#define RE re
#define IM im
#endif

INLINE void stage_piece(__local staged_number *stage, const int source, const int slot, const vcomplex *z)
{
    FOR_PIECE(c) {
        const uint at = source * ROWS + (slot * PIECE + c) * LOCAL_SIZE + get_local_id(0);
        stage[at].RE = z[c].re;
        stage[at].IM = z[c].im;
    }
}

INLINE void stage_nothing(__local staged_number *stage)
{
    for (int k = COLUMNS * ROWS + get_local_id(0); k < TILE * TILES_ACROSS * ROWS; k += LOCAL_SIZE) {
        stage[k].RE = (vreal)0;
        stage[k].IM = (vreal)0;
    }
}

// What a work-item adds by itself.
typedef struct {
#if LANES == 1
    real re, im;
#else
    double re, im;
#endif
} item_sum;

// The first row and column of a tile, which are counted row after row above the diagonal.
INLINE uint2 tile_corner(const uint tile)
{
    uint row = 0, first = 0;
    for (uint below = 1; below < TILES_ACROSS; ++below) {
        const uint first_below = below * TILES_ACROSS - below * (below - 1) / 2;
        row = tile >= first_below ? below : row;
        first = tile >= first_below ? first_below : first;
    }
    return (uint2)(TILE * row, TILE * (row + tile - first));
}

// Adds the products of the staged numbers, between two barriers; `corners` are those of the item's tiles.
INLINE void add_staged(__local const staged_number *stage, const uint2 *corners, item_sum *sums)
{
    GROUP_BARRIER;
    for (int n = 0; n < TASKS_OF_ITEM; ++n) {
        const uint task = get_local_id(0) + n * LOCAL_SIZE;
        if (task < TASKS) {
            __local const staged_number *rows = stage + corners[n].x * ROWS;
            __local const staged_number *columns = stage + corners[n].y * ROWS;
#if LANES == 1
            item_sum *part = sums + n * TILE_NUMBERS;
#else
            vcomplex part[TILE_NUMBERS];
            for (int k = 0; k < TILE_NUMBERS; ++k)
                part[k].re = part[k].im = (vreal)0;
#endif
            for (uint number = task % COPIES; number < ROWS; number += COPIES) {
                staged_number left[TILE];
#pragma unroll
                for (int k = 0; k < TILE; ++k)
                    left[k] = rows[k * ROWS + number];
#pragma unroll
                for (int k = 0; k < TILE; ++k) {
                    const staged_number right = columns[k * ROWS + number];
#pragma unroll
                    for (int i = 0; i < TILE; ++i) {
                        const int at = i * TILE + k;
                        part[at].re = fma(left[i].IM, right.IM, fma(left[i].RE, right.RE, part[at].re));
                        part[at].im = fma(-left[i].IM, right.RE, fma(left[i].RE, right.IM, part[at].im));
                    }
                }
            }
#if LANES > 1
            for (int k = 0; k < TILE_NUMBERS; ++k) {
                sums[n * TILE_NUMBERS + k].re += sum_of_lanes(TO_DOUBLE(part[k].re));
                sums[n * TILE_NUMBERS + k].im += sum_of_lanes(TO_DOUBLE(part[k].im));
            }
#endif
        }
    }
    GROUP_BARRIER;
}

// The sums of a work-group to `partials`: [number of the tiles][work-group]. Tiles of one item have no copies if it has several of them.
INLINE void publish(const item_sum *sums, __local item_sum *copies, __global double2 *partials)
{
    const uint item = get_local_id(0);
    for (int n = 0; n < TASKS_OF_ITEM; ++n) {
#pragma unroll
        for (int k = 0; k < TILE_NUMBERS; ++k)
            copies[k * LOCAL_SIZE + item] = sums[n * TILE_NUMBERS + k];
        GROUP_BARRIER;
        const uint first_tile = n * LOCAL_SIZE / COPIES;
        const uint tiles = min((uint)(TASKS - n * LOCAL_SIZE), (uint)LOCAL_SIZE) / COPIES;
        for (uint number = item; number < tiles * TILE_NUMBERS; number += LOCAL_SIZE) {
            const uint first_copy = number % TILE_NUMBERS * LOCAL_SIZE + number / TILE_NUMBERS * COPIES;
            double2 sum = (double2)(0.0, 0.0);
            for (int copy = 0; copy < COPIES; ++copy)
                sum += (double2)(copies[first_copy + copy].re, copies[first_copy + copy].im);
            partials[(size_t)(first_tile * TILE_NUMBERS + number) * get_num_groups(0) + get_group_id(0)] = sum;
        }
        GROUP_BARRIER;
    }
}

// The staged numbers, and later the sums of the items in their place.
#define STAGE_BYTES (TILE * TILES_ACROSS * ROWS * 2 * LANES * (REAL_BITS / 8))
#define COPIES_BYTES (TILE_NUMBERS * LOCAL_SIZE * sizeof(item_sum))
#define GRAM_LOCAL                                                                                              \
    __local double2 memory[(STAGE_BYTES > COPIES_BYTES ? STAGE_BYTES : COPIES_BYTES) / 16]                        \
        __attribute__((aligned(128)));                                                                          \
    __local staged_number *stage = (__local staged_number *)memory;                                             \
    item_sum sums[TASKS_OF_ITEM * TILE_NUMBERS];                                                                \
    _Pragma("unroll")                                                                                           \
    for (int k = 0; k < TASKS_OF_ITEM * TILE_NUMBERS; ++k)                                                      \
        sums[k].re = sums[k].im = 0;                                                                            \
    uint2 corners[TASKS_OF_ITEM];                                                                               \
    for (int n = 0; n < TASKS_OF_ITEM; ++n)                                                                     \
        corners[n] = tile_corner((get_local_id(0) + n * LOCAL_SIZE) / COPIES);                                  \
    stage_nothing(stage)

// x†x
__kernel EXPLICIT_VECTORS void columns_gram(const uint parities, const uint blocks, __global const stored *restrict x, __global double2 *restrict partials)
{
    GRAM_LOCAL;
    FOR_EACH_ROUND(SLOTS) {
        for (int slot = 0; slot < SLOTS; ++slot) {
            const place at = place_of(parities, blocks, first + slot * LOCAL_SIZE);
            FOR_FIELDS(i) {
                vcomplex z[PIECE];
                load_piece(x + field_start(parities, blocks, i), at, z);
                stage_piece(stage, i, slot, z);
            }
        }
        add_staged(stage, corners, sums);
    }
    publish(sums, (__local item_sum *)memory, partials);
}

// q = q - z D, and q†q of that
__kernel EXPLICIT_VECTORS void columns_subtract(const uint parities, const uint blocks, __global const double2 *restrict matrices, __global const stored *restrict z,
                                              __global stored *restrict q, __global double2 *restrict partials)
{
    __local pair factors[MATRIX_NUMBERS(1)];
    AGREEMENT_LOCAL;
    GRAM_LOCAL;
    load_matrices(1, matrices, factors);
    FOR_EACH_ROUND(SLOTS) {
        for (int slot = 0; slot < SLOTS; ++slot) {
            const place at = place_of(parities, blocks, first + slot * LOCAL_SIZE);
#if LANES > 1
            FOR_TILES(tile) {
                vcomplex residual[WIDTH][PIECE];
                load_tile(q, parities, blocks, at, tile, residual);
                add_products(residual, -1, z, factors, parities, blocks, at, tile, 0, COLUMNS);
                store_tile(q, parities, blocks, at, tile, residual);
                FOR_TILE(w) {
                    if (tile + w < COLUMNS)
                        stage_piece(stage, tile + w, slot, residual[w]);
                }
            }
#else
            vcomplex residual[COLUMNS][PIECE];
            load_pieces(q, parities, blocks, at, residual);
            FOR_FIELDS(i) {
                vcomplex image[PIECE];
                load_piece(z + field_start(parities, blocks, i), at, image);
                FOR_FIELDS(j)
                    add_multiple(residual[j], -factors[i * COLUMNS + j], image);
            }
            store_pieces(q, parities, blocks, at, residual AGREEMENT(0));
            FOR_FIELDS(j)
                stage_piece(stage, j, slot, residual[j]);
#endif
        }
        add_staged(stage, corners, sums);
    }
    publish(sums, (__local item_sum *)memory, partials);
}
