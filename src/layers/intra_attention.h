/* intra_attention.h - attention of a recurrent decoder to its own earlier outputs.
 * Paulus, Xiong and Socher 2018, section 2.2, eq. 6-8; of the states within a cell: Cheng, Dong and Lapata
 * 2016, section 3.1
 *
 *     e(t, i) = h_t . W h_i for i < t;  alpha = softmax of e(t, .);  c_t = sum_i alpha(t, i) h_i;  c_0 = 0
 *
 * This is attention with the score "general"; its keys and values are the outputs themselves.
 *
 * Shapes  outputs h [n, H] -> contexts c [n, H]
 * Owner   results live on the tape of the call; cached keys and values live on a tape that outlives it
 */
#ifndef LAYERS_INTRA_ATTENTION_H
#define LAYERS_INTRA_ATTENTION_H

#include "layers/attention.h"
#include "layers/kv_cache.h"
#include "layers/sequences.h"

/* Declares "name.key.weight" [H, H]. An Attention without a score means that the model has none. */
Attention intra_attention_new(ParamSet *params, const char *name, int size);

/* All steps at once: each row attends to the rows before it in its sentence. */
Tensor *intra_attention_all(Tape *tape, const Attention *attention, Tensor *outputs,
                            const Sequences *sequences, AttentionDropout dropout);

/* The contexts of one step: row r attends to its earlier outputs in the cache. Then `output` is appended to
 * the cache, on `cache_tape`. */
Tensor *intra_attention_step(Tape *tape, Tape *cache_tape, const Attention *attention, Tensor *output,
                             KvCache *cache);

#endif
