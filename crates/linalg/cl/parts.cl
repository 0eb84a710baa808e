// The tile of C that a work-group of the product computes, and how a result comes to C.
//
// TRIANGLE: 0 if all of C is wanted, 1 if its lower triangle is, 2 if its upper one is. C is square then, and elements of the other triangle
// are neither read nor written. HERMITIAN: 1 if the diagonal of such a C is real. Its imaginary parts are not read and become zero.

#if TRIANGLE

// Squares of one or several tiles. Those on and beside the diagonal are numbered row after row of a lower triangle.
#define SQUARE_EDGE (TILE_M > TILE_N ? TILE_M : TILE_N)
#define SQUARE_DOWN (SQUARE_EDGE / TILE_M)
#define SQUARE_ACROSS (SQUARE_EDGE / TILE_N)

// Tiles of the last squares may lie outside of C.
static inline ulong2 tile_of_launch(ulong m, ulong n) {
    const ulong group = get_group_id(0);
    const ulong square = group / (SQUARE_DOWN * SQUARE_ACROSS);
    const ulong within = group % (SQUARE_DOWN * SQUARE_ACROSS);
    ulong outer = (ulong)((sqrt(8.0f * (float)square + 1.0f) - 1.0f) / 2.0f);
    while (outer * (outer + 1) / 2 > square) {
        outer--;
    }
    while ((outer + 1) * (outer + 2) / 2 <= square) {
        outer++;
    }
    const ulong inner = square - outer * (outer + 1) / 2;
    const ulong down = TRIANGLE == 1 ? outer : inner;
    const ulong across = TRIANGLE == 1 ? inner : outer;
    return (ulong2)(down * SQUARE_DOWN + within % SQUARE_DOWN, across * SQUARE_ACROSS + within / SQUARE_DOWN);
}

#define IS_WANTED(i, j) (TRIANGLE == 1 ? (i) >= (j) : (i) <= (j))

#else

static inline ulong2 tile_of_launch(ulong m, ulong n) {
    return tile_of_group(get_group_id(0), (m + TILE_M - 1) / TILE_M, (n + TILE_N - 1) / TILE_N);
}

#define IS_WANTED(i, j) 1

#endif

// Element (i, j) of C = alpha sum + beta C, which is wanted and was `before`; that is not looked at if beta is 0. All elements of a row or column are
// read before the first is written: reads need not wait for each other then.
static inline void store_result(__global element *place, ulong i, ulong j, element alpha, element sum, element beta,
                                element before) {
    const int real_only = TRIANGLE && HERMITIAN && i == j;
    element result = scaled(alpha, sum);
    if (!is_zero(beta)) {
        // The imaginary part does not count, not even where it is no number.
        result += scaled(beta, real_only ? real_part(before) : before);
    }
    *place = real_only ? real_part(result) : result;
}
