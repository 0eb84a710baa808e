// The small matrices of block Conjugate Gradient, by one work-group. COLUMNS is their size. The kernels are the twins of
// solvers/src/block_recurrence.rs, to the last bit: all products are taken in by fma, so that no compiler has a choice, and quotients and
// roots are rounded correctly. Matrices are row after row.
//
// `numbers` holds C, C before the last iteration, T, T⁻¹ and E; then for each column the norm that residuals refer to and the residual
// that is small enough; then the event, the independent share of a direction that has none, the number of residuals and of overwrites;
// then residuals of all columns for each iteration. `moves` holds D, E, T and F of columns_advance and whether Q is overwritten.

#define ELEMENTS (COLUMNS * COLUMNS)
#define FOR_ELEMENTS(e) for (uint e = get_local_id(0); e < ELEMENTS; e += LOCAL_SIZE)
#define FOR_COLUMNS(j) for (uint j = get_local_id(0); j < COLUMNS; j += LOCAL_SIZE)
#define ROW(e) ((e) / COLUMNS)
#define COLUMN(e) ((e) % COLUMNS)

#if LOCAL_SIZE > 1
#define GLOBAL_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define GLOBAL_BARRIER
#endif

// In `numbers`.
#define C_NOW 0
#define C_BEFORE ELEMENTS
#define T_STORED (2 * ELEMENTS)
#define T_INVERSE (3 * ELEMENTS)
#define STEP (4 * ELEMENTS)
#define PLAIN_NUMBERS(numbers) ((__global double *)((numbers) + 5 * ELEMENTS))
#define SCALE 0
#define TARGET COLUMNS
#define EVENT (2 * COLUMNS)
#define RELATIVE (EVENT + 1)
#define LOGGED (EVENT + 2)
#define OVERWRITES (EVENT + 3)
#define LOG (EVENT + 4)

// In `moves`.
#define MOVE_EARLIER 0
#define MOVE_STEP ELEMENTS
#define MOVE_TURN (2 * ELEMENTS)
#define MOVE_KEEP (3 * ELEMENTS)
#define MOVE_OVERWRITE (4 * ELEMENTS)

// Events; 0 is none.
#define EVENT_DUE 1.0
#define EVENT_ALIKE 2.0
#define EVENT_BREAKDOWN 3.0
#define EVENT_INFINITE_CURVATURE 4.0
#define EVENT_INFINITE_RESIDUAL 5.0

#define ZERO ((double2)(0.0, 0.0))
#define ONE_IF(is_one) ((double2)((is_one) ? 1.0 : 0.0, 0.0))

static inline double2 add_product(const double2 sum, const double2 a, const double2 b)
{
    return (double2)(fma(a.x, b.x, fma(-a.y, b.y, sum.x)), fma(a.x, b.y, fma(a.y, b.x, sum.y)));
}

static inline double2 conjugate(const double2 a)
{
    return (double2)(a.x, -a.y);
}

// A factorisation leaves S with G = S†S, and S⁻¹. For each column it leaves the independent share, and the part of the diagonal element
// that is independent.
#define FACTORS_LOCAL                                                                                           \
    __local double2 s[ELEMENTS], inverse[ELEMENTS];                                                             \
    __local double diagonal[COLUMNS], shares[COLUMNS], rests[COLUMNS];                                          \
    __local uint infinite

// Brings the upper triangle of a Gram matrix from its tiles (gram_sums.rs), and tells whether all is finite.
static inline uint load_gram(__global const double2 *gram, const uint tile, __local double2 *s, __local double2 *inverse,
                             __local double *diagonal, __local uint *infinite)
{
    if (get_local_id(0) == 0)
        *infinite = 0;
    // All have looked at the event before one of them writes it.
    GLOBAL_BARRIER;
    const uint across = (COLUMNS + tile - 1) / tile;
    FOR_ELEMENTS(e) {
        const uint i = ROW(e), j = COLUMN(e), row = i / tile, column = j / tile;
        double2 value = ZERO;
        if (i <= j) {
            const uint first = row * across - row * (row + 1) / 2 + column;
            value = gram[(first * tile + i % tile) * tile + j % tile];
            if (!isfinite(value.x) || !isfinite(value.y))
                atomic_or(infinite, 1u);
            if (i == j)
                diagonal[i] = value.x;
        }
        s[e] = value;
        inverse[e] = ZERO;
    }
    GROUP_BARRIER;
    return *infinite == 0;
}

