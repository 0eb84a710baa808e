// Vector operations on spinor fields: twin of src/host/spinor_fields.rs. A field has `parities` parities of `blocks` blocks.
//
// Each work-group takes a contiguous part of the field, each work-item one block at a time; on a GPU it may be the only one.
//
// Sums are accumulated in double, lane by lane, and finished by reduction.cl. Fields are loaded before numbers are taken: a work-item need not wait
// for these first.

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

// y = y + a x
__kernel EXPLICIT_VECTORS void axpy(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(a),
                                    __global const stored *restrict x, __global stored *restrict y)
{
    FOR_EACH_BLOCK(parities) {
        LOAD(from, x);
        LOAD(old, y);
        STORE(y, combine(old, splat(NUMBER(a)), from));
    }
}

// y = x + b y
__kernel EXPLICIT_VECTORS void xpby(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(b),
                                    __global const stored *restrict x, __global stored *restrict y)
{
    FOR_EACH_BLOCK(parities) {
        LOAD(from, x);
        LOAD(old, y);
        STORE(y, combine(from, splat(NUMBER(b)), old));
    }
}

// Sums: Re (x, y), Im (x, y).
__kernel EXPLICIT_VECTORS void inner_product(const uint parities, const uint blocks, __global const stored *restrict x,
                                             __global const stored *restrict y, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(left, x);
        LOAD(right, y);
        add_product(&re, &im, left, right);
    }
    REDUCE(2, sum_of_lanes(re), sum_of_lanes(im), 0.0);
}

// Sum: (x, x).
__kernel EXPLICIT_VECTORS void norm2(const uint parities, const uint blocks, __global const stored *restrict x, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(psi, x);
        sum = add_norm2(sum, psi);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// x = x + a p; r = r - a q. Sum: (r, r).
__kernel EXPLICIT_VECTORS void advance(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(a),
                                       __global const stored *restrict p, __global stored *restrict x, __global const stored *restrict q,
                                       __global stored *restrict r, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(direction, p);
        LOAD(old, x);
        LOAD(image, q);
        LOAD(before, r);
        const double2 step = NUMBER(a);
        STORE(x, combine(old, splat(step), direction));
        const spinor residual = combine(before, splat(-step), image);
        STORE(r, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// p = r + b p; q = s + b q. Sums: (r, q), (q, q).
__kernel EXPLICIT_VECTORS void redirect(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(b),
                                        __global const stored *restrict r, __global stored *restrict p,
                                        __global const stored *restrict s, __global stored *restrict q, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0, sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(residual, r);
        LOAD(direction, p);
        LOAD(of_residual, s);
        LOAD(of_direction, q);
        const vcomplex share = splat(NUMBER(b));
        STORE(p, combine(residual, share, direction));
        const spinor image = combine(of_residual, share, of_direction);
        STORE(q, image);
        add_product(&re, &im, residual, image);
        sum = add_norm2(sum, image);
    }
    REDUCE(3, sum_of_lanes(re), sum_of_lanes(im), sum_of_lanes(sum));
}

// x = x + a p; p = r + b p; q = s + b q. Sums: (r, q), (q, q).
__kernel EXPLICIT_VECTORS void follow_and_redirect(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(a),
                                                   NUMBER_PARAMETERS(b), __global const stored *restrict r,
                                                   __global const stored *restrict s, __global stored *restrict x,
                                                   __global stored *restrict p, __global stored *restrict q, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0, sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(direction, p);
        LOAD(old, x);
        LOAD(residual, r);
        STORE(x, combine(old, splat(NUMBER(a)), direction));
        const vcomplex share = splat(NUMBER(b));
        STORE(p, combine(residual, share, direction));
        LOAD(of_residual, s);
        LOAD(of_direction, q);
        const spinor image = combine(of_residual, share, of_direction);
        STORE(q, image);
        add_product(&re, &im, residual, image);
        sum = add_norm2(sum, image);
    }
    REDUCE(3, sum_of_lanes(re), sum_of_lanes(im), sum_of_lanes(sum));
}

// r = r - a q. Sum: (r, r).
__kernel EXPLICIT_VECTORS void subtract(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(a),
                                        __global const stored *restrict q, __global stored *restrict r, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(image, q);
        LOAD(before, r);
        const spinor residual = combine(before, splat(-NUMBER(a)), image);
        STORE(r, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// x = x + a p; p = r + b p.
__kernel EXPLICIT_VECTORS void follow(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(a), NUMBER_PARAMETERS(b),
                                      __global const stored *restrict r, __global stored *restrict x, __global stored *restrict p)
{
    FOR_EACH_BLOCK(parities) {
        LOAD(residual, r);
        LOAD(old, x);
        LOAD(direction, p);
        STORE(x, combine(old, splat(NUMBER(a)), direction));
        STORE(p, combine(residual, splat(NUMBER(b)), direction));
    }
}

// x = x + a p + b r; r = r - b t. Sums: (q, r), (r, r).
__kernel EXPLICIT_VECTORS void stabilise(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(a),
                                         NUMBER_PARAMETERS(b), __global const stored *restrict p, __global const stored *restrict t,
                                         __global const stored *restrict q, __global stored *restrict x, __global stored *restrict r,
                                         REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0, sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        LOAD(before, r);
        LOAD(direction, p);
        LOAD(old, x);
        const double2 step = NUMBER(b);
        STORE(x, combine(combine(old, splat(NUMBER(a)), direction), splat(step), before));
        LOAD(image, t);
        const spinor residual = combine(before, splat(-step), image);
        STORE(r, residual);
        LOAD(shadow, q);
        add_product(&re, &im, shadow, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(3, sum_of_lanes(re), sum_of_lanes(im), sum_of_lanes(sum));
}

// p = r + b (p - c v).
__kernel EXPLICIT_VECTORS void turn(const uint parities, const uint blocks, NUMBER_MEMORY, NUMBER_PARAMETERS(b), NUMBER_PARAMETERS(c),
                                    __global const stored *restrict r, __global const stored *restrict v, __global stored *restrict p)
{
    FOR_EACH_BLOCK(parities) {
        LOAD(residual, r);
        LOAD(image, v);
        LOAD(old, p);
        const spinor direction = combine(old, splat(-NUMBER(c)), image);
        STORE(p, combine(residual, splat(NUMBER(b)), direction));
    }
}
