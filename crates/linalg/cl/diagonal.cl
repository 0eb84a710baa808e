// A lower triangular block in local memory, and its inverse beside it.
//
// The host defines EDGE, the most rows of a block, and SLICES, the work-items that share a column. A work-group has EDGE * SLICES
// work-items. One array has both triangles: that of the block, and above it that of the inverse, transposed. An odd distance
// between lines keeps neighbouring work-items apart in the banks of local memory.

#define PITCH (EDGE + 1)
#define ITEMS (EDGE * SLICES)

// Element (i, j) of the block, and of its inverse, for i >= j.
#define LOWER(i, j) square[(i) * PITCH + (j)]
#define INVERSE(i, j) square[(j) * PITCH + (i) + 1]

// Makes the inverse of the first `size` rows and columns. The diagonal of the block holds reciprocals. Until the end, rows of the inverse
// lack the factor that is their reciprocal. A column belongs to SLICES work-items, which wait for each other.
static inline void invert(__local element *square, uint size) {
    const uint item = get_local_id(0);
    const uint j = item % EDGE;
    const uint slice = item / EDGE;
    for (uint i = j + slice; i < size; i += SLICES) {
        INVERSE(i, j) = i == j ? ONE : (element)0;
    }
    for (uint k = 0; k < size; k++) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (j <= k) {
            const element factor = multiply(INVERSE(k, j), LOWER(k, k));
            for (uint i = k + 1 + slice; i < size; i += SLICES) {
                INVERSE(i, j) -= multiply(LOWER(i, k), factor);
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

// Element (i, j) of the inverse with its last factor; 0 above the diagonal.
#define INVERTED(i, j) ((i) >= (j) ? multiply(INVERSE(i, j), LOWER(i, i)) : (element)0)
