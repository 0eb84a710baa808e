// What kernels of columns on the matrix units of NVIDIA GPUs have in common, in double (fragments.cl) and in half precision (columns_mma_half.cl).
//
// COLUMNS        how many fields
// LOCAL_SIZE     work-items of a group in the first dimension
// ITEMS          all work-items of a group, a multiple of 32
//
// Fields are taken four at a time, a *quad*.
//
// Without INLINE_PTX the instructions are done by their definition, through local memory: slow, but it lets every device test the addressing.

#define ITEM (get_local_id(1) * LOCAL_SIZE + get_local_id(0))
#define LANE (ITEM % 32)
#define WARPS (ITEMS / 32)
#define QUADS ((COLUMNS + 3) / 4)

// Tiles of a Gram matrix, on and above its diagonal, row after row.
#define TILES (QUADS * (QUADS + 1) / 2)
#define TILE_AT(row, column) ((row) * QUADS - (row) * ((row) - 1) / 2 + (column) - (row))

#ifdef INLINE_PTX
#define UNROLLED _Pragma("unroll")
#else
// Some compilers take minutes where many barriers follow each other.
#define UNROLLED _Pragma("nounroll")
#endif
#define FOR_QUADS(quad) UNROLLED for (int quad = 0; quad < QUADS; ++quad)

// For functions that are given a work-item's numbers, which have to stay in registers. None of them returns a structure, for which Oclgrind does not know what
// the inliner notes.
#define INLINE static inline __attribute__((always_inline))

// The groups of a launch in front of those that have sums. A kernel that has such groups defines this before, and their number `front`.
#ifndef FRONT
#define FRONT
#define FRONT_PARAMETER
#define GROUPS_IN_FRONT 0
#endif

// Adds up what the warps of a work-group have in `memory`: [warp][tile][row][column], where rows and columns are the real parts of a quad and then its imaginary
// parts. To `partials`: [number of the tiles][work-group], where a tile has four rows and columns.
INLINE void publish_sums_of_warps(__local const double *memory, __global double2 *partials FRONT_PARAMETER)
{
    GROUP_BARRIER;
    for (uint number = ITEM; number < TILES * 16; number += ITEMS) {
        // (re + i im)* (re + i im)
        const uint row = number / 4 % 4, column = number % 4;
        double2 sum = (double2)(0.0, 0.0);
        for (int warp = 0; warp < WARPS; ++warp) {
            __local const double *tile = memory + (warp * TILES + number / 16) * 64;
            sum.x += tile[row * 8 + column] + tile[(row + 4) * 8 + column + 4];
            sum.y += tile[row * 8 + column + 4] - tile[(row + 4) * 8 + column];
        }
        partials[(size_t)number * (get_num_groups(0) - GROUPS_IN_FRONT) + get_group_id(0) - GROUPS_IN_FRONT] = sum;
    }
}

// Of a matrix, the number of which an item has a part in the fragments of a pair of quads; zero beyond its last row or column.
INLINE double2 matrix_number(__global const double2 *matrix, const uint i, const uint j)
{
    return COLUMNS % 4 == 0 || (i < COLUMNS && j < COLUMNS) ? matrix[i * COLUMNS + j] : (double2)(0.0, 0.0);
}

// Operands of a matrix: [quad][quad][item of a warp]
#define FRAGMENTS (QUADS * QUADS * 32)
