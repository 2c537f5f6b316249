/* seq2seq.c - the whole model: embeddings, encoder, attention, decoder, output layer, loss.
 *
 * The forward pass of one sentence with GRU cells and the additive score, style conditional, deep readout:
 *
 *     x_i  = E_source[source_i]                                        [D]  embedding
 *     h_i  = (gru(x_i, h_{i-1} forward), gru(x_i, h_{i+1} backward))   [K]  annotation: encoder_rnn.c
 *     s_0  = tanh(W_start mean_i h_i + b_start)                        [H]  first state of the decoder
 *     y_t  = E_target[target_{t-1}], where target_0 is <s>             [D]  the previous token
 *     q_t  = gru_1(y_t, s_{t-1})                                       [H]  query: decoder_recurrent.c
 *     a_ti = softmax over i of v . tanh(W_query q_t + W_key h_i)            weights: attention_scores.c
 *     c_t  = sum_i a_ti h_i                                            [K]  context: attention.c
 *     s_t  = gru_2(c_t, q_t)                                           [H]  the new state
 *     r_t  = tanh(W_s s_t + W_c c_t + W_y y_t + b_r)                   [E]  readout
 *     p_t  = softmax(W_output r_t + b_output)                          [V]  the next token
 *     loss = - sum over t of log p_t[target_t]                              op_cross_entropy.c
 *
 * The other styles change q_t, s_t and r_t (decoder.h); a Transformer replaces all between x, y and r
 * (layers/transformer.h). Search runs the lines from y_t on once per step (seq2seq_step). Training runs them
 * for all steps of the reference at once (run_forced). Both call the same decoder code.
 */
#include "models/seq2seq.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "models/decoder.h"
#include "models/dropout_streams.h"
#include "models/encoder.h"
#include "kern/kern.h"
#include "autograd/activations.h"

enum { DIRECTIONS = 2 };

struct Seq2Seq {
    Config config; /* a copy; its strings are not used */
    Tokenizer *source, *target;
    Shortlist *shortlist; /* or NULL */
    ParamSet *params;
    bool shares_vocabulary;
    bool is_view;                             /* parameters and shortlist belong to another model */
    const Param *source_table, *target_table; /* [source V, D] and [V, D]: embeddings */
    const Param *output_table, *output_bias;  /* [V, E] and [1, V] */
    Encoder encoder;
    Decoder decoder[DIRECTIONS]; /* a second one, from right to left, only if there are two */
};

ParamSet *seq2seq_params(const Seq2Seq *model) { return model->params; }
const Config *seq2seq_config(const Seq2Seq *model) { return &model->config; }
Tokenizer *seq2seq_source(const Seq2Seq *model) { return model->source; }
Tokenizer *seq2seq_target(const Seq2Seq *model) { return model->target; }

bool seq2seq_shares_vocabulary(const Seq2Seq *model) { return model->shares_vocabulary; }

int seq2seq_directions(const Seq2Seq *model) {
    return model->config.model.decoder_bidirectional ? DIRECTIONS : 1;
}

void seq2seq_attentions(const Seq2Seq *model, int *layers, int *heads) {
    const ModelOptions *o = &model->config.model;
    bool transformer = o->decoder_style == DECODER_TRANSFORMER;
    *layers = transformer ? o->decoder_layers : model_attends(o);
    *heads = transformer ? o->heads : model_attends(o);
}

bool seq2seq_has_attention(const Seq2Seq *model) { return model_attends(&model->config.model); }

bool seq2seq_has_reserved(const Seq2Seq *model) {
    return tokenizer_has_reserved(model->source) && tokenizer_has_reserved(model->target);
}

Status seq2seq_check_attention(const Seq2Seq *model) {
    if (model_attends(&model->config.model)) return STATUS_OK;
    status_fail(STATUS_USAGE, "the model has no attention (model.attention = \"none\"): nothing to draw, and "
                              "nothing that says which words belong together");
    return status_hint(STATUS_USAGE, "train one with a score function; of several models that vote, the "
                                     "attention of the first one counts");
}

static const Param *declare_embedding(Seq2Seq *m, const char *name, int size, PanelUse panel_use) {
    const ModelOptions *o = &m->config.model;
    Param *table =
        params_add(m->params, name, size, o->embedding, INIT_NORMAL, o->embedding_scale, panel_use);
    table->looked_up = true;
    return table;
}

