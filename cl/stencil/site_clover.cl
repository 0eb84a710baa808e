// A clover term. With its matrix A of the site, stored as blocks (clover.cl):
//
// HOP_BLOCKS     0 for B = coefficient; HERMITIAN or GENERAL for B = coefficient times the blocks of `hop_blocks`
// FIELD_BLOCKS   0 for A = shift + i twist γ5; otherwise the layout of `field_blocks`, which count `field_factor`
// FIELD_NUMBERS  1 if shift + i twist γ5 is part of A, 0 if A is field_factor times the blocks alone
// ADDS_FIELD     1 if there is a field ψ, 0 for A = 0
// HOP_ADJOINT FIELD_ADJOINT    1 for the adjoint of blocks
// needs: site_field.cl clover.cl

#if HOP_BLOCKS
#define HOP_PARAMETERS , __global const stored *restrict hop_blocks
#define SITE_AFTER_HOP(value)                                                                                  \
    value = times_blocks(hop_blocks + parity * BLOCKS_HALF_FIELD(HOP_BLOCKS, blocks), HOP_BLOCKS, HOP_ADJOINT, \
                         blocks, block, value);
#else
#define HOP_PARAMETERS
#define SITE_AFTER_HOP(value)
#endif

#if ADDS_FIELD && FIELD_NUMBERS
#define NUMBER_OF_FIELD , const real shift, const real twist
#define ADD_NUMBERS(value, psi)                                                                                \
    _Pragma("unroll") for (int c = 0; c < SPINOR_COMPONENTS; ++c) {                                            \
        value.s[c] = add_scaled(value.s[c], (vreal)shift, psi.s[c]);                                           \
        value.s[c] =                                                                                           \
            add_scaled_i(value.s[c], (vreal)twist, psi.s[(c + SPINOR_COMPONENTS / 2) % SPINOR_COMPONENTS]);    \
    }
#else
#define NUMBER_OF_FIELD
#define ADD_NUMBERS(value, psi)
#endif

#if ADDS_FIELD && FIELD_BLOCKS
#define BLOCKS_OF_FIELD , const real field_factor, __global const stored *restrict field_blocks
#define ADD_BLOCKS(value, psi)                                                                                 \
    {                                                                                                          \
        const spinor product = times_blocks(field_blocks + parity * BLOCKS_HALF_FIELD(FIELD_BLOCKS, blocks),    \
                                            FIELD_BLOCKS, FIELD_ADJOINT, blocks, block, psi);                  \
        _Pragma("unroll") for (int c = 0; c < SPINOR_COMPONENTS; ++c)                                          \
            value.s[c] = add_scaled(value.s[c], (vreal)field_factor, product.s[c]);                            \
    }
#else
#define BLOCKS_OF_FIELD
#define ADD_BLOCKS(value, psi)
#endif

#if ADDS_FIELD
#define SITE_PARAMETERS HOP_PARAMETERS NUMBER_OF_FIELD BLOCKS_OF_FIELD SITE_FIELD
#define SITE_ADD(value, at)                                                                                    \
    {                                                                                                          \
        const spinor psi = load_spinor(shifted + at, blocks, block);                                           \
        ADD_NUMBERS(value, psi)                                                                                \
        ADD_BLOCKS(value, psi)                                                                                 \
    }
#else
#define SITE_PARAMETERS HOP_PARAMETERS
#define SITE_ADD(value, at)
#endif
