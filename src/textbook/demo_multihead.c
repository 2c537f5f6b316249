/* demo_multihead.c - attn-mt demo multihead: several heads over six keys.
 * Dive into Deep Learning, section 11.5: eq. 11.5.1 (a head), 11.5.2 (the output map)
 */
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "base/rng.h"
#include "layers/multihead.h"
#include "textbook/toy_attention.h"

typedef struct {
    int size, heads, inputs, cell;
    long long seed;
    char *lengths, *output;
    bool quiet;
} MultiheadOptions;

enum { QUERIES = 4, KEYS = 6, MAX_HEADS = 64, MAX_SHOWN = 10 };
enum { STREAM_QUERIES = 1, STREAM_KEYS };
typedef enum { INPUTS_EQUAL, INPUTS_RANDOM } Inputs;

#define MULTIHEAD(member) OPT_FIELD(MultiheadOptions, member)

/* clang-format off */
static const Option MULTIHEAD_OPTIONS[] = {
    {.flag = "size", .type = OPT_INT, MULTIHEAD(size), .default_text = "100", .min = 1, .max = 1024,
     .arg = "N",
     .help = "size of a query, a key and a result; up to 10, all inputs are printed too",
     .group = "demo multihead"},
    {.flag = "heads", .type = OPT_INT, MULTIHEAD(heads), .default_text = "5", .min = 1, .max = MAX_HEADS,
     .arg = "N",
     .help = "number of attention heads; it must divide the size"},
    {.flag = "keys", .type = OPT_CHOICE, MULTIHEAD(inputs), .default_text = "equal",
     .choices = "equal|random",
     .arg = "KIND",
     .help = "queries and keys are all ones, so that weights are equal, or random"},
    {.flag = "lengths", .type = OPT_STRING, MULTIHEAD(lengths), .default_text = "3,2", .arg = "LENGTHS",
     .help = "number of valid keys (of six) of each example, or of each query"},
    {.flag = "seed", .type = OPT_LONG, MULTIHEAD(seed), .default_text = "1", .max = 9e15, .arg = "N",
     .help = "seed of all random numbers"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, MULTIHEAD(output),
     .arg = "PREFIX", .help = "write the weights to PREFIX.csv, PREFIX.pgm and PREFIX.svg"},
    {.flag = "cell", .type = OPT_INT, MULTIHEAD(cell), .default_text = "16", .min = 1, .max = 256, .arg = "N",
     .help = "pgm: width and height of a weight in pixels"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, MULTIHEAD(quiet), .default_text = "false",
     .help = "do not print the names of written files"},
    {0}};
/* clang-format on */

typedef struct {
    StrBuf inputs; /* queries, keys and parameters as text, if there are at most MAX_SHOWN components */
    real *weights; /* [heads, rows, KEYS] */
    real *results; /* [rows, size] */
} Outputs;

static void write_inputs(const DemoLengths *lengths, const Tensor *queries, const Tensor *keys,
                         const ParamSet *params, StrBuf *out) {
    int size = queries->columns;
    demo_write_rows(
        &(DemoRows){"queries", "query", lengths->batch, lengths->queries, size, queries->data, NULL}, out);
    demo_write_rows(&(DemoRows){"keys and values", "key", lengths->batch, KEYS, size, keys->data, NULL}, out);
    toy_write_parameters(params, out);
}

static void compute(const MultiheadOptions *options, const DemoLengths *lengths, Outputs *out) {
    int rows = demo_lengths_rows(lengths), keys = lengths->batch * KEYS, size = options->size;
    uint64_t seed = (uint64_t)options->seed;
    ParamSet *params = params_new();
    Multihead multihead = multihead_new(params, "attention", size, size, options->heads, 0, false);
    params_initialize(params, seed);
    params_pack_all(params);
    Tape *tape = tape_new(params, false);
    const Spans *spans = toy_spans(tape, lengths, KEYS);
    bool equal = options->inputs == INPUTS_EQUAL;
    Tensor *x = equal ? tape_tensor_filled(tape, rows, size, 1)
                      : toy_normal(tape, rows, size, rng_key(seed, STREAM_QUERIES, 0, 0));
    Tensor *source = equal ? tape_tensor_filled(tape, keys, size, 1)
                           : toy_normal(tape, keys, size, rng_key(seed, STREAM_KEYS, 0, 0));
    KeysValues kv = multihead_project(tape, &multihead, source);
    Tensor *weights;
    const Tensor *result =
        multihead_attend(tape, &multihead, x, &kv, spans, NULL, (AttentionDropout){0}, &weights);
    out->inputs = (StrBuf){0};
    if (size <= MAX_SHOWN) write_inputs(lengths, x, source, params, &out->inputs);
    out->weights = mem_alloc((size_t)(options->heads * rows * KEYS), sizeof *out->weights);
    out->results = mem_alloc(tensor_size(result), sizeof *out->results);
    for (int h = 0; h < options->heads; h++)
        toy_copy_spans(tensor_row(weights, h), spans, KEYS, 0, out->weights + h * rows * KEYS);
    memcpy(out->results, result->data, tensor_size(result) * sizeof *out->results);
    tape_free(tape);
    params_free(params);
}

