// The blocks of a clover term, or the inverses of what they are part of, from the links of three time slices.
// Twin of src/host/site_matrix.rs; src/field/clover_blocks.rs launches it. All of it is in double.
//
// TO        type of the stored numbers: double, float or ushort (half precision), in which each site has a unit
// needs: layout.cl; GROUPS is 2, GROUP 18 for Hermitian blocks or 36 for others

#define ROWS 6
#define BELOW (ROWS * (ROWS - 1) / 2)
#define COLOURS 9
#define PLANES 6
#define SLICES 3

// Where element (i, j), i > j, of the lower triangle stands.
#define PLACE(i, j) ((i) * ((i) - 1) / 2 + (j))

// Links of a slice and of those before and after it: [t % SLICES][z][y][x][direction][row][column][re, im].
// A slice has the sites of the domain, and in directions that are cut one more on either side.
typedef struct {
    __global const double *numbers;
    int4 extents; // of the domain, in x, y, z, t
    int4 halo;    // sites on either side
} slices;

static inline double2 times(const double2 a, const double2 b)
{
    return (double2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

static inline double2 conj_of(const double2 a) { return (double2)(a.x, -a.y); }

static inline double2 i_times(const double2 a) { return (double2)(-a.y, a.x); }

// The place of a coordinate that is at most one step outside.
static inline int place_of(const int coordinate, const int extent, const int halo)
{
    const int wide = extent + 2 * halo;
    return (coordinate + halo + wide) % wide;
}

// The link that leaves a site in direction μ.
static inline __global const double *link_at(const slices s, const int *site, const int mu)
{
    const int x = place_of(site[0], s.extents.x, s.halo.x), y = place_of(site[1], s.extents.y, s.halo.y);
    const int z = place_of(site[2], s.extents.z, s.halo.z), t = (site[3] + SLICES) % SLICES;
    const int wide_x = s.extents.x + 2 * s.halo.x, wide_y = s.extents.y + 2 * s.halo.y, wide_z = s.extents.z + 2 * s.halo.z;
    const size_t number = (((size_t)t * wide_z + z) * wide_y + y) * wide_x + x;
    return s.numbers + (number * 4 + mu) * 2 * COLOURS;
}

// m = m U, or m U†
static inline void multiply_by(double2 *m, __global const double *u, const int adjoint)
{
    for (int i = 0; i < 3; ++i) {
        double2 row[3];
        for (int j = 0; j < 3; ++j) {
            double2 sum = (double2)(0.0, 0.0);
            for (int k = 0; k < 3; ++k) {
                const double2 e = adjoint ? conj_of(vload2(3 * j + k, u)) : vload2(3 * k + j, u);
                sum += times(m[3 * i + k], e);
            }
            row[j] = sum;
        }
        for (int j = 0; j < 3; ++j)
            m[3 * i + j] = row[j];
    }
}

// m = m times the link of one step, which moves the site: directions from 0 to 3 forward, 4 + μ backward.
static inline void step(const slices s, double2 *m, int *site, const int direction)
{
    const int mu = direction % 4, back = direction / 4;
    if (back)
        site[mu] -= 1;
    multiply_by(m, link_at(s, site, mu), back);
    if (!back)
        site[mu] += 1;
}

// F_μν of a site: a quarter of the sum of the anti-Hermitian parts of the plaquettes (μ, ν), (ν, −μ), (−μ, −ν) and (−ν, μ).
static inline void field_strength(const slices s, const int4 at, const int mu, const int nu, double2 *f)
{
    double2 q[COLOURS];
    for (int k = 0; k < COLOURS; ++k)
        q[k] = (double2)(0.0, 0.0);
    int first = mu, second = nu;
    for (int leaf = 0; leaf < 4; ++leaf) {
        int site[4] = {at.x, at.y, at.z, at.w};
        double2 m[COLOURS];
        for (int k = 0; k < COLOURS; ++k)
            m[k] = (double2)(k % 4 == 0 ? 1.0 : 0.0, 0.0);
        step(s, m, site, first);
        step(s, m, site, second);
        step(s, m, site, (first + 4) % 8);
        step(s, m, site, (second + 4) % 8);
        for (int k = 0; k < COLOURS; ++k)
            q[k] += m[k];
        const int next = (first + 4) % 8;
        first = second;
        second = next;
    }
    for (int i = 0; i < 3; ++i)
        for (int j = 0; j < 3; ++j)
            f[3 * i + j] = 0.125 * (q[3 * i + j] - conj_of(q[3 * j + i]));
}

// A Hermitian matrix: its diagonal, and the rows below it.
typedef struct {
    double diagonal[ROWS];
    double2 below[BELOW];
} hermitian;

// scalar − Σ_{μ<ν} γ_μ γ_ν F_μν for one chirality. γ_μ γ_ν is a Pauli matrix times −i in space, and ± i with t:
// what is added to the scalar is i Σ_k σ_k K_k with K = (F_yz ∓ F_xt, F_xz ± F_yt, F_xy ∓ F_zt).
static inline void block_of(const double2 *f, const int chirality, const double scalar, hermitian *a)
{
    const double2 *xy = f, *xz = f + COLOURS, *xt = f + 2 * COLOURS;
    const double2 *yz = f + 3 * COLOURS, *yt = f + 4 * COLOURS, *zt = f + 5 * COLOURS;
    const double sign = chirality == 0 ? 1.0 : -1.0;
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const int k = 3 * i + j;
            const double2 k1 = yz[k] - sign * xt[k], k2 = xz[k] + sign * yt[k], k3 = i_times(xy[k] - sign * zt[k]);
            a->below[PLACE(3 + i, j)] = i_times(k1) - k2;
            if (i == j) {
                a->diagonal[i] = scalar + k3.x;
                a->diagonal[3 + i] = scalar - k3.x;
            }
            if (i > j) {
                a->below[PLACE(i, j)] = k3;
                a->below[PLACE(3 + i, 3 + j)] = -k3;
            }
        }
    }
}

