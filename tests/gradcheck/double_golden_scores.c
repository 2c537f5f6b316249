/* double_golden_scores.c - golden/golden_scores.c in double precision. */
#include "golden/golden_scores.c"
