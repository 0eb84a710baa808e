// Smearing and flow of links in double, and observables of links.
// Twins: src/gauge/staples.rs, stout.rs, flow.rs, energy.rs; src/host/exponential.rs, field_strength.rs.
// src/gauge/on_device.rs launches it.
//
// RECTANGLES   1 if the action of the flow has rectangles
//
// Links are [direction][component][site][re, im], component 3 row + column, sites in the order of
// the host. `extents` are the extents of the lattice. Work-items go over sites fastest, so that
// neighbours load neighbouring numbers.

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

static inline double2 conj_of(const double2 a) { return (double2)(a.x, -a.y); }

static inline uint extent_of(const uint4 extents, const uint mu)
{
    return mu == 0 ? extents.x : mu == 1 ? extents.y : mu == 2 ? extents.z : extents.w;
}

static inline uint stride_of(const uint4 extents, const uint mu)
{
    return mu == 0 ? 1 : mu == 1 ? extents.x : mu == 2 ? extents.x * extents.y : extents.x * extents.y * extents.z;
}

// The site one step forward or backward in direction μ.
static inline uint forward(const links u, const uint site, const uint mu)
{
    const uint extent = extent_of(u.extents, mu), stride = stride_of(u.extents, mu);
    return site / stride % extent == extent - 1 ? site - (extent - 1) * stride : site + stride;
}

static inline uint backward(const links u, const uint site, const uint mu)
{
    const uint extent = extent_of(u.extents, mu), stride = stride_of(u.extents, mu);
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

// m = m b, or m b†
static inline void multiply_by(matrix *m, const matrix *b, const int adjoint)
{
    for (int i = 0; i < 3; ++i) {
        double2 row[3];
        for (int j = 0; j < 3; ++j) {
            double2 sum = (double2)(0.0, 0.0);
            for (int k = 0; k < 3; ++k)
                sum += times(m->e[3 * i + k], adjoint ? conj_of(b->e[3 * j + k]) : b->e[3 * k + j]);
            row[j] = sum;
        }
        for (int j = 0; j < 3; ++j)
            m->e[3 * i + j] = row[j];
    }
}

// m = m times the links of a step, which moves the site: directions from 0 to 3 forward, 4 + μ backward.
static inline void step(const links u, matrix *m, uint *site, const uint direction)
{
    const uint mu = direction % 4;
    matrix link;
    if (direction >= 4)
        *site = backward(u, *site, mu);
    load(&link, u.numbers, u.volume, *site, mu);
    multiply_by(m, &link, direction >= 4);
    if (direction < 4)
        *site = forward(u, *site, mu);
}

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

#define PATH3(a, b, c) ((a) | (b) << 4 | (c) << 8)
#define PATH5(a, b, c, d, e) (PATH3(a, b, c) | (d) << 12 | (e) << 16)

// One stage of a flow. One work-item for each site and direction, 4 times the volume.
//   exponent = of_force TA(Ω) + of_before exponent;  to = e^exponent link
// Ω is the sum of the staples times U†, in the planes of `directions`, one bit for each direction.
// With RECTANGLES it is `of_plaquettes` times this sum and `of_rectangles` times the sum of the
// rectangles' staples. Links in other directions stay. If of_before is 0, exponents are not read.
__kernel void flow_stage(__global const double *restrict from, __global double *restrict exponents,
                         __global double *restrict to, const uint4 extents, const uint directions,
                         const double of_force, const double of_before, const double of_plaquettes,
                         const double of_rectangles)
{
    const uint volume = extents.x * extents.y * extents.z * extents.w;
    const size_t item = get_global_id(0);
    if (item >= (size_t)DIRECTIONS * volume)
        return;
    const uint site = item % volume, mu = item / volume;
    const links u = {from, extents, volume};
    matrix link;
    load(&link, from, volume, site, mu);
    if (!(directions >> mu & 1)) {
        store(&link, to, volume, site, mu);
        return;
    }
    matrix x;
    set_zero(&x);
    const uint back = mu + 4;
    for (uint nu = 0; nu < DIRECTIONS; ++nu) {
        if (nu == mu || !(directions >> nu & 1))
            continue;
        for (uint side = 0; side < 2; ++side) {
            // Away from the link, and back to it.
            const uint away = side ? nu + 4 : nu, home = side ? nu : nu + 4;
            add_path(u, &x, site, PATH3(away, mu, home), 3);
        }
    }
#if RECTANGLES
    matrix r;
    set_zero(&r);
    for (uint nu = 0; nu < DIRECTIONS; ++nu) {
        if (nu == mu)
            continue;
        for (uint side = 0; side < 2; ++side) {
            const uint away = side ? nu + 4 : nu, home = side ? nu : nu + 4;
            add_path(u, &r, site, PATH5(away, away, mu, home, home), 5);
            add_path(u, &r, site, PATH5(away, mu, mu, home, back), 5);
            add_path(u, &r, site, PATH5(back, away, mu, mu, home), 5);
        }
    }
    for (int k = 0; k < COLOURS; ++k)
        x.e[k] = of_plaquettes * x.e[k] + of_rectangles * r.e[k];
#endif
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
    store(&x, exponents, volume, site, mu);
    exponentiate(&x);
    multiply_by(&x, &link, 0);
    store(&x, to, volume, site, mu);
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
// the last two quantities are not written.
__kernel void densities(__global const double *restrict from, __global double *restrict to, const uint4 extents,
                        const uint rectangles)
{
    const uint volume = extents.x * extents.y * extents.z * extents.w;
    const uint site = get_global_id(0);
    if (site >= volume)
        return;
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
