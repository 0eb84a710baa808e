// Complex numbers in lanes: LANES (1, 2, 4, 8 or 16) real parts, then as many imaginary parts.

#define real2 JOIN(REAL, 2)

typedef struct {
    vreal re;
    vreal im;
} vcomplex;

// The complex number (LANES of them) number `index` of an array.
static inline vcomplex load_complex(__global const real *array, const size_t index)
{
    vcomplex value;
#if LANES == 1
    const real2 pair = ((__global const real2 *)array)[index];
    value.re = pair.x;
    value.im = pair.y;
#else
    value.re = ((__global const vreal *)array)[2 * index];
    value.im = ((__global const vreal *)array)[2 * index + 1];
#endif
    return value;
}

static inline void store_complex(__global real *array, const size_t index, const vcomplex value)
{
#if LANES == 1
    ((__global real2 *)array)[index] = (real2)(value.re, value.im);
#else
    ((__global vreal *)array)[2 * index] = value.re;
    ((__global vreal *)array)[2 * index + 1] = value.im;
#endif
}

// Loads and stores of what is used once: they leave the caches to what is used again. STREAM_LINKS and STREAM_OUTPUT ask for them; where
// the device's assembly cannot be used they are plain ones.
#if LANES == 1 && defined(INLINE_PTX)
#if REAL_BITS == 32
#define PTX_PAIR "v2.f32"
#define PTX_REAL "f"
#else
#define PTX_PAIR "v2.f64"
#define PTX_REAL "d"
#endif
#endif

static inline vcomplex load_streamed(__global const real *array, const size_t index)
{
#if defined(PTX_PAIR) && STREAM_LINKS
    vcomplex value;
    __asm__("ld.global.nc.L1::no_allocate." PTX_PAIR " {%0, %1}, [%2];"
            : "=" PTX_REAL(value.re), "=" PTX_REAL(value.im)
            : "l"((__global const real2 *)array + index));
    return value;
#else
    return load_complex(array, index);
#endif
}

static inline void store_streamed(__global real *array, const size_t index, const vcomplex value)
{
#if defined(PTX_PAIR) && STREAM_OUTPUT
    __asm__ volatile("st.global.cs." PTX_PAIR " [%0], {%1, %2};"
                     :
                     : "l"((__global real2 *)array + index), PTX_REAL(value.re), PTX_REAL(value.im)
                     : "memory");
#else
    store_complex(array, index, value);
#endif
}

// a + s b for a real number s that is the same in all lanes.
static inline vcomplex add_scaled(const vcomplex a, const real s, const vcomplex b)
{
    vcomplex value;
    value.re = fma((vreal)s, b.re, a.re);
    value.im = fma((vreal)s, b.im, a.im);
    return value;
}

// a + s i b
static inline vcomplex add_scaled_i(const vcomplex a, const real s, const vcomplex b)
{
    vcomplex value;
    value.re = fma((vreal)-s, b.im, a.re);
    value.im = fma((vreal)s, b.re, a.im);
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

static inline vcomplex conjugate(const vcomplex a)
{
    vcomplex value;
    value.re = a.re;
    value.im = -a.im;
    return value;
}
