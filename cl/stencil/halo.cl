// Hops in t across the faces of a slab, from and to the neighbouring devices.
//
// A step out of the slab takes its projected spinor from a buffer, which the neighbouring device has filled by
// pack_halo. Projected spinors from behind have been multiplied by their links already.
//
// HALO           1 if the lattice has several slabs
// NX NY NZ       sub-lattices in x, y, z

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

#define HALO_PARAMETERS , __global const real *restrict from_ahead, __global const real *restrict from_behind, const real t_sign
#define HOPS_IN_T                                                                                                     \
    __global const real *halo_ahead = from_ahead + first_source / SOURCE_STRIDE * HALO_STRIDE;                        \
    __global const real *halo_behind = from_behind + first_source / SOURCE_STRIDE * HALO_STRIDE;                      \
    if (p.t == last.w) {                                                                                              \
        const link u = LINK(6, links_here, block);                                                                    \
        FOR_SOURCES(r) {                                                                                              \
            const half_spinor projected =                                                                             \
                scale(load_halo(halo_ahead + r * HALO_STRIDE, extents, 1 - parity, p), (vreal)t_sign);                \
            add_reconstructed(sum + r, 3, AHEAD_SIGN, scale(times(u, 0, projected), WEIGHT_OF_PART));                 \
        }                                                                                                             \
    } else                                                                                                            \
        HOP_AHEAD(3, NEIGHBOUR(6), false, t)                                                                          \
    if (p.t == 0) {                                                                                                   \
        FOR_SOURCES(r) {                                                                                              \
            const half_spinor projected = load_halo(halo_behind + r * HALO_STRIDE, extents, 1 - parity, p);           \
            add_reconstructed(sum + r, 3, -AHEAD_SIGN, scale(projected, WEIGHT_OF_PART));                             \
        }                                                                                                             \
    } else                                                                                                            \
        HOP_BEHIND(3, NEIGHBOUR(7), false, t)
#else
#define HALO_PARAMETERS
#define HOPS_IN_T                                \
    HOP_AHEAD(3, NEIGHBOUR(6), p.t == last.w, t) \
    HOP_BEHIND(3, NEIGHBOUR(7), p.t == 0, t)
#endif
