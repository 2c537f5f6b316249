/* seq2seq.c - encoder, decoder, embeddings and vocabularies put together. */
#include "models/seq2seq.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "models/decoder.h"
#include "models/sites.h"

struct Seq2Seq {
    Config config; /* a copy; its strings are not used */
    Segmenter *source, *target;
    ParamSet *params;
    const Param *source_table, *target_table; /* embeddings */
    const Param *output_table, *output_bias;  /* [V, E] and [1, V] */
    Encoder encoder;
    Decoder decoder;
};

ParamSet *seq2seq_params(const Seq2Seq *model) { return model->params; }
const Config *seq2seq_config(const Seq2Seq *model) { return &model->config; }
Segmenter *seq2seq_source(const Seq2Seq *model) { return model->source; }
Segmenter *seq2seq_target(const Seq2Seq *model) { return model->target; }

static void declare_tables(Seq2Seq *m) {
    const ModelOptions *o = &m->config.model;
    int source_size = vocab_size(segmenter_vocab(m->source)),
        target_size = vocab_size(segmenter_vocab(m->target));
    double scale = o->embedding_scale;
    Packing packing = o->tie == TIE_NONE ? PACK_NONE : PACK_OUTPUT;
    if (o->tie == TIE_ALL) {
        m->source_table = m->target_table = m->output_table =
            params_add(m->params, "embedding", target_size, o->embedding, INIT_NORMAL, scale, packing);
    } else {
        m->source_table = params_add(m->params, "source.embedding", source_size, o->embedding, INIT_NORMAL,
                                     scale, PACK_NONE);
        m->target_table = m->output_table =
            params_add(m->params, "target.embedding", target_size, o->embedding, INIT_NORMAL, scale, packing);
    }
    if (o->tie == TIE_NONE)
        m->output_table = params_add(m->params, "output.weight", target_size, decoder_readout_size(o),
                                     INIT_GLOROT, 0, PACK_OUTPUT);
    m->output_bias = params_add(m->params, "output.bias", 1, target_size, INIT_ZERO, 0, PACK_NONE);
}

Seq2Seq *seq2seq_new(const Config *config, Segmenter *source, Segmenter *target) {
    Seq2Seq *m = mem_alloc(1, sizeof *m);
    m->config = *config;
    memset(&m->config.data, 0, sizeof m->config.data);
    m->config.text.bpe_codes = NULL;
    m->source = segmenter_retain(source);
    m->target = segmenter_retain(target);
    m->params = params_new();
    declare_tables(m);
    m->encoder = encoder_new(m->params, &m->config.model);
    m->decoder = decoder_new(m->params, &m->config.model);
    return m;
}

void seq2seq_free(Seq2Seq *model) {
    if (!model) return;
    params_free(model->params);
    segmenter_free(model->source);
    segmenter_free(model->target);
    mem_free(model);
}

/* ---- encoder side ----------------------------------------------------------------------------------------------------- */

static uint32_t row_key(uint32_t sentence, int position) {
    return (uint32_t)rng_key(sentence, (uint64_t)position, 0x9E37u, 0);
}

/* Replace tokens by "no token" (a zero embedding) with the probability of word dropout. */
static void drop_words(const Tape *tape, double p, uint32_t site, const uint32_t *keys, int *ids, int rows) {
    if (!tape->training || p <= 0) return;
    uint64_t stream = rng_key(tape->dropout_key, site, 0, 0);
    for (int r = 0; r < rows; r++) {
        Rng rng = rng_new(rng_key(stream, keys[r], 0, 0));
        if (rng_uniform(&rng) < p) ids[r] = -1;
    }
}

