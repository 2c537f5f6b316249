/* encoders.c - time and memory of one encoder layer against the length of a sentence and its own width.
 * "Dive into Deep Learning", the chapter on self-attention: O(n d^2) for recurrence, O(k n d^2) for
 * convolution, O(n^2 d) for self-attention
 *
 * One sentence of n tokens, one thread, forward and backward with the gradients of weights and input.
 * Memory is what the layer takes from the tape's arena: everything made between its input and its output,
 * with the gradients.
 */
#include <math.h>
#include <stdio.h>
#include "base/mem.h"
#include "bench/rig.h"
#include "bench/survey.h"
#include "layers/conv.h"
#include "layers/recurrent.h"
#include "layers/transformer.h"
#include "num/gemm.h"
#include "num/kern.h"

enum { HEADS = 4 /* as the models have by default */, RUNS = 3 };
enum { FIT_FROM = 128 }; /* exponents are those of the range from here up, in n and in d */

/* ---- the layers -------------------------------------------------------------------------------------- */

/* A layer of width d and a sentence of n tokens. */
typedef struct {
    const struct LayerKind *kind;
    int n, d;
    Cell cell;
    Conv conv;
    Multihead attention;
    TransformerBlock block;
} Layer;

static void declare_rnn(Layer *l, ParamSet *p) { l->cell = cell_new(p, "rnn", CELL_GRU, l->d, l->d, false); }
static void declare_conv3(Layer *l, ParamSet *p) { l->conv = conv_new(p, "conv", l->d, 3, false); }
static void declare_conv5(Layer *l, ParamSet *p) { l->conv = conv_new(p, "conv", l->d, 5, false); }
static void declare_attention(Layer *l, ParamSet *p) {
    l->attention = multihead_new(p, "self", l->d, l->d, HEADS, 0);
}
static void declare_block(Layer *l, ParamSet *p) {
    TransformerForm form = {.size = l->d, .feed_forward = 4 * l->d, .heads = HEADS, .norm = NORM_PRE};
    l->block = transformer_new(p, "block", &form);
}

static Tensor *run_rnn(Tape *tape, Layer *l, Tensor *x) {
    return rnn_run(tape, &l->cell, x, packed_new(tape, &l->n, 1), false).h;
}

static Tensor *run_conv(Tape *tape, Layer *l, Tensor *x) {
    return conv_run(tape, &l->conv, x, sequences_new(tape, &l->n, 1, NULL, 0), 0, 0);
}

static Tensor *run_attention(Tape *tape, Layer *l, Tensor *x) {
    const Sequences *s = sequences_new(tape, &l->n, 1, NULL, 0);
    KeysValues keys_values = multihead_project(tape, &l->attention, x);
    Tensor *weights;
    return multihead_attend(tape, &l->attention, x, &keys_values, sequences_spans(tape, s, false),
                            s->position, (AttentionDropout){0}, &weights);
}

/* Queries, keys and values lie one below the other. */
static Tensor *run_pairs(Tape *tape, Layer *l, Tensor *x) {
    const Spans *spans = sequences_spans(tape, sequences_new(tape, &l->n, 1, NULL, 0), false);
    Tensor *query = tape_rows(tape, x, 0, l->n), *keys = tape_rows(tape, x, l->n, l->n),
           *values = tape_rows(tape, x, 2 * l->n, l->n);
    DotScore form = {.heads = HEADS, .scale = (real)(1 / sqrt(l->d / (double)HEADS))};
    Tensor *scores = op_score_dot(tape, query, keys, &form, spans);
    return op_context(tape, op_masked_softmax(tape, scores, spans), values, spans);
}

static Tensor *run_block(Tape *tape, Layer *l, Tensor *x) {
    const Sequences *s = sequences_new(tape, &l->n, 1, NULL, 0);
    TransformerRun run = {
        .spans = sequences_spans(tape, s, false), .position = s->position, .row_keys = s->row_keys};
    return transformer_run(tape, &l->block, x, &run, 0);
}

