/* compare_encoders.c - time and memory of one encoder layer against the length of a sentence and the width of the layer.
 * "Dive into Deep Learning", the chapter on self-attention: O(n d^2) for recurrence, O(k n d^2) for convolution, O(n^2 d) for
 * self-attention
 *
 * One sentence of n tokens, one thread, forward and backward with the gradients of weights and input. Processor time of the
 * thread, not time on the wall, so that other work on the machine matters little; the median of the runs. Memory is what the layer
 * takes from the tape's arena: everything made between its input and its output, with the gradients. Each layer's result
 * is checked before it is timed.
 *
 * Run by scripts/compare-encoders.
 */
#include <string.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/options.h"
#include "measure/measure.h"
#include "num/gemm.h"
#include "num/kern.h"
#include "survey.h"

/* ---- measuring -------------------------------------------------------------------------------------------------------- */

enum { MOST_RUNS = 3000, ROUNDS = 3 };

typedef struct {
    Tensor *x, *y;
    double seconds;
    size_t bytes;
} Run;

/* `noise` holds numbers for the input and the gradient of the output. */
static Run run_once(Tape *tape, const Layer *layer, int n, const real *noise) {
    Run run;
    tape_reset(tape);
    run.x = tape_tensor(tape, n * layer_inputs(layer->kind), layer->size);
    memcpy(run.x->data, noise, tensor_size(run.x) * sizeof *noise);
    size_t before = arena_used(tape->arena);
    double begin = measure_thread_seconds();
    run.y = layer_run(tape, layer, run.x, n);
    double forward = measure_thread_seconds() - begin;
    memcpy(run.y->grad, noise, tensor_size(run.y) * sizeof *noise);
    begin = measure_thread_seconds();
    tape_backward(tape);
    run.seconds = forward + measure_thread_seconds() - begin;
    run.bytes = arena_used(tape->arena) - before;
    return run;
}

/* A layer that computes nonsense is not worth timing: results and gradients are finite, and those of the input and of each weight
 * are there. */
static Status check_run(const Layer *layer, const Tape *tape, const Run *run) {
    const char *wrong = NULL;
    if (run->y->columns != layer->size || run->y->rows * layer_inputs(layer->kind) != run->x->rows)
        wrong = "the result's shape";
    else if (!measure_sound(measure_mass(run->y->data, tensor_size(run->y))))
        wrong = "the result";
    else if (!measure_sound(measure_mass(run->x->grad, tensor_size(run->x))))
        wrong = "the gradient of the input";
    for (int i = 0; !wrong && i < layer->params->count; i++) {
        const Param *p = layer->params->items[i];
        if (!measure_sound(measure_mass(tape->grads + p->offset, (size_t)p->rows * (size_t)p->columns)))
            wrong = p->name;
    }
    if (!wrong) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "%s, %d tokens, width %d: %s is zero or not finite",
                       LAYER_FACTS[layer->kind].key, run->y->rows, layer->size, wrong);
}

static Status measure(Measurement *point, double seconds) {
    Layer layer = layer_new(point->kind, point->d);
    Tape *tape = tape_new(layer.params, true);
    tape->grads = params_block(layer.params);
    size_t count = (size_t)point->n * (size_t)point->d * (size_t)layer_inputs(point->kind);
    real *noise = mem_alloc(count, sizeof *noise);
    measure_fill(noise, count, (uint64_t)point->kind);
    Run run = run_once(tape, &layer, point->n, noise); /* also lets the arena find its size */
    Status status = check_run(&layer, tape, &run);
    double spent = 0;
    for (int i = 0; status == STATUS_OK && point->runs < MOST_RUNS && (i < 3 || spent < seconds); i++) {
        run = run_once(tape, &layer, point->n, noise);
        point->samples[point->runs++] = run.seconds;
        point->bytes = run.bytes;
        spent += run.seconds;
    }
    mem_free(noise);
    mem_free(tape->grads);
    tape_free(tape);
    layer_free(&layer);
    return status;
}

/* All points several times over, so that a minute in which the machine was busy does not hit one of them alone. */
static Status measure_all(Measurement *points, int count, double seconds) {
    for (int i = 0; i < count; i++) points[i].samples = mem_alloc(MOST_RUNS, sizeof(double));
    Status status = STATUS_OK;
    for (int round = 0; round < ROUNDS && status == STATUS_OK; round++)
        for (int i = 0; i < count && status == STATUS_OK; i++) {
            log_progress("round %d of %d: %s, %d tokens, width %d", round + 1, ROUNDS,
                         LAYER_FACTS[points[i].kind].key, points[i].n, points[i].d);
            status = measure(&points[i], seconds / ROUNDS);
        }
    log_progress_end();
    for (int i = 0; i < count; i++) {
        if (status == STATUS_OK) points[i].seconds = measure_median(points[i].samples, points[i].runs);
        mem_free(points[i].samples);
    }
    return status;
}

static const int LENGTHS[] = {8, 16, 32, 64, 128, 256, 512, 1024};
static const int WIDTHS[] = {32, 64, 128, 192, 256, 384, 512};

