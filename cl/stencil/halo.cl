// Hops across the faces of a domain, from and to the devices beside it.
//
// A step out of the domain takes its projected spinor from a buffer. The neighbouring device has filled it by
// pack_halos, or by the first groups of its own stencil. Projected spinors from behind have been multiplied by their links already.
//
// FLAGS          1 where domains tell each other by flags that faces are packed; a work-item waits for what it needs. Elsewhere they are there
//                when the groups at faces run, and those inside may run before
// PACKS          1 with FLAGS, if the first groups of a stencil may pack the faces, in front of the groups that have sites
// MEETS          1 with PACKS, if the group that ends last may add the sums of all devices (mailboxes.cl)
// HALO           the directions that are cut over devices: the sum of 1 for x, 2 for y, 4 for z and 8 for t
// NX NY NZ NT    sub-lattices in x, y, z and t: one in a direction that is cut over devices

#define HOPS_INSIDE(mu, ahead, behind, direction, component)                    \
    HOP_AHEAD(mu, NEIGHBOUR(ahead), p.direction == last.component, direction)   \
    HOP_BEHIND(mu, NEIGHBOUR(behind), p.direction == 0, direction)

#if HALO
// The number of a lane's site among those of its parity on a slice of the domain across direction μ. Without μ, sites are numbered
// as ever. Across x, of the rows with numbers 2n and 2n + 1 one has a site of this parity on the slice.
static inline size_t face_site(const int mu, const uint4 extents, const position p, const uint lane)
{
    const uint x = p.x + lane % NX * extents.x;
    const uint y = p.y + lane / NX % NY * extents.y;
    const uint z = p.z + lane / (NX * NY) % NZ * extents.z;
    const uint t = p.t + lane / (NX * NY * NZ) * extents.w;
    size_t row = mu == 3 ? 0 : t;
    row = mu == 2 ? row : row * (NZ * extents.z) + z;
    row = mu == 1 ? row : row * (NY * extents.y) + y;
    return mu == 0 ? row >> 1 : row * (NX * extents.x / 2) + (x >> 1);
}

// As face_sites of src/geometry/layout.rs.
static inline size_t face_sites(const int mu, const uint4 extents)
{
    const size_t x = mu == 0 ? 1 : NX * extents.x, y = mu == 1 ? 1 : NY * extents.y;
    const size_t z = mu == 2 ? 1 : NZ * extents.z, t = mu == 3 ? 1 : NT * extents.w;
    return (x * y * z * t + 1) / 2;
}

// From one right-hand side to the next.
#define HALO_STRIDE(mu) (2 * 2 * HALF_SPINOR_COMPONENTS * face_sites(mu, extents))

// A complex number of a halo. Links between devices carry whole numbers twice as fast as single reals.
#define halo_number JOIN(REAL, 2)

// Halo buffers are [parity of the site that was packed][component][face site] of complex numbers, whatever the lanes of either device.
static inline size_t halo_address(const int mu, const uint4 extents, const uint parity, const int component, const position p,
                                  const uint lane)
{
    return (parity * HALF_SPINOR_COMPONENTS + component) * face_sites(mu, extents) + face_site(mu, extents, p, lane);
}

static inline half_spinor load_halo(const int mu, __global const real *halo, const uint4 extents, const uint parity,
                                    const position p)
{
    half_spinor projected;
#if UNIT_NUMBERS
    projected.unit = (vreal)1;
#endif
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {
        for (uint lane = 0; lane < LANES; ++lane) {
            const halo_number number =
                ((__global const halo_number *)halo)[halo_address(mu, extents, parity, k, p, lane)];
            ((real *)&projected.h[k].re)[lane] = number.x;
            ((real *)&projected.h[k].im)[lane] = number.y;
        }
    }
    return projected;
}