static void declare_tables(Seq2Seq *m) {
    const ModelOptions *o = &m->config.model;
    int source_size = vocab_size(tokenizer_vocab(m->source)),
        target_size = vocab_size(tokenizer_vocab(m->target));
    PanelUse panel_use = o->tie == TIE_NONE ? PANELS_NONE : PANELS_OUTPUT;
    if (o->tie == TIE_ALL) {
        m->source_table = m->target_table = m->output_table =
            declare_embedding(m, "embedding", target_size, panel_use);
    } else {
        m->source_table = declare_embedding(m, "source.embedding", source_size, PANELS_NONE);
        m->target_table = m->output_table = declare_embedding(m, "target.embedding", target_size, panel_use);
    }
    if (o->tie == TIE_NONE)
        m->output_table = params_add(m->params, "output.weight", target_size, model_readout_size(o),
                                     INIT_GLOROT, 0, PANELS_OUTPUT);
    m->output_bias = params_add(m->params, "output.bias", 1, target_size, INIT_ZERO, 0, PANELS_NONE);
}

Seq2Seq *seq2seq_new(const Config *config, Tokenizer *source, Tokenizer *target) {
    Seq2Seq *m = mem_alloc(1, sizeof *m);
    m->config = *config;
    memset(&m->config.data, 0, sizeof m->config.data);
    m->config.text.bpe_codes = NULL;
    m->source = tokenizer_retain(source);
    m->target = tokenizer_retain(target);
    m->shares_vocabulary =
        source == target || vocab_difference(tokenizer_vocab(source), tokenizer_vocab(target)) < 0;
    m->params = params_new();
    declare_tables(m);
    m->encoder = encoder_new(m->params, &m->config.model);
    m->decoder[0] = decoder_new(m->params, "decoder", &m->config.model);
    if (seq2seq_directions(m) == DIRECTIONS)
        m->decoder[1] = decoder_new(m->params, "decoder.backward", &m->config.model);
    return m;
}

Seq2Seq *seq2seq_view(const Seq2Seq *model) {
    Seq2Seq *view = mem_alloc(1, sizeof *view);
    *view = *model;
    view->source = tokenizer_view(model->source);
    view->target =
        model->target == model->source ? tokenizer_retain(view->source) : tokenizer_view(model->target);
    view->is_view = true;
    return view;
}

void seq2seq_free(Seq2Seq *model) {
    if (!model) return;
    if (!model->is_view) {
        params_free(model->params);
        shortlist_free(model->shortlist);
    }
    tokenizer_free(model->source);
    tokenizer_free(model->target);
    mem_free(model);
}

const Shortlist *seq2seq_shortlist(const Seq2Seq *model) { return model->shortlist; }

void seq2seq_take_shortlist(Seq2Seq *model, Shortlist *shortlist) {
    shortlist_free(model->shortlist);
    model->shortlist = shortlist;
    if (shortlist) model->params->items[model->output_table->index]->looked_up = true;
}

/* ---- encoder side ---- */

/* Replace tokens by "no token" (a zero embedding) with the probability of word dropout. */
static void drop_words(const Tape *tape, double p, uint32_t stream, const uint32_t *keys, int *ids,
                       int rows) {
    if (!tape->training || p <= 0) return;
    uint64_t key = rng_key(tape->dropout_key, stream, 0, 0);
    for (int r = 0; r < rows; r++) {
        Rng rng = rng_new(rng_key(key, keys[r], 0, 0));
        if (rng_uniform(&rng) < p) ids[r] = -1;
    }
}

/* Tokens of each sentence with its </s>. */
static const int *lengths_with_end(Tape *tape, const Tokens *sentences, int B) {
    int *lengths = tape_alloc(tape, (size_t)B * sizeof *lengths);
    for (int b = 0; b < B; b++) lengths[b] = sentences[b].length + 1;
    return lengths;
}

