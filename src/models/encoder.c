/* encoder.c - the table of encoders, and the two that only stack layers: Transformer blocks, convolutions. */
#include "models/encoder.h"
#include "models/dropout_streams.h"

/* ---- Transformer blocks: each token attends to all tokens of its sentence ---- */

static void blocks_declare(ParamSet *params, const ModelOptions *o, void *encoder) {
    *(TransformerStack *)encoder = transformer_stack_new(params, "encoder", o, o->encoder_layers, 0);
}

/* Each token attends to its whole sentence, or to all of it but </s>. */
static const Spans *source_spans(Tape *tape, const ModelOptions *o, const Sequences *source) {
    if (o->add_source_eos) return sequences_spans(tape, source, false);
    int *first = tape_alloc(tape, 2 * (size_t)source->rows * sizeof *first), *length = first + source->rows;
    for (int r = 0; r < source->rows; r++) {
        first[r] = source->start[source->sentence[r]];
        length[r] = model_attended_rows(o, source->length[source->sentence[r]]);
    }
    return spans_new(tape, first, length, source->rows);
}

static EncoderOutput blocks_run(Tape *tape, const void *encoder, Tensor *x, const Sequences *source) {
    const TransformerStack *blocks = encoder;
    TransformerRun run = {.spans = source_spans(tape, blocks->options, source),
                          .position = source->position,
                          .stream = DROPOUT_ENCODER_BLOCK,
                          .row_keys = source->row_keys};
    return (EncoderOutput){.annotations = transformer_stack_run(tape, blocks, x, run)};
}

/* ---- gated convolutions: each layer lets a token see its neighbours ---- */

static void conv_encoder_declare(ParamSet *params, const ModelOptions *o, void *encoder) {
    ConvEncoder *e = encoder;
    *e = (ConvEncoder){.options = o};
    const PositionForm positions = model_positions(o);
    e->positions = positions_new(params, "encoder", &positions);
    for (int l = 0; l < o->encoder_layers; l++)
        e->conv[l] = conv_new(params, param_layer("encoder", l), o->hidden, o->conv_width, o->layer_norm);
    e->norm = norm_new(params, "encoder.norm", o->hidden, o->layer_norm, NORM_EPSILON);
}

static EncoderOutput conv_encoder_run(Tape *tape, const void *encoder, Tensor *x, const Sequences *source) {
    const ConvEncoder *e = encoder;
    const ModelOptions *o = e->options;
    x = positions_add(tape, &e->positions, x, source->position);
    for (int l = 0; l < o->encoder_layers; l++)
        x = conv_run(tape, &e->conv[l], x, source, o->dropout_layers, DROPOUT_ENCODER_LAYER + (uint32_t)l);
    return (EncoderOutput){.annotations = norm_apply(tape, &e->norm, x)};
}

/* ---- the table ---- */

static const EncoderFamily FAMILIES[] = {[ENCODER_RNN] = {encoder_rnn_declare, encoder_rnn_run},
                                         [ENCODER_SELF_ATTENTION] = {blocks_declare, blocks_run},
                                         [ENCODER_CONV] = {conv_encoder_declare, conv_encoder_run}};

Encoder encoder_new(ParamSet *params, const ModelOptions *o) {
    Encoder e = {.family = &FAMILIES[o->encoder_style]};
    e.family->declare(params, o, &e.params);
    return e;
}

/* Two halves: the annotations are seen as twice as many rows, forward and backward in turn. */
Tensor *encoder_final_state(Tape *tape, const ModelOptions *o, Tensor *annotations, const int *start, int B) {
    int halves = model_annotation_size(o) / o->hidden;
    int *index = tape_alloc(tape, (size_t)(halves * B) * sizeof *index);
    for (int b = 0; b < B; b++) {
        index[halves * b] = halves * (start[b + 1] - 1);
        if (halves == 2) index[2 * b + 1] = 2 * start[b] + 1;
    }
    Tensor *rows = tape_reshape(tape, annotations, halves * annotations->rows, o->hidden);
    return tape_reshape(tape, op_gather(tape, rows, index, halves * B), B, halves * o->hidden);
}
