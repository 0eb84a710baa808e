// The Wilson operator, and its hop from one parity to the other, on one device's slab of the lattice; twin of
// src/host/wilson.rs.
//
//   out = γ5^GAMMA5 (shift·ψ + coefficient·H ψ)
//   H ψ(x) = Σ_μ [(1 ∓ γ_μ) U_μ(x) ψ(x+μ) + (1 ± γ_μ) U_μ†(x−μ) ψ(x−μ)]      upper signs: M, lower: M† (DAGGER)
//
// Spinors stand in memory in the basis in which γ_t is diagonal (src/field/spin_basis.rs): γ_t = (1, 1, −1, −1), the other γ_μ are those of DeGrand and
// Rossi with the other sign, and γ5 exchanges the upper spins, 0 and 1, and the lower ones, 2 and 3. So a hop in t loads half a spinor.
//
// FULL: `in` and `out` have both parities. Otherwise `out` has one, `parity`, and `in` the other; the shifted field, of
// the parity of `out`, is `shifted` (SHIFT), or there is none.
//
// One work-item computes one block of LANES sites. Where a step leaves the sub-lattice, the lanes are permuted.
// Where it leaves the slab in t (HALO), the projected spinor comes from a buffer that the neighbouring device filled
// with pack_halo; what comes from behind has been multiplied by its link already.
//
// Several fields, SOURCES of them one after the other in memory, share the links: a work-item has SOURCES_PER_ITEM of them, and the others
// are beside it in the second dimension of the range.
//
// For one source, NORM2 sums (out, out) over all sites. PRODUCTS sums (against, out) too; `against` is a field like `out`. SUBTRACT takes
// `a` times the result from what `out` holds. GRAM and SUBTRACT_BLOCK say the same of a block: see block_ending.cl.
//
// Lattices of all sizes have one kernel: `extents` are those of a sub-lattice, in x, y, z, t, and `blocks` is how many blocks each parity has.
//
// NX NY NZ       sub-lattices in x, y, z
// DAGGER GAMMA5 HALO FULL SHIFT NORM2 PRODUCTS SUBTRACT    0 or 1; NORM2 is 1 if PRODUCTS or SUBTRACT is
// GRAM SUBTRACT_BLOCK    0 or 1; GRAM is 1 if SUBTRACT_BLOCK is. It takes one parity in double, one lane, SHARED_LINKS, no ROUNDS, an even number of SOURCES,
//                one in a work-item, and LOCAL_SIZE 16
// SHARED_LINKS   1 if a work-group makes the links of its blocks whole together, in local memory, for all sources
// ROUNDS         1 if a work-group does the work of several, one after the other; it then takes `rounds`
// IN_ORDER       1 if blocks are worked off in their order in memory, without boxes or several tiles
// PREFETCH       how many blocks later what is prefetched is needed; 0 for no prefetch
// PREFETCH_SPINORS    1 if that is not only links
// AHEAD_x/y/z/t, BEHIND_…    swizzles that fetch the neighbour's lane; absent where a direction is not cut
// WRAP_x/y/z/t   signs of the links that leave the lattice, one for each lane of the last block; absent where the
//                stored links have them already, or they are all 1

#define HALF_SPINOR_COMPONENTS 6
#define PARITIES (FULL ? 2 : 1)

// From one source to the next.
#define SOURCE_STRIDE (PARITIES * SPINOR_HALF_FIELD(blocks))

// Sign of γ_μ in the projector for a hop from ahead; a hop from behind has the other one.
#define AHEAD_SIGN (DAGGER ? 1 : -1)

typedef struct {
    vcomplex h[HALF_SPINOR_COMPONENTS]; // 3·spin + colour, spins 0 and 1
#if UNIT_NUMBERS
    vreal unit;
#endif
} half_spinor;

// a, a + s b, and a + s i b, for a sign s and numbers that are raised; the result is not. Differences lose it by themselves.
static inline vcomplex lower(const vcomplex a)
{
    vcomplex lowered = a;
    lowered.re -= RAISED;
    lowered.im -= RAISED;
    return lowered;
}

