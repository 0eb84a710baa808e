// The numbers of coarse vectors and blocks in memory.
//
// LANES                  complex numbers with adjacent real parts; imaginary parts follow
// IN_LANES               LANES of vectors of the finer level
//
// Zeros fill the numbers of a site up to whole chunks of LANES.

// Mark after the last member of an aggregate.
#define NO_MEMBER 0xFFFFFFFFu

// Start of chunk number `chunk`.
#define CHUNK_AT(numbers, chunk) ((numbers) + (size_t)(chunk) * 2 * LANES)

static inline vcomplex load_chunk(__global const real *numbers, const size_t chunk)
{
    vcomplex value;
#if LANES == 1
    value.re = numbers[2 * chunk];
    value.im = numbers[2 * chunk + 1];
#else
    value.re = JOIN(vload, LANES)(0, CHUNK_AT(numbers, chunk));
    value.im = JOIN(vload, LANES)(0, CHUNK_AT(numbers, chunk) + LANES);
#endif
    return value;
}

static inline void store_chunk(__global real *numbers, const size_t chunk, const vcomplex value)
{
#if LANES == 1
    numbers[2 * chunk] = value.re;
    numbers[2 * chunk + 1] = value.im;
#else
    JOIN(vstore, LANES)(value.re, 0, CHUNK_AT(numbers, chunk));
    JOIN(vstore, LANES)(value.im, 0, CHUNK_AT(numbers, chunk) + LANES);
#endif
}

// Place of the real part of a number of a finer vector, and distance of its imaginary part.
static inline size_t fine_at(const size_t number) { return number / IN_LANES * 2 * IN_LANES + number % IN_LANES; }
