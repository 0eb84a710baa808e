// Functionals at points, in double. Twin: crates/xc/src/functional/.
//
//   EXCHANGE, CORRELATION    names of functions here
//   LEAST_SPIN               the least density of a spin in the correlation

#define PI 3.14159265358979323846
#define BETA 0.06672455060314922
#define GAMMA 0.031090690869654895034
#define KAPPA 0.804
#define MU (BETA * PI * PI / 3)
#define EXACT_CURVATURE 1.7099209341613653
#define LEAST_DENSITY 1e-12
#define LEAST_OF_SPIN 1e-20
#define NO_SPIN 2.220446049250313e-16

// A value with its derivatives by rho_up, rho_down and sigma.
#define jet double4

// Another value with the same derivatives. Oclgrind fails on vectors that are put together of a number and three others.
static inline jet with_value(const double value, jet a) {
    a.x = value;
    return a;
}

// f(a), by the value and the derivative of f there.
static inline jet chain(const double value, const double derivative, const jet a) { return with_value(value, derivative * a); }
static inline jet constant_plus(const double value, const jet a) { return with_value(value + a.x, a); }
static inline jet product(const jet a, const jet b) { return with_value(a.x * b.x, a * b.x + a.x * b); }
static inline jet inverse(const jet a) { return chain(1 / a.x, -1 / (a.x * a.x), a); }
static inline jet quotient(const jet a, const jet b) { return product(a, inverse(b)); }
static inline jet root_of(const jet a) { return chain(sqrt(a.x), 0.5 / sqrt(a.x), a); }
static inline jet log_of(const jet a) { return chain(log(a.x), 1 / a.x, a); }
static inline jet log1p_of(const jet a) { return chain(log1p(a.x), 1 / (1 + a.x), a); }
static inline jet expm1_of(const jet a) { return chain(expm1(a.x), exp(a.x), a); }
static inline jet atan_of(const jet a) { return chain(atan(a.x), 1 / (1 + a.x * a.x), a); }

// A cube root to the power of -1, 1, 2 or 4. The library's powers are slow on processors.
static inline double thirds_power(const double root, const int thirds) {
    const double square = root * root;
    return thirds < 0 ? 1 / root : thirds == 1 ? root : thirds == 2 ? square : square * square;
}

// a to the power of thirds/3.
static inline jet power_of(const jet a, const int thirds) {
    const double root = cbrt(a.x), value = thirds_power(root, thirds);
    return chain(value, thirds / 3.0 * value / a.x, a);
}

// A power of 1 + zeta or 1 - zeta, which has no derivative at 0.
static inline jet share_power(const jet share, const int thirds) {
    return share.x <= NO_SPIN ? (jet)(thirds_power(cbrt(NO_SPIN), thirds), 0, 0, 0) : power_of(share, thirds);
}

// Exchange of one spin: energy, and derivatives by this spin's rho and sigma.

static inline double slater_energy(const double n) { return -0.75 * cbrt(3 / PI) * n * cbrt(n); }

static inline double3 lda_x(const double rho, const double sigma) {
    const double energy = slater_energy(2 * rho);
    return (double3)(0.5 * energy, 4.0 / 3 * energy / (2 * rho), 0);
}

static inline double3 pbe_x(const double rho, const double sigma) {
    const double n = 2 * rho, energy = slater_energy(n), fermi = cbrt(3 * PI * PI * n);
    const double per_sigma = 1 / (4 * fermi * fermi * n * n), square = 4 * sigma * per_sigma;
    const double denominator = 1 + MU * square / KAPPA;
    const double factor = 1 + KAPPA - KAPPA / denominator, by_square = MU / (denominator * denominator);
    return (double3)(0.5 * energy * factor, 4.0 / 3 * energy / n * factor - energy * by_square * 8 / 3 * square / n,
                     2 * energy * by_square * per_sigma);
}

// The density at a point, as correlation energies take it.
typedef struct {
    jet rho, radius, more, less, mixing, fourth, sigma;
    uint spins; // 1: both are equal, and all that is beside the unpolarised part vanishes
} point_density;

