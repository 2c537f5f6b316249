/* heads.h - the attention heads of a model, any one of which can be left out to see what it is worth.
 * Michel et al. 2019, "Are sixteen heads really better than one?", section 3.2; Dive into Deep Learning,
 * section 11.5, exercise 2
 *
 * Of W_o [h_1; ...; h_N] (layers/multihead.h) one h_i is made zero, by the rows of W_o that it meets.
 */
#ifndef MODELS_HEADS_H
#define MODELS_HEADS_H

#include "models/seq2seq.h"

typedef struct {
    StrView attention; /* "encoder.0.self", "decoder.1.cross": the prefix of its parameters, which own it */
    int number;        /* from 0 */
    Param *output;     /* W_o [H, H] */
} ModelHead;

/* All heads of all Transformer blocks, in the order of their parameters; mem_free them. NULL and 0: the model
 * has none. */
ModelHead *model_heads(const Seq2Seq *model, int *count);
/* How many numbers a head's rows of W_o are. */
size_t model_head_size(const Seq2Seq *model, const ModelHead *head);
/* Leave it out, and put it back. Its rows are `kept` [model_head_size] meanwhile. The weights are floats, and
 * packed (params_pack_all); nobody uses the model now. */
void model_head_silence(const Seq2Seq *model, const ModelHead *head, real *kept);
void model_head_restore(const Seq2Seq *model, const ModelHead *head, const real *kept);

#endif
