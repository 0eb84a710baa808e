// Reduction of a Hermitian matrix to a real tridiagonal one, column by column in panels.
//
// The host defines GROUP, the work-items of a group, and STRIPS for one of two ways: few work-items that take whole columns, or many that take
// rows. The matrix A has n columns of n elements, and its lower triangle counts. Column k of A is made zero below the element under its diagonal by
// H = 1 - tau v vᴴ with v = (0, …, 0, 1, v_{k+2}, …). Column j of V and W, which have n rows too, belongs to column k of A = V Wᴴ + W Vᴴ + ….
// V and W have WIDTH columns. `v` holds V, W and V once more, for one product of (V W) with the adjoint of (W V).
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

// A reflector, and the element beside the diagonal that it leaves.
typedef struct {
    double beta;
    wide factor;
    wide scale;
} Reflector;

// The reflector of a column that has `alpha` under its diagonal, of the sums of squares below that `groups` groups have left.
static inline Reflector reflector_of(__local wide *sums, uint groups, __global const double *squares, wide alpha) {
    wide own = wide_of(0.0, 0.0);
    for (uint group = get_local_id(0); group < groups; group += GROUP) {
        own += wide_of(squares[group], 0.0);
    }
    const double below = first_part(sum_of_group(sums, GROUP, own));
    const double re = first_part(alpha);
    const double im = second_part(alpha);
    Reflector made;
    made.beta = re;
    made.factor = wide_of(0.0, 0.0);
    made.scale = wide_of(0.0, 0.0);
    // Smaller parts are nothing beside a matrix of norms near 1, and their squares have no digits.
    if (below + im * im > 1e-280) {
        made.beta = -copysign(sqrt(re * re + im * im + below), re);
        made.factor = wide_of((made.beta - re) / made.beta, -im / made.beta);
        const wide difference = alpha - wide_of(made.beta, 0.0);
        made.scale = conjugated(difference) / first_part(times(conjugated(difference), difference));
    }
    return made;
}

// Writes row i of column k of A. Returns its |a_ik|² below the element under the diagonal, else 0.
static inline wide put_element(uint n, uint k, ulong i, element x, __global element *a, __global double *diagonal) {
    if (i == k) {
        x = real_part(x);
        diagonal[k] = first_part(widened(x));
    }
    a[i + (ulong)k * n] = x;
    const wide y = widened(x);
    return wide_of(i < k + 2 ? 0.0 : first_part(times(conjugated(y), y)), 0.0);
}

#if STRIPS

// Completes column j - 1 of W, which lies in `fresh`. Then takes column k of A from its diagonal on and subtracts what the j columns of V
// and W change. Leaves sums of |a_ik|² below the element under the diagonal, one for each group.
GROUP_KERNEL update_column(uint n, uint k, uint j, uint groups, __global element *a, __global element *v,
                           __global const element *fresh, __global const element *tau, __global const double *products,
                           __global double *squares, __global double *diagonal) {
    __global element *w = v + (ulong)WIDTH * n;
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
        own = put_element(n, k, i, x, a, diagonal);
    }
    const wide sum = sum_of_group(sums, GROUP, own);
    if (get_local_id(0) == 0) {
        squares[get_group_id(0)] = first_part(sum);
    }
}

// Completes column j - 1 of W, the last of its panel, from row k on.
GROUP_KERNEL finish_panel(uint n, uint k, uint j, uint groups, __global element *v,
                          __global const element *fresh, __global const element *tau, __global const double *products) {
    __global element *w = v + (ulong)WIDTH * n;
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
    // No group writes the element under the diagonal.
    const Reflector made = reflector_of(sums, groups, squares, widened(a[column + k + 1]));
    if (i < n) {
        const element x = i == k + 1 ? ONE : narrowed(times(made.scale, widened(a[column + i])));
        v[(ulong)j * n + i] = x;
        v[(2 * WIDTH + (ulong)j) * n + i] = x;
        if (i > k + 1) {
            a[column + i] = x;
        }
    }
    if (get_global_id(0) == 0) {
        tau[k] = narrowed(made.factor);
        beside[k] = made.beta;
    }
}