// Replaces G by S, column after column, and makes S⁻¹ beside it. Twin of SquareMatrix::cholesky and triangular_inverse.
static inline void factorise(__local double2 *s, __local double2 *inverse, __local const double *diagonal, __local double *shares,
                             __local double *rests, const double tolerance)
{
    for (uint j = 0; j < COLUMNS; ++j) {
        const double rest = s[j * COLUMNS + j].x, whole = diagonal[j];
        // Written so that a NaN counts as dependent.
        const int is_there = whole > 0.0 && rest > tolerance * whole;
        const double root = is_there ? sqrt(rest) : 0.0;
        FOR_COLUMNS(i) {
            if (i > j) {
                const double2 value = s[j * COLUMNS + i];
                s[j * COLUMNS + i] = is_there ? (double2)(value.x / root, value.y / root) : ZERO;
            } else {
                const double2 value = i == j ? ONE_IF(1) : inverse[i * COLUMNS + j];
                inverse[i * COLUMNS + j] = is_there ? (double2)(value.x / root, value.y / root) : ZERO;
            }
        }
        if (get_local_id(0) == 0) {
            shares[j] = is_there ? rest / whole : 0.0;
            rests[j] = rest;
        }
        GROUP_BARRIER;
        if (is_there) {
            FOR_ELEMENTS(e) {
                const uint row = ROW(e), column = COLUMN(e);
                if (row > j && column >= row)
                    s[e] = add_product(s[e], -conjugate(s[j * COLUMNS + row]), s[j * COLUMNS + column]);
                else if (row <= j && column > j)
                    inverse[e] = add_product(inverse[e], -inverse[row * COLUMNS + j], s[j * COLUMNS + column]);
            }
        }
        if (get_local_id(0) == 0)
            s[j * COLUMNS + j] = (double2)(root, 0.0);
        GROUP_BARRIER;
    }
}

// The element e of the product a b.
#define PRODUCT(sum, e, a, b)                                                                                   \
    double2 sum = ZERO;                                                                                         \
    for (uint k = 0; k < COLUMNS; ++k)                                                                          \
        sum = add_product(sum, (a)[ROW(e) * COLUMNS + k], (b)[k * COLUMNS + COLUMN(e)]);

// Makes D and the step of X from the curvature P†AP.
__kernel void columns_follow_curvature(__global const double2 *restrict gram, const uint tile, const double breakdown,
                                       __global double2 *restrict numbers, __global double2 *restrict subtrahend,
                                       __global double2 *restrict moves)
{
    FACTORS_LOCAL;
    __global double *plain = PLAIN_NUMBERS(numbers);
    const int has_ended = plain[EVENT] != 0.0;
    const int is_finite = load_gram(gram, tile, s, inverse, diagonal, &infinite);
    double event = is_finite ? 0.0 : EVENT_INFINITE_CURVATURE, relative = 0.0;
    if (!has_ended && is_finite) {
        factorise(s, inverse, diagonal, shares, rests, breakdown);
        // Directions of columns that were left out are zero.
        for (uint j = 0; j < COLUMNS && event == 0.0; ++j) {
            const double2 c = numbers[C_NOW + j * COLUMNS + j];
            if ((c.x != 0.0 || c.y != 0.0) && shares[j] == 0.0) {
                event = EVENT_BREAKDOWN;
                relative = diagonal[j] == 0.0 ? 0.0 : rests[j] / fabs(diagonal[j]);
            }
        }
        GROUP_BARRIER;
        // δ takes the place of S.
        FOR_ELEMENTS(e) {
            double2 sum = ZERO;
            for (uint k = 0; k < COLUMNS; ++k)
                sum = add_product(sum, inverse[ROW(e) * COLUMNS + k], conjugate(inverse[COLUMN(e) * COLUMNS + k]));
            s[e] = sum;
        }
        GROUP_BARRIER;
    }
    const int goes_on = !has_ended && event == 0.0;
    FOR_ELEMENTS(e) {
        PRODUCT(step, e, s, numbers + C_NOW)
        PRODUCT(d, e, s, numbers + T_STORED)
        moves[MOVE_EARLIER + e] = moves[MOVE_STEP + e];
        moves[MOVE_STEP + e] = numbers[STEP + e] = goes_on ? step : ZERO;
        subtrahend[e] = goes_on ? d : ZERO;
    }
    if (get_local_id(0) == 0 && !has_ended && event != 0.0) {
        plain[EVENT] = event;
        plain[RELATIVE] = relative;
    }
}

