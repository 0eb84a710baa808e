// Smearing and flow of links in double, and observables of links.
// Twins: src/gauge/staples.rs, stout.rs, flow.rs, energy.rs; src/host/exponential.rs, field_strength.rs.
// src/gauge/on_device.rs launches it.
//
// RECTANGLES   1 if the action of the flow has rectangles
//
// Links are [direction][component][site][re, im], component 3 row + column, sites in the order of
// the host. `extents` are the extents of the lattice. Neighbouring work-items load neighbouring
// numbers.

#define COLOURS 9
#define DIRECTIONS 4
// Terms of the series, and most squarings, of an exponential.
#define TERMS 18
#define MOST_SQUARINGS 64

typedef struct {
    double2 e[COLOURS];
} matrix;

typedef struct {
    __global const double *numbers;
    uint4 extents;
    uint volume;
} links;

static inline double2 times(const double2 a, const double2 b)
{
    return (double2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

// sum + a b, in an order that four multiply-adds serve.
static inline double2 plus_times(const double2 sum, const double2 a, const double2 b)
{
    return (double2)(sum.x + a.x * b.x - a.y * b.y, sum.y + a.x * b.y + a.y * b.x);
}

static inline double2 conj_of(const double2 a) { return (double2)(a.x, -a.y); }

static inline uint of_direction(const uint4 numbers, const uint mu)
{
    return mu == 0 ? numbers.x : mu == 1 ? numbers.y : mu == 2 ? numbers.z : numbers.w;
}

static inline uint stride_of(const uint4 extents, const uint mu)
{
    return mu == 0 ? 1 : mu == 1 ? extents.x : mu == 2 ? extents.x * extents.y : extents.x * extents.y * extents.z;
}

// The site one step forward or backward in direction μ.
static inline uint forward(const links u, const uint site, const uint mu)
{
    const uint extent = of_direction(u.extents, mu), stride = stride_of(u.extents, mu);
    return site / stride % extent == extent - 1 ? site - (extent - 1) * stride : site + stride;
}

static inline uint backward(const links u, const uint site, const uint mu)
{
    const uint extent = of_direction(u.extents, mu), stride = stride_of(u.extents, mu);
    return site / stride % extent == 0 ? site + (extent - 1) * stride : site - stride;
}

static inline void load(matrix *m, __global const double *numbers, const uint volume, const uint site, const uint mu)
{
    for (int k = 0; k < COLOURS; ++k)
        m->e[k] = vload2(((size_t)mu * COLOURS + k) * volume + site, numbers);
}

static inline void store(const matrix *m, __global double *numbers, const uint volume, const uint site, const uint mu)
{
    for (int k = 0; k < COLOURS; ++k)
        vstore2(m->e[k], ((size_t)mu * COLOURS + k) * volume + site, numbers);
}

static inline void set_unit(matrix *m)
{
    for (int k = 0; k < COLOURS; ++k)
        m->e[k] = (double2)(k % 4 == 0 ? 1.0 : 0.0, 0.0);
}

static inline void set_zero(matrix *m)
{
    for (int k = 0; k < COLOURS; ++k)
        m->e[k] = (double2)(0.0, 0.0);
}

static inline void add_to(matrix *sum, const matrix *m)
{
    for (int k = 0; k < COLOURS; ++k)
        sum->e[k] += m->e[k];
}

// m = m b, or m b†. `adjoint` is a constant.
static inline void multiply_by(matrix *m, const matrix *b, const int adjoint)
{
    for (int i = 0; i < 3; ++i) {
        double2 row[3];
        for (int j = 0; j < 3; ++j) {
            double2 sum = (double2)(0.0, 0.0);
            for (int k = 0; k < 3; ++k)
                sum = plus_times(sum, m->e[3 * i + k], adjoint ? conj_of(b->e[3 * j + k]) : b->e[3 * k + j]);
            row[j] = sum;
        }
        for (int j = 0; j < 3; ++j)
            m->e[3 * i + j] = row[j];
    }
}

// sum = sum + a b†
static inline void add_product_with_adjoint(matrix *sum, const matrix *a, const matrix *b)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                sum->e[3 * i + j] = plus_times(sum->e[3 * i + j], a->e[3 * i + k], conj_of(b->e[3 * j + k]));
}

// sum = sum + a† b
static inline void add_product_of_adjoint(matrix *sum, const matrix *a, const matrix *b)
{
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            for (int k = 0; k < 3; ++k)
                sum->e[3 * i + j] = plus_times(sum->e[3 * i + j], conj_of(a->e[3 * k + i]), b->e[3 * k + j]);
}

// m = m times the links of a step, which moves the site: directions from 0 to 3 forward, 4 + μ backward.
static inline void step(const links u, matrix *m, uint *site, const uint direction)
{
    const uint mu = direction % 4;
    matrix link;
    if (direction >= 4) {
        *site = backward(u, *site, mu);
        load(&link, u.numbers, u.volume, *site, mu);
        multiply_by(m, &link, 1);
    } else {
        load(&link, u.numbers, u.volume, *site, mu);
        multiply_by(m, &link, 0);
        *site = forward(u, *site, mu);
    }
}

#if RECTANGLES
// The product of links along a path: up to five directions, four bits each, the first in the lowest.
static inline void add_path(const links u, matrix *sum, const uint from, const uint path, const uint length)
{
    matrix m;
    uint site = from;
    const uint first = path % 16, mu = first % 4;
    // The first link is loaded, not multiplied.
    if (first >= 4)
        site = backward(u, site, mu);
    load(&m, u.numbers, u.volume, site, mu);
    if (first >= 4) {
        matrix adjoint;
        for (int k = 0; k < COLOURS; ++k)
            adjoint.e[k] = conj_of(m.e[3 * (k % 3) + k / 3]);
        m = adjoint;
    } else {
        site = forward(u, site, mu);
    }
    for (uint k = 1; k < length; ++k)
        step(u, &m, &site, path >> (4 * k) & 15);
    add_to(sum, &m);
}
#endif

// Traceless anti-Hermitian part.
static inline void project_to_algebra(matrix *m)
{
    matrix x;
    const double third = (m->e[0].y + m->e[4].y + m->e[8].y) / 3.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            x.e[3 * i + j] = 0.5 * (m->e[3 * i + j] - conj_of(m->e[3 * j + i]));
            if (i == j)
                x.e[3 * i + j] = (double2)(0.0, x.e[3 * i + j].y - third);
        }
    }
    *m = x;
}

