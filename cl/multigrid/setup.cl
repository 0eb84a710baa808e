// The set-up of a level: near-null vectors that are orthonormal in blocks, and the blocks of coarse operators.
//
// VECTORS                near-null vectors of the level
// FIXED                  1 if near-null vectors and blocks are kept in 16 bits, each group of numbers with a unit
//
// Vectors lie in rows while they are made orthonormal. Each finer component of a site has a row for each chirality,
// number (site * half + component) * 2 + chirality. A row has PADDED real parts, then as many imaginary parts.
// Matrices between vectors have such rows too, in double.
//
// Blocks are [site][block][column][chunk]. Blocks 0 to 7 are for the neighbours ahead and behind in x, y, z and t,
// block 8 is the site's own, block 9 the inverse of it.
// Twins: src/multigrid/orthonormal.rs, src/multigrid/raw_blocks.rs.

#define TILE 8
#define TILES ((VECTORS + TILE - 1) / TILE)
#define PADDED (TILES * TILE)
#define ROW (2 * PADDED)
#define TO_REAL_TILE(x) JOIN(JOIN(convert_, REAL), 8)(x)

#define BLOCKS 10
#define OWN_BLOCK 8
#define INVERSE_BLOCK 9

// The largest number that is kept in 16 bits, in units.
#define LARGEST 32767.0f

// Vectors number `first` and following become columns of the rows. One work-item for each component of a site.
__kernel void collect_vectors(__global const real *restrict fine, __global real *restrict rows, const uint first,
                              const uint sources, const uint sites, const uint half_site, const uint fine_site,
                              const uint fine_stride)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)sites * half_site)
        return;
    const size_t site = item / half_site, i = item % half_site;
    for (uint chirality = 0; chirality < 2; ++chirality) {
        __global real *row = rows + (item * 2 + chirality) * ROW + first;
        const size_t at = fine_at(site * fine_site + 2 * i + chirality);
        for (uint r = 0; r < sources; ++r) {
            row[r] = fine[(size_t)r * fine_stride + at];
            row[PADDED + r] = fine[(size_t)r * fine_stride + at + IN_LANES];
        }
    }
}

// grams = v† v in each aggregate and chirality, on and above the diagonal. One work-item for each tile of a row.
__kernel EXPLICIT_VECTORS void gram_matrices(__global const real *restrict rows, __global const uint *restrict members,
                            __global double *restrict grams, const uint aggregates, const uint per_aggregate,
                            const uint half_site)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)aggregates * 2 * VECTORS * TILES)
        return;
    const uint tile = item % TILES, left = item / TILES % VECTORS, chirality = item / (TILES * VECTORS) % 2;
    const size_t aggregate = item / (TILES * VECTORS * 2);
    if (tile * TILE + TILE <= left)
        return;
    double8 re = 0.0, im = 0.0;
    for (uint k = 0; k < per_aggregate; ++k) {
        const uint member = members[aggregate * per_aggregate + k];
        if (member == NO_MEMBER)
            break;
        for (uint i = 0; i < half_site; ++i) {
            __global const real *row = rows + (((size_t)member * half_site + i) * 2 + chirality) * ROW;
            const double8 a = (double8)(double)row[left], b = (double8)(double)row[PADDED + left];
            const double8 x = convert_double8(vload8(tile, row)), y = convert_double8(vload8(tile, row + PADDED));
            re = fma(a, x, fma(b, y, re));
            im = fma(a, y, fma(-b, x, im));
        }
    }
    __global double *gram = grams + item / TILES * ROW;
    vstore8(re, tile, gram);
    vstore8(im, tile, gram + PADDED);
}

// The part of a vector's square that must be its own.
#define INDEPENDENT 1e-10

