// Smearing of spinors, and sums of contractions of two quark propagators, in double.
// Twins: src/hadron/smearing.rs, meson.rs, baryon.rs, current.rs, momenta.rs. src/hadron/on_device/ launches it.
//
// Sites are in the order of the host. A component of a spinor is 3 spin + colour.
// So are rows and columns of propagators.

#define COLOURS 3
#define SPINS 4
#define COMPONENTS (SPINS * COLOURS)
#define PAIRS (SPINS * SPINS)

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

// (1 - 6c) psi + c H psi with the hops H in x, y and z.
// Spinors are [component][site][re, im], links [direction][3 row + column][site][re, im].
// One work-item for each site.
__kernel void smear_step(__global const double *restrict links, __global const double *restrict from, __global double *restrict to,
                         const uint4 extents, const double weight)
{
    const uint volume = extents.x * extents.y * extents.z * extents.w, site = get_global_id(0);
    if (site >= volume)
        return;
    double2 sum[COMPONENTS];
    for (int c = 0; c < COMPONENTS; ++c)
        sum[c] = (double2)(0.0, 0.0);
    uint stride = 1;
    for (int mu = 0; mu < 3; ++mu) {
        const uint extent = mu == 0 ? extents.x : mu == 1 ? extents.y : extents.z;
        const uint at = site / stride % extent;
        const uint ahead = at == extent - 1 ? site - (extent - 1) * stride : site + stride;
        const uint behind = at == 0 ? site + (extent - 1) * stride : site - stride;
        for (int row = 0; row < COLOURS; ++row)
            for (int column = 0; column < COLOURS; ++column) {
                const size_t direction = (size_t)mu * COLOURS * COLOURS;
                const double2 there = vload2((direction + COLOURS * row + column) * volume + site, links);
                const double2 back = conj_of(vload2((direction + COLOURS * column + row) * volume + behind, links));
                for (int spin = 0; spin < SPINS; ++spin) {
                    const size_t component = (size_t)(COLOURS * spin + column) * volume;
                    const double2 of_ahead = plus_times(sum[COLOURS * spin + row], there, vload2(component + ahead, from));
                    sum[COLOURS * spin + row] = plus_times(of_ahead, back, vload2(component + behind, from));
                }
            }
        stride *= extent;
    }
    for (int c = 0; c < COMPONENTS; ++c) {
        const size_t place = (size_t)c * volume + site;
        vstore2((1.0 - 6.0 * weight) * vload2(place, from) + weight * sum[c], place, to);
    }
}

// T = sum over colours of conj(S2[alpha a][beta b]) S1[alpha' a][beta' b].
// T is [site][alpha][alpha'][beta][beta'][re, im].
// Propagators are [site][row][column][re, im]. One work-item for each site and pair of alpha and alpha'.
__kernel void products_of_colours(__global const double *s1, __global const double *s2, __global double *restrict to, const uint sites)
{
    const uint item = get_global_id(0), site = item / PAIRS, pair = item % PAIRS;
    if (site >= sites)
        return;
    double2 sums[PAIRS];
    for (int k = 0; k < PAIRS; ++k)
        sums[k] = (double2)(0.0, 0.0);
    for (int a = 0; a < COLOURS; ++a) {
        const size_t row1 = ((size_t)site * COMPONENTS + COLOURS * (pair % SPINS) + a) * COMPONENTS;
        const size_t row2 = ((size_t)site * COMPONENTS + COLOURS * (pair / SPINS) + a) * COMPONENTS;
        for (int b = 0; b < COLOURS; ++b) {
            double2 right[SPINS];
            for (int spin = 0; spin < SPINS; ++spin)
                right[spin] = vload2(row1 + COLOURS * spin + b, s1);
            for (int beta = 0; beta < SPINS; ++beta) {
                const double2 left = conj_of(vload2(row2 + COLOURS * beta + b, s2));
                for (int spin = 0; spin < SPINS; ++spin)
                    sums[SPINS * beta + spin] = plus_times(sums[SPINS * beta + spin], left, right[spin]);
            }
        }
    }
    for (int k = 0; k < PAIRS; ++k)
        vstore2(sums[k], (size_t)item * PAIRS + k, to);
}