/* `sentence`: numbers that key the dropout, or NULL when not training. */
static Encoded *encode(const Seq2Seq *m, Tape *tape, const int *const *ids, const int *lengths, int B,
                       const uint32_t *sentence) {
    const ModelOptions *o = &m->config.model;
    int *with_end = tape_alloc(tape, (size_t)B * sizeof *with_end);
    for (int b = 0; b < B; b++) with_end[b] = lengths[b] + 1;
    Packed *packed = packed_new(tape, with_end, B);

    int *tokens = tape_alloc(tape, (size_t)packed->rows * sizeof *tokens),
        *start = tape_alloc(tape, ((size_t)B + 1) * sizeof *start);
    int *gather = tape_alloc(tape, (size_t)packed->rows * sizeof *gather),
        *ends = tape_alloc(tape, (size_t)B * sizeof *ends);
    uint32_t *keys = tape_alloc(tape, (size_t)packed->rows * sizeof *keys);
    start[0] = 0;
    for (int b = 0; b < B; b++) {
        start[b + 1] = start[b] + with_end[b];
        for (int s = 0; s < with_end[b]; s++) {
            int row = packed_row(packed, b, s);
            tokens[row] = s < lengths[b] ? ids[b][s] : VOCAB_EOS;
            keys[row] = sentence ? row_key(sentence[b], s) : 0;
            gather[start[b] + s] = row;
        }
        ends[b] = packed_row(packed, b, lengths[b]);
    }
    drop_words(tape, o->word_dropout, SITE_SOURCE_WORD, keys, tokens, packed->rows);

    Tensor *x = op_embedding(tape, m->source_table, tokens, packed->rows);
    x = op_dropout(tape, x, o->dropout_embedding, SITE_SOURCE_EMBEDDING, keys);
    EncoderOutput out = encoder_run(tape, &m->encoder, x, packed, o->dropout_layers, keys);

    Encoded *e = tape_alloc(tape, sizeof *e);
    Tensor *values = op_dropout(tape, out.outputs, o->dropout_encoder, SITE_ENCODER_OUTPUT, keys);
    *e = (Encoded){.B = B, .start = start, .values = op_gather(tape, values, gather, packed->rows)};
    e->keys = attention_keys(tape, &m->decoder.attention, e->values);
    Tensor *mean = o->decoder_start == START_MEAN ? op_segment_mean(tape, e->values, start, B) : NULL;
    for (int l = 0; l < o->decoder_layers; l++)
        e->initial[l] =
            mean ? decoder_start(tape, &m->decoder, l, mean) : op_gather(tape, out.layer[l], ends, B);
    return e;
}

Encoded *seq2seq_encode(const Seq2Seq *model, Tape *tape, const int *const *ids, const int *lengths, int B) {
    return encode(model, tape, ids, lengths, B, NULL);
}

/* ---- decoder, step by step ---------------------------------------------------------------------------------------------- */

DecoderState seq2seq_start(const Seq2Seq *model, Tape *tape, const Encoded *encoded) {
    (void)tape;
    DecoderState state = {.layers = model->config.model.decoder_layers};
    memcpy(state.layer, encoded->initial, sizeof state.layer);
    return state;
}

Tensor *seq2seq_step(const Seq2Seq *m, Tape *tape, const Encoded *encoded, const int *row_sentence,
                     const int *tokens, int rows, DecoderState *state, AttentionWeights *attention) {
    assert(!tape->record);
    int *first = tape_alloc(tape, 2 * (size_t)rows * sizeof *first), *length = first + rows;
    for (int r = 0; r < rows; r++) {
        first[r] = encoded->start[row_sentence[r]];
        length[r] = encoded->start[row_sentence[r] + 1] - first[r];
    }
    const Spans *spans = spans_new(tape, first, length, rows);
    DecoderInput input = decoder_input(tape, &m->decoder, op_embedding(tape, m->target_table, tokens, rows));
    Tensor *weights;
    Tensor *context = decoder_step(tape, &m->decoder, input.projected, encoded->keys, encoded->values, spans,
                                   state->layer, &weights, NULL);
    if (attention) *attention = (AttentionWeights){weights->data, spans->start, spans->length};
    Tensor *readout =
        decoder_readout(tape, &m->decoder, state->layer[state->layers - 1], context, input.embedded, NULL);
    return op_affine(tape, readout, m->output_table, m->output_bias, NULL, true);
}

DecoderState seq2seq_select(Tape *tape, const DecoderState *state, const int *index, int rows) {
    DecoderState selected = {.layers = state->layers};
    for (int l = 0; l < state->layers; l++) selected.layer[l] = op_gather(tape, state->layer[l], index, rows);
    return selected;
}

/* ---- teacher forcing ---------------------------------------------------------------------------------------------------- */

typedef struct {
    Packed *packed;
    int *inputs, *labels; /* [rows]: <s> y1 .. yn and y1 .. yn </s> */
    uint32_t *keys;
} ForcedTarget;

