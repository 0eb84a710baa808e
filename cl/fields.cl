// The numbers of a field: their places, loading and storing. See src/geometry/layout.rs and crates/compute/src/scalar.rs.
//
// STORED STORED_BITS    type of the numbers in memory: double, float, or ushort for half precision
// PACK                  most complex numbers in a vector, with one lane: as many as have 16 bytes
// CHUNK                 sites in a chunk, with one lane; absent where all sites of a parity are one
// STREAM_LINKS STREAM_OUTPUT    1 to load links, or store results, past the caches where the device has such accesses
//
// `blocks`, which everything here takes, is how many blocks of LANES sites each parity has.
//
// One parity of a field is stored [chunk][vector][site in the chunk][component in the vector][re, im] with one lane, [group][block][component][re, im][lane]
// with several: a spinor is one group, each link of a site is one.
// In half precision numbers are integers that count a unit, raised by 2¹⁵; each parity of a spinor field ends with the units of its sites.

#define stored STORED
#define SPINOR_COMPONENTS 12

#if STORED_BITS == 16
#define LARGEST_STORED ((real)32767)
#define UNIT_NUMBERS 2
#else
#define UNIT_NUMBERS 0
#endif

// What numbers are raised by as they are loaded: sums and differences need to take it off only half of the time.
#if STORED_BITS != 16
#define RAISED ((real)0)
#elif LANES == 1 && defined(INLINE_PTX)
#define RAISED ((real)8421376)
#else
#define RAISED ((real)32768)
#endif

// Stored numbers in one parity of a field of spinors.
#define SPINOR_HALF_FIELD(blocks) ((size_t)(2 * SPINOR_COMPONENTS + UNIT_NUMBERS) * (blocks) * LANES)

typedef struct {
    vcomplex s[SPINOR_COMPONENTS]; // 3·spin + colour
} spinor;

// sum + |x|²
static inline vdouble add_norm2(vdouble sum, const spinor x)
{
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
        const vdouble re = TO_DOUBLE(x.s[c].re), im = TO_DOUBLE(x.s[c].im);
        sum = fma(im, im, fma(re, re, sum));
    }
    return sum;
}

// (re, im) + (x, y)
static inline void add_product(vdouble *re, vdouble *im, const spinor x, const spinor y)
{
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
        const vdouble xr = TO_DOUBLE(x.s[c].re), xi = TO_DOUBLE(x.s[c].im);
        const vdouble yr = TO_DOUBLE(y.s[c].re), yi = TO_DOUBLE(y.s[c].im);
        *re = fma(xi, yi, fma(xr, yr, *re));
        *im = fma(-xi, yr, fma(xr, yi, *im));
    }
}

// Compilers made from clang have builtins for prefetching, and for stores past the caches.
#if LANES > 1 && defined(__has_builtin)
#if __has_builtin(__builtin_nontemporal_store)
#define NONTEMPORAL_STORE
#endif
#if __has_builtin(__builtin_prefetch)
#define PREFETCH_LINE
#endif
#endif

// Asks for `count` vectors of numbers to be brought to the second-level cache: the first level has no room for what comes later.
static inline void prefetch_numbers(__global const stored *numbers, const int count)
{
#ifdef PREFETCH_LINE
    // The builtin takes no pointer to global memory. An address beyond the array does no harm.
    const size_t first = (size_t)numbers;
#pragma unroll
    for (int line = 0; line < count; ++line)
        __builtin_prefetch((const void *)(first + line * LANES * sizeof(stored)), 0, 2);
#endif
}

static inline void prefetch_components(__global const stored *half_field, const size_t block, const int first, const int count)
{
    prefetch_numbers(half_field + 2 * LANES * (SPINOR_COMPONENTS * block + first), 2 * count);
}

#if LANES == 1

// Vectors of 4, 8 and 16 bytes, streamed or not.
#ifdef INLINE_PTX
#define STREAMED_LOAD "ld.global.nc.L1::no_allocate."
#define STREAMED_STORE "st.global.cs."
#endif

