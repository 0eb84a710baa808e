// The sums of a density in passing, while a transform reads its rows (crates/linalg/src/fft/callback.rs).

#define CALLBACK_PARAMETERS , const uint4 shape, const uint first_row, const uint first_part, __global double *parts

#define CALLBACK_BEGIN              \
    double sums[4] = {0, 0, 0, 0};  \
    const double3 over = (double3)(1.0 / shape.x, 1.0 / shape.y, 1.0 / shape.z);

#define LOADED(line, k, re, im)                                             \
    {                                                                       \
        const uint row = 2 * (uint)(line);                                  \
        add_moments(first_row + row, k, re, shape, over, sums);             \
        if (row + 1 < singles)                                              \
            add_moments(first_row + row + 1, k, im, shape, over, sums);     \
    }

#define CALLBACK_END(scratch) write_part(4, sums, scratch, parts + MOST_SUMS * first_part);