// The product of column j of V with column `group` of W, or of V after the j columns of W, by `count` work-items.
static inline void multiply_column(uint n, uint base, uint j, uint group, uint count, __local wide *sums, __global const element *v,
                                   __global element *dots) {
    __global const element *w = v + (ulong)WIDTH * n;
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
                                                                             __global const element *a, __global const element *v, __global element *parts,
                                                                             __global element *dots) {
    __local wide sums[1];
    const uint strip = get_group_id(0);
    if (strip >= strips) {
        multiply_column(n, base, j, strip - strips, 1, sums, v, dots);
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

// Column j of W without its part along v: tau (A v - V Wᴴ v - W Vᴴ v). Leaves sums for the product wᴴ v.
GROUP_KERNEL combine(uint n, uint k, uint j, uint slots, __global const element *parts, __global const element *v,
                     __global element *fresh, __global const element *dots, __global const element *tau,
                     __global double *products) {
    __global const element *w = v + (ulong)WIDTH * n;
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

#else

// The columns of a panel in stages, between which all work-groups meet, see meeting.cl. Each column k = first + j has three stages. The last
// stage, if there is one after those of all `width` columns, completes W. A group has LANES * SLOTS work-items.
//
// The product reads strips of STRIP columns, from the diagonal down. A unit is a strip's next GROUP rows, a row for each work-item. Strips are
// counted from the last one, t = 0, so that strip t has t / DEPTH + 1 units, and groups take equally many units one after another. A unit leaves a
// sum for each of its rows in `parts`, for each strip. A group leaves a sum for each column of its share of a strip in `column_parts`, where the
// groups that share the strip are counted from the first one.

#define DEPTH (GROUP / STRIP)
#define PANEL_STAGES 3

typedef struct {
    ulong n;
    ulong base;     // first row and column of the trailing matrix
    uint strips;
    uint units;
    uint groups;    // groups that have units
} Trailing;

static inline Trailing trailing_of(uint n, uint base) {
    Trailing x;
    x.n = n;
    x.base = base;
    x.strips = (n - base + STRIP - 1) / STRIP;
    const uint whole = x.strips / DEPTH;
    x.units = DEPTH * (whole * (whole + 1) / 2) + (x.strips % DEPTH) * (whole + 1);
    x.groups = min((uint)get_num_groups(0), x.units);
    return x;
}

// The compiler is to have many loads under way: loops of loads are written out. `REPEAT` does so for 32 numbers, of which STRIP are used.
#define REPEAT4(X, c) X(c + 0) X(c + 1) X(c + 2) X(c + 3)
#define REPEAT8(X, c) REPEAT4(X, c + 0) REPEAT4(X, c + 4)
#define REPEAT(X) REPEAT8(X, 0) REPEAT8(X, 8) REPEAT8(X, 16) REPEAT8(X, 24)

// The units of strips 0 to t - 1.
static inline uint units_before(uint t) {
    const uint whole = t / DEPTH;
    return DEPTH * (whole * (whole + 1) / 2) + (t % DEPTH) * (whole + 1);
}

// The strip of a unit.
static inline uint strip_of(uint unit) {
    uint whole = (uint)((sqrt(1.0f + 8.0f * (float)(unit / DEPTH)) - 1.0f) / 2.0f);
    while (DEPTH * (whole * (whole + 1) / 2) > unit) {
        whole--;
    }
    while (DEPTH * ((whole + 1) * (whole + 2) / 2) <= unit) {
        whole++;
    }
    return DEPTH * whole + (unit - DEPTH * (whole * (whole + 1) / 2)) / (whole + 1);
}

static inline uint first_unit(Trailing x, uint group) { return (uint)((ulong)x.units * group / x.groups); }
static inline uint group_of_unit(Trailing x, uint unit) { return (uint)((((ulong)unit + 1) * x.groups - 1) / x.units); }

// The sum of what the SLOTS work-items of a lane have, for the first of them.
static inline element sum_of_slots(__local element *sums, element own) {
    const uint item = get_local_id(0);
    sums[item] = own;
    barrier(CLK_LOCAL_MEM_FENCE);
    element sum = own;
    if (item < LANES) {
        for (uint slot = 1; slot < SLOTS; slot++) {
            sum += sums[slot * LANES + item];
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return sum;
}

// Completes column j - 1 of W, the last of its panel, from row k on.
static inline void complete_stage(uint n, uint k, uint j, element share, __global element *v, __global element *fresh) {
    __global element *w = v + (ulong)WIDTH * n;
    const ulong last = (ulong)(j - 1) * n;
    for (ulong i = k + get_global_id(0); i < n; i += get_global_size(0)) {
        w[last + i] = fresh[i] + multiply(share, v[last + i]);
    }
}

// Does what `update_column` does.
static inline wide update_stage(uint n, uint k, uint j, element share, __local element *sums, __global element *a, __global element *v,
                                __global element *fresh, __global double *diagonal) {
    __global element *w = v + (ulong)WIDTH * n;
    const uint lane = get_local_id(0) % LANES;
    const uint slot = get_local_id(0) / LANES;
    wide own = wide_of(0.0, 0.0);
    for (ulong begin = k + LANES * (ulong)get_group_id(0); begin < n; begin += LANES * (ulong)get_num_groups(0)) {
        const ulong i = begin + lane;
        element change = (element)0;
        if (i < n) {
            for (uint l = slot; l < j; l += 4 * SLOTS) {
                element of_v[4];
                element of_w[4];
                element v_here[4];
                element w_here[4];
#define LOAD_TERM(c)                                                                                                                              \
    {                                                                                                                                             \
        const uint other = min(l + (c) * SLOTS, j - 1);                                                                                           \
        __global element *from = other + 1 == j ? fresh : w + (ulong)other * n;                                                                   \
        of_v[c] = v[(ulong)other * n + i];                                                                                                        \
        v_here[c] = v[(ulong)other * n + k];                                                                                                      \
        of_w[c] = from[i];                                                                                                                        \
        w_here[c] = from[k];                                                                                                                      \
    }
#define ADD_TERM(c)                                                                                                                               \
    if (l + (c) * SLOTS < j) {                                                                                                                    \
        if (l + (c) * SLOTS + 1 == j) {                                                                                                           \
            of_w[c] += multiply(share, of_v[c]);                                                                                                  \
            w_here[c] += multiply(share, v_here[c]);                                                                                              \
            w[(ulong)(j - 1) * n + i] = of_w[c];                                                                                                  \
        }                                                                                                                                         \
        change += multiply(of_v[c], conjugate_if(1, w_here[c])) + multiply(of_w[c], conjugate_if(1, v_here[c]));                                  \
    }
                REPEAT4(LOAD_TERM, 0)
                REPEAT4(ADD_TERM, 0)
            }
        }
        change = sum_of_slots(sums, change);
        if (slot == 0 && i < n) {
            own += put_element(n, k, i, a[i + (ulong)k * n] - change, a, diagonal);
        }
    }
    return own;
}

// Element i of the vector of a reflector: `column` has the column that it makes zero, and it begins at row `base`.
static inline element reflector_at(__global element *column, ulong base, wide scale, ulong i) {
    return i == base ? ONE : narrowed(times(scale, widened(column[i])));
}

// A group's share of the product of the trailing matrix with the reflector.
static inline void multiply_stage(Trailing x, wide scale, __local element *across, __local element *lanes, __local element *halves,
                                  __global element *a, __global element *column, __global element *parts, __global element *column_parts) {
    const uint item = get_local_id(0);
    const uint group = get_group_id(0);
    const ulong n = x.n;
    uint unit = group < x.groups ? first_unit(x, group) : 0;
    const uint end = group < x.groups ? first_unit(x, group + 1) : 0;
    while (unit < end) {
        const uint t = strip_of(unit);
        const uint strip_begin = units_before(t);
        const uint last = min(end, strip_begin + t / DEPTH + 1);
        const uint strip = x.strips - 1 - t;
        const ulong first = x.base + STRIP * (ulong)strip;
        if (item < STRIP) {
            across[item] = first + item < n ? reflector_at(column, x.base, scale, first + item) : (element)0;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        element sums[32];
#define CLEAR(c) sums[c] = (element)0;
        REPEAT(CLEAR)
        for (; unit < last; unit++) {
            const ulong i = first + GROUP * (ulong)(unit - strip_begin) + item;
            if (i >= n) {
                continue;
            }
            __global element *line = a + first * n + i;
            const element down = reflector_at(column, x.base, scale, i);
            element of_row = (element)0;
            if (i >= first + STRIP) {
                element at[32];
#define LOAD(c) at[c] = (c) < STRIP ? line[(c) < STRIP ? (c) * n : 0] : (element)0;
#define ADD(c)                                                                                                                                    \
    if ((c) < STRIP) {                                                                                                                            \
        of_row += multiply(at[c], across[(c) < STRIP ? (c) : 0]);                                                                                 \
        sums[c] += multiply(conjugate_if(1, at[c]), down);                                                                                        \
    }
                REPEAT8(LOAD, 0) REPEAT8(LOAD, 8)
                REPEAT8(ADD, 0) REPEAT8(ADD, 8)
                REPEAT8(LOAD, 16) REPEAT8(LOAD, 24)
                REPEAT8(ADD, 16) REPEAT8(ADD, 24)
            } else {
#define ADD_BELOW(c)                                                                                                                              \
    if ((c) < STRIP && first + (c) <= i) {                                                                                                        \
        const element here = line[(c) * n];                                                                                                       \
        const bool below = first + (c) < i;                                                                                                       \
        of_row += multiply(below ? here : real_part(here), across[(c) < STRIP ? (c) : 0]);                                                        \
        sums[c] += below ? multiply(conjugate_if(1, here), down) : (element)0;                                                                    \
    }
                REPEAT(ADD_BELOW)
            }
            parts[strip * n + i] = of_row;
        }
        // Sums of the columns over the work-items, BATCH columns at a time.
#define GATHER(c)                                                                                                                                 \
    if ((c) < STRIP) {                                                                                                                            \
        lanes[((c) % BATCH) * (GROUP + 1) + item] = sums[c];                                                                                      \
    }                                                                                                                                             \
    if ((c) < STRIP && (c) % BATCH == BATCH - 1) {                                                                                                \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                                             \
        element sum = (element)0;                                                                                                                 \
        for (uint other = item / BATCH; other < GROUP; other += GROUP / BATCH) {                                                                  \
            sum += lanes[(item % BATCH) * (GROUP + 1) + other];                                                                                   \
        }                                                                                                                                         \
        halves[((c) - (BATCH - 1) + item % BATCH) * (GROUP / BATCH) + item / BATCH] = sum;                                                        \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                                                             \
    }
        REPEAT(GATHER)
        {
            // DEPTH work-items for each column.
            element sum = (element)0;
            for (uint other = item / STRIP; other < GROUP / BATCH; other += DEPTH) {
                sum += halves[(item % STRIP) * (GROUP / BATCH) + other];
            }
            lanes[item] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (item < STRIP && first + item < n) {
            element sum = lanes[item];
            for (uint other = 1; other < DEPTH; other++) {
                sum += lanes[other * STRIP + item];
            }
            column_parts[(group - group_of_unit(x, strip_begin)) * n + first + item] = sum;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
}

// Does what `combine` does, and writes the reflector to column k of A.
static inline wide combine_stage(Trailing x, uint k, uint j, __local element *sums, __global element *a, __global element *v,
                                 __global element *fresh, __global element *parts, __global element *column_parts,
                                 __global element *dots, __global element *tau) {
    const ulong n = x.n;
    __global element *w = v + WIDTH * n;
    const uint lane = get_local_id(0) % LANES;
    const uint slot = get_local_id(0) / LANES;
    wide own = wide_of(0.0, 0.0);
    for (ulong begin = x.base + LANES * (ulong)get_group_id(0); begin < n; begin += LANES * (ulong)get_num_groups(0)) {
        const ulong i = begin + lane;
        element share = (element)0;
        if (i < n) {
            const uint strip = (uint)((i - x.base) / STRIP);
            for (uint s = slot; s <= strip; s += 8 * SLOTS) {
                element part[8];
#define LOAD_PART(c) part[c] = parts[min(s + (c) * SLOTS, strip) * n + i];
#define ADD_PART(c) share += s + (c) * SLOTS <= strip ? part[c] : (element)0;
                REPEAT8(LOAD_PART, 0)
                REPEAT8(ADD_PART, 0)
            }
            const uint t = x.strips - 1 - strip;
            const uint unit = units_before(t);
            const uint groups = group_of_unit(x, unit + t / DEPTH) - group_of_unit(x, unit) + 1;
            for (uint s = slot; s < groups; s += SLOTS) {
                share += column_parts[s * n + i];
            }
            for (uint l = slot; l < j; l += 4 * SLOTS) {
                element of_v[4];
                element of_w[4];
                element v_dot[4];
                element w_dot[4];
#define LOAD_CHANGE(c)                                                                                                                            \
    {                                                                                                                                             \
        const uint other = min(l + (c) * SLOTS, j - 1);                                                                                           \
        of_v[c] = v[other * n + i];                                                                                                               \
        of_w[c] = w[other * n + i];                                                                                                               \
        w_dot[c] = dots[other];                                                                                                                   \
        v_dot[c] = dots[j + other];                                                                                                               \
    }
#define ADD_CHANGE(c)                                                                                                                             \
    if (l + (c) * SLOTS < j) {                                                                                                                    \
        share -= multiply(of_v[c], w_dot[c]) + multiply(of_w[c], v_dot[c]);                                                                       \
    }
                REPEAT4(LOAD_CHANGE, 0)
                REPEAT4(ADD_CHANGE, 0)
            }
        }
        const element sum = multiply(tau[k], sum_of_slots(sums, share));
        if (slot == 0 && i < n) {
            const element at = v[j * n + i];
            fresh[i] = sum;
            own += times(conjugated(widened(sum)), widened(at));
            if (i > x.base) {
                a[i + k * n] = at;
            }
        }
    }
    return own;
}

__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
reduce_panel(uint n, uint first, uint width, uint first_stage, uint last_stage, __global element *a, __global element *v,
             __global element *fresh, __global element *parts, __global element *column_parts, __global element *dots,
             __global double *squares, __global double *products, __global element *tau, __global double *diagonal,
             __global double *beside, __global uint *arrived, ulong arrived_offset) {
    __global element *w = v + (ulong)WIDTH * n;
    __local wide sums[GROUP];
    __local element slots[GROUP];
    __local element across[STRIP];
    __local element lanes[BATCH * (GROUP + 1)];
    __local element halves[STRIP * (GROUP / BATCH)];
    const uint item = get_local_id(0);
    const uint group = get_group_id(0);
    const uint groups = get_num_groups(0);
    for (uint stage = first_stage; stage < last_stage; stage++) {
        const uint j = stage / PANEL_STAGES;
        const uint k = first + j;
        if (stage % PANEL_STAGES == 0) {
            element share = (element)0;
            if (j > 0) {
                share = share_of(sums, groups, products, tau[k - 1]);
            }
            if (j == width) {
                complete_stage(n, k, j, share, v, fresh);
            } else {
                const wide sum =
                    sum_of_group(sums, GROUP, update_stage(n, k, j, share, slots, a, v, fresh, diagonal));
                if (item == 0) {
                    squares[group] = first_part(sum);
                }
            }
        } else if (stage % PANEL_STAGES == 1) {
            __global element *column = a + (ulong)k * n;
            const Reflector made = reflector_of(sums, groups, squares, widened(column[k + 1]));
            if (group == 0 && item == 0) {
                tau[k] = narrowed(made.factor);
                beside[k] = made.beta;
            }
            for (ulong i = k + 1 + (ulong)get_global_id(0); i < n; i += get_global_size(0)) {
                const element x = reflector_at(column, k + 1, made.scale, i);
                v[(ulong)j * n + i] = x;
                v[(2 * WIDTH + (ulong)j) * n + i] = x;
            }
            multiply_stage(trailing_of(n, k + 1), made.scale, across, lanes, halves, a, column, parts, column_parts);
            // The last groups have no units if there are few.
            for (uint dot = groups - 1 - group; dot < 2 * j; dot += groups) {
                __global element *other = (dot < j ? w : v) + (ulong)(dot % j) * n;
                wide own = wide_of(0.0, 0.0);
                for (ulong i = k + 1 + (ulong)item; i < n; i += 8 * GROUP) {
                    element left[8];
                    element right[8];
#define LOAD_PAIR(c)                                                                                                                              \
    left[c] = other[min(i + (c) * GROUP, (ulong)n - 1)];                                                                                          \
    right[c] = reflector_at(column, k + 1, made.scale, min(i + (c) * GROUP, (ulong)n - 1));
#define ADD_PAIR(c) own += i + (c) * GROUP < n ? times(conjugated(widened(left[c])), widened(right[c])) : wide_of(0.0, 0.0);
                    REPEAT8(LOAD_PAIR, 0)
                    REPEAT8(ADD_PAIR, 0)
                }
                const wide sum = sum_of_group(sums, GROUP, own);
                if (item == 0) {
                    dots[dot] = narrowed(sum);
                }
            }
        } else {
            const wide own = combine_stage(trailing_of(n, k + 1), k, j, slots, a, v, fresh, parts, column_parts, dots, tau);
            const wide sum = sum_of_group(sums, GROUP, own);
            if (item == 0) {
                products[2 * group] = first_part(sum);
                products[2 * group + 1] = second_part(sum);
            }
        }
        if (stage + 1 < last_stage) {
            meet(arrived + arrived_offset, (stage + 1 - first_stage) * groups, groups);
        }
    }
}

#endif

// Elements of real numbers.
GROUP_KERNEL to_elements(ulong count, __global const double *numbers, __global element *elements) {
    const ulong k = get_global_id(0);
    if (k < count) {
        elements[k] = of_real((real)numbers[k]);
    }
}
