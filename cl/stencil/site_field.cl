// The field ψ that a site term multiplies: `in` itself on the full lattice, otherwise `shifted`, if there is one (SHIFT).

#if SHIFT
#define SITE_FIELD , __global const stored *restrict shifted
#define SITE_PREFETCH(at)                                                                                      \
    if (PREFETCH_SPINORS)                                                                                      \
        prefetch_components(shifted + at, block + PREFETCH, 0, SPINOR_COMPONENTS);
#else
// In the cache already: it is what the hop goes on from.
#define SITE_FIELD
#define SITE_PREFETCH(at)
#endif
