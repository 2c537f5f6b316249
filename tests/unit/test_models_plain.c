/* test_models_plain.c - every variant of the model against its equations, written out for one sentence in plain loops.
 *
 * Bahdanau et al. 2015; conditional GRU: Sennrich et al. 2017 (Nematus), section 3; gates as in gru.h, which PyTorch's values
 * in tests/golden confirm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "num/kern.h"
#include "unit/model_variants.h"

enum { V = VARIANT_WORDS + VOCAB_SPECIALS, MOST = 24, LONGEST = 8 }; /* MOST: numbers in any vector */

typedef struct {
    double x[MOST];
    int n;
} Vector;

static const ParamSet *params;
static const ModelOptions *options;

static const Param *named(const char *format, ...) __attribute__((format(printf, 1, 2)));
static const Param *named(const char *format, ...) {
    char name[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return params_find(params, name);
}

static double at(const Param *p, int row, int column) {
    assert_true(p && row < p->rows && column < p->columns);
    return (double)param_data(params, p)[row * p->columns + column];
}

static Vector row_of(const Param *table, int row) {
    Vector y = {.n = table->columns};
    for (int i = 0; i < y.n; i++) y.x[i] = at(table, row, i);
    return y;
}
static Vector zeros(int n) { return (Vector){.n = n}; }
static Vector sum(Vector a, Vector b) {
    assert_int_equal(a.n, b.n);
    for (int i = 0; i < a.n; i++) a.x[i] += b.x[i];
    return a;
}
static Vector join(Vector a, Vector b) {
    assert_true(a.n + b.n <= MOST);
    memcpy(a.x + a.n, b.x, (size_t)b.n * sizeof(double));
    a.n += b.n;
    return a;
}
static Vector tanh_of(Vector a) {
    for (int i = 0; i < a.n; i++) a.x[i] = tanh(a.x[i]);
    return a;
}

/* x W + b with the parameters "name.weight" and, if there is one, "name.bias". */
static Vector affine(const char *name, Vector x) {
    const Param *w = named("%s.weight", name), *b = named("%s.bias", name);
    assert_int_equal(w->rows, x.n);
    Vector y = b ? row_of(b, 0) : zeros(w->columns);
    for (int o = 0; o < y.n; o++)
        for (int i = 0; i < x.n; i++) y.x[o] += x.x[i] * at(w, i, o);
    return y;
}

static Vector normalize(const char *name, const char *part, Vector x) {
    const Param *gain = named("%s.%s.gain", name, part), *bias = named("%s.%s.bias", name, part);
    assert_true((gain != NULL) == options->layer_norm);
    if (!gain) return x;
    double mean = 0, variance = 0;
    for (int i = 0; i < x.n; i++) mean += x.x[i] / x.n;
    for (int i = 0; i < x.n; i++) variance += (x.x[i] - mean) * (x.x[i] - mean) / x.n;
    for (int i = 0; i < x.n; i++)
        x.x[i] = (x.x[i] - mean) / sqrt(variance + 1e-5) * at(gain, 0, i) + at(bias, 0, i);
    return x;
}

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

/* `input`: the projected input, not yet normalised. */
static Vector transition(const char *name, Vector input, Vector h) {
    char part[128];
    snprintf(part, sizeof part, "%s.state", name);
    Vector gx = normalize(name, "input_norm", input), gh = normalize(name, "state_norm", affine(part, h));
    int H = h.n;
    for (int i = 0; i < H; i++) {
        double r = sigmoid(gx.x[i] + gh.x[i]), z = sigmoid(gx.x[H + i] + gh.x[H + i]);
        double c = tanh(gx.x[2 * H + i] + r * gh.x[2 * H + i]);
        h.x[i] = (1 - z) * c + z * h.x[i];
    }
    return h;
}
static Vector gru(const char *name, Vector x, Vector h) {
    char part[128];
    snprintf(part, sizeof part, "%s.input", name);
    return transition(name, affine(part, x), h);
}

/* ---- the model ---- */

typedef struct {
    int length;
    Vector annotation[LONGEST];
    Vector state[MODEL_MAX_LAYERS];
} Sentence;

static void encode(Sentence *s, const int *ids, int n) {
    const Param *table = options->tie == TIE_ALL ? named("embedding") : named("source.embedding");
    int H = options->hidden;
    s->length = n + 1;
    for (int t = 0; t <= n; t++) s->annotation[t] = row_of(table, t < n ? ids[t] : VOCAB_EOS);
    for (int l = 0; l < options->encoder_layers; l++) {
        char name[64];
        Vector there[LONGEST], back[LONGEST], h = zeros(H);
        snprintf(name, sizeof name, "encoder.%d.forward", l);
        for (int t = 0; t < s->length; t++) there[t] = h = gru(name, s->annotation[t], h);
        if (options->decoder_start == START_FINAL) s->state[l] = h;
        h = zeros(H);
        snprintf(name, sizeof name, "encoder.%d.backward", l);
        for (int t = s->length - 1; t >= 0 && options->bidirectional; t--)
            back[t] = h = gru(name, s->annotation[t], h);
        for (int t = 0; t < s->length; t++)
            s->annotation[t] = options->bidirectional ? join(there[t], back[t]) : there[t];
    }
    if (options->decoder_start == START_FINAL) return;
    Vector mean = zeros(s->annotation[0].n);
    for (int t = 0; t < s->length; t++)
        for (int i = 0; i < mean.n; i++) mean.x[i] += s->annotation[t].x[i] / s->length;
    for (int l = 0; l < options->decoder_layers; l++) {
        char name[64];
        snprintf(name, sizeof name, "decoder.start.%d", l);
        s->state[l] = tanh_of(affine(name, mean));
    }
}

static Vector attend(const Sentence *s, Vector query) {
    double score[LONGEST], total = 0;
    Vector context = zeros(s->annotation[0].n);
    for (int t = 0; t < s->length; t++) {
        Vector hidden = tanh_of(
            sum(affine("decoder.attention.query", query), affine("decoder.attention.key", s->annotation[t])));
        score[t] = 0;
        for (int i = 0; i < hidden.n; i++) score[t] += hidden.x[i] * at(named("decoder.attention.v"), 0, i);
        total += exp(score[t]);
    }
    for (int t = 0; t < s->length; t++)
        for (int i = 0; i < context.n; i++) context.x[i] += exp(score[t]) / total * s->annotation[t].x[i];
    return context;
}

static Vector step(Sentence *s, Vector embedded) {
    Vector context;
    int top = options->decoder_layers - 1;
    if (options->decoder_style == DECODER_CONDITIONAL) {
        Vector query = gru("decoder.gru.0", embedded, s->state[0]);
        context = attend(s, query);
        s->state[0] = gru("decoder.second", context, query);
    } else {
        context = attend(s, s->state[top]);
        Vector input = sum(affine("decoder.gru.0.input", embedded), affine("decoder.context", context));
        s->state[0] = transition("decoder.gru.0", input, s->state[0]);
    }
    for (int l = 1; l <= top; l++) {
        char name[64];
        snprintf(name, sizeof name, "decoder.gru.%d", l);
        s->state[l] = gru(name, s->state[l - 1], s->state[l]);
    }
    if (options->readout == READOUT_LINEAR) return s->state[top];
    Vector mixed =
        sum(affine("decoder.readout.state", s->state[top]), affine("decoder.readout.context", context));
    mixed = sum(mixed, affine("decoder.readout.embedding", embedded));
    return tanh_of(normalize("decoder.readout", "norm", mixed));
}

static double minus_log_p(Vector readout, int token) {
    const Param *w = options->tie == TIE_ALL      ? named("embedding")
                     : options->tie == TIE_TARGET ? named("target.embedding")
                                                  : named("output.weight");
    double logits[V], total = 0;
    assert_int_equal(w->rows, V);
    for (int v = 0; v < V; v++) {
        logits[v] = at(named("output.bias"), 0, v);
        for (int i = 0; i < readout.n; i++) logits[v] += readout.x[i] * at(w, v, i);
        total += exp(logits[v]);
    }
    return log(total) - logits[token];
}

static double plain_loss(const int *source, int source_length, const int *target, int target_length) {
    const Param *table = options->tie == TIE_ALL ? named("embedding") : named("target.embedding");
    Sentence s;
    double loss = 0;
    encode(&s, source, source_length);
    for (int t = 0; t <= target_length; t++) {
        Vector readout = step(&s, row_of(table, t ? target[t - 1] : VOCAB_BOS));
        loss += minus_log_p(readout, t < target_length ? target[t] : VOCAB_EOS);
    }
    return loss;
}

static void test_variant(void **state) {
    const ModelVariant *variant = *state;
    Seq2Seq *model = variant_new(variant, NULL, 12);
    params = seq2seq_params(model);
    options = &seq2seq_config(model)->model;
    params_pack_all(seq2seq_params(model));
    TrainingBatch batch = variant_batch(0);
    Tape *tape = tape_new(params, false);
    double total = 0;
    long tokens = 0;
    for (int b = 0; b < batch.B; b++) {
        double expected =
            plain_loss(batch.source[b], batch.source_length[b], batch.target[b], batch.target_length[b]);
        TrainingBatch one = {1,
                             batch.source + b,
                             batch.target + b,
                             batch.source_length + b,
                             batch.target_length + b,
                             batch.sentence + b,
                             0};
        tape_reset(tape);
        double loss = seq2seq_loss(model, tape, &one, 0, 1).loss;
        if (!(fabs(loss - expected) <= 2e-6 * (batch.target_length[b] + 1)))
            fail_msg("%s: sentence %d: loss %.9g, expected %.9g", variant->name, b, loss, expected);
        total += expected;
        tokens += batch.target_length[b] + 1;
    }
    tape_reset(tape);
    assert_true(fabs(seq2seq_loss(model, tape, &batch, 0, 1).loss - total) <= 2e-6 * (double)tokens);
    tape_free(tape);
    seq2seq_free(model);
}

int main(void) {
    int count = 0;
    while (MODEL_VARIANTS[count].name) count++;
    kern_select();
    struct CMUnitTest tests[count];
    for (int i = 0; i < count; i++)
        tests[i] = (struct CMUnitTest){MODEL_VARIANTS[i].name, test_variant, NULL, NULL,
                                       (void *)(uintptr_t)&MODEL_VARIANTS[i]};
    return cmocka_run_group_tests_name("models against their equations", tests, NULL, NULL);
}