/* The first columns of each row of the result. */
static real *first_columns(const real *results, int rows, int size, int columns) {
    real *first = mem_alloc((size_t)(rows * columns), sizeof *first);
    for (int r = 0; r < rows; r++)
        memcpy(first + r * columns, results + r * size, (size_t)columns * sizeof *first);
    return first;
}

static void describe(const MultiheadOptions *options, const DemoLengths *lengths, StrBuf *out) {
    strbuf_add(out, SV("multi-head attention: W_o [h_1"));
    if (options->heads > 1) strbuf_format(out, options->heads > 2 ? "; ...; h_%d" : "; h_%d", options->heads);
    strbuf_format(out,
                  "], h_i = attention of W_i q to W_i k and W_i v, scaled by 1 / sqrt(%d)\n"
                  "queries (%d, %d, %d), keys and values (%d, %d, %d), of which ",
                  options->size / options->heads, lengths->batch, lengths->queries, options->size,
                  lengths->batch, KEYS, options->size);
    demo_write_lengths(lengths, out);
    strbuf_format(out, " count\nweights (%d, %d, %d, %d), result (%d, %d, %d)\n", options->heads,
                  lengths->batch, lengths->queries, KEYS, lengths->batch, lengths->queries, options->size);
}

static void show(const MultiheadOptions *options, const DemoLengths *lengths, const Outputs *outputs,
                 DemoOutput *out) {
    int rows = demo_lengths_rows(lengths), columns = options->size < MAX_SHOWN ? options->size : MAX_SHOWN;
    real *first = first_columns(outputs->results, rows, options->size, columns);
    char title[64];
    describe(options, lengths, &out->text);
    strbuf_add(&out->text, strbuf_view(&outputs->inputs));
    for (int h = 0; h < options->heads; h++) {
        snprintf(title, sizeof title, "weights of head %d", h + 1);
        DemoRows head = {
            title,       "query", lengths->batch, lengths->queries, KEYS, outputs->weights + h * rows * KEYS,
            lengths->row};
        demo_write_rows(&head, &out->text);
    }
    const char *name = columns < options->size ? "the first numbers of the result" : "result";
    DemoRows result = {name, "query", lengths->batch, lengths->queries, columns, first, NULL};
    demo_write_rows(&result, &out->text);
    DemoRows all = {"", "head and query", options->heads, rows, KEYS, outputs->weights, NULL};
    snprintf(title, sizeof title, "attention of %d heads, %s keys", options->heads,
             options->inputs == INPUTS_EQUAL ? "equal" : "random");
    demo_draw_weights(&all, title, options->cell, out);
    mem_free(first);
}

static Status demo_multihead(const void *user_options) {
    static const char *const SUFFIXES[] = {".csv", ".pgm", ".svg", NULL};
    const MultiheadOptions *options = user_options;
    DemoLengths lengths;
    DemoOutput out;
    TRY(demo_lengths_parse(options->lengths, QUERIES, KEYS, &lengths));
    if (options->size % options->heads != 0) {
        status_fail(STATUS_USAGE, "%d components cannot be divided among %d heads", options->size,
                    options->heads);
        return status_hint(STATUS_USAGE, "--size is a multiple of --heads");
    }
    Status status = demo_begin(&out, options->output, SUFFIXES);
    if (status == STATUS_OK) {
        Outputs outputs;
        compute(options, &lengths, &outputs);
        show(options, &lengths, &outputs, &out);
        strbuf_free(&outputs.inputs);
        mem_free(outputs.weights);
        mem_free(outputs.results);
    }
    return demo_finish(&out, status, options->quiet);
}

const Demo DEMO_MULTIHEAD = {"multihead", MULTIHEAD_OPTIONS, sizeof(MultiheadOptions), demo_multihead};
