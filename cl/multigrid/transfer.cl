// Transfer between a level and the next coarser level, and coarse operators.
//
// FIXED                  1 if near-null vectors and blocks are kept in 16 bits, each group of numbers with a unit
// SOURCES                right-hand sides, which lie one after the other; a stride is the number of reals of one
// HOP_SHARES HOP_CHUNKS  how the work of coarse_hop is divided with one lane
//
// The sums of a right-hand side have the same order, however many there are.
//
// A vector has two numbers, one for each chirality, for each of `half` components of a site. A coarse
// vector has two numbers for each near-null vector (chunks.cl). The near-null vectors of a finer component have the layout of a coarse vector.
// Twins: src/host/multigrid.rs.

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
    const PAIR(kept) pair = ((__global const PAIR(kept) *)numbers)[chunk];
    value.re = TO_REAL(pair.x);
    value.im = TO_REAL(pair.y);
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

#if LANES == 1
// Two numbers, which are loaded at once. There are even numbers of them at each site.
typedef struct {
    vcomplex first, second;
} two_numbers;

#define TWO_NUMBERS(type) JOIN(type, 4)

static inline two_numbers load_two(__global const real *numbers, const size_t number)
{
    const TWO_NUMBERS(REAL) both = *(__global const TWO_NUMBERS(REAL) *)(numbers + 2 * number);
    two_numbers value;
    value.first.re = both.x;
    value.first.im = both.y;
    value.second.re = both.z;
    value.second.im = both.w;
    return value;
}

static inline two_numbers load_two_kept(__global const kept *numbers, const size_t number)
{
#if FIXED
    const TWO_NUMBERS(kept) both = *(__global const TWO_NUMBERS(kept) *)(numbers + 2 * number);
    two_numbers value;
    value.first.re = TO_REAL(both.x);
    value.first.im = TO_REAL(both.y);
    value.second.re = TO_REAL(both.z);
    value.second.im = TO_REAL(both.w);
    return value;
#else
    return load_two(numbers, number);
#endif
}
#endif

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

#define FOR_EACH_SOURCE _Pragma("unroll") for (uint r = 0; r < SOURCES; ++r)

static inline void set_zero(vcomplex *sums)
{
    FOR_EACH_SOURCE sums[r] = splat((double2)(0.0, 0.0));
}

// coarse = V† fine, summed over the members of each aggregate. Aggregates from number `evens` on go to `odd`.
// One work-item for each chunk of a coarse site.
__kernel EXPLICIT_VECTORS void restrict_vector(__global const kept *restrict vectors, __global const float *restrict units,
                                               __global const real *restrict fine, __global const uint *restrict members, __global real *restrict even,
                                               __global real *restrict odd, const uint aggregates, const uint evens,
                                               const uint per_aggregate, const uint half_site, const uint fine_site,
                                               const uint chunks, const uint fine_stride, const uint coarse_stride)
{
    const uint item = get_global_id(0);
    if (item >= aggregates * chunks)
        return;
    const uint aggregate = item / chunks, chunk = item % chunks;
    vcomplex sums[SOURCES];
    set_zero(sums);
    for (uint k = 0; k < per_aggregate; ++k) {
        const uint member = members[(size_t)aggregate * per_aggregate + k];
        if (member == NO_MEMBER)
            break;
        const size_t site = member;
        for (uint i = 0; i < half_site; ++i) {
            const real unit = UNIT(site * half_site + i);
            const vcomplex v = conjugate(load_kept(vectors, (site * half_site + i) * chunks + chunk));
#if LANES == 1 && IN_LANES == 1
            // Even chunks are numbers of the first chirality.
            const size_t number = site * fine_site + 2 * i + chunk % 2;
            FOR_EACH_SOURCE {
                const vcomplex f = scale_number(load_chunk(fine + (size_t)r * fine_stride, number), unit);
                sums[r] = multiply_add(sums[r], v, f);
            }
#else
            const size_t plus = fine_at(site * fine_site + 2 * i), minus = fine_at(site * fine_site + 2 * i + 1);
            FOR_EACH_SOURCE {
                __global const real *from = fine + (size_t)r * fine_stride;
                vcomplex f;
                f.re = BOTH(chunk, unit * from[plus], unit * from[minus]);
                f.im = BOTH(chunk, unit * from[plus + IN_LANES], unit * from[minus + IN_LANES]);
                sums[r] = multiply_add(sums[r], v, f);
            }
#endif
        }
    }
    __global real *to = aggregate < evens ? even : odd;
    const size_t site = aggregate < evens ? aggregate : aggregate - evens;
    FOR_EACH_SOURCE store_chunk(to + (size_t)r * coarse_stride, site * chunks + chunk, sums[r]);
}

