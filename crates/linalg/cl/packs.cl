// Contiguous elements, real or complex, in packs: what the kernels of vectors, and of matrices with vectors, have in common.
//
// A vector is worked off in packs of LANES REALs, one vreal each, (re, im) side by side: 8 or 16 on processors;
// elsewhere as many as one load can take, if all operands are ALIGNED to that, or else one element.
//
// An operand is two parameters: the buffer, and the number of the first element. They do not overlap unless all
// are read only.

#define PACK (LANES / REALS)

#define IN(x) __global const element *restrict x, ulong x##_offset
#define OUT(x) __global element *restrict x, ulong x##_offset

#define pack vreal

#if LANES == 1
#define dpack double
#define to_double(x) ((double)(x))
#define load_whole(p, i) ((p)[i])
#define store_whole(v, p, i) ((p)[i] = (v))
#else
#define dpack JOIN(double, LANES)
#define to_double JOIN(convert_double, LANES)
#if ALIGNED
#define load_whole(p, i) (*(__global const pack *)((p) + (i) * PACK))
#define store_whole(v, p, i) (*(__global pack *)((p) + (i) * PACK) = (v))
#elif PACK == 1
// One element is one pack: the pointer's own type says how it is aligned.
#define load_whole(p, i) ((p)[i])
#define store_whole(v, p, i) ((p)[i] = (v))
#else
#define load_whole(p, i) JOIN(vload, LANES)(i, (__global const real *)(p))
#define store_whole(v, p, i) JOIN(vstore, LANES)(v, i, (__global real *)(p))
#endif
#endif

// The first n elements of pack i; the rest is zero, which adds nothing to a sum.
static inline pack load_part(__global const element *p, size_t i, uint n) {
    real parts[LANES];
    for (uint j = 0; j < LANES; j++) {
        parts[j] = j < n * REALS ? ((__global const real *)(p + i * PACK))[j] : (real)0;
    }
#if LANES == 1
    return parts[0];
#else
    return JOIN(vload, LANES)(0, parts);
#endif
}

static inline void store_part(pack v, __global element *p, size_t i, uint n) {
    real parts[LANES];
#if LANES == 1
    parts[0] = v;
#else
    JOIN(vstore, LANES)(v, 0, parts);
#endif
    for (uint j = 0; j < n * REALS; j++) {
        ((__global real *)(p + i * PACK))[j] = parts[j];
    }
}

// The packs of this work-item. On processors a work-group has one stretch; elsewhere all groups go on together, each item from one pack to
// the next by the size of the range, so that what is read at a time lies together.
#if LOCAL_SIZE == 1
#define PACKS_OF_ITEM(packs)                                                                                    \
    const size_t stretch = (packs + get_num_groups(0) - 1) / get_num_groups(0);                                 \
    const size_t end = min((get_group_id(0) + 1) * stretch, packs);                                             \
    for (size_t i = get_group_id(0) * stretch; i < end; i++)
#else
#define PACKS_OF_ITEM(packs) UNROLL_4 for (size_t i = get_global_id(0); i < packs; i += get_global_size(0))
#endif

// Runs `body` for every pack of this work-item: `i` is the pack's number, `n` the elements in it. In the loop n is
// a constant, so the choice between whole and part is made by the compiler. (No commas in `body` outside
// parentheses: OpenCL C has no variadic macros.)
#define FOR_EACH_PACK(body)                                                                                     \
    {                                                                                                           \
        const size_t packs = count / PACK;                                                                      \
        PACKS_OF_ITEM(packs) {                                                                                  \
            const uint n = PACK;                                                                                \
            body                                                                                                \
        }                                                                                                       \
        if (PACK > 1 && get_global_id(0) == get_global_size(0) - 1 && packs * PACK < count) {                   \
            const size_t i = packs;                                                                             \
            const uint n = (uint)(count - packs * PACK);                                                        \
            body                                                                                                \
        }                                                                                                       \
    }

