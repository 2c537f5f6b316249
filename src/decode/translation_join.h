/* translation_join.h - the translations of a line's pieces as one translation of the line. */
#ifndef DECODE_TRANSLATION_JOIN_H
#define DECODE_TRANSLATION_JOIN_H

#include "decode/translator.h"

typedef struct {
    Segmenter *source, *target;
    const Tokens *sources; /* [pieces, stride], of which the first count */
    size_t stride;
    const HypothesisList *results; /* [pieces] */
    int pieces;
    double length_penalty;
} JoinInput;

/* Fills everything but `pieces`. No pieces give one empty item. */
void translation_join(const JoinInput *input, Translation *out);
/* Nothing but white space, in the sense of Unicode? */
bool text_is_blank(StrView text);

#endif
