// Spinors in the order of the multigrid method: sites of a parity in lexicographic order. Each of six
// components has two chiralities, in the basis of DeGrand and Rossi (src/field/spin_basis.rs).
//
// FROM                   type of the stored numbers
// FROM_UNITS             1 in half precision: each site has a unit
// FROM_NX … FROM_NT      sub-lattices in x, y, z, t
// FROM_PACK              most complex numbers in a vector, with one lane
// FROM_CHUNK             sites in a chunk, with one lane; 0 for all
// ITEMS_OF_SITE          work-items of a site in spinors_to_plain: 1, or one for each of the six components

static inline layout spinor_layout(const uint4 extents)
{
    const layout l = {extents.x, extents.y, extents.z, extents.w,
                      FROM_NX, FROM_NY, FROM_NZ, FROM_NT, FROM_PACK, FROM_CHUNK, FROM_UNITS};
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

// Both parts of a stored number, in units of the site if it has one.
static inline BOTH_PARTS load_parts(const layout l, __global const FROM *restrict from, const size_t at)
{
    const BOTH_PARTS parts = (BOTH_PARTS)(from[at], from[at + imaginary_step(l)]);
#if FROM_UNITS
    return parts - (REAL)RAISED;
#else
    return parts;
#endif
}

// The numbers are at most LARGEST in units.
static inline void store_parts(const layout l, __global FROM *restrict to, const size_t at, const BOTH_PARTS value)
{
#if FROM_UNITS
    const ushort2 raised = convert_ushort2_sat_rte(value + (REAL)RAISED);
    to[at] = raised.x;
    to[at + imaginary_step(l)] = raised.y;
#else
    to[at] = value.x;
    to[at + imaginary_step(l)] = value.y;
#endif
}

// ITEMS_OF_SITE work-items for each of `sites` sites of each column, each with its share of the components. The
// first site has number `start` in `to`, where a column has `stride` reals.
__kernel void spinors_to_plain(__global const FROM *restrict from, __global REAL *restrict to, const uint4 extents,
                               const uint start, const uint sites, const uint columns, const uint stride)
{
    const uint item = get_global_id(0);
    if (item >= sites * columns * ITEMS_OF_SITE)
        return;
    const uint share = item % ITEMS_OF_SITE, column = item / ITEMS_OF_SITE / sites, site = item / ITEMS_OF_SITE % sites;
    const layout l = spinor_layout(extents);
    const place p = place_of(l, site);
    from += column * half_field(l);
    to += (size_t)column * stride + (size_t)(start + site) * 2 * COMPONENTS;
#if FROM_UNITS
    const REAL factor = *(__global const float *)(from + unit_offset(l, p)) * (REAL)M_SQRT1_2;
#else
    const REAL factor = (REAL)M_SQRT1_2;
#endif
    for (int c = share; c < COMPONENTS / 2; c += ITEMS_OF_SITE) {
        const size_t upper = offset_of(l, p, c), lower = offset_of(l, p, c + COMPONENTS / 2);
        const BOTH_PARTS a = load_parts(l, from, upper), b = load_parts(l, from, lower);
        ((__global BOTH_CHIRALITIES *)to)[c] = (BOTH_CHIRALITIES)(a + b, a - b) * factor;
    }
}

// The reverse, with one work-item for each site of each column.
__kernel void spinors_from_plain(__global const REAL *restrict from, __global FROM *restrict to, const uint4 extents,
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
    REAL factor = (REAL)M_SQRT1_2;
#if FROM_UNITS
    // It stays if no number is one.
    REAL largest = NAN;
    for (int c = 0; c < COMPONENTS / 2; ++c) {
        const BOTH_CHIRALITIES both = ((__global const BOTH_CHIRALITIES *)from)[c];
        const BOTH_CHIRALITIES sizes = fmax(fabs((BOTH_CHIRALITIES)(both.lo + both.hi, both.lo - both.hi)), largest);
        largest = fmax(fmax(sizes.x, sizes.y), fmax(sizes.z, sizes.w));
    }
    const REAL unit = largest * factor / LARGEST;
    *(__global float *)(to + unit_offset(l, p)) = unit;
    // The smallest normal number keeps it finite where all numbers are zero.
    factor /= fmax(unit, (REAL)FLT_MIN);
#endif
    for (int c = 0; c < COMPONENTS / 2; ++c) {
        const size_t upper = offset_of(l, p, c), lower = offset_of(l, p, c + COMPONENTS / 2);
        const BOTH_CHIRALITIES both = ((__global const BOTH_CHIRALITIES *)from)[c] * factor;
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
