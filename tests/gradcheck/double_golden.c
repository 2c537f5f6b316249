/* double_golden.c - the golden tests in double precision. */
#include "golden/golden_loss.c"
#include "golden/reference.c"
