// What fused updates of spinor fields are made of. The kernels themselves follow from their formulas: see
// src/field/space/kernel_text.rs; their twin is src/host/updates.rs.
//
// A field has `parities` parities of `blocks` blocks. Each work-group takes a contiguous part of the field, each
// work-item one block at a time; on a GPU it may be the only one. Sums are accumulated in double, lane by lane, and
// finished by reduction.cl.

// for (each block in this work-item's share): `k` is its number
#define FOR_EACH_BLOCK(parities)                                                                             \
    const uint per_group = ((parities) * blocks + get_num_groups(0) - 1) / get_num_groups(0);                \
    const uint group_start = min((parities) * blocks, (uint)get_group_id(0) * per_group);                    \
    const uint group_end = min((parities) * blocks, group_start + per_group);                                \
    for (uint k = group_start + get_local_id(0); k < group_end; k += LOCAL_SIZE)

#if LANES == 1 && !UNIT_NUMBERS
// What is done to all numbers alike need not know whose they are: instead of a stretch of each plane of vectors a work-group has as much of the
// memory in one piece.
#define VECTORS (SPINOR_COMPONENTS / PACK)
#define VECTOR_ADDRESS(field, vector)                                                                        \
    ((field) + 2 * PACK * ((size_t)group_start * VECTORS + (vector) * (group_end - group_start) + (k - group_start)))

#define LOAD(psi, field)                                                                                     \
    spinor psi;                                                                                              \
    _Pragma("unroll")                                                                                       \
    for (int vector = 0; vector < VECTORS; ++vector)                                                         \
        load_vector(VECTOR_ADDRESS(field, vector), PACK, 0, 1, psi.s + vector * PACK)

#define STORE(field, psi)                                                                                    \
    {                                                                                                        \
        const spinor result = psi;                                                                           \
        _Pragma("unroll")                                                                                   \
        for (int vector = 0; vector < VECTORS; ++vector)                                                     \
            store_vector(VECTOR_ADDRESS(field, vector), PACK, result.s + vector * PACK);                     \
    }
#else
// Where block number k is. A division is worth a branch.
#define PARITY (parities == 1 ? 0 : k / blocks)
#define HALF_FIELD(field) ((field) + PARITY * SPINOR_HALF_FIELD(blocks))
#define LOAD(psi, field) const spinor psi = load_spinor(HALF_FIELD(field), blocks, k - PARITY * blocks)
#define STORE(field, psi) store_spinor(HALF_FIELD(field), blocks, k - PARITY * blocks, psi)
#endif

// x + a y
static inline spinor combine(const spinor x, const vcomplex a, const spinor y)
{
    spinor sum;
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c)
        sum.s[c] = multiply_add(x.s[c], a, y.s[c]);
    return sum;
}
