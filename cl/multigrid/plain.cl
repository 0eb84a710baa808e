// Spinors in the order of the multigrid method: sites of a parity in lexicographic order. Each of six
// components has two chiralities, in the basis of DeGrand and Rossi (src/field/spin_basis.rs).
//
// FROM_NX … FROM_NT      sub-lattices in x, y, z, t
// FROM_PACK              most complex numbers in a vector, with one lane
// FROM_CHUNK             sites in a chunk, with one lane; 0 for all

static inline layout spinor_layout(const uint4 extents)
{
    const layout l = {extents.x, extents.y, extents.z, extents.w,
                      FROM_NX, FROM_NY, FROM_NZ, FROM_NT, FROM_PACK, FROM_CHUNK, 0};
    return l;
}

// The place of site number `item` of a parity.
static inline place place_of(const layout l, const uint item)
{
    const uint pairs_of_row = FROM_NX * l.sx / 2, row = item / pairs_of_row, plane = row / (FROM_NY * l.sy);
    return place_at(l, 2 * (item % pairs_of_row), row % (FROM_NY * l.sy), plane % (FROM_NZ * l.sz), plane / (FROM_NZ * l.sz));
}

// Numbers that lie together in the plain order: both parts of one, and both parts of a component's two chiralities.
#define BOTH_PARTS JOIN(REAL, 2)
#define BOTH_CHIRALITIES JOIN(REAL, 4)

static inline BOTH_PARTS load_parts(const layout l, __global const REAL *restrict from, const size_t at)
{
    return (BOTH_PARTS)(from[at], from[at + imaginary_step(l)]);
}

static inline void store_parts(const layout l, __global REAL *restrict to, const size_t at, const BOTH_PARTS value)
{
    to[at] = value.x;
    to[at + imaginary_step(l)] = value.y;
}

// One work-item for each of `sites` sites of each column. The first site has number `start` in `to`,
// where a column has `stride` reals.
__kernel void spinors_to_plain(__global const REAL *restrict from, __global REAL *restrict to, const uint4 extents,
                               const uint start, const uint sites, const uint columns, const uint stride)
{
    const uint item = get_global_id(0);
    if (item >= sites * columns)
        return;
    const uint column = item / sites, site = item % sites;
    const layout l = spinor_layout(extents);
    const place p = place_of(l, site);
    from += column * half_field(l);
    to += (size_t)column * stride + (size_t)(start + site) * 2 * COMPONENTS;
    for (int c = 0; c < COMPONENTS / 2; ++c) {
        const size_t upper = offset_of(l, p, c), lower = offset_of(l, p, c + COMPONENTS / 2);
        const BOTH_PARTS a = load_parts(l, from, upper), b = load_parts(l, from, lower);
        ((__global BOTH_CHIRALITIES *)to)[c] = (BOTH_CHIRALITIES)(a + b, a - b) * (REAL)M_SQRT1_2;
    }
}

// The reverse.
__kernel void spinors_from_plain(__global const REAL *restrict from, __global REAL *restrict to, const uint4 extents,
                                 const uint start, const uint sites, const uint columns, const uint stride)
{
    const uint item = get_global_id(0);
    if (item >= sites * columns)
        return;
    const uint column = item / sites, site = item % sites;
    const layout l = spinor_layout(extents);
    const place p = place_of(l, site);
    from += (size_t)column * stride + (size_t)(start + site) * 2 * COMPONENTS;
    to += column * half_field(l);
    for (int c = 0; c < COMPONENTS / 2; ++c) {
        const size_t upper = offset_of(l, p, c), lower = offset_of(l, p, c + COMPONENTS / 2);
        const BOTH_CHIRALITIES both = ((__global const BOTH_CHIRALITIES *)from)[c] * (REAL)M_SQRT1_2;
        store_parts(l, to, upper, both.lo + both.hi);
        store_parts(l, to, lower, both.lo - both.hi);
    }
}

// ψ = (1 - γ) ψ / 2 at each of `sites` sites. Each row of γ has one number: in row `s` it is i to the
// power `powers`, in column `columns`.
__kernel void project_plain(__global REAL *psi, const uint4 columns, const uint4 powers, const uint sites)
{
    const uint item = get_global_id(0);
    if (item >= sites)
        return;
    psi += (size_t)item * 2 * COMPONENTS;
    const uint column[4] = {columns.x, columns.y, columns.z, columns.w}, power[4] = {powers.x, powers.y, powers.z, powers.w};
    for (int colour = 0; colour < 3; ++colour) {
        REAL re[4], im[4];
        for (int spin = 0; spin < 4; ++spin) {
            const int at = 4 * (3 * (spin % 2) + colour) + 2 * (spin / 2);
            re[spin] = psi[at];
            im[spin] = psi[at + 1];
        }
        for (int spin = 0; spin < 4; ++spin) {
            const REAL x = re[column[spin]], y = im[column[spin]];
            const REAL turned_re = power[spin] == 0 ? x : power[spin] == 1 ? -y : power[spin] == 2 ? -x : y;
            const REAL turned_im = power[spin] == 0 ? y : power[spin] == 1 ? x : power[spin] == 2 ? -y : -x;
            const int at = 4 * (3 * (spin % 2) + colour) + 2 * (spin / 2);
            psi[at] = (re[spin] - turned_re) / 2;
            psi[at + 1] = (im[spin] - turned_im) / 2;
        }
    }
}
