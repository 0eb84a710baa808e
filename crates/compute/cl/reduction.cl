// Sums over a whole launch, finished inside the launch, in an order that never changes.
//
// Every work-item brings up to three doubles, or up to eight in kernels that say so. A work-group adds those of its items in a tree, publishes the sums,
// and counts itself as done; the group that finds the others of its bucket done adds the published sums in the order of the
// groups, in a tree again, and the last bucket adds those of the buckets. Which group that is may change from run to run; what is added to what does not, so
// the result has the same bits every time for one range and group size.
//
// Published sums travel between work-groups, for which OpenCL 1.2 has no fence. What makes this correct:
//  * partial sums and the counter are only ever touched by 32-bit atomics, which act on the memory that all
//    work-groups share, never on a private cache. A double travels as two words.
//  * the reader leaves zeros (it reads by exchanging), so a writer's exchange returns zero; the writer adds what
//    it got to the increment of the counter. The increment therefore *needs* the results of the exchanges: it
//    cannot happen before they have.
//  * the reader's exchanges depend, through the branch, on the counter's value, and an atomic is never
//    executed speculatively.
//  * device_fence() stands at both places and holds the compiler to this order.
// NVIDIA has a fence for all of a device. There device_fence() is that, and partial sums are written and read as they are.
//
// A kernel uses it so, with LOCAL_SIZE defined as its work-group size and a one-dimensional range:
//
//     __kernel void norm(..., REDUCTION_PARAMETERS) {
//         REDUCTION_LOCAL;
//         double a = ..., b = ...;
//         REDUCE(2, a, b, 0.0);           // every work-item, once, last
//     }
//
// The sums go to the four doubles of slot `reduction_slot` of reduction_results, zeros behind them.
//
// A kernel that makes more sums has REDUCTION_VALUES, their number, as an option of its build. It takes MANY_SUMS_PARAMETERS and ends with
// REDUCE_VALUES(values), an array of so many doubles. Each slot then gets two real sums, with a zero behind each.
//
// Sums of several launches that share the work-groups of one are the same. Their kernel redefines which group this is, and how many there are in all.

#ifndef REDUCTION_VALUES
#define REDUCTION_VALUES 3
#endif
#define REDUCTION_GROUP get_group_id(0)
#define REDUCTION_GROUPS get_num_groups(0)

// Groups whose sums are added by the last of them; what these buckets give is added by the last of those. With thousands of groups one of them
// alone would take longer than all of their work, the more so if it has to exchange. The eight groups a unit of sums over vectors shall be one
// bucket where adding needs no exchange: a second one costs an H200, which has 1056 of them, 1 to 2 us.
#ifdef INLINE_PTX
#define REDUCTION_BUCKET 2048
#else
#define REDUCTION_BUCKET 64
#endif

#define REDUCTION_PARAMETERS                                                                                    \
    __global uint *reduction_partials, __global uint *reduction_counters, __global double *reduction_results,      \
        const uint reduction_slot

#define MANY_SUMS_PARAMETERS                                                                                    \
    __global uint *reduction_partials, __global uint *reduction_counters, __global double *reduction_results,      \
        const uint4 reduction_slots

// The place of value v of an item in local memory. All items of a value lie one after another, or the values of an item side by
// side. An odd distance of items keeps neighbours in different banks.
#ifdef REDUCTION_BESIDE
#define REDUCTION_DISTANCE (REDUCTION_VALUES | 1)
#define REDUCTION_AT(v, item) ((item) * REDUCTION_DISTANCE + (v))
#else
#define REDUCTION_DISTANCE REDUCTION_VALUES
#define REDUCTION_AT(v, item) ((v) * LOCAL_SIZE + (item))
#endif

#define REDUCTION_LOCAL                                                                                         \
    __local double reduction_scratch[REDUCTION_DISTANCE * LOCAL_SIZE];                                          \
    __local uint reduction_is_last

// `count`, a literal from 1 to 3, is how many of the values are meant.
#define REDUCE(count, a, b, c)                                                                                  \
    reduce(count, a, b, c, REDUCTION_GROUP, REDUCTION_GROUPS, reduction_scratch, &reduction_is_last,             \
           reduction_partials, reduction_counters, reduction_results + 4 * reduction_slot)

#define REDUCE_VALUES(values)                                                                                   \
    reduce_values(REDUCTION_VALUES, values, REDUCTION_GROUP, REDUCTION_GROUPS, reduction_scratch,                \
                  &reduction_is_last, reduction_partials, reduction_counters, reduction_results, reduction_slots)

