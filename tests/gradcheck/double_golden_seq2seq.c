/* double_golden_seq2seq.c - golden/golden_seq2seq.c in double precision. */
#include "golden/golden_seq2seq.c"
