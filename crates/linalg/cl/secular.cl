// Merges of halves of tridiagonal matrices: eigenvalues of D + rho z zᵀ, and the matrices that multiply the eigenvectors of the halves.
//
// The host defines GROUP, the work-items of a group, and SLOTS, those that share a root. All merges of a level are in one launch: the first dimension counts roots or columns, the second one counts merges. `table` has ROW numbers
// for each merge, which are named here. Poles, weights and rotations lie in `numbers`, which begins with rho of each merge. A root is two
// numbers: the value of the pole that is nearer, and the distance of the root from it. Differences to poles stay accurate so. The twin is
// host::secular.

#define ROW 11
#define COUNT 0         // poles
#define POLES 1         // place of the poles in `numbers`, in ascending order
#define WEIGHTS 2       // place of z in `numbers`
#define FIRST_ROOT 3    // number of the first root of the merge among all
#define KEPT 4          // place of the rows of the poles in `table`
#define ROTATIONS 5     // number of rotations
#define PLANES 6        // place of the pairs of rows that rotate in `table`. Their cosines and sines follow the weights
#define ROWS 7          // rows of the matrix
#define WIDTH 8         // columns of the matrix, which lies row by row
#define PLACE 9         // its first element in `products`
#define COLUMN 10       // number of its first column among all

#define STEPS 200
#define RATIONAL_STEPS 40
#define EPSILON 2.220446049250313e-16

#define MERGE_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void

