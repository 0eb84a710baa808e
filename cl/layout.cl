// The places of a field's numbers in memory, in every precision and cut into sub-lattices: see src/geometry/layout.rs.
// It serves kernels that go from one order of sites to another and do little besides.
//
// GROUPS GROUP           groups of complex numbers at a site, and complex numbers in each

#define COMPONENTS (GROUPS * GROUP)

// The site order of one layout.
typedef struct {
    uint sx, sy, sz, st, nx, ny, nz, nt, pack, chunk, has_units;
} layout;

typedef struct {
    uint block, lane;
} place;

static inline uint lanes_of(const layout l) { return l.nx * l.ny * l.nz * l.nt; }

static inline uint blocks_of(const layout l) { return l.sx / 2 * l.sy * l.sz * l.st; }

// The place of the site with these coordinates. The two sites of a row with x = 2n and 2n + 1, one even and one odd, are in blocks with the same number: which of
// the two is meant makes no difference.
static inline place place_at(const layout l, const uint x, const uint y, const uint z, const uint t)
{
    place p;
    p.block = ((t % l.st * l.sz + z % l.sz) * l.sy + y % l.sy) * (l.sx / 2) + x % l.sx / 2;
    p.lane = ((t / l.st * l.nz + z / l.sz) * l.ny + y / l.sy) * l.nx + x / l.sx;
    return p;
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

// Fixed-point numbers count a unit, of the site or the LARGEST part of 1, and are raised by RAISED.
#define LARGEST 32767.0f
#define RAISED 32768.0
