// Where lines lie, and how their numbers are written. Stands behind the constants of a program of its own.

// Where line number `line` begins on the side that is read, and on the one that is written. Geometry is the number of dimensions, then of each,
// fastest first, its extent and its distances on both sides. A program of its own has at most 2^31 lines.
#ifdef FIXED
#define line_number uint
#else
#define line_number ulong
#endif
static inline ulong2 places_of(__global const ulong *geometry, line_number line)
{
    ulong2 place = (ulong2)(0, 0);
    const uint dimensions = FIXED_OR(FIXED_DIMENSIONS, (uint)geometry[0]);
    for (uint d = 0; d < dimensions; ++d) {
        const line_number extent = (line_number)geometry[1 + 3 * d];
        const line_number digit = d + 1 == dimensions ? line : line % extent;
        place += digit * (ulong2)(geometry[2 + 3 * d], geometry[3 + 3 * d]);
        line /= extent;
    }
    return place;
}

static inline void store_pair(__global real *to, const ulong at, const real2_ z) { ((__global real2_ *)to)[at] = z; }
