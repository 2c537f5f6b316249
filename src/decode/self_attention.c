/* self_attention.c - see self_attention.h. */
#include "decode/self_attention.h"

#include "base/mem.h"
#include "decode/voters.h"

Status self_attention_check(const Seq2Seq *model) {
    TRY(model_check_forwards(model, "self-attention"));
    if (seq2seq_config(model)->model.decoder_self_attention) return STATUS_OK;
    status_fail(STATUS_USAGE, "the decoder of this model does not look at its own earlier words");
    return status_hint(STATUS_USAGE, "train one with model.decoder.self_attention=true");
}

float *self_attention_weights(const Seq2Seq *model, const Translation *translation) {
    const TranslationItem *item = &translation->items[0];
    const Tokens source = {translation->source, translation->source_length};
    const int row = 0;
    int steps = item->steps;
    float *weights = mem_alloc((size_t)steps * (size_t)steps + 1, sizeof *weights);
    Tape *tape = tape_new(seq2seq_params(model), false);
    Encoded *encoded = seq2seq_encode(model, tape, &source, 1);
    DecoderState state = seq2seq_start(encoded);
    for (int t = 0; t < steps; t++) {
        AttentionWeights attention = {.own = true};
        int token = t ? item->ids[t - 1] : VOCAB_BOS;
        seq2seq_readout(model, tape, encoded, &row, &token, 1, &state, &attention);
        for (int i = 0; i < t; i++)
            weights[(size_t)t * (size_t)steps + (size_t)i] = (float)attention.weights[i];
    }
    tape_free(tape);
    return weights;
}
