// out = B in on the sites of one parity, without a hop: B is the coefficient times what a site term makes of it (site_….cl).
// Right-hand sides lie one after the other; each is a step in the second dimension of the range.

__kernel EXPLICIT_VECTORS void site_product(__global const stored *restrict in, __global stored *restrict out, const uint blocks,
                                            const real coefficient, const uint parity SITE_PARAMETERS)
{
    const uint block = get_global_id(0);
    if (block < blocks) {
        const size_t here = get_global_id(1) * SPINOR_HALF_FIELD(blocks);
        spinor value = load_spinor(in + here, blocks, block);
#pragma unroll
        for (int c = 0; c < SPINOR_COMPONENTS; ++c)
            value.s[c] = scale_number(value.s[c], (vreal)coefficient);
        SITE_AFTER_HOP(value)
        store_spinor(out + here, blocks, block, value);
    }
}