// A term of a baryon's contraction: of_tt tt + of_xt xt with
//   D^{k'k}_{ab} = sum of eps_ijk eps_i'j'k' (A Gamma)^{ii'}_{ra} (Gamma B)^{jj'}_{rb},
//   tt = sum of tr(T S^{kk'}) tr(D^{k'k}), xt = sum of tr(T S^{kk'} D^{k'k}).
// A is `one`, B is `other`, S is `closing`. Unprimed colours and r are of the sink.
// Matrices are [operator][T, Gamma][row][column][re, im], results [site][operator][re, im].
// Propagators are [site][row][column][re, im]. The term is added to the result if `adds` is not 0.
// One work-item for each site and operator.
__kernel void baryon_term(__global const double *closing, __global const double *one, __global const double *other,
                          __global const double *restrict matrices, __global double *restrict to, const uint sites,
                          const uint operators, const double of_tt, const double of_xt, const uint adds)
{
    const uint item = get_global_id(0), site = item / operators, number = item % operators;
    if (site >= sites)
        return;
    const size_t numbers = (size_t)site * COMPONENTS * COMPONENTS, projector = (size_t)2 * PAIRS * number;
    double2 gamma[PAIRS];
    for (int c = 0; c < PAIRS; ++c)
        gamma[c] = vload2(projector + PAIRS + c, matrices);
    double2 sum = (double2)(0.0, 0.0);
    for (int k = 0; k < COLOURS; ++k)
        for (int k1 = 0; k1 < COLOURS; ++k1) {
            double2 d[PAIRS];
            for (int c = 0; c < PAIRS; ++c)
                d[c] = (double2)(0.0, 0.0);
            // The permutations (i, j, k) and (i', j', k') with their signs.
            for (int order = 0; order < 4; ++order) {
                const int i = (k + 1 + order % 2) % COLOURS, j = (k + 2 - order % 2) % COLOURS;
                const int i1 = (k1 + 1 + order / 2) % COLOURS, j1 = (k1 + 2 - order / 2) % COLOURS;
                const double sign = order == 1 || order == 2 ? -1.0 : 1.0;
                for (int r = 0; r < SPINS; ++r) {
                    double2 right[SPINS], left[SPINS];
                    for (int a = 0; a < SPINS; ++a)
                        right[a] = left[a] = (double2)(0.0, 0.0);
                    for (int c = 0; c < SPINS; ++c) {
                        const double2 of_one = vload2(numbers + (COLOURS * r + i) * COMPONENTS + COLOURS * c + i1, one);
                        for (int a = 0; a < SPINS; ++a) {
                            const size_t row = COLOURS * c + j, column = COLOURS * a + j1;
                            right[a] = plus_times(right[a], of_one, gamma[SPINS * c + a]);
                            left[a] = plus_times(left[a], gamma[SPINS * r + c], vload2(numbers + row * COMPONENTS + column, other));
                        }
                    }
                    for (int a = 0; a < SPINS; ++a)
                        for (int b = 0; b < SPINS; ++b)
                            d[SPINS * a + b] = plus_times(d[SPINS * a + b], sign * right[a], left[b]);
                }
            }
            double2 trace = (double2)(0.0, 0.0), trace_of_s = trace, crossed = trace;
            for (int a = 0; a < SPINS; ++a) {
                trace += d[SPINS * a + a];
                for (int b = 0; b < SPINS; ++b) {
                    double2 turned = (double2)(0.0, 0.0);
                    for (int c = 0; c < SPINS; ++c)
                        turned += times(vload2(projector + SPINS * a + c, matrices),
                                        vload2(numbers + (COLOURS * c + k) * COMPONENTS + COLOURS * b + k1, closing));
                    crossed += times(turned, d[SPINS * b + a]);
                    if (a == b)
                        trace_of_s += turned;
                }
            }
            sum += of_tt * times(trace_of_s, trace) + of_xt * crossed;
        }
    if (adds)
        sum += vload2(item, to);
    vstore2(sum, item, to);
}

