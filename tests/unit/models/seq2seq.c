/* seq2seq.c - step-by-step decoding equals the model in training, and sentences of a batch do not affect each
 * other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "unit/model_variants.h"

enum { V = VARIANT_WORDS + VOCAB_SPECIALS, B = VARIANT_SENTENCES, MAX_STEPS = 8 };

static Seq2Seq *packed_model(const ModelVariant *variant, const char *more) {
    Seq2Seq *model = variant_new(variant, more, 4);
    params_pack_all(seq2seq_params(model));
    return model;
}

static double minus_log_p(const real *logits, int token) {
    double max = -INFINITY, sum = 0;
    for (int i = 0; i < V; i++) max = fmax(max, (double)logits[i]);
    for (int i = 0; i < V; i++) sum += exp((double)logits[i] - max);
    return max + log(sum) - (double)logits[token];
}

/* Logits [MAX_STEPS, rows, V] of `rows` sentences of the batch, decoded with their references. */
typedef struct {
    real logits[MAX_STEPS][B][V];
} Decoded;

static void check_weights(const AttentionWeights *attention, int row, int length) {
    double sum = 0;
    assert_int_equal(attention->length[row], length);
    for (int s = 0; s < length; s++) {
        real w = attention->weights[attention->start[row] + s];
        assert_true(w >= 0 && w <= 1);
        sum += (double)w;
    }
    assert_true(fabs(sum - 1) <= 1e-6);
}

/* Models without attention have no weights to show. */
static bool attends(const Seq2Seq *model) {
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    assert_int_equal(layers == 0, seq2seq_check_attention(model) != STATUS_OK);
    return layers > 0;
}

static Decoded *decode(const Seq2Seq *model, const TrainingBatch *batch, const int *sentences, int rows) {
    Tokens source[B];
    int own[B];
    for (int r = 0; r < rows; r++) {
        source[r] = batch->source[sentences[r]];
        own[r] = r;
    }
    Tape *encoder_tape = tape_new(seq2seq_params(model), false);
    Tape *tapes[2] = {tape_new(seq2seq_params(model), false), tape_new(seq2seq_params(model), false)};
    Encoded *encoded = seq2seq_encode(model, encoder_tape, NULL, source, rows, false);
    assert_int_equal(encoded->B, rows);
    DecoderState state = seq2seq_start(encoded);
    Decoded *decoded = mem_alloc(1, sizeof *decoded);
    for (int t = 0; t < MAX_STEPS; t++) {
        int tokens[B];
        for (int r = 0; r < rows; r++) {
            Tokens target = batch->target[sentences[r]];
            tokens[r] = !t ? VOCAB_BOS : t <= target.length ? target.ids[t - 1] : VOCAB_EOS;
        }
        AttentionWeights attention = {.choice = {ATTENTION_MEAN, ATTENTION_MEAN}};
        tape_reset(tapes[t % 2]); /* the other tape holds the previous state */
        StepContext step = {tapes[t % 2], encoded, rows, own, &state, &attention, NULL};
        Tensor *logits = seq2seq_step(model, &step, tokens);
        assert_int_equal(logits->rows, rows);
        assert_int_equal(logits->columns, V);
        for (int r = 0; r < rows; r++) {
            memcpy(decoded->logits[t][r], tensor_row(logits, r), V * sizeof(real));
            if (attends(model)) check_weights(&attention, r, source[r].length + 1);
        }
        assert_int_equal(attention.weights != NULL, attends(model));
    }
    tape_free(encoder_tape);
    tape_free(tapes[0]);
    tape_free(tapes[1]);
    return decoded;
}

static const int ALL[B] = {0, 1, 2, 3, 4};

static BatchLoss forced_loss(const Seq2Seq *model, const TrainingBatch *batch, const int *sentences,
                             int rows) {
    Tokens source[B], target[B];
    uint32_t number[B];
    for (int r = 0; r < rows; r++) {
        int s = sentences[r];
        source[r] = batch->source[s], target[r] = batch->target[s];
        number[r] = batch->sentence[s];
    }
    TrainingBatch part = {rows, source, target, number, batch->seed_update};
    Tape *tape = tape_new(seq2seq_params(model), false);
    BatchLoss loss = seq2seq_loss(model, tape, &part, 0, 1);
    tape_free(tape);
    return loss;
}

