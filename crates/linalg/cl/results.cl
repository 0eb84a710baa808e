// What the products with sparse matrices share. The host gives LOCAL_SIZE, the work-group size.

#define KERNEL __kernel __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void
#define MATRIX(name) __global const element *restrict name
#define VALUES(name) __global const stored *restrict name
#define INDICES(name) __global const uint *restrict name
#define STARTS(name) __global const ulong *restrict name
#define X __global const element *restrict x
#define Y __global element *restrict y

// The values of a matrix as they lie in memory. With SINGLE_VALUES, elements are double and values are rounded to single precision.
#if SINGLE_VALUES && IS_COMPLEX
#define stored float2
static inline element value_of(const stored x) { return convert_double2(x); }
#elif SINGLE_VALUES
#define stored float
static inline element value_of(const stored x) { return (element)x; }
#else
#define stored element
static inline element value_of(const stored x) { return x; }
#endif

// The number of a result is row · vectors + vector. Numbers of vectors are mostly powers of two, and divisions take long on GPUs.
static inline ulong row_of(const ulong result, const uint vectors) {
    return (vectors & (vectors - 1)) == 0 ? result >> (31 - clz(vectors)) : result / vectors;
}

static inline uint vector_of(const ulong result, const uint vectors) {
    return (vectors & (vectors - 1)) == 0 ? (uint)result & (vectors - 1) : (uint)(result % vectors);
}
