/* golden_seq2seq.c - the textbook's whole model: loss, logits, attention weights and every gradient.
 *
 * Two-layer GRU encoder and decoder, additive attention, encoder's final states as first states, linear
 * output layer. PyTorch's first decoder layer reads [context, embedding] through one weight; ours are two.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/reference.h"
#include "models/seq2seq.h"
#include "unit/learn.h"

enum { B = 4, STEPS = 7, VOCAB = 10, EMBEDDING = 8, HIDDEN = 16 };

/* Their ids 0 <pad>, 1 <s>, 2 </s>, 3 a word; ours 0 <pad>, 1 <unk>, 2 <s>, 3 </s>. */
static int our_id(int theirs) {
    static const int MAP[] = {VOCAB_PAD, VOCAB_BOS, VOCAB_EOS, VOCAB_UNK};
    return theirs < 4 ? MAP[theirs] : theirs;
}

/* How a field of the file lies in a parameter. */
typedef enum { SAME, TRANSPOSED, TRANSPOSED_CONTEXT, TRANSPOSED_EMBEDDING, BY_TOKEN, BY_TOKEN_LINE } Layout;
static const struct {
    const char *param, *field;
    Layout layout;
} MAP[] = {{"source.embedding", "src_emb", BY_TOKEN},
           {"target.embedding", "tgt_emb", BY_TOKEN},
           {"output.weight", "out_w", BY_TOKEN},
           {"output.bias", "out_b", BY_TOKEN_LINE},
           {"encoder.0.forward.input.weight", "enc_w_ih0", TRANSPOSED},
           {"encoder.0.forward.input.bias", "enc_b_ih0", SAME},
           {"encoder.0.forward.state.weight", "enc_w_hh0", TRANSPOSED},
           {"encoder.0.forward.state.bias", "enc_b_hh0", SAME},
           {"encoder.1.forward.input.weight", "enc_w_ih1", TRANSPOSED},
           {"encoder.1.forward.input.bias", "enc_b_ih1", SAME},
           {"encoder.1.forward.state.weight", "enc_w_hh1", TRANSPOSED},
           {"encoder.1.forward.state.bias", "enc_b_hh1", SAME},
           {"decoder.attention.query.weight", "W_q", TRANSPOSED},
           {"decoder.attention.key.weight", "W_k", TRANSPOSED},
           {"decoder.attention.v", "w_v", SAME},
           {"decoder.context.weight", "dec_w_ih0", TRANSPOSED_CONTEXT},
           {"decoder.gru.0.input.weight", "dec_w_ih0", TRANSPOSED_EMBEDDING},
           {"decoder.gru.0.input.bias", "dec_b_ih0", SAME},
           {"decoder.gru.0.state.weight", "dec_w_hh0", TRANSPOSED},
           {"decoder.gru.0.state.bias", "dec_b_hh0", SAME},
           {"decoder.gru.1.input.weight", "dec_w_ih1", TRANSPOSED},
           {"decoder.gru.1.input.bias", "dec_b_ih1", SAME},
           {"decoder.gru.1.state.weight", "dec_w_hh1", TRANSPOSED},
           {"decoder.gru.1.state.bias", "dec_b_hh1", SAME}};
enum { MAPPED = sizeof MAP / sizeof *MAP };

/* A field in the order of the parameter's numbers. */
static Field in_our_order(Reference *reference, const Field *field, const Param *p, Layout layout) {
    if (layout == SAME) return *field;
    if (layout == TRANSPOSED || layout == TRANSPOSED_CONTEXT)
        return reference_transposed(reference, field, 0, p->rows, p->columns);
    if (layout == TRANSPOSED_EMBEDDING)
        return reference_transposed(reference, field, HIDDEN, p->rows, p->columns);
    int width = layout == BY_TOKEN ? p->columns : 1;
    Field ours = reference_blank(reference, field->name, VOCAB, width);
    assert_int_equal(field->count, ours.count);
    for (int id = 0; id < VOCAB; id++)
        memcpy(ours.data + our_id(id) * width, field->data + id * width, (size_t)width * sizeof(double));
    return ours;
}

