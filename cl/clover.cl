// The blocks of a clover term: for each chirality of a site a 6×6 matrix between two spins of three colours.
//
// They are stored as two groups of complex numbers: [chirality][number]. A Hermitian block has 18: its diagonal in pairs, then the
// rows below it. Any other has 36, row by row. In half precision a site has a unit. src/host/clover.rs is the twin.
//
// Blocks are those of the basis in which γ5 is diagonal. From the basis of devices (src/field/spin_basis.rs) to that one and back
// are sums and differences of the spins s and s + 2, over √2 each: stored blocks are halved instead.

#define BLOCK_ROWS 6
#define HERMITIAN 1
#define GENERAL 2
#define BLOCK_NUMBERS(form) ((form) == HERMITIAN ? 18 : 36)

// Stored numbers in one parity of a field of blocks.
#define BLOCKS_HALF_FIELD(form, blocks) ((size_t)(4 * BLOCK_NUMBERS(form) + UNIT_NUMBERS) * (blocks) * LANES)

// y = B x for the packed numbers of a Hermitian block.
static inline void hermitian_times(const vcomplex *b, const vcomplex *x, vcomplex *y)
{
#pragma unroll
    for (int i = 0; i < BLOCK_ROWS; ++i)
        y[i] = scale_number(x[i], i % 2 == 0 ? b[i / 2].re : b[i / 2].im);
#pragma unroll
    for (int i = 1; i < BLOCK_ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < i; ++j) {
            const vcomplex below = b[BLOCK_ROWS / 2 + i * (i - 1) / 2 + j];
            y[i] = multiply_add(y[i], below, x[j]);
            y[j] = multiply_add(y[j], conjugate(below), x[i]);
        }
    }
}

// y = B x, or B† x, for the rows of a block.
static inline void general_times(const vcomplex *b, const int adjoint, const vcomplex *x, vcomplex *y)
{
#pragma unroll
    for (int i = 0; i < BLOCK_ROWS; ++i) {
#pragma unroll
        for (int j = 0; j < BLOCK_ROWS; ++j) {
            const vcomplex element = adjoint ? conjugate(b[BLOCK_ROWS * j + i]) : b[BLOCK_ROWS * i + j];
            y[i] = j == 0 ? multiply(element, x[j]) : multiply_add(y[i], element, x[j]);
        }
    }
}

// The blocks of a site times a spinor.
static inline spinor times_blocks(__global const stored *half_field, const int form, const int adjoint, const uint blocks,
                                  const size_t block, const spinor psi)
{
    spinor product;
#pragma unroll
    for (int chirality = 0; chirality < 2; ++chirality) {
        vcomplex b[36], x[BLOCK_ROWS], y[BLOCK_ROWS];
        if (form == HERMITIAN) {
            LOAD_GROUP(b, half_field, 18, 2, chirality, blocks, block, STREAM_LINKS, 0)
        } else {
            LOAD_GROUP(b, half_field, 36, 2, chirality, blocks, block, STREAM_LINKS, 0)
        }
#pragma unroll
        for (int k = 0; k < BLOCK_ROWS; ++k)
            x[k] = add_signed(psi.s[k], chirality == 0 ? 1 : -1, psi.s[k + BLOCK_ROWS]);
        if (form == HERMITIAN)
            hermitian_times(b, x, y);
        else
            general_times(b, adjoint, x, y);
#pragma unroll
        for (int k = 0; k < BLOCK_ROWS; ++k) {
            if (chirality == 0) {
                product.s[k] = y[k];
                product.s[k + BLOCK_ROWS] = y[k];
            } else {
                product.s[k] = add_signed(product.s[k], 1, y[k]);
                product.s[k + BLOCK_ROWS] = add_signed(product.s[k + BLOCK_ROWS], -1, y[k]);
            }
        }
    }
#if UNIT_NUMBERS
    const vreal unit = ((__global const vreal *)(half_field + (size_t)4 * BLOCK_NUMBERS(form) * blocks * LANES))[block];
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c)
        product.s[c] = scale_number(product.s[c], unit);
#endif
    return product;
}