static inline point_density density_at(const uint spins, const double rho_up, const double rho_down, const double sigma) {
    const jet up = (jet)(rho_up, 1, 0, 0), down = (jet)(rho_down, 0, 1, 0);
    point_density point;
    point.rho = up + down;
    point.radius = cbrt(3 / (4 * PI)) * power_of(point.rho, -1);
    point.sigma = (jet)(sigma, 0, 0, 1);
    point.spins = spins;
    if (spins == 1) {
        point.more = point.less = (jet)(1, 0, 0, 0);
        point.mixing = point.fourth = (jet)(0, 0, 0, 0);
        return point;
    }
    const jet zeta = quotient(up - down, point.rho), square = product(zeta, zeta);
    point.more = constant_plus(1, zeta);
    point.less = constant_plus(1, -zeta);
    const jet powers = share_power(point.more, 4) + share_power(point.less, 4);
    point.mixing = constant_plus(-2, powers) / (2 * cbrt(2.0) - 2);
    point.fourth = product(square, square);
    return point;
}

static inline jet between(const point_density point, const jet para, const jet ferro, const jet stiffness, const double curvature) {
    const jet unpolarised = constant_plus(1, -point.fourth);
    return para + product(product(stiffness, point.mixing), unpolarised) / curvature +
           product(product(ferro - para, point.mixing), point.fourth);
}

static inline jet vosko_wilk_nusair(const jet radius, const double a, const double x0, const double b, const double c) {
    const jet x = root_of(radius), whole = constant_plus(c, radius + b * x);
    const double root = sqrt(4 * c - b * b), at_x0 = x0 * x0 + b * x0 + c;
    const jet angle = atan_of(root * inverse(constant_plus(b, 2 * x)));
    const jet shifted = constant_plus(-x0, x);
    const jet first = log_of(quotient(radius, whole)) + 2 * b / root * angle;
    const jet second = log_of(quotient(product(shifted, shifted), whole)) + 2 * (b + 2 * x0) / root * angle;
    return a * (first - b * x0 / at_x0 * second);
}

static inline jet vwn5(const point_density point) {
    const jet para = vosko_wilk_nusair(point.radius, 0.0310907, -0.10498, 3.72744, 12.9352);
    if (point.spins == 1) {
        return product(point.rho, para);
    }
    const jet ferro = vosko_wilk_nusair(point.radius, 0.01554535, -0.325, 7.06042, 18.0578);
    const jet stiffness = vosko_wilk_nusair(point.radius, -1 / (6 * PI * PI), -0.0047584, 1.13107, 13.0045);
    return product(point.rho, between(point, para, ferro, stiffness, EXACT_CURVATURE));
}

static inline jet perdew_wang(const jet radius, const double a, const double alpha, const double b1, const double b2, const double b3,
                              const double b4) {
    const jet root = root_of(radius);
    const jet sum = b1 * root + b2 * radius + b3 * product(radius, root) + b4 * product(radius, radius);
    return -2 * a * product(constant_plus(1, alpha * radius), log1p_of(inverse(2 * a * sum)));
}

static inline jet perdew_wang_energy(const point_density point, const double a0, const double a1, const double a2, const double curvature) {
    const jet para = perdew_wang(point.radius, a0, 0.21370, 7.5957, 3.5876, 1.6382, 0.49294);
    if (point.spins == 1) {
        return para;
    }
    const jet ferro = perdew_wang(point.radius, a1, 0.20548, 14.1189, 6.1977, 3.3662, 0.62517);
    const jet stiffness = -perdew_wang(point.radius, a2, 0.11125, 10.357, 3.6231, 0.88026, 0.49671);
    return between(point, para, ferro, stiffness, curvature);
}

static inline jet pw92(const point_density point) {
    return product(point.rho, perdew_wang_energy(point, 0.031091, 0.015545, 0.016887, 1.709921));
}

static inline jet pw92_exact(const point_density point) {
    return perdew_wang_energy(point, 0.0310907, 0.01554535, 0.0168869, EXACT_CURVATURE);
}

// t^2 (1 + A t^2)/(1 + A t^2 + A^2 t^4) of e = 1/A and q = t^2.
static inline jet saturated(const jet e, const jet q) {
    const double whole = e.x * e.x + e.x * q.x + q.x * q.x;
    const double by_e = q.x * q.x / whole * q.x * (q.x + 2 * e.x) / whole, by_q = e.x * e.x / whole * e.x * (e.x + 2 * q.x) / whole;
    return with_value(e.x * q.x * (e.x + q.x) / whole, by_e * e + by_q * q);
}

