// Functions of a batch of groups at its points. `harmonics` of crates/xc/src/harmonics.rs stands before this text, with SHELL_CASES.
//
// A shell is (kind, first primitive, number of primitives). With d the distance from its centre, R = sum c exp(-a d^2), R1 and R2 are the first two
// derivatives of R by d^2/2: the derivatives of R S are R1 d S + R S', and R2 d d S + R1 (1 S + d S' + S' d) + R S''.
//
//   PLANES    1, 4 or 10

#define EMIT_AT(plane_number, f, v) store_lanes((v), to + plane_number * plane + (ulong)f * points);

#if PLANES == 1
#define EMIT(f, s) EMIT_AT(0, f, r * (s))
#elif PLANES == 4
#define EMIT(f, s, sx, sy, sz)                                                                                      \
    {                                                                                                               \
        const vreal value = (s), r1s = r1 * value;                                                                  \
        EMIT_AT(0, f, r * value)                                                                                    \
        EMIT_AT(1, f, r1s * x + r * (sx))                                                                           \
        EMIT_AT(2, f, r1s * y + r * (sy))                                                                           \
        EMIT_AT(3, f, r1s * z + r * (sz))                                                                           \
    }
#else
#define EMIT(f, s, sx, sy, sz, sxx, sxy, sxz, syy, syz, szz)                                                        \
    {                                                                                                               \
        const vreal value = (s), r1s = r1 * value, r2s = r2 * value, vx = (sx), vy = (sy), vz = (sz);               \
        EMIT_AT(0, f, r * value)                                                                                    \
        EMIT_AT(1, f, r1s * x + r * vx)                                                                             \
        EMIT_AT(2, f, r1s * y + r * vy)                                                                             \
        EMIT_AT(3, f, r1s * z + r * vz)                                                                             \
        EMIT_AT(4, f, r2s * x * x + r1s + r1 * (x * vx + x * vx) + r * (sxx))                                       \
        EMIT_AT(5, f, r2s * x * y + r1 * (x * vy + y * vx) + r * (sxy))                                             \
        EMIT_AT(6, f, r2s * x * z + r1 * (x * vz + z * vx) + r * (sxz))                                             \
        EMIT_AT(7, f, r2s * y * y + r1s + r1 * (y * vy + y * vy) + r * (syy))                                       \
        EMIT_AT(8, f, r2s * y * z + r1 * (y * vz + z * vy) + r * (syz))                                             \
        EMIT_AT(9, f, r2s * z * z + r1s + r1 * (z * vz + z * vz) + r * (szz))                                       \
    }
#endif

// A coordinate from that of a centre. In single both are sums of two numbers, so that the distance has all digits of its own.
static inline vreal distance_along(__global const real *points, const ulong all_points, const ulong at, const uint axis,
                                   __global const real *centre) {
#if REAL_BITS == 32
    const vreal rest = load_lanes(points + (3 + axis) * all_points + at) - centre[3 + axis];
    return (load_lanes(points + axis * all_points + at) - centre[axis]) + rest;
#else
    return load_lanes(points + axis * all_points + at) - centre[axis];
#endif
}

// exp(-power). In single it is 0 below 4e-18, which is nothing beside rounding: products of smaller numbers have no full precision, and processors
// take a hundred times longer for them.
static inline vreal small_exp(const vreal power) {
#if REAL_BITS == 32
    return select(exp(-power), (vreal)0, isgreater(power, (vreal)40));
#else
    return exp(-power);
#endif
}

#if REAL_BITS == 32
#define CENTRE_REALS 6
#else
#define CENTRE_REALS 3
#endif

__kernel EXPLICIT_VECTORS void xc_functions(__global const ulong *groups, const ulong all_points, const ulong plane,
                                            __global const uint2 *group_shells, __global const uint4 *shells,
                                            __global const real *centres, __global const real *primitives,
                                            __global const real *points_of_batch, __global real *chi) {
    GROUP;
    FOR_EACH_VECTOR {
        for (uint s = 0; s < shell_count; s++) {
            const uint2 entry = group_shells[first_shell + s];
            const uint4 shell = shells[entry.x];
            __global const real *centre = centres + CENTRE_REALS * entry.x;
            const vreal x = distance_along(points_of_batch, all_points, first_point + p, 0, centre);
            const vreal y = distance_along(points_of_batch, all_points, first_point + p, 1, centre);
            const vreal z = distance_along(points_of_batch, all_points, first_point + p, 2, centre);
            const vreal d2 = x * x + y * y + z * z;
            vreal r = (vreal)0, r1 = (vreal)0, r2 = (vreal)0;
            for (uint k = shell.y; k < shell.y + shell.z; k++) {
                const real exponent = primitives[2 * k];
                const vreal value = primitives[2 * k + 1] * small_exp(exponent * d2);
                r += value;
#if PLANES > 1
                const vreal slope = -2 * exponent * value;
                r1 += slope;
#if PLANES > 4
                r2 += -2 * exponent * slope;
#endif
#endif
            }
            __global real *to = chi + first_value + (ulong)entry.y * points + p;
            switch (shell.x) {
                SHELL_CASES
            }
        }
    }
}
