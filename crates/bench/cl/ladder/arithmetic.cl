// Rung 1.4: the table of neighbours gives way to arithmetic on the number of the site: integers cost less than loads.

__kernel void ladder_arithmetic(__global cplx *restrict out, __global const cplx *restrict psi,
                                __global const real *restrict links, uint4 extents, real kappa,
                                __local cplx *projected) {
    const uint i = get_global_id(0), item = get_local_id(0);
    const uint site = i / 12, spin = i % 12 / 3, colour = i % 3;
    cplx sum = 0;
#pragma unroll
    for (uint d = 0; d < DIRECTIONS; d++) {
        projected[item] = projection(psi, neighbour(site, d, extents), d, spin, colour);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = 0; c < 3; c++) {
            sum += times(link_element(links, site, d, colour, c), projected[item - colour + c]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = psi[i] - kappa * sum;
}
