// E = D (x^2 - 2 x) with x = exp(-a (r - r0)). crates/md/src/formula.rs is the twin.

#define PAIR_PARAMETERS
#define PAIR_PASS

// Gives E, and returns E'/r.
static inline real pair_slope(const real square, __global const real *row, const uint number, __global const real *constants, real *energy)
{
    const real r = sqrt(square), x = exp(-row[1] * (r - row[2]));
    *energy = row[0] * x * (x - 2);
    return 2 * row[0] * row[1] * x * (1 - x) / r;
}
