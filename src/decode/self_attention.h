/* self_attention.h - which of its own earlier words a recurrent decoder looked at.
 *
 * The steps of a found or given translation are made once more, one after the other. A line that was cut into
 * pieces is taken as a whole.
 *
 * Shapes  [steps, steps]: row t has weights for columns 0 .. t - 1, which sum to 1; the first row has none
 * Owner   the caller releases the result with mem_free
 */
#ifndef DECODE_SELF_ATTENTION_H
#define DECODE_SELF_ATTENTION_H

#include "decode/translation.h"

/* STATUS_USAGE if the model has no such attention. */
Status self_attention_check(const Seq2Seq *model);
/* Of the best item. */
float *self_attention_weights(const Seq2Seq *model, const Translation *translation);

#endif
