// The kernels of transforms: lines in local memory, and the steps of lines that are too long for it. Stands behind the passes and fft_places.cl.

static inline real2_ multiply_parts(const real2_ a, const real2_ b)
{
    return (real2_)(sum_of_two_products(a.x, b.x, a.y, -b.y), sum_of_two_products(a.x, b.y, a.y, b.x));
}

// Element k of the complex line that begins at `a`, or of the pair of real lines that begin at `a` and `b`.
static inline real2_ load_element(__global const real *from, const uint mode, const ulong a, const ulong b, const uint n, const uint k,
                                  const ulong stride, const uint flags)
{
    real2_ z;
    if (mode == COMPLEX_LINES) {
        z = load_pair(from, a + k * stride);
    } else if (mode == REAL_LINES) {
        z = (real2_)(from[a + k * stride], from[b + k * stride]);
    } else {
        // Results of real lines x and y: z = x + i y. The imaginary parts of results 0 and n/2 are 0 whatever is there.
        const uint half_way = k <= n / 2 ? k : n - k;
        real2_ x = load_pair(from, a + half_way * stride), y = load_pair(from, b + half_way * stride);
        if (half_way == 0 || 2 * half_way == n)
            x.y = y.y = (real)0;
        z = k <= n / 2 ? (real2_)(x.x - y.y, x.y + y.x) : (real2_)(x.x + y.y, y.x - x.y);
    }
    return flags & LOAD_SWAPPED ? z.yx : z;
}

// Writes element k of a complex line, or of a pair of real lines. For the results of real lines, `other` is element n - k.
static inline void store_element(__global real *to, const uint mode, const ulong a, const ulong b, real2_ z, const real2_ other,
                                 const uint k, const ulong stride, const real scale, const uint flags)
{
    if (mode == HALF_LINES) {
        const real half_scale = (real)0.5 * scale;
        store_pair(to, a + k * stride, (real2_)(z.x + other.x, z.y - other.y) * half_scale);
        if (b != NOWHERE)
            store_pair(to, b + k * stride, (real2_)(z.y + other.y, other.x - z.x) * half_scale);
        return;
    }
    z = (flags & STORE_SWAPPED ? z.yx : z) * scale;
    if (mode == COMPLEX_LINES) {
        store_pair(to, a + k * stride, z);
    } else {
        to[a + k * stride] = z.x;
        if (b != NOWHERE)
            to[b + k * stride] = z.y;
    }
}

// The element k and the vector v that step i of a loop over `count` elements of all vectors is about: neighbours in memory one after another.
#if LANES > 1
typedef union {
    vreal v;
    real s[LANES];
} lanes_of;
// The numbers of eight complex lines side by side: LANES is 8 or 16.
#define vreals JOIN(REAL, 16)

static inline void load_side_by_side(__global const real *from, vreal *first, vreal *second)
{
#if LANES == 16
    const vreals low = vload16(0, from), high = vload16(1, from);
    *first = (vreal)(low.even, high.even);
    *second = (vreal)(low.odd, high.odd);
#else
    const vreals both = vload16(0, from);
    *first = both.even;
    *second = both.odd;
#endif
}

static inline void store_side_by_side(__global real *to, const vreal first, const vreal second)
{
    vreals both;
#if LANES == 16
    both.even = first.lo;
    both.odd = second.lo;
    vstore16(both, 0, to);
    both.even = first.hi;
    both.odd = second.hi;
    vstore16(both, 1, to);
#else
    both.even = first;
    both.odd = second;
    vstore16(both, 0, to);
#endif
}
#define SPLIT(i, count, stride) const uint k = i, v = 0

#ifdef FIXED
// Takes LANES rows of 16 numbers to 16 columns of LANES, one after another. Each round interleaves the first half of all numbers with the second.
static inline void rows_to_columns(vreals *x)
{
#pragma unroll
    for (uint done = 1; done < LANES; done *= 2) {
        vreals y[LANES];
#pragma unroll
        for (uint t = 0; t < LANES / 2; ++t) {
            y[2 * t].even = x[t].lo;
            y[2 * t].odd = x[t + LANES / 2].lo;
            y[2 * t + 1].even = x[t].hi;
            y[2 * t + 1].odd = x[t + LANES / 2].hi;
        }
#pragma unroll
        for (uint t = 0; t < LANES; ++t)
            x[t] = y[t];
    }
}