static void test_steps_are_teacher_forcing(void **state) {
    (void)state;
    TrainingBatch batch = variant_batch(0);
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = packed_model(v, NULL);
        Decoded *decoded = decode(model, &batch, ALL, B);
        double total = 0;
        long tokens = 0;
        for (int b = 0; b < B; b++) {
            int n = batch.target[b].length;
            double sum = 0;
            for (int t = 0; t <= n; t++)
                sum += minus_log_p(decoded->logits[t][b], t < n ? batch.target[b].ids[t] : VOCAB_EOS);
            BatchLoss loss = forced_loss(model, &batch, &ALL[b], 1);
            if (!(fabs(loss.likelihood - sum) <= 1e-5 * (n + 1)))
                fail_msg("%s: sentence %d: steps %.9g, forced %.9g", v->name, b, sum, loss.likelihood);
            assert_int_equal(loss.tokens, n + 1);
            total += sum;
            tokens += n + 1;
        }
        BatchLoss loss = forced_loss(model, &batch, ALL, B);
        assert_true(fabs(loss.likelihood - total) <= 1e-5 * (double)tokens);
        assert_true(loss.loss == loss.likelihood);
        assert_int_equal(loss.tokens, tokens);
        mem_free(decoded);
        seq2seq_free(model);
    }
}

/* Full vectors and a tail. */
#define WIDER "model.hidden=20 model.embedding=20"

/* Bit for bit the same logits alone, in pairs, in the whole batch, and in another order. */
static void test_neighbours(void **state) {
    (void)state;
    static const int GROUPS[][B] = {
        {0}, {1}, {2}, {3}, {4}, {4, 2}, {1, 0}, {3, 4}, {4, 3, 2, 1, 0}, {2, 0, 1, 4, 3}, {1, 1, 3}};
    static const int SIZES[] = {1, 1, 1, 1, 1, 2, 2, 2, 5, 5, 3};
    TrainingBatch batch = variant_batch(0);
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = packed_model(v, WIDER);
        Decoded *together = decode(model, &batch, ALL, B);
        for (size_t g = 0; g < sizeof SIZES / sizeof *SIZES; g++) {
            Decoded *group = decode(model, &batch, GROUPS[g], SIZES[g]);
            for (int r = 0; r < SIZES[g]; r++)
                for (int t = 0; t <= batch.target[GROUPS[g][r]].length; t++)
                    if (memcmp(group->logits[t][r], together->logits[t][GROUPS[g][r]], V * sizeof(real)) != 0)
                        fail_msg("%s: group %zu, row %d, step %d differs", v->name, g, r, t);
            mem_free(group);
        }
        mem_free(together);
        seq2seq_free(model);
    }
}

/* A hypothesis that is copied or moved continues as if it had always been in its new row: selected from the
 * first state, and after one and two steps. */
