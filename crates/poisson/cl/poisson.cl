// Poisson's equation between a transform and its inverse. crates/poisson/src/host.rs and coulomb.rs are the twins.

#if LOCAL_SIZE > 1
#define SUMS_LOCAL(count) __local double sums_scratch[LOCAL_SIZE * ((count) | 1)]
#else
#define SUMS_LOCAL(count)                \
    __local double sums_scratch[1];      \
    sums_scratch[0] = 0
#endif

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

// Makes a potential's spectrum of a density's, and its sums. The spectrum has `columns` indices of the second axis, from `first`.
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
            __global real *const h = spectrum + 2 * ((ulong)row * row_length + k3);
            real re = h[0], im = h[1];
            multiply_component(k1, k2, k3, shape, cell, scale, &re, &im, sums);
            h[0] = re;
            h[1] = im;
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

// Between the clustered order of N x N x N sub-points (crates/poisson/src/order.rs) and the sequential one, for some places of the former.
__kernel void poisson_reorder(__global const real *from, __global real *to, const uint4 shape, const uint n, const uint to_clustered,
                              const ulong first, const ulong places)
{
    const uint cells1 = shape.x / n, cells2 = shape.y / n, of_cluster = n * n * n;
    for (ulong place = first + get_global_id(0); place < first + places; place += get_global_size(0)) {
        const ulong cluster = place / of_cluster, plane = cluster / cells1;
        const uint s = (uint)(place % of_cluster);
        const ulong k1 = cluster % cells1 * n + s % n, k2 = plane % cells2 * n + s / n % n, k3 = plane / cells2 * n + s / (n * n);
        const ulong i = (k1 * shape.y + k2) * shape.z + k3;
        if (to_clustered)
            to[place] = from[i];
        else
            to[i] = from[place];
    }
}
