// Reduction of a Hermitian matrix to a real tridiagonal one, column by column in panels.
//
// The host defines TILE, the edge of the tiles that are read, and GROUP, the work-items of the groups that work on a column. The matrix A
// has n columns of n elements, and its lower triangle counts. Column k of A is made zero below the element under its diagonal by
// H = 1 - tau v vᴴ with v = (0, …, 0, 1, v_{k+2}, …). Column j of V and W, which have n rows too, belongs to column k of A = V Wᴴ + W Vᴴ + ….
// Norms and products of whole columns are summed up in double.

#define GROUP_KERNEL __kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void

// The sum of the group's numbers, for all of its `count` work-items.
static inline wide sum_of_group(__local wide *sums, uint count, wide own) {
    const uint item = get_local_id(0);
    sums[item] = own;
    for (uint step = count / 2; step > 0; step /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < step) {
            sums[item] += sums[item + step];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const wide sum = sums[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// The part of column j - 1 of W along v that `groups` groups have left to be subtracted: -½ tau (wᴴ v).
static inline element share_of(__local wide *sums, uint groups, __global const double *products, element tau) {
    wide own = wide_of(0.0, 0.0);
    for (uint group = get_local_id(0); group < groups; group += GROUP) {
        own += wide_of(products[2 * group], products[2 * group + 1]);
    }
    return narrowed(-0.5 * times(widened(tau), sum_of_group(sums, GROUP, own)));
}

// Completes column j - 1 of W, which lies in `fresh`. Then takes column k of A from its diagonal on and subtracts what the j columns of V
// and W change. Leaves sums of |a_ik|² below the element under the diagonal, one for each group.
GROUP_KERNEL update_column(uint n, uint k, uint j, uint groups, __global element *a, __global const element *v, __global element *w,
                           __global const element *fresh, __global const element *tau, __global const double *products,
                           __global double *squares, __global double *diagonal) {
    __local wide sums[GROUP];
    const ulong i = k + (ulong)get_global_id(0);
    const ulong last = (ulong)(j == 0 ? 0 : j - 1) * n;
    element share = (element)0;
    if (j > 0) {
        share = share_of(sums, groups, products, tau[k - 1]);
    }
    wide own = wide_of(0.0, 0.0);
    if (i < n) {
        element x = a[i + (ulong)k * n];
        for (uint l = 0; l + 1 < j; l++) {
            const ulong column = (ulong)l * n;
            x -= multiply(v[column + i], conjugate_if(1, w[column + k])) + multiply(w[column + i], conjugate_if(1, v[column + k]));
        }
        if (j > 0) {
            const element here = fresh[i] + multiply(share, v[last + i]);
            const element there = fresh[k] + multiply(share, v[last + k]);
            x -= multiply(v[last + i], conjugate_if(1, there)) + multiply(here, conjugate_if(1, v[last + k]));
            w[last + i] = here;
        }
        if (i == k) {
            x = real_part(x);
            diagonal[k] = first_part(widened(x));
        }
        a[i + (ulong)k * n] = x;
        if (i >= k + 2) {
            const wide y = widened(x);
            own = wide_of(first_part(times(conjugated(y), y)), 0.0);
        }
    }
    const wide sum = sum_of_group(sums, GROUP, own);
    if (get_local_id(0) == 0) {
        squares[get_group_id(0)] = first_part(sum);
    }
}

// Completes column j - 1 of W, the last of its panel, from row k on.
GROUP_KERNEL finish_panel(uint n, uint k, uint j, uint groups, __global const element *v, __global element *w,
                          __global const element *fresh, __global const element *tau, __global const double *products) {
    __local wide sums[GROUP];
    const ulong i = k + (ulong)get_global_id(0);
    const ulong last = (ulong)(j - 1) * n;
    const element share = share_of(sums, groups, products, tau[k - 1]);
    if (i < n) {
        w[last + i] = fresh[i] + multiply(share, v[last + i]);
    }
}

// Makes the reflector of column k of the sums that `groups` groups have left. Writes it to column j of V and below the diagonal of A.
GROUP_KERNEL make_reflector(uint n, uint k, uint j, uint groups, __global element *a, __global element *v, __global const double *squares,
                            __global element *tau, __global double *beside) {
    __local wide sums[GROUP];
    const ulong i = k + 1 + (ulong)get_global_id(0);
    const ulong column = (ulong)k * n;
    wide own = wide_of(0.0, 0.0);
    for (uint group = get_local_id(0); group < groups; group += GROUP) {
        own += wide_of(squares[group], 0.0);
    }
    const double below = first_part(sum_of_group(sums, GROUP, own));
    // No group writes this element.
    const wide alpha = widened(a[column + k + 1]);
    const double re = first_part(alpha);
    const double im = second_part(alpha);
    double beta = re;
    wide factor = wide_of(0.0, 0.0);
    wide scale = wide_of(0.0, 0.0);
    // Smaller parts are nothing beside a matrix of norms near 1, and their squares have no digits.
    if (below + im * im > 1e-280) {
        beta = -copysign(sqrt(re * re + im * im + below), re);
        factor = wide_of((beta - re) / beta, -im / beta);
        const wide difference = alpha - wide_of(beta, 0.0);
        scale = conjugated(difference) / first_part(times(conjugated(difference), difference));
    }
    if (i < n) {
        const element x = i == k + 1 ? ONE : narrowed(times(scale, widened(a[column + i])));
        v[(ulong)j * n + i] = x;
        if (i > k + 1) {
            a[column + i] = x;
        }
    }
    if (get_global_id(0) == 0) {
        tau[k] = narrowed(factor);
        beside[k] = beta;
    }
}

// The product of column j of V with column `group` of W, or of V after the j columns of W, by `count` work-items.
static inline void multiply_column(uint n, uint base, uint j, uint group, uint count, __local wide *sums, __global const element *v,
                                   __global const element *w, __global element *dots) {
    __global const element *other = (group < j ? w : v) + (ulong)(group % j) * n;
    wide own = wide_of(0.0, 0.0);
    for (ulong i = base + (ulong)get_local_id(0); i < n; i += count) {
        own += times(conjugated(widened(other[i])), widened(v[(ulong)j * n + i]));
    }
    const wide sum = sum_of_group(sums, count, own);
    if (get_local_id(0) == 0) {
        dots[group] = narrowed(sum);
    }
}

#if STRIPS

// Products of the trailing matrix, from row `base` on, with column j of V. A strip is a work-item that takes every strips-th four columns.
// It reads them once, multiplies by them and by their adjoint, and leaves a whole column of sums. The groups after the strips multiply v by
// columns of W and V.

#define VECTOR JOIN(REAL, 8)

#if IS_COMPLEX
#define SWAPPED(x) (x).s10325476
#define SIGNS ((VECTOR)(-1, 1, -1, 1, -1, 1, -1, 1))
#define ADD_COLUMN(sum, at, x) sum += (at) * (x).s0 + SWAPPED(at) * (SIGNS * (x).s1)
#define ADD_ROW(sums, cross, at, x) sums += (at) * (x); cross += (at) * SWAPPED(x)
static inline element folded(VECTOR x, VECTOR cross) {
    return (element)(((x.s0 + x.s1) + (x.s2 + x.s3)) + ((x.s4 + x.s5) + (x.s6 + x.s7)),
                     ((cross.s0 - cross.s1) + (cross.s2 - cross.s3)) + ((cross.s4 - cross.s5) + (cross.s6 - cross.s7)));
}
#else
#define ADD_COLUMN(sum, at, x) sum += (at) * (x)
#define ADD_ROW(sums, cross, at, x) sums += (at) * (x)
static inline element folded(VECTOR x, VECTOR cross) {
    return ((x.s0 + x.s1) + (x.s2 + x.s3)) + ((x.s4 + x.s5) + (x.s6 + x.s7));
}
#endif

// One element below the diagonal.
static inline void add_element(element at, ulong i, ulong c, __global const element *x, __global element *y) {
    y[i] += multiply(at, x[c]);
    y[c] += multiply(conjugate_if(1, at), x[i]);
}

__kernel __attribute__((reqd_work_group_size(1, 1, 1))) void multiply_strips(uint n, uint base, uint j, uint strips,
                                                                             __global const element *a, __global const element *v,
                                                                             __global const element *w, __global element *parts,
                                                                             __global element *dots) {
    __local wide sums[1];
    const uint strip = get_group_id(0);
    if (strip >= strips) {
        multiply_column(n, base, j, strip - strips, 1, sums, v, w, dots);
        return;
    }
    __global const element *x = v + (ulong)j * n;
    __global element *y = parts + (ulong)strip * n;
    for (ulong i = base; i < n; i++) {
        y[i] = (element)0;
    }
    for (ulong first = base + 4 * (ulong)strip; first < n; first += 4 * (ulong)strips) {
        const ulong end = min(first + 4, (ulong)n);
        for (ulong c = first; c < end; c++) {
            y[c] += multiply(real_part(a[c + c * n]), x[c]);
            for (ulong i = c + 1; i < end; i++) {
                add_element(a[i + c * n], i, c, x, y);
            }
        }
        if (end == n) {
            break;
        }
        __global const real *columns = (__global const real *)(a + first * n);
        const ulong step = (ulong)REALS * n;
        const element x0 = x[first], x1 = x[first + 1], x2 = x[first + 2], x3 = x[first + 3];
        VECTOR s0 = (VECTOR)0, s1 = (VECTOR)0, s2 = (VECTOR)0, s3 = (VECTOR)0;
        VECTOR t0 = (VECTOR)0, t1 = (VECTOR)0, t2 = (VECTOR)0, t3 = (VECTOR)0;
        ulong r = REALS * end;
        for (; r + 8 <= step; r += 8) {
            const VECTOR here = vload8(0, (__global const real *)x + r);
            const VECTOR a0 = vload8(0, columns + r), a1 = vload8(0, columns + step + r);
            const VECTOR a2 = vload8(0, columns + 2 * step + r), a3 = vload8(0, columns + 3 * step + r);
            VECTOR sum = vload8(0, (__global real *)y + r);
            ADD_COLUMN(sum, a0, x0);
            ADD_COLUMN(sum, a1, x1);
            ADD_COLUMN(sum, a2, x2);
            ADD_COLUMN(sum, a3, x3);
            vstore8(sum, 0, (__global real *)y + r);
            ADD_ROW(s0, t0, a0, here);
            ADD_ROW(s1, t1, a1, here);
            ADD_ROW(s2, t2, a2, here);
            ADD_ROW(s3, t3, a3, here);
        }
        y[first] += folded(s0, t0);
        y[first + 1] += folded(s1, t1);
        y[first + 2] += folded(s2, t2);
        y[first + 3] += folded(s3, t3);
        for (ulong i = r / REALS; i < n; i++) {
            for (ulong c = first; c < end; c++) {
                add_element(a[i + c * n], i, c, x, y);
            }
        }
    }
}

#else

// Products of tiles of the trailing matrix, from row `base` on, with column j of V. A group has a tile of the lower triangle. It reads the
// tile once, and multiplies by it and by its adjoint. Row i gets one number of each tile in its row of tiles. The groups after the `tiles`
// multiply v by columns of W and V.
__kernel __attribute__((reqd_work_group_size(TILE, 1, 1))) void multiply_tiles(uint n, uint base, uint j, uint tiles,
                                                                               __global const element *a, __global const element *v,
                                                                               __global const element *w, __global element *parts,
                                                                               __global element *dots) {
    __local wide sums[TILE];
    __local element tile[TILE * (TILE + 1)];
    __local element down[TILE];
    __local element across[TILE];
    const uint item = get_local_id(0);
    const uint group = get_group_id(0);
    if (group >= tiles) {
        multiply_column(n, base, j, group - tiles, TILE, sums, v, w, dots);
        return;
    }
    // Groups count tiles row by row: row I of tiles has I + 1 of them.
    uint row = (uint)((sqrt(8.0f * (float)group + 1.0f) - 1.0f) / 2.0f);
    while ((ulong)row * (row + 1) / 2 > group) {
        row--;
    }
    while ((ulong)(row + 1) * (row + 2) / 2 <= group) {
        row++;
    }
    const uint column = group - row * (row + 1) / 2;
    const ulong first_row = base + (ulong)row * TILE;
    const ulong first_column = base + (ulong)column * TILE;
    const ulong i = first_row + item;
    const ulong c = first_column + item;
    const bool diagonal = row == column;
    for (uint other = 0; other < TILE; other++) {
        element x = (element)0;
        if (i < n && first_column + other < n && (!diagonal || item >= other)) {
            x = a[i + (first_column + other) * n];
        }
        tile[item * (TILE + 1) + other] = diagonal && item == other ? real_part(x) : x;
    }
    down[item] = i < n ? v[(ulong)j * n + i] : (element)0;
    across[item] = c < n ? v[(ulong)j * n + c] : (element)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    element of_row = (element)0;
    element of_column = (element)0;
    for (uint other = 0; other < TILE; other++) {
        of_row += multiply(tile[item * (TILE + 1) + other], across[other]);
        if (!diagonal || other > item) {
            of_column += multiply(conjugate_if(1, tile[other * (TILE + 1) + item]), down[other]);
        }
    }
    if (i < n) {
        parts[(ulong)column * n + i] = diagonal ? of_row + of_column : of_row;
    }
    if (!diagonal && c < n) {
        parts[(ulong)row * n + c] = of_column;
    }
}

#endif

// Column j of W without its part along v: tau (A v - V Wᴴ v - W Vᴴ v). Leaves sums for the product wᴴ v.
GROUP_KERNEL combine(uint n, uint k, uint j, uint slots, __global const element *parts, __global const element *v,
                     __global const element *w, __global element *fresh, __global const element *dots, __global const element *tau,
                     __global double *products) {
    __local wide sums[GROUP];
    const ulong i = k + 1 + (ulong)get_global_id(0);
    wide own = wide_of(0.0, 0.0);
    if (i < n) {
        element x = (element)0;
        for (uint slot = 0; slot < slots; slot++) {
            x += parts[(ulong)slot * n + i];
        }
        for (uint l = 0; l < j; l++) {
            x -= multiply(v[(ulong)l * n + i], dots[l]) + multiply(w[(ulong)l * n + i], dots[j + l]);
        }
        x = multiply(tau[k], x);
        fresh[i] = x;
        own = times(conjugated(widened(x)), widened(v[(ulong)j * n + i]));
    }
    const wide sum = sum_of_group(sums, GROUP, own);
    if (get_local_id(0) == 0) {
        products[2 * get_group_id(0)] = first_part(sum);
        products[2 * get_group_id(0) + 1] = second_part(sum);
    }
}

// Elements of real numbers.
GROUP_KERNEL to_elements(ulong count, __global const double *numbers, __global element *elements) {
    const ulong k = get_global_id(0);
    if (k < count) {
        elements[k] = of_real((real)numbers[k]);
    }
}
