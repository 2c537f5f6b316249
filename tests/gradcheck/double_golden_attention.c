/* double_golden_attention.c - golden/golden_attention.c in double precision. */
#include "golden/golden_attention.c"