static inline uint load_4(__global const void *address, const int streamed)
{
#ifdef STREAMED_LOAD
    if (streamed) {
        uint value;
        __asm__(STREAMED_LOAD "u32 %0, [%1];" : "=r"(value) : "l"(address));
        return value;
    }
#endif
    return *(__global const uint *)address;
}

static inline uint2 load_8(__global const void *address, const int streamed)
{
#ifdef STREAMED_LOAD
    if (streamed) {
        uint2 value;
        __asm__(STREAMED_LOAD "v2.u32 {%0, %1}, [%2];" : "=r"(value.x), "=r"(value.y) : "l"(address));
        return value;
    }
#endif
    return *(__global const uint2 *)address;
}

static inline uint4 load_16(__global const void *address, const int streamed)
{
#ifdef STREAMED_LOAD
    if (streamed) {
        uint4 value;
        __asm__(STREAMED_LOAD "v4.u32 {%0, %1, %2, %3}, [%4];"
                : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                : "l"(address));
        return value;
    }
#endif
    return *(__global const uint4 *)address;
}

static inline void store_8(__global void *address, const int streamed, const uint2 value)
{
#ifdef STREAMED_STORE
    if (streamed) {
        __asm__ volatile(STREAMED_STORE "v2.u32 [%0], {%1, %2};"
                         :
                         : "l"(address), "r"(value.x), "r"(value.y)
                         : "memory");
        return;
    }
#endif
    *(__global uint2 *)address = value;
}

static inline void store_16(__global void *address, const int streamed, const uint4 value)
{
#ifdef STREAMED_STORE
    if (streamed) {
        __asm__ volatile(STREAMED_STORE "v4.u32 [%0], {%1, %2, %3, %4};"
                         :
                         : "l"(address), "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w)
                         : "memory");
        return;
    }
#endif
    *(__global uint4 *)address = value;
}

#define COMPLEX(z, x, y) \
    (z).re = (x);        \
    (z).im = (y);

#if STORED_BITS == 16
// The two 16-bit numbers of a word, raised or not.
static inline vcomplex unpack(const uint word, const int raised)
{
    vcomplex z;
    if (!raised) {
        // With its highest bit turned over it is a signed number, which GPUs convert beside their arithmetic: a permutation of bytes and a subtraction
        // would both be part of it.
        const short2 numbers = as_short2(word ^ 0x80008000u);
        COMPLEX(z, numbers.x, numbers.y)
        return z;
    }
#ifdef INLINE_PTX
    // Behind the bytes of an exponent, a 16-bit number is the float 2²³ + number: a permutation of bytes takes less than a conversion.
    uint low, high;
    __asm__("prmt.b32 %0, %1, %2, 0x7410;" : "=r"(low) : "r"(word), "r"(0x4B000000u));
    __asm__("prmt.b32 %0, %1, %2, 0x7432;" : "=r"(high) : "r"(word), "r"(0x4B000000u));
    COMPLEX(z, as_float(low), as_float(high))
#else
    const ushort2 numbers = as_ushort2(word);
    COMPLEX(z, numbers.x, numbers.y)
#endif
    return z;
}
#endif

// `width` complex numbers, in their unit, and raised if that is wanted.
static inline void load_vector(__global const stored *address, const int width, const int streamed, const int raised, vcomplex *z)
{
#if STORED_BITS == 64
    const double2 v = as_double2(load_16(address, streamed));
    COMPLEX(z[0], v.x, v.y)
#elif STORED_BITS == 32
    if (width == 2) {
        const float4 v = as_float4(load_16(address, streamed));
        COMPLEX(z[0], v.x, v.y)
        COMPLEX(z[1], v.z, v.w)
    } else {
        const float2 v = as_float2(load_8(address, streamed));
        COMPLEX(z[0], v.x, v.y)
    }
#else
    if (width == 4) {
        const uint4 v = load_16(address, streamed);
        z[0] = unpack(v.x, raised);
        z[1] = unpack(v.y, raised);
        z[2] = unpack(v.z, raised);
        z[3] = unpack(v.w, raised);
    } else if (width == 2) {
        const uint2 v = load_8(address, streamed);
        z[0] = unpack(v.x, raised);
        z[1] = unpack(v.y, raised);
    } else {
        z[0] = unpack(load_4(address, streamed), raised);
    }
#endif
}

