/* transformer.c - one block, over all rows of a batch or step by step. */
#include "layers/transformer.h"

#include <string.h>
#include "autograd/activations.h"

TransformerBlock transformer_new(ParamSet *params, const char *name, const TransformerForm *f) {
    TransformerBlock b = {
        .name = params_keep_name(params, name),
        .norm = f->norm,
        .crosses = f->source_size > 0,
        .autoreg = f->autoreg,
        .activation = f->activation,
    };
    double epsilon = f->norm_epsilon;
    if (f->autoreg == AUTOREG_SSRU)
        b.ssru = ssru_new(params, param_name(name, "ssru"), f->size);
    else
        b.self = multihead_new(params, param_name(name, "self"), f->size, f->size, f->heads,
                               f->max_relative_position, f->attention_bias);
    b.self_norm = norm_new(params, param_name(name, "self_norm"), f->size, true, epsilon);
    if (b.crosses) {
        b.cross = multihead_new(params, param_name(name, "cross"), f->size, f->source_size, f->heads, 0,
                                f->attention_bias);
        b.cross_norm = norm_new(params, param_name(name, "cross_norm"), f->size, true, epsilon);
    }
    b.inner = linear_new(params, param_name(name, "inner"), f->size, f->feed_forward, true);
    b.outer = linear_new(params, param_name(name, "outer"), f->feed_forward, f->size, true);
    b.feed_norm = norm_new(params, param_name(name, "feed_norm"), f->size, true, epsilon);
    return b;
}

KeysValues transformer_project_source(Tape *tape, const TransformerBlock *block, Tensor *source) {
    return multihead_project(tape, &block->cross, source);
}

/* ---- one run ---- */

/* A sublayer f is y = norm(x + f(x)) or, with normalization before it, y = x + f(norm(x)): sublayer_input
 * comes before f, add_sublayer after it. */
static Tensor *sublayer_input(Tape *tape, const TransformerBlock *b, const Norm *norm, Tensor *x) {
    return b->norm == NORM_PRE ? norm_apply(tape, norm, x) : x;
}
static Tensor *add_sublayer(Tape *tape, const TransformerBlock *b, const Norm *norm, Tensor *x,
                            Tensor *sublayer, const TransformerRun *run, uint32_t stream) {
    Tensor *sum = op_residual(tape, x, sublayer, run->dropout, stream, run->row_keys);
    return b->norm == NORM_PRE ? sum : norm_apply(tape, norm, sum);
}

/* Keys and values of self-attention: of all rows or, step by step, of the cache with the current step. */
static KeysValues own_keys_values(Tape *tape, const TransformerBlock *b, Tensor *x, const TransformerRun *run,
                                  int index) {
    KeysValues kv = multihead_project(tape, &b->self, x);
    if (!run->cache) return kv;
    memcpy(run->now[index].keys, kv.keys->data, tensor_size(kv.keys) * sizeof(real));
    memcpy(run->now[index].values, kv.values->data, tensor_size(kv.values) * sizeof(real));
    kv.key_rows = kv_cache_rows(tape, run->cache, index, false, kv.keys->columns);
    kv.value_rows = kv_cache_rows(tape, run->cache, index, true, kv.values->columns);
    return kv;
}

/* y_i = f(x_i, (x_1, x_1), ..., (x_n, x_n)): Dive into Deep Learning, eq. 11.6.1. */
static Tensor *self_attention(Tape *tape, const TransformerBlock *b, Tensor *x, const TransformerRun *run,
                              int index, uint32_t stream) {
    AttentionDropout dropout = {run->attention_dropout, stream, run->row_keys};
    Tensor *weights, *h = sublayer_input(tape, b, &b->self_norm, x);
    KeysValues kv = own_keys_values(tape, b, h, run, index);
    h = multihead_attend(tape, &b->self, h, &kv, run->spans, run->position, dropout, &weights);
    return add_sublayer(tape, b, &b->self_norm, x, h, run, stream + 1);
}

static Tensor *recurrence(Tape *tape, const TransformerBlock *b, Tensor *x, const TransformerRun *run,
                          int index, uint32_t stream) {
    Tensor *h = sublayer_input(tape, b, &b->self_norm, x);
    h = run->ssru ? ssru_step(tape, &b->ssru, h, &run->ssru[index])
                  : ssru_run(tape, &b->ssru, h, run->position);
    return add_sublayer(tape, b, &b->self_norm, x, h, run, stream + 1);
}

static Tensor *cross_attention(Tape *tape, const TransformerBlock *b, Tensor *x, const TransformerRun *run,
                               int index, uint32_t stream) {
    AttentionDropout dropout = {run->attention_dropout, stream, run->row_keys};
    Tensor *h = sublayer_input(tape, b, &b->cross_norm, x);
    h = multihead_attend(tape, &b->cross, h, &run->source[index], run->source_spans, NULL, dropout,
                         &run->cross_weights[index]);
    return add_sublayer(tape, b, &b->cross_norm, x, h, run, stream + 1);
}

static Tensor *feed_forward(Tape *tape, const TransformerBlock *b, Tensor *x, const TransformerRun *run,
                            uint32_t stream) {
    Tensor *h = linear_apply(tape, &b->inner, sublayer_input(tape, b, &b->feed_norm, x));
    h = op_activation(tape, h, b->activation, run->dropout, stream, run->row_keys);
    h = linear_apply(tape, &b->outer, h);
    return add_sublayer(tape, b, &b->feed_norm, x, h, run, stream + 1);
}

Tensor *transformer_run(Tape *tape, const TransformerBlock *b, Tensor *x, const TransformerRun *run,
                        int index) {
    uint32_t first = index < TRANSFORMER_LOWER_BLOCKS ? run->stream : 10 * run->stream;
    uint32_t stream = first + (uint32_t)(TRANSFORMER_STREAMS * index);
    record_activation(tape, b->name, "input", x);
    x = b->autoreg == AUTOREG_SSRU ? recurrence(tape, b, x, run, index, stream)
                                   : self_attention(tape, b, x, run, index, stream);
    if (b->crosses) x = cross_attention(tape, b, x, run, index, stream + 2);
    return feed_forward(tape, b, x, run, stream + 4);
}