#if LANES > 1
// Adds up the numbers of each chirality.
static inline void sum_of_chiralities(const vcomplex sum, real *restrict plus, real *restrict minus)
{
    real re[LANES], im[LANES];
    JOIN(vstore, LANES)(sum.re, 0, re);
    JOIN(vstore, LANES)(sum.im, 0, im);
    plus[0] = plus[1] = minus[0] = minus[1] = 0;
    for (int lane = 0; lane < LANES; lane += 2) {
        plus[0] += re[lane];
        plus[1] += im[lane];
        minus[0] += re[lane + 1];
        minus[1] += im[lane + 1];
    }
}
#endif

// fine = V coarse on the first `sites` sites. One work-item for each component of a site, with both chiralities.
__kernel EXPLICIT_VECTORS void prolong_vector(__global const kept *restrict vectors, __global const float *restrict units,
                                              __global const real *restrict even, __global const real *restrict odd, __global const uint *restrict aggregate_of,
                                              __global real *restrict fine, const uint sites, const uint evens,
                                              const uint half_site, const uint fine_site, const uint chunks,
                                              const uint fine_stride, const uint coarse_stride)
{
    const uint item = get_global_id(0);
    if (item >= sites * half_site)
        return;
    const uint site = item / half_site, i = item % half_site;
    const uint aggregate = aggregate_of[site];
    __global const real *coarse = aggregate < evens ? even : odd;
    const size_t first = (size_t)(aggregate < evens ? aggregate : aggregate - evens) * chunks;
    const size_t at[2] = {fine_at((size_t)site * fine_site + 2 * i), fine_at((size_t)site * fine_site + 2 * i + 1)};
    const real unit = UNIT(item);
#if LANES == 1
    // A chunk is a number of one chirality.
    vcomplex plus[SOURCES], minus[SOURCES];
    set_zero(plus);
    set_zero(minus);
    for (uint chunk = 0; chunk < chunks; chunk += 2) {
        const two_numbers v = load_two_kept(vectors, (size_t)item * chunks + chunk);
        FOR_EACH_SOURCE {
            const two_numbers c = load_two(coarse + (size_t)r * coarse_stride, first + chunk);
            plus[r] = multiply_add(plus[r], v.first, c.first);
            minus[r] = multiply_add(minus[r], v.second, c.second);
        }
    }
    FOR_EACH_SOURCE {
        __global real *to = fine + (size_t)r * fine_stride;
        to[at[0]] = unit * plus[r].re;
        to[at[0] + IN_LANES] = unit * plus[r].im;
        to[at[1]] = unit * minus[r].re;
        to[at[1] + IN_LANES] = unit * minus[r].im;
    }
#else
    vcomplex sums[SOURCES];
    set_zero(sums);
    for (uint chunk = 0; chunk < chunks; ++chunk) {
        const vcomplex v = load_kept(vectors, (size_t)item * chunks + chunk);
        FOR_EACH_SOURCE sums[r] = multiply_add(sums[r], v, load_chunk(coarse + (size_t)r * coarse_stride, first + chunk));
    }
    FOR_EACH_SOURCE {
        real parts[2][2];
        sum_of_chiralities(sums[r], parts[0], parts[1]);
        for (uint chirality = 0; chirality < 2; ++chirality) {
            __global real *to = fine + (size_t)r * fine_stride + at[chirality];
            to[0] = unit * parts[chirality][0];
            to[IN_LANES] = unit * parts[chirality][1];
        }
    }
#endif
}

// fine = one near-null vector in one chirality, on the sites whose flag has bit number `bit`, and 0 elsewhere.
// Right-hand side r gets column `column` + r of V.
// One work-item for each component of a site, with both chiralities.
__kernel void take_vector(__global const kept *restrict vectors, __global const float *restrict units,
                          __global const uint *restrict flags, __global real *restrict fine, const uint sites, const uint column, const uint bit,
                          const uint half_site, const uint fine_site, const uint chunks, const uint fine_stride)
{
    const uint item = get_global_id(0);
    if (item >= sites * half_site)
        return;
    const uint site = item / half_site, i = item % half_site;
    const bool wanted = flags[site] >> bit & 1;
    for (uint r = 0; r < SOURCES; ++r) {
        const uint own = column + r;
        const size_t from = ((size_t)item * chunks + own / LANES) * 2 * LANES + own % LANES;
        for (uint chirality = 0; chirality < 2; ++chirality) {
            const bool keeps = wanted && own % 2 == chirality;
            const size_t to = (size_t)r * fine_stride + fine_at((size_t)site * fine_site + 2 * i + chirality);
            fine[to] = keeps ? UNIT(item) * vectors[from] : 0;
            fine[to + IN_LANES] = keeps ? UNIT(item) * vectors[from + LANES] : 0;
        }
    }
}

