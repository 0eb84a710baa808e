// A number: A is `shift`, and B is the coefficient.
// needs: site_field.cl

#define SITE_PARAMETERS , const real shift SITE_FIELD
#define SITE_AFTER_HOP(value)
#define SITE_ADD(value, at)                                                                                    \
    {                                                                                                          \
        const spinor psi = load_spinor(shifted + at, blocks, block);                                           \
        _Pragma("unroll") for (int c = 0; c < SPINOR_COMPONENTS; ++c)                                          \
            value.s[c] = add_scaled(value.s[c], (vreal)shift, psi.s[c]);                                       \
    }