static inline jet pbe_c(const point_density point) {
    const jet local_energy = pw92_exact(point);
    const jet phi = point.spins == 1 ? (jet)(1, 0, 0, 0) : 0.5 * (share_power(point.more, 2) + share_power(point.less, 2));
    const jet scale = GAMMA * product(phi, product(phi, phi));
    const jet screening = 4 / PI * cbrt(3 * PI * PI) * power_of(point.rho, 1);
    const jet below = 4 * product(product(phi, phi), product(screening, product(point.rho, point.rho)));
    const jet square = quotient(point.sigma, below);
    const jet e = GAMMA / BETA * expm1_of(-quotient(local_energy, scale));
    const jet gain = product(scale, log1p_of(BETA / GAMMA * saturated(e, square)));
    return product(point.rho, local_energy + gain);
}

// What the functional makes of the densities: the factors of each spin (w v/2, then w (2 v_ss grad rho_s + v_ud grad rho_s')), and three planes of the
// point's energy and electrons of each spin. For one spin, `values` is the density of both together.
__kernel void xc_potential(const ulong all_points, const uint spins, const uint with_gradient, __global const double *weights,
                           __global const double *values, __global double *factors, __global double *of_points) {
    for (ulong p = get_global_id(0); p < all_points; p += get_global_size(0)) {
        double4 spin[2];
        for (uint s = 0; s < 2; s++) {
            __global const double *from = values + 4 * (s < spins ? s : 0) * all_points + p;
            const double share = spins == 1 ? 0.5 : 1;
            spin[s].x = share * from[0];
            spin[s].yzw = (double3)(0, 0, 0);
            if (with_gradient) {
                spin[s].yzw = share * (double3)(from[all_points], from[2 * all_points], from[3 * all_points]);
            }
        }
        const double up = fmax(spin[0].x, 0), down = fmax(spin[1].x, 0), weight = weights[p];
        const double uu = dot(spin[0].yzw, spin[0].yzw), ud = dot(spin[0].yzw, spin[1].yzw), dd = dot(spin[1].yzw, spin[1].yzw);
        double energy = 0, by_rho[2] = {0, 0}, by_sigma[3] = {0, 0, 0};
        if (up + down >= LEAST_DENSITY) {
            const double3 x_up = up < LEAST_OF_SPIN ? (double3)(0, 0, 0) : EXCHANGE(up, uu);
            double3 x_down = x_up;
            if (spins == 2) {
                x_down = down < LEAST_OF_SPIN ? (double3)(0, 0, 0) : EXCHANGE(down, dd);
            }
            const point_density point = density_at(spins, fmax(up, LEAST_SPIN), fmax(down, LEAST_SPIN), fmax(uu + 2 * ud + dd, 0));
            const jet correlation = CORRELATION(point);
            energy = x_up.x + x_down.x + correlation.x;
            by_rho[0] = x_up.y + correlation.y;
            by_rho[1] = x_down.y + correlation.z;
            by_sigma[0] = x_up.z + correlation.w;
            by_sigma[1] = 2 * correlation.w;
            by_sigma[2] = x_down.z + correlation.w;
        }
        of_points[p] = weight * energy;
        of_points[all_points + p] = weight * spin[0].x;
        of_points[2 * all_points + p] = weight * spin[1].x;
        for (uint s = 0; s < spins; s++) {
            __global double *to = factors + 4 * s * all_points + p;
            const double3 gradient = weight * (2 * by_sigma[2 * s] * spin[s].yzw + by_sigma[1] * spin[1 - s].yzw);
            to[0] = 0.5 * weight * by_rho[s];
            to[all_points] = gradient.x;
            to[2 * all_points] = gradient.y;
            to[3 * all_points] = gradient.z;
        }
    }
}

// Adds the three planes over the points of each group, in their order.
__kernel void xc_sums(__global const ulong *groups, const ulong all_points, const uint group_count, __global const double *of_points,
                      __global double *sums) {
    for (uint g = get_global_id(0); g < group_count; g += get_global_size(0)) {
        const ulong first = groups[GROUP_WORDS * (ulong)g], count = groups[GROUP_WORDS * (ulong)g + 1];
        for (uint plane = 0; plane < 3; plane++) {
            double sum = 0;
            for (ulong p = first; p < first + count; p++) {
                sum += of_points[plane * all_points + p];
            }
            sums[3 * g + plane] = sum;
        }
    }
}
