/* translate_output.h - the output of `attn-mt translate` for one line.
 *
 *   plain    TRANSLATION[ ||| ALIGNMENT][ ||| WordScores= P P P]
 *   n-best   NUMBER ||| TRANSLATION ||| [ALIGNMENT ||| ][WordScores= P P P ||| ]F0= SCORE ||| NORMALIZED
 *            (Moses, Marian)
 *   JSON     one object a line; members of an input object are passed on
 */
#ifndef CLI_TRANSLATE_OUTPUT_H
#define CLI_TRANSLATE_OUTPUT_H

#include "postprocess/alignment.h"
#include "postprocess/calibration.h"

typedef enum { ALIGN_NONE, ALIGN_HARD, ALIGN_SOFT } AlignmentStyle;

typedef struct {
    bool json, word_scores, alternatives, confidence, memory;
    int n_best; /* 0: only the best, without a rank */
    AlignmentStyle alignment;
    AlignmentLevel level;
    double threshold; /* least weight of a hard alignment; 0: the greatest weight of each target word */
    const Tokenizer *source, *target;
    Calibration calibration; /* of confidence */
} OutputStyle;

/* `number` counts lines from 0. `text` is the source; `json` its line of JSON input, or empty. */
void translate_output_write(const OutputStyle *style, long number, StrView text, StrView json,
                            const Translation *translation, StrBuf *out);
/* The output for a rejected line of JSON input. */
void translate_output_write_error(const char *message, StrBuf *out);

#endif
