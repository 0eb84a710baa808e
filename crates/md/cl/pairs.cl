// What all kernels of pair forces share. crates/md/src/host.rs is the twin.
//
//   REAL_BITS    64: places are positions in double. 32: places are fractions of the box in fixed point of 32 bits, and pairs are computed in float.
//   SUM          the type in which the forces on an atom are added
//   ONE_TYPE     1 if all atoms are of one type
//   SHIFT        0: none. 1: of the energy. 2: of the force too.
//   WITH_SUMS    1 if energy, virial and counts are made too
//   BY_ATOM      1: the neighbours of an atom lie together, for processors. 0: first neighbours of all atoms, then second ones, for GPUs.
//   LOCAL_SIZE   items of a group
//
// Differences of fractions wrap round by themselves: the nearest image costs nothing, and they are exact.
//
// Contraction is off, so that kernels with and without sums make the same bits of forces.

#pragma OPENCL FP_CONTRACT OFF

#if REAL_BITS == 64
#define PLACE double4
#else
#define PLACE uint4
#endif

// Places in `constants`, ConstantsOf of crates/md/src/device/constants.rs.
#define SCALE 0
#define INVERSE 3
#define CUTOFF 6
#define CUTOFF_SQUARE 7
#define RMIN 8
#define ORIGIN 9
#define SAMPLES_PER_STEP 10
#define SLOPE_FACTOR 11
#define LIST_SQUARE 12

// Numbers of a row of `rows`: four of the formula or of the beginning of a table, then E and E' of the shift.
#define ROW 8

#if BY_ATOM
#define NEIGHBOUR(k, atom, atoms, capacity) ((size_t)(atom) * (capacity) + (k))
#else
#define NEIGHBOUR(k, atom, atoms, capacity) ((size_t)(k) * (atoms) + (atom))
#endif

static inline void difference(const PLACE a, const PLACE b, __global const real *constants, real *d)
{
#if REAL_BITS == 64
    d[0] = a.x - b.x;
    d[1] = a.y - b.y;
    d[2] = a.z - b.z;
    for (uint axis = 0; axis < 3; ++axis)
        d[axis] -= constants[SCALE + axis] * rint(d[axis] * constants[INVERSE + axis]);
#else
    d[0] = (real)as_int(a.x - b.x) * constants[SCALE];
    d[1] = (real)as_int(a.y - b.y) * constants[SCALE + 1];
    d[2] = (real)as_int(a.z - b.z) * constants[SCALE + 2];
#endif
}

static inline uint row_of(const PLACE a, const PLACE b, const uint types)
{
#if ONE_TYPE
    return 0;
#else
    return (uint)a.w * types + (uint)b.w;
#endif
}

// Sums of a work-item: energy, six of the virial, pairs, pairs below the first sample. Each pair counts twice.
#define MD_SUMS 9

#if WITH_SUMS
#define SUMS_PARAMETERS , __global double *parts

// Adds the sums of a group's items in a tree, and writes them as the group's part. Sums of an item lie side by side.
static inline void write_part(const double *sums, __local double *scratch, __global double *parts)
{
    __global double *const part = parts + MD_SUMS * get_group_id(0);
#if LOCAL_SIZE > 1
    const uint item = get_local_id(0);
    for (uint s = 0; s < MD_SUMS; ++s)
        scratch[MD_SUMS * item + s] = sums[s];
    for (uint active = LOCAL_SIZE; active > 1;) {
        const uint half_way = (active + 1) / 2;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = item; i < (active - half_way) * MD_SUMS; i += LOCAL_SIZE)
            scratch[i] += scratch[i + half_way * MD_SUMS];
        active = half_way;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = item; s < MD_SUMS; s += LOCAL_SIZE)
        part[s] = scratch[s];
#else
    for (uint s = 0; s < MD_SUMS; ++s)
        part[s] = sums[s];
#endif
}
#else
#define SUMS_PARAMETERS
#endif
