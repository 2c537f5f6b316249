/* double_golden_recurrent.c - golden/golden_recurrent.c in double precision. */
#include "golden/golden_recurrent.c"