// The element of a row and a column.
static inline double2 element(const hermitian *a, const int i, const int j)
{
    if (i == j)
        return (double2)(a->diagonal[i], 0.0);
    return i > j ? a->below[PLACE(i, j)] : conj_of(a->below[PLACE(j, i)]);
}

// The inverse in place of the matrix, by L D L† with a unit diagonal of L; 0 unless all eigenvalues are positive and all numbers finite.
static inline int invert(hermitian *a)
{
    double *d = a->diagonal;
    double2 *l = a->below;
    for (int j = 0; j < ROWS; ++j) {
        for (int k = 0; k < j; ++k)
            d[j] -= dot(l[PLACE(j, k)], l[PLACE(j, k)]) * d[k];
        if (!(d[j] > 0.0 && d[j] < INFINITY))
            return 0;
        for (int i = j + 1; i < ROWS; ++i) {
            double2 sum = l[PLACE(i, j)];
            for (int k = 0; k < j; ++k)
                sum -= d[k] * times(l[PLACE(i, k)], conj_of(l[PLACE(j, k)]));
            l[PLACE(i, j)] = sum / d[j];
        }
    }
    // L⁻¹, row by row: those above are made.
    for (int i = 1; i < ROWS; ++i) {
        double2 row[ROWS];
        for (int j = 0; j < i; ++j) {
            row[j] = -l[PLACE(i, j)];
            for (int k = j + 1; k < i; ++k)
                row[j] -= times(l[PLACE(i, k)], l[PLACE(k, j)]);
        }
        for (int j = 0; j < i; ++j)
            l[PLACE(i, j)] = row[j];
    }
    // L⁻¹† D⁻¹ L⁻¹, row by row: those below are still needed as they are.
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < i; ++j) {
            double2 sum = l[PLACE(i, j)] / d[i];
            for (int k = i + 1; k < ROWS; ++k)
                sum += times(conj_of(l[PLACE(k, i)]), l[PLACE(k, j)]) / d[k];
            l[PLACE(i, j)] = sum;
        }
        double sum = 1.0 / d[i];
        for (int k = i + 1; k < ROWS; ++k)
            sum += dot(l[PLACE(k, i)], l[PLACE(k, i)]) / d[k];
        d[i] = sum;
    }
    return 1;
}

#if GROUP == 18
// The numbers of a block: the diagonal in pairs, then the rows below it.
static inline void pack_block(const hermitian *a, double2 *numbers)
{
    for (int k = 0; k < ROWS / 2; ++k)
        numbers[k] = (double2)(a->diagonal[2 * k], a->diagonal[2 * k + 1]);
    for (int k = 0; k < BELOW; ++k)
        numbers[ROWS / 2 + k] = a->below[k];
}
#else
// (A + i twist)⁻¹ = (A − i twist)(A² + twist²)⁻¹, row by row; 0 where it does not exist.
static inline int invert_with_twist(const hermitian *a, const double twist, double2 *numbers)
{
    hermitian square;
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j <= i; ++j) {
            double2 sum = (double2)(0.0, 0.0);
            for (int k = 0; k < ROWS; ++k)
                sum += times(element(a, i, k), element(a, k, j));
            if (i == j)
                square.diagonal[i] = sum.x + twist * twist;
            else
                square.below[PLACE(i, j)] = sum;
        }
    }
    if (!invert(&square))
        return 0;
    for (int i = 0; i < ROWS; ++i) {
        for (int j = 0; j < ROWS; ++j) {
            double2 sum = (double2)(0.0, 0.0);
            for (int k = 0; k < ROWS; ++k) {
                const double2 left = element(a, i, k) - (double2)(0.0, i == k ? twist : 0.0);
                sum += times(left, element(&square, k, j));
            }
            numbers[ROWS * i + j] = sum;
        }
    }
    return 1;
}
#endif

