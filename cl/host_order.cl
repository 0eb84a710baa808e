// Spinors in the host's form: sites in lexicographic order, spins in the basis of DeGrand and Rossi
// (src/field/spin_basis.rs).
//
// FROM                   type of the stored numbers: double, float or ushort (half precision)
// FROM_UNITS             1 where each site has a unit of its own
// FROM_NX … FROM_NT      sub-lattices in x, y, z, t
// FROM_PACK              most complex numbers in a vector, with one lane
// FROM_CHUNK             sites in a chunk, with one lane; 0 for all
// ALL_SITES              1 if the field has both parities, one after the other

// One work-item for each of `count` sites of the domain, from number `first` on, of the field that begins with number `start`; extents are those of sub-lattices,
// in x, y, z, t. `origin` is the parity of the domain's first site.
__kernel void spinors_in_host_order(__global const FROM *restrict from, __global REAL *restrict to, const uint4 extents,
                                    const uint origin, const ulong start, const uint first, const uint count)
{
    const uint item = get_global_id(0);
    if (item >= count)
        return;
    const layout l = {extents.x, extents.y, extents.z, extents.w,
                      FROM_NX, FROM_NY, FROM_NZ, FROM_NT, FROM_PACK, FROM_CHUNK, FROM_UNITS};
    const uint number = first + item;
    // Of the two sites with x = 2n and 2n + 1 a field of one parity has one.
    const uint pair = ALL_SITES ? number / 2 : number;
    const uint pairs_of_row = FROM_NX * l.sx / 2, row = pair / pairs_of_row, plane = row / (FROM_NY * l.sy);
    const uint y = row % (FROM_NY * l.sy), z = plane % (FROM_NZ * l.sz), t = plane / (FROM_NZ * l.sz);
    const place p = place_at(l, 2 * (pair % pairs_of_row), y, z, t);
    const uint parity = ALL_SITES ? (number + y + z + t + origin) % 2 : 0;
    from += start + parity * half_field(l);

    const REAL unit =
        FROM_UNITS ? *(__global const float *)(from + unit_offset(l, p)) : IS_FIXED(FROM) ? 1 / (REAL)LARGEST : 1;
    const REAL raised = IS_FIXED(FROM) ? (REAL)RAISED : 0;
    const REAL factor = unit * (REAL)M_SQRT1_2;
    to += (size_t)item * 2 * COMPONENTS;
    for (int c = 0; c < COMPONENTS / 2; ++c) {
        const size_t upper = offset_of(l, p, c), lower = offset_of(l, p, c + COMPONENTS / 2);
        for (int part = 0; part < 2; ++part) {
            const REAL a = from[upper + part * imaginary_step(l)] - raised, b = from[lower + part * imaginary_step(l)] - raised;
            to[2 * c + part] = (a + b) * factor;
            to[2 * c + part + COMPONENTS] = (a - b) * factor;
        }
    }
}