static inline double2 determinant(const matrix *m)
{
    const double2 *e = m->e;
    return times(e[0], times(e[4], e[8]) - times(e[5], e[7])) - times(e[1], times(e[3], e[8]) - times(e[5], e[6])) +
           times(e[2], times(e[3], e[7]) - times(e[4], e[6]));
}

// m = e^m of a traceless anti-Hermitian matrix.
static inline void exponentiate(matrix *m)
{
    double norm2 = 0.0;
    for (int k = 0; k < COLOURS; ++k)
        norm2 += dot(m->e[k], m->e[k]);
    const double norm = sqrt(norm2);
    const int squarings = norm > 1.0 ? min((int)ceil(log2(norm)), MOST_SQUARINGS) : 0;
    const double scale = ldexp(1.0, -squarings);
    for (int k = 0; k < COLOURS; ++k)
        m->e[k] *= scale;
    matrix square = *m;
    multiply_by(&square, m, 0);
    const double half_trace = 0.5 * (square.e[0].x + square.e[4].x + square.e[8].x);
    const double2 det = determinant(m);
    // Horner's scheme of the series, with m³ = half_trace m + det.
    double2 q0 = (double2)(0.0, 0.0), q1 = q0, q2 = q0;
    double coefficient = 1.0;
    for (int k = 1; k <= TERMS; ++k)
        coefficient /= k;
    for (int k = TERMS; k >= 0; --k) {
        const double2 next = times(det, q2) + (double2)(coefficient, 0.0);
        const double2 next1 = q0 + half_trace * q2;
        q2 = q1;
        q1 = next1;
        q0 = next;
        coefficient *= max(k, 1);
    }
    for (int k = 0; k < COLOURS; ++k) {
        const double2 unit = k % 4 == 0 ? q0 : (double2)(0.0, 0.0);
        m->e[k] = unit + times(q1, m->e[k]) + times(q2, square.e[k]);
    }
    for (int k = 0; k < squarings; ++k) {
        const matrix copy = *m;
        multiply_by(m, &copy, 0);
    }
}

