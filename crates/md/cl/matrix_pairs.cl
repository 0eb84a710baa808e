// Forces by the matrix of all distances, which is what other ways are compared with.

// Stores the square of the distance of each pair, by one item for a pair.
__kernel void md_distances(__global const PLACE *places, __global const real *constants, const uint atoms, __global real *squares)
{
    const size_t pair = get_global_id(0);
    if (pair < (size_t)atoms * atoms) {
        const uint i = pair / atoms, j = pair % atoms;
        real d[3];
        difference(places[i], places[j], constants, d);
        squares[pair] = i == j ? INFINITY : d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    }
}

// The matrix is symmetric: items read rows of it on processors, and columns on GPUs.
__kernel void md_matrix_pairs(__global const PLACE *places, __global const real *constants, __global const real *rows, const uint types,
                              __global const real *squares, const uint atoms, __global double *forces PAIR_PARAMETERS SUMS_PARAMETERS)
{
#if WITH_SUMS
    __local double scratch[LOCAL_SIZE * MD_SUMS];
#endif
    const uint i = get_global_id(0);
    SUM force[3] = {0, 0, 0};
    double sums[MD_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    if (i < atoms) {
        const PLACE own = places[i];
        for (uint j = 0; j < atoms; ++j)
            if (squares[NEIGHBOUR(j, i, atoms, atoms)] < constants[CUTOFF_SQUARE])
                add_pair(own, places[j], types, constants, rows, force, sums PAIR_PASS);
        forces[3 * (size_t)i] = force[0];
        forces[3 * (size_t)i + 1] = force[1];
        forces[3 * (size_t)i + 2] = force[2];
    }
#if WITH_SUMS
    write_part(sums, scratch, parts);
#endif
}
