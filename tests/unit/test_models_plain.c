/* test_models_plain.c - every variant of the model against its equations, written out for one sentence in
 * plain loops.
 *
 * Bahdanau et al. 2015; conditional GRU: Sennrich et al. 2017 (Nematus), section 3; Luong et al. 2015,
 * section 3; self-attention of these: Paulus et al. 2018, section 2.2; layers as in plain_layers.h, whose
 * parts PyTorch's values in tests/golden confirm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "layers/attention.h"
#include "layers/recurrent.h"
#include "layers/transformer.h"
#include "num/kern.h"
#include "unit/plain_layers.h"
#include "unit/variant_cover.h"

enum { V = VARIANT_WORDS + VOCAB_SPECIALS };

static const ModelOptions *options;

/* ---- encoder ---- */

typedef struct {
    Vectors annotations;
    PlainState state[MODEL_MAX_LAYERS]; /* of the decoder */
    Vector vector;                      /* luong: the attentional vector of the step before */
    Vectors outputs;                    /* self-attention: of the steps before */
} Sentence;

static const char *numbered(const char *format, int layer) {
    static char names[8][64];
    static int next;
    char *name = names[next++ % 8];
    int length = (int)strcspn(format, "#");
    snprintf(name, sizeof names[0], "%.*s%d%s", length, format, layer, format + length + 1);
    return name;
}

static PlainState no_state(void) {
    return (PlainState){plain_zeros(options->hidden), plain_zeros(options->hidden)};
}

static PlainState transition(const char *name, Vector x, PlainState before) {
    return plain_cell(name, options, plain_affine(plain_name(name, "input"), x), before);
}

static void encode_rnn(Sentence *s) {
    Vectors *x = &s->annotations;
    for (int l = 0; l < options->encoder_layers; l++) {
        PlainState h = no_state();
        Vectors y = *x;
        for (int t = 0; t < x->length; t++)
            y.row[t] = (h = transition(numbered("encoder.#.forward", l), x->row[t], h)).h;
        if (options->decoder_start == START_FINAL) s->state[l] = h;
        h = no_state();
        for (int t = x->length - 1; t >= 0 && options->bidirectional; t--) {
            h = transition(numbered("encoder.#.backward", l), x->row[t], h);
            y.row[t] = plain_join(y.row[t], h.h);
        }
        for (int t = 0; t < x->length; t++)
            x->row[t] = l && options->residual ? plain_sum(x->row[t], y.row[t]) : y.row[t];
    }
}

static void encode_others(Sentence *s) {
    Vectors *x = &s->annotations;
    bool conv = options->encoder_style == ENCODER_CONV;
    assert_true((plain_find("encoder.input.weight") != NULL) == (options->embedding != options->hidden));
    for (int t = 0; t < x->length; t++) x->row[t] = plain_affine_or_same("encoder.input", x->row[t]);
    plain_add_positions("encoder", options, x);
    for (int l = 0; l < options->encoder_layers; l++)
        if (conv)
            plain_conv(numbered("encoder.#", l), options, x);
        else
            plain_block(numbered("encoder.#", l), options, x, NULL);
    bool norm = conv ? options->layer_norm : options->norm == NORM_PRE;
    for (int t = 0; t < x->length; t++) x->row[t] = plain_normalize("encoder.norm", norm, x->row[t]);
}

static void encode(Sentence *s, const int *ids, int n) {
    const Param *table = options->tie == TIE_ALL ? plain_param("embedding") : plain_param("source.embedding");
    s->annotations.length = n + 1;
    for (int t = 0; t <= n; t++) s->annotations.row[t] = plain_row(table, t < n ? ids[t] : VOCAB_EOS);
    if (options->encoder_style == ENCODER_RNN)
        encode_rnn(s);
    else
        encode_others(s);
}

/* ---- recurrent decoders ---- */