// Replaces Gram matrices R†R by R⁻¹. Flags those of dependent vectors. One work-item for each matrix.
__kernel void factor_grams(__global double *restrict grams, __global uint *restrict flags, const uint matrices)
{
    const size_t item = get_global_id(0);
    if (item >= matrices)
        return;
    __global double *re = grams + item * VECTORS * ROW, *im = re + PADDED;
    for (uint k = 0; k < VECTORS; ++k) {
        const double whole = re[k * ROW + k];
        double own = whole;
        for (uint l = 0; l < k; ++l)
            own -= re[l * ROW + k] * re[l * ROW + k] + im[l * ROW + k] * im[l * ROW + k];
        // False for what is not a number.
        const bool is_independent = own > INDEPENDENT * whole;
        flags[item] = is_independent ? 0 : 1;
        if (!is_independent)
            return;
        const double root = sqrt(own);
        re[k * ROW + k] = root;
        im[k * ROW + k] = 0.0;
        for (uint j = k + 1; j < VECTORS; ++j) {
            double x = re[k * ROW + j], y = im[k * ROW + j];
            for (uint l = 0; l < k; ++l) {
                const double a = re[l * ROW + k], b = -im[l * ROW + k], c = re[l * ROW + j], d = im[l * ROW + j];
                x -= a * c - b * d;
                y -= a * d + b * c;
            }
            re[k * ROW + j] = x / root;
            im[k * ROW + j] = y / root;
        }
    }
    // From the last column on, so that those before are still R.
    for (uint j = VECTORS; j-- > 0;) {
        re[j * ROW + j] = 1.0 / re[j * ROW + j];
        for (uint i = j; i-- > 0;) {
            double x = 0.0, y = 0.0;
            for (uint l = i + 1; l <= j; ++l) {
                const double a = re[i * ROW + l], b = im[i * ROW + l], c = re[l * ROW + j], d = im[l * ROW + j];
                x += a * c - b * d;
                y += a * d + b * c;
            }
            re[i * ROW + j] = -x / re[i * ROW + i];
            im[i * ROW + j] = -y / re[i * ROW + i];
        }
    }
    for (uint i = 0; i < VECTORS; ++i)
        for (uint j = 0; j < PADDED; ++j)
            if (j < i || j >= VECTORS)
                re[i * ROW + j] = im[i * ROW + j] = 0.0;
}

// Multiplies rows by the factors of their aggregates and chiralities. A group has whole rows, with a work-item for each tile.
__kernel EXPLICIT_VECTORS void multiply_rows(__global real *restrict rows, __global const double *restrict factors,
                            __global const uint *restrict aggregate_of, const uint count, const uint half_site,
                            __local real *restrict own)
{
    const uint rows_of_group = get_local_size(0) / TILES, k = get_local_id(0) / TILES, tile = get_local_id(0) % TILES;
    const size_t first = (size_t)get_group_id(0) * rows_of_group;
    for (uint at = get_local_id(0); at < rows_of_group * ROW; at += get_local_size(0))
        own[at] = first + at / ROW < count ? rows[first * ROW + at] : (real)0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const size_t number = first + k;
    if (number >= count)
        return;
    const size_t aggregate = aggregate_of[number / (2 * half_site)];
    __global const double *factor = factors + (aggregate * 2 + number % 2) * VECTORS * ROW;
    double8 re = 0.0, im = 0.0;
    for (uint l = 0; l < min((uint)VECTORS, tile * TILE + TILE); ++l) {
        const double8 a = (double8)(double)own[k * ROW + l], b = (double8)(double)own[k * ROW + PADDED + l];
        const double8 x = vload8(tile, factor + l * ROW), y = vload8(tile, factor + l * ROW + PADDED);
        re = fma(a, x, fma(-b, y, re));
        im = fma(a, y, fma(b, x, im));
    }
    vstore8(TO_REAL_TILE(re), tile, rows + number * ROW);
    vstore8(TO_REAL_TILE(im), tile, rows + number * ROW + PADDED);
}

#if FIXED
#define kept short
// Numbers with a unit of zero are zero.
#define TO_KEPT(x, unit) ((unit) > 0 ? convert_short_sat(round((x) / (unit))) : (short)0)
#else
#define kept real
#define TO_KEPT(x, unit) (x)
#endif

// Keeps rows as near-null vectors: those of both chiralities beside each other. One work-item for each component of a site.
__kernel void keep_vectors(__global const real *restrict rows, __global kept *restrict vectors, __global float *restrict units,
                           const uint count, const uint chunks)
{
    const size_t item = get_global_id(0);
    if (item >= count)
        return;
    __global const real *both = rows + item * 2 * ROW;
#if FIXED
    float unit = 0.0f;
    for (uint k = 0; k < 2 * ROW; ++k)
        unit = fmax(unit, fabs(both[k]));
    unit /= LARGEST;
    units[item] = unit;
#endif
    for (uint column = 0; column < chunks * LANES; ++column) {
        const bool is_one = column < 2 * VECTORS;
        __global const real *from = both + column % 2 * ROW + column / 2;
        __global kept *to = vectors + (item * chunks + column / LANES) * 2 * LANES + column % LANES;
        to[0] = is_one ? TO_KEPT(from[0], unit) : 0;
        to[LANES] = is_one ? TO_KEPT(from[PADDED], unit) : 0;
    }
}

