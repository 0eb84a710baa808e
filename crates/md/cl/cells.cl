// Sorts atoms by cells of the box. Behind the sort, the atoms of a cell lie together, in the order of their numbers.
//
// Which item counts first in a cell changes from run to run. The last step puts each cell in order, so the result does not.
//
// grid: cells along each axis. An atom's cell is that of its image in the box.

static inline uint cell_along(const double position, const double edge, const uint cells)
{
    const double fraction = position / edge;
    return min((uint)((fraction - floor(fraction)) * cells), cells - 1);
}

// Finds the cell of each atom, counts its atoms, and numbers the atom among them.
__kernel void md_cell_count(__global const double *positions, __global const double *edges, const uint4 grid, const uint atoms,
                            __global uint *cells, __global uint *slots, __global uint *counts)
{
    const uint s = get_global_id(0);
    if (s < atoms) {
        const uint x = cell_along(positions[3 * (size_t)s], edges[0], grid.x);
        const uint y = cell_along(positions[3 * (size_t)s + 1], edges[1], grid.y);
        const uint z = cell_along(positions[3 * (size_t)s + 2], edges[2], grid.z);
        const uint cell = (x * grid.y + y) * grid.z + z;
        cells[s] = cell;
        slots[s] = atomic_inc(&counts[cell]);
    }
}

// Adds the counts of all cells before each cell, by one group. Entry `count` is the number of atoms.
__kernel void md_cell_starts(__global const uint *counts, const uint count, __global uint *starts)
{
    __local uint sums[LOCAL_SIZE];
    const uint item = get_local_id(0), share = (count + LOCAL_SIZE - 1) / LOCAL_SIZE;
    const uint first = min(item * share, count), end = min(first + share, count);
    uint sum = 0;
    for (uint cell = first; cell < end; ++cell)
        sum += counts[cell];
    sums[item] = sum;
    GROUP_BARRIER;
    uint before = 0;
    for (uint other = 0; other < item; ++other)
        before += sums[other];
    for (uint cell = first; cell < end; ++cell) {
        starts[cell] = before;
        before += counts[cell];
    }
    if (item == LOCAL_SIZE - 1)
        starts[count] = before;
}

// Lists the atoms of each cell.
__kernel void md_cell_fill(__global const uint *cells, __global const uint *slots, __global const uint *starts, const uint atoms,
                           __global uint *members)
{
    const uint s = get_global_id(0);
    if (s < atoms)
        members[starts[cells[s]] + slots[s]] = s;
}

// Puts the atoms of each cell in the order of their numbers. Cells have few atoms.
__kernel void md_cell_sort(__global const uint *starts, __global const uint *order, const uint count, __global uint *members)
{
    const uint cell = get_global_id(0);
    if (cell < count) {
        const uint first = starts[cell], end = starts[cell + 1];
        for (uint place = first + 1; place < end; ++place) {
            const uint member = members[place];
            uint hole = place;
            for (; hole > first && order[members[hole - 1]] > order[member]; --hole)
                members[hole] = members[hole - 1];
            members[hole] = member;
        }
    }
}

// Moves everything that an atom has to its new place.
__kernel void md_cell_gather(__global const uint *members, __global const uint *cells, const uint atoms, __global const uint *order,
                             __global const double *positions, __global const double *velocities, __global const double *forces,
                             __global uint *new_order, __global double *new_positions, __global double *new_velocities,
                             __global double *new_forces, __global uint *new_cells)
{
    const uint t = get_global_id(0);
    if (t < atoms) {
        const uint s = members[t];
        new_order[t] = order[s];
        new_cells[t] = cells[s];
        for (uint axis = 0; axis < 3; ++axis) {
            const size_t from = 3 * (size_t)s + axis, to = 3 * (size_t)t + axis;
            new_positions[to] = positions[from];
            new_velocities[to] = velocities[from];
            new_forces[to] = forces[from];
        }
    }
}
