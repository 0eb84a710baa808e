// Fused updates of vectors: the kernels themselves are made from formulas, src/sparse/space/kernel_text.rs.

#define KERNEL __kernel EXPLICIT_VECTORS __attribute__((reqd_work_group_size(LOCAL_SIZE, 1, 1))) void

#if IS_COMPLEX
#define ELEMENT_OF(number) element_of(number)
static inline element element_of(double2 number) { return (element)((real)number.x, (real)number.y); }
#else
#define ELEMENT_OF(number) ((real)(number).x)
#endif
