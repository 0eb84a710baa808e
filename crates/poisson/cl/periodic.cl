// The product in a periodic cell, between a transform along the first axis and its inverse (crates/linalg/src/fft/callback.rs).

#define CALLBACK_PARAMETERS , const uint4 shape, __global const double *cell, __global double *parts

#define CALLBACK_BEGIN                         \
    double sums[7] = {0, 0, 0, 0, 0, 0, 0};    \
    const uint row_length = shape.z / 2 + 1;   \
    const double over_points = 1.0 / ((double)shape.x * shape.y * shape.z);

#define MULTIPLY(line, k, re, im)                                                                                 \
    {                                                                                                             \
        const uint row = (uint)(line) / row_length;                                                               \
        multiply_component(k, row, (uint)(line) - row * row_length, shape, cell, over_points, &re, &im, sums);    \
    }

#define CALLBACK_END(scratch) write_part(7, sums, scratch, parts);
