/* double_variants.c - the models of unit/model_variants.c in double precision. */
#include "unit/model_variants.c"