static void check_select(const char *name, const Seq2Seq *model, int steps) {
    static const int INDEX[] = {3, 0, 0, 4},
                     TOKENS[3][B] = {{2, 2, 2, 2, 2}, {7, 5, 8, 4, 5}, {4, 5, 6, 7, 8}};
    enum { ROWS = sizeof INDEX / sizeof *INDEX };
    TrainingBatch batch = variant_batch(0);
    Tape *tape = tape_new(seq2seq_params(model), false);
    Encoded *encoded = seq2seq_encode(model, tape, NULL, batch.source, B, false);
    DecoderState whole = seq2seq_start(encoded);
    StepContext step = {tape, encoded, B, ALL, &whole, NULL, NULL};
    for (int t = 0; t < steps; t++) seq2seq_step(model, &step, TOKENS[t]);
    DecoderState part = seq2seq_select(tape, &whole, INDEX, ROWS);
    StepContext selected = {tape, encoded, ROWS, INDEX, &part, NULL, NULL};
    assert_int_equal(part.parts, whole.parts);
    int tokens[ROWS];
    for (int r = 0; r < ROWS; r++) tokens[r] = TOKENS[2][INDEX[r]];
    Tensor *expected = seq2seq_step(model, &step, TOKENS[2]);
    Tensor *logits = seq2seq_step(model, &selected, tokens);
    assert_int_equal(part.parts, whole.parts);
    for (int r = 0; r < ROWS; r++) {
        if (memcmp(tensor_row(logits, r), tensor_row(expected, INDEX[r]), V * sizeof(real)) != 0)
            fail_msg("%s: row %d differs after %d steps", name, r, steps);
        for (int i = 0; i < part.parts; i++) {
            assert_int_equal(part.part[i]->columns, whole.part[i]->columns);
            assert_memory_equal(tensor_row(part.part[i], r), tensor_row(whole.part[i], INDEX[r]),
                                (size_t)part.part[i]->columns * sizeof(real));
        }
    }
    assert_memory_not_equal(tensor_row(logits, 0), tensor_row(logits, 1), V * sizeof(real));
    tape_free(tape);
}

/* A </s> that is hidden has no weight, unless it is alone. */
static void test_hidden_end(void **state) {
    (void)state;
    TrainingBatch batch = variant_batch(0);
    int hidden = 0;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = packed_model(v, NULL);
        bool shown = seq2seq_config(model)->model.add_source_eos;
        Tape *tape = tape_new(seq2seq_params(model), false);
        Encoded *encoded = seq2seq_encode(model, tape, NULL, batch.source, B, false);
        DecoderState decoder = seq2seq_start(encoded);
        AttentionWeights attention = {.choice = {ATTENTION_MEAN, ATTENTION_MEAN}};
        StepContext step = {tape, encoded, B, ALL, &decoder, &attention, NULL};
        static const int TOKENS[B] = {2, 2, 2, 2, 2};
        seq2seq_step(model, &step, TOKENS);
        for (int b = 0; b < B && !shown; b++) {
            int end = batch.source[b].length;
            assert_true((attention.weights[attention.start[b] + end] == 0) == (end > 0));
            hidden++;
        }
        tape_free(tape);
        seq2seq_free(model);
    }
    assert_true(hidden > B);
}

/* The embedding of </s> in the source matters only where it is seen. */
static void test_hidden_end_is_not_read(void **state) {
    (void)state;
    enum { LONGER = 4 };
    static const int NOT_EMPTY[LONGER] = {0, 2, 3, 4}, EMPTY[1] = {1};
    TrainingBatch batch = variant_batch(0);
    int hidden = 0;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model = packed_model(v, NULL);
        ParamSet *params = seq2seq_params(model);
        const Param *table = params_find(params, "source.embedding");
        bool shown = seq2seq_config(model)->model.add_source_eos;
        if (table) {
            double before = forced_loss(model, &batch, NOT_EMPTY, LONGER).loss,
                   alone = forced_loss(model, &batch, EMPTY, 1).loss;
            param_data(params, table)[VOCAB_EOS * table->columns] += 1;
            assert_true((forced_loss(model, &batch, NOT_EMPTY, LONGER).loss == before) == !shown);
            assert_true(forced_loss(model, &batch, EMPTY, 1).loss != alone);
            hidden += !shown;
        }
        seq2seq_free(model);
    }
    assert_true(hidden > 0);
}

static void test_select(void **state) {
    (void)state;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++)
        for (int steps = 0; steps < 3; steps++) {
            Seq2Seq *model = packed_model(v, steps == 1 ? WIDER : NULL);
            check_select(v->name, model, steps);
            seq2seq_free(model);
        }
}

/* ---- encoding in chunks ---- */

static void assert_same_tensor(const char *name, const Tensor *a, const Tensor *b) {
    assert_int_equal(a == NULL, b == NULL);
    if (!a) return;
    assert_int_equal(a->rows, b->rows);
    assert_int_equal(a->columns, b->columns);
    if (memcmp(a->data, b->data, tensor_size(a) * sizeof(real)) != 0) fail_msg("%s: chunks differ", name);
}

