// Streams through memory with next to no arithmetic: what a device can read and write at best.
//
// LOCAL_SIZE is the work-group size. Arrays are worked off in vectors of LANES numbers, `count` of them. Work-groups of one item,
// on processors, have one stretch of the vectors each. Elsewhere groups take blocks of AHEAD vectors an item in turns, so that
// all together read what lies together, and none is left with more than a block when the others are done.
// An operand is two parameters, the buffer and the number of its first element, a multiple of LANES. Operands do not overlap.

#define IN(x) __global const vreal *restrict x, ulong x##_offset
#define OUT(x) __global vreal *restrict x, ulong x##_offset
#define AT(x, i) x[x##_offset / LANES + (i)]

// Runs `body` for every vector `i` of this work-item. (No commas in `body` outside parentheses.)
#if LOCAL_SIZE == 1
#define FOR_EACH_VECTOR(body)                                                                                   \
    const size_t stretch = (count + get_num_groups(0) - 1) / get_num_groups(0);                                 \
    const size_t end = min((get_group_id(0) + 1) * stretch, (size_t)count);                                     \
    for (size_t i = get_group_id(0) * stretch; i < end; i++) {                                                  \
        body                                                                                                    \
    }
#define FOR_EACH_VECTOR_AHEAD(body) FOR_EACH_VECTOR(body)
#else
#define FOR_EACH_VECTOR(body)                                                                                   \
    for (size_t i = get_global_id(0); i < count; i += get_global_size(0)) {                                     \
        body                                                                                                    \
    }
// The same with AHEAD loads of an operand under way at a time.
#define FOR_EACH_VECTOR_AHEAD(body)                                                                             \
    const size_t block = AHEAD * LOCAL_SIZE;                                                                    \
    for (size_t begin = get_group_id(0) * block; begin < count; begin += get_num_groups(0) * block) {           \
        if (begin + block <= count) {                                                                           \
            _Pragma("unroll") for (uint k = 0; k < AHEAD; k++) {                                                \
                const size_t i = begin + k * LOCAL_SIZE + get_local_id(0);                                      \
                body                                                                                            \
            }                                                                                                   \
        } else {                                                                                                \
            for (size_t i = begin + get_local_id(0); i < count; i += LOCAL_SIZE) {                              \
                body                                                                                            \
            }                                                                                                   \
        }                                                                                                       \
    }
#endif

#define STREAM __kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void

static inline real sum_of_lanes(vreal v) {
#if LANES == 1
    return v;
#else
    real parts[LANES];
    JOIN(vstore, LANES)(v, 0, parts);
    real sum = parts[0];
    for (uint lane = 1; lane < LANES; lane++) {
        sum += parts[lane];
    }
    return sum;
#endif
}

// The sum of b: nothing shorter than using the numbers keeps a compiler from leaving out the loads.
STREAM stream_read(IN(b), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    vreal sum = (vreal)(0);
    FOR_EACH_VECTOR_AHEAD(sum += AT(b, i);)
    const double mine = sum_of_lanes(sum);
    REDUCE(1, mine, 0.0, 0.0);
}

STREAM stream_write(OUT(a), real s, ulong count) {
    FOR_EACH_VECTOR(AT(a, i) = (vreal)(s);)
}

STREAM stream_copy(OUT(a), IN(b), ulong count) {
    FOR_EACH_VECTOR(AT(a, i) = AT(b, i);)
}

STREAM stream_scale(OUT(a), IN(b), real s, ulong count) {
    FOR_EACH_VECTOR(AT(a, i) = s * AT(b, i);)
}

STREAM stream_add(OUT(a), IN(b), IN(c), ulong count) {
    FOR_EACH_VECTOR(AT(a, i) = AT(b, i) + AT(c, i);)
}

STREAM stream_triad(OUT(a), IN(b), IN(c), real s, ulong count) {
    FOR_EACH_VECTOR(AT(a, i) = AT(b, i) + s * AT(c, i);)
}

STREAM stream_dot(IN(b), IN(c), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    vreal sum = (vreal)(0);
    FOR_EACH_VECTOR_AHEAD(sum += AT(b, i) * AT(c, i);)
    const double mine = sum_of_lanes(sum);
    REDUCE(1, mine, 0.0, 0.0);
}
