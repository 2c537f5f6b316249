/* transformer.c - one block, over all rows of a batch or step by step. */
#include "layers/transformer.h"

#include <string.h>

TransformerBlock transformer_new(ParamSet *params, const char *name, const TransformerForm *f) {
    TransformerBlock b = {.norm = f->norm, .crosses = f->source_size > 0};
    b.self = multihead_new(params, param_name(name, "self"), f->size, f->size, f->heads, f->reach);
    b.self_norm = norm_new(params, param_name(name, "self_norm"), f->size, true);
    if (b.crosses) {
        b.cross = multihead_new(params, param_name(name, "cross"), f->size, f->source_size, f->heads, 0);
        b.cross_norm = norm_new(params, param_name(name, "cross_norm"), f->size, true);
    }
    b.inner = linear_new(params, param_name(name, "inner"), f->size, f->feed_forward, true);
    b.outer = linear_new(params, param_name(name, "outer"), f->feed_forward, f->size, true);
    b.feed_norm = norm_new(params, param_name(name, "feed_norm"), f->size, true);
    return b;
}

AttentionMemory transformer_remember(Tape *tape, const TransformerBlock *block, Tensor *source) {
    Phase before = tape_phase(tape, PHASE_ATTENTION);
    AttentionMemory memory = multihead_remember(tape, &block->cross, source);
    tape_phase(tape, before);
    return memory;
}

/* The residual connection and normalisation around a part: `enter` makes the part's input of x, `leave` joins its output. */
static Tensor *enter(Tape *tape, const TransformerBlock *b, const Norm *norm, Tensor *x) {
    return b->norm == NORM_PRE ? norm_apply(tape, norm, x) : x;
}
static Tensor *leave(Tape *tape, const TransformerBlock *b, const Norm *norm, Tensor *x, Tensor *part,
                     const TransformerRun *run, uint32_t stream) {
    Tensor *sum = op_add(tape, x, op_dropout(tape, part, run->dropout, run->stream + stream, run->row_keys));
    return b->norm == NORM_PRE ? sum : norm_apply(tape, norm, sum);
}

/* What the rows look at in self-attention: step by step, the history with this step's keys and values. */
static AttentionMemory own_memory(Tape *tape, const TransformerBlock *b, Tensor *x,
                                  const TransformerRun *run) {
    AttentionMemory now = multihead_remember(tape, &b->self, x);
    if (!run->history) return now;
    memcpy(run->now[run->block].keys, now.keys->data, tensor_size(now.keys) * sizeof(real));
    memcpy(run->now[run->block].values, now.values->data, tensor_size(now.values) * sizeof(real));
    int size = now.keys->columns;
    return (AttentionMemory){.key_rows = history_rows(tape, run->history, run->block, false, size),
                             .value_rows = history_rows(tape, run->history, run->block, true, size)};
}

Tensor *transformer_run(Tape *tape, const TransformerBlock *b, Tensor *x, TransformerRun *run) {
    AttentionDropout drop = {run->attention_dropout, run->stream, run->row_keys};
    Tensor *weights, *h = enter(tape, b, &b->self_norm, x);
    AttentionMemory own = own_memory(tape, b, h, run);
    h = multihead_attend(tape, &b->self, h, &own, run->spans, run->position, drop, &weights);
    x = leave(tape, b, &b->self_norm, x, h, run, 1);
    if (b->crosses) {
        drop.stream = run->stream + 2;
        Phase before = tape_phase(tape, PHASE_ATTENTION);
        h = enter(tape, b, &b->cross_norm, x);
        h = multihead_attend(tape, &b->cross, h, run->source, run->source_spans, NULL, drop,
                             &run->cross_weights);
        x = leave(tape, b, &b->cross_norm, x, h, run, 3);
        tape_phase(tape, before);
    }
    h = op_relu(tape, linear_apply(tape, &b->inner, enter(tape, b, &b->feed_norm, x)));
    h = linear_apply(tape, &b->outer, op_dropout(tape, h, run->dropout, run->stream + 4, run->row_keys));
    return leave(tape, b, &b->feed_norm, x, h, run, 5);
}
