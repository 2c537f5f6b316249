/* double_golden_multihead.c - golden/golden_multihead.c in double precision. */
#include "golden/golden_multihead.c"
