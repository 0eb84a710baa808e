// What the kernels over groups of grid points have in common. crates/xc/src/tables.rs makes the tables, crates/xc/src/host/ has the twins.
//
// A batch is a list of groups; dimension 1 of a range counts them. The points of a group are padded to a multiple of 16 by points without weight.
// Functions are stored as planes: the value, then the derivatives x, y, z, xx, xy, xz, yy, yz, zz. A plane has group after group, within it function
// after function, within it point after point. `plane` is the distance of two planes, `all_points` the number of points of the batch.
//
//   LANES    points of a vector

#define GROUP_WORDS 8

// The group of this work-group. `numbers`: where the numbers of its functions begin. `square`: where its square matrix begins.
#define GROUP                                                                                                       \
    __global const ulong *group = groups + GROUP_WORDS * get_group_id(1);                                           \
    const ulong first_point = group[0], first_value = group[6], square = group[7];                                  \
    const uint points = (uint)group[1], functions = (uint)group[2], first_shell = (uint)group[3];                   \
    const uint shell_count = (uint)group[4], numbers = (uint)group[5]

// The vectors of a group's points that this work-item takes: `p` is the first point of each.
#define FOR_EACH_VECTOR for (uint p = get_global_id(0) * LANES; p < points; p += get_global_size(0) * LANES)

#if LANES == 1
#define load_lanes(p) (*(p))
#define store_lanes(v, p) (*(p) = (v))
#else
#define load_lanes(p) JOIN(vload, LANES)(0, p)
#define store_lanes(v, p) JOIN(vstore, LANES)(v, 0, p)
#endif
