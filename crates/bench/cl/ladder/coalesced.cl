// Rung 1.6: links are regrouped by direction and column, transposed so that the rows of a column are neighbours, and paired,
// re with im. The work-items of neighbouring sites and colours then load neighbouring numbers, each with one load.
// Rung 1.6.1 leaves out local memory: each work-item projects all three colours by itself, and the cache serves the rest.

static inline cplx grouped_link(__global const cplx *links, uint volume, uint site, uint d, uint row, uint column) {
    return links[3 * ((3 * d + column) * volume + site) + row];
}

__kernel void ladder_coalesced(__global cplx *restrict out, __global const cplx *restrict psi,
                               __global const cplx *restrict grouped_links, uint4 extents, real kappa,
                               __local cplx *projected) {
    const uint i = get_global_id(0), item = get_local_id(0), items = get_local_size(0);
    const uint site = i / 12, spin = i % 12 / 3, colour = i % 3, volume = get_global_size(0) / 12;
#pragma unroll
    for (uint d = 0; d < DIRECTIONS; d++) {
        projected[d * items + item] = projection(psi, neighbour(site, d, extents), d, spin, colour);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    cplx sum = 0;
    for (uint d = 0; d < DIRECTIONS; d++) {
        for (uint c = 0; c < 3; c++) {
            const cplx u = grouped_link(grouped_links, volume, site, d, colour, c);
            sum += times(u, projected[d * items + item - colour + c]);
        }
    }
    out[i] = psi[i] - kappa * sum;
}

__kernel void ladder_no_local(__global cplx *restrict out, __global const cplx *restrict psi,
                              __global const cplx *restrict grouped_links, uint4 extents, real kappa) {
    const uint i = get_global_id(0);
    const uint site = i / 12, spin = i % 12 / 3, colour = i % 3, volume = get_global_size(0) / 12;
    cplx sum = 0;
#pragma unroll
    for (uint d = 0; d < DIRECTIONS; d++) {
        const uint there = neighbour(site, d, extents);
        for (uint c = 0; c < 3; c++) {
            const cplx u = grouped_link(grouped_links, volume, site, d, colour, c);
            sum += times(u, projection(psi, there, d, spin, c));
        }
    }
    out[i] = psi[i] - kappa * sum;
}
