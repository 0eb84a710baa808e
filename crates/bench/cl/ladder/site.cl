// Rung 1.0: the loops of the host as they are, one work-item for each site.

__kernel void ladder_site(__global cplx *restrict out, __global const cplx *restrict psi,
                          __global const real *restrict links, __global const uint *restrict neighbours,
                          __global const uint *restrict columns, __global const cplx *restrict entries, real kappa,
                          uint volume) {
    const uint site = get_global_id(0);
    if (site >= volume) {
        return;
    }
    cplx sum[12];
    for (uint i = 0; i < 12; i++) {
        sum[i] = 0;
    }
    for (uint d = 0; d < DIRECTIONS; d++) {
        const uint there = neighbours[DIRECTIONS * site + d];
        for (uint spin = 0; spin < 4; spin++) {
            for (uint column = 0; column < 3; column++) {
                const cplx h = sparse_projection(columns, entries, psi, there, d, spin, column);
                for (uint row = 0; row < 3; row++) {
                    sum[3 * spin + row] += times(link_element(links, site, d, row, column), h);
                }
            }
        }
    }
    for (uint i = 0; i < 12; i++) {
        out[12 * site + i] = psi[12 * site + i] - kappa * sum[i];
    }
}