// The inverse of rows_to_columns.
static inline void columns_to_rows(vreals *x)
{
#pragma unroll
    for (uint done = 1; done < LANES; done *= 2) {
        vreals y[LANES];
#pragma unroll
        for (uint t = 0; t < LANES / 2; ++t) {
            y[t] = (vreals)(x[2 * t].even, x[2 * t + 1].even);
            y[t + LANES / 2] = (vreals)(x[2 * t].odd, x[2 * t + 1].odd);
        }
#pragma unroll
        for (uint t = 0; t < LANES; ++t)
            x[t] = y[t];
    }
}

// Column c of what rows_to_columns has made.
#if LANES == 16
#define GET_COLUMN(x, c) x[c]
#define PUT_COLUMN(x, c, value) x[c] = value;
#else
#define GET_COLUMN(x, c) ((c) & 1 ? x[(c) / 2].hi : x[(c) / 2].lo)
#define PUT_COLUMN(x, c, value)   \
    {                             \
        if ((c) & 1)              \
            x[(c) / 2].hi = value; \
        else                      \
            x[(c) / 2].lo = value; \
    }
#endif

static inline void load_columns(__global const real *from, __local const ulong *places, const uint reals, const uint k, vreals *x)
{
#pragma unroll
    for (uint t = 0; t < LANES; ++t)
        x[t] = vload16(0, from + reals * (places[t] + k));
    rows_to_columns(x);
}

static inline void store_columns(__global real *to, __local const ulong *places, const uint reals, const uint k, vreals *x)
{
    columns_to_rows(x);
#pragma unroll
    for (uint t = 0; t < LANES; ++t) {
        if (places[t] != NOWHERE)
            vstore16(x[t], 0, to + reals * (places[t] + k));
    }
}
#endif
#elif defined(FIXED)
#define SPLIT(i, count, stride) OF_PASS(i, count, k)
#else
#define SPLIT(i, count, stride)                        \
    const uint k = stride == 1 ? i % (count) : i / VECTORS; \
    const uint v = stride == 1 ? i / (count) : i % VECTORS
#endif

#ifndef FIXED
// All passes over a line of m elements; returns where the result is.
static inline __local vreal *run_passes(ulong radices, const uint m, const uint vectors, const uint plane, __global const real *roots,
                                        __local vreal *from, __local vreal *to)
{
    for (uint l = 1; radices != 0; radices >>= 4) {
        const uint radix = (uint)(radices & 15) + 1;
        PASS_BARRIER;
        pass(radix, l, m, vectors, plane, roots, from, to);
        l *= radix;
        __local vreal *const swapped = from;
        from = to;
        to = swapped;
    }
    GROUP_BARRIER;
    return from;
}
#endif

// Reads of an item that are under way together, in programs of one length.
#define READS 8

// Puts element k of vector v into `half`: turned by the chirp for Bluestein's convolution, in its slot for Rader's.
#define TAKE_ELEMENT(half, k, real_part, imaginary)                             \
    {                                                                           \
        vreal taken_re = real_part, taken_im = imaginary;                       \
        uint slot = k;                                                          \
        if (kind == BLUESTEIN) {                                                \
            const real2_ w = load_pair(chirp, k);                               \
            const vreal turned = taken_re * w.x - taken_im * w.y;               \
            taken_im = taken_re * w.y + taken_im * w.x;                         \
            taken_re = turned;                                                  \
        } else if (kind == RADER) {                                             \
            slot = slots[k];                                                    \
        }                                                                       \
        half[AT(slot)] = taken_re;                                              \
        half[plane + AT(slot)] = taken_im;                                      \
    }