// A site, its number and its coordinates.
typedef struct {
    uint number;
    uint4 at;
} place;

// The site at a place in the order of work-items: x fastest, then y and z within a tile, then t, then
// tiles. `tile` has the extents of tiles in y and z. Sites of a tile that are neighbours in t are close
// in time, so that caches have their links.
static inline place in_order_of_tiles(const uint number, const uint4 extents, const uint2 tile)
{
    place p;
    uint rest = number;
    p.at.x = rest % extents.x;
    rest /= extents.x;
    p.at.y = rest % tile.x;
    rest /= tile.x;
    p.at.z = rest % tile.y;
    rest /= tile.y;
    p.at.w = rest % extents.w;
    rest /= extents.w;
    const uint tiles = extents.y / tile.x;
    p.at.y += rest % tiles * tile.x;
    p.at.z += rest / tiles * tile.y;
    p.number = p.at.x + extents.x * (p.at.y + extents.y * (p.at.z + extents.z * p.at.w));
    return p;
}

static inline uint ahead_of(const place p, const uint4 extents, const uint mu)
{
    const uint extent = of_direction(extents, mu), stride = stride_of(extents, mu);
    return of_direction(p.at, mu) == extent - 1 ? p.number - (extent - 1) * stride : p.number + stride;
}

static inline uint behind(const place p, const uint4 extents, const uint mu)
{
    const uint extent = of_direction(extents, mu), stride = stride_of(extents, mu);
    return of_direction(p.at, mu) == 0 ? p.number + (extent - 1) * stride : p.number - stride;
}

// Adds the two staples of a link in the plane of μ and ν. `ahead` is the site ahead in μ.
static inline void add_staples(const links u, matrix *sum, const place here, const uint ahead, const uint mu, const uint nu)
{
    matrix m, link;
    const uint above = ahead_of(here, u.extents, nu), below = behind(here, u.extents, nu);
    load(&m, u.numbers, u.volume, here.number, nu);
    load(&link, u.numbers, u.volume, above, mu);
    multiply_by(&m, &link, 0);
    load(&link, u.numbers, u.volume, ahead, nu);
    add_product_with_adjoint(sum, &m, &link);
    // A step in ν is the same number of sites wherever it begins in μ.
    load(&m, u.numbers, u.volume, below, mu);
    load(&link, u.numbers, u.volume, below + (ahead - here.number), nu);
    multiply_by(&m, &link, 0);
    load(&link, u.numbers, u.volume, below, nu);
    add_product_of_adjoint(sum, &link, &m);
}

#define PATH5(a, b, c, d, e) ((a) | (b) << 4 | (c) << 8 | (d) << 12 | (e) << 16)