// out = alpha own + beta times the sum of products of blocks with vectors of neighbours, for the
// directions of `mask`. Directions 0 to 7 are ahead and behind in x, y, z and t. 8 and 9 are two blocks
// of the site itself, which multiply `own`. `in` has the neighbours' vectors. The blocks of site
// `first` + k are for site k of `out`. A chunk of a site has HOP_SHARES work-items. With one lane they share the
// columns of blocks, so that small lattices have work for many items too, and add up their sums in local memory.
// A group has HOP_CHUNKS chunks then, of which adjacent items load adjacent numbers.
__kernel EXPLICIT_VECTORS void coarse_hop(__global const kept *restrict blocks, __global const float *restrict units,
                                          __global const uint *restrict neighbours, __global const real *restrict in, __global const real *restrict own,
                                          __global real *restrict out, const uint first, const uint sites,
                                          const uint columns, const uint chunks, const uint mask, const real alpha,
                                          const real beta, const uint stride)
{
#if LANES == 1
    __local vcomplex of_shares[HOP_SHARES][SOURCES][HOP_CHUNKS];
    const uint local_item = get_local_id(0) % HOP_CHUNKS, share = get_local_id(0) / HOP_CHUNKS;
    const uint item = get_group_id(0) * HOP_CHUNKS + local_item;
    const uint site = item / chunks, chunk = item % chunks;
    vcomplex sums[SOURCES];
    set_zero(sums);
    for (uint direction = 0; direction < 10 && item < sites * chunks; ++direction) {
        if (!(mask >> direction & 1))
            continue;
        const bool hops = direction < 8;
        __global const real *from = hops ? in : own;
        const uint neighbour = hops ? neighbours[(size_t)(first + site) * 8 + direction] : site;
        __global const real *x = from + (size_t)neighbour * chunks * 2;
        const size_t block = ((size_t)(first + site) * 10 + direction) * columns;
        vcomplex products[SOURCES];
        set_zero(products);
        for (uint column = 2 * share; column < columns; column += 2 * HOP_SHARES) {
            const vcomplex a = load_kept(blocks, (block + column) * chunks + chunk);
            const vcomplex b = load_kept(blocks, (block + column + 1) * chunks + chunk);
            FOR_EACH_SOURCE {
                const two_numbers y = load_two(x + (size_t)r * stride, column);
                products[r] = multiply_add(multiply_add(products[r], y.first, a), y.second, b);
            }
        }
        const vreal unit = (vreal)UNIT((size_t)(first + site) * 10 + direction);
        FOR_EACH_SOURCE sums[r] = add_scaled(sums[r], unit, products[r]);
    }
    FOR_EACH_SOURCE of_shares[share][r][local_item] = sums[r];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item >= sites * chunks)
        return;
    for (uint r = share; r < SOURCES; r += HOP_SHARES) {
        vcomplex sum = of_shares[0][r][local_item];
        for (uint other = 1; other < HOP_SHARES; ++other)
            sum = add_scaled(sum, (vreal)1, of_shares[other][r][local_item]);
        sum = scale_number(sum, (vreal)beta);
        if (alpha != 0)
            sum = add_scaled(sum, (vreal)alpha, load_chunk(own + (size_t)r * stride, item));
        store_chunk(out + (size_t)r * stride, item, sum);
    }
#else
    const uint item = get_global_id(0);
    if (item >= sites * chunks)
        return;
    const uint site = item / chunks, chunk = item % chunks;
    vcomplex sums[SOURCES];
    set_zero(sums);
    for (uint direction = 0; direction < 10; ++direction) {
        if (!(mask >> direction & 1))
            continue;
        const bool hops = direction < 8;
        __global const real *from = hops ? in : own;
        const uint neighbour = hops ? neighbours[(size_t)(first + site) * 8 + direction] : site;
        __global const real *x = from + (size_t)neighbour * chunks * 2 * LANES;
        const size_t block = ((size_t)(first + site) * 10 + direction) * columns;
        vcomplex products[SOURCES];
        set_zero(products);
        for (uint column = 0; column < columns; ++column) {
            const vcomplex a = load_kept(blocks, (block + column) * chunks + chunk);
            FOR_EACH_SOURCE products[r] = multiply_add(products[r], load_number(x + (size_t)r * stride, column), a);
        }
        const vreal unit = (vreal)UNIT((size_t)(first + site) * 10 + direction);
        FOR_EACH_SOURCE sums[r] = add_scaled(sums[r], unit, products[r]);
    }
    FOR_EACH_SOURCE {
        vcomplex sum = scale_number(sums[r], (vreal)beta);
        if (alpha != 0)
            sum = add_scaled(sum, (vreal)alpha, load_chunk(own + (size_t)r * stride, item));
        store_chunk(out + (size_t)r * stride, item, sum);
    }
#endif
}
