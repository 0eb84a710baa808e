// Vector operations on spinor fields, whatever their lanes: a field is `count` complex numbers of LANES lanes each.
//
// Each work-group takes a contiguous part of the field. Sums are accumulated in double, lane by lane, and finished by
// reduction.cl.

#if LANES == 1
#define vdouble double
#define TO_DOUBLE(v) ((double)(v))
#else
#define vdouble JOIN(double, LANES)
#define TO_DOUBLE(v) JOIN(convert_double, LANES)(v)
#endif

static inline double sum_of_lanes(const vdouble v)
{
#if LANES == 1
    return v;
#else
    double lanes[LANES];
    JOIN(vstore, LANES)(v, 0, lanes);
    double sum = 0.0;
    for (int lane = 0; lane < LANES; ++lane)
        sum += lanes[lane];
    return sum;
#endif
}

// for (i in this work-item's share)
#define FOR_EACH(i, count)                                                                                   \
    const ulong per_group = ((count) + get_num_groups(0) - 1) / get_num_groups(0);                           \
    const ulong group_start = min((ulong)(count), get_group_id(0) * per_group);                              \
    const ulong group_end = min((ulong)(count), group_start + per_group);                                    \
    for (ulong i = group_start + get_local_id(0); i < group_end; i += LOCAL_SIZE)

static inline vcomplex scalar_complex(const real re, const real im)
{
    vcomplex value;
    value.re = (vreal)re;
    value.im = (vreal)im;
    return value;
}

// sum + |a|²
static inline vdouble add_norm2(vdouble sum, const vcomplex a)
{
    const vdouble re = TO_DOUBLE(a.re), im = TO_DOUBLE(a.im);
    return fma(im, im, fma(re, re, sum));
}

// y = y + a x
__kernel void axpy(const ulong count, const real a_re, const real a_im, __global const real *restrict x,
                   __global real *restrict y)
{
    const vcomplex a = scalar_complex(a_re, a_im);
    FOR_EACH(i, count)
        store_complex(y, i, multiply_add(load_complex(y, i), a, load_complex(x, i)));
}

// y = x + b y
__kernel void xpby(const ulong count, const real b_re, const real b_im, __global const real *restrict x,
                   __global real *restrict y)
{
    const vcomplex b = scalar_complex(b_re, b_im);
    FOR_EACH(i, count)
        store_complex(y, i, multiply_add(load_complex(x, i), b, load_complex(y, i)));
}

// Sums: Re (x, y), Im (x, y).
__kernel void inner_product(const ulong count, __global const real *restrict x, __global const real *restrict y,
                  REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble re = (vdouble)0, im = (vdouble)0;
    FOR_EACH(i, count) {
        const vcomplex a = load_complex(x, i), b = load_complex(y, i);
        const vdouble ar = TO_DOUBLE(a.re), ai = TO_DOUBLE(a.im), br = TO_DOUBLE(b.re), bi = TO_DOUBLE(b.im);
        re = fma(ai, bi, fma(ar, br, re));
        im = fma(-ai, br, fma(ar, bi, im));
    }
    REDUCE(2, sum_of_lanes(re), sum_of_lanes(im), 0.0);
}

// Sum: (x, x).
__kernel void norm2(const ulong count, __global const real *restrict x, REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    vdouble sum = (vdouble)0;
    FOR_EACH(i, count)
        sum = add_norm2(sum, load_complex(x, i));
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// x = x + a p; r = r - a q. Sum: (r, r).
__kernel void advance(const ulong count, const real a_re, const real a_im, __global const real *restrict p,
                      __global real *restrict x, __global const real *restrict q, __global real *restrict r,
                      REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    const vcomplex a = scalar_complex(a_re, a_im), minus_a = scalar_complex(-a_re, -a_im);
    vdouble sum = (vdouble)0;
    FOR_EACH(i, count) {
        store_complex(x, i, multiply_add(load_complex(x, i), a, load_complex(p, i)));
        const vcomplex residual = multiply_add(load_complex(r, i), minus_a, load_complex(q, i));
        store_complex(r, i, residual);
        sum = add_norm2(sum, residual);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}

// p = r + b p; q = s + b q. Sum: (q, q).
__kernel void redirect(const ulong count, const real b_re, const real b_im, __global const real *restrict r,
                       __global real *restrict p, __global const real *restrict s, __global real *restrict q,
                       REDUCTION_PARAMETERS)
{
    REDUCTION_LOCAL;
    const vcomplex b = scalar_complex(b_re, b_im);
    vdouble sum = (vdouble)0;
    FOR_EACH(i, count) {
        store_complex(p, i, multiply_add(load_complex(r, i), b, load_complex(p, i)));
        const vcomplex image = multiply_add(load_complex(s, i), b, load_complex(q, i));
        store_complex(q, i, image);
        sum = add_norm2(sum, image);
    }
    REDUCE(1, sum_of_lanes(sum), 0.0, 0.0);
}
