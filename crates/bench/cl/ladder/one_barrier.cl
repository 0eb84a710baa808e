// Rung 1.5: first all projections, then all products. Local memory holds eight directions, and one barrier is left of sixteen.

__kernel void ladder_one_barrier(__global cplx *restrict out, __global const cplx *restrict psi,
                                 __global const real *restrict links, uint4 extents, real kappa,
                                 __local cplx *projected) {
    const uint i = get_global_id(0), item = get_local_id(0), items = get_local_size(0);
    const uint site = i / 12, spin = i % 12 / 3, colour = i % 3;
#pragma unroll
    for (uint d = 0; d < DIRECTIONS; d++) {
        projected[d * items + item] = projection(psi, neighbour(site, d, extents), d, spin, colour);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    cplx sum = 0;
    for (uint d = 0; d < DIRECTIONS; d++) {
        for (uint c = 0; c < 3; c++) {
            sum += times(link_element(links, site, d, colour, c), projected[d * items + item - colour + c]);
        }
    }
    out[i] = psi[i] - kappa * sum;
}
