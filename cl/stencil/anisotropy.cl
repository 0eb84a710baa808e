// The weight of hops in space; those in time have the weight 1. It multiplies the sum of the hops before those in time are added.
//
// ANISOTROPIC    0 or 1

#if ANISOTROPIC
#define SPACE_PARAMETERS , const real spatial_weight
#define WEIGHT_SPACE                                                                      \
    {                                                                                     \
        FOR_COLUMNS(r) {                                                                  \
            _Pragma("unroll")                                                             \
            for (int c = 0; c < SPINOR_COMPONENTS; ++c)                                   \
                sum[r].s[c] = scale_number(sum[r].s[c], (vreal)spatial_weight);           \
        }                                                                                 \
    }
#else
#define SPACE_PARAMETERS
#define WEIGHT_SPACE
#endif
