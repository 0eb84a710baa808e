// Where the complex numbers of a field are.
//
// BLOCKS    blocks of LANES sites in each parity
// One parity of a field of `components` complex numbers a site is stored [component][site][re, im] with one lane,
// [block][component][re, im][lane] with several: see src/lattice/layout.rs.

#if LANES == 1
#define ELEMENT(components, c, block) ((size_t)(c) * BLOCKS + (block))
#else
#define ELEMENT(components, c, block) ((size_t)(block) * (components) + (c))
#endif

// Reals in one parity of a field.
#define HALF_FIELD(components) ((size_t)2 * (components) * BLOCKS * LANES)