// Stores half of the numbers of a site: see clover.cl.
static inline void store_numbers(__global TO *to, const layout l, const place p, const double2 *numbers)
{
    double unit = 1.0;
    if (IS_FIXED(TO)) {
        double largest = 0.0;
        for (int c = 0; c < COMPONENTS; ++c)
            largest = fmax(largest, fmax(fabs(0.5 * numbers[c].x), fabs(0.5 * numbers[c].y)));
        const float of_site = (float)largest / LARGEST;
        *(__global float *)(to + unit_offset(l, p)) = of_site;
        unit = of_site;
    }
    for (int c = 0; c < COMPONENTS; ++c) {
        const size_t re = offset_of(l, p, c), im = re + imaginary_step(l);
        const double2 half_of = 0.5 * numbers[c];
        if (IS_FIXED(TO)) {
            const double2 counted = unit > 0.0 ? half_of / unit : (double2)(0.0, 0.0);
            to[re] = (TO)(clamp(round(counted.x), (double)-LARGEST, (double)LARGEST) + RAISED);
            to[im] = (TO)(clamp(round(counted.y), (double)-LARGEST, (double)LARGEST) + RAISED);
        } else {
            to[re] = (TO)half_of.x;
            to[im] = (TO)half_of.y;
        }
    }
}

// One work-item for each site of slice t of a domain. A = scalar + i twist γ5 + T, with T from F times `in_space` in the planes
// without t and times `in_time` in those with t. Stored is A, or A⁻¹ with `inverse`; A of GROUP 36 is stored as inverse only.
// `failed` becomes the least number in the domain of a site whose A is not positive, or has no inverse: nothing is stored there.
// Extents are those of sub-lattices, `cuts` how many there are. With one lane `pack` is most complex numbers in a vector
// and `chunk` the sites in a chunk, 0 for all. `origin` is the parity of the domain's first site.
__kernel void clover_blocks(__global const double *restrict links, __global TO *restrict to, __global uint *restrict failed,
                            const uint4 sub_extents, const uint4 cuts, const uint pack, const uint chunk,
                            const uint4 halo, const uint origin, const uint t,
                            const double scalar, const double twist, const double in_space, const double in_time,
                            const uint inverse)
{
    const layout l = {sub_extents.x, sub_extents.y, sub_extents.z, sub_extents.w,
                      cuts.x, cuts.y, cuts.z, cuts.w, pack, chunk, IS_FIXED(TO)};
    const uint4 extents = sub_extents * cuts;
    const uint item = get_global_id(0);
    if (item >= extents.x * extents.y * extents.z)
        return;
    const uint x = item % extents.x, y = item / extents.x % extents.y, z = item / (extents.x * extents.y);
    const slices s = {links, convert_int4(extents), convert_int4(halo)};

    double2 f[PLANES * COLOURS];
    int plane = 0;
    for (int mu = 0; mu < 3; ++mu) {
        for (int nu = mu + 1; nu < 4; ++nu) {
            double2 *of_plane = f + COLOURS * plane++;
            field_strength(s, (int4)((int)x, (int)y, (int)z, (int)t), mu, nu, of_plane);
            for (int k = 0; k < COLOURS; ++k)
                of_plane[k] *= nu == 3 ? in_time : in_space;
        }
    }
    double2 numbers[COMPONENTS];
    int exists = 1;
    for (int chirality = 0; chirality < 2; ++chirality) {
        hermitian a;
        block_of(f, chirality, scalar, &a);
#if GROUP == 18
        if (inverse)
            exists &= invert(&a);
        pack_block(&a, numbers + GROUP * chirality);
#else
        exists &= invert_with_twist(&a, chirality == 0 ? twist : -twist, numbers + GROUP * chirality);
#endif
    }
    if (!exists) {
        atomic_min((volatile __global uint *)failed, t * extents.x * extents.y * extents.z + item);
        return;
    }
    const uint parity = (x + y + z + t + origin) % 2;
    store_numbers(to + parity * half_field(l), l, place_at(l, x, y, z, t), numbers);
}
