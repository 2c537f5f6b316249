/* double_golden_intra.c - golden/golden_intra.c in double precision. */
#include "golden/golden_intra.c"
