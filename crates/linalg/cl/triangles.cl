// Matrices of which one triangle is stored, or written. All matrices are column-major; the host turns the triangle of a
// row-major one round.

#define TRIANGLE_EDGE(lower, i, j) ((lower) ? (i) >= (j) : (i) <= (j))

// All of a symmetric or Hermitian matrix, of which one triangle is read; the imaginary parts of a Hermitian one's
// diagonal are taken to be zero.
__kernel void mirror(ulong n, __global const element *a, ulong a_offset, ulong a_leading, uint lower, uint hermitian,
                     __global element *full) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    if (i >= n || j >= n) {
        return;
    }
    __global const element *from = a + a_offset;
    const element x = TRIANGLE_EDGE(lower, i, j) ? from[i + j * a_leading]
                                                 : conjugate_if(hermitian, from[j + i * a_leading]);
    full[i + j * n] = hermitian && i == j ? real_part(x) : x;
}

// C = alpha P + beta C on one triangle of the blocks of `edge` rows and columns along the diagonal, from row `first` on. `products` has
// those blocks one after another; dimension 2 counts them. With alpha = 0 they are not read.
__kernel void update_diagonal(ulong edge, ulong first, __global const element *products, element alpha, element beta,
                              __global element *c, ulong c_offset, ulong c_leading, uint lower, uint hermitian) {
    const ulong i = get_global_id(0);
    const ulong j = get_global_id(1);
    const ulong block = get_global_id(2);
    if (i >= edge || j >= edge || !TRIANGLE_EDGE(lower, i, j)) {
        return;
    }
    const ulong corner = first + block * edge;
    __global element *place = c + c_offset + corner + i + (corner + j) * c_leading;
    const bool real_only = hermitian && i == j;
    if (real_only && !is_zero(beta)) {
        // The imaginary part does not count, not even where it is no number.
        *place = real_part(*place);
    }
    if (is_zero(alpha)) {
        scale_element(place, beta);
    } else {
        update(place, alpha, products[(block * edge + j) * edge + i], beta);
    }
    if (real_only) {
        *place = real_part(*place);
    }
}
