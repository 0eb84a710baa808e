// The ladder: how the Wilson operator of a port to GPUs became fast, one idea after the other. What all rungs share.
//
// Every rung computes out = ψ − κ Hψ, Hψ(x) = Σ_d P_d U_d(x) ψ(x + d), over eight directions d: forward in x, y, z, t with
// P = 1 − γ and the link U(x), then backward with P = 1 + γ and the adjoint of the link that comes in. All eight links are
// stored for each site. Sites are lexicographic, x fastest; a field has its sites one after the other, each with 4 spins of 3
// colours; the number of sites is a multiple of 16.

#define cplx JOIN(real, 2)

#define DIRECTIONS 8
#define SPINOR(site, spin, colour) (12 * (site) + 3 * (spin) + (colour))

static inline cplx times(cplx a, cplx b) {
    return (cplx)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// An element of a link, where links are matrices in rows, one after the other, and re and im are apart.
static inline cplx link_element(__global const real *links, uint site, uint d, uint row, uint column) {
    const uint i = 9 * (DIRECTIONS * site + d) + 3 * row + column;
    return (cplx)(links[2 * i], links[2 * i + 1]);
}

// An element of P ψ, where P is one of eight sparse 4×4 matrices: two entries in each row, and in which columns they are.
static inline cplx sparse_projection(__global const uint *columns, __global const cplx *entries,
                                     __global const cplx *psi, uint site, uint d, uint spin, uint colour) {
    cplx sum = 0;
    for (uint place = 2 * (4 * d + spin); place < 2 * (4 * d + spin) + 2; place++) {
        sum += times(entries[place], psi[SPINOR(site, columns[place], colour)]);
    }
    return sum;
}

// The same with the matrices written out, in the DeGrand-Rossi basis: γ_μ has one entry in each row, 1, i, −1 or −i.
static inline cplx projection(__global const cplx *psi, uint site, uint d, uint spin, uint colour) {
    const uint mu = d % 4;
    const uint partner = mu < 2 ? 3 - spin : spin ^ 2;
    const cplx own = psi[SPINOR(site, spin, colour)], other = psi[SPINOR(site, partner, colour)];
    cplx turned = other;
    bool minus = false;
    if (mu == 0 || mu == 2) {
        turned = (cplx)(-other.y, other.x);
        minus = mu == 0 ? spin >= 2 : spin == 1 || spin == 2;
    } else if (mu == 1) {
        minus = spin == 0 || spin == 3;
    }
    return minus == (d < 4) ? own + turned : own - turned;
}

// The site one step from `site` in direction d.
static inline uint neighbour(uint site, uint d, uint4 extents) {
    const uint mu = d % 4;
    const uint stride = (mu > 0 ? extents.x : 1) * (mu > 1 ? extents.y : 1) * (mu > 2 ? extents.z : 1);
    const uint extent = mu == 0 ? extents.x : mu == 1 ? extents.y : mu == 2 ? extents.z : extents.w;
    const uint here = site / stride % extent;
    const uint there = d < 4 ? (here + 1 == extent ? 0 : here + 1) : (here == 0 ? extent - 1 : here - 1);
    return site + stride * there - stride * here;
}
