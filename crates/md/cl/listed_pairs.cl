// Forces by the lists.
__kernel void md_listed_pairs(__global const PLACE *places, __global const real *constants, __global const real *rows, const uint types,
                              __global const uint *neighbours, __global const uint *lengths, const uint atoms, const uint capacity,
                              __global double *forces PAIR_PARAMETERS SUMS_PARAMETERS)
{
#if WITH_SUMS
    __local double scratch[LOCAL_SIZE * MD_SUMS];
#endif
    const uint t = get_global_id(0);
    SUM force[3] = {0, 0, 0};
    double sums[MD_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    if (t < atoms) {
        const PLACE own = places[t];
        const uint length = lengths[t];
        for (uint k = 0; k < length; ++k)
            add_pair(own, places[neighbours[NEIGHBOUR(k, t, atoms, capacity)]], types, constants, rows, force, sums PAIR_PASS);
        forces[3 * (size_t)t] = force[0];
        forces[3 * (size_t)t + 1] = force[1];
        forces[3 * (size_t)t + 2] = force[2];
    }
#if WITH_SUMS
    write_part(sums, scratch, parts);
#endif
}
