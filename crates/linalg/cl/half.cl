// Numbers of 16 bits, as floats and back. Each is stored as a ushort.
//
// BFLOAT: 1 for bfloat16, 0 for IEEE binary16. vload_half and vstore_half are part of OpenCL 1.2 without extensions.

static inline float half_at(int bfloat, __global const ushort *x) {
    return bfloat ? as_float((uint)*x << 16) : vload_half(0, (__global const half *)x);
}

// Rounds to the nearest number, ties to even. A NaN stays one.
static inline void store_half(int bfloat, __global ushort *to, float x) {
    if (bfloat) {
        const uint bits = as_uint(x);
        *to = (ushort)(isnan(x) ? (bits >> 16) | 0x40u : (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
    } else {
        vstore_half_rte(x, 0, (__global half *)to);
    }
}

// RESULT: 0 if C is of floats, 1 of binary16, 2 of bfloat16.
#ifdef RESULT
#if RESULT == 0
#define result float
#else
#define result ushort
#endif

// c = alpha sum + beta c; with beta = 0, c is not read.
static inline void update_result(__global result *c, float alpha, float sum, float beta) {
#if RESULT == 0
    *c = beta == 0.0f ? alpha * sum : fma(beta, *c, alpha * sum);
#else
    store_half(RESULT - 1, c, beta == 0.0f ? alpha * sum : fma(beta, half_at(RESULT - 1, c), alpha * sum));
#endif
}
#endif
