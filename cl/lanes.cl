// Complex numbers in lanes: LANES (1, 2, 4, 8 or 16) real parts, then as many imaginary parts.

typedef struct {
    vreal re;
    vreal im;
} vcomplex;

// One number in all lanes.
static inline vcomplex splat(const double2 number)
{
    vcomplex value;
    value.re = (vreal)(real)number.x;
    value.im = (vreal)(real)number.y;
    return value;
}

// a + s b for real s
static inline vcomplex add_scaled(const vcomplex a, const vreal s, const vcomplex b)
{
    vcomplex value;
    value.re = fma(s, b.re, a.re);
    value.im = fma(s, b.im, a.im);
    return value;
}

// a + s i b for real s
static inline vcomplex add_scaled_i(const vcomplex a, const vreal s, const vcomplex b)
{
    vcomplex value;
    value.re = fma(-s, b.im, a.re);
    value.im = fma(s, b.re, a.im);
    return value;
}

// a + s b for a sign s, 1 or -1. Compilers do not make a sum of fma(-1, b, a), and processors add beside their multipliers.
static inline vcomplex add_signed(const vcomplex a, const int s, const vcomplex b)
{
    vcomplex value;
    value.re = s > 0 ? a.re + b.re : a.re - b.re;
    value.im = s > 0 ? a.im + b.im : a.im - b.im;
    return value;
}

// a + s i b for a sign s
static inline vcomplex add_signed_i(const vcomplex a, const int s, const vcomplex b)
{
    vcomplex value;
    value.re = s > 0 ? a.re - b.im : a.re + b.im;
    value.im = s > 0 ? a.im + b.re : a.im - b.re;
    return value;
}

// s a for real s
static inline vcomplex scale_number(const vcomplex a, const vreal s)
{
    vcomplex value;
    value.re = s * a.re;
    value.im = s * a.im;
    return value;
}

// a b
static inline vcomplex multiply(const vcomplex a, const vcomplex b)
{
    vcomplex value;
    value.re = fma(a.re, b.re, -a.im * b.im);
    value.im = fma(a.re, b.im, a.im * b.re);
    return value;
}

// sum + a b
static inline vcomplex multiply_add(const vcomplex sum, const vcomplex a, const vcomplex b)
{
    vcomplex value;
    value.re = fma(-a.im, b.im, fma(a.re, b.re, sum.re));
    value.im = fma(a.im, b.re, fma(a.re, b.im, sum.im));
    return value;
}

// sum - a b
static inline vcomplex subtract_product(const vcomplex sum, const vcomplex a, const vcomplex b)
{
    vcomplex value;
    value.re = fma(a.im, b.im, fma(-a.re, b.re, sum.re));
    value.im = fma(-a.im, b.re, fma(-a.re, b.im, sum.im));
    return value;
}

static inline vcomplex conjugate(const vcomplex a)
{
    vcomplex value;
    value.re = a.re;
    value.im = -a.im;
    return value;
}

// 1/x for numbers of a moderate size.
static inline vreal reciprocal(const vreal x)
{
#if LANES == 1 && REAL_BITS == 32 && defined(INLINE_PTX)
    // A division would provide for all the others.
    real value;
    __asm__("rcp.approx.ftz.f32 %0, %1;" : "=f"(value) : "f"(x));
    return value;
#else
    return (vreal)1 / x;
#endif
}

// Sums are made in double.
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
