// The product in free space, between a transform along the first axis and its inverse (crates/linalg/src/fft/callback.rs).

#define CALLBACK_PARAMETERS , __global const real *factors
#define CALLBACK_BEGIN

#define MULTIPLY(line, k, re, im)                               \
    {                                                           \
        const real factor = factors[(ulong)(k) * lines + line]; \
        re *= factor;                                           \
        im *= factor;                                           \
    }

#define CALLBACK_END(scratch)