// One stage of a flow. One work-group for `get_local_size(0)` sites and a direction. Groups of the
// directions of the same sites follow each other.
//   exponent = of_force TA(Ω) + of_before exponent;  to = e^exponent link
// Ω is the sum of the staples times U†, in the planes of `directions`, one bit for each direction.
// With RECTANGLES it is `of_plaquettes` times this sum and `of_rectangles` times the sum of the
// rectangles' staples. Links in other directions stay. If of_before is 0, exponents are not read. If
// `keeps` is 0, they are not written.
__kernel void flow_stage(__global const double *restrict from, __global double *restrict exponents,
                         __global double *restrict to, const uint4 extents, const uint2 tile, const uint directions,
                         const double of_force, const double of_before, const double of_plaquettes,
                         const double of_rectangles, const uint keeps)
{
    const uint volume = extents.x * extents.y * extents.z * extents.w;
    const uint group = get_group_id(0), mu = group % DIRECTIONS;
    const uint number = group / DIRECTIONS * get_local_size(0) + get_local_id(0);
    if (number >= volume)
        return;
    const place here = in_order_of_tiles(number, extents, tile);
    const uint site = here.number;
    const links u = {from, extents, volume};
    matrix link, x;
    if (!(directions >> mu & 1)) {
        load(&link, from, volume, site, mu);
        store(&link, to, volume, site, mu);
        return;
    }
    set_zero(&x);
    const uint ahead = ahead_of(here, extents, mu);
    for (uint other = 1; other < DIRECTIONS; ++other) {
        const uint nu = (mu + other) % DIRECTIONS;
        if (directions >> nu & 1)
            add_staples(u, &x, here, ahead, mu, nu);
    }
#if RECTANGLES
    matrix r;
    set_zero(&r);
    const uint back = mu + 4;
    for (uint nu = 0; nu < DIRECTIONS; ++nu) {
        if (nu == mu)
            continue;
        for (uint side = 0; side < 2; ++side) {
            // Away from the link, and back to it.
            const uint away = side ? nu + 4 : nu, home = side ? nu : nu + 4;
            add_path(u, &r, site, PATH5(away, away, mu, home, home), 5);
            add_path(u, &r, site, PATH5(away, mu, mu, home, back), 5);
            add_path(u, &r, site, PATH5(back, away, mu, mu, home), 5);
        }
    }
    for (int k = 0; k < COLOURS; ++k)
        x.e[k] = of_plaquettes * x.e[k] + of_rectangles * r.e[k];
#endif
    load(&link, from, volume, site, mu);
    multiply_by(&x, &link, 1);
    project_to_algebra(&x);
    for (int k = 0; k < COLOURS; ++k)
        x.e[k] *= of_force;
    if (of_before != 0.0) {
        matrix before;
        load(&before, exponents, volume, site, mu);
        for (int k = 0; k < COLOURS; ++k)
            x.e[k] += of_before * before.e[k];
    }
    if (keeps)
        store(&x, exponents, volume, site, mu);
    exponentiate(&x);
    multiply_by(&x, &link, 0);
    store(&x, to, volume, site, mu);
}

// Computes sum = factor exponents + sum, without the last term if `begins` is 1. Each number has a work-item.
__kernel void add_exponents(__global const double *restrict exponents, __global double *restrict sum, const uint volume,
                            const double factor, const uint begins)
{
    const size_t k = get_global_id(0);
    if (k < (size_t)2 * COLOURS * DIRECTIONS * volume)
        sum[k] = factor * exponents[k] + (begins ? 0.0 : sum[k]);
}

// The largest |entry| of e^exponent before − after, over the links `part`, `part` + parts, …, or NaN.
// One work-item for each part.
__kernel void largest_differences(__global const double *restrict exponents, __global const double *restrict before,
                                  __global const double *restrict after, __global double *restrict to,
                                  const uint volume, const uint parts)
{
    const uint part = get_global_id(0);
    if (part >= parts)
        return;
    double largest = 0.0;
    for (size_t k = part; k < (size_t)DIRECTIONS * volume; k += parts) {
        const uint mu = k / volume, site = k % volume;
        matrix x, link;
        load(&x, exponents, volume, site, mu);
        exponentiate(&x);
        load(&link, before, volume, site, mu);
        multiply_by(&x, &link, 0);
        load(&link, after, volume, site, mu);
        for (int c = 0; c < COLOURS; ++c) {
            const double difference = length(x.e[c] - link.e[c]);
            if (difference > largest || isnan(difference))
                largest = difference;
        }
    }
    to[part] = largest;
}

