// Rotations of pairs of columns, in double precision: see wide.cl.

// A rotation of two columns p and q that makes them orthogonal: p' = c p - s conj(phase) q, and q' = s p + c conj(phase) q.
typedef struct {
    double c;
    double s;
    wide phase;
} rotation;

// The rotation for columns with these squares of norms, and pᴴ q = product, of size `size`.
static inline rotation rotation_of(double p, double q, wide product, double size) {
    const double zeta = (q - p) / (2.0 * size);
    const double t = copysign(1.0, zeta) / (fabs(zeta) + hypot(1.0, zeta));
    rotation r;
    r.c = 1.0 / sqrt(1.0 + t * t);
    r.s = r.c * t;
    r.phase = product / size;
    return r;
}

// The new elements of both columns.
static inline wide rotated_first(rotation r, wide p, wide q) { return r.c * p - r.s * times(conjugated(r.phase), q); }
static inline wide rotated_second(rotation r, wide p, wide q) { return r.s * p + r.c * times(conjugated(r.phase), q); }

static inline double square_of_wide(wide x) { return first_part(x) * first_part(x) + second_part(x) * second_part(x); }

// The pair number `number` of a round in which each of `players` columns, an even number, meets another one.
static inline uint2 pair_of(uint players, uint round, uint number) {
    const uint others = players - 1;
    const uint one = number == 0 ? others : (round + number) % others;
    const uint two = number == 0 ? round : (round + others - number) % others;
    return (uint2)(min(one, two), max(one, two));
}
