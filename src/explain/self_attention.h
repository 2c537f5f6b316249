/* self_attention.h - self-attention weights of the encoder or the decoder, as an alignment.
 *
 * The weights are those of a trace (explain/trace.h) of the translation. A line that was translated in
 * several chunks is traced as a whole.
 */
#ifndef EXPLAIN_SELF_ATTENTION_H
#define EXPLAIN_SELF_ATTENTION_H

#include "models/seq2seq.h"
#include "postprocess/alignment.h"

typedef enum { SELF_NONE, SELF_DECODER, SELF_ENCODER } SelfSide;
#define SELF_SIDES "none|decoder|encoder"

/* The number of layers and heads. STATUS_USAGE if the model has no such attention. */
Status self_attention_check(const Seq2Seq *model, SelfSide side, int *layers, int *heads);
/* Aligns the best translation. SELF_ENCODER: rows and columns are source tokens. SELF_DECODER: rows are
 * target tokens; columns are the decoder's inputs in a Transformer, from <s> on, and its earlier outputs in a
 * recurrent decoder, of which the first row has none. */
void self_attention_align(Alignment *alignment, const Seq2Seq *model, const Translation *translation,
                          SelfSide side, AttentionChoice choice, AlignmentLevel level);

#endif
