// Velocity Verlet: v += a h/2; x += v h; forces; v += a h/2. crates/md/src/motion/host.rs is the twin.
//
// `kicks` half kicks stand before the drift: one at first, and then two, the second half of the step before and the first of this one.
// They stay apart, so that a step makes the same bits whether somebody looks behind it or not.

static inline double kicked(const double velocity, const double acceleration, const double time, const uint kicks)
{
    double v = velocity;
    for (uint kick = 0; kick < kicks; ++kick)
        v = fma(time, acceleration, v);
    return v;
}

// Moves atoms by a step, and packs their places. `moved` gets the largest square of a distance from `sorted_at`, and of a step, as bits of floats:
// such bits of positive numbers have the order of the numbers.
__kernel void md_drift(__global double *positions, __global double *velocities, __global const double *forces,
                       __global const double *accelerations, __global const uint *order, __global const uint *atom_types,
                       __global const double *edges, __global const double *sorted_at, const double duration, const uint kicks,
                       const uint atoms, __global PLACE *places, __global uint *moved)
{
    __local uint largest[2 * LOCAL_SIZE];
    const uint s = get_global_id(0), item = get_local_id(0);
    uint distance = 0, stride = 0;
    if (s < atoms) {
        const uint i = order[s];
        const double factor = accelerations[i];
        double x[3], square = 0, step_square = 0;
        for (uint axis = 0; axis < 3; ++axis) {
            const size_t place = 3 * (size_t)s + axis;
            const double v = kicked(velocities[place], factor * forces[place], 0.5 * duration, kicks);
            const double by = duration * v;
            x[axis] = positions[place] + by;
            velocities[place] = v;
            positions[place] = x[axis];
            const double apart = x[axis] - sorted_at[place];
            square += apart * apart;
            step_square += by * by;
        }
        places[s] = packed(x[0], x[1], x[2], edges, atom_types[i]);
        distance = as_uint((float)square);
        stride = as_uint((float)step_square);
    }
    largest[2 * item] = distance;
    largest[2 * item + 1] = stride;
    GROUP_BARRIER;
    if (item < 2) {
        uint most = largest[item];
        for (uint other = 1; other < LOCAL_SIZE; ++other)
            most = max(most, largest[2 * other + item]);
        atomic_max(&moved[item], most);
    }
#if LOCAL_SIZE == 1
    atomic_max(&moved[1], stride);
#endif
}

// The second half kick of a step.
__kernel void md_kick(__global double *velocities, __global const double *forces, __global const double *accelerations,
                      __global const uint *order, const double duration, const uint atoms)
{
    const uint s = get_global_id(0);
    if (s < atoms) {
        const double factor = accelerations[order[s]];
        for (uint axis = 0; axis < 3; ++axis) {
            const size_t place = 3 * (size_t)s + axis;
            velocities[place] = kicked(velocities[place], factor * forces[place], 0.5 * duration, 1);
        }
    }
}