static ForcedTarget force_target(Tape *tape, const int *const *ids, const int *lengths,
                                 const uint32_t *sentence, int B) {
    int *with_end = tape_alloc(tape, (size_t)B * sizeof *with_end);
    for (int b = 0; b < B; b++) with_end[b] = lengths[b] + 1;
    ForcedTarget f = {.packed = packed_new(tape, with_end, B)};
    size_t rows = (size_t)f.packed->rows;
    f.inputs = tape_alloc(tape, rows * sizeof *f.inputs);
    f.labels = tape_alloc(tape, rows * sizeof *f.labels);
    f.keys = tape_alloc(tape, rows * sizeof *f.keys);
    for (int b = 0; b < B; b++)
        for (int t = 0; t <= lengths[b]; t++) {
            int row = packed_row(f.packed, b, t);
            f.inputs[row] = t ? ids[b][t - 1] : VOCAB_BOS;
            f.labels[row] = t < lengths[b] ? ids[b][t] : VOCAB_EOS;
            f.keys[row] = row_key(sentence[b], t) ^ 0x5BD1E995u;
        }
    return f;
}

/* The batch with its sentences in the order of target length, longest first: then the decoder's running sentences are always
 * the first ones, and rows need no reordering between steps. */
static TrainingBatch by_target_length(Tape *tape, const TrainingBatch *batch) {
    size_t B = (size_t)batch->B;
    int *with_end = tape_alloc(tape, B * sizeof *with_end);
    for (size_t b = 0; b < B; b++) with_end[b] = batch->target_length[b] + 1;
    const Packed *ranks = packed_new(tape, with_end, batch->B);
    const int **source = tape_alloc(tape, B * sizeof *source),
              **target = tape_alloc(tape, B * sizeof *target);
    int *source_length = tape_alloc(tape, B * sizeof *source_length),
        *target_length = tape_alloc(tape, B * sizeof *target_length);
    uint32_t *sentence = tape_alloc(tape, B * sizeof *sentence);
    for (size_t r = 0; r < B; r++) {
        int b = ranks->order[r];
        source[r] = batch->source[b];
        target[r] = batch->target[b];
        source_length[r] = batch->source_length[b];
        target_length[r] = batch->target_length[b];
        sentence[r] = batch->sentence[b];
    }
    return (TrainingBatch){batch->B,          source, target, source_length, target_length, sentence,
                           batch->seed_update};
}

BatchLoss seq2seq_loss(const Seq2Seq *m, Tape *tape, const TrainingBatch *unsorted, double label_smoothing,
                       double scale) {
    const ModelOptions *o = &m->config.model;
    TrainingBatch batch = by_target_length(tape, unsorted);
    tape->training = batch.seed_update != 0;
    tape->dropout_key = batch.seed_update;
    Encoded *encoded = encode(m, tape, batch.source, batch.source_length, batch.B, batch.sentence);
    ForcedTarget forced = force_target(tape, batch.target, batch.target_length, batch.sentence, batch.B);
    Packed *packed = forced.packed;
    drop_words(tape, o->word_dropout, SITE_TARGET_WORD, forced.keys, forced.inputs, packed->rows);

    Tensor *embedded = op_embedding(tape, m->target_table, forced.inputs, packed->rows);
    embedded = op_dropout(tape, embedded, o->dropout_embedding, SITE_TARGET_EMBEDDING, forced.keys);
    DecoderInput input = decoder_input(tape, &m->decoder, embedded);
    DecoderState state = seq2seq_start(m, tape, encoded);
    int *length = tape_alloc(tape, (size_t)batch.B * sizeof *length);
    for (int b = 0; b < batch.B; b++) length[b] = encoded->start[b + 1] - encoded->start[b];

    Tensor *context = NULL, *weights;
    tape_sequence_begin(tape, packed->rows);
    for (int t = 0; t < packed->steps; t++) {
        int first = packed->offset[t], rows = packed_running(packed, t);
        const Spans *spans = spans_new(tape, encoded->start, length, rows);
        for (int l = 0; l < state.layers; l++)
            if (state.layer[l]->rows != rows) state.layer[l] = tape_rows(tape, state.layer[l], 0, rows);
        tape_step_begin(tape, first, rows);
        context =
            decoder_step(tape, &m->decoder, tape_rows(tape, input.projected, first, rows), encoded->keys,
                         encoded->values, spans, state.layer, &weights, forced.keys + first);
        tape_step_end(tape);
    }
    Tensor *tops = tape_whole(tape, state.layer[state.layers - 1]), *contexts = tape_whole(tape, context);
    tape_sequence_end(tape);

    Tensor *readout = decoder_readout(tape, &m->decoder, tops, contexts, input.embedded, forced.keys);
    CrossEntropy result;
    op_cross_entropy(tape, readout, m->output_table, m->output_bias, forced.labels, label_smoothing, scale,
                     &result);
    return (BatchLoss){result.loss, result.likelihood, packed->rows};
}
