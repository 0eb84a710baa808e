// E = A/r^12 - B/r^6. crates/md/src/formula.rs is the twin.

#define PAIR_PARAMETERS
#define PAIR_PASS

// Gives E, and returns E'/r.
static inline real pair_slope(const real square, __global const real *row, const uint number, __global const real *constants, real *energy)
{
    const real inverse = 1 / square, sixth = inverse * inverse * inverse;
    const real a = row[0] * sixth * sixth, b = row[1] * sixth;
    *energy = a - b;
    return (6 * b - 12 * a) * inverse;
}
