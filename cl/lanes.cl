// Complex numbers in lanes, and the address of a component of a field.
//
// LANES   sites that one work-item handles together: 1, 2, 4, 8 or 16
// BLOCKS  blocks of LANES sites in each parity
// A field of `components` complex numbers a site is stored [parity][component][site][re, im] with one lane,
// [parity][block][component][re, im][lane] with several: see src/lattice/layout.rs.

#if LANES == 1
typedef real vreal;
#elif LANES == 2
typedef real2 vreal;
#elif LANES == 4
typedef real4 vreal;
#elif LANES == 8
typedef real8 vreal;
#elif LANES == 16
typedef real16 vreal;
#endif

typedef struct {
    vreal re;
    vreal im;
} vcomplex;

// Component `c` of the block `block` in one parity of a field.
inline vcomplex load_component(__global const real *restrict half_field, const size_t components, const size_t c, const size_t block)
{
    vcomplex value;
#if LANES == 1
    const real2 pair = ((__global const real2 *)half_field)[c * BLOCKS + block];
    value.re = pair.x;
    value.im = pair.y;
#else
    __global const vreal *address = (__global const vreal *)half_field + 2 * (block * components + c);
    value.re = address[0];
    value.im = address[1];
#endif
    return value;
}

inline void store_component(__global real *restrict half_field, const size_t components, const size_t c, const size_t block,
                            const vcomplex value)
{
#if LANES == 1
    ((__global real2 *)half_field)[c * BLOCKS + block] = (real2)(value.re, value.im);
#else
    __global vreal *address = (__global vreal *)half_field + 2 * (block * components + c);
    address[0] = value.re;
    address[1] = value.im;
#endif
}

// Reals in one parity of a field.
#define HALF_FIELD(components) ((size_t)2 * (components) * BLOCKS * LANES)

// a + s b for a real number s that is the same in all lanes.
inline vcomplex add_scaled(const vcomplex a, const real s, const vcomplex b)
{
    vcomplex value;
    value.re = fma((vreal)s, b.re, a.re);
    value.im = fma((vreal)s, b.im, a.im);
    return value;
}

// a + s i b
inline vcomplex add_scaled_i(const vcomplex a, const real s, const vcomplex b)
{
    vcomplex value;
    value.re = fma((vreal)-s, b.im, a.re);
    value.im = fma((vreal)s, b.re, a.im);
    return value;
}

// a b
inline vcomplex multiply(const vcomplex a, const vcomplex b)
{
    vcomplex value;
    value.re = fma(a.re, b.re, -a.im * b.im);
    value.im = fma(a.re, b.im, a.im * b.re);
    return value;
}

// sum + a b
inline vcomplex multiply_add(const vcomplex sum, const vcomplex a, const vcomplex b)
{
    vcomplex value;
    value.re = fma(-a.im, b.im, fma(a.re, b.re, sum.re));
    value.im = fma(a.im, b.re, fma(a.re, b.im, sum.im));
    return value;
}

inline vcomplex conjugate(const vcomplex a)
{
    vcomplex value;
    value.re = a.re;
    value.im = -a.im;
    return value;
}