/* The embeddings [source->rows, D] of the tokens of each sentence and its </s>. */
static Tensor *embed_source(const Seq2Seq *m, Tape *tape, const Tokens *sources, const Sequences *source) {
    const ModelOptions *o = &m->config.model;
    int *tokens = tape_alloc(tape, (size_t)source->rows * sizeof *tokens);
    for (int r = 0; r < source->rows; r++) {
        int b = source->sentence[r], s = source->position[r];
        tokens[r] = s < sources[b].length ? sources[b].ids[s] : VOCAB_EOS;
    }
    drop_words(tape, o->word_dropout, DROPOUT_SOURCE_WORD, source->row_keys, tokens, source->rows);
    Tensor *x = op_embedding(tape, m->source_table, tokens, source->rows);
    return op_dropout(tape, x, o->dropout_embedding, DROPOUT_SOURCE_EMBEDDING, source->row_keys);
}

/* `source`: the rows of the annotations. */
static Encoded *init_decoder(const Seq2Seq *m, Tape *tape, const Sequences *source,
                             const EncoderOutput *output, int decoder) {
    const Decoder *d = &m->decoder[decoder];
    Encoded *e = tape_alloc(tape, sizeof *e);
    *e = (Encoded){.tape = tape,
                   .decoder = decoder,
                   .B = source->B,
                   .start = source->start,
                   .hides_end = !m->config.model.add_source_eos};
    d->family->init_state(tape, &d->params, output, e);
    return e;
}

/* A recurrent encoder's steps need many sentences. A Transformer has the most memory for each token. */
static int sub_batch_tokens(const Seq2Seq *m) {
    return m->config.model.encoder_style == ENCODER_RNN ? 512 : 160;
}

/* The end of a sub-batch that begins at sentence `first`. It has at least one sentence and about `most`
 * tokens at most. The sub-batches of a batch are about equal. */
static int sub_batch_end(const int *tokens, int first, int B, int most) {
    int total = 0, size = tokens[first], end = first + 1;
    for (int b = 0; b < B; b++) total += tokens[b];
    int sub_batches = total / most + 1;
    while (end < B && size <= total / sub_batches) size += tokens[end++];
    return end;
}

/* Rows that the decoder attends to, for sentences with these numbers of tokens. */
static const int *source_rows(const Seq2Seq *m, Tape *tape, const int *tokens, int B) {
    if (model_attends(&m->config.model)) return tokens;
    int *rows = tape_alloc(tape, (size_t)B * sizeof *rows);
    for (int b = 0; b < B; b++) rows[b] = 1;
    return rows;
}

Encoded *seq2seq_encode(const Seq2Seq *m, Tape *tape, Tape *scratch, const Tokens *sources, int B,
                        bool right_to_left) {
    int decoder = right_to_left && seq2seq_directions(m) == DIRECTIONS;
    const Decoder *d = &m->decoder[decoder];
    const int *tokens = lengths_with_end(tape, sources, B);
    Encoded *whole = scratch ? encoded_join(tape, source_rows(m, tape, tokens, B), B) : NULL;
    Tape *work = scratch ? scratch : tape;
    assert(!work->record);
    for (int first = 0, end; first < B; first = end) {
        end = scratch ? sub_batch_end(tokens, first, B, sub_batch_tokens(m)) : B;
        if (scratch) tape_reset(scratch);
        const Sequences *source = sequences_new(work, tokens + first, end - first, NULL, 0);
        Tensor *x = embed_source(m, work, sources + first, source);
        EncoderOutput output = m->encoder.family->run(work, &m->encoder.params, x, source);
        Encoded *sub_batch = init_decoder(m, work, source, &output, decoder);
        if (d->family->map_annotations) d->family->map_annotations(work, &d->params, sub_batch);
        if (!scratch) return sub_batch;
        encoded_add(tape, whole, first, sub_batch);
    }
    return whole;
}

/* ---- decoder, step by step ---- */

DecoderState seq2seq_start(const Encoded *encoded) { return encoded->initial; }

Tensor *seq2seq_readout(const Seq2Seq *m, const StepContext *context, const int *tokens) {
    const Encoded *encoded = context->encoded;
    const Decoder *d = &m->decoder[encoded->decoder];
    StepContext step = *context;
    assert(!step.tape->record);
    step.spans = encoded_spans(step.tape, encoded, step.row_sentence, step.rows);
    Tensor *embedded = op_embedding(step.tape, m->target_table, tokens, step.rows);
    /* cppcheck-suppress returnDanglingLifetime; the readout is on the tape and does not point to `step` */
    return d->family->step(&d->params, &step, embedded);
}