static inline void store_halo(const int mu, __global real *halo, const uint4 extents, const uint parity, const position p,
                              half_spinor projected)
{
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {
#if UNIT_NUMBERS
        projected.h[k] = scale_number(projected.h[k], projected.unit);
#endif
        for (uint lane = 0; lane < LANES; ++lane) {
            const real re = ((const real *)&projected.h[k].re)[lane], im = ((const real *)&projected.h[k].im)[lane];
            ((__global halo_number *)halo)[halo_address(mu, extents, parity, k, p, lane)] = (halo_number)(re, im);
        }
    }
}

// Blocks of both parities on a face, as face_blocks of src/geometry/layout.rs. Across x a block stands for a row, one end of which has the
// parity.
static inline uint packed_blocks(const int mu, const uint4 extents)
{
    return PARITIES * (mu == 0 ? 1 : extents.x / 2) * (mu == 1 ? 1 : extents.y) * (mu == 2 ? 1 : extents.z) * (mu == 3 ? 1 : extents.w);
}

// Packs what a neighbouring device needs of the domain's first or last slice across direction μ, for one block of one right-hand side.
//   to_behind   (1 ∓ γ_μ)ψ on the first slice, unless `is_ahead`
//   to_ahead    U_μ† (1 ± γ_μ)ψ on the last one, in LINK_UNIT, if `is_ahead`
// `phase` is that of the links that leave the domain's last slice, if the stored ones do not have it. Without FULL `in` has one parity
// only, `first_parity`.
static inline void pack_face(const int mu, __global const stored *in, __global const stored *links, __global real *to_behind,
                             __global real *to_ahead, const uint4 extents, const uint blocks, const uint origin, const real phase_re,
                             const real phase_im, const uint first_parity, const bool is_ahead, const uint source, const uint item)
{
    const uint row = mu == 0 ? 1 : extents.x / 2, y = mu == 1 ? 1 : extents.y, z = mu == 2 ? 1 : extents.z;
    const uint face_blocks = packed_blocks(mu, extents) / PARITIES;
    const uint parity = first_parity + item / face_blocks;
    const uint number = item % face_blocks;
    __global const stored *in_half = in + source * COLUMN_STRIDE + item / face_blocks * SPINOR_HALF_FIELD(blocks);
    __global const stored *links_half = links + parity * LINKS_HALF_FIELD(blocks);

    position p;
    p.y = number / row % y;
    p.z = number / (row * y) % z;
    p.t = number / (row * y * z);
    p.x = x_of(number % row, p, parity, origin);
    if (!is_ahead && (mu != 0 || p.x == 0)) {
        const uint first = block_of(extents, p.x, p.y, p.z, p.t);
        store_halo(mu, to_behind + source * HALO_STRIDE(mu), extents, parity, p, load_projected(in_half, blocks, first, mu, AHEAD_SIGN));
    }
    if (!is_ahead)
        return;

    if (mu == 1)
        p.y = extents.y - 1;
    if (mu == 2)
        p.z = extents.z - 1;
    if (mu == 3)
        p.t = extents.w - 1;
    p.x = x_of(mu == 0 ? extents.x / 2 - 1 : number % row, p, parity, origin);
    if (mu != 0 || p.x == extents.x - 1) {
        const uint last = block_of(extents, p.x, p.y, p.z, p.t);
        const half_spinor projected = load_projected(in_half, blocks, last, mu, -AHEAD_SIGN);
        store_halo(mu, to_ahead + source * HALO_STRIDE(mu), extents, parity, p,
                   turn(times(load_link(links_half, blocks, last, mu), 1, projected), (vreal)phase_re, (vreal)-phase_im));
    }
}

#if FLAGS
#define TOLD(direction) , __global uint *at_behind_##direction, __global uint *at_ahead_##direction
#define RAISE_PARAMETERS , __global uint *groups_done, const uint self, const uint told
#define RAISE_AT(direction) flag_raise_both(at_behind_##direction, at_ahead_##direction, self, told);
// After the last of `groups` groups.
#define RAISE_FLAGS(groups)                          \
    if (is_behind_all_groups(groups_done, groups)) { \
        RAISE_X RAISE_Y RAISE_Z RAISE_T              \
    }