static inline vcomplex lower_signed(const vcomplex a, const int s, const vcomplex b)
{
    vcomplex lowered = a;
    if (s > 0) {
        lowered.re -= 2 * RAISED;
        lowered.im -= 2 * RAISED;
    }
    return add_signed(lowered, s, b);
}

static inline vcomplex lower_signed_i(const vcomplex a, const int s, const vcomplex b)
{
    vcomplex lowered = a;
    if (s > 0)
        lowered.im -= 2 * RAISED;
    else
        lowered.re -= 2 * RAISED;
    return add_signed_i(lowered, s, b);
}

// (1 + sign·γ_μ)ψ, for a raised ψ: its upper spins. In t it is twice the upper or the lower spins of ψ, and these without the factor are what counts.
static inline half_spinor project(const int mu, const int sign, const spinor psi)
{
    half_spinor projected;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const vcomplex s0 = psi.s[c], s1 = psi.s[3 + c], s2 = psi.s[6 + c], s3 = psi.s[9 + c];
        if (mu == 0) {
            projected.h[c] = lower_signed_i(s0, -sign, s3);
            projected.h[3 + c] = lower_signed_i(s1, -sign, s2);
        } else if (mu == 1) {
            projected.h[c] = lower_signed(s0, sign, s3);
            projected.h[3 + c] = lower_signed(s1, -sign, s2);
        } else if (mu == 2) {
            projected.h[c] = lower_signed_i(s0, -sign, s2);
            projected.h[3 + c] = lower_signed_i(s1, sign, s3);
        } else {
            projected.h[c] = lower(sign > 0 ? s0 : s2);
            projected.h[3 + c] = lower(sign > 0 ? s1 : s3);
        }
    }
    return projected;
}

// sum + sign·h, sum + sign·i·h, and sum + 2 h, for a number of this half of a spinor.
#if UNIT_NUMBERS
#define ADD(sum, sign, h) add_scaled(sum, sign > 0 ? projected.unit : -projected.unit, h)
#define ADD_I(sum, sign, h) add_scaled_i(sum, sign > 0 ? projected.unit : -projected.unit, h)
#define ADD_TWICE(sum, h) add_scaled(sum, 2 * projected.unit, h)
#else
#define ADD(sum, sign, h) add_signed(sum, sign, h)
#define ADD_I(sum, sign, h) add_signed_i(sum, sign, h)
#define ADD_TWICE(sum, h) add_scaled(sum, (vreal)2, h)
#endif

// Adds the spinor whose projection by (1 + sign·γ_μ) is this half.
static inline void add_reconstructed(spinor *sum, const int mu, const int sign, const half_spinor projected)
{
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const vcomplex h0 = projected.h[c], h1 = projected.h[3 + c];
        if (mu == 3) {
            const int first = sign > 0 ? 0 : 6;
            sum->s[first + c] = ADD_TWICE(sum->s[first + c], h0);
            sum->s[first + 3 + c] = ADD_TWICE(sum->s[first + 3 + c], h1);
            continue;
        }
        sum->s[c] = ADD(sum->s[c], 1, h0);
        sum->s[3 + c] = ADD(sum->s[3 + c], 1, h1);
        if (mu == 0) {
            sum->s[6 + c] = ADD_I(sum->s[6 + c], sign, h1);
            sum->s[9 + c] = ADD_I(sum->s[9 + c], sign, h0);
        } else if (mu == 1) {
            sum->s[6 + c] = ADD(sum->s[6 + c], -sign, h1);
            sum->s[9 + c] = ADD(sum->s[9 + c], sign, h0);
        } else {
            sum->s[6 + c] = ADD_I(sum->s[6 + c], sign, h0);
            sum->s[9 + c] = ADD_I(sum->s[9 + c], -sign, h1);
        }
    }
}

// U h, or U† h, in LINK_UNIT.
static inline half_spinor times(const link u, const int adjoint, const half_spinor projected)
{
    half_spinor product = projected;
    transform(u, adjoint, projected.h, product.h);
    transform(u, adjoint, projected.h + 3, product.h + 3);
    return product;
}

