// How fast a device multiplies and adds: long chains that depend on nothing but themselves, CHAINS of them in each
// work-item. LANES is the width of their vectors, MATRIX_UNITS 1 if there are those. One number is stored at the end, so that
// nothing is left out.

__kernel EXPLICIT_VECTORS void fma_chains(uint rounds, real factor, __global real *out) {
    vreal chain[CHAINS];
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        chain[c] = (vreal)(real)(c + (int)get_local_id(0));
    }
    const vreal x = (vreal)factor;
    for (uint round = 0; round < rounds; round++) {
#pragma unroll
        for (int repeat = 0; repeat < 16; repeat++) {
#pragma unroll
            for (int c = 0; c < CHAINS; c++) {
                chain[c] = chain[c] * x + x;
            }
        }
    }
    vreal sum = 0;
#pragma unroll
    for (int c = 0; c < CHAINS; c++) {
        sum += chain[c];
    }
#if LANES == 1
    out[get_global_id(0)] = sum;
#else
    JOIN(vstore, LANES)(sum, get_global_id(0), out);
#endif
}

#if MATRIX_UNITS

// The same on the matrix units of NVIDIA GPUs: m16n8k8, in double or in TF32.
#if REAL_BITS == 64
#define UNIT "f64.f64.f64.f64"
#define OPERAND(x) "d"(x)
#define SUM(x) "+d"(x)
#else
#define UNIT "f32.tf32.tf32.f32"
#define OPERAND(x) "r"(as_uint(x))
#define SUM(x) "+f"(x)
#endif

__kernel void mma_chains(uint rounds, real factor, __global real *out) {
    real sum[8][4];
#pragma unroll
    for (int c = 0; c < 32; c++) {
        sum[c / 4][c % 4] = c;
    }
    const real a = factor + get_local_id(0);
    for (uint round = 0; round < rounds; round++) {
#pragma unroll
        for (int c = 0; c < 8; c++) {
            __asm__ volatile("mma.sync.aligned.m16n8k8.row.col." UNIT
                             " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%5,%5}, {%0,%1,%2,%3};"
                             : SUM(sum[c][0]), SUM(sum[c][1]), SUM(sum[c][2]), SUM(sum[c][3])
                             : OPERAND(a), OPERAND(factor));
        }
    }
    real total = 0;
#pragma unroll
    for (int c = 0; c < 32; c++) {
        total += sum[c / 4][c % 4];
    }
    out[get_global_id(0)] = total;
}

#endif