// Result `number` of vector v. What comes out of a convolution has its parts exchanged; result 0 of Rader's is behind the others.
#define TAKE_RESULT(number, re, im)                                             \
    {                                                                           \
        __local const vreal *at = result + AT(number);                          \
        if (kind == RADER)                                                      \
            at = number == 0 ? other + AT(m) : result + AT(slots[n + number]);  \
        const int exchanged = (kind == BLUESTEIN) | (kind == RADER && number != 0); \
        re = exchanged ? at[plane] : at[0];                                     \
        im = exchanged ? at[0] : at[plane];                                     \
        if (kind == BLUESTEIN) {                                                \
            const real2_ w = load_pair(chirp, number);                          \
            const vreal turned = re * w.x - im * w.y;                           \
            im = re * w.y + im * w.x;                                           \
            re = turned;                                                        \
        }                                                                       \
    }

// Callbacks (crates/linalg/src/fft/callback.rs) are given numbers on their way.
#ifdef CALLBACK_PARAMETERS
#define HAS_CALLBACK
#else
#define CALLBACK_PARAMETERS
#define CALLBACK_BEGIN
#endif
#ifdef LOADED
#define SEE_LOADED(line, k, re, im) \
    if ((line) < lines)             \
        LOADED(line, k, re, im)
#else
#define SEE_LOADED(line, k, re, im)
#endif
// With a product the kernel transforms, multiplies, and transforms back.
#ifdef MULTIPLY
#define MULTIPLIED 1
#else
#define MULTIPLIED 0
#endif

// Result k of vector v, and for the results of real lines also result n - k.
#define RESULTS(k)                                                                          \
    vreal re[2], im[2];                                                                     \
    for (uint which = 0; which < (written_mode == HALF_LINES ? 2u : 1u); ++which) {         \
        const uint number = which == 0 || (k) == 0 ? (k) : n - (k);                         \
        TAKE_RESULT(number, re[which], im[which])                                           \
        if (MULTIPLIED) {                                                                   \
            const vreal imaginary = re[which];                                              \
            re[which] = im[which];                                                          \
            im[which] = imaginary;                                                          \
        }                                                                                   \
    }                                                                                       \
    if (written_mode != HALF_LINES) {                                                       \
        re[1] = re[0];                                                                      \
        im[1] = im[0];                                                                      \
    }

