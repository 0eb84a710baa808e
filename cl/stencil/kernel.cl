// The stencil on one device's domain of the lattice; twin of src/host/stencil.rs.
//
//   out = γ5^GAMMA5 (A ψ + B H ψ)
//
// It is made of parts. The hop gives H ψ. A site term multiplies it by B, and adds A ψ (site_….cl). An ending
// stores the result or subtracts it, and sums up (ending_….cl). This kernel is their sequence, and its parameters
// are those of the parts, in this order.
//
// Its groups have sites, but for those in front that pack faces (halo.cl).
//
// FULL: `in` and `out` have both parities, and ψ is `in`. Otherwise `out` has one, `parity`, and `in` the other.
// Then ψ is `shifted`, of the parity of `out` (SHIFT), or there is none.
//
// A site term defines
//   SITE_PARAMETERS                     what it takes
//   SITE_PREFETCH(at)                   asks for what it will load a few blocks later
//   SITE_AFTER_HOP(value)               value = B / coefficient times value
//   SITE_ADD(value, at)                 value = value + A ψ; `at` is where the right-hand side begins in its field
// An ending defines
//   ENDING_PARAMETERS                   what it takes
//   ENDING_SHARED                       numbers of the local memory for shared links that it needs later
//   ENDING_BEGIN                        before the first block
//   ENDING_PLACE(share)                 before the links of a share are shared
//   ENDING_PREFETCH                     asks for what it will load a few blocks later
//   ENDING_TAKE(value, at)              takes the result of a block
//   ENDING_FINISH                       after the last block
// All of them know `blocks`, `block` and `here`, and fields begin with right-hand side number 0.
//
// FULL SHIFT GAMMA5    0 or 1

#define LARGER(a, b) ((a) > (b) ? (a) : (b))

__kernel EXPLICIT_VECTORS void wilson(__global const stored *restrict in, __global stored *restrict out, __global const stored *restrict links,
                                      const uint4 extents, const uint blocks, WAY, const real coefficient, const uint origin
                                      ROUNDS_PARAMETER PARITY_PARAMETER SITE_PARAMETERS SPACE_PARAMETERS BOUNDARY_PARAMETERS HALO_PARAMETERS ENDING_PARAMETERS)
{
    PACK_IN_FIRST_GROUPS
#if SHARED_LINKS
    __local pair shared_links[LARGER(SHARED_NUMBERS, ENDING_SHARED)];
#endif
    ENDING_BEGIN
    FOR_SHARES(share) {
#if SHARED_LINKS
        if (ROUNDS)
            barrier(CLK_LOCAL_MEM_FENCE);
        ENDING_PLACE(share)
        SHARE_LINKS(share)
#endif
#if FULL
        const uint parity = PARITY_OF(get_local_id(0), share);
#endif
        const uint item = ITEM_OF(get_local_id(0), share);
        if (item < blocks) {
#if COLUMNS > 1
            const size_t first_column = get_global_id(1) * COLUMNS_PER_ITEM * COLUMN_STRIDE;
#else
            const size_t first_column = 0;
#endif
#if FULL
            const size_t here = first_column + parity * SPINOR_HALF_FIELD(blocks);
            __global const stored *in_other = in + first_column + (1 - parity) * SPINOR_HALF_FIELD(blocks);
            __global const stored *shifted = in;
#else
            const size_t here = first_column;
            __global const stored *in_other = in + first_column;
#endif
            const position p = position_of_item(item, parity, origin, divisors, factors, shifts, order);
            const uint block = IN_ORDER ? item : block_of(extents, p.x, p.y, p.z, p.t);
            __global const stored *links_here = links + parity * LINKS_HALF_FIELD(blocks);
            __global const stored *links_other = links + (1 - parity) * LINKS_HALF_FIELD(blocks);

            spinor sum[COLUMNS_PER_ITEM];
            {
                FOR_COLUMNS(r) {
#pragma unroll
                    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
                        sum[r].s[c].re = (vreal)0;
                        sum[r].s[c].im = (vreal)0;
                    }
                }
            }

            const uint4 last = extents - 1;
#define NEIGHBOUR(hop) neighbour_of(hop, extents, p, block)
            HOPS_IN_X
            HOPS_IN_Y
            HOPS_IN_Z
            FACES_IN_X
            FACES_IN_Y
            FACES_IN_Z
            WEIGHT_SPACE
            HOPS_IN_T
            FACES_IN_T

            FOR_COLUMNS(r) {
                SITE_PREFETCH(here + r * COLUMN_STRIDE)
                ENDING_PREFETCH
                spinor before_gamma5, value;
#pragma unroll
                for (int c = 0; c < SPINOR_COMPONENTS; ++c)
                    before_gamma5.s[c] = scale_number(sum[r].s[c], (vreal)WEIGHT_OF_SUM);
                SITE_AFTER_HOP(before_gamma5)
                SITE_ADD(before_gamma5, here + r * COLUMN_STRIDE)
#pragma unroll
                for (int c = 0; c < SPINOR_COMPONENTS; ++c)
                    value.s[c] = before_gamma5.s[GAMMA5 ? (c + SPINOR_COMPONENTS / 2) % SPINOR_COMPONENTS : c];
                ENDING_TAKE(value, here + r * COLUMN_STRIDE)
            }
        }
    }
    ENDING_FINISH
}
