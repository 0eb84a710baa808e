// The links of a work-group's blocks, made whole together in local memory for all right-hand sides.
//
// SHARED_LINKS   1 if they are; otherwise each work-item loads the links that it needs

#if FULL
#define PARITY_PARAMETER
#define PARITY_ARGUMENT
#else
#define PARITY_PARAMETER , const uint parity
#define PARITY_ARGUMENT , parity
#endif

// The link of a hop, 2μ from ahead and 2μ + 1 from behind, which stands at a block.
#if SHARED_LINKS
#define HOPS 8
#define SHARED_NUMBERS (HOPS * KEPT_COMPLEX * LOCAL_SIZE)

#define LINK(hop, half_links, at) kept_link(shared_links + (hop) * KEPT_COMPLEX * LOCAL_SIZE + get_local_id(0), LOCAL_SIZE)

// Makes the links of all hops to the blocks of a share whole, in [hop][number][place in the group].
static inline void share_links(__local pair *shared, __global const stored *links, const uint4 extents, const uint blocks, WAY,
                               const uint origin, const uint share PARITY_PARAMETER)
{
    const uint items = LOCAL_SIZE * (COLUMNS / COLUMNS_PER_ITEM);
    for (uint k = get_local_id(1) * LOCAL_SIZE + get_local_id(0); k < HOPS * LOCAL_SIZE; k += items) {
        const uint hop = k / LOCAL_SIZE, place = k % LOCAL_SIZE;
#if FULL
        const uint parity = PARITY_OF(place, share);
#endif
        const uint item = ITEM_OF(place, share);
        if (item < blocks) {
            const position p = position_of_item(item, parity, origin, divisors, factors, shifts, order);
            const uint block = block_of(extents, p.x, p.y, p.z, p.t);
            const uint behind = hop % 2;
            const uint at = behind ? neighbour_of(hop, extents, p, block) : block;
            const uint parity_there = behind ? 1 - parity : parity;
            const link u = load_link(links + parity_there * LINKS_HALF_FIELD(blocks), blocks, at, hop / 2);
            keep_link(shared + hop * KEPT_COMPLEX * LOCAL_SIZE + place, LOCAL_SIZE, u);
        }
    }
}

#define SHARE_LINKS(share)                                                                                                  \
    share_links(shared_links, links, extents, blocks, divisors, factors, shifts, order, origin, share PARITY_ARGUMENT);  \
    barrier(CLK_LOCAL_MEM_FENCE);
#else
#define SHARED_NUMBERS 0

#define LINK(hop, half_links, at) load_link(half_links, blocks, at, (hop) / 2)
#endif
