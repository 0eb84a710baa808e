// Links of SU(3) as they are stored, and how they act on colours: twin of src/host/reconstruction.rs, where the formulas are.
//
// RECONSTRUCT    reals stored for each link: 18, 12 or 8
// SHARED_LINKS   1 if links are kept in local memory too, as they act; with one lane

#define STORED_COMPLEX (RECONSTRUCT / 2)
#define KEPT_COMPLEX (RECONSTRUCT == 8 ? 6 : 9)
#define LINKS_HALF_FIELD(blocks) ((size_t)2 * 4 * STORED_COMPLEX * (blocks) * LANES)

// What `transform` gives times this is the result: in half precision elements are integers, and there is one multiplication less if
// their unit is applied after everything else.
#if UNIT_NUMBERS && RECONSTRUCT != 8
#define LINK_UNIT ((real)1 / LARGEST_STORED)
#else
#define LINK_UNIT ((real)1)
#endif

#if RECONSTRUCT == 8

// The stored number that stands for 1.
#if UNIT_NUMBERS
#define ONE_STORED LARGEST_STORED
#else
#define ONE_STORED ((real)1)
#endif

// A link is not made whole: its factors act one after the other, which takes fewer operations.
typedef struct {
    vcomplex t[2];
    vreal one_and_r; // 1 + r
    vcomplex phase;  // e^{iφ}
    vcomplex p, q;
} link;

// A point of a sphere: its first coordinate, and the ratio of the others to the stored numbers.
typedef struct {
    vreal first, ratio;
} point;

// By 1 + v².
static inline point point_of(const vreal one_and_square)
{
    const vreal two = 2 * ONE_STORED * ONE_STORED * reciprocal(one_and_square);
    const vreal half_way = two - (vreal)1;
    const vreal twice = half_way + half_way;
    point at;
    at.first = fma(twice, half_way, (vreal)-1);
    at.ratio = twice * (((real)1 / ONE_STORED) * two);
    return at;
}

static inline vreal add_square(const vreal sum, const vreal x) { return fma(x, x, sum); }

// From the stored numbers t₁, t₂, (v_φ, v_S₀), (v_S₁, v_S₂).
static inline link link_of(const vcomplex t1, const vcomplex t2, const vcomplex v0, const vcomplex v1)
{
    const vreal one = (vreal)(ONE_STORED * ONE_STORED);
    link u;
    u.t[0] = scale_number(t1, (vreal)((real)1 / ONE_STORED));
    u.t[1] = scale_number(t2, (vreal)((real)1 / ONE_STORED));
    u.one_and_r = 2 * ONE_STORED * ONE_STORED *
                  reciprocal(add_square(add_square(add_square(add_square(one, t1.re), t1.im), t2.re), t2.im));

    const point on_circle = point_of(add_square(one, v0.re));
    u.phase.re = on_circle.first;
    u.phase.im = on_circle.ratio * v0.re;

    const point on_sphere = point_of(add_square(add_square(add_square(one, v0.im), v1.re), v1.im));
    u.p.re = on_sphere.first;
    u.p.im = on_sphere.ratio * v0.im;
    u.q.re = on_sphere.ratio * v1.re;
    u.q.im = on_sphere.ratio * v1.im;
    return u;
}

// U v, or U† v, for a vector v of three colours.
static inline void transform(const link u, const int adjoint, const vcomplex *v, vcomplex *product)
{
    if (!adjoint) {
        const vcomplex along = scale_number(multiply_add(multiply_add(v[0], u.t[0], v[1]), u.t[1], v[2]), u.one_and_r);
        const vcomplex y1 = subtract_product(v[1], conjugate(u.t[0]), along);
        const vcomplex y2 = subtract_product(v[2], conjugate(u.t[1]), along);
        product[0] = multiply(u.phase, add_signed(along, -1, v[0]));
        product[1] = multiply_add(multiply(u.p, y1), u.q, y2);
        product[2] = multiply(conjugate(u.phase), subtract_product(multiply(conjugate(u.p), y2), conjugate(u.q), y1));
    } else {
        const vcomplex y0 = multiply(conjugate(u.phase), v[0]), turned = multiply(u.phase, v[2]);
        const vcomplex y1 = subtract_product(multiply(conjugate(u.p), v[1]), u.q, turned);
        const vcomplex y2 = multiply_add(multiply(conjugate(u.q), v[1]), u.p, turned);
        const vcomplex along = scale_number(subtract_product(subtract_product(y0, u.t[0], y1), u.t[1], y2), u.one_and_r);
        product[0] = add_signed(along, -1, y0);
        product[1] = multiply_add(y1, conjugate(u.t[0]), along);
        product[2] = multiply_add(y2, conjugate(u.t[1]), along);
    }
}

