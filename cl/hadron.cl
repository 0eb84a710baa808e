// Smearing of spinors, and sums of products of two quark propagators, in double.
// Twins: src/hadron/smearing.rs, meson.rs, momenta.rs. src/hadron/on_device.rs launches it.
//
// Sites are in the order of the host. A component of a spinor is 3 spin + colour.
// So are rows and columns of propagators.

#define COLOURS 3
#define SPINS 4
#define COMPONENTS (SPINS * COLOURS)
#define PAIRS (SPINS * SPINS)
#define NUMBERS (PAIRS * PAIRS)

static inline double2 times(const double2 a, const double2 b)
{
    return (double2)(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
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
                    sum[COLOURS * spin + row] +=
                        times(there, vload2(component + ahead, from)) + times(back, vload2(component + behind, from));
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
                    sums[SPINS * beta + spin] += times(left, right[spin]);
            }
        }
    }
    for (int k = 0; k < PAIRS; ++k)
        vstore2(sums[k], (size_t)item * PAIRS + k, to);
}

// Sums of phase times T over stretches of `stretch` sites, as [stretch][momentum][number][re, im].
// Phases are [momentum][site of the slice][re, im]. T begins with site `first` of the `slice` sites.
// One work-item for each sum.
__kernel void sums_of_stretches(__global const double *restrict products, __global const double *restrict phases,
                                __global double *restrict to, const uint sites, const uint first, const uint slice,
                                const uint stretch, const uint momenta)
{
    const uint item = get_global_id(0), number = item % NUMBERS;
    const uint momentum = item / NUMBERS % momenta, begin = item / NUMBERS / momenta * stretch;
    if (begin >= sites)
        return;
    double2 sum = (double2)(0.0, 0.0);
    for (uint site = begin; site < min(begin + stretch, sites); ++site)
        sum += times(vload2((size_t)momentum * slice + first + site, phases), vload2((size_t)site * NUMBERS + number, products));
    vstore2(sum, item, to);
}