Tensor *seq2seq_logits(const Seq2Seq *m, Tape *tape, Tensor *readout) {
    return op_affine(tape, readout, m->output_table, m->output_bias, NULL, true);
}

void output_rows_free(OutputRows *rows) {
    mem_free(rows->floats);
    mem_free(rows->bytes);
    mem_free(rows->scales);
    *rows = (OutputRows){0};
}

void seq2seq_output_rows(const Seq2Seq *m, const int *ids, int count, OutputRows *rows) {
    const Param *table = m->output_table;
    bool bytes = params_has_bytes(m->params, table);
    size_t step = bytes ? KERN_BYTES : 1;
    rows->width = ((size_t)table->columns + step - 1) / step * step;
    if (bytes) {
        MEM_GROW(rows->bytes, rows->byte_capacity, (size_t)count * rows->width);
        MEM_GROW(rows->scales, rows->scale_capacity, (size_t)count);
    } else
        MEM_GROW(rows->floats, rows->float_capacity, (size_t)count * rows->width);
    for (int i = 0; i < count; i++) {
        size_t at = (size_t)i * rows->width;
        if (bytes)
            rows->scales[i] = params_row_bytes(table, ids[i], rows->bytes + at);
        else
            params_row(m->params, table, ids[i], rows->floats + at);
    }
}

enum { OUTPUT_BLOCK = 32 }; /* rows of the table, which stay in the cache for all rows of the readout */

/* out [size] = the products of a row of the readout with rows of the table. */
static void output_dots(const OutputRows *table, const int *indices, int size, int columns, const real *row,
                        real *out) {
    const real *floats[OUTPUT_BLOCK];
    const int8_t *bytes[OUTPUT_BLOCK];
    real scales[OUTPUT_BLOCK];
    for (int j = 0; j < size; j++) {
        size_t at = (size_t)indices[j] * table->width;
        if (table->bytes)
            bytes[j] = table->bytes + at, scales[j] = table->scales[indices[j]];
        else
            floats[j] = table->floats + at;
    }
    if (table->bytes)
        kern->dots_of_bytes(size, columns, row, bytes, scales, out);
    else
        kern->dots_gathered(size, columns, row, floats, 0, out);
}

void seq2seq_subset_logits(const Seq2Seq *m, const Tensor *readout, int first, int rows,
                           const TokenSubset *tokens, real *logits) {
    const real *bias = param_data(m->params, m->output_bias);
    for (int i = 0; i < tokens->count; i += OUTPUT_BLOCK) {
        int size = tokens->count - i < OUTPUT_BLOCK ? tokens->count - i : OUTPUT_BLOCK;
        for (int r = 0; r < rows; r++) {
            real *out = logits + (size_t)r * (size_t)tokens->count + i;
            output_dots(tokens->table, tokens->indices + i, size, readout->columns,
                        tensor_row(readout, first + r), out);
            for (int j = 0; j < size; j++) out[j] += bias[tokens->ids[i + j]];
        }
    }
}

Tensor *seq2seq_step(const Seq2Seq *m, const StepContext *context, const int *tokens) {
    return seq2seq_logits(m, context->tape, seq2seq_readout(m, context, tokens));
}

DecoderState seq2seq_select(Tape *tape, const DecoderState *state, const int *index, int rows) {
    DecoderState selected = {.parts = state->parts, .steps = state->steps};
    for (int i = 0; i < state->parts; i++) selected.part[i] = op_gather(tape, state->part[i], index, rows);
    selected.cache = kv_cache_select(tape, &state->cache, index, rows);
    return selected;
}

/* ---- teacher forcing ---- */

/* Gives source and target of a sentence, and both directions, different dropout masks. */
static const uint32_t SIDE_TARGET[DIRECTIONS] = {0x5BD1E995, 0x9E3779B1};
/* The readout for all rows of the reference target, and their labels. */
typedef struct {
    Tensor *readout;   /* [rows, E] */
    const int *labels; /* [rows] */
} ForcedReadout;

/* A batch after the encoder. */
typedef struct {
    EncoderOutput output; /* annotations after dropout */
    const Sequences *source;
} AnnotatedBatch;