/* More tokens than one chunk takes, in many sentences or in one that is longer than a chunk: bit for bit as
 * all at once. */
static void test_chunks(void **state) {
    (void)state;
    enum { MANY = 400, LONG = 700 };
    static const int COUNTS[] = {MANY, 3, 1};
    TrainingBatch batch = variant_batch(0);
    Tokens sources[MANY];
    int longest[LONG];
    for (int i = 0; i < LONG; i++) longest[i] = VOCAB_SPECIALS + i * i % VARIANT_WORDS;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++)
        for (size_t c = 0; c < sizeof COUNTS / sizeof *COUNTS; c++) {
            int count = COUNTS[c];
            Seq2Seq *model = packed_model(v, NULL);
            for (int i = 0; i < count; i++)
                sources[i] = count == 3 && i == 1 ? (Tokens){longest, LONG} : batch.source[i * 3 % B];
            Tape *tapes[3];
            for (int t = 0; t < 3; t++) tapes[t] = tape_new(seq2seq_params(model), false);
            Encoded *whole = seq2seq_encode(model, tapes[0], NULL, sources, count, false);
            Encoded *chunks = seq2seq_encode(model, tapes[1], tapes[2], sources, count, false);
            tape_reset(tapes[2]); /* its contents are not needed */
            assert_int_equal(chunks->B, count);
            for (int b = 0; b <= count; b++) assert_int_equal(chunks->start[b], whole->start[b]);
            for (int l = 0; l < MODEL_MAX_LAYERS; l++) {
                assert_same_tensor(v->name, chunks->source[l].values, whole->source[l].values);
                assert_same_tensor(v->name, chunks->source[l].keys, whole->source[l].keys);
                assert_same_tensor(v->name, chunks->source[l].bias, whole->source[l].bias);
            }
            for (int i = 0; i < CONTEXT_MAPS; i++)
                assert_same_tensor(v->name, chunks->mapped[i], whole->mapped[i]);
            for (int i = 0; i < whole->initial.parts; i++)
                assert_same_tensor(v->name, chunks->initial.part[i], whole->initial.part[i]);
            for (int t = 0; t < 3; t++) tape_free(tapes[t]);
            seq2seq_free(model);
        }
}

/* ---- attention of layers and heads ---- */

/* Weights of the second step of all sentences, concatenated; returns their number. */
static int step_weights(const Seq2Seq *model, int layer, int head, double *weights) {
    TrainingBatch batch = variant_batch(0);
    Tape *tape = tape_new(seq2seq_params(model), false);
    Encoded *encoded = seq2seq_encode(model, tape, NULL, batch.source, B, false);
    DecoderState decoder = seq2seq_start(encoded);
    AttentionWeights attention = {.choice = {layer, head}};
    StepContext step = {tape, encoded, B, ALL, &decoder, &attention, NULL};
    int count = 0;
    for (int t = 0; t < 2; t++) {
        static const int TOKENS[2][B] = {{2, 2, 2, 2, 2}, {4, 5, 6, 7, 8}};
        seq2seq_step(model, &step, TOKENS[t]);
    }
    for (int b = 0; b < B; b++) {
        check_weights(&attention, b, batch.source[b].length + 1);
        for (int s = 0; s < attention.length[b]; s++)
            weights[count++] = (double)attention.weights[attention.start[b] + s];
    }
    tape_free(tape);
    return count;
}

