// Rung 1.1: twelve work-items for each site, one for each spin and colour. What one of them projects, the three of its spin
// use: it goes through local memory. Rung 1.2 is the same in groups of 192, a multiple of 12 and of 16.

__kernel void ladder_twelve(__global cplx *restrict out, __global const cplx *restrict psi,
                            __global const real *restrict links, __global const uint *restrict neighbours,
                            __global const uint *restrict columns, __global const cplx *restrict entries, real kappa,
                            __local cplx *projected) {
    const uint i = get_global_id(0), item = get_local_id(0);
    const uint site = i / 12, spin = i % 12 / 3, colour = i % 3;
    cplx sum = 0;
    for (uint d = 0; d < DIRECTIONS; d++) {
        const uint there = neighbours[DIRECTIONS * site + d];
        projected[item] = sparse_projection(columns, entries, psi, there, d, spin, colour);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = 0; c < 3; c++) {
            sum += times(link_element(links, site, d, colour, c), projected[item - colour + c]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = psi[i] - kappa * sum;
}
