// A table of samples at equal distances, with lines between them. crates/md/src/table.rs is the twin.
//
//   IMAGE       1: a linear filter reads images. 0: buffers are read, with exact fractions.
//   POTENTIAL   1: E' is the difference of E one sample to the right and one to the left. 0: E' has samples of its own.
//
// Row `number` of a table belongs to a pair of types.

#if IMAGE
#define TABLE __read_only image2d_t
#else
#define TABLE __global const real *
#endif
#define PAIR_PARAMETERS , TABLE energies, TABLE slopes, const uint samples
#define PAIR_PASS , energies, slopes, samples

#if IMAGE
__constant sampler_t LINEAR = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
#endif

// The value at x samples from the beginning of a row. Beyond both ends the values stay.
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

// Gives E, and returns E'/r.
static inline real pair_slope(const real square, __global const real *row, const uint number, __global const real *constants, real *energy PAIR_PARAMETERS)
{
    const real r = sqrt(square), x = (r - constants[RMIN]) * constants[SAMPLES_PER_LENGTH];
#if WITH_SUMS
    *energy = sample(energies, samples, number, x);
#endif
#if POTENTIAL
    const real slope =
        (sample(energies, samples, number, x + 1) - sample(energies, samples, number, x - 1)) * constants[SLOPE_FACTOR];
#else
    const real slope = sample(slopes, samples, number, x);
#endif
    return slope / r;
}