// What is received changes while the kernel runs, so it is not `restrict`.
#define RECEIVED __global const real *
#define BESIDE(direction) , const uint2 beside_##direction
#define WAIT_PARAMETERS , __global uint *flags, const uint epoch, const uint patience, __global uint *mark
#define WAIT_FOR(domain) flag_wait(flags + (domain) * FLAG_STRIDE, epoch, patience, mark, (domain) + 1);
#else
#define TOLD(direction)
#define RAISE_PARAMETERS
#define RAISE_AT(direction)
#define RAISE_FLAGS(groups)
#define RECEIVED __global const real *restrict
#define BESIDE(direction)
#define WAIT_PARAMETERS
#define WAIT_FOR(domain)
#endif

#define PACK_PARAMETERS(direction)                                                                                        \
    , __global real *restrict to_behind_##direction, __global real *restrict to_ahead_##direction,                        \
        const real leaving_re_##direction, const real leaving_im_##direction TOLD(direction)

// Packs unit number `unit` of those of a direction: blocks, right-hand sides, and the sides behind and ahead. Leaves the number among those
// of the other directions.
#define PACK_FACES(mu, direction)                                                                                         \
    {                                                                                                                     \
        const uint face = packed_blocks(mu, extents), side = face * COLUMNS;                                              \
        if (unit < 2 * side)                                                                                              \
            pack_face(mu, in, links, to_behind_##direction, to_ahead_##direction, extents, blocks, origin,                \
                      leaving_re_##direction, leaving_im_##direction, first_parity, unit >= side,                         \
                      COLUMNS > 1 ? unit % side / face : 0, unit % face);                                                 \
        unit = unit < 2 * side ? NO_UNIT : unit - 2 * side;                                                               \
    }

// More than there are.
#define NO_UNIT 0x80000000u

#define FACE_PARAMETERS(direction) , RECEIVED from_ahead_##direction, RECEIVED from_behind_##direction BESIDE(direction)

// A step out of the domain ends within it, as if the domain were closed, and its projected spinor counts nothing. So all sites have the
// same loads, which compilers begin early. The received spinor is added behind the hops, by the sites at a face alone.
#define NOTHING_FOUND(projected)                              \
    _Pragma("unroll")                                        \
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {       \
        (projected).h[k].re = (vreal)0;                        \
        (projected).h[k].im = (vreal)0;                        \
    }
#define FROM_AHEAD_outside NOTHING_FOUND
#define FROM_BEHIND_outside NOTHING_FOUND
#define PHASE_AHEAD_outside NOTHING
#define PHASE_BEHIND_outside NOTHING

#define HOPS_ACROSS(mu, ahead, behind, direction, component)                         \
    HOP_AHEAD(mu, NEIGHBOUR(ahead), p.direction == last.component, outside)          \
    HOP_BEHIND(mu, NEIGHBOUR(behind), p.direction == 0, outside)