static Seq2Seq *read_model(Reference *inputs, const char *attention) {
    Config config;
    config_init(&config);
    config.text.tokenizer = TOKENIZER_WORD;
    config.text.min_count = 1;
    config.text.joint = false;
    config.model.embedding = EMBEDDING;
    config.model.hidden = HIDDEN;
    config.model.encoder_layers = config.model.decoder_layers = 2;
    config.model.bidirectional = false;
    config.model.decoder_style = DECODER_BAHDANAU;
    config.model.decoder_start = START_FINAL;
    config.model.readout = READOUT_LINEAR;
    config.model.tie = TIE_NONE;
    config.model.attention = attention_score_named(attention);
    assert_int_equal(config_check(&config), STATUS_OK);
    Tokenizer *tokenizer;
    assert_int_equal(learn_tokenizer(&tokenizer, &config.text, SV("a b c d e f")), STATUS_OK);
    assert_int_equal(vocab_size(tokenizer_vocab(tokenizer)), VOCAB);
    Seq2Seq *model = seq2seq_new(&config, tokenizer, tokenizer);
    ParamSet *params = seq2seq_params(model);
    assert_int_equal(params->count, *attention == 'n' ? MAPPED - 3 : MAPPED);
    params_allocate(params);
    for (int i = 0; i < MAPPED; i++) {
        const Param *p = params_find(params, MAP[i].param);
        if (!p && *attention == 'n') continue; /* the query, the keys and v */
        assert_non_null(p);
        Field field = reference_field(inputs, "in", MAP[i].field);
        Field ours = in_our_order(inputs, &field, p, MAP[i].layout);
        reference_copy(&ours, param_data(params, p), (size_t)p->rows * (size_t)p->columns);
    }
    tokenizer_free(tokenizer);
    config_free(&config);
    return model;
}

typedef struct {
    int source_ids[B][STEPS], target_ids[B][STEPS];
    Tokens source[B], target[B];
    uint32_t sentence[B];
} Data;

/* Without </s>, which the model adds itself, and without padding. */
static Data *read_data(Reference *inputs) {
    Data *data = mem_alloc(1, sizeof *data);
    Field src = reference_field(inputs, "in", "src"), len = reference_field(inputs, "in", "src_len");
    Field labels = reference_field(inputs, "in", "labels"), tgt_in = reference_field(inputs, "in", "tgt_in");
    for (int b = 0; b < B; b++) {
        int S = (int)len.data[b] - 1, T = 0;
        assert_int_equal(src.data[b * STEPS + S], 2);
        assert_int_equal(tgt_in.data[b * STEPS], 1);
        for (int t = 0; t < STEPS; t++) {
            data->source_ids[b][t] = our_id((int)src.data[b * STEPS + t]);
            data->target_ids[b][t] = our_id((int)labels.data[b * STEPS + t]);
        }
        while (data->target_ids[b][T] != VOCAB_EOS) T++;
        data->source[b] = (Tokens){data->source_ids[b], S};
        data->target[b] = (Tokens){data->target_ids[b], T};
    }
    return data;
}

static TrainingBatch batch_of(const Data *data) {
    return (TrainingBatch){B, data->source, data->target, data->sentence, 0};
}

