// Poisson's equation between a transform and its inverse. crates/poisson/src/host.rs and coulomb.rs are the twins.
//
// Sums are of one order for one range and group size: each group writes its part to `parts`, and the host adds the parts in their order. An item's
// sums lie side by side in local memory, an odd number of them, so that neighbours use different banks.

#define PI 3.14159265358979323846

// Most sums of a kernel, and the distance of the parts of two groups.
#define MOST_SUMS 8

#if LOCAL_SIZE > 1
#define SUMS_LOCAL(count) __local double sums_scratch[LOCAL_SIZE * ((count) | 1)]
#else
#define SUMS_LOCAL(count)                \
    __local double sums_scratch[1];      \
    sums_scratch[0] = 0
#endif

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

// The sums of a density: all of it, and each value times its fractional position from the middle of the cell. A group takes whole rows.
__kernel void poisson_moments(__global const real *density, const uint4 shape, __global double *parts)
{
    SUMS_LOCAL(4);
    double sums[4] = {0, 0, 0, 0};
    for (uint row = get_group_id(0); row < shape.x * shape.y; row += get_num_groups(0)) {
        double all = 0, along = 0;
        for (uint k = get_local_id(0); k < shape.z; k += LOCAL_SIZE) {
            const double value = density[(ulong)row * shape.z + k];
            all += value;
            along += value * ((double)k / shape.z - 0.5);
        }
        sums[0] += all;
        sums[1] += all * ((double)(row / shape.y) / shape.x - 0.5);
        sums[2] += all * ((double)(row % shape.y) / shape.y - 0.5);
        sums[3] += along;
    }
    write_part(4, sums, sums_scratch, parts);
}

// The sum of products of two meshes.
__kernel void poisson_overlap(__global const real *density, __global const real *potential, const ulong points,
                              __global double *parts)
{
    SUMS_LOCAL(1);
    double sums[1] = {0};
    for (ulong i = get_global_id(0); i < points; i += get_global_size(0))
        sums[0] += (double)density[i] * potential[i];
    write_part(1, sums, sums_scratch, parts);
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
    const double factor = weight * 4 * PI / square, over = factor / square;
    sums[0] += factor;
    sums[1] += over * g[0] * g[0];
    sums[2] += over * g[1] * g[1];
    sums[3] += over * g[2] * g[2];
    sums[4] += over * g[1] * g[2];
    sums[5] += over * g[0] * g[2];
    sums[6] += over * g[0] * g[1];
}

static inline double signed_index(const uint k, const uint n) { return 2 * k <= n ? (double)k : (double)k - (double)n; }

// Makes a potential's spectrum of a density's: times K/N. Makes the seven sums of K |h|^2 and K G_a G_b/G^2 |h|^2 in passing. The spectrum has
// `columns` indices of the second axis, from `first`.
//
// Index n/2 of an even axis is +n/2 and -n/2 at once. The mean of two vectors is taken, with opposite signs of all such indices. Components count
// twice where the other half of the spectrum has their conjugates.
__kernel void poisson_multiply(__global real *spectrum, const uint4 shape, const uint first, const uint columns,
                               __global const double *cell, __global double *parts)
{
    SUMS_LOCAL(7);
    double sums[7] = {0, 0, 0, 0, 0, 0, 0};
    const uint row_length = shape.z / 2 + 1;
    const double scale = 1.0 / ((double)shape.x * shape.y * shape.z);
    for (uint row = get_group_id(0); row < shape.x * columns; row += get_num_groups(0)) {
        const uint k1 = row / columns, k2 = first + row % columns;
        for (uint k3 = get_local_id(0); k3 < row_length; k3 += LOCAL_SIZE) {
            const int edge1 = 2 * k1 == shape.x, edge2 = 2 * k2 == shape.y, edge3 = 2 * k3 == shape.z;
            const double3 index =
                (double3)(signed_index(k1, shape.x), signed_index(k2, shape.y), signed_index(k3, shape.z));
            double means[7] = {0, 0, 0, 0, 0, 0, 0};
            if (edge1 || edge2 || edge3) {
                const double3 other = (double3)(edge1 ? -index.x : index.x, edge2 ? -index.y : index.y, edge3 ? -index.z : index.z);
                add_coulomb(cell, index, 0.5, means);
                add_coulomb(cell, other, 0.5, means);
            } else {
                add_coulomb(cell, index, 1, means);
            }
            __global real *const h = spectrum + 2 * ((ulong)row * row_length + k3);
            const double re = h[0], im = h[1];
            const double square = (k3 == 0 || edge3 ? 1 : 2) * (re * re + im * im);
            for (uint s = 0; s < 7; ++s)
                sums[s] += means[s] * square;
            h[0] = (real)(re * (means[0] * scale));
            h[1] = (real)(im * (means[0] * scale));
        }
    }
    write_part(7, sums, sums_scratch, parts);
}

