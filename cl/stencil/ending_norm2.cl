// The result is stored, and (out, out) is summed up. For one right-hand side.

#define ENDING_PARAMETERS , REDUCTION_PARAMETERS
#define ENDING_SHARED 0
#define ENDING_BEGIN                                                                                           \
    REDUCTION_LOCAL;                                                                                           \
    vdouble norm2 = (vdouble)0;
#define ENDING_PLACE(share)
#define ENDING_PREFETCH
#define ENDING_TAKE(value, at)                                                                                 \
    store_spinor(out + at, blocks, block, value);                                                              \
    norm2 = add_norm2(norm2, value);
#define ENDING_FINISH REDUCE(1, sum_of_lanes(norm2), 0.0, 0.0);
