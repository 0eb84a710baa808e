// Conversion between precisions: FROM to REAL.

__kernel void convert_reals(const ulong count, __global const FROM *restrict from, __global real *restrict to)
{
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0))
        to[i] = (real)from[i];
}
