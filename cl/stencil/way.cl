// The way of the work-items through a domain: which block each computes, and where its neighbours are.
//
// Lattices of all sizes have one kernel. `extents` are those of a sub-lattice, in x, y, z, t. Each parity has
// `blocks` blocks.
//
// FULL           1 for all sites, 0 for those of one parity
// ROUNDS         1 if a work-group does the work of several, one after the other; it then takes `rounds`
// IN_ORDER       1 if blocks are worked off in their order in memory, without boxes or several tiles

#define PARITIES (FULL ? 2 : 1)

// From one right-hand side to the next.
#define COLUMN_STRIDE (PARITIES * SPINOR_HALF_FIELD(blocks))

// Site coordinates of a block within its sub-lattice.
typedef struct {
    uint x, y, z, t;
} position;

// x of a block by its number in its row. `origin` is the parity of the domain's first site.
static inline uint x_of(const uint number, const position p, const uint parity, const uint origin)
{
    return 2 * number + ((p.y + p.z + p.t + origin + parity) & 1);
}

// The way of the work-items through a lattice. Rows of blocks are worked off in boxes of 2^`boxes` in y, z and t, so that a work-group has
// more of its own neighbours; boxes in tiles of z, one after the other, each over all t, so that what a hop in t needs is still in the
// cache. A domain that is cut along t begins in its middle: the groups that begin first need nothing of other domains.
//
// `order` is the power `boxes`, and the slice of t to begin with.
//
// Divided is by the number of blocks in a row, and that of boxes in y, in z in a tile, and in t. The host (src/operator/stencil/traversal.rs) gives these numbers with
// the factors and shifts that replace divisions by them.
#define WAY const uint4 divisors, const uint4 factors, const uint4 shifts, const uint2 order
#define QUOTIENT(n, divisor) (mul_hi(2 * (n), factors.divisor) >> shifts.divisor)

// Where the block is that a work-item computes.
static inline position position_of_item(const uint item, const uint parity, const uint origin, WAY)
{
    const uint side = IN_ORDER ? 0 : order.x;
    const uint row = QUOTIENT(item, x), box = row >> (3 * side);
    const uint slice = QUOTIENT(box, y), time = QUOTIENT(slice, z);
    const uint tile = IN_ORDER ? 0 : QUOTIENT(time, w);
    position p;
    p.y = ((box - slice * divisors.y) << side) + (row & side);
    p.z = ((slice - (time - tile) * divisors.z) << side) + ((row >> 1) & side);
    const uint t = ((time - tile * divisors.w) << side) + ((row >> 2) & side) + (IN_ORDER ? 0 : order.y), slices = divisors.w << side;
    p.t = t < slices ? t : t - slices;
    p.x = x_of(item - row * divisors.x, p, parity, origin);
    return p;
}

static inline uint block_of(const uint4 extents, const uint x, const uint y, const uint z, const uint t)
{
    return ((t * extents.z + z) * extents.y + y) * (extents.x / 2) + (x >> 1);
}

// The block from which a hop comes, 2μ from ahead and 2μ + 1 from behind, in the sub-lattice as if it were closed.
static inline uint neighbour_of(const int hop, const uint4 extents, const position p, const uint block)
{
    const uint4 last = extents - 1;
    // Blocks in a row, and so on: how far it is to a neighbour, and back around the sub-lattice. Of two neighbours in x one has the block's own number.
    const uint row = extents.x / 2, slice = row * extents.y, time = slice * extents.z, all = time * extents.w;
    const uint odd = p.x & 1;
    switch (hop) {
    case 0:
        return block + odd - (p.x == last.x ? row : 0);
    case 1:
        return block + odd - 1 + (p.x == 0 ? row : 0);
    case 2:
        return block + row - (p.y == last.y ? slice : 0);
    case 3:
        return block - row + (p.y == 0 ? slice : 0);
    case 4:
        return block + slice - (p.z == last.z ? time : 0);
    case 5:
        return block - slice + (p.z == 0 ? time : 0);
    case 6:
        return block + time - (p.t == last.w ? all : 0);
    default:
        return block - time + (p.t == 0 ? all : 0);
    }
}

// A group's shares of the work, rounds.y of them. In each round rounds.x groups, those that run at the same time, have shares beside each other, so that they find
// each other's neighbours in the cache. On a processor rounds.x is 1: a group goes on beside what it has just done.
//
// GROUP is the number of the group: halo.cl may give it another one than the launch does.
#define GROUP get_group_id(0)
#if ROUNDS
#define ROUNDS_PARAMETER , const uint2 rounds
#define FIRST_SHARE (GROUP / rounds.x * rounds.x * rounds.y + GROUP % rounds.x)
#define FOR_SHARES(share) for (uint share = FIRST_SHARE, round = 0; round < rounds.y; ++round, share += rounds.x)
#else
#define ROUNDS_PARAMETER
#define FOR_SHARES(share) for (uint share = GROUP, round = 0; round < 1; ++round)
#endif

// Which block of a share a place in a work-group stands for.
#if FULL && LOCAL_SIZE % 2 == 0
// Half of a work-group has even sites, the other half has the odd ones beside them: most of their links are the same.
#define PARITY_OF(place, share) ((place) / (LOCAL_SIZE / 2))
#define ITEM_OF(place, share) ((share) * (LOCAL_SIZE / 2) + (place) % (LOCAL_SIZE / 2))
#elif FULL
// So it is with two shares, one after the other.
#define PARITY_OF(place, share) ((share) % 2)
#define ITEM_OF(place, share) ((share) / 2 * LOCAL_SIZE + (place))
#else
#define PARITY_OF(place, share) parity
#define ITEM_OF(place, share) ((share) * LOCAL_SIZE + (place))
#endif