typedef struct LayerKind {
    const char *name;
    const char *operations;                          /* by the textbook */
    const char *sequential;                          /* operations that must wait for each other */
    const char *path;                                /* steps between two tokens at most */
    int inputs;                                      /* rows of x per token */
    void (*declare)(Layer *layer, ParamSet *params); /* or NULL */
    Tensor *(*run)(Tape *tape, Layer *layer, Tensor *x);
} LayerKind;

/* The "pairs" of tokens are the part of self-attention that its O(n^2 d) counts: scores, softmax, context.
 * The rest of it is four projections of n tokens, which cost O(n d^2) like the other layers. */
static const LayerKind KINDS[] = {
    {"recurrent (GRU)", "O(n d^2)", "n", "n", 1, declare_rnn, run_rnn},
    {"convolution, k = 3", "O(k n d^2)", "1", "n / 3", 1, declare_conv3, run_conv},
    {"convolution, k = 5", "O(k n d^2)", "1", "n / 5", 1, declare_conv5, run_conv},
    {"self-attention", "O(n^2 d)", "1", "1", 1, declare_attention, run_attention},
    {"its pairs of tokens alone", "O(n^2 d)", "1", "1", 3, NULL, run_pairs},
    {"whole Transformer block", "", "1", "1", 1, declare_block, run_block},
};
enum { KIND_COUNT = sizeof KINDS / sizeof *KINDS };

/* ---- measuring --------------------------------------------------------------------------------------- */

enum { BY_LENGTH, BY_WIDTH, SWEEPS };

static Tensor *run_layer(Tape *tape, Rig *rig) {
    Layer *layer = rig->context;
    return layer->kind->run(tape, layer, rig->x[0]);
}

static Status measure_layer(void *context, int sweep, int line, int x, double seconds, Point *point) {
    const BenchOptions *o = &((Bench *)context)->options;
    Layer layer = {.kind = &KINDS[line], .n = sweep == BY_LENGTH ? x : o->length};
    layer.d = sweep == BY_LENGTH ? o->width : x;
    Sample part[MEASURE_PARTS] = {0};
    Rig *rig = rig_new(run_layer, &layer);
    if (layer.kind->declare) layer.kind->declare(&layer, rig->params);
    rig_operand(rig, layer.n * layer.kind->inputs, layer.d);
    Status status = rig_start(rig, layer.kind->name);
    if (status == STATUS_OK)
        status = measure(&(Trial){.run = rig_run, .context = rig}, seconds / RUNS, RUNS, part);
    for (int i = 0; i < part[0].count; i++)
        sample_add(&point->seconds, part[0].values[i] + part[1].values[i]);
    point->megabytes = (double)rig->bytes / 1e6;
    for (int p = 0; p < MEASURE_PARTS; p++) sample_free(&part[p]);
    rig_free(rig);
    return status;
}

static void plan(bool quick, Sweep sweeps[SWEEPS]) {
    sweeps[BY_LENGTH] =
        (Sweep){.axis = "tokens in the sentence", .count = 8, .x = {8, 16, 32, 64, 128, 256, 512, 1024}};
    sweeps[BY_WIDTH] =
        (Sweep){.axis = "width of the layer", .count = 7, .x = {32, 64, 128, 192, 256, 384, 512}};
    for (int s = 0; s < SWEEPS; s++) {
        if (quick) sweeps[s].count = 2;
        for (; sweeps[s].lines < KIND_COUNT; sweeps[s].lines++)
            sweeps[s].line[sweeps[s].lines] = KINDS[sweeps[s].lines].name;
    }
}

/* ---- tables and picture ------------------------------------------------------------------------------ */

static void report_growth(Report *report, Sweep *sweeps, int line, const char *what, SurveyValue value) {
    char text[64] = "too few points";
    double n = survey_exponent(&sweeps[BY_LENGTH], line, value, FIT_FROM),
           d = survey_exponent(&sweeps[BY_WIDTH], line, value, FIT_FROM);
    if (isfinite(n) && isfinite(d)) snprintf(text, sizeof text, "n^%.2f d^%.2f", n, d);
    report_text(report, KINDS[line].name, what, text);
}

