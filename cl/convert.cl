// Conversion of a field from one precision, and the layout that goes with it, to another: see src/lattice/layout.rs.
//
// GROUPS GROUP           groups of complex numbers at a site, and complex numbers in each
// FROM TO                types of the stored numbers: double, float or ushort (half precision)
// FROM_UNITS TO_UNITS    1 where each site has a unit of its own
// FROM_NX … FROM_NT      sub-lattices in x, y, z, t; the same for TO
// FROM_PACK              most complex numbers in a vector, with one lane; the same for TO
// FROM_CHUNK             sites in a chunk, with one lane; 0 for all; the same for TO

#define COMPONENTS (GROUPS * GROUP)
#define LARGEST 32767.0f

// The site order of one layout.
typedef struct {
    uint sx, sy, sz, st, nx, ny, nz, nt, pack, chunk, has_units;
} layout;

typedef struct {
    uint block, lane;
} place;

static inline uint lanes_of(const layout l) { return l.nx * l.ny * l.nz * l.nt; }

static inline uint blocks_of(const layout l) { return l.sx / 2 * l.sy * l.sz * l.st; }

// The place in layout `b` of the site at place `p` of layout `a`. The two sites of a block's row with neighbouring x, one even and one odd, are in
// blocks with the same number: which of the two is meant makes no difference.
static inline place moved(const layout a, const layout b, const place p)
{
    const uint rest = p.block / (a.sx / 2), row = p.lane / a.nx, plane = row / a.ny;
    const uint x = 2 * (p.block % (a.sx / 2)) + p.lane % a.nx * a.sx;
    const uint y = rest % a.sy + row % a.ny * a.sy;
    const uint z = rest / a.sy % a.sz + plane % a.nz * a.sz;
    const uint t = rest / (a.sy * a.sz) + plane / a.nz * a.st;
    place q;
    q.block = ((t % b.st * b.sz + z % b.sz) * b.sy + y % b.sy) * (b.sx / 2) + x % b.sx / 2;
    q.lane = ((t / b.st * b.nz + z / b.sz) * b.ny + y / b.sy) * b.nx + x / b.sx;
    return q;
}

// Where the real part of a component is within one parity of a field, and how far from there the imaginary one.
static inline size_t offset_of(const layout l, const place p, const int component)
{
    const uint c = component % GROUP;
    if (lanes_of(l) > 1)
        return ((size_t)(component - c) * blocks_of(l) + (size_t)p.block * GROUP + c) * 2 * lanes_of(l) + p.lane;
    const uint first = c - c % l.pack;
    const uint width = min(l.pack, GROUP - first);
    const uint chunk = l.chunk == 0 ? blocks_of(l) : l.chunk;
    const uint in_chunk = p.block % chunk;
    return 2 * ((size_t)(p.block - in_chunk) * COMPONENTS + (size_t)(component - c + first) * chunk +
                (size_t)in_chunk * width + c - first);
}

static inline size_t imaginary_step(const layout l) { return lanes_of(l) > 1 ? lanes_of(l) : 1; }

static inline size_t half_field(const layout l)
{
    return (size_t)(2 * COMPONENTS + (l.has_units ? 2 : 0)) * blocks_of(l) * lanes_of(l);
}

static inline size_t unit_offset(const layout l, const place p)
{
    return (size_t)2 * COMPONENTS * blocks_of(l) * lanes_of(l) + 2 * ((size_t)p.block * lanes_of(l) + p.lane);
}

#define IS_FIXED(type) (sizeof(type) == 2)

// Fixed-point numbers are raised by this.
#define RAISED 32768.0

// One work-item for each site of the target, which has one or both parities; extents are those of sub-lattices, in x, y, z, t. With ADD what is
// converted is added to the target, which is not fixed point then.
__kernel void convert_field(__global const FROM *restrict from, __global TO *restrict to, const uint4 from_extents,
                            const uint4 to_extents, const uint parities)
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
        if (ADD) {
            to[re_to] += (TO)re;
            to[im_to] += (TO)im;
        } else {
            to[re_to] = IS_FIXED(TO) ? (TO)(clamp(round(re), (double)-LARGEST, (double)LARGEST) + RAISED) : (TO)re;
            to[im_to] = IS_FIXED(TO) ? (TO)(clamp(round(im), (double)-LARGEST, (double)LARGEST) + RAISED) : (TO)im;
        }
    }
}