// Transforms lines. Of `lines` lines or pairs a work-group takes VECTORS * LANES; `singles` is the number of lines that pairs are made of.
//
// sizes: n, m, the kind, the number of vectors. modes: how lines are read and written, the flags, and reals per element of the two buffers'
// offsets: those of `from` in the lower 16 bits. In place, `from` is not looked at. `turns` turns result k of a line by
// exp(-2 pi i k column/(n columns)) if `columns` is not 0, with the column as the fastest dimension of the geometry. present: the first elements
// of a line, which alone are read, the others being 0, and those which alone are written.
__kernel void fft_lines(__global const real *from, const ulong from_offset, __global real *to, const ulong to_offset,
                        __global const ulong *geometry, __global const real *roots, __global const real *chirp,
                        __global const real *response, __global const uint *slots, __global const real *turns, const ulong radices,
                        const ulong lines, const ulong singles, const ulong from_stride, const ulong to_stride, const uint columns,
                        const uint4 sizes, const uint4 modes, const uint2 present, const real scale, __local vreal *work,
                        __local ulong *places CALLBACK_PARAMETERS)
{
    const uint n = FIXED_OR(FIXED_LENGTH, sizes.x), m = FIXED_OR(FIXED_CONVOLUTION, sizes.y), kind = FIXED_OR(FIXED_KIND, sizes.z);
    const uint vectors = FIXED_OR(FIXED_VECTORS, sizes.w), turned_columns = FIXED_OR(FIXED_COLUMNS, columns);
    const uint read_mode = FIXED_OR(FIXED_READ_MODE, modes.x), written_mode = FIXED_OR(FIXED_WRITTEN_MODE, modes.y), flags = modes.z;
    const ulong read_step = FIXED_OR(FIXED_READ_STEP, from_stride), written_step = FIXED_OR(FIXED_WRITTEN_STEP, to_stride);
    const uint given = FIXED_OR(FIXED_GIVEN, present.x), kept = FIXED_OR(FIXED_KEPT, present.y);
    CALLBACK_BEGIN
    const uint together = VECTORS * LANES;
    const uint plane = FIXED_OR(FIXED_PLANE, max(n, m) * VECTORS);
    const uint item = get_local_id(0);
    const ulong first = (ulong)get_group_id(0) * together;
    __global real *const target = to + to_offset * (modes.w >> 16);
    __global const real *const source = flags & IN_PLACE ? target : from + from_offset * (modes.w & 0xFFFF);

    // Places to read from, and to write to, of lines or of the first and second lines of pairs. Behind the last line the first one is read, and
    // nothing is written.
    for (uint i = item; i < together; i += LOCAL_SIZE) {
        const int exists = first + i < lines;
        const ulong line = exists ? first + i : first;
        const int paired = (read_mode != COMPLEX_LINES) | (written_mode != COMPLEX_LINES);
        const ulong one = paired ? 2 * line : line;
        const ulong two = paired && one + 1 < singles ? one + 1 : one;
        const ulong2 at_one = places_of(geometry, (line_number)one);
        const ulong2 at_two = paired ? places_of(geometry, (line_number)two) : at_one;
        places[i] = at_one.x;
        places[together + i] = at_two.x;
        places[2 * together + i] = exists ? at_one.y : NOWHERE;
        places[3 * together + i] = exists && two != one ? at_two.y : NOWHERE;
    }
    GROUP_BARRIER;

    __local vreal *const a = work, *const b = work + 2 * plane;
#if LANES > 1
    // Complex lines side by side are read and written as whole vectors.
    int side_by_side = read_mode == COMPLEX_LINES, written_side_by_side = written_mode == COMPLEX_LINES;
    for (uint t = 1; t < LANES; ++t) {
        side_by_side = side_by_side && places[t] == places[0] + t;
        written_side_by_side = written_side_by_side && places[2 * LANES + t] == places[2 * LANES] + t;
    }
#endif
#if defined(FIXED) && LANES == 1
    // Several reads of an item are under way before the first of them is waited for.
    const uint elements = given * VECTORS, rounds = (elements + LOCAL_SIZE - 1) / LOCAL_SIZE;
    for (uint begin = 0; begin < rounds; begin += READS) {
        real2_ held[READS];
#pragma unroll
        for (uint read = 0; read < READS; ++read) {
            const uint i = item + (begin + read) * LOCAL_SIZE;
            if (i < elements) {
                SPLIT(i, given, read_step);
                held[read] = load_element(source, read_mode, places[v], places[together + v], n, k, read_step, flags);
            }
        }
#pragma unroll
        for (uint read = 0; read < READS; ++read) {
            const uint i = item + (begin + read) * LOCAL_SIZE;
            if (i < elements) {
                SPLIT(i, given, read_step);
                SEE_LOADED(first + v, k, held[read].x, held[read].y)
                TAKE_ELEMENT(a, k, held[read].x, held[read].y)
            }
        }
    }
#else
    uint begin = 0, end = given * VECTORS;
#if defined(FIXED) && !defined(LOADED)
    // Neighbours on a line are loaded as vectors.
    if (read_step == 1 && read_mode == COMPLEX_LINES) {
        for (; begin + 8 <= given; begin += 8) {
            vreals x[LANES];
            load_columns(source, places, 2, begin, x);
#pragma unroll
            for (uint j = 0; j < 8; ++j) {
                const vreal re = GET_COLUMN(x, 2 * j), im = GET_COLUMN(x, 2 * j + 1);
                TAKE_ELEMENT(a, begin + j, flags & LOAD_SWAPPED ? im : re, flags & LOAD_SWAPPED ? re : im)
            }
        }
    } else if (read_step == 1 && read_mode == REAL_LINES) {
        for (; begin + 16 <= given; begin += 16) {
            vreals x[LANES], y[LANES];
            load_columns(source, places, 1, begin, x);
            load_columns(source, places + LANES, 1, begin, y);
#pragma unroll
            for (uint j = 0; j < 16; ++j) {
                const vreal re = GET_COLUMN(x, j), im = GET_COLUMN(y, j);
                TAKE_ELEMENT(a, begin + j, flags & LOAD_SWAPPED ? im : re, flags & LOAD_SWAPPED ? re : im)
            }
        }
    } else if (read_step == 1) {
        for (; begin + 8 <= n / 2 + 1; begin += 8) {
            vreals x[LANES], y[LANES];
            load_columns(source, places, 2, begin, x);
            load_columns(source, places + LANES, 2, begin, y);
#pragma unroll
            for (uint j = 0; j < 8; ++j) {
                const uint near = begin + j;
                const int is_own = near == 0 || 2 * near == n;
                const vreal x_re = GET_COLUMN(x, 2 * j), y_re = GET_COLUMN(y, 2 * j);
                const vreal x_im = is_own ? (vreal)0 : GET_COLUMN(x, 2 * j + 1), y_im = is_own ? (vreal)0 : GET_COLUMN(y, 2 * j + 1);
                const vreal re = x_re - y_im, im = x_im + y_re;
                TAKE_ELEMENT(a, near, flags & LOAD_SWAPPED ? im : re, flags & LOAD_SWAPPED ? re : im)
                if (!is_own) {
                    const vreal far_re = x_re + y_im, far_im = y_re - x_im;
                    TAKE_ELEMENT(a, n - near, flags & LOAD_SWAPPED ? far_im : far_re, flags & LOAD_SWAPPED ? far_re : far_im)
                }
            }
        }
        end = begin == 0 ? end : n - begin + 1;
    }
#endif
    for (uint i = begin + item; i < end; i += LOCAL_SIZE) {
        SPLIT(i, given, read_step);
        vreal re, im;
#if LANES > 1
        if (side_by_side) {
            __global const real *const here = source + 2 * (places[0] + k * read_step);
            if (flags & LOAD_SWAPPED)
                load_side_by_side(here, &im, &re);
            else
                load_side_by_side(here, &re, &im);
        } else {
            lanes_of x, y;
            for (uint t = 0; t < LANES; ++t) {
                const real2_ z =
                    load_element(source, read_mode, places[t], places[LANES + t], n, k, read_step, flags);
                SEE_LOADED(first + t, k, z.x, z.y)
                x.s[t] = z.x;
                y.s[t] = z.y;
            }
            re = x.v;
            im = y.v;
        }
#else
        const real2_ z = load_element(source, read_mode, places[v], places[together + v], n, k, read_step, flags);
        SEE_LOADED(first + v, k, z.x, z.y)
        re = z.x;
        im = z.y;
#endif
        TAKE_ELEMENT(a, k, re, im)
    }
#endif
    for (uint i = item; i < (n - given) * VECTORS; i += LOCAL_SIZE) {
        // Compilers warn of divisions by a constant 0, even where nothing is divided.
        OF_PASS(i, max(n - given, 1u), behind);
        TAKE_ELEMENT(a, given + behind, (vreal)0, (vreal)0)
    }

    __local vreal *start = a, *other = b, *result;
    for (uint round = 0;; ++round) {
        if (kind == BLUESTEIN) {
            for (uint i = item; i < (m - n) * VECTORS; i += LOCAL_SIZE) {
                OF_PASS(i, m - n, behind);
                start[AT(n + behind)] = (vreal)0;
                start[plane + AT(n + behind)] = (vreal)0;
            }
        }
        result = run_passes(radices, m, vectors, plane, roots, start, other);
        if (kind != DIRECT) {
            for (uint i = item; i < m * VECTORS; i += LOCAL_SIZE) {
                OF_PASS(i, m, k);
                const real2_ factor = load_pair(response, k);
                const vreal re = result[AT(k)], im = result[plane + AT(k)];
                vreal product_re = re * factor.x - im * factor.y, product_im = re * factor.y + im * factor.x;
                if (kind == RADER && k == 0) {
                    // Element 0 is behind the others that the passes began with. It is added to all results, and the sum of all elements, kept
                    // behind those of the other half, is result 0.
                    const uint behind = AT(m);
                    const vreal x = start[behind], y = start[plane + behind];
                    other[behind] = x + re;
                    other[plane + behind] = y + im;
                    product_re += x;
                    product_im += y;
                }
                result[AT(k)] = product_im;
                result[plane + AT(k)] = product_re;
            }
            result = run_passes(radices, m, vectors, plane, roots, result, result == a ? b : a);
        }
#if MULTIPLIED
        if (round == 1)
            break;
        // The parts are exchanged on the way, which makes an inverse of the second transform.
        __local vreal *const next = result == a ? b : a;
        for (uint i = item; i < n * VECTORS; i += LOCAL_SIZE) {
            OF_PASS(i, n, k);
            vreal re, im;
            TAKE_RESULT(k, re, im)
#if LANES > 1
            lanes_of x, y;
            x.v = re;
            y.v = im;
            for (uint t = 0; t < LANES; ++t) {
                if (first + t < lines)
                    MULTIPLY(first + t, k, x.s[t], y.s[t]);
            }
            re = x.v;
            im = y.v;
#else
            if (first + v < lines)
                MULTIPLY(first + v, k, re, im);
#endif
            TAKE_ELEMENT(next, k, im, re)
        }
        other = result;
        start = next;
#else
        break;
#endif
    }

    const uint results = written_mode == HALF_LINES ? n / 2 + 1 : kept;
    uint stored = 0;
#if defined(FIXED) && LANES > 1
    if (written_step == 1 && turned_columns == 0 && written_mode == REAL_LINES) {
        for (; stored + 16 <= results; stored += 16) {
            vreals x[LANES], y[LANES];
#pragma unroll
            for (uint j = 0; j < 16; ++j) {
                RESULTS(stored + j)
                PUT_COLUMN(x, j, (flags & STORE_SWAPPED ? im[0] : re[0]) * scale)
                PUT_COLUMN(y, j, (flags & STORE_SWAPPED ? re[0] : im[0]) * scale)
            }
            store_columns(target, places + 2 * LANES, 1, stored, x);
            store_columns(target, places + 3 * LANES, 1, stored, y);
        }
    } else if (written_step == 1 && turned_columns == 0) {
        for (; stored + 8 <= results; stored += 8) {
            vreals x[LANES], y[LANES];
#pragma unroll
            for (uint j = 0; j < 8; ++j) {
                RESULTS(stored + j)
                if (written_mode == HALF_LINES) {
                    const real half_scale = (real)0.5 * scale;
                    PUT_COLUMN(x, 2 * j, (re[0] + re[1]) * half_scale)
                    PUT_COLUMN(x, 2 * j + 1, (im[0] - im[1]) * half_scale)
                    PUT_COLUMN(y, 2 * j, (im[0] + im[1]) * half_scale)
                    PUT_COLUMN(y, 2 * j + 1, (re[1] - re[0]) * half_scale)
                } else {
                    PUT_COLUMN(x, 2 * j, (flags & STORE_SWAPPED ? im[0] : re[0]) * scale)
                    PUT_COLUMN(x, 2 * j + 1, (flags & STORE_SWAPPED ? re[0] : im[0]) * scale)
                }
            }
            store_columns(target, places + 2 * LANES, 2, stored, x);
            if (written_mode == HALF_LINES)
                store_columns(target, places + 3 * LANES, 2, stored, y);
        }
    }
#endif
    for (uint i = stored + item; i < results * VECTORS; i += LOCAL_SIZE) {
        SPLIT(i, results, written_step);
        RESULTS(k)
#if LANES > 1
        if (written_side_by_side && turned_columns == 0) {
            const vreal first = flags & STORE_SWAPPED ? im[0] : re[0], second = flags & STORE_SWAPPED ? re[0] : im[0];
            store_side_by_side(target + 2 * (places[2 * LANES] + k * written_step), first * scale, second * scale);
            continue;
        }
        lanes_of x[2], y[2];
        for (uint which = 0; which < 2; ++which) {
            x[which].v = re[which];
            y[which].v = im[which];
        }
#define OF_LANE(part, which) part[which].s[t]
#else
        const real *const x = re, *const y = im;
#define OF_LANE(part, which) part[which]
#endif
        for (uint t = 0; t < LANES; ++t) {
            const uint line = v * LANES + t;
            const ulong place = places[2 * together + line];
            if (place == NOWHERE)
                continue;
            real2_ z = (real2_)(OF_LANE(x, 0), OF_LANE(y, 0));
            if (turned_columns != 0)
                z = multiply_parts(z, load_pair(turns, k * ((first + line) % max(turned_columns, 1u))));
            store_element(target, written_mode, place, places[3 * together + line], z, (real2_)(OF_LANE(x, 1), OF_LANE(y, 1)), k, written_step,
                          scale, flags);
        }
    }
#ifdef HAS_CALLBACK
    GROUP_BARRIER;
    // Local memory of floats is not always aligned for doubles.
    CALLBACK_END((__local double *)(((uintptr_t)work + 7) & ~(uintptr_t)7))
#endif
}