static void start(Sentence *s) {
    Vector mean = plain_zeros(s->annotations.row[0].n);
    s->vector = plain_zeros(options->readout == READOUT_DEEP ? options->embedding : options->hidden);
    if (options->decoder_start == START_FINAL) return;
    for (int t = 0; t < s->annotations.length; t++)
        mean = plain_sum(mean, plain_scale(s->annotations.row[t], 1.0 / s->annotations.length));
    for (int l = 0; l < options->decoder_layers; l++) {
        s->state[l].h = plain_tanh(plain_affine(numbered("decoder.start.#", l), mean));
        if (options->cell == CELL_LSTM)
            s->state[l].c = plain_tanh(plain_affine(numbered("decoder.start_memory.#", l), mean));
    }
}

static const char *cell_at(int layer) {
    return numbered(options->cell == CELL_LSTM ? "decoder.lstm.#" : "decoder.gru.#", layer);
}

/* Without attention: what the forward layer knows at the end and the backward layer at the beginning. */
static Vector last_annotation(const Vectors *annotations) {
    Vector last = annotations->row[annotations->length - 1];
    if (options->encoder_style == ENCODER_RNN && options->bidirectional)
        memcpy(last.x + options->hidden, annotations->row[0].x + options->hidden,
               (size_t)options->hidden * sizeof *last.x);
    return last;
}

static Vector attend(const Sentence *s, Vector query) {
    if (strcmp(ATTENTION_SCORES[options->attention].name, "none") == 0)
        return last_annotation(&s->annotations);
    return plain_attend("decoder.attention", ATTENTION_SCORES[options->attention].name, options, query,
                        &s->annotations);
}

/* Layers above the first; returns the output of the last. */
static Vector upper_layers(Sentence *s) {
    Vector x = s->state[0].h;
    for (int l = 1; l < options->decoder_layers; l++) {
        s->state[l] = transition(cell_at(l), x, s->state[l]);
        x = options->residual ? plain_sum(x, s->state[l].h) : s->state[l].h;
    }
    return x;
}

/* The context of the earlier outputs; then this one belongs to them. */
static Vector attend_to_itself(Sentence *s, Vector output) {
    Vector context = plain_zeros(options->hidden);
    if (s->outputs.length > 0)
        context = plain_attend("decoder.self_attention", "general", options, output, &s->outputs);
    s->outputs.row[s->outputs.length++] = output;
    return context;
}

static Vector read_out(Sentence *s, Vector output, Vector context, const Vector *embedded) {
    Vector mixed = plain_sum(plain_affine("decoder.readout.state", output),
                             plain_affine("decoder.readout.context", context));
    if (options->decoder_self_attention)
        mixed = plain_sum(mixed, plain_affine("decoder.readout.self_attention", attend_to_itself(s, output)));
    if (embedded) mixed = plain_sum(mixed, plain_affine("decoder.readout.embedding", *embedded));
    return plain_tanh(plain_normalize("decoder.readout.norm", options->layer_norm, mixed));
}

static Vector step(Sentence *s, Vector embedded) {
    Vector context, output, input = plain_affine(plain_name(cell_at(0), "input"), embedded);
    if (options->decoder_style == DECODER_CONDITIONAL) {
        s->state[0] = plain_cell(cell_at(0), options, input, s->state[0]);
        context = attend(s, s->state[0].h);
        s->state[0] = transition("decoder.second", context, s->state[0]);
        output = upper_layers(s);
    } else if (options->decoder_style == DECODER_BAHDANAU) {
        context = attend(s, s->state[options->decoder_layers - 1].h);
        input = plain_sum(input, plain_affine("decoder.context", context));
        s->state[0] = plain_cell(cell_at(0), options, input, s->state[0]);
        output = upper_layers(s);
    } else {
        if (options->input_feeding) input = plain_sum(input, plain_affine("decoder.feed", s->vector));
        s->state[0] = plain_cell(cell_at(0), options, input, s->state[0]);
        output = upper_layers(s);
        return s->vector = read_out(s, output, attend(s, output), NULL);
    }
    return options->readout == READOUT_LINEAR ? output : read_out(s, output, context, &embedded);
}

