// The result is stored.

#define ENDING_PARAMETERS
#define ENDING_SHARED 0
#define ENDING_BEGIN
#define ENDING_PLACE(share)
#define ENDING_PREFETCH
#define ENDING_TAKE(value, at) store_spinor(out + at, blocks, block, value);
#define ENDING_FINISH
