// The phases of the links that leave the lattice, where the stored links do not have them.
//
// A link and its phase commute, so that a hop multiplies a projected spinor: one from ahead by the phase, one from behind by
// its conjugate.
//
// WRAP_x/y/z/t   a sign for each lane of the last block
// TURN_x/y/z/t   1 for each lane whose link takes the phase that is a parameter, and 0 for the others

static inline half_spinor turn(half_spinor projected, const vreal re, const vreal im)
{
    vcomplex phase;
    phase.re = re;
    phase.im = im;
#pragma unroll
    for (int k = 0; k < HALF_SPINOR_COMPONENTS; ++k)
        projected.h[k] = multiply(phase, projected.h[k]);
    return projected;
}

// 1 in the lanes of which `takes` is 0.
#define PHASE_RE(takes, re) ((vreal)(re) * (takes) + ((vreal)1 - (takes)))
#define PHASE_IM(takes, im) ((vreal)(im) * (takes))
#define PHASE_PARAMETERS(direction) , const real phase_re_##direction, const real phase_im_##direction

#if defined(TURN_x)
#define PHASE_PARAMETERS_x PHASE_PARAMETERS(x)
#define PHASE_AHEAD_x(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_x), phase_re_x), PHASE_IM((vreal)(TURN_x), phase_im_x));
#define PHASE_BEHIND_x(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_x), phase_re_x), PHASE_IM((vreal)(TURN_x), -phase_im_x));
#elif defined(WRAP_x)
#define PHASE_PARAMETERS_x
#define PHASE_AHEAD_x(projected) projected = scale(projected, (vreal)(WRAP_x));
#define PHASE_BEHIND_x PHASE_AHEAD_x
#else
#define PHASE_PARAMETERS_x
#define PHASE_AHEAD_x NOTHING
#define PHASE_BEHIND_x NOTHING
#endif

#if defined(TURN_y)
#define PHASE_PARAMETERS_y PHASE_PARAMETERS(y)
#define PHASE_AHEAD_y(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_y), phase_re_y), PHASE_IM((vreal)(TURN_y), phase_im_y));
#define PHASE_BEHIND_y(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_y), phase_re_y), PHASE_IM((vreal)(TURN_y), -phase_im_y));
#elif defined(WRAP_y)
#define PHASE_PARAMETERS_y
#define PHASE_AHEAD_y(projected) projected = scale(projected, (vreal)(WRAP_y));
#define PHASE_BEHIND_y PHASE_AHEAD_y
#else
#define PHASE_PARAMETERS_y
#define PHASE_AHEAD_y NOTHING
#define PHASE_BEHIND_y NOTHING
#endif

#if defined(TURN_z)
#define PHASE_PARAMETERS_z PHASE_PARAMETERS(z)
#define PHASE_AHEAD_z(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_z), phase_re_z), PHASE_IM((vreal)(TURN_z), phase_im_z));
#define PHASE_BEHIND_z(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_z), phase_re_z), PHASE_IM((vreal)(TURN_z), -phase_im_z));
#elif defined(WRAP_z)
#define PHASE_PARAMETERS_z
#define PHASE_AHEAD_z(projected) projected = scale(projected, (vreal)(WRAP_z));
#define PHASE_BEHIND_z PHASE_AHEAD_z
#else
#define PHASE_PARAMETERS_z
#define PHASE_AHEAD_z NOTHING
#define PHASE_BEHIND_z NOTHING
#endif

#if defined(TURN_t)
#define PHASE_PARAMETERS_t PHASE_PARAMETERS(t)
#define PHASE_AHEAD_t(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_t), phase_re_t), PHASE_IM((vreal)(TURN_t), phase_im_t));
#define PHASE_BEHIND_t(projected) \
    projected = turn(projected, PHASE_RE((vreal)(TURN_t), phase_re_t), PHASE_IM((vreal)(TURN_t), -phase_im_t));
#elif defined(WRAP_t)
#define PHASE_PARAMETERS_t
#define PHASE_AHEAD_t(projected) projected = scale(projected, (vreal)(WRAP_t));
#define PHASE_BEHIND_t PHASE_AHEAD_t
#else
#define PHASE_PARAMETERS_t
#define PHASE_AHEAD_t NOTHING
#define PHASE_BEHIND_t NOTHING
#endif

#define BOUNDARY_PARAMETERS PHASE_PARAMETERS_x PHASE_PARAMETERS_y PHASE_PARAMETERS_z PHASE_PARAMETERS_t
