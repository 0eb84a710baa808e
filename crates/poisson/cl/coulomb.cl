// Sums over densities and products with K(G), for kernels of their own and for those of transforms. crates/poisson/src/host.rs and coulomb.rs are
// the twins.
//
// Sums are of one order for one range and group size: each group writes its part to `parts`, and the host adds the parts in their order. An item's
// sums lie side by side in local memory, an odd number of them, so that neighbours use different banks.

#define PI 3.14159265358979323846

// Most sums of a kernel, and the distance of the parts of two groups.
#define MOST_SUMS 8

// Adds the sums of a group's items in a tree, and writes them as its part.
static inline void write_part(const uint count, const double *sums, __local double *scratch, __global double *parts)
{
    __global double *const part = parts + MOST_SUMS * get_group_id(0);
#if LOCAL_SIZE > 1
    const uint item = get_local_id(0), distance = count | 1;
    for (uint s = 0; s < count; ++s)
        scratch[distance * item + s] = sums[s];
    for (uint active = LOCAL_SIZE; active > 1;) {
        const uint half_way = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < (active - half_way) * distance; i += LOCAL_SIZE)
            scratch[i] += scratch[i + half_way * distance];
        active = half_way;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < count)
        part[item] = scratch[item];
#else
    for (uint s = 0; s < count; ++s)
        part[s] = sums[s];
#endif
}

// Adds value number k of a row of a density to the sums: the value, and times its fractional positions from the middle of the cell.
static inline void add_moments(const uint row, const uint k, const double value, const uint4 shape, const double3 over, double *sums)
{
    const uint plane = row / shape.y;
    sums[0] += value;
    sums[1] += value * (plane * over.x - 0.5);
    sums[2] += value * ((row - plane * shape.y) * over.y - 0.5);
    sums[3] += value * (k * over.z - 0.5);
}

// Adds K and K G_a G_b/G^2 of the vector with these indices to `sums`, times `weight`. cell: b_1, b_2, b_3, then the square from which on
// components are dropped.
static inline void add_coulomb(__global const double *cell, const double3 index, const double weight, double *sums)
{
    double g[3];
    for (uint a = 0; a < 3; ++a)
        g[a] = index.x * cell[a] + index.y * cell[3 + a] + index.z * cell[6 + a];
    const double square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2];
    if (square == 0 || square >= cell[9])
        return;
    const double inverse = 1 / square, factor = weight * 4 * PI * inverse, over = factor * inverse;
    sums[0] += factor;
    sums[1] += over * g[0] * g[0];
    sums[2] += over * g[1] * g[1];
    sums[3] += over * g[2] * g[2];
    sums[4] += over * g[1] * g[2];
    sums[5] += over * g[0] * g[2];
    sums[6] += over * g[0] * g[1];
}

static inline double signed_index(const uint k, const uint n) { return 2 * k <= n ? (double)k : (double)k - (double)n; }

// Makes component (k1, k2, k3) of a potential's spectrum of that of a density: times K/N. Adds the seven sums of K |h|^2 and K G_a G_b/G^2 |h|^2.
//
// Index n/2 of an even axis is +n/2 and -n/2 at once. The mean of two vectors is taken, with opposite signs of all such indices. Components count
// twice where the other half of the spectrum has their conjugates.
static inline void multiply_component(const uint k1, const uint k2, const uint k3, const uint4 shape, __global const double *cell,
                                      const double scale, real *h_re, real *h_im, double *sums)
{
    const int edge1 = 2 * k1 == shape.x, edge2 = 2 * k2 == shape.y, edge3 = 2 * k3 == shape.z;
    const double3 index = (double3)(signed_index(k1, shape.x), signed_index(k2, shape.y), signed_index(k3, shape.z));
    double means[7] = {0, 0, 0, 0, 0, 0, 0};
    if (edge1 || edge2 || edge3) {
        const double3 other = (double3)(edge1 ? -index.x : index.x, edge2 ? -index.y : index.y, edge3 ? -index.z : index.z);
        add_coulomb(cell, index, 0.5, means);
        add_coulomb(cell, other, 0.5, means);
    } else {
        add_coulomb(cell, index, 1, means);
    }
    const double re = *h_re, im = *h_im;
    const double square = (k3 == 0 || edge3 ? 1 : 2) * (re * re + im * im);
    for (uint s = 0; s < 7; ++s)
        sums[s] += means[s] * square;
    *h_re = (real)(re * (means[0] * scale));
    *h_im = (real)(im * (means[0] * scale));
}