/* The mean over heads, layers or both is the mean of the single maps, and these differ. */
static void test_layers_and_heads(void **state) {
    (void)state;
    enum { LAYERS = 2, HEADS = 2, MOST = 32 };
    double single[LAYERS][HEADS][MOST], of_layer[MOST], of_head[MOST], of_all[MOST];
    int transformers = 0;
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        if (!strstr(v->settings, "model.decoder.style=transformer")) continue;
        Seq2Seq *model = packed_model(v, "model.decoder.layers=2 model.heads=2");
        int count = step_weights(model, ATTENTION_MEAN, ATTENTION_MEAN, of_all);
        int layers, heads;
        seq2seq_attentions(model, &layers, &heads);
        assert_int_equal(count, 15);
        assert_true(layers == LAYERS && heads == HEADS);
        for (int l = 0; l < LAYERS; l++)
            for (int h = 0; h < HEADS; h++) step_weights(model, l, h, single[l][h]);
        double apart[2] = {0};
        for (int k = 0; k < 2; k++) {
            step_weights(model, k, ATTENTION_MEAN, of_layer);
            step_weights(model, ATTENTION_MEAN, k, of_head);
            for (int i = 0; i < count; i++) {
                assert_true(fabs(of_layer[i] - (single[k][0][i] + single[k][1][i]) / 2) <= 1e-6);
                assert_true(fabs(of_head[i] - (single[0][k][i] + single[1][k][i]) / 2) <= 1e-6);
                assert_true(
                    fabs(of_all[i] - (single[0][0][i] + single[0][1][i] + single[1][0][i] + single[1][1][i]) /
                                         4) <= 1e-6);
                apart[0] = fmax(apart[0], fabs(single[k][0][i] - single[k][1][i]));
                apart[1] = fmax(apart[1], fabs(single[0][k][i] - single[1][k][i]));
            }
        }
        assert_true(apart[0] > 1e-3 && apart[1] > 1e-3);
        seq2seq_free(model);
        transformers++;
    }
    assert_true(transformers > 4);
}

/* The order of the sentences in a training batch does not matter, dropout included: masks go with the
 * sentence. */
static void test_order_of_batch(void **state) {
    (void)state;
    static const int BACKWARDS[B] = {4, 3, 2, 1, 0};
    TrainingBatch batch = variant_batch(9);
    for (const ModelVariant *v = MODEL_VARIANTS; v->name; v++) {
        Seq2Seq *model =
            packed_model(v, "model.dropout_embedding=0.4 model.dropout_layers=0.4 model.dropout_encoder=0.4 "
                            "model.dropout_output=0.4 model.dropout_attention=0.4 model.word_dropout=0.2");
        BatchLoss there = forced_loss(model, &batch, ALL, B), back = forced_loss(model, &batch, BACKWARDS, B);
        if (!(fabs(there.loss - back.loss) <= 1e-5 * there.loss))
            fail_msg("%s: loss %.9g, backwards %.9g", v->name, there.loss, back.loss);
        double alone = 0;
        for (int b = 0; b < B; b++) alone += forced_loss(model, &batch, &ALL[b], 1).loss;
        if (!(fabs(there.loss - alone) <= 1e-5 * there.loss))
            fail_msg("%s: loss %.9g, one by one %.9g", v->name, there.loss, alone);
        batch.seed_update = 10;
        assert_true(fabs(forced_loss(model, &batch, ALL, B).loss - there.loss) > 1e-3);
        batch.seed_update = 9;
        seq2seq_free(model);
    }
}

/* Smoothing changes the loss, not the likelihood. */
static void test_smoothing(void **state) {
    (void)state;
    TrainingBatch batch = variant_batch(0);
    Seq2Seq *model = packed_model(&MODEL_VARIANTS[0], NULL);
    Tape *tape = tape_new(seq2seq_params(model), false);
    BatchLoss plain = seq2seq_loss(model, tape, &batch, 0, 1);
    tape_reset(tape);
    BatchLoss smooth = seq2seq_loss(model, tape, &batch, 0.1, 1);
    assert_true(smooth.likelihood == plain.likelihood && smooth.tokens == plain.tokens);
    assert_true(fabs(smooth.loss - plain.loss) > 1e-3);
    tape_free(tape);
    seq2seq_free(model);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_steps_are_teacher_forcing),
        cmocka_unit_test(test_neighbours),
        cmocka_unit_test(test_hidden_end),
        cmocka_unit_test(test_hidden_end_is_not_read),
        cmocka_unit_test(test_select),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_layers_and_heads),
        cmocka_unit_test(test_order_of_batch),
        cmocka_unit_test(test_smoothing),
    };
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
