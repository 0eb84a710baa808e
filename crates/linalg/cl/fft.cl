// One-dimensional Fourier transforms of many lines, in local memory.
//
// A line is n numbers at equal distances; lines lie anywhere (`geometry`). A work-group takes VECTORS vectors of LANES lines each: on processors
// one vector, by one work-item; on GPUs vectors are single lines. Real lines go in pairs: two of them are the parts of one complex line.
//
// Only the forward transform, with exp(-2 pi i jk/n), exists. The inverse is the same with real and imaginary part exchanged before and after.
//
// Stockham's algorithm goes from one half of `work` to the other in each pass: with l, the product of the radices before, element
// q + l (p + m j) is number j of a transform of the radix, and result j, turned by exp(-2 pi i p j/(radix m)), goes to q + l (j + radix p).
//
// A length without radices is a cyclic convolution of a length m that has some (Bluestein; Rader for primes). crates/linalg/src/host/fft.rs is the
// twin.
//
// See crates/linalg/src/fft/ for who gives what. `radices` has four bits for each pass: the radix less 1, the first pass lowest.
//
// Large transforms on GPUs have a program of their own (`FIXED`), in which lengths and the sequence of passes are constants.
// crates/linalg/src/fft/fixed.rs makes its text.

// Ahead of a pass. In place, items behind the last line read what another item writes in the end: reads of all come first.
#if LOCAL_SIZE > 1
#define PASS_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define PASS_BARRIER
#endif

#define COMPLEX_LINES 0 // complex numbers
#define REAL_LINES 1    // real numbers, lines in pairs
#define HALF_LINES 2    // the first n/2 + 1 results of real lines, in pairs

#define DIRECT 0
#define BLUESTEIN 1
#define RADER 2

#define LOAD_SWAPPED 1
#define STORE_SWAPPED 2
#define IN_PLACE 4

#define NOWHERE ULONG_MAX

#define real2_ JOIN(REAL, 2)

#if LANES > 1
#define VECTORS 1
#else
#define VECTORS vectors
#endif

#ifdef FIXED
#define FIXED_OR(fixed, given) (fixed)
#else
#define FIXED_OR(fixed, given) (given)
// Where a part of element `slot` of vector v lies in `work`.
#define AT(slot) ((slot) * VECTORS + v)
// The element and the vector of item i of a pass.
#define OF_PASS(i, count, element) const uint element = i / VECTORS, v = i % VECTORS
#endif

// a b + c d, nearly as if rounded once (Kahan).
#define SUM_OF_PRODUCTS(type, name)                                                                \
    static inline type name(const type a, const type b, const type c, const type d)                \
    {                                                                                              \
        const type product = c * d;                                                                \
        return fma(a, b, product) + fma(c, d, -product);                                           \
    }
SUM_OF_PRODUCTS(vreal, sum_of_products)
SUM_OF_PRODUCTS(real, sum_of_two_products)

// Complex numbers are aligned: offsets into buffers of them count them.
static inline real2_ load_pair(__global const real *from, const ulong at) { return ((__global const real2_ *)from)[at]; }

#define PASS_PARAMETERS                                                                                                         \
    const uint l, const uint m, const uint vectors, const uint plane, __global const real *roots, __local const vreal *from,   \
        __local vreal *to
#define PASS_ARGUMENTS l, m, vectors, plane, roots, from, to

// Before the text of a transform: b is the number of the butterfly, v that of the vector. An element's parts are `plane` apart.
#define PASS_BEGIN(radix)                                                        \
    const uint step = m / radix;                                                 \
    for (uint i = get_local_id(0); i < step * VECTORS; i += LOCAL_SIZE) {        \
        OF_PASS(i, step, b);                                                     \
        const uint p = b / l, first = b + p * (radix - 1) * l;

#define PASS_PUT(j, re, im)                                                      \
        {                                                                        \
            __local vreal *const place = to + AT(first + j * l);                 \
            if (j == 0 || p == 0) {                                              \
                place[0] = re;                                                   \
                place[plane] = im;                                               \
            } else {                                                             \
                const real2_ turn = load_pair(roots, j * p * l);                 \
                place[0] = sum_of_products(re, turn.x, im, -turn.y);             \
                place[plane] = sum_of_products(re, turn.y, im, turn.x);          \
            }                                                                    \
        }

#define PASS_END }

// The passes of all radices follow: crates/linalg/src/fft/codelets.rs makes their text.