static inline half_spinor scale(half_spinor projected, const vreal factor)
{
#if UNIT_NUMBERS
    projected.unit *= factor;
#else
#pragma unroll
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k)
        projected.h[k] = scale_number(projected.h[k], factor);
#endif
    return projected;
}

// What a sum is to be multiplied by goes into its parts where these have a unit: that is one number of each instead of all of the sum.
#if UNIT_NUMBERS
#define WEIGHT_OF_PART ((vreal)(coefficient * LINK_UNIT))
#define WEIGHT_OF_SUM ((real)1)
#else
#define WEIGHT_OF_PART ((vreal)1)
#define WEIGHT_OF_SUM coefficient
#endif

// The projection of the spinors of a block, from memory.
static inline half_spinor load_projected(__global const stored *half_field, const uint blocks, const size_t block, const int mu,
                                         const int sign)
{
    half_spinor projected = project(mu, sign, load_stored_spinor(half_field, blocks, block));
#if UNIT_NUMBERS
    projected.unit = load_unit(half_field, blocks, block);
#endif
    return projected;
}

// Asks for what load_projected will load.
static inline void prefetch_projected(__global const stored *half_field, const size_t block, const int mu, const int sign)
{
    if (mu == 3)
        prefetch_components(half_field, block, sign > 0 ? 0 : HALF_SPINOR_COMPONENTS, HALF_SPINOR_COMPONENTS);
    else
        prefetch_components(half_field, block, 0, SPINOR_COMPONENTS);
}

#if UNIT_NUMBERS
#define PERMUTE_UNIT(projected, swizzle) (projected).unit = (projected).unit.swizzle;
#else
#define PERMUTE_UNIT(projected, swizzle)
#endif

#define PERMUTE(projected, swizzle)                            \
    PERMUTE_UNIT(projected, swizzle)                           \
    _Pragma("unroll")                                         \
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {        \
        (projected).h[k].re = (projected).h[k].re.swizzle;      \
        (projected).h[k].im = (projected).h[k].im.swizzle;      \
    }

// Site coordinates of a block within its sub-lattice.
typedef struct {
    uint x, y, z, t;
} position;

// x of a block by its number in its row. `t_origin` is the first time slice of the slab: it decides which sites are even.
static inline uint x_of(const uint number, const position p, const uint parity, const uint t_origin)
{
    return 2 * number + ((p.y + p.z + p.t + t_origin + parity) & 1);
}

// The way of the work-items through a lattice. Rows of blocks are worked off in boxes of 2^`boxes` in y, z and t, so that a work-group has more of its own
// neighbours; boxes in tiles of z, one after the other, each over all t, so that what a hop in t needs is still in the cache.
//
// Divided is by the number of blocks in a row, and that of boxes in y, in z in a tile, and in t. The host (src/operator/stencil/traversal.rs) gives these numbers with
// the factors and shifts that replace divisions by them.
#define WAY const uint4 divisors, const uint4 factors, const uint4 shifts, const uint boxes
#define QUOTIENT(n, divisor) (mul_hi(2 * (n), factors.divisor) >> shifts.divisor)