// F = (Q − Q†) factor without its trace. Q is the sum of the four loops of a by b links that begin
// and end at a site and turn from μ to ν. With b ≠ a the loops of b by a links are added. Returns
// Re tr of the first loop.
static inline double field_strength(const links u, const uint from, const uint mu, const uint nu, const int rectangles, matrix *f)
{
    matrix q;
    set_zero(&q);
    double first_trace = 0.0;
    for (int tall = 0; tall <= rectangles; ++tall) {
        uint first = mu, second = nu;
        for (int leaf = 0; leaf < 4; ++leaf) {
            // The direction with two links: μ, or ν if tall.
            const uint twice = rectangles ? (tall ? nu : mu) : DIRECTIONS;
            uint site = from;
            matrix m;
            set_unit(&m);
            for (int side = 0; side < 4; ++side) {
                const uint direction = side == 0 ? first : side == 1 ? second : side == 2 ? (first + 4) % 8 : (second + 4) % 8;
                const int count = direction % 4 == twice ? 2 : 1;
                for (int k = 0; k < count; ++k)
                    step(u, &m, &site, direction);
            }
            if (leaf == 0)
                first_trace = m.e[0].x + m.e[4].x + m.e[8].x;
            add_to(&q, &m);
            const uint next = (first + 4) % 8;
            first = second;
            second = next;
        }
    }
    const double factor = rectangles ? 0.0625 : 0.125;
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f->e[3 * i + j] = factor * (q.e[3 * i + j] - conj_of(q.e[3 * j + i]));
    const double third = (f->e[0].y + f->e[4].y + f->e[8].y) / 3.0;
    for (int i = 0; i < 3; ++i)
        f->e[4 * i] = (double2)(0.0, f->e[4 * i].y - third);
    return first_trace;
}

// −Re tr(A B) of anti-Hermitian matrices.
static inline double product(const matrix *a, const matrix *b)
{
    double sum = 0.0;
    for (int k = 0; k < COLOURS; ++k)
        sum += dot(a->e[k], b->e[k]);
    return sum;
}

#define PLANES 6
#define FOUR_PI_SQUARED 39.47841760435743

// Densities of a site as [quantity][site]: −Σ tr F², the topological charge, Re tr of plaquettes
// without t, and Re tr of plaquettes with t. If `rectangles` is 1, the loops of F are rectangles, and
// the last two quantities are not written. One work-item for each site.
__kernel void densities(__global const double *restrict from, __global double *restrict to, const uint4 extents,
                        const uint2 tile, const uint rectangles)
{
    const uint volume = extents.x * extents.y * extents.z * extents.w;
    if (get_global_id(0) >= volume)
        return;
    const uint site = in_order_of_tiles(get_global_id(0), extents, tile).number;
    const links u = {from, extents, volume};
    matrix f[PLANES];
    double energy = 0.0, in_space = 0.0, in_time = 0.0;
    int plane = 0;
    for (uint mu = 0; mu < 3; ++mu) {
        for (uint nu = mu + 1; nu < 4; ++nu) {
            const double trace = field_strength(u, site, mu, nu, rectangles, &f[plane]);
            energy += product(&f[plane], &f[plane]);
            if (nu == 3)
                in_time += trace;
            else
                in_space += trace;
            ++plane;
        }
    }
    to[site] = energy;
    to[(size_t)volume + site] =
        (product(&f[0], &f[5]) - product(&f[1], &f[4]) + product(&f[2], &f[3])) / FOUR_PI_SQUARED;
    if (!rectangles) {
        to[(size_t)2 * volume + site] = in_space;
        to[(size_t)3 * volume + site] = in_time;
    }
}

// Sums of quantities over the sites `part`, `part` + parts, … as [quantity][part].
// One work-item for each quantity and part.
__kernel void partial_sums(__global const double *restrict densities, __global double *restrict to, const uint volume,
                           const uint parts, const uint quantities)
{
    const uint item = get_global_id(0), part = item % parts, quantity = item / parts;
    if (quantity >= quantities)
        return;
    double sum = 0.0;
    for (uint site = part; site < volume; site += parts)
        sum += densities[(size_t)quantity * volume + site];
    to[item] = sum;
}
