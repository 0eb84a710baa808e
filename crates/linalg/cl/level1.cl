// Vector operations on contiguous elements, real or complex: y = f(x, y), and sums over them.
//
// Besides the common definitions the host gives LOCAL_SIZE, the work-group size. The elements that fill no whole pack are the last group's.
// Sums are in double, in the order that reduction.cl fixes.

#define KERNEL __kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void

// y = x
KERNEL copy(IN(x), OUT(y), ulong count) { FOR_EACH_PACK(STORE(LOAD(x), y)) }

// x, y = y, x
KERNEL swap(OUT(x), OUT(y), ulong count) {
    FOR_EACH_PACK(const pack old = LOAD(x); STORE(LOAD(y), x) STORE(old, y))
}

// x = a x
KERNEL scal(element alpha, OUT(x), ulong count) { FOR_EACH_PACK(STORE(scaled_pack(alpha, LOAD(x)), x)) }

// y = a x, whatever y was
KERNEL scaled_copy(element alpha, IN(x), OUT(y), ulong count) { FOR_EACH_PACK(STORE(scaled_pack(alpha, LOAD(x)), y)) }

// y = y + a x
KERNEL axpy(element alpha, IN(x), OUT(y), ulong count) {
    FOR_EACH_PACK(STORE(LOAD(y) + scaled_pack(alpha, LOAD(x)), y))
}

// y = x + b y
KERNEL xpby(IN(x), element beta, OUT(y), ulong count) {
    FOR_EACH_PACK(STORE(LOAD(x) + scaled_pack(beta, LOAD(y)), y))
}

// y = a x + b y
KERNEL axpby(element alpha, IN(x), element beta, OUT(y), ulong count) {
    FOR_EACH_PACK(STORE(scaled_pack(alpha, LOAD(x)) + scaled_pack(beta, LOAD(y)), y))
}

// With two operands loads ahead are worth it for elements of 8 bytes: on an H200 inner products of
// these take 1 to 8 % less time, others 2 to 4 % more.
#if REAL_BITS * REALS == 64
#define FOR_EACH_PAIR FOR_EACH_PACK_AHEAD
#else
#define FOR_EACH_PAIR FOR_EACH_PACK_IN_STEPS
#endif

// sum x y, or conj(x) y (`dot` is a function of OpenCL C)
KERNEL inner_product(uint conjugate, IN(x), IN(y), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    DOT_SUMS;
    FOR_EACH_PAIR(xs[k] = LOAD(x); ys[k] = LOAD(y);, DOT_ADD(xs[k], ys[k]);)
    const double2 sum = DOT_RESULT(conjugate);
    REDUCE(2, sum.x, sum.y, 0.0);
}

// sum |x|^2
KERNEL norm2(IN(x), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    dpack squares = 0.0;
    FOR_EACH_PACK_AHEAD(xs[k] = LOAD(x);, const dpack a = to_double(xs[k]); squares += a * a;)
    REDUCE(1, fold_all(squares), 0.0, 0.0);
}

#if REAL_BITS == 64

// Limits and scales of Blue's method, see host::SafeSquares: 2^486, 2^-538, 2^-511 and 2^537.
#define LARGE 0x1.0p+486
#define LARGE_SCALE 0x1.0p-538
#define SMALL 0x1.0p-511
#define SMALL_SCALE 0x1.0p+537

#if LANES == 1
#define ALL(condition) (condition)
#else
#define ALL(condition) all(condition)
#endif

// sum |x|^2 in three parts, of numbers that are large, medium or small, which neither overflow nor underflow.
KERNEL safe_squares(IN(x), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    const dpack zero = 0.0;
    dpack large = 0.0;
    dpack medium = 0.0;
    dpack small = 0.0;
    FOR_EACH_PACK_AHEAD(xs[k] = LOAD(x);, const dpack size = fabs(xs[k]);
        if (ALL(size >= SMALL && size <= LARGE)) {
            medium += size * size;
        } else {
            const dpack by_large = size * LARGE_SCALE;
            const dpack by_small = size * SMALL_SCALE;
            large += size > LARGE ? by_large * by_large : zero;
            small += size < SMALL ? by_small * by_small : zero;
            medium += size > LARGE || size < SMALL ? zero : size * size;
        })
    REDUCE(3, fold_all(large), fold_all(medium), fold_all(small));
}

#endif

// sum |re x| + |im x|
KERNEL asum(IN(x), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    dpack sizes = 0.0;
    FOR_EACH_PACK_AHEAD(xs[k] = LOAD(x);, sizes += fabs(to_double(xs[k]));)
    REDUCE(1, fold_all(sizes), 0.0, 0.0);
}

// The first of the elements with the largest |re x| + |im x|: its size, and its number counted from 1. NaNs are passed over.
KERNEL iamax(IN(x), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    double largest = -1.0;
    ulong place = 0;
    FOR_EACH_PACK(for (uint j = 0; j < n; j++) {
        __global const real *parts = (__global const real *)(x + x_offset + i * PACK + j);
        double size = fabs((double)parts[0]);
        for (uint r = 1; r < REALS; r++) {
            size += fabs((double)parts[r]);
        }
        if (size > largest) {
            largest = size;
            place = i * PACK + j + 1;
        }
    })
    REDUCE_LARGEST(largest, place);
}

// sum conj(x) y and sum |x|^2
KERNEL dot_norm2(IN(x), IN(y), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    DOT_SUMS;
    dpack squares = 0.0;
    FOR_EACH_PACK(const pack a = LOAD(x); const pack b = LOAD(y); DOT_ADD(a, b);
                  squares += to_double(a) * to_double(a);)
    const double2 sum = DOT_RESULT(1);
    REDUCE(3, sum.x, sum.y, fold_all(squares));
}

// y = y + a x; sum |y|^2
KERNEL axpy_norm2(element alpha, IN(x), OUT(y), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    dpack squares = 0.0;
    FOR_EACH_PACK(const pack b = LOAD(y) + scaled_pack(alpha, LOAD(x)); STORE(b, y)
                  squares += to_double(b) * to_double(b);)
    REDUCE(1, fold_all(squares), 0.0, 0.0);
}

// x = x + a p; r = r - a Ap; sum |r|^2
KERNEL cr_step(element alpha, IN(p), OUT(x), IN(ap), OUT(r), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    dpack squares = 0.0;
    FOR_EACH_PACK(const pack solution = LOAD(x) + scaled_pack(alpha, LOAD(p)); STORE(solution, x)
                  const pack residual = LOAD(r) - scaled_pack(alpha, LOAD(ap)); STORE(residual, r)
                  squares += to_double(residual) * to_double(residual);)
    REDUCE(1, fold_all(squares), 0.0, 0.0);
}

// p = r + b p; Ap = Ar + b Ap; sum conj(r) Ap and sum |Ap|^2
KERNEL cr_direction(element beta, IN(r), OUT(p), IN(ar), OUT(ap), ulong count, REDUCTION_PARAMETERS) {
    REDUCTION_LOCAL;
    DOT_SUMS;
    dpack squares = 0.0;
    FOR_EACH_PACK(const pack residual = LOAD(r); const pack direction = residual + scaled_pack(beta, LOAD(p)); STORE(direction, p)
                  const pack image = LOAD(ar) + scaled_pack(beta, LOAD(ap)); STORE(image, ap)
                  DOT_ADD(residual, image);
                  squares += to_double(image) * to_double(image);)
    const double2 sum = DOT_RESULT(1);
    REDUCE(3, sum.x, sum.y, fold_all(squares));
}