// Where the block is that a work-item computes.
static inline position position_of_item(const uint item, const uint parity, const uint t_origin, WAY)
{
    const uint side = IN_ORDER ? 0 : boxes;
    const uint row = QUOTIENT(item, x), box = row >> (3 * side);
    const uint slice = QUOTIENT(box, y), time = QUOTIENT(slice, z);
    const uint tile = IN_ORDER ? 0 : QUOTIENT(time, w);
    position p;
    p.y = ((box - slice * divisors.y) << side) + (row & side);
    p.z = ((slice - (time - tile) * divisors.z) << side) + ((row >> 1) & side);
    p.t = ((time - tile * divisors.w) << side) + ((row >> 2) & side);
    p.x = x_of(item - row * divisors.x, p, parity, t_origin);
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

#if HALO
// The number of a lane's site among those of its parity on a time slice of the whole lattice.
static inline size_t face_site(const uint4 extents, const position p, const uint lane)
{
    const uint x = p.x + lane % NX * extents.x;
    const uint y = p.y + lane / NX % NY * extents.y;
    const uint z = p.z + lane / (NX * NY) * extents.z;
    return ((size_t)z * (NY * extents.y) + y) * (NX * extents.x / 2) + (x >> 1);
}

static inline size_t face_sites(const uint4 extents)
{
    return (size_t)NX * extents.x * NY * extents.y * NZ * extents.z / 2;
}

// From one source to the next.
#define HALO_STRIDE (2 * 2 * HALF_SPINOR_COMPONENTS * face_sites(extents))

// Halo buffers are [parity of the site that was packed][component][face site][re, im], whatever the lanes of either device.
static inline size_t halo_address(const uint4 extents, const uint parity, const int component, const position p, const uint lane)
{
    return 2 * ((parity * HALF_SPINOR_COMPONENTS + component) * face_sites(extents) + face_site(extents, p, lane));
}

static inline half_spinor load_halo(__global const real * halo, const uint4 extents, const uint parity, const position p)
{
    half_spinor projected;
#if UNIT_NUMBERS
    projected.unit = (vreal)1;
#endif
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {
        for (uint lane = 0; lane < LANES; ++lane) {
            const size_t address = halo_address(extents, parity, k, p, lane);
            ((real *)&projected.h[k].re)[lane] = halo[address];
            ((real *)&projected.h[k].im)[lane] = halo[address + 1];
        }
    }
    return projected;
}

static inline void store_halo(__global real * halo, const uint4 extents, const uint parity, const position p, half_spinor projected)
{
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {
#if UNIT_NUMBERS
        projected.h[k] = scale_number(projected.h[k], projected.unit);
#endif
        for (uint lane = 0; lane < LANES; ++lane) {
            const size_t address = halo_address(extents, parity, k, p, lane);
            halo[address] = ((const real *)&projected.h[k].re)[lane];
            halo[address + 1] = ((const real *)&projected.h[k].im)[lane];
        }
    }
}

// Packs what the neighbouring devices need of the slab's first and last time slice.
//   to_behind   (1 ∓ γ_t)ψ on the first slice
//   to_ahead    U_t† (1 ± γ_t)ψ on the last one, in LINK_UNIT
// `t_sign` is the sign of the links that leave the slab's last slice, if the stored ones do not have it. Without FULL `in` has
// one parity only, `first_parity`. The second dimension of the range are the sources.
__kernel EXPLICIT_VECTORS void pack_halo(__global const stored *restrict in, __global const stored *restrict links,
                                         __global real *restrict to_behind, __global real *restrict to_ahead, const uint4 extents, const uint blocks,
                                         const uint t_origin, const real t_sign, const uint first_parity)
{
    const uint row = extents.x / 2, face_blocks = row * extents.y * extents.z, last_slice = extents.w - 1;
    const uint item = get_global_id(0);
    if (item >= PARITIES * face_blocks)
        return;
    const size_t source = get_global_id(1);
    const uint parity = first_parity + item / face_blocks;
    const uint first = item % face_blocks;
    const uint last = first + last_slice * face_blocks;
    __global const stored *in_half = in + source * SOURCE_STRIDE + item / face_blocks * SPINOR_HALF_FIELD(blocks);
    __global const stored *links_half = links + parity * LINKS_HALF_FIELD(blocks);

    position p;
    p.y = first / row % extents.y;
    p.z = first / row / extents.y;
    p.t = 0;
    p.x = x_of(first % row, p, parity, t_origin);
    store_halo(to_behind + source * HALO_STRIDE, extents, parity, p, load_projected(in_half, blocks, first, 3, AHEAD_SIGN));
    p.t = last_slice;
    p.x = x_of(first % row, p, parity, t_origin);
    const half_spinor projected = load_projected(in_half, blocks, last, 3, -AHEAD_SIGN);
    store_halo(to_ahead + source * HALO_STRIDE, extents, parity, p,
               scale(times(load_link(links_half, blocks, last, 3), 1, projected), (vreal)t_sign));
}
#endif

// Around one source there is no loop, but a declaration in the scope around it: LLVM would take the stores out of a loop, and forget that they are to go past the
// caches.
#if SOURCES_PER_ITEM == 1
#define FOR_SOURCES(r) const int r = 0;
#else
#define FOR_SOURCES(r) _Pragma("unroll") for (int r = 0; r < SOURCES_PER_ITEM; ++r)
#endif

// The link of a hop, 2μ from ahead and 2μ + 1 from behind, which stands at a block.
#if SHARED_LINKS
#define LINK(hop, half_links, at) kept_link(shared_links + (hop) * KEPT_COMPLEX * LOCAL_SIZE + get_local_id(0), LOCAL_SIZE)
#else
#define LINK(hop, half_links, at) load_link(half_links, blocks, at, (hop) / 2)
#endif

// One direction of the hopping term. Of the spinors, those of neighbours in z and t are prefetched: the others are in the cache already. `at_end` and `at_start`
// say whether the step leaves the sub-lattice.
#define IS_FAR(mu) (PREFETCH_SPINORS && (mu) >= 2)
#define HOP_AHEAD(mu, neighbour, at_end, direction)                                                             \
    {                                                                                                           \
        const link u = LINK(2 * (mu), links_here, block);                                                       \
        if (PREFETCH != 0)                                                                                      \
            prefetch_link(links_here, blocks, block + PREFETCH, mu);                                            \
        FOR_SOURCES(r) {                                                                                        \
            if (IS_FAR(mu))                                                                                     \
                prefetch_projected(in_other + r * SOURCE_STRIDE, neighbour + PREFETCH, mu, AHEAD_SIGN);         \
            half_spinor projected =                                                                             \
                load_projected(in_other + r * SOURCE_STRIDE, blocks, neighbour, mu, AHEAD_SIGN);                \
            if (at_end) {                                                                                       \
                CROSS_AHEAD(direction, projected)                                                               \
            }                                                                                                   \
            add_reconstructed(sum + r, mu, AHEAD_SIGN, scale(times(u, 0, projected), WEIGHT_OF_PART));          \
        }                                                                                                       \
    }

#define HOP_BEHIND(mu, neighbour, at_start, direction)                                                          \
    {                                                                                                           \
        const link u = LINK(2 * (mu) + 1, links_other, neighbour);                                              \
        if (PREFETCH != 0)                                                                                      \
            prefetch_link(links_other, blocks, neighbour + PREFETCH, mu);                                       \
        FOR_SOURCES(r) {                                                                                        \
            if (IS_FAR(mu))                                                                                     \
                prefetch_projected(in_other + r * SOURCE_STRIDE, neighbour + PREFETCH, mu, -AHEAD_SIGN);        \
            half_spinor projected =                                                                             \
                load_projected(in_other + r * SOURCE_STRIDE, blocks, neighbour, mu, -AHEAD_SIGN);               \
            projected = times(u, 1, projected);                                                                 \
            if (at_start) {                                                                                     \
                CROSS_BEHIND(direction, projected)                                                              \
            }                                                                                                   \
            add_reconstructed(sum + r, mu, -AHEAD_SIGN, scale(projected, WEIGHT_OF_PART));                      \
        }                                                                                                       \
    }

#define NOTHING(projected)
#ifdef AHEAD_x
#define FROM_AHEAD_x(projected) PERMUTE(projected, AHEAD_x)
#define FROM_BEHIND_x(projected) PERMUTE(projected, BEHIND_x)
#else
#define FROM_AHEAD_x NOTHING
#define FROM_BEHIND_x NOTHING
#endif
#ifdef WRAP_x
#define SIGN_x(projected) projected = scale(projected, (vreal)(WRAP_x));
#else
#define SIGN_x NOTHING
#endif
#ifdef AHEAD_y
#define FROM_AHEAD_y(projected) PERMUTE(projected, AHEAD_y)
#define FROM_BEHIND_y(projected) PERMUTE(projected, BEHIND_y)
#else
#define FROM_AHEAD_y NOTHING
#define FROM_BEHIND_y NOTHING
#endif
#ifdef WRAP_y
#define SIGN_y(projected) projected = scale(projected, (vreal)(WRAP_y));
#else
#define SIGN_y NOTHING
#endif
#ifdef AHEAD_z
#define FROM_AHEAD_z(projected) PERMUTE(projected, AHEAD_z)
#define FROM_BEHIND_z(projected) PERMUTE(projected, BEHIND_z)
#else
#define FROM_AHEAD_z NOTHING
#define FROM_BEHIND_z NOTHING
#endif
#ifdef WRAP_z
#define SIGN_z(projected) projected = scale(projected, (vreal)(WRAP_z));
#else
#define SIGN_z NOTHING
#endif
#ifdef AHEAD_t
#define FROM_AHEAD_t(projected) PERMUTE(projected, AHEAD_t)
#define FROM_BEHIND_t(projected) PERMUTE(projected, BEHIND_t)
#else
#define FROM_AHEAD_t NOTHING
#define FROM_BEHIND_t NOTHING
#endif
#ifdef WRAP_t
#define SIGN_t(projected) projected = scale(projected, (vreal)(WRAP_t));
#else
#define SIGN_t NOTHING
#endif

// A link's sign belongs to the site it leaves from: this one for a hop from ahead, the neighbour for one from behind.
#define CROSS_AHEAD(direction, projected)                                                                    \
    FROM_AHEAD_##direction(projected)                                                                        \
    SIGN_##direction(projected)
#define CROSS_BEHIND(direction, projected)                                                                   \
    SIGN_##direction(projected)                                                                              \
    FROM_BEHIND_##direction(projected)

// A group's shares of the work, rounds.y of them. In each round rounds.x groups, those that run at the same time, have shares beside each other, so that they find
// each other's neighbours in the cache. On a processor rounds.x is 1: a group goes on beside what it has just done.
#if ROUNDS
#define FIRST_SHARE (get_group_id(0) / rounds.x * rounds.x * rounds.y + get_group_id(0) % rounds.x)
#define FOR_SHARES(share) for (uint share = FIRST_SHARE, round = 0; round < rounds.y; ++round, share += rounds.x)
#else
#define FOR_SHARES(share) for (uint share = get_group_id(0), round = 0; round < 1; ++round)
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

#if SHARED_LINKS
#define HOPS 8
#define SHARED_NUMBERS (HOPS * KEPT_COMPLEX * LOCAL_SIZE)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))

// Makes the links of all hops to the blocks of a share whole, in [hop][number][place in the group].
static inline void share_links(__local pair *shared, __global const stored *links, const uint4 extents, const uint blocks, WAY,
                               const uint t_origin, const uint share
#if !FULL
                               , const uint parity
#endif
)
{
    const uint items = LOCAL_SIZE * (SOURCES / SOURCES_PER_ITEM);
    for (uint k = get_local_id(1) * LOCAL_SIZE + get_local_id(0); k < HOPS * LOCAL_SIZE; k += items) {
        const uint hop = k / LOCAL_SIZE, place = k % LOCAL_SIZE;
#if FULL
        const uint parity = PARITY_OF(place, share);
#endif
        const uint item = ITEM_OF(place, share);
        if (item < blocks) {
            const position p = position_of_item(item, parity, t_origin, divisors, factors, shifts, boxes);
            const uint block = block_of(extents, p.x, p.y, p.z, p.t);
            const uint behind = hop % 2;
            const uint at = behind ? neighbour_of(hop, extents, p, block) : block;
            const uint parity_there = behind ? 1 - parity : parity;
            const link u = load_link(links + parity_there * LINKS_HALF_FIELD(blocks), blocks, at, hop / 2);
            keep_link(shared + hop * KEPT_COMPLEX * LOCAL_SIZE + place, LOCAL_SIZE, u);
        }
    }
}
#endif

__kernel EXPLICIT_VECTORS void wilson(__global const stored *restrict in, __global stored *restrict out, __global const stored *restrict links,
                                      const uint4 extents, const uint blocks, WAY, const real coefficient, const uint t_origin
#if ROUNDS
                                      , const uint2 rounds
#endif
#if FULL
                                      , const real shift
#else
                                      , const uint parity
#endif
#if !FULL && SHIFT
                                      , const real shift, __global const stored *restrict shifted
#endif
#if HALO
                                      , __global const real *restrict from_ahead, __global const real *restrict from_behind, const real t_sign
#endif
#if PRODUCTS
                                      , __global const stored *restrict against
#endif
#if SUBTRACT
                                      , NUMBER_MEMORY, NUMBER_PARAMETERS(a)
#endif
#if NORM2
                                      , REDUCTION_PARAMETERS
#endif
#if SUBTRACT_BLOCK
                                      , __global const double2 *restrict matrix
#endif
#if GRAM
                                      , __global double2 *restrict partials
#endif
)
{
#if NORM2
    REDUCTION_LOCAL;
    vdouble norm2 = (vdouble)0;
#endif
#if PRODUCTS
    vdouble product_re = (vdouble)0, product_im = (vdouble)0;
#endif
#if SUBTRACT
    const vcomplex minus_a = splat(-NUMBER(a));
#endif
#if GRAM
    // For links, then for results, then for sums.
    __local double2 shared_links[LARGER(LARGER(SHARED_NUMBERS, STAGED_NUMBERS), GRAM_NUMBERS)];
    __local uint places[LOCAL_SIZE];
    SHOWN_LOCAL;
    GRAM_SUMS;
    spinor result;
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c)
        result.s[c].re = result.s[c].im = 0;
#if SUBTRACT_BLOCK
    __local double2 matrix_fragments[FRAGMENTS];
    spread_factors(matrix, matrix_fragments);
#endif
#elif SHARED_LINKS
    __local pair shared_links[SHARED_NUMBERS];
#endif
    FOR_SHARES(share) {
#if SHARED_LINKS
        if (ROUNDS)
            barrier(CLK_LOCAL_MEM_FENCE);
#if GRAM
        if (get_local_id(1) == 0) {
            const uint item = ITEM_OF(get_local_id(0), share);
            const position p = position_of_item(item, parity, t_origin, divisors, factors, shifts, boxes);
            places[get_local_id(0)] = item < blocks ? block_of(extents, p.x, p.y, p.z, p.t) : NOWHERE;
        }
#endif
        share_links(shared_links, links, extents, blocks, divisors, factors, shifts, boxes, t_origin, share
#if !FULL
                    , parity
#endif
        );
        barrier(CLK_LOCAL_MEM_FENCE);
#endif
#if FULL
        const uint parity = PARITY_OF(get_local_id(0), share);
#endif
        const uint item = ITEM_OF(get_local_id(0), share);
        if (item < blocks) {
#if SOURCES > 1
            const size_t first_source = get_global_id(1) * SOURCES_PER_ITEM * SOURCE_STRIDE;
#else
            const size_t first_source = 0;
#endif
#if FULL
            const size_t here = first_source + parity * SPINOR_HALF_FIELD(blocks);
            __global const stored *in_other = in + first_source + (1 - parity) * SPINOR_HALF_FIELD(blocks);
            __global const stored *shifted = in;
#else
            const size_t here = first_source;
            __global const stored *in_other = in + first_source;
#endif
            const position p = position_of_item(item, parity, t_origin, divisors, factors, shifts, boxes);
            const uint block = IN_ORDER ? item : block_of(extents, p.x, p.y, p.z, p.t);
            __global const stored *links_here = links + parity * LINKS_HALF_FIELD(blocks);
            __global const stored *links_other = links + (1 - parity) * LINKS_HALF_FIELD(blocks);

            spinor sum[SOURCES_PER_ITEM];
            {
                FOR_SOURCES(r) {
#pragma unroll
                    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
                        sum[r].s[c].re = (vreal)0;
                        sum[r].s[c].im = (vreal)0;
                    }
                }
            }

            const uint4 last = extents - 1;
#define NEIGHBOUR(hop) neighbour_of(hop, extents, p, block)
            HOP_AHEAD(0, NEIGHBOUR(0), p.x == last.x, x)
            HOP_BEHIND(0, NEIGHBOUR(1), p.x == 0, x)
            HOP_AHEAD(1, NEIGHBOUR(2), p.y == last.y, y)
            HOP_BEHIND(1, NEIGHBOUR(3), p.y == 0, y)
            HOP_AHEAD(2, NEIGHBOUR(4), p.z == last.z, z)
            HOP_BEHIND(2, NEIGHBOUR(5), p.z == 0, z)
#if HALO
            __global const real *halo_ahead = from_ahead + first_source / SOURCE_STRIDE * HALO_STRIDE;
            __global const real *halo_behind = from_behind + first_source / SOURCE_STRIDE * HALO_STRIDE;
            if (p.t == last.w) {
                const link u = LINK(6, links_here, block);
                FOR_SOURCES(r) {
                    const half_spinor projected = scale(load_halo(halo_ahead + r * HALO_STRIDE, extents, 1 - parity, p), (vreal)t_sign);
                    add_reconstructed(sum + r, 3, AHEAD_SIGN, scale(times(u, 0, projected), WEIGHT_OF_PART));
                }
            } else
                HOP_AHEAD(3, NEIGHBOUR(6), false, t)
            if (p.t == 0) {
                FOR_SOURCES(r) {
                    const half_spinor projected = load_halo(halo_behind + r * HALO_STRIDE, extents, 1 - parity, p);
                    add_reconstructed(sum + r, 3, -AHEAD_SIGN, scale(projected, WEIGHT_OF_PART));
                }
            } else
                HOP_BEHIND(3, NEIGHBOUR(7), false, t)
#else
            HOP_AHEAD(3, NEIGHBOUR(6), p.t == last.w, t)
            HOP_BEHIND(3, NEIGHBOUR(7), p.t == 0, t)
#endif

            FOR_SOURCES(r) {
                // The fields at this place, but for what is in the cache already: `in` of the full operator, and what that is multiplied with, most often the same.
#if PREFETCH_SPINORS && SHIFT
                prefetch_components(shifted + here + r * SOURCE_STRIDE, block + PREFETCH, 0, SPINOR_COMPONENTS);
#endif
#if PREFETCH_SPINORS && SUBTRACT
                prefetch_components(out + here, block + PREFETCH, 0, SPINOR_COMPONENTS);
#endif
#if PREFETCH_SPINORS && PRODUCTS && !FULL
                prefetch_components(against + here, block + PREFETCH, 0, SPINOR_COMPONENTS);
#endif
                spinor value;
#if FULL || SHIFT
                const spinor psi = load_spinor(shifted + here + r * SOURCE_STRIDE, blocks, block);
#endif
#pragma unroll
                for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
                    const int from = GAMMA5 ? (c + SPINOR_COMPONENTS / 2) % SPINOR_COMPONENTS : c;
                    value.s[c] = scale_number(sum[r].s[from], (vreal)WEIGHT_OF_SUM);
#if FULL || SHIFT
                    value.s[c] = add_scaled(value.s[c], (vreal)shift, psi.s[from]);
#endif
                }
#if SUBTRACT
                const spinor before = load_spinor(out + here, blocks, block);
#pragma unroll
                for (int c = 0; c < SPINOR_COMPONENTS; ++c)
                    value.s[c] = multiply_add(before.s[c], minus_a, value.s[c]);
#endif
#if GRAM
                result = value;
#endif
#if !SUBTRACT_BLOCK
                store_spinor(out + here + r * SOURCE_STRIDE, blocks, block, value);
#endif
#if PRODUCTS
                add_product(&product_re, &product_im, load_spinor(against + here, blocks, block), value);
#endif
#if NORM2
                norm2 = add_norm2(norm2, value);
#endif
            }
        }
    }
#if GRAM
    end_block(result, places, shared_links, sums
#if SUBTRACT_BLOCK
              , blocks, matrix_fragments, out
#endif
              SHOWN);
    GROUP_BARRIER;
    publish(sums, shared_links, partials);
#endif
#if NORM2
#if PRODUCTS
    REDUCE(3, sum_of_lanes(product_re), sum_of_lanes(product_im), sum_of_lanes(norm2));
#else
    REDUCE(1, sum_of_lanes(norm2), 0.0, 0.0);
#endif
#endif
}