#ifndef FIXED
// Elements that a work-item takes: neighbours beside each other on a GPU, one after another on a processor.
#if LOCAL_SIZE > 1
#define FOR_MINE(i, total) for (ulong i = get_global_id(0); i < (total); i += get_global_size(0))
#else
#define FOR_MINE(i, total)                                                                    \
    for (ulong i = (total) * get_global_id(0) / get_global_size(0),                           \
               behind = (total) * (get_global_id(0) + 1) / get_global_size(0); i < behind; ++i)
#endif

// Writes lines, turned by the chirp and zeros behind them, one after another: element k of a line or pair to line * m + k.
__kernel void fft_gather(__global const real *from, const ulong from_offset, __global real *work, __global const ulong *geometry,
                         __global const real *chirp, const ulong lines, const ulong singles, const ulong from_stride, const uint4 sizes,
                         const uint4 modes, const uint2 present)
{
    const uint n = sizes.x, m = sizes.y;
    __global const real *const source = from + from_offset * (modes.w & 0xFFFF);
    FOR_MINE(i, lines * m) {
        const ulong line = i / m;
        const uint k = (uint)(i % m);
        real2_ z = (real2_)(0, 0);
        if (k < present.x) {
            const int paired = modes.x != COMPLEX_LINES || modes.y != COMPLEX_LINES;
            const ulong one = paired ? 2 * line : line, two = paired && one + 1 < singles ? one + 1 : one;
            z = load_element(source, modes.x, places_of(geometry, one).x, places_of(geometry, two).x, n, k, from_stride, modes.z);
            if (sizes.z == BLUESTEIN)
                z = multiply_parts(z, load_pair(chirp, k));
        }
        work[2 * i] = z.x;
        work[2 * i + 1] = z.y;
    }
}