// Keeps `reals` numbers in a row with a unit for them. A group for each row.
__kernel void keep_numbers(__global const real *restrict from, __global kept *restrict to, __global float *restrict units,
                           const uint reals, __local float *restrict largest)
{
    const uint own = get_local_id(0), items = get_local_size(0);
    const size_t start = (size_t)get_group_id(0) * reals;
    float unit = 0.0f;
    for (uint k = own; k < reals; k += items)
        unit = fmax(unit, (float)fabs(from[start + k]));
    largest[own] = unit;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint k = 0; k < items; ++k)
        unit = fmax(unit, largest[k]);
    unit /= LARGEST;
    if (own == 0)
        units[get_group_id(0)] = unit;
    for (uint k = own; k < reals; k += items)
        to[start + k] = TO_KEPT(from[start + k], unit);
}

// Column `column` + r of a block of each site becomes right-hand side r of a coarse vector. Sites from number `evens` on are in `odd`.
// One work-item for each chunk of each right-hand side at a site.
__kernel void store_columns(__global const real *restrict even, __global const real *restrict odd, __global real *restrict blocks,
                            const uint volume, const uint evens, const uint columns, const uint chunks, const uint block,
                            const uint column, const uint sources, const uint stride)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)volume * sources * chunks)
        return;
    const size_t chunk = item % chunks, r = item / chunks % sources, site = item / chunks / sources;
    __global const real *from = (site < evens ? even : odd) + r * stride;
    const size_t place = site < evens ? site : site - evens;
    store_chunk(blocks, ((site * BLOCKS + block) * columns + column + r) * chunks + chunk, load_chunk(from, place * chunks + chunk));
}

// Completes the blocks of directions whose bit is in `directions`: those behind follow from γ5-hermiticity, the hops are subtracted from
// the site's own block. One work-item for each element of a block.
__kernel void complete_blocks(__global real *restrict blocks, __global const uint *restrict neighbours, const uint volume,
                              const uint evens, const uint columns, const uint chunks, const uint directions)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)volume * columns * columns)
        return;
    const uint row = item % columns, column = item / columns % columns;
    const size_t site = item / columns / columns, block_reals = (size_t)columns * chunks * 2 * LANES;
    __global real *own = blocks + site * BLOCKS * block_reals;
    const size_t at = (size_t)column * chunks * 2 * LANES + row / LANES * 2 * LANES + row % LANES;
    const size_t turned = (size_t)row * chunks * 2 * LANES + column / LANES * 2 * LANES + column % LANES;
    real re = own[OWN_BLOCK * block_reals + at], im = own[OWN_BLOCK * block_reals + at + LANES];
    for (uint mu = 0; mu < 4; ++mu) {
        if (!(directions >> mu & 1))
            continue;
        re -= own[2 * mu * block_reals + at];
        im -= own[2 * mu * block_reals + at + LANES];
    }
    const real sign = (row + column) % 2 == 0 ? 1 : -1;
    for (uint mu = 0; mu < 4; ++mu) {
        if (!(directions >> mu & 1))
            continue;
        // Neighbours of even sites are odd where there are parities.
        const size_t behind = neighbours[site * 8 + 2 * mu + 1] + (size_t)(site < evens && evens < volume ? evens : 0);
        __global const real *ahead = blocks + (behind * BLOCKS + 2 * mu) * block_reals;
        const real x = sign * ahead[turned], y = -sign * ahead[turned + LANES];
        own[(2 * mu + 1) * block_reals + at] = x;
        own[(2 * mu + 1) * block_reals + at + LANES] = y;
        re -= x;
        im -= y;
    }
    own[OWN_BLOCK * block_reals + at] = re;
    own[OWN_BLOCK * block_reals + at + LANES] = im;
}

