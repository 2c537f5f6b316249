/* layer_kinds.c - building and running one encoder layer of each kind. */
#include "layer_kinds.h"

#include <math.h>

const LayerFacts LAYER_FACTS[LAYER_KINDS] = {
    {"recurrent (GRU)", "rnn", "O(n d^2)", "n", "n"},
    {"convolution, k = 3", "conv3", "O(k n d^2)", "1", "n / 3"},
    {"convolution, k = 5", "conv5", "O(k n d^2)", "1", "n / 5"},
    {"self-attention", "self_attention", "O(n^2 d)", "1", "1"},
    {"its pairs of tokens alone", "pairs", "O(n^2 d)", "1", "1"},
    {"whole Transformer block", "block", "", "1", "1"},
};

static void declare(Layer *layer) {
    ParamSet *params = layer->params;
    int size = layer->size;
    TransformerForm form = {.size = size, .feed_forward = 4 * size, .heads = LAYER_HEADS, .norm = NORM_PRE};
    switch (layer->kind) {
    case RNN:
        layer->cell = cell_new(params, "rnn", CELL_GRU, size, size, false);
        break;
    case CONV_3:
        layer->conv = conv_new(params, "conv", size, 3, false);
        break;
    case CONV_5:
        layer->conv = conv_new(params, "conv", size, 5, false);
        break;
    case ATTENTION:
        layer->attention = multihead_new(params, "self", size, size, LAYER_HEADS, 0);
        break;
    case BLOCK:
        layer->block = transformer_new(params, "block", &form);
        break;
    case PAIRS:
    case LAYER_KINDS:
        break;
    }
}

int layer_inputs(LayerKind kind) { return kind == PAIRS ? 3 : 1; }

Layer layer_new(LayerKind kind, int size) {
    Layer layer = {.kind = kind, .size = size, .params = params_new()};
    layer.params->packs_backward = true;
    declare(&layer);
    params_initialize(layer.params, 1);
    params_pack_all(layer.params);
    return layer;
}

void layer_free(Layer *layer) { params_free(layer->params); }

static Tensor *run_pairs(Tape *tape, int size, Tensor *x, const Spans *spans) {
    int n = spans->rows;
    Tensor *query = tape_rows(tape, x, 0, n), *keys = tape_rows(tape, x, n, n),
           *values = tape_rows(tape, x, 2 * n, n);
    DotScore form = {.heads = LAYER_HEADS, .scale = (real)(1 / sqrt(size / (double)LAYER_HEADS))};
    Tensor *scores = op_score_dot(tape, query, keys, &form, spans);
    return op_context(tape, op_masked_softmax(tape, scores, spans), values, spans);
}

static Tensor *run_attention(Tape *tape, const Multihead *m, Tensor *x, const Sequences *s,
                             const Spans *spans) {
    KeysValues kv = multihead_project(tape, m, x);
    Tensor *weights;
    return multihead_attend(tape, m, x, &kv, spans, s->position, (AttentionDropout){0}, &weights);
}

Tensor *layer_run(Tape *tape, const Layer *layer, Tensor *x, int n) {
    if (layer->kind == RNN) return rnn_run(tape, &layer->cell, x, packed_new(tape, &n, 1), false).h;
    const Sequences *s = sequences_new(tape, &n, 1, NULL, 0);
    if (layer->kind == CONV_3 || layer->kind == CONV_5) return conv_run(tape, &layer->conv, x, s, 0, 0);
    const Spans *spans = sequences_spans(tape, s, false);
    if (layer->kind == PAIRS) return run_pairs(tape, layer->size, x, spans);
    if (layer->kind == ATTENTION) return run_attention(tape, &layer->attention, x, s, spans);
    TransformerRun run = {.spans = spans, .position = s->position, .row_keys = s->row_keys};
    return transformer_run(tape, &layer->block, x, &run, 0);
}
