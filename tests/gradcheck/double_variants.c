/* double_variants.c - the models of unit/model_variants.c and unit/variant_cover.c in double precision. */
#include "unit/model_variants.c"
#include "unit/variant_cover.c"
