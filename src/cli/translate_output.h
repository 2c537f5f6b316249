/* translate_output.h - one translation as the lines that `attn-mt translate` prints.
 *
 *   plain    TRANSLATION[ ||| ALIGNMENT][ ||| WordScores= P P P]
 *   n-best   NUMBER ||| TRANSLATION ||| [ALIGNMENT ||| ][WordScores= P P P ||| ]F0= SCORE ||| NORMALIZED
 *            (Moses, Marian)
 *   JSON     one object a line; members of an object that was read are passed on
 */
#ifndef CLI_TRANSLATE_OUTPUT_H
#define CLI_TRANSLATE_OUTPUT_H

#include "translate/alignment.h"
#include "translate/confidence.h"

typedef enum { ALIGN_NONE, ALIGN_HARD, ALIGN_SOFT } AlignmentStyle;

typedef struct {
    bool json, word_scores, alternatives, confidence;
    int n_best; /* 0: not asked for */
    AlignmentStyle alignment;
    AlignmentLevel level;
    double threshold; /* of hard alignments; 0: the greatest weight */
    const Tokenizer *source, *target;
    Calibration calibration; /* of confidence */
} OutputStyle;

/* `number` counts lines from 0. `text` is the source; `json` the line it came from, or empty. */
void translate_output_write(const OutputStyle *style, long number, StrView text, StrView json,
                            const Translation *translation, StrBuf *out);
/* What stands in for a line of JSON input that could not be read. */
void translate_output_write_error(const char *message, StrBuf *out);

#endif
