// The result is stored, and (against, out) and (out, out) are summed up. `against` is a field like `out`.
// For one right-hand side.

#define ENDING_PARAMETERS , __global const stored *restrict against, REDUCTION_PARAMETERS
#define ENDING_SHARED 0
#define ENDING_BEGIN                                                                                           \
    REDUCTION_LOCAL;                                                                                           \
    vdouble norm2 = (vdouble)0;                                                                                \
    vdouble product_re = (vdouble)0, product_im = (vdouble)0;
#define ENDING_PLACE(share)
// On the full lattice it is `in` most often, which is in the cache already.
#define ENDING_PREFETCH                                                                                        \
    if (PREFETCH_SPINORS && !FULL)                                                                             \
        prefetch_components(against + here, block + PREFETCH, 0, SPINOR_COMPONENTS);
#define ENDING_TAKE(value, at)                                                                                 \
    store_spinor(out + at, blocks, block, value);                                                              \
    add_product(&product_re, &product_im, load_spinor(against + here, blocks, block), value);                  \
    norm2 = add_norm2(norm2, value);
#define ENDING_FINISH REDUCE(3, sum_of_lanes(product_re), sum_of_lanes(product_im), sum_of_lanes(norm2));