#if STORED_BITS == 16
// Two and four complex numbers, in their unit and raised, as they are stored.
#ifdef INLINE_PTX
// As in unpack: the sum with what they are raised by has rounded them, and the lowest bits are the number.
static inline uint packed(const vcomplex z)
{
    uint word;
    __asm__("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(word) : "r"(as_uint(z.re)), "r"(as_uint(z.im)));
    return word;
}
static inline uint2 pack_2(const vcomplex *z) { return (uint2)(packed(z[0]), packed(z[1])); }
static inline uint4 pack_4(const vcomplex *z) { return (uint4)(pack_2(z), pack_2(z + 2)); }
#else
static inline uint2 pack_2(const vcomplex *z)
{
    return as_uint2(convert_ushort4_rte((float4)(z[0].re, z[0].im, z[1].re, z[1].im)));
}
static inline uint4 pack_4(const vcomplex *z)
{
    return as_uint4(
        convert_ushort8_rte((float8)(z[0].re, z[0].im, z[1].re, z[1].im, z[2].re, z[2].im, z[3].re, z[3].im)));
}
#endif
#endif

// PACK complex numbers, in their unit and raised, or half as many in half precision: `width` of them.
static inline void store_vector(__global stored *address, const int width, const vcomplex *z)
{
#if STORED_BITS == 64
    store_16(address, STREAM_OUTPUT, as_uint4((double2)(z[0].re, z[0].im)));
#elif STORED_BITS == 32
    store_16(address, STREAM_OUTPUT, as_uint4((float4)(z[0].re, z[0].im, z[1].re, z[1].im)));
#else
    if (width == 4)
        store_16(address, STREAM_OUTPUT, pack_4(z));
    else
        store_8(address, STREAM_OUTPUT, pack_2(z));
#endif
}

#ifdef CHUNK
#define CHUNK_SITES(blocks) CHUNK
#define IN_CHUNK(block) ((size_t)(block) % CHUNK)
#define FIRST_OF_CHUNK(block) ((size_t)(block) / CHUNK * CHUNK)
#else
#define CHUNK_SITES(blocks) (blocks)
#define IN_CHUNK(block) ((size_t)(block))
#define FIRST_OF_CHUNK(block) ((size_t)0)
#endif

// Where the vector of `width` complex numbers from number c on is, of `all` numbers at each site. What is the same for all sites comes first, so that it
// is added once.
#define VECTOR_OF(field, all, c, width, blocks, block)                                                         \
    ((field) + 2 * (size_t)(c) * CHUNK_SITES(blocks) + 2 * (all) * FIRST_OF_CHUNK(block) + 2 * (width) * IN_CHUNK(block))

// The `size` complex numbers of group number `group` of a block, raised or not; all `groups` groups have as many.
#define LOAD_GROUP(z, half_field, size, groups, group, blocks, block, streamed, raised)                        \
    _Pragma("unroll")                                                                                         \
    for (int c = 0; c < (size); c += PACK) {                                                                  \
        const int width = PACK < (size) - c ? PACK : (size) - c;                                              \
        load_vector(VECTOR_OF(half_field, (groups) * (size), (group) * (size) + c, width, blocks, block),        \
                    width, streamed, raised, (z) + c);                                                        \
    }

#else

#define vstored JOIN(STORED, LANES)
#if STORED_BITS == 16
#define TO_REAL(v) JOIN(convert_, vreal_name)(v)
#define vreal_name JOIN(REAL, LANES)
#define TO_STORED(v) JOIN(JOIN(convert_ushort, LANES), _rte)(v)
#else
#define TO_REAL(v) (v)
#define TO_STORED(v) (v)
#endif

#define LOAD_GROUP(z, half_field, size, groups, group, blocks, block, streamed, raised)                        \
    {                                                                                                         \
        __global const vstored *numbers =                                                                     \
            (__global const vstored *)(half_field) + 2 * (size) * ((size_t)(group) * (blocks) + (block));         \
        _Pragma("unroll")                                                                                     \
        for (int c = 0; c < (size); ++c) {                                                                    \
            (z)[c].re = TO_REAL(numbers[2 * c]) - ((raised) ? 0 : RAISED);                                    \
            (z)[c].im = TO_REAL(numbers[2 * c + 1]) - ((raised) ? 0 : RAISED);                                \
        }                                                                                                     \
    }

#endif

#if UNIT_NUMBERS
#define UNITS(half_field, blocks) ((half_field) + (size_t)2 * SPINOR_COMPONENTS * (blocks) * LANES)

// The units of a block's sites.
static inline vreal load_unit(__global const stored *half_field, const uint blocks, const size_t block)
{
    return ((__global const vreal *)UNITS(half_field, blocks))[block];
}

// The unit of numbers up to this size; NaN stays NaN.
static inline vreal unit_of(const vreal largest) { return ((real)1 / LARGEST_STORED) * largest; }

// The smallest normal number keeps it finite where all numbers are zero.
static inline vreal inverse_of(const vreal unit) { return reciprocal(fmax(unit, (vreal)FLT_MIN)); }

// A number in its unit and raised, by the inverse of the unit.
static inline vcomplex in_unit(const vcomplex z, const vreal inverse)
{
    vcomplex raised;
    raised.re = fma(inverse, z.re, (vreal)RAISED);
    raised.im = fma(inverse, z.im, (vreal)RAISED);
    return raised;
}
#endif

// The spinors of a block, in their unit if they have one, and raised.
static inline spinor load_stored_spinor(__global const stored *half_field, const uint blocks, const size_t block)
{
    spinor psi;
    LOAD_GROUP(psi.s, half_field, SPINOR_COMPONENTS, 1, 0, blocks, block, 0, 1)
    return psi;
}

static inline spinor load_spinor(__global const stored *half_field, const uint blocks, const size_t block)
{
    spinor psi = load_stored_spinor(half_field, blocks, block);
#if UNIT_NUMBERS
    const vreal unit = load_unit(half_field, blocks, block);
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
        psi.s[c].re = (psi.s[c].re - RAISED) * unit;
        psi.s[c].im = (psi.s[c].im - RAISED) * unit;
    }
#endif
    return psi;
}

