// Vector operations on spinor fields: twin of src/host/spinor_fields.rs. A field has `parities` parities of BLOCKS blocks.
//
// Each work-group takes a contiguous part of the field, each work-item one block at a time. Sums are accumulated in double, lane by lane,
// and finished by reduction.cl.

// for (each block in this work-item's share): its parity starts at number `start` of a field, and it is number `i` there
#define FOR_EACH_BLOCK(parities)                                                                             \
    const uint per_group = ((parities) * BLOCKS + get_num_groups(0) - 1) / get_num_groups(0);                \
    const uint group_start = min((uint)((parities) * BLOCKS), (uint)get_group_id(0) * per_group);            \
    const uint group_end = min((uint)((parities) * BLOCKS), group_start + per_group);                        \
    for (uint k = group_start + get_local_id(0), i = k % BLOCKS; k < group_end; k += LOCAL_SIZE, i = k % BLOCKS)

#define START (k / BLOCKS * SPINOR_HALF_FIELD)

static inline vcomplex scalar_complex(const real re, const real im)
{
    vcomplex value;
    value.re = (vreal)re;
    value.im = (vreal)im;
    return value;
}

// x + a y
static inline spinor combine(const spinor x, const vcomplex a, const spinor y)
{
    spinor sum;
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c)
        sum.s[c] = multiply_add(x.s[c], a, y.s[c]);
    return sum;
}

// sum + |x|²
static inline vdouble add_norm2(vdouble sum, const spinor x)
{
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
        const vdouble re = TO_DOUBLE(x.s[c].re), im = TO_DOUBLE(x.s[c].im);
        sum = fma(im, im, fma(re, re, sum));
    }
    return sum;
}

// y = y + a x
__kernel void axpy(const uint parities, const real a_re, const real a_im, __global const stored *restrict x,
                   __global stored *restrict y)
{
    const vcomplex a = scalar_complex(a_re, a_im);
    FOR_EACH_BLOCK(parities)
        store_spinor(y + START, i, combine(load_spinor(y + START, i), a, load_spinor(x + START, i)));
}

// y = x + b y
__kernel void xpby(const uint parities, const real b_re, const real b_im, __global const stored *restrict x,
                   __global stored *restrict y)
{
    const vcomplex b = scalar_complex(b_re, b_im);
    FOR_EACH_BLOCK(parities)
        store_spinor(y + START, i, combine(load_spinor(x + START, i), b, load_spinor(y + START, i)));
}

// Sums: Re (x, y), Im (x, y).
__kernel void inner_product(const uint parities, __global const stored *restrict x, __global const stored *restrict y,
                            REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        const spinor a = load_spinor(x + START, i), b = load_spinor(y + START, i);
#pragma unroll
        for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
            const vdouble ar = TO_DOUBLE(a.s[c].re), ai = TO_DOUBLE(a.s[c].im);
            const vdouble br = TO_DOUBLE(b.s[c].re), bi = TO_DOUBLE(b.s[c].im);
            re = fma(ai, bi, fma(ar, br, re));
            im = fma(-ai, br, fma(ar, bi, im));
        }
    }
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
__kernel void advance(const uint parities, const real a_re, const real a_im, __global const stored *restrict p,
                      __global stored *restrict x, __global const stored *restrict q, __global stored *restrict r,
                      REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    const vcomplex a = scalar_complex(a_re, a_im), minus_a = scalar_complex(-a_re, -a_im);
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        store_spinor(x + START, i, combine(load_spinor(x + START, i), a, load_spinor(p + START, i)));
        const spinor residual = combine(load_spinor(r + START, i), minus_a, load_spinor(q + START, i));
        store_spinor(r + START, i, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// p = r + b p; q = s + b q. Sum: (q, q).
__kernel void redirect(const uint parities, const real b_re, const real b_im, __global const stored *restrict r,
                       __global stored *restrict p, __global const stored *restrict s, __global stored *restrict q,
                       REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    const vcomplex b = scalar_complex(b_re, b_im);
    vdouble sum = (vdouble)0;
    FOR_EACH_BLOCK(parities) {
        store_spinor(p + START, i, combine(load_spinor(r + START, i), b, load_spinor(p + START, i)));
        const spinor image = combine(load_spinor(s + START, i), b, load_spinor(q + START, i));
        store_spinor(q + START, i, image);
        sum = add_norm2(sum, image);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}