// Inverts the own blocks of sites from number `first` on, and flags singular ones. A group for each site. Elimination with pivots is in
// double, in place in `scratch`: rows there are columns of the block. `factors` has room for a column, `order` for the pivots.
__kernel void invert_sites(__global real *restrict blocks, __global double *restrict scratch, __global uint *restrict flags,
                           const uint first, const uint n, const uint chunks, __local double *restrict factors,
                           __local uint *restrict order)
{
    const uint own = get_local_id(0), items = get_local_size(0);
    const size_t site = first + get_group_id(0), block_reals = (size_t)n * chunks * 2 * LANES;
    __global const real *within = blocks + (site * BLOCKS + OWN_BLOCK) * block_reals;
    __global real *inverse = blocks + (site * BLOCKS + INVERSE_BLOCK) * block_reals;
    __global double *re = scratch + (size_t)get_group_id(0) * 2 * n * n, *im = re + (size_t)n * n;
    bool is_singular = false;
    // A work-item has columns of its own.
    for (uint j = own; j < n; j += items) {
        const size_t at = j / LANES * 2 * LANES + j % LANES;
        for (uint i = 0; i < n; ++i) {
            re[i * n + j] = within[(size_t)i * chunks * 2 * LANES + at];
            im[i * n + j] = within[(size_t)i * chunks * 2 * LANES + at + LANES];
        }
    }
    for (uint k = 0; k < n; ++k) {
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        for (uint i = own; i < n; i += items) {
            factors[2 * i] = re[i * n + k];
            factors[2 * i + 1] = im[i * n + k];
        }
        barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
        uint pivot = k;
        double largest = -1.0;
        for (uint i = k; i < n; ++i) {
            const double norm = factors[2 * i] * factors[2 * i] + factors[2 * i + 1] * factors[2 * i + 1];
            if (norm > largest) {
                largest = norm;
                pivot = i;
            }
        }
        if (own == 0)
            order[k] = pivot;
        const double scale_re = factors[2 * pivot] / largest, scale_im = -factors[2 * pivot + 1] / largest;
        is_singular = is_singular || !isfinite(scale_re) || !isfinite(scale_im);
        for (uint j = own; j < n; j += items) {
            double x = re[pivot * n + j], y = im[pivot * n + j];
            re[pivot * n + j] = re[k * n + j];
            im[pivot * n + j] = im[k * n + j];
            if (j == k) {
                x = 1.0;
                y = 0.0;
            }
            const double row_re = x * scale_re - y * scale_im, row_im = x * scale_im + y * scale_re;
            for (uint i = 0; i < n; ++i) {
                if (i == k)
                    continue;
                const uint from = i == pivot ? k : i;
                const double a = factors[2 * from], b = factors[2 * from + 1];
                const double before_re = j == k ? 0.0 : re[i * n + j], before_im = j == k ? 0.0 : im[i * n + j];
                re[i * n + j] = before_re - (a * row_re - b * row_im);
                im[i * n + j] = before_im - (a * row_im + b * row_re);
            }
            re[k * n + j] = row_re;
            im[k * n + j] = row_im;
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    // Rows that were exchanged are columns of the inverse to exchange, the last ones first.
    for (uint j = own; j < chunks * LANES; j += items) {
        uint from = j;
        for (uint k = 0; k < n; ++k)
            from = from == k ? order[k] : from == order[k] ? k : from;
        const size_t at = j / LANES * 2 * LANES + j % LANES;
        for (uint i = 0; i < n; ++i) {
            const real x = j < n ? re[i * n + from] : 0, y = j < n ? im[i * n + from] : 0;
            inverse[(size_t)i * chunks * 2 * LANES + at] = x;
            inverse[(size_t)i * chunks * 2 * LANES + at + LANES] = y;
        }
    }
    // All work-items have seen all pivots.
    if (own == 0)
        flags[site] = is_singular ? 1 : 0;
}

// Blocks of hops are multiplied by the inverse of the site's own block. The other two stay. One work-item for each chunk of a column.
__kernel EXPLICIT_VECTORS void scale_blocks(__global const real *restrict from, __global real *restrict to, const uint volume,
                                            const uint columns, const uint chunks)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)volume * BLOCKS * columns * chunks)
        return;
    const size_t chunk = item % chunks, column = item / chunks, site = column / columns / BLOCKS;
    if (column / columns % BLOCKS >= OWN_BLOCK) {
        store_chunk(to, item, load_chunk(from, item));
        return;
    }
    __global const real *hops = from + column * chunks * 2 * LANES;
    const size_t inverse = (site * BLOCKS + INVERSE_BLOCK) * columns;
    vcomplex sum = splat((double2)(0.0, 0.0));
    for (uint k = 0; k < columns; ++k) {
        sum = multiply_add(sum, load_number(hops, k), load_chunk(from, (inverse + k) * chunks + chunk));
    }
    store_chunk(to, item, sum);
}
