/* encoder.c - three ways to read a sentence. */
#include "models/encoder.h"

#include <stdio.h>
#include "models/dropout_streams.h"

int encoder_output_size(const ModelOptions *o) {
    return o->encoder_style == ENCODER_RNN && o->bidirectional ? 2 * o->hidden : o->hidden;
}

/* ---- declaring ---- */

static const char *layer_name(int layer, const char *part) {
    static _Thread_local char name[64];
    snprintf(name, sizeof name, "encoder.%d%s%s", layer, part ? "." : "", part ? part : "");
    return name;
}

static void declare_rnn(ParamSet *params, Encoder *e) {
    const ModelOptions *o = e->options;
    int inputs = o->embedding;
    for (int l = 0; l < o->encoder_layers; l++) {
        for (int d = 0; d < (o->bidirectional ? 2 : 1); d++)
            e->cell[l][d] = cell_new(params, layer_name(l, d ? "backward" : "forward"), (CellKind)o->cell,
                                     inputs, o->hidden, o->layer_norm);
        inputs = encoder_output_size(o);
    }
}

static void declare_blocks(ParamSet *params, Encoder *e) {
    const ModelOptions *o = e->options;
    TransformerForm form = {.size = o->hidden,
                            .feed_forward = model_feed_forward(o),
                            .heads = o->heads,
                            .reach = o->positions == POSITIONS_RELATIVE ? o->relative_reach : 0,
                            .norm = (NormPlace)o->norm};
    for (int l = 0; l < o->encoder_layers; l++)
        e->block[l] = transformer_new(params, layer_name(l, NULL), &form);
    e->norm = norm_new(params, "encoder.norm", o->hidden, o->norm == NORM_PRE);
}

static void declare_convs(ParamSet *params, Encoder *e) {
    const ModelOptions *o = e->options;
    for (int l = 0; l < o->encoder_layers; l++)
        e->conv[l] = conv_new(params, layer_name(l, NULL), o->hidden, o->conv_width, o->layer_norm);
    e->norm = norm_new(params, "encoder.norm", o->hidden, o->layer_norm);
}

Encoder encoder_new(ParamSet *params, const ModelOptions *o) {
    Encoder e = {.options = o};
    if (o->encoder_style == ENCODER_RNN) {
        declare_rnn(params, &e);
        return e;
    }
    if (o->embedding != o->hidden)
        e.input = linear_new(params, "encoder.input", o->embedding, o->hidden, false);
    e.posenc = posenc_new(params, "encoder", (PositionKind)o->positions, o->max_positions, o->hidden);
    if (o->encoder_style == ENCODER_SELF_ATTENTION)
        declare_blocks(params, &e);
    else
        declare_convs(params, &e);
    return e;
}

/* ---- running ---- */

static EncoderOutput run_rnn(Tape *tape, const Encoder *e, Tensor *x, const Sequences *source) {
    const ModelOptions *o = e->options;
    SequenceSteps steps = sequences_steps(tape, source);
    int *ends = tape_alloc(tape, (size_t)source->B * sizeof *ends);
    for (int b = 0; b < source->B; b++) ends[b] = steps.place[source->start[b + 1] - 1];
    EncoderOutput out = {0};
    x = op_gather(tape, x, steps.row, source->rows);
    for (int l = 0; l < o->encoder_layers; l++) {
        Tensor *in = x;
        if (l)
            in = op_dropout(tape, x, o->dropout_layers, DROPOUT_ENCODER_LAYER + (uint32_t)l, steps.row_keys);
        CellState all = rnn_run(tape, &e->cell[l][0], in, steps.packed, false);
        Tensor *y = all.h;
        if (o->bidirectional) y = op_concat(tape, y, rnn_run(tape, &e->cell[l][1], in, steps.packed, true).h);
        if (o->decoder_start == START_FINAL) out.final[l] = cell_gather(tape, all, ends, source->B);
        x = o->residual && l ? op_add(tape, x, y) : y;
    }
    out.annotations = op_gather(tape, x, steps.place, source->rows);
    return out;
}

static Tensor *run_blocks(Tape *tape, const Encoder *e, Tensor *x, const Sequences *source) {
    const ModelOptions *o = e->options;
    TransformerRun run = {.spans = sequences_spans(tape, source, false),
                          .position = source->position,
                          .dropout = o->dropout_layers,
                          .attention_dropout = o->dropout_attention,
                          .row_keys = source->row_keys};
    for (int l = 0; l < o->encoder_layers; l++) {
        run.stream = DROPOUT_ENCODER_BLOCK + (uint32_t)(TRANSFORMER_STREAMS * l);
        x = transformer_run(tape, &e->block[l], x, &run);
    }
    return x;
}

static Tensor *run_convs(Tape *tape, const Encoder *e, Tensor *x, const Sequences *source) {
    const ModelOptions *o = e->options;
    for (int l = 0; l < o->encoder_layers; l++)
        x = conv_run(tape, &e->conv[l], x, source, o->dropout_layers, DROPOUT_ENCODER_LAYER + (uint32_t)l);
    return x;
}

EncoderOutput encoder_run(Tape *tape, const Encoder *e, Tensor *x, const Sequences *source) {
    if (e->options->encoder_style == ENCODER_RNN) return run_rnn(tape, e, x, source);
    if (e->input.weight) x = linear_apply(tape, &e->input, x);
    x = posenc_add(tape, &e->posenc, x, source->position);
    x = e->options->encoder_style == ENCODER_SELF_ATTENTION ? run_blocks(tape, e, x, source)
                                                            : run_convs(tape, e, x, source);
    return (EncoderOutput){.annotations = norm_apply(tape, &e->norm, x)};
}
