// Adds up the parts of Gram matrices. LOCAL_SIZE is the work-group size.

// The sums over `count` work-groups; one work-group for each number of the tiles.
__kernel void columns_sum(const uint count, __global const double2 *restrict partials, __global double2 *restrict results)
{
    __local double2 scratch[LOCAL_SIZE];
    const uint item = get_local_id(0);
    double2 sum = (double2)(0.0, 0.0);
    UNROLL_8
    for (uint group = item; group < count; group += LOCAL_SIZE)
        sum += partials[(size_t)get_group_id(0) * count + group];
    scratch[item] = sum;
    GROUP_BARRIER;
    for (uint active = LOCAL_SIZE; active > 1; active = (active + 1) / 2) {
        const uint half_way = (active + 1) / 2;
        if (item + half_way < active)
            scratch[item] += scratch[item + half_way];
        GROUP_BARRIER;
    }
    if (item == 0)
        results[get_group_id(0)] = scratch[0];
}