// Sums of rho z² / (d - pole - mu) over the poles, and of their derivatives: those up to pole j in `lower`, the others in `upper`. The SLOTS
// work-items of a root share the poles. Those of a root that is not `wanted` do nothing, but come along.
static inline void sums_at(bool wanted, __global const double *d, __global const double *z, ulong count, double rho, ulong j, double pole,
                           double mu, __local double2 *shares, double2 *lower, double2 *upper) {
    const uint item = get_local_id(0);
    const uint slot = item % SLOTS;
    double2 below = (double2)(0.0, 0.0);
    double2 above = (double2)(0.0, 0.0);
    if (wanted) {
        for (ulong i = slot; i <= j; i += SLOTS) {
            const double distance = (d[i] - pole) - mu;
            const double term = rho * (z[i] * z[i]) / distance;
            below += (double2)(term, term / distance);
        }
        for (ulong i = j + 1 + slot; i < count; i += SLOTS) {
            const double distance = (d[i] - pole) - mu;
            const double term = rho * (z[i] * z[i]) / distance;
            above += (double2)(term, term / distance);
        }
    }
    shares[item] = below;
    shares[GROUP + item] = above;
    barrier(CLK_LOCAL_MEM_FENCE);
    below = (double2)(0.0, 0.0);
    above = (double2)(0.0, 0.0);
    for (uint other = item - slot; other < item - slot + SLOTS; other++) {
        below += shares[other];
        above += shares[GROUP + other];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    *lower = below;
    *upper = above;
}

// A point between two, near zero in steps of powers of two.
static inline double middle(double low, double high) {
    const double small = fmin(fabs(low), fabs(high));
    const double large = fmax(fabs(low), fabs(high));
    if (small >= 0.1 * large) {
        return 0.5 * (low + high);
    }
    const double least = small > 0.0 ? small : large * 1e-16;
    const double geometric = copysign(sqrt(least * large), low + high);
    return geometric > low && geometric < high ? geometric : 0.5 * (low + high);
}

// The roots of all merges, each by SLOTS work-items that do the same steps.
MERGE_KERNEL solve_roots(__global const ulong *table, __global const double *numbers, __global double *roots) {
    __local double2 shares[2 * GROUP];
    __local uint busy[GROUP];
    const uint item = get_local_id(0);
    const ulong j = get_global_id(0) / SLOTS;
    const ulong merge = get_global_id(1);
    __global const ulong *row = table + ROW * merge;
    const ulong count = row[COUNT];
    const bool exists = j < count;
    __global const double *d = numbers + row[POLES];
    __global const double *z = numbers + row[WEIGHTS];
    const double rho = numbers[merge];
    const bool is_last = j + 1 == count;
    double gap = 0.0;
    if (is_last) {
        double total = 0.0;
        for (ulong i = 0; i < count; i++) {
            total += z[i] * z[i];
        }
        gap = rho * total;
    } else if (exists) {
        gap = d[j + 1] - d[j];
    }
    double2 psi, phi;
    sums_at(exists && !is_last, d, z, count, rho, j, exists ? d[j] : 0.0, 0.5 * gap, shares, &psi, &phi);
    const bool lower_half = is_last || 1.0 + psi.s0 + phi.s0 >= 0.0;
    const double pole = exists ? d[lower_half ? j : j + 1] : 0.0;
    double low = lower_half ? 0.0 : -0.5 * gap;
    double high = is_last ? gap : lower_half ? 0.5 * gap : 0.0;
    double mu = 0.5 * (low + high);
    bool searches = exists;
    for (uint step = 0; step < STEPS; step++) {
        sums_at(searches, d, z, count, rho, j, pole, mu, shares, &psi, &phi);
        if (searches) {
            const double f = 1.0 + psi.s0 + phi.s0;
            if (f < 0.0) {
                low = mu;
            } else {
                high = mu;
            }
            const double first = (d[j] - pole) - mu;
            double next;
            if (is_last) {
                // The sum is like r + s/(d - x).
                const double s = first * first * psi.s1;
                const double r = 1.0 + psi.s0 - first * psi.s1;
                next = mu + first + s / r;
            } else {
                const double second = (d[j + 1] - pole) - mu;
                const double c = 1.0 + psi.s0 + phi.s0 - first * psi.s1 - second * phi.s1;
                const double a = (first + second) * f - first * second * (psi.s1 + phi.s1);
                const double b = first * second * f;
                const double root = sqrt(fmax(a * a - 4.0 * b * c, 0.0));
                next = mu + (a <= 0.0 ? (a - root) / (2.0 * c) : 2.0 * b / (a + root));
            }
            if (!(next > low && next < high) || step > RATIONAL_STEPS) {
                next = middle(low, high);
            }
            searches = fabs(f) > 2.0 * EPSILON * (1.0 + fabs(psi.s0) + fabs(phi.s0)) &&
                       high - low > EPSILON * fmax(fabs(low), fabs(high)) && next != mu;
            mu = searches ? next : mu;
        }
        busy[item] = searches;
        barrier(CLK_LOCAL_MEM_FENCE);
        uint left = 0;
        for (uint other = 0; other < GROUP; other += SLOTS) {
            left += busy[other];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (left == 0) {
            break;
        }
    }
    if (exists && item % SLOTS == 0) {
        const ulong place = 2 * (row[FIRST_ROOT] + j);
        roots[place] = pole;
        roots[place + 1] = mu;
    }
}

// The z for which the computed roots are exact, with the signs of the weights.
MERGE_KERNEL exact_weights(__global const ulong *table, __global const double *numbers, __global const double *roots,
                           __global double *exact) {
    const ulong i = get_global_id(0);
    __global const ulong *row = table + ROW * get_global_id(1);
    const ulong count = row[COUNT];
    if (i >= count) {
        return;
    }
    __global const double *d = numbers + row[POLES];
    __global const double *root = roots + 2 * row[FIRST_ROOT];
    const double own = d[i];
    // Ratios of neighbours keep the product in range.
    double product = (root[2 * i] - own) + root[2 * i + 1];
    for (ulong j = 0; j < count; j++) {
        const double ratio = ((own - root[2 * j]) - root[2 * j + 1]) / (own - d[j]);
        product *= j == i ? 1.0 : ratio;
    }
    exact[row[FIRST_ROOT] + i] = copysign(sqrt(fabs(product)), numbers[row[WEIGHTS] + i]);
}

// The columns of the matrices. Column c of a merge is the eigenvector of root columns[c], or a unit vector: a number from COUNT on is COUNT plus
// the row that is one. At last the rotations that set weights to zero are taken back, from the last to the first.
MERGE_KERNEL fill_products(__global const ulong *table, __global const double *numbers, __global const double *roots,
                           __global const double *exact, __global const uint *columns, __global double *products) {
    const ulong c = get_global_id(0);
    __global const ulong *row = table + ROW * get_global_id(1);
    const ulong width = row[WIDTH];
    if (c >= width) {
        return;
    }
    const ulong count = row[COUNT];
    const ulong rows = row[ROWS];
    const ulong number = columns[row[COLUMN] + c];
    __global double *column = products + row[PLACE] + c;
    for (ulong i = 0; i < rows; i++) {
        column[i * width] = 0.0;
    }
    if (number >= count) {
        column[(number - count) * width] = 1.0;
    } else {
        __global const double *d = numbers + row[POLES];
        __global const double *z = exact + row[FIRST_ROOT];
        __global const ulong *kept = table + row[KEPT];
        const double pole = roots[2 * (row[FIRST_ROOT] + number)];
        const double distance = roots[2 * (row[FIRST_ROOT] + number) + 1];
        double norm2 = 0.0;
        for (ulong i = 0; i < count; i++) {
            const double x = z[i] / ((d[i] - pole) - distance);
            norm2 += x * x;
        }
        const double factor = 1.0 / sqrt(norm2);
        for (ulong i = 0; i < count; i++) {
            column[kept[i] * width] = factor * (z[i] / ((d[i] - pole) - distance));
        }
    }
    __global const ulong *planes = table + row[PLANES];
    __global const double *angles = numbers + row[WEIGHTS] + count;
    for (ulong r = row[ROTATIONS]; r-- > 0;) {
        __global double *last = column + planes[2 * r] * width;
        __global double *next = column + planes[2 * r + 1] * width;
        const double x = *last;
        const double y = *next;
        *last = angles[2 * r] * x - angles[2 * r + 1] * y;
        *next = angles[2 * r + 1] * x + angles[2 * r] * y;
    }
}

// The first and the last rows of the merged eigenvectors, which lie column by column where the products were: first those of all `n` columns, then
// these.
MERGE_KERNEL take_ends(ulong n, __global const ulong *table, __global const double *vectors, __global double *ends) {
    const ulong c = get_global_id(0);
    __global const ulong *row = table + ROW * get_global_id(1);
    const ulong rows = row[ROWS];
    if (c >= row[WIDTH]) {
        return;
    }
    const ulong number = row[COLUMN] + c;
    ends[number] = vectors[row[PLACE] + c * rows];
    ends[n + number] = vectors[row[PLACE] + c * rows + rows - 1];
}
