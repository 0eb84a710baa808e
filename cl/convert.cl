// Conversion of a field from one precision, and the layout that goes with it, to another.
//
// FROM TO                types of the stored numbers: double, float or ushort (half precision)
// FROM_UNITS TO_UNITS    1 where each site has a unit of its own
// FROM_NX … FROM_NT      sub-lattices in x, y, z, t; the same for TO
// FROM_PACK              most complex numbers in a vector, with one lane; the same for TO
// FROM_CHUNK             sites in a chunk, with one lane; 0 for all; the same for TO

// The place in layout `b` of the site at place `p` of layout `a`.
static inline place moved(const layout a, const layout b, const place p)
{
    const uint rest = p.block / (a.sx / 2), row = p.lane / a.nx, plane = row / a.ny;
    const uint x = 2 * (p.block % (a.sx / 2)) + p.lane % a.nx * a.sx;
    const uint y = rest % a.sy + row % a.ny * a.sy;
    const uint z = rest / a.sy % a.sz + plane % a.nz * a.sz;
    const uint t = rest / (a.sy * a.sz) + plane / a.nz * a.st;
    return place_at(b, x, y, z, t);
}

// One work-item for each site of the target, which has one or both parities; extents are those of sub-lattices, in x, y, z, t. With ADD what is
// converted is added to `plus`, and the target is not fixed point.
__kernel void convert_field(__global const FROM *restrict from,
#if ADD
                            __global const TO *restrict plus,
#endif
                            __global TO *restrict to, const uint4 from_extents, const uint4 to_extents, const uint parities)
{
    const layout a = {to_extents.x, to_extents.y, to_extents.z, to_extents.w,
                      TO_NX, TO_NY, TO_NZ, TO_NT, TO_PACK, TO_CHUNK, TO_UNITS};
    const layout b = {from_extents.x, from_extents.y, from_extents.z, from_extents.w,
                      FROM_NX, FROM_NY, FROM_NZ, FROM_NT, FROM_PACK, FROM_CHUNK, FROM_UNITS};
    const uint sites = blocks_of(a) * lanes_of(a);
    const uint item = get_global_id(0);
    if (item >= parities * sites)
        return;
    const uint parity = item / sites;
    const place target = {item % sites / lanes_of(a), item % sites % lanes_of(a)};
    const place source = moved(a, b, target);
    from += parity * half_field(b);
    to += parity * half_field(a);
#if ADD
    plus += parity * half_field(a);
#endif

    const double from_unit =
        FROM_UNITS ? *(__global const float *)(from + unit_offset(b, source)) : IS_FIXED(FROM) ? 1.0f / LARGEST : 1.0f;
    const double from_raised = IS_FIXED(FROM) ? RAISED : 0.0;
    double to_unit = IS_FIXED(TO) ? 1.0f / LARGEST : 1.0f;
    if (TO_UNITS) {
        double largest = 0.0;
        for (int c = 0; c < COMPONENTS; ++c) {
            const size_t re = offset_of(b, source, c);
            const double size = fmax(fabs(from[re] - from_raised), fabs(from[re + imaginary_step(b)] - from_raised));
            largest = c == 0 ? size : fmax(largest, size);
        }
        const float unit = (float)(largest * from_unit) / LARGEST;
        *(__global float *)(to + unit_offset(a, target)) = unit;
        to_unit = unit;
    }
    // Fixed-point numbers are rounded to the nearest; where the unit is zero so are they.
    const double factor = IS_FIXED(TO) ? (to_unit > 0.0 ? from_unit / to_unit : 0.0) : from_unit;
    for (int c = 0; c < COMPONENTS; ++c) {
        const size_t re_from = offset_of(b, source, c), re_to = offset_of(a, target, c);
        const double re = factor * (from[re_from] - from_raised);
        const double im = factor * (from[re_from + imaginary_step(b)] - from_raised);
        const size_t im_to = re_to + imaginary_step(a);
#if ADD
        to[re_to] = plus[re_to] + (TO)re;
        to[im_to] = plus[im_to] + (TO)im;
#else
        to[re_to] = IS_FIXED(TO) ? (TO)(clamp(round(re), (double)-LARGEST, (double)LARGEST) + RAISED) : (TO)re;
        to[im_to] = IS_FIXED(TO) ? (TO)(clamp(round(im), (double)-LARGEST, (double)LARGEST) + RAISED) : (TO)im;
#endif
    }
}
