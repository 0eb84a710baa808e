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
static inline element power_scaled(element x, int power) { return ldexp(x, power); }
static inline real largest_part(element x) { return fabs(x); }

#endif
