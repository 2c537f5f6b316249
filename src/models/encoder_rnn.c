/* encoder_rnn.c - recurrent layers over the source, forward and, if bidirectional, backward. */
#include "models/encoder_rnn.h"
#include "models/dropout_streams.h"

void encoder_rnn_declare(ParamSet *params, const ModelOptions *o, void *encoder) {
    RnnEncoder *e = encoder;
    *e = (RnnEncoder){.options = o};
    int inputs = o->embedding;
    for (int l = 0; l < o->encoder_layers; l++) {
        const char *layer = param_layer("encoder", l);
        for (int d = 0; d < (o->bidirectional ? 2 : 1); d++) {
            e->cell[l][d] = cell_new(params, param_name(layer, d ? "backward" : "forward"), (CellKind)o->cell,
                                     inputs, o->hidden, o->layer_norm);
            cell_drop_state(&e->cell[l][d], o->dropout_state, DROPOUT_ENCODER_STATE + (uint32_t)(2 * l + d));
        }
        inputs = model_annotation_size(o);
    }
}

/* h_t = [forward h_t; backward h_t] of each layer: Bahdanau et al. 2015, section 3.2. */
EncoderOutput encoder_rnn_run(Tape *tape, const void *encoder, Tensor *x, const Sequences *source) {
    const RnnEncoder *e = encoder;
    const ModelOptions *o = e->options;
    SequenceSteps steps = sequences_steps(tape, source);
    int *ends = tape_alloc(tape, (size_t)source->B * sizeof *ends);
    for (int b = 0; b < source->B; b++) ends[b] = steps.to_packed[source->start[b + 1] - 1];
    EncoderOutput out = {0};
    x = op_gather(tape, x, steps.from_packed, source->rows);
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
    out.annotations = op_gather(tape, x, steps.to_packed, source->rows);
    return out;
}