// Multiplies lines of m elements by the response, and exchanges their parts.
__kernel void fft_product(__global real *work, __global const real *response, const ulong lines, const uint m)
{
    FOR_MINE(i, lines * m) {
        const real2_ z = multiply_parts(load_pair(work, i), load_pair(response, i % m));
        work[2 * i] = z.y;
        work[2 * i + 1] = z.x;
    }
}

// Writes the results of lines that fft_gather has read.
__kernel void fft_scatter(__global const real *work, __global real *to, const ulong to_offset, __global const ulong *geometry,
                          __global const real *chirp, const ulong lines, const ulong singles, const ulong to_stride, const uint4 sizes,
                          const uint4 modes, const uint2 present, const real scale)
{
    const uint n = sizes.x, m = sizes.y;
    const uint results = modes.y == HALF_LINES ? n / 2 + 1 : present.y;
    __global real *const target = to + to_offset * (modes.w >> 16);
    FOR_MINE(i, lines * results) {
        const ulong line = i / results;
        const uint k = (uint)(i % results);
        const int paired = modes.x != COMPLEX_LINES || modes.y != COMPLEX_LINES;
        const ulong one = paired ? 2 * line : line;
        const ulong a = places_of(geometry, one).y;
        const ulong b = paired && one + 1 < singles ? places_of(geometry, one + 1).y : NOWHERE;
        real2_ z[2];
        for (uint which = 0; which < 2; ++which) {
            const uint number = which == 0 || k == 0 ? k : n - k;
            z[which] = load_pair(work, line * m + number);
            if (sizes.z == BLUESTEIN)
                z[which] = multiply_parts(z[which].yx, load_pair(chirp, number));
        }
        store_element(target, modes.y, a, b, z[0], z[1], k, to_stride, scale, modes.z);
    }
}
#endif
