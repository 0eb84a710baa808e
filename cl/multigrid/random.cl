// Random numbers that belong to sites: Philox4x32-10, see crates/compute/src/philox.rs.
// Twin: random_numbers in src/host/multigrid.rs.

static inline uint4 philox(uint4 counter, uint2 key)
{
    for (int round = 0; round < 10; ++round) {
        const uint high_x = mul_hi(0xD2511F53u, counter.x), low_x = 0xD2511F53u * counter.x;
        const uint high_z = mul_hi(0xCD9E8D57u, counter.z), low_z = 0xCD9E8D57u * counter.z;
        counter = (uint4)(high_z ^ counter.y ^ key.x, low_z, high_x ^ counter.w ^ key.y, low_x);
        key += (uint2)(0x9E3779B9u, 0xBB67AE85u);
    }
    return counter;
}

// Reals between -1 and 1: four in each of `blocks` blocks, at `count` sites whose global numbers are `sites`, for each of `columns` streams from
// number `stream` on. One work-item for each block.
__kernel void random_numbers(__global real *restrict numbers, __global const uint *restrict sites, const uint count,
                             const uint columns, const uint blocks, const uint stream, const uint key_low, const uint key_high)
{
    const size_t item = get_global_id(0);
    if (item >= (size_t)columns * count * blocks)
        return;
    const uint block = item % blocks, column = item / blocks / count;
    const uint4 words = philox((uint4)(block, stream + column, sites[item / blocks % count], 0), (uint2)(key_low, key_high));
    // A word is a whole number of units of 2^-31.
    vstore4(JOIN(JOIN(convert_, REAL), 4)(as_int4(words)) * (real)0x1p-31f, item, numbers);
}
