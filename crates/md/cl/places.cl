// Positions as the kernels of forces read them, and a potential alone.

// Item s packs the position of atom order[s]. Fractions are taken of the box that the atom is in.
__kernel void md_pack(__global const double *positions, __global const uint *atom_types, __global const uint *order,
                      __global const double *edges, const uint atoms, __global PLACE *places)
{
    const uint s = get_global_id(0);
    if (s < atoms) {
        const uint i = order[s];
        PLACE place;
#if REAL_BITS == 64
        place.x = positions[3 * (size_t)i];
        place.y = positions[3 * (size_t)i + 1];
        place.z = positions[3 * (size_t)i + 2];
        place.w = atom_types[i];
#else
        uint fixed[3];
        for (uint axis = 0; axis < 3; ++axis) {
            const double fraction = positions[3 * (size_t)i + axis] / edges[axis];
            // A fraction that rounds to 1 wraps to 0.
            fixed[axis] = (uint)convert_ulong_rte((fraction - floor(fraction)) * 4294967296.0);
        }
        place = (uint4)(fixed[0], fixed[1], fixed[2], atom_types[i]);
#endif
        places[s] = place;
    }
}

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
