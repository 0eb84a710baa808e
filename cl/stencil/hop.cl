// The hop: the sum over the eight neighbours of a block of sites.
//
//   H ψ(x) = Σ_μ [(1 ∓ γ_μ) U_μ(x) ψ(x+μ) + (1 ± γ_μ) U_μ†(x−μ) ψ(x−μ)]    upper signs: M, lower: M† (DAGGER)
//
// Spinors stand in memory in the basis in which γ_t is diagonal (src/field/spin_basis.rs): γ_t = (1, 1, −1, −1).
// The other γ_μ are those of DeGrand and Rossi with the other sign. γ5 exchanges the upper spins, 0 and 1, and
// the lower ones, 2 and 3. A hop in t loads half a spinor.
//
// One work-item computes one block of LANES sites. A step out of the sub-lattice permutes the lanes.
//
// Right-hand sides lie one after the other in memory, COLUMNS of them, and share the links. A work-item has
// COLUMNS_PER_ITEM of them. The others are beside it in the second dimension of the range.
//
// DAGGER         0 or 1
// PREFETCH       how many blocks later what is prefetched is needed; 0 for no prefetch
// PREFETCH_SPINORS    1 if that is not only links
// AHEAD_x/y/z/t, BEHIND_…    swizzles that fetch the neighbour's lane; absent where a direction is not cut

#define HALF_SPINOR_COMPONENTS 6

// Sign of γ_μ in the projector for a hop from ahead; a hop from behind has the other one.
#define AHEAD_SIGN (DAGGER ? 1 : -1)

typedef struct {
    vcomplex h[HALF_SPINOR_COMPONENTS]; // 3·spin + colour, spins 0 and 1
#if UNIT_NUMBERS
    vreal unit;
#endif
} half_spinor;

// a, a + s b, and a + s i b, for a sign s and numbers that are raised; the result is not. Differences lose it by themselves.
static inline vcomplex lower(const vcomplex a)
{
    vcomplex lowered = a;
    lowered.re -= RAISED;
    lowered.im -= RAISED;
    return lowered;
}

static inline vcomplex lower_signed(const vcomplex a, const int s, const vcomplex b)
{
    vcomplex lowered = a;
    if (s > 0) {
        lowered.re -= 2 * RAISED;
        lowered.im -= 2 * RAISED;
    }
    return add_signed(lowered, s, b);
}

static inline vcomplex lower_signed_i(const vcomplex a, const int s, const vcomplex b)
{
    vcomplex lowered = a;
    if (s > 0)
        lowered.im -= 2 * RAISED;
    else
        lowered.re -= 2 * RAISED;
    return add_signed_i(lowered, s, b);
}

// (1 + sign·γ_μ)ψ, for a raised ψ: its upper spins. In t it is twice the upper or the lower spins of ψ, and these without the factor are what counts.
static inline half_spinor project(const int mu, const int sign, const spinor psi)
{
    half_spinor projected;
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const vcomplex s0 = psi.s[c], s1 = psi.s[3 + c], s2 = psi.s[6 + c], s3 = psi.s[9 + c];
        if (mu == 0) {
            projected.h[c] = lower_signed_i(s0, -sign, s3);
            projected.h[3 + c] = lower_signed_i(s1, -sign, s2);
        } else if (mu == 1) {
            projected.h[c] = lower_signed(s0, sign, s3);
            projected.h[3 + c] = lower_signed(s1, -sign, s2);
        } else if (mu == 2) {
            projected.h[c] = lower_signed_i(s0, -sign, s2);
            projected.h[3 + c] = lower_signed_i(s1, sign, s3);
        } else {
            projected.h[c] = lower(sign > 0 ? s0 : s2);
            projected.h[3 + c] = lower(sign > 0 ? s1 : s3);
        }
    }
    return projected;
}

// sum + sign·h, sum + sign·i·h, and sum + 2 h, for a number of this half of a spinor.
#if UNIT_NUMBERS
#define ADD(sum, sign, h) add_scaled(sum, sign > 0 ? projected.unit : -projected.unit, h)
#define ADD_I(sum, sign, h) add_scaled_i(sum, sign > 0 ? projected.unit : -projected.unit, h)
#define ADD_TWICE(sum, h) add_scaled(sum, 2 * projected.unit, h)
#else
#define ADD(sum, sign, h) add_signed(sum, sign, h)
#define ADD_I(sum, sign, h) add_signed_i(sum, sign, h)
#define ADD_TWICE(sum, h) add_scaled(sum, (vreal)2, h)
#endif

