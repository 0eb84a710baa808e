// Elements in double precision, for sums of many products whatever the precision of the elements is.

#if IS_COMPLEX

#define wide double2

static inline wide widened(element x) { return (wide)((double)x.s0, (double)x.s1); }
static inline element narrowed(wide x) { return (element)((real)x.s0, (real)x.s1); }
static inline wide conjugated(wide x) { return (wide)(x.s0, -x.s1); }
static inline wide times(wide a, wide b) {
    return (wide)(a.s0 * b.s0 - a.s1 * b.s1, a.s0 * b.s1 + a.s1 * b.s0);
}
static inline double first_part(wide x) { return x.s0; }
static inline double second_part(wide x) { return x.s1; }
static inline wide wide_of(double re, double im) { return (wide)(re, im); }
static inline element element_of_real(real x) { return (element)(x, (real)0); }
static inline element real_part(element x) { return (element)(x.s0, (real)0); }
static inline element power_scaled(element x, int power) { return (element)(ldexp(x.s0, power), ldexp(x.s1, power)); }
static inline real largest_part(element x) { return fmax(fabs(x.s0), fabs(x.s1)); }

#else

#define wide double

static inline wide widened(element x) { return (wide)x; }
static inline element narrowed(wide x) { return (element)x; }
static inline wide conjugated(wide x) { return x; }
static inline wide times(wide a, wide b) { return a * b; }
static inline double first_part(wide x) { return x; }
static inline double second_part(wide x) { return 0.0; }
static inline wide wide_of(double re, double im) { return re; }
static inline element element_of_real(real x) { return x; }
static inline element real_part(element x) { return x; }
static inline element power_scaled(element x, int power) { return ldexp(x, power); }
static inline real largest_part(element x) { return fabs(x); }

#endif

// A rotation of two columns p and q that makes them orthogonal: p' = c p - s conj(phase) q, and q' = s p + c conj(phase) q.
typedef struct {
    double c;
    double s;
    wide phase;
} rotation;

// The rotation for columns with these squares of norms, and pᴴ q = product, of size `size`.
static inline rotation rotation_of(double p, double q, wide product, double size) {
    const double zeta = (q - p) / (2.0 * size);
    const double t = copysign(1.0, zeta) / (fabs(zeta) + hypot(1.0, zeta));
    rotation r;
    r.c = 1.0 / sqrt(1.0 + t * t);
    r.s = r.c * t;
    r.phase = product / size;
    return r;
}

// The new elements of both columns.
static inline wide rotated_first(rotation r, wide p, wide q) { return r.c * p - r.s * times(conjugated(r.phase), q); }
static inline wide rotated_second(rotation r, wide p, wide q) { return r.s * p + r.c * times(conjugated(r.phase), q); }

static inline double square_of_wide(wide x) { return first_part(x) * first_part(x) + second_part(x) * second_part(x); }

// The pair number `number` of a round in which each of `players` columns, an even number, meets another one.
static inline uint2 pair_of(uint players, uint round, uint number) {
    const uint others = players - 1;
    const uint one = number == 0 ? others : (round + number) % others;
    const uint two = number == 0 ? round : (round + others - number) % others;
    return (uint2)(min(one, two), max(one, two));
}
