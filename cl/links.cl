// Links of SU(3) as they are stored, rebuilt in registers: twin of src/host/reconstruction.rs, where the formulas are.
//
// RECONSTRUCT    reals stored for each link: 18, 12 or 8

#define STORED_COMPLEX (RECONSTRUCT / 2)
#define LINKS_HALF_FIELD(blocks) ((size_t)2 * 4 * STORED_COMPLEX * (blocks) * LANES)

// A matrix from load_link times this is a link: in half precision elements are integers, and there is one multiplication less if
// their unit is applied after everything else.
#if UNIT_NUMBERS && RECONSTRUCT != 8
#define LINK_UNIT ((real)1 / LARGEST_STORED)
#else
#define LINK_UNIT ((real)1)
#endif

typedef struct {
    vcomplex e[9]; // 3·row + column
} matrix;

#if RECONSTRUCT != 18
// The third row of a unitary matrix with determinant 1: conj(row 0 × row 1), one of the two factors in its unit.
static inline void complete(matrix *u)
{
#pragma unroll
    for (int j = 0; j < 3; ++j) {
        const int k = (j + 1) % 3, l = (j + 2) % 3;
        const vcomplex minus = {-u->e[l].re, -u->e[l].im};
        const vcomplex row = multiply_add(multiply(u->e[k], u->e[3 + l]), minus, u->e[3 + k]);
        u->e[6 + j].re = row.re * LINK_UNIT;
        u->e[6 + j].im = -row.im * LINK_UNIT;
    }
}
#endif

#if RECONSTRUCT == 8
#if UNIT_NUMBERS
// −1 if the stored integer is odd: the point was reflected; else 1.
static inline vreal hemisphere(const vreal integer)
{
    const vreal odd = fma((vreal)-2, floor((vreal)(real)0.5 * integer), integer);
    return fma((vreal)-2, odd, (vreal)1);
}

static inline vcomplex in_link_units(const vcomplex integers)
{
    vcomplex value;
    value.re = integers.re * ((real)1 / LARGEST_STORED);
    value.im = integers.im * ((real)1 / LARGEST_STORED);
    return value;
}
#endif

// Half precision is far below what the fast functions lose.
#if UNIT_NUMBERS
#define RECIPROCAL(x) native_recip(x)
#define SQUARE_ROOT(x) native_sqrt(x)
#else
#define RECIPROCAL(x) ((vreal)1 / (x))
#define SQUARE_ROOT(x) sqrt(x)
#endif

static inline matrix rebuild(const vcomplex t0, const vcomplex t1, const vcomplex t2, const vcomplex t3)
{
    matrix u;
#if UNIT_NUMBERS
    const vcomplex s0 = in_link_units(t0), s1 = in_link_units(t1), s2 = in_link_units(t2), s3 = in_link_units(t3);
    const vreal hemisphere_a = hemisphere(t0.re), hemisphere_b = hemisphere(t3.im);
#else
    const vcomplex s0 = t0, s1 = t1, s2 = t2, s3 = t3;
    const vreal hemisphere_a = (vreal)1, hemisphere_b = (vreal)1;
#endif
    const vreal row_scale =
        RECIPROCAL(fma(s0.re, s0.re, fma(s0.im, s0.im, fma(s1.re, s1.re, fma(s1.im, s1.im, fma(s2.re, s2.re, (vreal)1))))));
    const vreal two = row_scale + row_scale;
    const vcomplex a0 = {two * s0.re, two * s0.im};
    const vcomplex a1 = {two * s1.re, two * s1.im};
    const vcomplex a2 = {hemisphere_a * (two - (vreal)1), two * s2.re};

    const vreal size2 = fma(a0.re, a0.re, a0.im * a0.im);
    const vreal size = SQUARE_ROOT(size2);
    const vreal inverse = RECIPROCAL(size2 > (vreal)0 ? size : (vreal)1);
    const vreal beta = RECIPROCAL((vreal)1 + size);
    vcomplex w0;
    w0.re = a0.re + (size2 > (vreal)0 ? a0.re * inverse : (vreal)1);
    w0.im = fma(a0.im, inverse, a0.im);

    const vreal basis_scale = RECIPROCAL(fma(s2.im, s2.im, fma(s3.re, s3.re, fma(s3.im, s3.im, (vreal)1))));
    const vreal two_b = basis_scale + basis_scale;
    const vcomplex p = {hemisphere_b * (two_b - (vreal)1), two_b * s2.im};
    const vcomplex q = {two_b * s3.re, two_b * s3.im};

    // p f + q g = (0, p, q) - w (p conj(a1) + q conj(a2)) / (1 + |a0|)
    const vcomplex along = multiply_add(multiply(p, conjugate(a1)), q, conjugate(a2));
    const vcomplex minus = {-beta * along.re, -beta * along.im};
    u.e[0] = a0;
    u.e[1] = a1;
    u.e[2] = a2;
    u.e[3] = multiply(minus, w0);
    u.e[4] = multiply_add(p, minus, a1);
    u.e[5] = multiply_add(q, minus, a2);
    complete(&u);
    return u;
}
#endif

// The link in direction μ of the block `block`, as it stands in one parity of a gauge field, in LINK_UNIT.
static inline matrix load_link(__global const stored *half_links, const uint blocks, const size_t block, const int mu)
{
    matrix u;
    LOAD_GROUP(u.e, half_links, STORED_COMPLEX, 4, mu, blocks, block, STREAM_LINKS)
#pragma unroll
    for (int k = 0; k < STORED_COMPLEX; ++k) {
        u.e[k].re -= RAISED;
        u.e[k].im -= RAISED;
    }
#if RECONSTRUCT == 12
    complete(&u);
#elif RECONSTRUCT == 8
    u = rebuild(u.e[0], u.e[1], u.e[2], u.e[3]);
#endif
    return u;
}

static inline void prefetch_link(__global const stored *half_links, const uint blocks, const size_t block, const int mu)
{
    prefetch_numbers(half_links + 2 * LANES * STORED_COMPLEX * ((size_t)mu * blocks + block), 2 * STORED_COMPLEX);
}
