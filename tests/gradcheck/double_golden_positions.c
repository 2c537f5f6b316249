/* double_golden_positions.c - golden/golden_positions.c in double precision. */
#include "golden/golden_positions.c"
