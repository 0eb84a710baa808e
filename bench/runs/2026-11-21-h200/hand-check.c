// Copy, mul, add, triad and dot on one OpenCL device with the plainest kernels: wall clock around one launch and its
// finish (dot: and reading its partial sums), the best of some repetitions, GB = 1e9 bytes.
//   hand [elements, 2^27] [repetitions, 100] [number of the device, counted over all platforms, GPUs only if there are any]
//        [numbers that an item of a kernel takes at once, 1 or 2]
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void ok(cl_int status, const char *what) {
    if (status != CL_SUCCESS) {
        fprintf(stderr, "%s: OpenCL error %d\n", what, status);
        exit(1);
    }
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// V is double or double2, as the fourth argument says; SUM adds the parts of one.
static const char *SOURCE =
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "__kernel void init(__global V *a, __global V *b, __global V *c) {\n"
    "    size_t i = get_global_id(0); a[i] = 0.1; b[i] = 0.2; c[i] = 0.0; }\n"
    "__kernel void copy(__global const V *a, __global V *c) { size_t i = get_global_id(0); c[i] = a[i]; }\n"
    "__kernel void mul(__global V *b, __global const V *c) { size_t i = get_global_id(0); b[i] = 0.4 * c[i]; }\n"
    "__kernel void add(__global const V *a, __global const V *b, __global V *c) {\n"
    "    size_t i = get_global_id(0); c[i] = a[i] + b[i]; }\n"
    "__kernel void triad(__global V *a, __global const V *b, __global const V *c) {\n"
    "    size_t i = get_global_id(0); a[i] = b[i] + 0.4 * c[i]; }\n"
    "__kernel void dot_product(__global const V *a, __global const V *b, __global double *sums,\n"
    "                          __local double *part, ulong n) {\n"
    "    size_t i = get_global_id(0), me = get_local_id(0); V sum = 0.0;\n"
    "    for (; i < n; i += get_global_size(0)) sum += a[i] * b[i];\n"
    "    part[me] = SUM(sum);\n"
    "    for (size_t half_way = get_local_size(0) / 2; half_way > 0; half_way /= 2) {\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        if (me < half_way) part[me] += part[me + half_way];\n"
    "    }\n"
    "    if (me == 0) sums[get_group_id(0)] = part[0];\n"
    "}\n";

int main(int argc, char **argv) {
    const cl_ulong n = argc > 1 ? strtoull(argv[1], 0, 10) : 1ull << 27;
    const int repetitions = argc > 2 ? atoi(argv[2]) : 100;
    int wanted = argc > 3 ? atoi(argv[3]) : 0;
    const int width = argc > 4 && atoi(argv[4]) == 2 ? 2 : 1;
    const cl_ulong vectors = n / width;
    cl_platform_id platforms[16];
    cl_uint platform_count = 0;
    ok(clGetPlatformIDs(16, platforms, &platform_count), "platforms");
    cl_device_id devices[64];
    cl_uint count = 0;
    for (int all = 0; all < 2 && count == 0; all++) {
        for (cl_uint p = 0; p < platform_count && p < 16; p++) {
            cl_uint here = 0;
            cl_device_type type = all ? CL_DEVICE_TYPE_ALL : CL_DEVICE_TYPE_GPU;
            if (clGetDeviceIDs(platforms[p], type, 64 - count, devices + count, &here) == CL_SUCCESS) count += here;
        }
    }
    if (wanted < 0 || (cl_uint)wanted >= count) {
        fprintf(stderr, "there are %u devices\n", count);
        return 1;
    }
    cl_device_id device = devices[wanted];
    char name[256];
    cl_uint units;
    size_t most;
    ok(clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof name, name, 0), "name");
    ok(clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, 0), "compute units");
    ok(clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof most, &most, 0), "group size");
    cl_int e;
    cl_context context = clCreateContext(0, 1, &device, 0, 0, &e);
    ok(e, "context");
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);
    ok(e, "queue");
    cl_program program = clCreateProgramWithSource(context, 1, &SOURCE, 0, &e);
    ok(e, "program");
    ok(clBuildProgram(program, 1, &device, width == 2 ? "-D V=double2 -D SUM(v)=(v.x+v.y)" : "-D V=double -D SUM(v)=(v)", 0, 0), "build");
    cl_mem a = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * n, 0, &e);
    ok(e, "a");
    cl_mem b = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * n, 0, &e);
    ok(e, "b");
    cl_mem c = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * n, 0, &e);
    ok(e, "c");
    const size_t local = most < 1024 ? most : 1024;
    const size_t groups = 4 * units;
    cl_mem sums = clCreateBuffer(context, CL_MEM_READ_WRITE, 8 * groups, 0, &e);
    ok(e, "sums");
    double *host = malloc(8 * n > 8 * groups ? 8 * n : 8 * groups);
    const char *names[] = {"init", "copy", "mul", "add", "triad", "dot_product"};
    const int arrays[] = {3, 2, 2, 3, 3, 2};
    cl_mem operands[][3] = {{a, b, c}, {a, c, 0}, {b, c, 0}, {a, b, c}, {a, b, c}, {a, b, sums}};
    cl_kernel kernels[6];
    for (int k = 0; k < 6; k++) {
        kernels[k] = clCreateKernel(program, names[k], &e);
        ok(e, names[k]);
        for (int i = 0; i < 3 && operands[k][i]; i++) ok(clSetKernelArg(kernels[k], i, sizeof(cl_mem), &operands[k][i]), names[k]);
    }
    ok(clSetKernelArg(kernels[5], 3, 8 * local, 0), "dot_product");
    ok(clSetKernelArg(kernels[5], 4, sizeof vectors, &vectors), "dot_product");
    const size_t everything = vectors, strided = groups * local;
    ok(clEnqueueNDRangeKernel(queue, kernels[0], 1, 0, &everything, 0, 0, 0, 0), "init");
    ok(clFinish(queue), "init");
    double best[6], sum = 0.0;
    for (int k = 1; k < 6; k++) best[k] = 1e30;
    for (int r = 0; r <= repetitions; r++) {
        for (int k = 1; k < 6; k++) {
            const double begin = now();
            if (k < 5) {
                ok(clEnqueueNDRangeKernel(queue, kernels[k], 1, 0, &everything, 0, 0, 0, 0), names[k]);
                ok(clFinish(queue), names[k]);
            } else {
                ok(clEnqueueNDRangeKernel(queue, kernels[k], 1, 0, &strided, &local, 0, 0, 0), names[k]);
                ok(clEnqueueReadBuffer(queue, sums, CL_TRUE, 0, 8 * groups, host, 0, 0, 0), names[k]);
                sum = 0.0;
                for (size_t g = 0; g < groups; g++) sum += host[g];
            }
            const double seconds = now() - begin;
            if (r > 0 && seconds < best[k]) best[k] = seconds;
        }
    }
    // What the arrays must be: every element has the same history.
    double ea = 0.1, eb = 0.2, ec = 0.0;
    for (int r = 0; r <= repetitions; r++) {
        ec = ea;
        eb = 0.4 * ec;
        ec = ea + eb;
        ea = eb + 0.4 * ec;
    }
    cl_mem buffers[] = {a, b, c};
    const double expected[] = {ea, eb, ec};
    for (int i = 0; i < 3; i++) {
        ok(clEnqueueReadBuffer(queue, buffers[i], CL_TRUE, 0, 8 * n, host, 0, 0, 0), "read");
        for (cl_ulong j = 0; j < n; j++) {
            if (!(fabs(host[j] - expected[i]) <= 1e-12 * fabs(expected[i]))) {
                printf("WRONG: array %d, element %llu: %g, not %g\n", i, (unsigned long long)j, host[j], expected[i]);
                return 1;
            }
        }
    }
    if (!(fabs(sum - ea * eb * (double)n) <= 1e-8 * fabs(ea * eb * (double)n))) {
        printf("WRONG: dot %.15g, not %.15g\n", sum, ea * eb * (double)n);
        return 1;
    }
    printf("%s: arrays of %llu doubles, %g MiB; %d at once, best of %d, all results right\n", name, (unsigned long long)n, 8.0 * n / 1048576.0, width, repetitions);
    for (int k = 1; k < 6; k++) printf("%-6s %9.1f GB/s\n", k < 5 ? names[k] : "dot", arrays[k] * 8.0 * n / best[k] * 1e-9);
    return 0;
}