static Status show_growth(Bench *bench, Sweep *sweeps) {
    Report *r = &bench->report;
    char title[256];
    r->section = "growth";
    for (int line = 0; line < KIND_COUNT; line++) {
        const LayerKind *kind = &KINDS[line];
        report_text(r, kind->name, "operations, by the textbook", kind->operations);
        report_growth(r, sweeps, line, "time, measured", SURVEY_MILLISECONDS);
        report_growth(r, sweeps, line, "memory, measured", SURVEY_MEGABYTES);
        report_text(r, kind->name, "sequential operations", kind->sequential);
        report_text(r, kind->name, "longest path", kind->path);
    }
    snprintf(title, sizeof title,
             "One layer, forward and backward, one sentence of n tokens, width d, one thread (%s, %s)\n"
             "Exponents are fitted from n = %d (at d = %d) and from d = %d (at n = %d) up",
             gemm_kernel(), kern->name, FIT_FROM, bench->options.width, FIT_FROM, bench->options.length);
    return report_show(r, title, NULL);
}

static Status show_points(Bench *bench, int s, Sweep *sweep, bool memory) {
    static const char *const SECTIONS[SWEEPS][2] = {{"time by length", "memory by length"},
                                                    {"time by width", "memory by width"}};
    Report *r = &bench->report;
    char metric[32], title[64];
    r->section = SECTIONS[s][memory];
    for (int line = 0; line < sweep->lines; line++)
        for (int i = 0; i < sweep->count; i++) {
            Point *p = &sweep->point[line][i];
            snprintf(metric, sizeof metric, "%s = %g", s == BY_LENGTH ? "n" : "d", sweep->x[i]);
            if (memory)
                report_value(r, sweep->line[line], metric, "MB", LESS_IS_BETTER, p->megabytes);
            else
                report_seconds(r, sweep->line[line], metric, "ms", LESS_IS_BETTER, 1e3, &p->seconds);
        }
    snprintf(title, sizeof title, "%s of one layer, %s = %d", memory ? "Memory" : "Time",
             s == BY_LENGTH ? "d" : "n", s == BY_LENGTH ? bench->options.width : bench->options.length);
    return report_show(r, title, NULL);
}

static Status draw(Bench *bench, Sweep *sweep) {
    Panel panels[2];
    Plot plots[2];
    for (int memory = 0; memory < 2; memory++) {
        snprintf(panels[memory].title, sizeof panels[memory].title,
                 "%s of one layer, forward and backward (d = %d)", memory ? "Memory" : "Time",
                 bench->options.width);
        plots[memory] = survey_plot(sweep, memory ? SURVEY_MEGABYTES : SURVEY_MILLISECONDS,
                                    memory ? "megabytes" : "milliseconds", &panels[memory]);
    }
    return bench_draw(bench, plots, 2, 1);
}

Status bench_encoders(Bench *bench) {
    const BenchOptions *o = &bench->options;
    if (o->width % HEADS)
        return status_fail(STATUS_USAGE, "--width %d is not a multiple of %d heads", o->width, HEADS);
    static Sweep sweeps[SWEEPS];
    plan(o->quick, sweeps);
    bench->threads = 1;
    strbuf_format(&bench->facts, ", \"heads\": %d, \"width\": %d, \"length\": %d", HEADS, o->width,
                  o->length);
    Status status = survey_measure(bench, sweeps, SWEEPS, measure_layer, bench);
    if (status == STATUS_OK) status = show_growth(bench, sweeps);
    for (int s = 0; s < SWEEPS; s++)
        for (int memory = 0; memory < 2 && status == STATUS_OK; memory++)
            status = show_points(bench, s, &sweeps[s], memory);
    if (status == STATUS_OK) status = draw(bench, &sweeps[BY_LENGTH]);
    survey_free(sweeps, SWEEPS);
    return status;
}