static void check_loss(const char *file, const char *attention, bool packed) {
    Reference *inputs = reference_open("seq2seq", "inputs"), *masked = reference_open(file, "masked");
    Seq2Seq *model = read_model(inputs, attention);
    Data *data = read_data(inputs);
    ParamSet *params = seq2seq_params(model);
    params->packs_backward = true;
    if (packed) params_pack_all(params);
    long tokens = 0;
    for (int b = 0; b < B; b++) tokens += data->target[b].length + 1;
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    TrainingBatch batch = batch_of(data);
    BatchLoss loss = seq2seq_loss(model, tape, &batch, 0, 1 / (double)tokens);
    tape_backward(tape);
    assert_int_equal(loss.tokens, tokens);
    real mean = (real)(loss.loss / (double)tokens);
    Field expected = reference_field(masked, "out", "loss");
    reference_check(&expected, &mean, 1, REFERENCE_SIX_DIGITS);
    for (int i = 0; i < MAPPED; i++) {
        const Param *p = params_find(params, MAP[i].param);
        if (!p) continue;
        Field field = reference_field(masked, "grad", MAP[i].field);
        Field ours = in_our_order(masked, &field, p, MAP[i].layout);
        reference_check(&ours, tape->grads + p->offset, (size_t)p->rows * (size_t)p->columns,
                        REFERENCE_SIX_DIGITS);
    }
    mem_free(tape->grads);
    tape_free(tape);
    seq2seq_free(model);
    mem_free(data);
    reference_close(inputs);
    reference_close(masked);
}

void golden_seq2seq_loss(void **state) {
    (void)state;
    check_loss("seq2seq", "additive", false);
    check_loss("seq2seq", "additive", true);
}

/* One step's rows against row t of each sentence; padding of the file is skipped. */
static void check_step(Reference *masked, const Data *data, int t, const Tensor *logits,
                       const AttentionWeights *attention) {
    Field all = reference_field(masked, "out", "logits"), weights = {0};
    if (attention->weights) weights = reference_field(masked, "out", "weights");
    for (int b = 0; b < B; b++) {
        if (t > data->target[b].length) continue;
        Field row = {"logits", 1, {VOCAB}, VOCAB, all.data + (b * STEPS + t) * VOCAB};
        real theirs[VOCAB];
        for (int id = 0; id < VOCAB; id++) theirs[id] = tensor_row(logits, b)[our_id(id)];
        reference_check(&row, theirs, VOCAB, REFERENCE_SIX_DIGITS);
        if (!attention->weights) continue;
        int length = data->source[b].length + 1;
        Field span = {"weights", 1, {length}, (size_t)length, weights.data + (b * STEPS + t) * STEPS};
        reference_check(&span, attention->weights + attention->start[b], (size_t)attention->length[b],
                        REFERENCE_SIX_DIGITS);
    }
}

static void check_steps(const char *file, const char *attention_score) {
    static const int SENTENCES[B] = {0, 1, 2, 3};
    Reference *inputs = reference_open("seq2seq", "inputs"), *masked = reference_open(file, "masked");
    Seq2Seq *model = read_model(inputs, attention_score);
    Data *data = read_data(inputs);
    params_pack_all(seq2seq_params(model));
    Tape *tape = tape_new(seq2seq_params(model), false);
    Encoded *encoded = seq2seq_encode(model, tape, NULL, data->source, B, false);
    DecoderState decoder = seq2seq_start(encoded);
    AttentionWeights attention = {0};
    StepContext step = {tape, encoded, B, SENTENCES, &decoder, &attention, NULL};
    for (int t = 0; t < STEPS; t++) {
        int tokens[B];
        for (int b = 0; b < B; b++)
            tokens[b] = !t ? VOCAB_BOS : t <= data->target[b].length ? data->target[b].ids[t - 1] : VOCAB_PAD;
        attention = (AttentionWeights){.weights = NULL};
        Tensor *logits = seq2seq_step(model, &step, tokens);
        assert_int_equal(logits->rows, B);
        assert_int_equal(logits->columns, VOCAB);
        check_step(masked, data, t, logits, &attention);
    }
    tape_free(tape);
    seq2seq_free(model);
    mem_free(data);
    reference_close(inputs);
    reference_close(masked);
}

void golden_seq2seq_steps(void **state) {
    (void)state;
    check_steps("seq2seq", "additive");
}

/* The same without attention: the top layer's last state is the context of every step. */
void golden_fixed_context(void **state) {
    (void)state;
    check_loss("fixed_context", "none", false);
    check_loss("fixed_context", "none", true);
    check_steps("fixed_context", "none");
}
