// Power sums of an array, as many as REDUCTION_VALUES, in one pass: what many sums in a launch cost.

__kernel void many_sums(__global const double *numbers, const ulong count, MANY_SUMS_PARAMETERS)
{
    REDUCTION_LOCAL;
    double sums[REDUCTION_VALUES];
    for (int v = 0; v < REDUCTION_VALUES; v++)
        sums[v] = 0;
    for (ulong i = get_global_id(0); i < count; i += get_global_size(0)) {
        const double x = numbers[i];
        double power = 1;
        for (int v = 0; v < REDUCTION_VALUES; v++) {
            power *= x;
            sums[v] += power;
        }
    }
    REDUCE_VALUES(sums);
}
