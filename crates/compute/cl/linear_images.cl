// The probe of crates/compute/src/measure/linear_images.rs: reads one row of an image between its numbers.

__constant sampler_t LINEAR = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;

__kernel void probe_linear(__read_only image2d_t image, __global const float *places, __global float *found, const uint count)
{
    const uint i = get_global_id(0);
    if (i < count)
        found[i] = read_imagef(image, LINEAR, (float2)(places[i] + 0.5f, 1.5f)).x;
}
