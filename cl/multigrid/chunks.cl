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

// With one lane a number is a pair, which is loaded at once. Numbers begin at even places.
#define PAIR(type) JOIN(type, 2)

static inline vcomplex load_chunk(__global const real *numbers, const size_t chunk)
{
    vcomplex value;
#if LANES == 1
    const PAIR(REAL) pair = ((__global const PAIR(REAL) *)numbers)[chunk];
    value.re = pair.x;
    value.im = pair.y;
#else
    value.re = JOIN(vload, LANES)(0, CHUNK_AT(numbers, chunk));
    value.im = JOIN(vload, LANES)(0, CHUNK_AT(numbers, chunk) + LANES);
#endif
    return value;
}

// One number, in all lanes.
static inline vcomplex load_number(__global const real *numbers, const size_t number)
{
#if LANES == 1
    return load_chunk(numbers, number);
#else
    vcomplex value;
    value.re = (vreal)numbers[number / LANES * 2 * LANES + number % LANES];
    value.im = (vreal)numbers[number / LANES * 2 * LANES + number % LANES + LANES];
    return value;
#endif
}

static inline void store_chunk(__global real *numbers, const size_t chunk, const vcomplex value)
{
#if LANES == 1
    ((__global PAIR(REAL) *)numbers)[chunk] = (PAIR(REAL))(value.re, value.im);
#else
    JOIN(vstore, LANES)(value.re, 0, CHUNK_AT(numbers, chunk));
    JOIN(vstore, LANES)(value.im, 0, CHUNK_AT(numbers, chunk) + LANES);
#endif
}

// Place of the real part of a number of a finer vector, and distance of its imaginary part.
static inline size_t fine_at(const size_t number) { return number / IN_LANES * 2 * IN_LANES + number % IN_LANES; }