static inline void store_spinor(__global stored *half_field, const uint blocks, const size_t block, spinor psi)
{
#if UNIT_NUMBERS
    vreal largest = fmax(fabs(psi.s[0].re), fabs(psi.s[0].im));
#pragma unroll
    for (int c = 1; c < SPINOR_COMPONENTS; ++c)
        largest = fmax(largest, fmax(fabs(psi.s[c].re), fabs(psi.s[c].im)));
    const vreal unit = unit_of(largest), inverse = inverse_of(unit);
    ((__global vreal *)UNITS(half_field, blocks))[block] = unit;
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c)
        psi.s[c] = in_unit(psi.s[c], inverse);
#endif
#if LANES > 1
    __global vstored *numbers = (__global vstored *)half_field + 2 * SPINOR_COMPONENTS * block;
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; ++c) {
        const vstored re = TO_STORED(psi.s[c].re), im = TO_STORED(psi.s[c].im);
#if defined(NONTEMPORAL_STORE) && STREAM_OUTPUT
        __builtin_nontemporal_store(re, numbers + 2 * c);
        __builtin_nontemporal_store(im, numbers + 2 * c + 1);
#else
        numbers[2 * c] = re;
        numbers[2 * c + 1] = im;
#endif
    }
#else
#pragma unroll
    for (int c = 0; c < SPINOR_COMPONENTS; c += PACK)
        store_vector(VECTOR_OF(half_field, SPINOR_COMPONENTS, c, PACK, blocks, block), PACK, psi.s + c);
#endif
}
