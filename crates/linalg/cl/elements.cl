// Elements of vectors and matrices, real or complex, and the factors of a call.
//
// A real factor of complex elements has the imaginary part -0, others never: crates/compute/src/scalar/factor.rs. It multiplies the
// parts one by one, so that an infinity meets no imaginary part 0, which would make a NaN.

#if IS_COMPLEX

#define element JOIN(REAL, 2)
#define REALS 2

static inline element conjugate_if(uint conjugate, element x) {
    return (element)(x.s0, conjugate ? -x.s1 : x.s1);
}

static inline element multiply(element a, element b) {
    return (element)(a.s0 * b.s0 - a.s1 * b.s1, a.s0 * b.s1 + a.s1 * b.s0);
}

static inline int is_zero(element x) { return x.s0 == (real)0 && x.s1 == (real)0; }
static inline int is_real(element factor) { return factor.s1 == (real)0 && signbit(factor.s1); }
static inline element scaled(element factor, element x) {
    return is_real(factor) ? factor.s0 * x : multiply(factor, x);
}

static inline real real_of(element x) { return x.s0; }
static inline real imaginary_of(element x) { return x.s1; }
static inline element of_real(real x) { return (element)(x, (real)0); }
static inline element real_part(element x) { return of_real(x.s0); }
static inline real square_of(element x) { return x.s0 * x.s0 + x.s1 * x.s1; }

#define REAL_ONE ((element)((real)1, -(real)0))

#else

#define element real
#define REALS 1

static inline element conjugate_if(uint conjugate, element x) { return x; }
static inline element multiply(element a, element b) { return a * b; }
static inline int is_zero(element x) { return x == (real)0; }
static inline element scaled(element factor, element x) { return factor * x; }

static inline real real_of(element x) { return x; }
static inline real imaginary_of(element x) { return (real)0; }
static inline element of_real(real x) { return x; }
static inline element real_part(element x) { return x; }
static inline real square_of(element x) { return x * x; }

#define REAL_ONE ((real)1)

#endif

// y = alpha sum + beta y for one element; with beta = 0, y is not read.
static inline void update(__global element *y, element alpha, element sum, element beta) {
    const element product = scaled(alpha, sum);
    *y = is_zero(beta) ? product : product + scaled(beta, *y);
}

// y = beta y for one element; with beta = 0, y is not read. Adding 0 would make 0 of -0.
static inline void scale_element(__global element *y, element beta) {
    *y = is_zero(beta) ? (element)0 : scaled(beta, *y);
}
