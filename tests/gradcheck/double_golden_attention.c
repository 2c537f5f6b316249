/* double_golden_attention.c - the golden tests of attention in double precision. */
#include "golden/golden_attention.c"
#include "golden/golden_spans.c"