#define ADD_FACES(mu, ahead, direction, component)                                                                           \
    if (p.direction == last.component) {                                                                                     \
        WAIT_FOR(beside_##direction.x)                                                                                       \
        __global const real *halo = from_ahead_##direction + first_column / COLUMN_STRIDE * HALO_STRIDE(mu);                 \
        const link u = LINK(ahead, links_here, block);                                                                       \
        FOR_COLUMNS(r) {                                                                                                     \
            half_spinor projected = load_halo(mu, halo + r * HALO_STRIDE(mu), extents, 1 - parity, p);                       \
            PHASE_AHEAD_##direction(projected)                                                                               \
            add_reconstructed(sum + r, mu, AHEAD_SIGN, scale(times(u, 0, projected), WEIGHT_OF_PART));                       \
        }                                                                                                                    \
    }                                                                                                                        \
    if (p.direction == 0) {                                                                                                  \
        WAIT_FOR(beside_##direction.y)                                                                                       \
        __global const real *halo = from_behind_##direction + first_column / COLUMN_STRIDE * HALO_STRIDE(mu);                \
        FOR_COLUMNS(r) {                                                                                                     \
            const half_spinor projected = load_halo(mu, halo + r * HALO_STRIDE(mu), extents, 1 - parity, p);                 \
            add_reconstructed(sum + r, mu, -AHEAD_SIGN, scale(projected, WEIGHT_OF_PART));                                   \
        }                                                                                                                    \
    }
#endif

#if HALO & 1
#define PACK_PARAMETERS_x PACK_PARAMETERS(x)
#define PACK_X PACK_FACES(0, x)
#define RAISE_X RAISE_AT(x)
#define HALO_PARAMETERS_x FACE_PARAMETERS(x)
#define HOPS_IN_X HOPS_ACROSS(0, 0, 1, x, x)
#define FACES_IN_X ADD_FACES(0, 0, x, x)
#else
#define PACK_PARAMETERS_x
#define PACK_X
#define RAISE_X
#define HALO_PARAMETERS_x
#define HOPS_IN_X HOPS_INSIDE(0, 0, 1, x, x)
#define FACES_IN_X
#endif

#if HALO & 2
#define PACK_PARAMETERS_y PACK_PARAMETERS(y)
#define PACK_Y PACK_FACES(1, y)
#define RAISE_Y RAISE_AT(y)
#define HALO_PARAMETERS_y FACE_PARAMETERS(y)
#define HOPS_IN_Y HOPS_ACROSS(1, 2, 3, y, y)
#define FACES_IN_Y ADD_FACES(1, 2, y, y)
#else
#define PACK_PARAMETERS_y
#define PACK_Y
#define RAISE_Y
#define HALO_PARAMETERS_y
#define HOPS_IN_Y HOPS_INSIDE(1, 2, 3, y, y)
#define FACES_IN_Y
#endif

#if HALO & 4
#define PACK_PARAMETERS_z PACK_PARAMETERS(z)
#define PACK_Z PACK_FACES(2, z)
#define RAISE_Z RAISE_AT(z)
#define HALO_PARAMETERS_z FACE_PARAMETERS(z)
#define HOPS_IN_Z HOPS_ACROSS(2, 4, 5, z, z)
#define FACES_IN_Z ADD_FACES(2, 4, z, z)
#else
#define PACK_PARAMETERS_z
#define PACK_Z
#define RAISE_Z
#define HALO_PARAMETERS_z
#define HOPS_IN_Z HOPS_INSIDE(2, 4, 5, z, z)
#define FACES_IN_Z
#endif

#if HALO & 8
#define PACK_PARAMETERS_t PACK_PARAMETERS(t)
#define PACK_T PACK_FACES(3, t)
#define RAISE_T RAISE_AT(t)
#define HALO_PARAMETERS_t FACE_PARAMETERS(t)
#define HOPS_IN_T HOPS_ACROSS(3, 6, 7, t, w)
#define FACES_IN_T ADD_FACES(3, 6, t, w)
#else
#define PACK_PARAMETERS_t
#define PACK_T
#define RAISE_T
#define HALO_PARAMETERS_t
#define HOPS_IN_T HOPS_INSIDE(3, 6, 7, t, w)
#define FACES_IN_T
#endif

// Without flags a launch may be of some of the groups: those inside, which need nothing of other domains, or those at faces. `part_groups` has their numbers from
// part.x on, and there are part.y groups in all. A group does all of its work in one launch, and sums are those of a single one.
#if HALO && !FLAGS
#define PART_PARAMETERS , __global const uint *restrict part_groups, const uint2 part
#undef GROUP
#define GROUP part_groups[part.x + get_group_id(0)]
#undef REDUCTION_GROUP
#define REDUCTION_GROUP GROUP
#undef REDUCTION_GROUPS
#define REDUCTION_GROUPS part.y
#else
#define PART_PARAMETERS
#endif

#define ALL_PACK_PARAMETERS PACK_PARAMETERS_x PACK_PARAMETERS_y PACK_PARAMETERS_z PACK_PARAMETERS_t RAISE_PARAMETERS

// The first packers.x groups of a launch have no sites. They pack packers.y units of faces. If there are none, pack_halos has packed them
// before. Packers are few, so that most of the device computes beside them. They wait for nobody, and come before all groups that wait.
// Sums are those of the other groups alone.
#if HALO && PACKS
#define PACKER_PARAMETERS ALL_PACK_PARAMETERS, const uint2 packers MEETING_PARAMETERS
#undef GROUP
#define GROUP (get_group_id(0) - front)
#undef REDUCTION_GROUP
#define REDUCTION_GROUP GROUP
#undef REDUCTION_GROUPS
#define REDUCTION_GROUPS (get_num_groups(0) - front)
#define FRONT , front
#define FRONT_PARAMETER , const uint front
#define GROUPS_IN_FRONT front
#if MEETS
#define MEETING_PARAMETERS                                                                                                \
    , __global double *boxes_one, __global double *boxes_other, __global uint *sum_flags_one, __global uint *sum_flags_other, \
        const uint devices, const uint sum_epoch, const uint sum_told, const uint sum_slot, __global const double *boxes, \
        __global uint *sum_flags
#undef REDUCE
#define REDUCE(count, a, b, c)                                                                                            \
    if (reduce(count, a, b, c, REDUCTION_GROUP, REDUCTION_GROUPS, reduction_scratch, &reduction_is_last,                  \
               reduction_partials, reduction_counters, reduction_results + 4 * reduction_slot) &&                        \
        sum_slot != 0) {                                                                                                  \
        send_sums(reduction_results, reduction_slot, boxes_one, boxes_other, sum_flags_one, sum_flags_other, self, devices, \
                  sum_epoch, sum_told, mark);                                                                                  \
        add_sums(reduction_results, reduction_slot, self, devices, sum_epoch, sum_slot, boxes, sum_flags, patience, mark); \
    }
#else
#define MEETING_PARAMETERS
#endif
#define PACK_IN_FIRST_GROUPS                                                                                              \
    const uint front = packers.x;                                                                                         \
    if (get_group_id(0) < front) {                                                                                        \
        const uint first_parity = FULL ? 0 : 1 - LAUNCH_PARITY, items = get_local_size(0) * get_local_size(1);            \
        for (uint number = get_group_id(0) * items + get_local_id(1) * get_local_size(0) + get_local_id(0);               \
             number < packers.y; number += front * items) {                                                               \
            uint unit = number;                                                                                           \
            PACK_X PACK_Y PACK_Z PACK_T                                                                                   \
        }                                                                                                                 \
        if (packers.y != 0) {                                                                                             \
            RAISE_FLAGS(front)                                                                                            \
        }                                                                                                                 \
        return;                                                                                                           \
    }
#if FULL
#define LAUNCH_PARITY 0
#else
#define LAUNCH_PARITY parity
#endif
#else
#define PACKER_PARAMETERS
#define PACK_IN_FIRST_GROUPS
#endif

#if HALO
#define HALO_PARAMETERS HALO_PARAMETERS_x HALO_PARAMETERS_y HALO_PARAMETERS_z HALO_PARAMETERS_t WAIT_PARAMETERS PART_PARAMETERS PACKER_PARAMETERS

// Packs all faces, a unit of a direction in each work-item.
__kernel EXPLICIT_VECTORS void pack_halos(__global const stored *restrict in, __global const stored *restrict links, const uint4 extents,
                                          const uint blocks, const uint origin, const uint first_parity ALL_PACK_PARAMETERS)
{
    uint unit = get_global_id(0);
    PACK_X
    PACK_Y
    PACK_Z
    PACK_T
    RAISE_FLAGS(get_num_groups(0))
}
#else
#define HALO_PARAMETERS
#endif
