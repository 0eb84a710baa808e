// Quotients of elements, and their sizes for the choice of a pivot.

#if IS_COMPLEX

// The larger part of b divides first, so that no square of a part overflows (R. L. Smith, Comm. ACM 5, 435 (1962)).
static inline element divide(element a, element b) {
    if (fabs(b.s0) >= fabs(b.s1)) {
        const real ratio = b.s1 / b.s0;
        const real denominator = b.s0 + b.s1 * ratio;
        return (element)((a.s0 + a.s1 * ratio) / denominator, (a.s1 - a.s0 * ratio) / denominator);
    }
    const real ratio = b.s0 / b.s1;
    const real denominator = b.s0 * ratio + b.s1;
    return (element)((a.s0 * ratio + a.s1) / denominator, (a.s1 * ratio - a.s0) / denominator);
}

#define ONE ((element)((real)1, (real)0))

static inline real size_of(element x) { return fabs(x.s0) + fabs(x.s1); }

#else

static inline element divide(element a, element b) { return a / b; }

#define ONE ((real)1)

static inline real size_of(element x) { return fabs(x); }

#endif
