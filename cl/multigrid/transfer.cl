// Transfer between a level and the next coarser level, and construction of coarse operators.
//
// LANES                  complex numbers of a coarse vector with adjacent real parts; imaginary parts follow
// IN_LANES               LANES of vectors of the finer level
// FIXED                  1 if near-null vectors and blocks are kept in 16 bits, each group of numbers with a unit
//
// A vector has two numbers, one for each chirality, for each of `half` components of a site. A coarse
// vector has two numbers for each near-null vector. Zeros fill the numbers of a site up to whole
// chunks of LANES. The near-null vectors of a finer component have the layout of a coarse vector.
// Twins: src/host/multigrid.rs.

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

// Stored numbers, in units.
#if FIXED
#define kept short
#define UNIT(group) units[group]
#if LANES == 1
#define TO_REAL(numbers) ((real)(numbers))
#else
#define TO_REAL(numbers) JOIN(JOIN(convert_, REAL), LANES)(numbers)
#endif

static inline vcomplex load_kept(__global const kept *numbers, const size_t chunk)
{
    vcomplex value;
#if LANES == 1
    value.re = TO_REAL(numbers[2 * chunk]);
    value.im = TO_REAL(numbers[2 * chunk + 1]);
#else
    value.re = TO_REAL(JOIN(vload, LANES)(0, CHUNK_AT(numbers, chunk)));
    value.im = TO_REAL(JOIN(vload, LANES)(0, CHUNK_AT(numbers, chunk) + LANES));
#endif
    return value;
}
#else
#define kept real
#define UNIT(group) ((real)1)
#define load_kept load_chunk
#endif

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

// The numbers of both chiralities for each lane of a chunk.
#if LANES == 1
#define BOTH(chunk, plus, minus) ((chunk) % 2 == 0 ? (plus) : (minus))
#elif LANES == 2
#define BOTH(chunk, plus, minus) ((vreal)(plus, minus))
#elif LANES == 4
#define BOTH(chunk, plus, minus) ((vreal)(plus, minus, plus, minus))
#elif LANES == 8
#define BOTH(chunk, plus, minus) ((vreal)(plus, minus, plus, minus, plus, minus, plus, minus))
#else
#define BOTH(chunk, plus, minus)                                                                             \
    ((vreal)(plus, minus, plus, minus, plus, minus, plus, minus, plus, minus, plus, minus, plus, minus, plus, minus))
#endif

// coarse = V† fine, summed over the members of each aggregate. Aggregates from number `evens` on go to `odd`.
// One work-item for each chunk of a coarse site.
__kernel EXPLICIT_VECTORS void restrict_vector(__global const kept *restrict vectors, __global const float *restrict units,
                                               __global const real *restrict fine, __global const uint *restrict members, __global real *restrict even,
                                               __global real *restrict odd, const uint aggregates, const uint evens,
                                               const uint per_aggregate, const uint half_site, const uint fine_site,
                                               const uint chunks)
{
    const uint item = get_global_id(0);
    if (item >= aggregates * chunks)
        return;
    const uint aggregate = item / chunks, chunk = item % chunks;
    vcomplex sum = splat((double2)(0.0, 0.0));
    for (uint k = 0; k < per_aggregate; ++k) {
        const uint member = members[(size_t)aggregate * per_aggregate + k];
        if (member == NO_MEMBER)
            break;
        const size_t site = member;
        for (uint i = 0; i < half_site; ++i) {
            const real unit = UNIT(site * half_site + i);
            const vcomplex v = load_kept(vectors, (site * half_site + i) * chunks + chunk);
            const size_t plus = fine_at(site * fine_site + 2 * i), minus = fine_at(site * fine_site + 2 * i + 1);
            vcomplex f;
            f.re = BOTH(chunk, unit * fine[plus], unit * fine[minus]);
            f.im = BOTH(chunk, unit * fine[plus + IN_LANES], unit * fine[minus + IN_LANES]);
            sum = multiply_add(sum, conjugate(v), f);
        }
    }
    if (aggregate < evens)
        store_chunk(even, (size_t)aggregate * chunks + chunk, sum);
    else
        store_chunk(odd, (size_t)(aggregate - evens) * chunks + chunk, sum);
}