// Adds the spinor whose projection by (1 + sign·γ_μ) is this half.
static inline void add_reconstructed(spinor *sum, const int mu, const int sign, const half_spinor projected)
{
#pragma unroll
    for (int c = 0; c < 3; ++c) {
        const vcomplex h0 = projected.h[c], h1 = projected.h[3 + c];
        if (mu == 3) {
            const int first = sign > 0 ? 0 : 6;
            sum->s[first + c] = ADD_TWICE(sum->s[first + c], h0);
            sum->s[first + 3 + c] = ADD_TWICE(sum->s[first + 3 + c], h1);
            continue;
        }
        sum->s[c] = ADD(sum->s[c], 1, h0);
        sum->s[3 + c] = ADD(sum->s[3 + c], 1, h1);
        if (mu == 0) {
            sum->s[6 + c] = ADD_I(sum->s[6 + c], sign, h1);
            sum->s[9 + c] = ADD_I(sum->s[9 + c], sign, h0);
        } else if (mu == 1) {
            sum->s[6 + c] = ADD(sum->s[6 + c], -sign, h1);
            sum->s[9 + c] = ADD(sum->s[9 + c], sign, h0);
        } else {
            sum->s[6 + c] = ADD_I(sum->s[6 + c], sign, h0);
            sum->s[9 + c] = ADD_I(sum->s[9 + c], -sign, h1);
        }
    }
}

// U h, or U† h, in LINK_UNIT.
static inline half_spinor times(const link u, const int adjoint, const half_spinor projected)
{
    half_spinor product = projected;
    transform(u, adjoint, projected.h, product.h);
    transform(u, adjoint, projected.h + 3, product.h + 3);
    return product;
}

static inline half_spinor scale(half_spinor projected, const vreal factor)
{
#if UNIT_NUMBERS
    projected.unit *= factor;
#else
#pragma unroll
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k)
        projected.h[k] = scale_number(projected.h[k], factor);
#endif
    return projected;
}

// What a sum is to be multiplied by goes into its parts where these have a unit: that is one number of each instead of all of the sum.
#if UNIT_NUMBERS
#define WEIGHT_OF_PART ((vreal)(coefficient * LINK_UNIT))
#define WEIGHT_OF_SUM ((real)1)
#else
#define WEIGHT_OF_PART ((vreal)1)
#define WEIGHT_OF_SUM coefficient
#endif

// The projection of the spinors of a block, from memory.
static inline half_spinor load_projected(__global const stored *half_field, const uint blocks, const size_t block, const int mu,
                                         const int sign)
{
    half_spinor projected = project(mu, sign, load_stored_spinor(half_field, blocks, block));
#if UNIT_NUMBERS
    projected.unit = load_unit(half_field, blocks, block);
#endif
    return projected;
}

// Asks for what load_projected will load.
static inline void prefetch_projected(__global const stored *half_field, const size_t block, const int mu, const int sign)
{
    if (mu == 3)
        prefetch_components(half_field, block, sign > 0 ? 0 : HALF_SPINOR_COMPONENTS, HALF_SPINOR_COMPONENTS);
    else
        prefetch_components(half_field, block, 0, SPINOR_COMPONENTS);
}

#if UNIT_NUMBERS
#define PERMUTE_UNIT(projected, swizzle) (projected).unit = (projected).unit.swizzle;
#else
#define PERMUTE_UNIT(projected, swizzle)
#endif

#define PERMUTE(projected, swizzle)                            \
    PERMUTE_UNIT(projected, swizzle)                           \
    _Pragma("unroll")                                         \
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k) {        \
        (projected).h[k].re = (projected).h[k].re.swizzle;      \
        (projected).h[k].im = (projected).h[k].im.swizzle;      \
    }

// Around one source there is no loop, but a declaration in the scope around it: LLVM would take the stores out of a loop, and forget that they are to go past the
// caches.
#if COLUMNS_PER_ITEM == 1
#define FOR_COLUMNS(r) const int r = 0;
#else
#define FOR_COLUMNS(r) _Pragma("unroll") for (int r = 0; r < COLUMNS_PER_ITEM; ++r)
#endif

