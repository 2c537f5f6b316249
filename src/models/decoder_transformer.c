/* decoder_transformer.c - the same blocks over all steps, or over one step with the earlier ones remembered. */
#include "models/decoder_transformer.h"

#include <stdio.h>
#include <string.h>
#include "models/encoder.h"
#include "models/dropout_streams.h"
#include "num/kern.h"

TransformerDecoder decoder_transformer_new(ParamSet *params, const ModelOptions *o) {
    TransformerDecoder d = {.options = o};
    TransformerForm form = {.size = o->hidden,
                            .feed_forward = model_feed_forward(o),
                            .heads = o->heads,
                            .reach = o->positions == POSITIONS_RELATIVE ? o->relative_reach : 0,
                            .source_size = encoder_output_size(o),
                            .norm = (NormPlace)o->norm};
    if (o->embedding != o->hidden)
        d.input = linear_new(params, "decoder.input", o->embedding, o->hidden, false);
    d.posenc = posenc_new(params, "decoder", (PositionKind)o->positions, o->max_positions, o->hidden);
    for (int l = 0; l < o->decoder_layers; l++) {
        char name[32];
        snprintf(name, sizeof name, "decoder.%d", l);
        d.block[l] = transformer_new(params, name, &form);
    }
    d.norm = norm_new(params, "decoder.norm", o->hidden, o->norm == NORM_PRE);
    return d;
}

void decoder_transformer_prepare(Tape *tape, const TransformerDecoder *d, Tensor *annotations,
                                 Encoded *encoded) {
    for (int l = 0; l < d->options->decoder_layers; l++)
        encoded->memory[l] = transformer_remember(tape, &d->block[l], annotations);
}

/* ---- attention weights for pictures: of one layer and head, or means ---- */

static void add_layer(const Tensor *weights, int head, real *sum) {
    int heads = head == ATTENTION_MEAN ? weights->rows : 1;
    for (int h = 0; h < heads; h++)
        kern->axpy((size_t)weights->columns, 1 / (real)heads,
                   tensor_row(weights, head == ATTENTION_MEAN ? h : head), sum);
}

static const real *choose(Tape *tape, const ModelOptions *o, Tensor *const *weights, AttentionChoice choice) {
    int total = weights[0]->columns;
    real *sum = tape_alloc(tape, (size_t)total * sizeof *sum);
    memset(sum, 0, (size_t)total * sizeof *sum);
    for (int l = 0; l < o->decoder_layers; l++)
        if (choice.layer == ATTENTION_MEAN || choice.layer == l) add_layer(weights[l], choice.head, sum);
    if (choice.layer == ATTENTION_MEAN)
        for (int i = 0; i < total; i++) sum[i] /= (real)o->decoder_layers;
    return sum;
}

/* ---- running ---- */

static Tensor *run_blocks(Tape *tape, const TransformerDecoder *d, const Encoded *encoded, Tensor *embedded,
                          TransformerRun *run, Tensor **weights) {
    const ModelOptions *o = d->options;
    Tensor *x = d->input.weight ? linear_apply(tape, &d->input, embedded) : embedded;
    x = posenc_add(tape, &d->posenc, x, run->position);
    run->dropout = o->dropout_layers;
    run->attention_dropout = o->dropout_attention;
    for (int l = 0; l < o->decoder_layers; l++) {
        run->stream = DROPOUT_DECODER_BLOCK + (uint32_t)(TRANSFORMER_STREAMS * l);
        run->source = &encoded->memory[l];
        run->block = l;
        x = transformer_run(tape, &d->block[l], x, run);
        weights[l] = run->cross_weights;
    }
    return norm_apply(tape, &d->norm, x);
}

Tensor *decoder_transformer_step(Tape *tape, const TransformerDecoder *d, const Encoded *encoded,
                                 const Spans *spans, Tensor *embedded, DecoderState *state,
                                 AttentionWeights *attention) {
    const ModelOptions *o = d->options;
    Tensor *weights[MODEL_MAX_LAYERS];
    int rows = embedded->rows, steps = state->history.steps;
    int *first = tape_alloc(tape, 3 * (size_t)rows * sizeof *first), *length = first + rows,
        *position = length + rows;
    for (int r = 0; r < rows; r++) {
        first[r] = r * (steps + 1);
        length[r] = steps + 1;
        position[r] = steps;
    }
    StepMemory *now = history_step_new(encoded->tape, o->decoder_layers, rows, o->hidden);
    state->history = history_append(tape, &state->history, now, rows);
    TransformerRun run = {.spans = spans_new(tape, first, length, rows),
                          .position = position,
                          .source_spans = spans,
                          .history = &state->history,
                          .now = now};
    Tensor *readout = run_blocks(tape, d, encoded, embedded, &run, weights);
    if (attention) {
        attention->weights = choose(tape, o, weights, attention->choice);
        attention->start = spans->start;
        attention->length = spans->length;
    }
    return readout;
}

Tensor *decoder_transformer_forced(Tape *tape, const TransformerDecoder *d, const Encoded *encoded,
                                   const Sequences *target, Tensor *embedded) {
    Tensor *weights[MODEL_MAX_LAYERS];
    TransformerRun run = {.spans = sequences_spans(tape, target, true),
                          .position = target->position,
                          .source_spans = encoded_spans(tape, encoded, target->sentence, target->rows),
                          .row_keys = target->row_keys};
    return run_blocks(tape, d, encoded, embedded, &run, weights);
}
