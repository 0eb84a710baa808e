// A number per chirality: A is shift + i twist γ5, and B is coefficient (1 + i hop_twist γ5). γ5 exchanges upper and lower spins.
// needs: site_field.cl
//
// ADDS_FIELD     1 if there is a field ψ, 0 for A = 0
// TWISTS_HOP     1 if hop_twist is not zero

// value + i factor γ5 psi
static inline spinor add_i_gamma5(const spinor value, const vreal factor, const spinor psi)
{
    spinor result;
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c)
        result.s[c] = add_scaled_i(value.s[c], factor, psi.s[(c + SPINOR_COMPONENTS / 2) % SPINOR_COMPONENTS]);
    return result;
}

#if TWISTS_HOP
#define SITE_AFTER_HOP(value) value = add_i_gamma5(value, (vreal)hop_twist, value);
#else
#define SITE_AFTER_HOP(value)
#endif

#if ADDS_FIELD
#define SITE_PARAMETERS , const real hop_twist, const real shift, const real twist SITE_FIELD
#define SITE_ADD(value, at)                                                                                    \
    {                                                                                                          \
        const spinor psi = load_spinor(shifted + at, blocks, block);                                           \
        _Pragma("unroll") for (int c = 0; c < SPINOR_COMPONENTS; ++c)                                          \
            value.s[c] = add_scaled(value.s[c], (vreal)shift, psi.s[c]);                                       \
        value = add_i_gamma5(value, (vreal)twist, psi);                                                        \
    }
#else
#define SITE_PARAMETERS , const real hop_twist
#define SITE_ADD(value, at)
#endif