/* ---- what is compared ---- */

static double minus_log_p(Vector readout, int token) {
    const Param *w = plain_param("%s", options->tie == TIE_ALL      ? "embedding"
                                       : options->tie == TIE_TARGET ? "target.embedding"
                                                                    : "output.weight");
    double logits[V], total = 0;
    assert_int_equal(w->rows, V);
    for (int v = 0; v < V; v++) {
        logits[v] = plain_at(plain_param("output.bias"), 0, v) + plain_dot(readout, plain_row(w, v));
        total += exp(logits[v]);
    }
    return log(total) - logits[token];
}

static double plain_loss(Tokens source, Tokens reference) {
    const int *target = reference.ids, n = reference.length;
    const Param *table = options->tie == TIE_ALL ? plain_param("embedding") : plain_param("target.embedding");
    Sentence s = {.outputs.length = 0};
    Vectors x = {.length = n + 1};
    double loss = 0;
    encode(&s, source.ids, source.length);
    for (int t = 0; t <= n; t++) x.row[t] = plain_row(table, t ? target[t - 1] : VOCAB_BOS);
    if (options->decoder_style == DECODER_TRANSFORMER) {
        for (int t = 0; t <= n; t++) x.row[t] = plain_affine_or_same("decoder.input", x.row[t]);
        plain_add_positions("decoder", options, &x);
        for (int l = 0; l < options->decoder_layers; l++)
            plain_block(numbered("decoder.#", l), options, &x, &s.annotations);
        for (int t = 0; t <= n; t++)
            x.row[t] = plain_normalize("decoder.norm", options->norm == NORM_PRE, x.row[t]);
    } else {
        start(&s);
        for (int t = 0; t <= n; t++) x.row[t] = step(&s, x.row[t]);
    }
    for (int t = 0; t <= n; t++) loss += minus_log_p(x.row[t], t < n ? target[t] : VOCAB_EOS);
    return loss;
}

static void test_variant(void **state) {
    const ModelVariant *variant = *state;
    Seq2Seq *model = variant_new(variant, NULL, 12);
    const ParamSet *params = seq2seq_params(model);
    options = &seq2seq_config(model)->model;
    plain_use(params);
    if (!plain_knows_score(ATTENTION_SCORES[options->attention].name)) {
        seq2seq_free(model);
        skip(); /* a score that is new in the table */
    }
    params_pack_all(seq2seq_params(model));
    TrainingBatch batch = variant_batch(0);
    Tape *tape = tape_new(params, false);
    double total = 0;
    long tokens = 0;
    for (int b = 0; b < batch.B; b++) {
        double expected = plain_loss(batch.source[b], batch.target[b]);
        TrainingBatch one = {1, batch.source + b, batch.target + b, batch.sentence + b, 0};
        tape_reset(tape);
        double loss = seq2seq_loss(model, tape, &one, 0, 1).loss;
        if (!(fabs(loss - expected) <= 2e-6 * (batch.target[b].length + 1)))
            fail_msg("%s: sentence %d: loss %.9g, expected %.9g", variant->name, b, loss, expected);
        total += expected;
        tokens += batch.target[b].length + 1;
    }
    tape_reset(tape);
    assert_true(fabs(seq2seq_loss(model, tape, &batch, 0, 1).loss - total) <= 2e-6 * (double)tokens);
    tape_free(tape);
    seq2seq_free(model);
}

int main(void) {
    const ModelVariant *variants = cover_variants();
    int count = 0;
    while (variants[count].name) count++;
    kern_select();
    struct CMUnitTest tests[count];
    for (int i = 0; i < count; i++)
        tests[i] =
            (struct CMUnitTest){variants[i].name, test_variant, NULL, NULL, (void *)(uintptr_t)&variants[i]};
    return cmocka_run_group_tests_name("models against their equations", tests, NULL, NULL);
}