// Multiplies a spectrum by real factors.
__kernel void poisson_convolve(__global real *spectrum, __global const real *factors, const ulong components)
{
    for (ulong i = get_global_id(0); i < components; i += get_global_size(0)) {
        spectrum[2 * i] *= factors[i];
        spectrum[2 * i + 1] *= factors[i];
    }
}

// K(G) in free space on the half spectrum of the long mesh. steps: 2 pi/length along each axis.
__kernel void poisson_free_space(__global real *spectrum, const uint4 shape, const double step1, const double step2,
                                 const double step3, const double radius)
{
    const uint row_length = shape.z / 2 + 1;
    const ulong components = (ulong)shape.x * shape.y * row_length;
    for (ulong i = get_global_id(0); i < components; i += get_global_size(0)) {
        const uint k3 = (uint)(i % row_length), row = (uint)(i / row_length), k1 = row / shape.y, k2 = row % shape.y;
        const double x = step1 * min(k1, shape.x - k1), y = step2 * min(k2, shape.y - k2), z = step3 * k3;
        const double square = x * x + y * y + z * z;
        const double wave = sin(0.5 * radius * sqrt(square));
        spectrum[2 * i] = square == 0 ? 2 * PI * radius * radius : 8 * PI * wave * wave / square;
        spectrum[2 * i + 1] = 0;
    }
}

// Cuts a mesh out of a longer one: the upper half of each axis are its last points.
__kernel void poisson_cut(__global const real *from, const uint4 long_shape, __global real *to, const uint4 shape)
{
    const ulong points = (ulong)shape.x * shape.y * shape.z;
    for (ulong i = get_global_id(0); i < points; i += get_global_size(0)) {
        const uint k3 = (uint)(i % shape.z), row = (uint)(i / shape.z), k1 = row / shape.y, k2 = row % shape.y;
        const uint j1 = 2 * k1 < shape.x ? k1 : long_shape.x + k1 - shape.x;
        const uint j2 = 2 * k2 < shape.y ? k2 : long_shape.y + k2 - shape.y;
        const uint j3 = 2 * k3 < shape.z ? k3 : long_shape.z + k3 - shape.z;
        to[i] = from[((ulong)j1 * long_shape.y + j2) * long_shape.z + j3];
    }
}

// The real parts of a spectrum, times a factor, in the precision of densities.
__kernel void poisson_real_parts(__global const double *spectrum, __global real *factors, const ulong components, const double factor)
{
    for (ulong i = get_global_id(0); i < components; i += get_global_size(0))
        factors[i] = (real)(spectrum[2 * i] * factor);
}

// Copies a mesh to the lower corner of one that is twice as long in each axis, with zeros elsewhere.
__kernel void poisson_pad(__global const real *from, __global real *to, const uint4 shape)
{
    const ulong points = 8 * (ulong)shape.x * shape.y * shape.z;
    for (ulong i = get_global_id(0); i < points; i += get_global_size(0)) {
        const uint k3 = (uint)(i % (2 * shape.z)), row = (uint)(i / (2 * shape.z)), k1 = row / (2 * shape.y), k2 = row % (2 * shape.y);
        const int inside = k1 < shape.x && k2 < shape.y && k3 < shape.z;
        to[i] = inside ? from[((ulong)k1 * shape.y + k2) * shape.z + k3] : (real)0;
    }
}

// The other way: copies the lower corner.
__kernel void poisson_corner(__global const real *from, __global real *to, const uint4 shape)
{
    const ulong points = (ulong)shape.x * shape.y * shape.z;
    for (ulong i = get_global_id(0); i < points; i += get_global_size(0)) {
        const uint k3 = (uint)(i % shape.z), row = (uint)(i / shape.z), k1 = row / shape.y, k2 = row % shape.y;
        to[i] = from[((ulong)k1 * 2 * shape.y + k2) * 2 * shape.z + k3];
    }
}

// Between the clustered order of N x N x N sub-points (crates/poisson/src/order.rs) and the sequential one.
__kernel void poisson_reorder(__global const real *from, __global real *to, const uint4 shape, const uint n, const uint to_clustered)
{
    const ulong points = (ulong)shape.x * shape.y * shape.z;
    for (ulong i = get_global_id(0); i < points; i += get_global_size(0)) {
        const uint k3 = (uint)(i % shape.z), row = (uint)(i / shape.z), k1 = row / shape.y, k2 = row % shape.y;
        const ulong cluster = ((ulong)(k3 / n) * (shape.y / n) + k2 / n) * (shape.x / n) + k1 / n;
        const ulong place = cluster * n * n * n + (k3 % n * n + k2 % n) * n + k1 % n;
        if (to_clustered)
            to[place] = from[i];
        else
            to[i] = from[place];
    }
}
