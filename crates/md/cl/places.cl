// Positions as the kernels of forces read them.

static inline uint fraction_of(const double position, const double edge)
{
    const double fraction = position / edge;
    // A fraction that rounds to 1 wraps to 0.
    return (uint)convert_ulong_rte((fraction - floor(fraction)) * 4294967296.0);
}

// Fractions are taken of the box that the atom is in.
static inline PLACE packed(const double x, const double y, const double z, __global const double *edges, const uint type)
{
#if REAL_BITS == 64
    return (double4)(x, y, z, (double)type);
#else
    return (uint4)(fraction_of(x, edges[0]), fraction_of(y, edges[1]), fraction_of(z, edges[2]), type);
#endif
}

// Item s packs the position of an atom whose number is order[s].
__kernel void md_pack(__global const double *positions, __global const uint *atom_types, __global const uint *order,
                      __global const double *edges, const uint atoms, __global PLACE *places)
{
    const uint s = get_global_id(0);
    if (s < atoms) {
        __global const double *const at = positions + 3 * (size_t)s;
        places[s] = packed(at[0], at[1], at[2], edges, atom_types[order[s]]);
    }
}
