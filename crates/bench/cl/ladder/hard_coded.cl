// Rung 1.3: the projections are written out. No more loads of matrices that are mostly zeros and ones.

__kernel void ladder_hard_coded(__global cplx *restrict out, __global const cplx *restrict psi,
                                __global const real *restrict links, __global const uint *restrict neighbours,
                                real kappa, __local cplx *projected) {
    const uint i = get_global_id(0), item = get_local_id(0);
    const uint site = i / 12, spin = i % 12 / 3, colour = i % 3;
    cplx sum = 0;
#pragma unroll
    for (uint d = 0; d < DIRECTIONS; d++) {
        projected[item] = projection(psi, neighbours[DIRECTIONS * site + d], d, spin, colour);
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint c = 0; c < 3; c++) {
            sum += times(link_element(links, site, d, colour, c), projected[item - colour + c]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = psi[i] - kappa * sum;
}