// Makes C and the matrices of the next direction from Q†Q. At most `bound` is small enough for all residuals.
__kernel void columns_follow_residual(__global const double2 *restrict gram, const uint tile, const double dependent, const double alike,
                                      const double overwritten, const double bound, const uint replaces,
                                      __global double2 *restrict numbers, __global double2 *restrict moves)
{
    FACTORS_LOCAL;
    __local double2 product[ELEMENTS];
    __local double residuals[COLUMNS];
    __global double *plain = PLAIN_NUMBERS(numbers);
    const int has_ended = plain[EVENT] != 0.0;
    const int is_finite = load_gram(gram, tile, s, inverse, diagonal, &infinite);
    double event = is_finite ? 0.0 : EVENT_INFINITE_RESIDUAL;
    int turns = 0, overwrite = 0;
    if (!has_ended && is_finite) {
        factorise(s, inverse, diagonal, shares, rests, dependent);
        FOR_ELEMENTS(e) {
            PRODUCT(sum, e, s, numbers + T_INVERSE)
            product[e] = sum;
        }
        GROUP_BARRIER;
        // The next C is in the place of the last for a while.
        FOR_ELEMENTS(e) {
            PRODUCT(sum, e, product, numbers + C_NOW)
            numbers[C_BEFORE + e] = sum;
        }
        GLOBAL_BARRIER;
        // Before the barrier: PoCL was seen to have all work-items do what the first one does below.
        const uint logged = (uint)plain[LOGGED];
        const double overwrites = plain[OVERWRITES];
        FOR_COLUMNS(j) {
            double norm2 = 0.0;
            for (uint i = 0; i < COLUMNS; ++i) {
                const double2 c = numbers[C_BEFORE + i * COLUMNS + j];
                norm2 = fma(c.x, c.x, fma(c.y, c.y, norm2));
            }
            residuals[j] = sqrt(norm2) / plain[SCALE + j];
            plain[LOG + logged * COLUMNS + j] = residuals[j];
        }
        GLOBAL_BARRIER;
        int below = 1, small = 1, too_alike = 0;
        for (uint j = 0; j < COLUMNS; ++j) {
            below &= residuals[j] <= bound;
            small &= residuals[j] <= plain[TARGET + j];
            too_alike |= shares[j] > 0.0 && shares[j] < alike;
            overwrite |= shares[j] < overwritten;
        }
        const int is_due = below || small;
        turns = !(is_due && replaces) && !too_alike;
        overwrite &= turns;
        event = is_due && (replaces || !too_alike) ? EVENT_DUE : too_alike ? EVENT_ALIKE : 0.0;
        FOR_ELEMENTS(e) {
            const double2 before = numbers[C_NOW + e];
            numbers[C_NOW + e] = numbers[C_BEFORE + e];
            numbers[C_BEFORE + e] = before;
            if (turns) {
                const double2 one = ONE_IF(ROW(e) == COLUMN(e));
                numbers[T_STORED + e] = overwrite ? one : s[e];
                numbers[T_INVERSE + e] = overwrite ? one : inverse[e];
            }
        }
        if (get_local_id(0) == 0) {
            plain[LOGGED] = logged + 1;
            plain[OVERWRITES] = overwrites + overwrite;
        }
    } else if (!has_ended) {
        FOR_ELEMENTS(e)
            moves[MOVE_STEP + e] = numbers[STEP + e] = ZERO;
    }
    FOR_ELEMENTS(e) {
        moves[MOVE_TURN + e] = turns ? inverse[e] : ZERO;
        moves[MOVE_KEEP + e] = turns ? conjugate(product[COLUMN(e) * COLUMNS + ROW(e)]) : ONE_IF(ROW(e) == COLUMN(e));
    }
    if (get_local_id(0) == 0) {
        moves[MOVE_OVERWRITE] = ONE_IF(overwrite);
        if (!has_ended)
            plain[EVENT] = event;
    }
}
