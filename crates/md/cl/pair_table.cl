// A table of samples at equal distances in r or r^2. crates/md/src/table.rs is the twin.
//
//   IMAGE       1: images are read. 0: buffers are read, with exact fractions.
//   CUBIC       1: four numbers of a cubic belong to each interval. 0: there are lines between samples.
//   SQUARES     1: samples are at equal distances in r^2, and are those of E and E'/r. No root is taken. 0: in r, of E and E'.
//   POTENTIAL   1: E' is the difference of E one sample to the right and one to the left, or the slope of its cubic.
//               0: E' has samples of its own.
//
// Row `number` of a table belongs to a pair of types. `row` has E and E' at the first sample, and E one sample before it. Below the first
// sample E is the line with that slope. Kernels without sums count such pairs in `below`, two words of one number.

#if IMAGE
#define TABLE __read_only image2d_t
#else
#define TABLE __global const real *
#endif
#if WITH_SUMS
#define COUNT_PARAMETER
#define COUNT_PASS
#else
#define COUNT_PARAMETER , __global uint *below
#define COUNT_PASS , below
#endif
#define PAIR_PARAMETERS , TABLE energies, TABLE slopes, const uint samples COUNT_PARAMETER
#define PAIR_PASS , energies, slopes, samples COUNT_PASS

#if CUBIC
#if IMAGE
__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
#endif

// The four numbers of an interval.
static inline void piece(TABLE table, const uint samples, const uint number, const uint left, real *c)
{
#if IMAGE
    for (int k = 0; k < 4; ++k)
        c[k] = read_imagef(table, NEAREST, (int2)(4 * (int)left + k, (int)number)).x;
#else
    __global const real *const numbers = table + 4 * ((size_t)number * (samples - 1) + left);
    for (int k = 0; k < 4; ++k)
        c[k] = numbers[k];
#endif
}

static inline real value(const real *c, const real t)
{
    return fma(t, fma(t, fma(t, c[3], c[2]), c[1]), c[0]);
}

static inline real rise(const real *c, const real t)
{
    return fma(t, fma(t, 3 * c[3], 2 * c[2]), c[1]);
}
#else
#if IMAGE
__constant sampler_t LINEAR = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
#endif

// The value at x samples from the beginning of a row.
static inline real sample(TABLE table, const uint samples, const uint number, const real x)
{
#if IMAGE
    return read_imagef(table, LINEAR, (float2)((float)x + 0.5f, (float)number + 0.5f)).x;
#else
    const real inside = clamp(x, (real)0, (real)(samples - 1));
    const uint left = min((uint)inside, samples - 2);
    __global const real *const pair = table + (size_t)number * samples + left;
    return fma(inside - (real)left, pair[1] - pair[0], pair[0]);
#endif
}
#endif

// Gives E, and returns E'/r.
static inline real pair_slope(const real square, __global const real *row, const uint number, __global const real *constants, real *energy PAIR_PARAMETERS)
{
    if (square < constants[RMIN] * constants[RMIN]) {
        const real r = sqrt(square);
        *energy = fma(row[1], r - constants[RMIN], row[0]);
#if !WITH_SUMS
        if (atomic_inc(below) == UINT_MAX)
            atomic_inc(below + 1);
#endif
        return row[1] / r;
    }
#if SQUARES
    const real variable = square;
#else
    const real variable = sqrt(square);
#endif
    const real x = (variable - constants[ORIGIN]) * constants[SAMPLES_PER_STEP];
#if CUBIC
    const real inside = clamp(x, (real)0, (real)(samples - 1));
    const uint left = min((uint)inside, samples - 2);
    const real t = inside - (real)left;
#if WITH_SUMS || POTENTIAL
    real c[4];
    piece(energies, samples, number, left, c);
    *energy = value(c, t);
#endif
#if POTENTIAL
    const real slope = rise(c, t) * constants[SLOPE_FACTOR];
#else
    real of_slope[4];
    piece(slopes, samples, number, left, of_slope);
    const real slope = value(of_slope, t);
#endif
#else
#if WITH_SUMS
    *energy = sample(energies, samples, number, x);
#endif
#if POTENTIAL
    const real left = x < 1 ? fma(x, row[0] - row[2], row[2]) : sample(energies, samples, number, x - 1);
    const real slope = (sample(energies, samples, number, x + 1) - left) * constants[SLOPE_FACTOR];
#else
    const real slope = sample(slopes, samples, number, x);
#endif
#endif
#if SQUARES
    return slope;
#else
    return slope / variable;
#endif
}