// Sums value v over the items, into item 0, for each v < count.
static inline void reduce_group(int count, uint item, __local double *scratch) {
#if LOCAL_SIZE > 1
    barrier(CLK_LOCAL_MEM_FENCE);
    uint active = LOCAL_SIZE;
    while (active > 1) {
        const uint half_way = (active + 1) / 2;
#ifdef REDUCTION_BESIDE
        for (uint i = item; i < (active - half_way) * REDUCTION_DISTANCE; i += LOCAL_SIZE) {
            scratch[i] += scratch[i + half_way * REDUCTION_DISTANCE];
        }
#else
        if (item + half_way < active) {
            for (int v = 0; v < count; v++) {
                scratch[v * LOCAL_SIZE + item] += scratch[v * LOCAL_SIZE + item + half_way];
            }
        }
#endif
        active = half_way;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
#endif
}

#ifdef INLINE_PTX

// Between fences of the device plain accesses are enough. None of them waits for the one before.
static inline uint reduce_publish(volatile __global uint *words, double value) {
    *(volatile __global double *)words = value;
    return 0;
}

static inline double reduce_collect(volatile __global uint *words) { return *(volatile __global double *)words; }

#else

// Writes a double where other work-groups will read it; returns what the words held before: zero.
static inline uint reduce_publish(volatile __global uint *words, double value) {
    const uint2 halves = as_uint2(value);
    return atomic_xchg(words, halves.x) | atomic_xchg(words + 1, halves.y);
}

// Reads a published double and leaves zero in its place.
static inline double reduce_collect(volatile __global uint *words) {
    uint2 halves;
    halves.x = atomic_xchg(words, 0u);
    halves.y = atomic_xchg(words + 1, 0u);
    return as_double(halves);
}

#endif

// The sums of `entries` published entries, in the order of the entries, at item 0; leaves zeros in their places.
static inline void reduce_entries(int count, uint first, uint entries, uint item, __local double *scratch,
                                  volatile __global uint *partials) {
    device_fence();
    double sums[REDUCTION_VALUES];
    for (int v = 0; v < REDUCTION_VALUES; v++) {
        sums[v] = 0.0;
    }
    UNROLL_4
    for (uint entry = item; entry < entries; entry += LOCAL_SIZE) {
        for (int v = 0; v < count; v++) {
            sums[v] += reduce_collect(partials + 2 * (REDUCTION_VALUES * (first + entry) + v));
        }
    }
    for (int v = 0; v < count; v++) {
        scratch[REDUCTION_AT(v, item)] = sums[v];
    }
    reduce_group(count, item, scratch);
}

// Publishes the sums of item 0 as entry number `entry`, and counts; says whether `others` had been counted before.
static inline uint reduce_counts_last(int count, uint entry, uint others, __local const double *scratch,
                                      volatile __global uint *partials, volatile __global uint *counter) {
    uint before = 0;
    for (int v = 0; v < count; v++) {
        before |= reduce_publish(partials + 2 * (REDUCTION_VALUES * entry + v), scratch[REDUCTION_AT(v, 0)]);
    }
    device_fence();
    return atomic_add(counter, 1u + before) == others;
}

// Adds the values of all items of the launch. Item 0 of the group that ends last gets true, with the sums in its place of `scratch`.
static inline int reduce_launch(int count, const double *values, const uint group, const uint groups, __local double *scratch,
                                __local uint *is_last, volatile __global uint *partials, volatile __global uint *counters) {
    const uint item = get_local_id(0);
    const uint buckets = (groups + REDUCTION_BUCKET - 1) / REDUCTION_BUCKET;
    const uint bucket = group / REDUCTION_BUCKET;

    for (int v = 0; v < count; v++) {
        scratch[REDUCTION_AT(v, item)] = values[v];
    }
#ifdef REDUCTION_BESIDE
    // The tree adds all places, also those without a value.
    for (int v = count; v < REDUCTION_DISTANCE; v++) {
        scratch[REDUCTION_AT(v, item)] = 0.0;
    }
#endif
    reduce_group(count, item, scratch);
    // What this group counts itself as, and the entries that it adds if it is the last: the groups of its bucket, then the buckets.
    uint entry = group;
    uint first = bucket * REDUCTION_BUCKET;
    uint entries = min((uint)REDUCTION_BUCKET, groups - first);
    volatile __global uint *counter = counters + 1 + bucket;
    // One loop and not the same statements twice, of which PoCL 3.1 makes wrong code.
    for (int level = buckets > 1 ? 0 : 1; level < 2; level++) {
        if (item == 0) {
            *is_last = reduce_counts_last(count, entry, entries - 1, scratch, partials, counter);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (!*is_last) {
            return 0;
        }
        reduce_entries(count, first, entries, item, scratch, partials);
        if (item == 0) {
            atomic_xchg(counter, 0u);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        entry = groups + bucket;
        first = groups;
        entries = buckets;
        counter = counters;
    }
    return item == 0;
}

#if REDUCTION_VALUES == 3
// Gives 1 to the work-item that has the sums, and has written them.
static inline int reduce(int count, double a, double b, double c, const uint group, const uint groups, __local double *scratch,
                         __local uint *is_last, volatile __global uint *partials, volatile __global uint *counters,
                         __global double *result) {
    const double values[REDUCTION_VALUES] = {a, b, c};
    const int has_sums = reduce_launch(count, values, group, groups, scratch, is_last, partials, counters);
    if (has_sums) {
        for (int v = 0; v < 4; v++) {
            result[v] = v < count ? scratch[REDUCTION_AT(v, 0)] : 0.0;
        }
    }
    return has_sums;
}
#endif

static inline void reduce_values(int count, const double *values, const uint group, const uint groups, __local double *scratch,
                                 __local uint *is_last, volatile __global uint *partials, volatile __global uint *counters,
                                 __global double *results, const uint4 slots) {
    if (reduce_launch(count, values, group, groups, scratch, is_last, partials, counters)) {
        const uint places[4] = {slots.x, slots.y, slots.z, slots.w};
        for (int v = 0; v < count; v++) {
            results[4 * places[v / 2] + 2 * (v % 2)] = scratch[REDUCTION_AT(v, 0)];
            results[4 * places[v / 2] + 2 * (v % 2) + 1] = 0.0;
        }
    }
}

#if REDUCTION_VALUES == 3
// The largest of the work-items' values, and the smallest of the numbers that came with it, in place of sums: into
// the first two doubles of the slot. A number 0 is no candidate.
#define REDUCE_LARGEST(value, number)                                                                           \
    reduce_largest(value, number, reduction_scratch, &reduction_is_last, reduction_partials, reduction_counters,  \
                   reduction_results + 4 * reduction_slot)

static inline void keep_larger(double value, double number, double *best, double *best_number) {
    if (number > 0.0 && (*best_number == 0.0 || value > *best || (value == *best && number < *best_number))) {
        *best = value;
        *best_number = number;
    }
}

// The best of a work-group's candidates, to item 0; scratch holds values, then numbers.
static inline void largest_of_group(uint item, __local const double *scratch, double *best, double *best_number) {
    barrier(CLK_LOCAL_MEM_FENCE);
    *best = 0.0;
    *best_number = 0.0;
    if (item == 0) {
        for (uint other = 0; other < LOCAL_SIZE; other++) {
            keep_larger(scratch[other], scratch[LOCAL_SIZE + other], best, best_number);
        }
    }
}

static inline void reduce_largest(double value, ulong number, __local double *scratch, __local uint *is_last,
                                  volatile __global uint *partials, volatile __global uint *counter,
                                  __global double *result) {
    const uint item = get_local_id(0);
    const uint groups = get_num_groups(0);
    double best;
    double best_number;
    scratch[item] = value;
    scratch[LOCAL_SIZE + item] = (double)number;
    largest_of_group(item, scratch, &best, &best_number);
    if (item == 0) {
        volatile __global uint *words = partials + 2 * REDUCTION_VALUES * get_group_id(0);
        const uint before = reduce_publish(words, best) | reduce_publish(words + 2, best_number);
        device_fence();
        *is_last = atomic_add(counter, 1u + before) == groups - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (*is_last) {
        device_fence();
        best = 0.0;
        best_number = 0.0;
        for (uint group = item; group < groups; group += LOCAL_SIZE) {
            volatile __global uint *words = partials + 2 * REDUCTION_VALUES * group;
            const double other = reduce_collect(words);
            keep_larger(other, reduce_collect(words + 2), &best, &best_number);
        }
        scratch[item] = best;
        scratch[LOCAL_SIZE + item] = best_number;
        largest_of_group(item, scratch, &best, &best_number);
        if (item == 0) {
            result[0] = best;
            result[1] = best_number;
            result[2] = result[3] = 0.0;
            atomic_xchg(counter, 0u);
        }
    }
}
#endif
