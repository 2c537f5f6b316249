/* decoder_transformer.c - the same blocks over all steps, or over one with keys and values of the earlier. */
#include "models/decoder_transformer.h"

#include <string.h>
#include "kern/kern.h"
#include "models/dropout_streams.h"

void decoder_transformer_declare(ParamSet *params, const char *name, const ModelOptions *o, void *decoder) {
    TransformerStack *blocks = decoder;
    *blocks = transformer_stack_new(params, name, o, o->decoder_layers, model_annotation_size(o));
}

void decoder_transformer_init_state(Tape *tape, const void *decoder, const EncoderOutput *output,
                                    Encoded *encoded) {
    const TransformerStack *blocks = decoder;
    for (int l = 0; l < blocks->layers; l++)
        encoded->source[l] = transformer_project_source(tape, &blocks->block[l], output->annotations);
    if (blocks->options->autoreg != AUTOREG_SSRU) return;
    encoded->initial.parts = blocks->layers;
    for (int l = 0; l < blocks->layers; l++)
        encoded->initial.part[l] = tape_tensor_zeroed(tape, encoded->B, blocks->options->hidden);
}

/* ---- attention weights to report: of one layer and head, or means ---- */

static void add_layer(const Tensor *weights, int head, real *sum) {
    int heads = head == ATTENTION_MEAN ? weights->rows : 1;
    for (int h = 0; h < heads; h++)
        kern->axpy((size_t)weights->columns, 1 / (real)heads,
                   tensor_row(weights, head == ATTENTION_MEAN ? h : head), sum);
}

/* Sets the attention to report: </s> of the source has a weight, though it may be hidden. */
static void report_attention(Tape *tape, const Encoded *encoded, const int *row_sentence, const Spans *spans,
                             const real *weights, AttentionWeights *attention) {
    attention->weights = weights;
    attention->start = spans->start;
    attention->length = spans->length;
    if (!encoded->hides_end) return;
    int *start = tape_alloc(tape, 2 * (size_t)spans->rows * sizeof *start), *length = start + spans->rows;
    real *all = tape_alloc(tape, ((size_t)spans->total + (size_t)spans->rows) * sizeof *all);
    for (int r = 0, next = 0; r < spans->rows; next += length[r++]) {
        const int *first = encoded->start + row_sentence[r];
        start[r] = next;
        length[r] = first[1] - first[0];
        memcpy(all + next, weights + spans->start[r], (size_t)spans->length[r] * sizeof *all);
        if (length[r] > spans->length[r]) all[next + length[r] - 1] = 0;
    }
    attention->weights = all;
    attention->start = start;
    attention->length = length;
}

static const real *choose_attention(Tape *tape, int layers, Tensor *const *weights, AttentionChoice choice) {
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
    DecoderState *state = step->state;
    Tensor *weights[MODEL_MAX_LAYERS] = {0};
    int rows = step->rows;
    int *position = tape_alloc(tape, (size_t)rows * sizeof *position);
    for (int r = 0; r < rows; r++) position[r] = state->steps;
    state->steps++;
    TransformerRun run = {.position = position,
                          .source = encoded->source,
                          .source_spans = step->spans,
                          .stream = DROPOUT_DECODER_BLOCK,
                          .cross_weights = weights};
    if (blocks->options->autoreg == AUTOREG_SSRU) {
        run.ssru = state->part;
    } else {
        run.now = kv_step_new(encoded->tape, blocks->layers, rows, blocks->options->hidden);
        state->cache = kv_cache_append(tape, &state->cache, run.now, rows);
        run.cache = &state->cache;
        run.spans = kv_cache_spans(tape, state->steps, rows);
    }
    Tensor *readout = transformer_stack_run(tape, blocks, embedded, run);
    if (step->attention)
        report_attention(tape, encoded, step->row_sentence, step->spans,
                         choose_attention(tape, blocks->layers, weights, step->attention->choice),
                         step->attention);
    return readout;
}

Tensor *decoder_transformer_forced(Tape *tape, const void *decoder, const Encoded *encoded,
                                   const Sequences *target, Tensor *embedded) {
    Tensor *weights[MODEL_MAX_LAYERS] = {0};
    const TransformerStack *blocks = decoder;
    bool attends = blocks->options->autoreg == AUTOREG_SELF_ATTENTION;
    TransformerRun run = {.spans = attends ? sequences_spans(tape, target, true) : NULL,
                          .position = target->position,
                          .source = encoded->source,
                          .source_spans = encoded_spans(tape, encoded, target->sentence, target->rows),
                          .stream = DROPOUT_DECODER_BLOCK,
                          .row_keys = target->row_keys,
                          .cross_weights = weights};
    return transformer_stack_run(tape, blocks, embedded, run);
}
