// The tile that work-group number `group` computes: tiles in bands of BAND rows, each band column after column, so
// that groups which run at the same time share rows of A and columns of B in the cache.
static inline ulong2 tile_of_group(ulong group, ulong tile_rows, ulong tile_columns) {
    const ulong band = group / (BAND * tile_columns);
    const ulong height = min(tile_rows - band * BAND, (ulong)BAND);
    const ulong within = group - band * BAND * tile_columns;
    return (ulong2)(band * BAND + within % height, within / height);
}