// fine = V coarse on the first `sites` sites. One work-item for each component of a site, with both chiralities.
__kernel EXPLICIT_VECTORS void prolong_vector(__global const kept *restrict vectors, __global const float *restrict units,
                                              __global const real *restrict even, __global const real *restrict odd, __global const uint *restrict aggregate_of,
                                              __global real *restrict fine, const uint sites, const uint evens,
                                              const uint half_site, const uint fine_site, const uint chunks)
{
    const uint item = get_global_id(0);
    if (item >= sites * half_site)
        return;
    const uint site = item / half_site, i = item % half_site;
    const uint aggregate = aggregate_of[site];
    __global const real *coarse = aggregate < evens ? even : odd;
    const size_t first = (size_t)(aggregate < evens ? aggregate : aggregate - evens) * chunks;
#if LANES == 1
    vcomplex sums[2] = {splat((double2)(0.0, 0.0)), splat((double2)(0.0, 0.0))};
    for (uint chunk = 0; chunk < chunks; chunk += 2)
        for (uint chirality = 0; chirality < 2; ++chirality)
            sums[chirality] = multiply_add(sums[chirality], load_kept(vectors, (size_t)item * chunks + chunk + chirality),
                                           load_chunk(coarse, first + chunk + chirality));
    const real plus_re = sums[0].re, plus_im = sums[0].im, minus_re = sums[1].re, minus_im = sums[1].im;
#else
    vcomplex sum = splat((double2)(0.0, 0.0));
    for (uint chunk = 0; chunk < chunks; ++chunk)
        sum = multiply_add(sum, load_kept(vectors, (size_t)item * chunks + chunk), load_chunk(coarse, first + chunk));
    real re[LANES], im[LANES];
    JOIN(vstore, LANES)(sum.re, 0, re);
    JOIN(vstore, LANES)(sum.im, 0, im);
    real plus_re = 0, plus_im = 0, minus_re = 0, minus_im = 0;
    for (int lane = 0; lane < LANES; lane += 2) {
        plus_re += re[lane];
        plus_im += im[lane];
        minus_re += re[lane + 1];
        minus_im += im[lane + 1];
    }
#endif
    const size_t plus = fine_at((size_t)site * fine_site + 2 * i), minus = fine_at((size_t)site * fine_site + 2 * i + 1);
    const real unit = UNIT(item);
    fine[plus] = unit * plus_re;
    fine[plus + IN_LANES] = unit * plus_im;
    fine[minus] = unit * minus_re;
    fine[minus + IN_LANES] = unit * minus_im;
}

// fine = one near-null vector in one chirality, column `column` of V, on the sites whose flag has bit
// number `bit`, and 0 elsewhere.
// One work-item for each component of a site, with both chiralities.
__kernel void take_vector(__global const kept *restrict vectors, __global const float *restrict units,
                          __global const uint *restrict flags, __global real *restrict fine, const uint sites, const uint column, const uint bit,
                          const uint half_site, const uint fine_site, const uint chunks)
{
    const uint item = get_global_id(0);
    if (item >= sites * half_site)
        return;
    const uint site = item / half_site, i = item % half_site;
    const size_t from = ((size_t)item * chunks + column / LANES) * 2 * LANES + column % LANES;
    const bool wanted = flags[site] >> bit & 1;
    for (uint chirality = 0; chirality < 2; ++chirality) {
        const bool keeps = wanted && column % 2 == chirality;
        const size_t to = fine_at((size_t)site * fine_site + 2 * i + chirality);
        fine[to] = keeps ? UNIT(item) * vectors[from] : 0;
        fine[to + IN_LANES] = keeps ? UNIT(item) * vectors[from + LANES] : 0;
    }
}

// out = alpha own + beta times the sum of products of blocks with vectors of neighbours, for the
// directions of `mask`. Directions 0 to 7 are ahead and behind in x, y, z and t. 8 and 9 are two blocks
// of the site itself, which multiply `own`. `in` has the neighbours' vectors. The blocks of site
// `first` + k are for site k of `out`. One work-item for each chunk of a site.
__kernel EXPLICIT_VECTORS void coarse_hop(__global const kept *restrict blocks, __global const float *restrict units,
                                          __global const uint *restrict neighbours, __global const real *restrict in, __global const real *restrict own,
                                          __global real *restrict out, const uint first, const uint sites,
                                          const uint columns, const uint chunks, const uint mask, const real alpha,
                                          const real beta)
{
    const uint item = get_global_id(0);
    if (item >= sites * chunks)
        return;
    const uint site = item / chunks, chunk = item % chunks;
    vcomplex sum = splat((double2)(0.0, 0.0));
    for (uint direction = 0; direction < 10; ++direction) {
        if (!(mask >> direction & 1))
            continue;
        const bool hops = direction < 8;
        __global const real *from = hops ? in : own;
        const uint neighbour = hops ? neighbours[(size_t)(first + site) * 8 + direction] : site;
        __global const real *x = from + (size_t)neighbour * chunks * 2 * LANES;
        const size_t block = ((size_t)(first + site) * 10 + direction) * columns;
        vcomplex product = splat((double2)(0.0, 0.0));
        for (uint column = 0; column < columns; ++column) {
            const uint at = column / LANES * 2 * LANES + column % LANES;
            vcomplex value;
            value.re = (vreal)x[at];
            value.im = (vreal)x[at + LANES];
            product = multiply_add(product, value, load_kept(blocks, (block + column) * chunks + chunk));
        }
        sum = add_scaled(sum, (vreal)UNIT((size_t)(first + site) * 10 + direction), product);
    }
    sum = scale_number(sum, (vreal)beta);
    if (alpha != 0)
        sum = add_scaled(sum, (vreal)alpha, load_chunk(own, item));
    store_chunk(out, item, sum);
}
