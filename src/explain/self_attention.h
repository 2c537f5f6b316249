/* self_attention.h - which tokens of their own side the tokens of the source or of the translation looked at.
 *
 * The numbers are those of a trace (explain/trace.h) of the found or given translation. A line that was cut
 * into pieces is taken as a whole.
 */
#ifndef EXPLAIN_SELF_ATTENTION_H
#define EXPLAIN_SELF_ATTENTION_H

#include "translate/alignment.h"
#include "models/seq2seq.h"

typedef enum { SELF_NONE, SELF_DECODER, SELF_ENCODER } SelfSide;
#define SELF_SIDES "none|decoder|encoder"

/* How many layers and heads of it there are; STATUS_USAGE if the model has no such attention. */
Status self_attention_check(const Seq2Seq *model, SelfSide side, int *layers, int *heads);
/* Of the best item. Of the encoder, rows and columns are source tokens; of the decoder, rows are target
 * tokens, and columns what there was to look at before each: in a Transformer what it had read, from <s> on,
 * else its own earlier outputs. The first output looks at none. */
void self_attention_align(Alignment *alignment, const Seq2Seq *model, const Translation *translation,
                          SelfSide side, AttentionChoice choice, AlignmentLevel level);

#endif
