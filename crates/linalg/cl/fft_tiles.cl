// One or two axes of tiles, in registers, with exchanges in local memory between the passes. crates/linalg/src/fft/tile/ makes the rest of the text.
//
// A tile has rows and columns: some lines, or a plane. The first pass reads global memory and the last one writes it. In each pass a work-item
// transforms some butterflies in registers; local memory only takes numbers from one pass to the next.

// Turns element k of a pass by a root of one.
#define TURN(roots, number, re, im)                                      \
    {                                                                    \
        const real2_ turn = load_pair(roots, number);                    \
        const real turned = sum_of_two_products(re, turn.x, im, -turn.y); \
        im = sum_of_two_products(re, turn.y, im, turn.x);                \
        re = turned;                                                     \
    }

// Behind the reads of global memory, which others write in place in the end.
#define FIRST_BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
