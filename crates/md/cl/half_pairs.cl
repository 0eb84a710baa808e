// Forces by lists that have each pair once. The force on the other atom is scattered in fixed point of 64 bits: integers add in any order to the
// same bits (Le Grand, Goetz and Walker, Comput. Phys. Commun. 184 (2013) 374). Two words make a sum, because atomics of 64 bits are an extension.

// Units of a force of 1.
#define UNITS 1099511627776.0

static inline void scatter(__global uint *sums, const size_t place, const long units)
{
    const uint low = (uint)units, before = atomic_add(sums + 2 * place, low);
    atomic_add(sums + 2 * place + 1, (uint)((ulong)units >> 32) + (before + low < low ? 1 : 0));
}

__kernel void md_half_pairs(__global const PLACE *places, __global const real *constants, __global const real *rows, const uint types,
                            __global const uint *neighbours, __global const uint *lengths, const uint atoms, const uint capacity,
                            __global uint *scattered PAIR_PARAMETERS SUMS_PARAMETERS)
{
#if WITH_SUMS
    __local double scratch[LOCAL_SIZE * MD_SUMS];
#endif
    const uint t = get_global_id(0);
    double sums[MD_SUMS] = {0, 0, 0, 0, 0, 0, 0, 0, 0};
    if (t < atoms) {
        const PLACE own = places[t];
        const uint length = lengths[t];
        long force[3] = {0, 0, 0};
        for (uint k = 0; k < length; ++k) {
            const uint u = neighbours[NEIGHBOUR(k, t, atoms, capacity)];
            SUM of_pair[3] = {0, 0, 0};
            add_pair(own, places[u], types, constants, rows, of_pair, sums PAIR_PASS);
            for (uint axis = 0; axis < 3; ++axis) {
                const long units = convert_long_sat_rte((double)of_pair[axis] * UNITS);
                if (units != 0) {
                    force[axis] += units;
                    scatter(scattered, 3 * (size_t)u + axis, -units);
                }
            }
        }
        for (uint axis = 0; axis < 3; ++axis)
            scatter(scattered, 3 * (size_t)t + axis, force[axis]);
    }
#if WITH_SUMS
    // The host takes each pair as counted twice.
    for (uint s = 0; s < MD_SUMS; ++s)
        sums[s] *= 2;
    write_part(sums, scratch, parts);
#endif
}

__kernel void md_half_forces(__global const uint *scattered, const uint atoms, __global double *forces)
{
    const uint t = get_global_id(0);
    if (t < atoms)
        for (uint axis = 0; axis < 3; ++axis) {
            const size_t place = 3 * (size_t)t + axis;
            const ulong units = (ulong)scattered[2 * place] | (ulong)scattered[2 * place + 1] << 32;
            forces[place] = (double)as_long(units) / UNITS;
        }
}
