// Forces by all pairs. A group reads tiles of places into local memory, as many at a time as it has items.

__kernel void md_all_pairs(__global const PLACE *places, __global const real *constants, __global const real *rows, const uint types,
                           const uint atoms, __global double *forces PAIR_PARAMETERS SUMS_PARAMETERS)
{
#if LOCAL_SIZE > 1
    __local PLACE tile[LOCAL_SIZE];
#endif
#if WITH_SUMS
    __local double scratch[LOCAL_SIZE * MD_SUMS];
#endif
    const uint i = get_global_id(0);
    // Items behind the last atom help to read tiles, and have no pairs.
    const PLACE own = places[min(i, atoms - 1)];
    SUM force[3] = {0, 0, 0};
    double sums[MD_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    for (uint first = 0; first < atoms; first += LOCAL_SIZE) {
        const uint count = min((uint)LOCAL_SIZE, atoms - first);
#if LOCAL_SIZE > 1
        barrier(CLK_LOCAL_MEM_FENCE);
        if (get_local_id(0) < count)
            tile[get_local_id(0)] = places[first + get_local_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
#else
        __global const PLACE *const tile = places + first;
#endif
        for (uint k = 0; k < count; ++k)
            if (i < atoms && first + k != i)
                add_pair(own, tile[k], types, constants, rows, force, sums PAIR_PASS);
    }
    if (i < atoms) {
        forces[3 * (size_t)i] = force[0];
        forces[3 * (size_t)i + 1] = force[1];
        forces[3 * (size_t)i + 2] = force[2];
    }
#if WITH_SUMS
    write_part(sums, scratch, parts);
#endif
}
