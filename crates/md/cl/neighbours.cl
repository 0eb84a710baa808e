// Lists of the neighbours of each atom. Both directions of a pair are listed, so that nothing is scattered, or `once` its first atom has it.

// Lists what is nearer than the constant LIST_SQUARE, in cells up to `reach` away. Neighbours beyond the capacity are counted, not written.
__kernel void md_neighbours(__global const PLACE *places, __global const real *constants, __global const uint *cells,
                            __global const uint *starts, const uint4 grid, const uint reach, const uint once, const uint atoms, const uint capacity,
                            __global uint *neighbours, __global uint *lengths, __global uint *most)
{
    const uint t = get_global_id(0);
    if (t < atoms) {
        const PLACE own = places[t];
        const uint size[3] = {grid.x, grid.y, grid.z};
        const uint cell = cells[t], at[3] = {cell / (grid.y * grid.z), cell / grid.z % grid.y, cell % grid.z};
        // Along an axis of few cells each is visited once.
        uint first[3], count[3];
        for (uint axis = 0; axis < 3; ++axis) {
            const int few = size[axis] <= 2 * reach;
            first[axis] = few ? 0 : at[axis] + size[axis] - reach;
            count[axis] = few ? size[axis] : 2 * reach + 1;
        }
        uint found = 0;
        for (uint i = 0; i < count[0]; ++i)
            for (uint j = 0; j < count[1]; ++j)
                for (uint k = 0; k < count[2]; ++k) {
                    const uint x = (first[0] + i) % size[0], y = (first[1] + j) % size[1], z = (first[2] + k) % size[2];
                    const uint other = (x * size[1] + y) * size[2] + z, end = starts[other + 1];
                    for (uint u = starts[other]; u < end; ++u) {
                        real d[3];
                        difference(own, places[u], constants, d);
                        if ((once ? u > t : u != t) && d[0] * d[0] + d[1] * d[1] + d[2] * d[2] < constants[LIST_SQUARE]) {
                            if (found < capacity)
                                neighbours[NEIGHBOUR(found, t, atoms, capacity)] = u;
                            ++found;
                        }
                    }
                }
        lengths[t] = found;
        atomic_max(most, found);
    }
}
