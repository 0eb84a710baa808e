// The force of one atom on another, behind the text of a potential.

// Adds the force of b on a, and the sums of the pair, if the two are closer than the cutoff.
static inline void add_pair(const PLACE a, const PLACE b, const uint types, __global const real *constants, __global const real *rows,
                            SUM *force, double *sums PAIR_PARAMETERS)
{
    real d[3];
    difference(a, b, constants, d);
    const real square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    if (square < constants[CUTOFF_SQUARE]) {
        const uint number = row_of(a, b, types);
        __global const real *const row = rows + ROW * number;
        real energy = 0;
        real slope = pair_slope(square, row, number, constants, &energy PAIR_PASS);
#if SHIFT == 2
        const real r = sqrt(square);
        slope -= row[5] / r;
#endif
        const real f[3] = {-slope * d[0], -slope * d[1], -slope * d[2]};
        force[0] += f[0];
        force[1] += f[1];
        force[2] += f[2];
#if WITH_SUMS
#if SHIFT > 0
        energy -= row[4];
#endif
#if SHIFT == 2
        energy -= (r - constants[CUTOFF]) * row[5];
#endif
        sums[0] += energy;
        sums[1] += d[0] * f[0];
        sums[2] += d[1] * f[1];
        sums[3] += d[2] * f[2];
        sums[4] += d[1] * f[2];
        sums[5] += d[0] * f[2];
        sums[6] += d[0] * f[1];
        sums[7] += 1;
        sums[8] += square < constants[RMIN] * constants[RMIN] ? 1 : 0;
#endif
    }
}
