// Numbers that are made of sums which are still on the device: a factor times up to three ratios of sums.
//
// A kernel declares NUMBER_MEMORY once and NUMBER_PARAMETERS(a) for each number a, and takes its value as NUMBER(a). The memory is where REDUCE
// puts its sums, each in a slot of four doubles; code 2·slot is the complex number of the first two of them, 2·slot + 1 that of the
// last two, and 0 stands for the number 1. See src/sums/number.rs.

// Never `restrict`: the sums of the same launch go to the same memory.
#define NUMBER_MEMORY __global const double *numbers
#define NUMBER_PARAMETERS(name) const double name##_re, const double name##_im, const uint4 name##_ratios
#define NUMBER(name) number_value(numbers, name##_re, name##_im, name##_ratios)

static inline double2 number_sum(__global const double *numbers, const uint code, const uint conjugate)
{
    if (code == 0)
        return (double2)(1.0, 0.0);
    const double re = numbers[2 * code], im = numbers[2 * code + 1];
    return (double2)(re, conjugate ? -im : im);
}

// n / d, and 0 where d is. The host computes the same bits (src/sums/number.rs): each fma leaves one product beside it, and so no choice of which
// product a sum takes in without rounding.
static inline double2 number_quotient(const double2 n, const double2 d)
{
    if (d.y == 0.0)
        return d.x == 0.0 ? (double2)(0.0, 0.0) : (double2)(n.x / d.x, n.y / d.x);
    const double norm = fma(d.x, d.x, d.y * d.y);
    return (double2)(fma(n.x, d.x, n.y * d.y) / norm, fma(n.y, d.x, -(n.x * d.y)) / norm);
}

static inline double2 number_product(const double2 a, const double2 b)
{
    return (double2)(fma(a.x, b.x, -(a.y * b.y)), fma(a.x, b.y, a.y * b.x));
}

static inline double2 number_value(__global const double *numbers, const double re, const double im, const uint4 ratios)
{
    const uint codes[3] = {ratios.x, ratios.y, ratios.z};
    double2 value = (double2)(re, im);
    for (int k = 0; k < 3; ++k) {
        if (codes[k] != 0)
            value = number_product(value, number_quotient(number_sum(numbers, codes[k] & 0xFFFF, ratios.w >> k & 1),
                                                          number_sum(numbers, codes[k] >> 16, ratios.w >> (8 + k) & 1)));
    }
    return value;
}
