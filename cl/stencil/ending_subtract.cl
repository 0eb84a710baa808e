// The result times `a` is subtracted from `out`, and (out, out) is summed up. For one right-hand side.

#define ENDING_PARAMETERS , NUMBER_MEMORY, NUMBER_PARAMETERS(a), REDUCTION_PARAMETERS
#define ENDING_SHARED 0
#define ENDING_BEGIN                                                                                           \
    REDUCTION_LOCAL;                                                                                           \
    vdouble norm2 = (vdouble)0;                                                                                \
    const vcomplex minus_a = splat(-NUMBER(a));
#define ENDING_PLACE(share)
#define ENDING_PREFETCH                                                                                        \
    if (PREFETCH_SPINORS)                                                                                      \
        prefetch_components(out + here, block + PREFETCH, 0, SPINOR_COMPONENTS);
#define ENDING_TAKE(value, at)                                                                                 \
    {                                                                                                          \
        const spinor before = load_spinor(out + here, blocks, block);                                          \
        _Pragma("unroll") for (int c = 0; c < SPINOR_COMPONENTS; ++c)                                          \
            value.s[c] = multiply_add(before.s[c], minus_a, value.s[c]);                                       \
    }                                                                                                          \
    store_spinor(out + at, blocks, block, value);                                                              \
    norm2 = add_norm2(norm2, value);
#define ENDING_FINISH REDUCE(1, sum_of_lanes(norm2), 0.0, 0.0);
