/* encoder.c - which of the three ways to read a sentence. */
#include "models/encoder.h"

int encoder_output_size(const ModelOptions *o) {
    return o->encoder_style == ENCODER_RNN && o->bidirectional ? 2 * o->hidden : o->hidden;
}

Encoder encoder_new(ParamSet *params, const ModelOptions *o) {
    Encoder e = {.options = o};
    switch ((EncoderStyle)o->encoder_style) {
    case ENCODER_RNN:
        e.rnn = encoder_rnn_new(params, o);
        break;
    case ENCODER_SELF_ATTENTION:
        e.blocks = encoder_attention_new(params, o);
        break;
    case ENCODER_CONV:
        e.conv = encoder_conv_new(params, o);
        break;
    }
    return e;
}

EncoderOutput encoder_run(Tape *tape, const Encoder *e, Tensor *x, const Sequences *source) {
    EncoderOutput output = {0};
    switch ((EncoderStyle)e->options->encoder_style) {
    case ENCODER_RNN:
        output = encoder_rnn_run(tape, &e->rnn, x, source);
        break;
    case ENCODER_SELF_ATTENTION:
        output.annotations = encoder_attention_run(tape, &e->blocks, x, source);
        break;
    case ENCODER_CONV:
        output.annotations = encoder_conv_run(tape, &e->conv, x, source);
        break;
    }
    return output;
}

/* Two halves: the annotations are seen as twice as many rows, forward and backward in turn. */
Tensor *encoder_last(Tape *tape, const ModelOptions *o, Tensor *annotations, const int *start, int B) {
    int halves = encoder_output_size(o) / o->hidden;
    int *index = tape_alloc(tape, (size_t)(halves * B) * sizeof *index);
    for (int b = 0; b < B; b++) {
        index[halves * b] = halves * (start[b + 1] - 1);
        if (halves == 2) index[2 * b + 1] = 2 * start[b] + 1;
    }
    Tensor *rows = tape_reshape(tape, annotations, halves * annotations->rows, o->hidden);
    return tape_reshape(tape, op_gather(tape, rows, index, halves * B), B, halves * o->hidden);
}