// Re tr[A^+(x) (gamma_k - 1) U_k(x) S(x+k) gamma_k] with A = gamma5 S gamma5, of the sites of a time slice.
// Links are [direction][3 row + column][site][re, im], gammas [k][row][column, re, im].
// S is [site][row][column][re, im], the result [site][k][re, 0].
// One work-item for each site and direction k of space.
__kernel void conserved_vector(__global const double *restrict s, __global const double *restrict links,
                               __global const double *restrict gammas, __global double *restrict to, const uint4 extents)
{
    const uint slice = extents.x * extents.y * extents.z, item = get_global_id(0), site = item / 3, k = item % 3;
    if (site >= slice)
        return;
    const uint extent = k == 0 ? extents.x : k == 1 ? extents.y : extents.z;
    const uint stride = k == 0 ? 1 : k == 1 ? extents.x : extents.x * extents.y;
    const uint at = site / stride % extent;
    const uint next = at == extent - 1 ? site - (extent - 1) * stride : site + stride;
    const size_t here = (size_t)site * COMPONENTS * COMPONENTS, ahead = (size_t)next * COMPONENTS * COMPONENTS;
    double sum = 0.0;
    for (int row = 0; row < COMPONENTS; ++row) {
        const int spin = row / COLOURS, colour = row % COLOURS;
        __global const double *left = gammas + 3 * (SPINS * k + spin);
        double2 link[COLOURS];
        for (int j = 0; j < COLOURS; ++j)
            link[j] = vload2((size_t)(COLOURS * (COLOURS * k + colour) + j) * slice + site, links);
        for (int column = 0; column < COMPONENTS; ++column) {
            // gamma_k is Hermitian, and has one entry in each row and column.
            __global const double *right = gammas + 3 * (SPINS * k + column / COLOURS);
            const int from = COLOURS * (int)right[0] + column % COLOURS;
            double2 turned = (double2)(0.0, 0.0), straight = turned;
            for (int j = 0; j < COLOURS; ++j) {
                turned += times(link[j], vload2(ahead + (COLOURS * (int)left[0] + j) * COMPONENTS + from, s));
                straight += times(link[j], vload2(ahead + (COLOURS * spin + j) * COMPONENTS + from, s));
            }
            const double2 value = times((double2)(right[1], -right[2]), times((double2)(left[1], left[2]), turned) - straight);
            const double sign = spin / 2 == column / COLOURS / 2 ? 1.0 : -1.0;
            sum += sign * times(conj_of(vload2(here + row * COMPONENTS + column, s)), value).x;
        }
    }
    vstore2((double2)(sum, 0.0), item, to);
}

// Sums of phase times T over stretches of `stretch` sites, as [stretch][momentum][number][re, im].
// Phases are [momentum][site of the slice][re, im]. T is [site][number][re, im], from site `first` of
// the `slice` sites.
// One work-item for each sum.
__kernel void sums_of_stretches(__global const double *restrict products, __global const double *restrict phases,
                                __global double *restrict to, const uint numbers, const uint sites, const uint first,
                                const uint slice, const uint stretch, const uint momenta)
{
    const uint item = get_global_id(0), number = item % numbers;
    const uint momentum = item / numbers % momenta, begin = item / numbers / momenta * stretch;
    if (begin >= sites)
        return;
    double2 sum = (double2)(0.0, 0.0);
    for (uint site = begin; site < min(begin + stretch, sites); ++site)
        sum = plus_times(sum, vload2((size_t)momentum * slice + first + site, phases),
                         vload2((size_t)site * numbers + number, products));
    vstore2(sum, item, to);
}
