// Numbers of densities, of sums over groups, and of the factors of a functional.
//
//   WIDE_BITS    64: double. 32: float, and sums have a second float for what rounding left, for devices without double. All first parts come
//                before all second ones in memory, `apart` from each other.

#if WIDE_BITS == 64
#define wide double
#else
#define wide float
#endif

#if LANES == 1
#define vwide wide
#else
#define vwide JOIN(wide, LANES)
#endif

#if WIDE_BITS == REAL_BITS
#define to_vwide(v) (v)
#define to_vreal(v) (v)
#else
#define to_vwide(v) JOIN(convert_, vwide)(v)
#define to_vreal(v) JOIN(convert_, vreal)(v)
#endif

#if WIDE_BITS == 64

#define vsum vwide

static inline void clear_sum(vsum *sum) { *sum = (vwide)0; }
static inline void load_sum(vsum *sum, __global const wide *from, const ulong apart) { *sum = load_lanes(from); }
static inline void store_sum(const vsum *sum, const wide scale, __global wide *to, const ulong apart) {
    store_lanes(scale * *sum, to);
}
static inline void add(vsum *sum, const vwide x) { *sum = *sum + x; }
static inline void add_product(vsum *sum, const vwide x, const vwide y) { *sum = *sum + x * y; }
static inline void add_sum(vsum *sum, const wide scale, const vsum *other) { *sum = *sum + scale * *other; }

#else

// What rounding leaves is computed from rounded numbers; a fused operation would have others.
#pragma OPENCL FP_CONTRACT OFF

typedef struct {
    vwide high, low;
} vsum;

static inline void clear_sum(vsum *sum) {
    sum->high = (vwide)0;
    sum->low = (vwide)0;
}
static inline void load_sum(vsum *sum, __global const wide *from, const ulong apart) {
    sum->high = load_lanes(from);
    sum->low = load_lanes(from + apart);
}
// `scale` is a power of two.
static inline void store_sum(const vsum *sum, const wide scale, __global wide *to, const ulong apart) {
    const vwide total = sum->high + sum->low;
    store_lanes(scale * total, to);
    store_lanes(scale * (sum->low - (total - sum->high)), to + apart);
}
static inline void add(vsum *sum, const vwide x) {
    const vwide total = sum->high + x, part = total - sum->high;
    sum->low += (sum->high - (total - part)) + (x - part);
    sum->high = total;
}
static inline void add_product(vsum *sum, const vwide x, const vwide y) {
    const vwide product = x * y;
    sum->low += fma(x, y, -product);
    add(sum, product);
}
static inline void add_sum(vsum *sum, const wide scale, const vsum *other) {
    add(sum, scale * other->high);
    sum->low += scale * other->low;
}

#endif