static AnnotatedBatch annotate(const Seq2Seq *m, Tape *tape, const TrainingBatch *batch) {
    tape->training = batch->seed_update != 0;
    tape->dropout_key = batch->seed_update;
    const int *lengths = lengths_with_end(tape, batch->source, batch->B);
    const Sequences *source = sequences_new(tape, lengths, batch->B, batch->sentence, 0);
    Tensor *x = embed_source(m, tape, batch->source, source);
    EncoderOutput output = m->encoder.family->run(tape, &m->encoder.params, x, source);
    output.annotations = op_dropout(tape, output.annotations, m->config.model.dropout_encoder,
                                    DROPOUT_ENCODER_OUTPUT, source->row_keys);
    record_activation(tape, "source", "embedded", x);
    record_activation(tape, "encoder", "annotations", output.annotations);
    return (AnnotatedBatch){output, source};
}

/* One decoder, all but its output layer, over the targets, sentence after sentence. */
static ForcedReadout run_forced(const Seq2Seq *m, Tape *tape, const TrainingBatch *batch,
                                const AnnotatedBatch *annotated, int decoder) {
    const ModelOptions *o = &m->config.model;
    bool right_to_left = o->right_to_left || decoder == 1;
    Encoded *encoded = init_decoder(m, tape, annotated->source, &annotated->output, decoder);
    const int *rows = lengths_with_end(tape, batch->target, batch->B);
    const Sequences *target = sequences_new(tape, rows, batch->B, batch->sentence, SIDE_TARGET[decoder]);
    int *inputs = tape_alloc(tape, 2 * (size_t)target->rows * sizeof *inputs),
        *labels = inputs + target->rows;
    for (int r = 0; r < target->rows; r++) { /* <s> y1 .. yn and y1 .. yn </s>, or from yn to y1 */
        Tokens y = batch->target[target->sentence[r]];
        int t = target->position[r];
        labels[r] = t == y.length ? VOCAB_EOS : y.ids[right_to_left ? y.length - 1 - t : t];
        inputs[r] = t == 0 ? VOCAB_BOS : labels[r - 1];
    }
    drop_words(tape, o->word_dropout, DROPOUT_TARGET_WORD, target->row_keys, inputs, target->rows);

    Tensor *embedded = op_embedding(tape, m->target_table, inputs, target->rows);
    embedded = op_dropout(tape, embedded, o->dropout_embedding, DROPOUT_TARGET_EMBEDDING, target->row_keys);
    Tensor *readout = decoder_forced(tape, &m->decoder[decoder], encoded, target, embedded);
    record_activation(tape, "target", "embedded", embedded);
    record_activation(tape, "decoder", "readout", readout);
    return (ForcedReadout){readout, labels};
}

long seq2seq_deferred_loss(const Seq2Seq *m, Tape *tape, const TrainingBatch *batch, double label_smoothing,
                           double scale, CrossEntropy *sums) {
    const LossOptions loss = {m->output_table, m->output_bias, label_smoothing, scale};
    AnnotatedBatch annotated = annotate(m, tape, batch);
    int rows = 0;
    *sums = (CrossEntropy){0};
    for (int d = 0; d < seq2seq_directions(m); d++) {
        ForcedReadout f = run_forced(m, tape, batch, &annotated, d);
        op_cross_entropy(tape, f.readout, f.labels, &loss, sums);
        rows += f.readout->rows;
    }
    return rows;
}

BatchLoss seq2seq_loss(const Seq2Seq *m, Tape *tape, const TrainingBatch *batch, double label_smoothing,
                       double scale) {
    CrossEntropy sums;
    long tokens = seq2seq_deferred_loss(m, tape, batch, label_smoothing, scale, &sums);
    return (BatchLoss){sums.loss, sums.likelihood, tokens};
}

Tensor *seq2seq_forced(const Seq2Seq *m, Tape *tape, Tokens source, Tokens target) {
    TrainingBatch batch = {.B = 1, .source = &source, .target = &target};
    AnnotatedBatch annotated = annotate(m, tape, &batch);
    return seq2seq_logits(m, tape, run_forced(m, tape, &batch, &annotated, 0).readout);
}
