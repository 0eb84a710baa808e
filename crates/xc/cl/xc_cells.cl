// Cells of Becke (J. Chem. Phys. 88 (1988) 2547), in double. Twin: crates/xc/src/grid/molecular.rs.

// nu(3 - nu^2)/2.
static inline double steeper(const double nu) { return 0.5 * nu * (3 - nu * nu); }

static inline double distance_from(__global const double *centre, const double x, const double y, const double z) {
    const double dx = centre[0] - x, dy = centre[1] - y, dz = centre[2] - z;
    return sqrt(dx * dx + dy * dy + dz * dz);
}

// Multiplies the weight of each point by the part of the point that belongs to its atom. `centres` has x, y, z of each atom, `pairs` 1/R_ij and
// a_ij at i * atoms + j. The numbers of an atom's points stand together: `each` of them.
__kernel void xc_cells(__global const double *centres, __global const double *pairs, const uint atoms, const ulong each,
                       __global const double *points, __global double *weights) {
    for (ulong p = get_global_id(0); p < atoms * each; p += get_global_size(0)) {
        const double x = points[3 * p], y = points[3 * p + 1], z = points[3 * p + 2];
        const uint owner = (uint)(p / each);
        double own = 0, all = 0;
        for (uint i = 0; i < atoms; i++) {
            const double from_i = distance_from(centres + 3 * i, x, y, z);
            double part = 1;
            for (uint j = 0; j < atoms && part > 0; j++) {
                if (j != i) {
                    __global const double *pair = pairs + 2 * (i * atoms + j);
                    const double mu = (from_i - distance_from(centres + 3 * j, x, y, z)) * pair[0];
                    part *= 0.5 * (1 - steeper(steeper(steeper(mu + pair[1] * (1 - mu * mu)))));
                }
            }
            all += part;
            own = i == owner ? part : own;
        }
        weights[p] *= own / all;
    }
}