// One direction of the hopping term. Of the spinors, those of neighbours in z and t are prefetched: the others are in the cache already. `at_end` and `at_start`
// say whether the step leaves the sub-lattice.
#define IS_FAR(mu) (PREFETCH_SPINORS && (mu) >= 2)
#define HOP_AHEAD(mu, neighbour, at_end, direction)                                                             \
    {                                                                                                           \
        const link u = LINK(2 * (mu), links_here, block);                                                       \
        if (PREFETCH != 0)                                                                                      \
            prefetch_link(links_here, blocks, block + PREFETCH, mu);                                            \
        FOR_COLUMNS(r) {                                                                                        \
            if (IS_FAR(mu))                                                                                     \
                prefetch_projected(in_other + r * COLUMN_STRIDE, neighbour + PREFETCH, mu, AHEAD_SIGN);         \
            half_spinor projected =                                                                             \
                load_projected(in_other + r * COLUMN_STRIDE, blocks, neighbour, mu, AHEAD_SIGN);                \
            if (at_end) {                                                                                       \
                CROSS_AHEAD(direction, projected)                                                               \
            }                                                                                                   \
            add_reconstructed(sum + r, mu, AHEAD_SIGN, scale(times(u, 0, projected), WEIGHT_OF_PART));          \
        }                                                                                                       \
    }

#define HOP_BEHIND(mu, neighbour, at_start, direction)                                                          \
    {                                                                                                           \
        const link u = LINK(2 * (mu) + 1, links_other, neighbour);                                              \
        if (PREFETCH != 0)                                                                                      \
            prefetch_link(links_other, blocks, neighbour + PREFETCH, mu);                                       \
        FOR_COLUMNS(r) {                                                                                        \
            if (IS_FAR(mu))                                                                                     \
                prefetch_projected(in_other + r * COLUMN_STRIDE, neighbour + PREFETCH, mu, -AHEAD_SIGN);        \
            half_spinor projected =                                                                             \
                load_projected(in_other + r * COLUMN_STRIDE, blocks, neighbour, mu, -AHEAD_SIGN);               \
            projected = times(u, 1, projected);                                                                 \
            if (at_start) {                                                                                     \
                CROSS_BEHIND(direction, projected)                                                              \
            }                                                                                                   \
            add_reconstructed(sum + r, mu, -AHEAD_SIGN, scale(projected, WEIGHT_OF_PART));                      \
        }                                                                                                       \
    }

#define NOTHING(projected)
#ifdef AHEAD_x
#define FROM_AHEAD_x(projected) PERMUTE(projected, AHEAD_x)
#define FROM_BEHIND_x(projected) PERMUTE(projected, BEHIND_x)
#else
#define FROM_AHEAD_x NOTHING
#define FROM_BEHIND_x NOTHING
#endif
#ifdef AHEAD_y
#define FROM_AHEAD_y(projected) PERMUTE(projected, AHEAD_y)
#define FROM_BEHIND_y(projected) PERMUTE(projected, BEHIND_y)
#else
#define FROM_AHEAD_y NOTHING
#define FROM_BEHIND_y NOTHING
#endif
#ifdef AHEAD_z
#define FROM_AHEAD_z(projected) PERMUTE(projected, AHEAD_z)
#define FROM_BEHIND_z(projected) PERMUTE(projected, BEHIND_z)
#else
#define FROM_AHEAD_z NOTHING
#define FROM_BEHIND_z NOTHING
#endif
#ifdef AHEAD_t
#define FROM_AHEAD_t(projected) PERMUTE(projected, AHEAD_t)
#define FROM_BEHIND_t(projected) PERMUTE(projected, BEHIND_t)
#else
#define FROM_AHEAD_t NOTHING
#define FROM_BEHIND_t NOTHING
#endif

// A link's phase belongs to the site it leaves from: this one for a hop from ahead, the neighbour for one from behind (boundary.cl).
#define CROSS_AHEAD(direction, projected)                                                                    \
    FROM_AHEAD_##direction(projected)                                                                        \
    PHASE_AHEAD_##direction(projected)
#define CROSS_BEHIND(direction, projected)                                                                   \
    PHASE_BEHIND_##direction(projected)                                                                      \
    FROM_BEHIND_##direction(projected)
