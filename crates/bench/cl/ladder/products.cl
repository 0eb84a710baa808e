// Rung 2.0: one kernel for each small matrix product, launched for one direction after the other: 4×4 by 4×3 of the spins, then
// 3×3 by 3×4 of the colours. Simple kernels, but what lies between them goes through memory.

__kernel void ladder_spin_product(__global cplx *restrict projected, __global const cplx *restrict psi, uint4 extents,
                                  uint d) {
    const uint i = get_global_id(0);
    projected[i] = projection(psi, neighbour(i / 12, d, extents), d, i % 12 / 3, i % 3);
}

__kernel void ladder_colour_product(__global cplx *restrict out, __global const cplx *restrict psi,
                                    __global const cplx *restrict projected,
                                    __global const cplx *restrict grouped_links, real kappa, uint d) {
    const uint i = get_global_id(0);
    const uint site = i / 12, colour = i % 3, volume = get_global_size(0) / 12;
    cplx sum = 0;
    for (uint c = 0; c < 3; c++) {
        sum += times(grouped_link(grouped_links, volume, site, d, colour, c), projected[i - colour + c]);
    }
    out[i] = (d == 0 ? psi[i] : out[i]) - kappa * sum;
}
