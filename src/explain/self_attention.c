/* self_attention.c - see self_attention.h. */
#include "explain/self_attention.h"

#include "base/mem.h"
#include "explain/trace.h"
#include "layers/transformer.h"
#include "search/rescore.h"

static Status check_side(const ModelOptions *o, SelfSide side) {
    if (side == SELF_ENCODER && o->encoder_style != ENCODER_SELF_ATTENTION) {
        status_fail(STATUS_USAGE, "the encoder of this model has no self-attention");
        return status_hint(STATUS_USAGE, "train one with model.encoder.style=self_attention");
    }
    if (side == SELF_DECODER && o->decoder_style != DECODER_TRANSFORMER && !o->decoder_self_attention) {
        status_fail(STATUS_USAGE, "the decoder of this model has no self-attention");
        return status_hint(STATUS_USAGE, "train one with model.decoder.self_attention=true, or with "
                                         "model.decoder.style=transformer");
    }
    if (side == SELF_DECODER && o->autoreg == AUTOREG_SSRU) {
        status_fail(STATUS_USAGE, "the decoder of this model has no self-attention, but SSRUs");
        return status_hint(STATUS_USAGE, "leave self-attention of the decoder out");
    }
    return STATUS_OK;
}

Status self_attention_check(const Seq2Seq *model, SelfSide side, int *layers, int *heads) {
    const ModelOptions *o = &seq2seq_config(model)->model;
    bool encoder = side == SELF_ENCODER, blocks = encoder || o->decoder_style == DECODER_TRANSFORMER;
    TRY(model_require_left_to_right(model, "self-attention"));
    TRY(check_side(o, side));
    *layers = encoder ? o->encoder_layers : blocks ? o->decoder_layers : 1;
    *heads = blocks ? o->heads : 1;
    return STATUS_OK;
}

/* The mean over the chosen layers and heads [rows, columns]. */
static float *mean_weights(const Trace *trace, SelfSide side, AttentionChoice choice, int rows, int columns) {
    float *mean = mem_alloc((size_t)rows * (size_t)columns + 1, sizeof *mean);
    const Activation *weights;
    int maps = 0;
    for (int layer = 0; (weights = trace_self_attention(trace, side == SELF_ENCODER, layer)); layer++)
        for (int h = 0; h < weights->heads; h++) {
            if (choice.layer != ATTENTION_MEAN && choice.layer != layer) continue;
            if (choice.head != ATTENTION_MEAN && choice.head != h) continue;
            maps++;
            for (int r = 0; r < rows; r++)
                for (int c = 0; c < columns && c < weights->columns; c++)
                    mean[(size_t)r * (size_t)columns + (size_t)c] += (float)activation_row(weights, h, r)[c];
        }
    for (size_t i = 0; i < (size_t)rows * (size_t)columns; i++) mean[i] /= (float)(maps ? maps : 1);
    return mean;
}

void self_attention_align(Alignment *alignment, const Seq2Seq *model, const Translation *translation,
                          SelfSide side, AttentionChoice choice, AlignmentLevel level) {
    const TranslationItem *item = &translation->items[0];
    bool inputs = seq2seq_config(model)->model.decoder_style == DECODER_TRANSFORMER;
    AlignmentSelf kind = side == SELF_ENCODER ? ALIGNMENT_SOURCE
                         : inputs             ? ALIGNMENT_INPUTS
                                              : ALIGNMENT_OUTPUTS;
    int rows = kind == ALIGNMENT_SOURCE ? translation->source_length + 1 : item->steps;
    int columns = kind == ALIGNMENT_INPUTS ? item->length + 1 : rows;
    Trace trace;
    trace_run(&trace, model, (Tokens){translation->source, translation->source_length},
              (Tokens){item->ids, item->length}, 0);
    float *weights = mean_weights(&trace, side, choice, rows, columns);
    alignment_make_self(alignment, translation, weights, kind, level,
                        kind == ALIGNMENT_SOURCE ? seq2seq_source(model) : seq2seq_target(model));
    mem_free(weights);
    trace_free(&trace);
}
