// Vector operations on spinor fields: twin of src/host/spinor_fields.rs. A field has `parities` parities of BLOCKS blocks.
//
// Each work-group takes a contiguous part of the field, each work-item one block at a time; on a GPU it may be the only one.
//
// Sums are accumulated in double, lane by lane, and finished by reduction.cl. Fields are loaded before numbers are taken: a work-item need not wait
// for these first.

// for (each block in this work-item's share): its parity starts at number START of a field, and it is number `i` there
#define FOR_EACH_BLOCK(parities)                                                                             \
    const uint per_group = ((parities) * BLOCKS + get_num_groups(0) - 1) / get_num_groups(0);                \
    const uint group_start = min((uint)((parities) * BLOCKS), (uint)get_group_id(0) * per_group);            \
    const uint group_end = min((uint)((parities) * BLOCKS), group_start + per_group);                        \
    for (uint k = group_start + get_local_id(0), i = k % BLOCKS; k < group_end; k += LOCAL_SIZE, i = k % BLOCKS)

#define START (k / BLOCKS * SPINOR_HALF_FIELD)

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
__kernel void axpy(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(a), __global const stored *restrict x,
                   __global stored *restrict y)
{
    FOR_EACH_BLOCK(parities) {
        const spinor from = load_spinor(x + START, i), old = load_spinor(y + START, i);
        store_spinor(y + START, i, combine(old, splat(NUMBER(a)), from));
    }
}

// y = x + b y
__kernel void xpby(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(b), __global const stored *restrict x,
                   __global stored *restrict y)
{
    FOR_EACH_BLOCK(parities) {
        const spinor from = load_spinor(x + START, i), old = load_spinor(y + START, i);
        store_spinor(y + START, i, combine(from, splat(NUMBER(b)), old));
    }
}

// Sums: Re (x, y), Im (x, y).
__kernel void inner_product(const uint parities, __global const stored *restrict x, __global const stored *restrict y,
                            REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0;
    FOR_EACH_BLOCK(parities)
        add_product(&re, &im, load_spinor(x + START, i), load_spinor(y + START, i));
    REDUCE(2, sum_of_lanes(re), sum_of_lanes(im), 0.0);
}

// Sum: (x, x).
__kernel void norm2(const uint parities, __global const stored *restrict x, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities)
        sum = add_norm2(sum, load_spinor(x + START, i));
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// x = x + a p; r = r - a q. Sum: (r, r).
__kernel void advance(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(a), __global const stored *restrict p,
                      __global stored *restrict x, __global const stored *restrict q, __global stored *restrict r,
                      REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        const spinor direction = load_spinor(p + START, i), old = load_spinor(x + START, i);
        const spinor image = load_spinor(q + START, i), before = load_spinor(r + START, i);
        const double2 step = NUMBER(a);
        store_spinor(x + START, i, combine(old, splat(step), direction));
        const spinor residual = combine(before, splat(-step), image);
        store_spinor(r + START, i, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// p = r + b p; q = s + b q. Sums: (r, q), (q, q).
__kernel void redirect(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(b), __global const stored *restrict r,
                       __global stored *restrict p, __global const stored *restrict s, __global stored *restrict q,
                       REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0, sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        const spinor residual = load_spinor(r + START, i), direction = load_spinor(p + START, i);
        const spinor of_residual = load_spinor(s + START, i), of_direction = load_spinor(q + START, i);
        const vcomplex share = splat(NUMBER(b));
        store_spinor(p + START, i, combine(residual, share, direction));
        const spinor image = combine(of_residual, share, of_direction);
        store_spinor(q + START, i, image);
        add_product(&re, &im, residual, image);
        sum = add_norm2(sum, image);
    }
    REDUCE(3, sum_of_lanes(re), sum_of_lanes(im), sum_of_lanes(sum));
}

// r = r - a q. Sum: (r, r).
__kernel void subtract(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(a), __global const stored *restrict q,
                       __global stored *restrict r, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        const spinor image = load_spinor(q + START, i), before = load_spinor(r + START, i);
        const spinor residual = combine(before, splat(-NUMBER(a)), image);
        store_spinor(r + START, i, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// x = x + a p; p = r + b p.
__kernel void follow(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(a), NUMBER_PARAMETERS(b),
                     __global const stored *restrict r, __global stored *restrict x, __global stored *restrict p)
{
    FOR_EACH_BLOCK(parities) {
        const spinor residual = load_spinor(r + START, i), old = load_spinor(x + START, i);
        const spinor direction = load_spinor(p + START, i);
        store_spinor(x + START, i, combine(old, splat(NUMBER(a)), direction));
        store_spinor(p + START, i, combine(residual, splat(NUMBER(b)), direction));
    }
}

// x = x + a p + b r; r = r - b t. Sums: (q, r), (r, r).
__kernel void stabilise(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(a), NUMBER_PARAMETERS(b),
                        __global const stored *restrict p, __global const stored *restrict t, __global const stored *restrict q,
                        __global stored *restrict x, __global stored *restrict r, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0, sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        const spinor before = load_spinor(r + START, i), direction = load_spinor(p + START, i);
        const spinor old = load_spinor(x + START, i);
        const double2 step = NUMBER(b);
        store_spinor(x + START, i, combine(combine(old, splat(NUMBER(a)), direction), splat(step), before));
        const spinor residual = combine(before, splat(-step), load_spinor(t + START, i));
        store_spinor(r + START, i, residual);
        add_product(&re, &im, load_spinor(q + START, i), residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(3, sum_of_lanes(re), sum_of_lanes(im), sum_of_lanes(sum));
}

// p = r + b (p - c v).
__kernel void turn(const uint parities, NUMBER_MEMORY, NUMBER_PARAMETERS(b), NUMBER_PARAMETERS(c),
                   __global const stored *restrict r, __global const stored *restrict v, __global stored *restrict p)
{
    FOR_EACH_BLOCK(parities) {
        const spinor residual = load_spinor(r + START, i), image = load_spinor(v + START, i);
        const spinor direction = combine(load_spinor(p + START, i), splat(-NUMBER(c)), image);
        store_spinor(p + START, i, combine(residual, splat(NUMBER(b)), direction));
    }
}
