/* decoder_transformer.c - the same blocks over all steps, or over one with keys and values of the earlier. */
#include "models/decoder_transformer.h"

#include <string.h>
#include "kern/kern.h"
#include "models/dropout_streams.h"

void decoder_transformer_declare(ParamSet *params, const char *name, const ModelOptions *o, void *decoder) {
    TransformerStack *blocks = decoder;
    *blocks = transformer_stack_new(params, name, o, o->decoder_layers, model_annotation_size(o));
}

void decoder_transformer_prepare(Tape *tape, const void *decoder, const EncoderOutput *output,
                                 Encoded *encoded) {
    const TransformerStack *blocks = decoder;
    for (int l = 0; l < blocks->layers; l++)
        encoded->source[l] = transformer_project_source(tape, &blocks->block[l], output->annotations);
}

/* ---- attention weights to report: of one layer and head, or means ---- */

static void add_layer(const Tensor *weights, int head, real *sum) {
    int heads = head == ATTENTION_MEAN ? weights->rows : 1;
    for (int h = 0; h < heads; h++)
        kern->axpy((size_t)weights->columns, 1 / (real)heads,
                   tensor_row(weights, head == ATTENTION_MEAN ? h : head), sum);
}

static const real *choose(Tape *tape, int layers, Tensor *const *weights, AttentionChoice choice) {
    int total = weights[0]->columns;
    real *sum = tape_alloc(tape, (size_t)total * sizeof *sum);
    memset(sum, 0, (size_t)total * sizeof *sum);
    for (int l = 0; l < layers; l++)
        if (choice.layer == ATTENTION_MEAN || choice.layer == l) add_layer(weights[l], choice.head, sum);
    if (choice.layer == ATTENTION_MEAN)
        for (int i = 0; i < total; i++) sum[i] /= (real)layers;
    return sum;
}

/* ---- running ---- */

Tensor *decoder_transformer_step(const void *decoder, const StepContext *step, Tensor *embedded) {
    const TransformerStack *blocks = decoder;
    const Encoded *encoded = step->encoded;
    Tape *tape = step->tape;
    KvCache *cache = &step->state->cache;
    Tensor *weights[MODEL_MAX_LAYERS] = {0};
    int rows = step->rows, steps = cache->steps;
    int *position = tape_alloc(tape, (size_t)rows * sizeof *position);
    for (int r = 0; r < rows; r++) position[r] = steps;
    KvStep *now = kv_step_new(encoded->tape, blocks->layers, rows, blocks->options->hidden);
    *cache = kv_cache_append(tape, cache, now, rows);
    TransformerRun run = {.spans = kv_cache_spans(tape, steps + 1, rows),
                          .position = position,
                          .cache = cache,
                          .now = now,
                          .source = encoded->source,
                          .source_spans = step->spans,
                          .stream = DROPOUT_DECODER_BLOCK,
                          .cross_weights = weights};
    Tensor *readout = transformer_stack_run(tape, blocks, embedded, run);
    if (step->attention) {
        step->attention->weights = choose(tape, blocks->layers, weights, step->attention->choice);
        step->attention->start = step->spans->start;
        step->attention->length = step->spans->length;
    }
    return readout;
}

Tensor *decoder_transformer_forced(Tape *tape, const void *decoder, const Encoded *encoded,
                                   const Sequences *target, Tensor *embedded) {
    Tensor *weights[MODEL_MAX_LAYERS] = {0};
    TransformerRun run = {.spans = sequences_spans(tape, target, true),
                          .position = target->position,
                          .source = encoded->source,
                          .source_spans = encoded_spans(tape, encoded, target->sentence, target->rows),
                          .stream = DROPOUT_DECODER_BLOCK,
                          .row_keys = target->row_keys,
                          .cross_weights = weights};
    return transformer_stack_run(tape, decoder, embedded, run);
}
