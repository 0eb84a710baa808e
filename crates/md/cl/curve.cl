// E and E' of one row at many distances.
__kernel void md_curve(__global const double *distances, const uint number, __global const real *constants, __global const real *rows,
                       const uint count, __global double *values PAIR_PARAMETERS)
{
    const uint i = get_global_id(0);
    if (i < count) {
        const double r = distances[i];
        real energy = 0;
        const real slope = pair_slope((real)(r * r), rows + ROW * number, number, constants, &energy PAIR_PASS);
        values[2 * (size_t)i] = energy;
        values[2 * (size_t)i + 1] = slope * r;
    }
}