/* Quick: two points each, which test the program and measure nothing. */
static Survey plan(int width, int length, bool quick) {
    Survey survey = {.width = width, .length = length};
    survey.lengths = quick ? 2 : (int)(sizeof LENGTHS / sizeof *LENGTHS);
    survey.widths = quick ? 2 : (int)(sizeof WIDTHS / sizeof *WIDTHS);
    survey.count = LAYER_KINDS * (survey.lengths + survey.widths);
    survey.points = mem_alloc((size_t)survey.count, sizeof *survey.points);
    Measurement *next = survey.points;
    for (int kind = 0; kind < LAYER_KINDS; kind++)
        for (int i = 0; i < survey.lengths; i++)
            *next++ = (Measurement){.kind = (LayerKind)kind, .n = LENGTHS[i], .d = width};
    for (int kind = 0; kind < LAYER_KINDS; kind++)
        for (int i = 0; i < survey.widths; i++)
            *next++ = (Measurement){.kind = (LayerKind)kind, .n = length, .d = WIDTHS[i]};
    return survey;
}

/* ---- the program ----------------------------------------------------------------------------------------------------------- */

typedef struct {
    char *json, *svg;
    int width, length;
    double seconds;
    bool quick;
} Options;

static const Option OPTIONS[] = {
    {.flag = "json",
     .type = OPT_STRING,
     OPT_FIELD(Options, json),
     .arg = "FILE",
     .help = "also write all numbers there"},
    {.flag = "svg",
     .type = OPT_STRING,
     OPT_FIELD(Options, svg),
     .arg = "FILE",
     .help = "also draw time and memory against length"},
    {.flag = "width",
     .type = OPT_INT,
     OPT_FIELD(Options, width),
     .fallback = "256",
     .min = 4,
     .max = 4096,
     .arg = "D",
     .help = "width of the layers while the length varies; a multiple of 4"},
    {.flag = "length",
     .type = OPT_INT,
     OPT_FIELD(Options, length),
     .fallback = "256",
     .min = 2,
     .max = 8192,
     .arg = "N",
     .help = "tokens of the sentence while the width varies"},
    {.flag = "seconds",
     .type = OPT_REAL,
     OPT_FIELD(Options, seconds),
     .fallback = "0.3",
     .min = 0.001,
     .max = 60,
     .arg = "X",
     .help = "processor time for each point, if three runs a round do not take more"},
    {.flag = "quick",
     .type = OPT_BOOL,
     OPT_FIELD(Options, quick),
     .help = "few points: tries the program, measures nothing"},
    {0}};

/* The files that were asked for, opened before the measuring so that a wrong name is found at once. */
typedef struct {
    OutFile *json, *svg;
} Outputs;

static Status save(OutFile **file, void (*write)(const Survey *survey, StrBuf *out), const Survey *survey) {
    StrBuf text = {0};
    if (!*file) return STATUS_OK;
    write(survey, &text);
    Status status = file_write(*file, text.data, text.length);
    strbuf_free(&text);
    TRY(status);
    OutFile *done = *file;
    *file = NULL; /* released whether or not it can be committed */
    return file_commit(done);
}

static Status measure_and_write(const Options *options, Outputs *to) {
    Survey survey = plan(options->width, options->length, options->quick);
    StrBuf tables = {0};
    Status status = measure_all(survey.points, survey.count, options->seconds);
    if (status == STATUS_OK) {
        survey_collect(&survey);
        survey_write_tables(&survey, &tables);
        status = measure_print(strbuf_view(&tables));
    }
    if (status == STATUS_OK) status = save(&to->json, survey_write_json, &survey);
    if (status == STATUS_OK) status = save(&to->svg, survey_write_picture, &survey);
    strbuf_free(&tables);
    mem_free(survey.points);
    return status;
}

static Status compare(const Options *options) {
    if (options->width % LAYER_HEADS)
        return status_fail(STATUS_USAGE, "--width %d is not a multiple of %d heads", options->width,
                           LAYER_HEADS);
    Outputs to = {0};
    Status status = STATUS_OK;
    if (options->json) status = file_create(&to.json, options->json);
    if (status == STATUS_OK && options->svg) status = file_create(&to.svg, options->svg);
    if (status == STATUS_OK) status = measure_and_write(options, &to);
    file_discard(to.json);
    file_discard(to.svg);
    return status;
}

int main(int argc, char **argv) {
    Options options = {0};
    OptionTable tables[] = {{OPTIONS, &options}, {0}};
    StrList rest = {0};
    bool help = false;
    gemm_startup(argv);
    kern_select();
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, false, &rest, &help);
    if (status == STATUS_OK && rest.count)
        status = status_fail(STATUS_USAGE, "unexpected argument '%s'", rest.items[0]);
    if (status == STATUS_OK && help) {
        StrBuf text = {0};
        strbuf_add(&text, SV("Usage: scripts/compare-encoders [OPTION]...\n\nMeasures one encoder layer of "
                             "each kind and prints tables in Markdown.\n\n"));
        options_write_help(tables, 80, &text);
        status = measure_print(strbuf_view(&text));
        strbuf_free(&text);
    } else if (status == STATUS_OK) {
        status = compare(&options);
    }
    if (status != STATUS_OK) log_failure();
    mem_free(rest.items);
    options_free(tables);
    return (int)status;
}