// The same in two steps, for sums: `load` sets xs[k], and ys[k] if it has two operands, from pack i, and `add` takes what they hold. Where many
// work-items share the work, each loads for SUM_AHEAD rounds before it adds. Beyond the end the first of these packs is loaded again, and zeros are added.
#define FOR_EACH_PACK_IN_STEPS(load, add) FOR_EACH_PACK(const uint k = 0; pack xs[1]; pack ys[1]; load add)
#if LOCAL_SIZE == 1
#define FOR_EACH_PACK_AHEAD FOR_EACH_PACK_IN_STEPS
#else
#define SUM_AHEAD 4
#define FOR_EACH_PACK_AHEAD(load, add)                                                                          \
    {                                                                                                           \
        const size_t packs = count / PACK;                                                                      \
        const size_t step = get_global_size(0);                                                                 \
        for (size_t begin = get_global_id(0); begin < packs; begin += SUM_AHEAD * step) {                       \
            pack xs[SUM_AHEAD];                                                                                 \
            pack ys[SUM_AHEAD];                                                                                 \
            _Pragma("unroll") for (uint k = 0; k < SUM_AHEAD; k++) {                                            \
                const size_t i = begin + k * step < packs ? begin + k * step : begin;                           \
                const uint n = PACK;                                                                            \
                load                                                                                            \
            }                                                                                                   \
            _Pragma("unroll") for (uint k = 0; k < SUM_AHEAD; k++) {                                            \
                if (begin + k * step >= packs) {                                                                \
                    xs[k] = (pack)0;                                                                            \
                    ys[k] = (pack)0;                                                                            \
                }                                                                                               \
                add                                                                                             \
            }                                                                                                   \
        }                                                                                                       \
        if (PACK > 1 && get_global_id(0) == get_global_size(0) - 1 && packs * PACK < count) {                   \
            const size_t i = packs;                                                                             \
            const uint n = (uint)(count - packs * PACK);                                                        \
            const uint k = 0;                                                                                   \
            pack xs[1];                                                                                         \
            pack ys[1];                                                                                         \
            load add                                                                                            \
        }                                                                                                       \
    }
#endif

#define LOAD(x) (n == PACK ? load_whole(x + x##_offset, i) : load_part(x + x##_offset, i, n))

#define STORE(v, x)                                                                                             \
    if (n == PACK) {                                                                                            \
        store_whole(v, x + x##_offset, i);                                                                      \
    } else {                                                                                                    \
        store_part(v, x + x##_offset, i, n);                                                                    \
    }

#if IS_COMPLEX

// (re, im) becomes (im, re), in every element of a pack.
#if LANES == 2
#define swap_parts(x) ((x).s10)
#define signs ((pack)(-1, 1))
#elif LANES == 4
#define swap_parts(x) ((x).s1032)
#define signs ((pack)(-1, 1, -1, 1))
#elif LANES == 8
#define swap_parts(x) ((x).s10325476)
#define signs ((pack)(-1, 1, -1, 1, -1, 1, -1, 1))
#else
#define swap_parts(x) ((x).s1032547698badcfe)
#define signs ((pack)(-1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1, -1, 1))
#endif

// a x, for every element of a pack: a.re (re, im) + a.im (-im, re).
static inline pack times(element a, pack x) { return a.s0 * x + (a.s1 * signs) * swap_parts(x); }

// The same with a factor of the call, see elements.cl.
static inline pack scaled_pack(element factor, pack x) {
    return is_real(factor) ? factor.s0 * x : times(factor, x);
}

#else

static inline pack times(element a, pack x) { return a * x; }
#define scaled_pack times

#endif

#if LANES == 1

static inline double fold_all(dpack x) { return x; }

#else

// Adds a pack's even places and its odd ones; for complex elements, the real parts and the imaginary parts.
static inline double2 fold(dpack x) {
#if LANES == 2
    return x;
#elif LANES == 4
    return x.lo + x.hi;
#elif LANES == 8
    const double4 half_sum = x.lo + x.hi;
    return half_sum.lo + half_sum.hi;
#else
    const double8 half_sum = x.lo + x.hi;
    const double4 quarter_sum = half_sum.lo + half_sum.hi;
    return quarter_sum.lo + quarter_sum.hi;
#endif
}

// The two places are added by `dot`: the shuffle that x + y may become makes Oclgrind crash.
static inline double fold_all(dpack x) { return dot(fold(x), (double2)(1.0, 1.0)); }

#endif

// The sum of x y or conj(x) y, kept per lane until the end: for complex elements `straight` collects re re and
// im im, `crossed` re im and im re.
#if IS_COMPLEX
#define DOT_SUMS                                                                                                \
    dpack straight = 0.0;                                                                                       \
    dpack crossed = 0.0
#define DOT_ADD(x, y)                                                                                           \
    straight += to_double(x) * to_double(y);                                                                    \
    crossed += to_double(x) * to_double(swap_parts(y))
static inline double2 dot_fold(dpack straight, dpack crossed, uint conjugate) {
    const double sign = conjugate ? 1.0 : -1.0;
    return (double2)(dot(fold(straight), (double2)(1.0, sign)), dot(fold(crossed), (double2)(1.0, -sign)));
}
#define DOT_RESULT(conjugate) dot_fold(straight, crossed, conjugate)
#else
#define DOT_SUMS dpack straight = 0.0
#define DOT_ADD(x, y) straight += to_double(x) * to_double(y)
#define DOT_RESULT(conjugate) ((double2)(fold_all(straight), 0.0))
#endif