#else

typedef struct {
    vcomplex e[9]; // 3·row + column
} link;

// The third row in multiples of LINK_UNIT.
#define THIRD_ROW_UNIT (RECONSTRUCT == 12 ? LINK_UNIT : (real)1)

#if RECONSTRUCT == 12
// The third row of a unitary matrix with determinant 1, conj(row 0 × row 1), in the square of LINK_UNIT.
static inline void complete(link *u)
{
#pragma unroll
    for (int j = 0; j < 3; ++j) {
        const int k = (j + 1) % 3, l = (j + 2) % 3;
        u->e[6 + j].re = subtract_product(multiply(u->e[k], u->e[3 + l]), u->e[l], u->e[3 + k]).re;
        // The factors change places instead of the sign: processors have no operation that multiplies and negates once more.
        u->e[6 + j].im = subtract_product(multiply(u->e[l], u->e[3 + k]), u->e[k], u->e[3 + l]).im;
    }
}
#endif

// U v, or U† v, for a vector v of three colours.
static inline void transform(const link u, const int adjoint, const vcomplex *v, vcomplex *product)
{
#pragma unroll
    for (int i = 0; i < 3; ++i) {
#pragma unroll
        for (int j = 0; j < 3; ++j) {
            const vcomplex entry = adjoint ? conjugate(u.e[3 * j + i]) : u.e[3 * i + j];
            const vcomplex number = j == 2 && adjoint ? scale_number(v[j], THIRD_ROW_UNIT) : v[j];
            product[i] = j == 0 ? multiply(entry, number) : multiply_add(product[i], entry, number);
        }
    }
    if (!adjoint)
        product[2] = scale_number(product[2], THIRD_ROW_UNIT);
}

#endif

// The link in direction μ of the block `block`, as it stands in one parity of a gauge field.
static inline link load_link(__global const stored *half_links, const uint blocks, const size_t block, const int mu)
{
#if RECONSTRUCT == 8
    vcomplex kept[STORED_COMPLEX];
    LOAD_GROUP(kept, half_links, STORED_COMPLEX, 4, mu, blocks, block, STREAM_LINKS, 0)
    return link_of(kept[0], kept[1], kept[2], kept[3]);
#else
    link u;
    LOAD_GROUP(u.e, half_links, STORED_COMPLEX, 4, mu, blocks, block, STREAM_LINKS, 0)
#if RECONSTRUCT == 12
    complete(&u);
#endif
    return u;
#endif
}

static inline void prefetch_link(__global const stored *half_links, const uint blocks, const size_t block, const int mu)
{
    prefetch_numbers(half_links + 2 * LANES * STORED_COMPLEX * ((size_t)mu * blocks + block), 2 * STORED_COMPLEX);
}

#if SHARED_LINKS
// A number of a link in local memory.
#define pair JOIN(REAL, 2)

// Keeps a link: `stride` numbers lie from one of its numbers to the next.
static inline void keep_link(__local pair *numbers, const int stride, const link u)
{
#if RECONSTRUCT == 8
    numbers[0] = (pair)(u.t[0].re, u.t[0].im);
    numbers[stride] = (pair)(u.t[1].re, u.t[1].im);
    numbers[2 * stride] = (pair)(u.phase.re, u.phase.im);
    numbers[3 * stride] = (pair)(u.p.re, u.p.im);
    numbers[4 * stride] = (pair)(u.q.re, u.q.im);
    numbers[5 * stride] = (pair)(u.one_and_r, 0);
#else
#pragma unroll
    for (int e = 0; e < KEPT_COMPLEX; ++e)
        numbers[e * stride] = (pair)(u.e[e].re, u.e[e].im);
#endif
}

static inline link kept_link(__local const pair *numbers, const int stride)
{
    link u;
#if RECONSTRUCT == 8
    COMPLEX(u.t[0], numbers[0].x, numbers[0].y)
    COMPLEX(u.t[1], numbers[stride].x, numbers[stride].y)
    COMPLEX(u.phase, numbers[2 * stride].x, numbers[2 * stride].y)
    COMPLEX(u.p, numbers[3 * stride].x, numbers[3 * stride].y)
    COMPLEX(u.q, numbers[4 * stride].x, numbers[4 * stride].y)
    u.one_and_r = numbers[5 * stride].x;
#else
#pragma unroll
    for (int e = 0; e < KEPT_COMPLEX; ++e) {
        const pair number = numbers[e * stride];
        COMPLEX(u.e[e], number.x, number.y)
    }
#endif
    return u;
}
#endif
