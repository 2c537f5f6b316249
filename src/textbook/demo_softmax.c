/* demo_softmax.c - attn-mt demo softmax: the softmax over the valid scores of each row.
 * Dive into Deep Learning, section 11.3.2.1: masked softmax; eq. 11.1.3
 */
#include "base/mem.h"
#include "base/rng.h"
#include "textbook/toy_attention.h"

typedef struct {
    long long seed;
    char *lengths, *output;
    int cell;
    bool quiet;
} SoftmaxOptions;

enum { QUERIES = 2, KEYS = 4, STREAM_SCORES = 3 };

#define SOFTMAX(member) OPT_FIELD(SoftmaxOptions, member)

/* clang-format off */
static const Option SOFTMAX_OPTIONS[] = {
    {.flag = "lengths", .type = OPT_STRING, SOFTMAX(lengths), .default_text = "2,3", .arg = "LENGTHS",
     .help = "number of valid scores (of four) of each example, or of each query, as in 1,3;2,4",
     .group = "demo softmax"},
    {.flag = "seed", .type = OPT_LONG, SOFTMAX(seed), .default_text = "1", .max = 9e15, .arg = "N",
     .help = "seed of all random numbers"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, SOFTMAX(output),
     .arg = "PREFIX", .help = "write the weights to PREFIX.csv, PREFIX.pgm and PREFIX.svg"},
    {.flag = "cell", .type = OPT_INT, SOFTMAX(cell), .default_text = "16", .min = 1, .max = 256, .arg = "N",
     .help = "pgm: width and height of a weight in pixels"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, SOFTMAX(quiet), .default_text = "false",
     .help = "do not print the names of written files"},
    {0}};
/* clang-format on */

/* The valid scores of all rows, row after row. */
static Tensor *valid_scores(Tape *tape, const Spans *spans, const real *all) {
    Tensor *scores = tape_tensor(tape, 1, spans->total);
    for (int r = 0; r < spans->rows; r++)
        for (int k = 0; k < spans->length[r]; k++) scores->data[spans->start[r] + k] = all[r * KEYS + k];
    return scores;
}

static void compute(const SoftmaxOptions *options, const DemoLengths *lengths, real *scores, real *weights) {
    ParamSet *params = params_new();
    Tape *tape = tape_new(params, false);
    const Spans *spans = toy_spans(tape, lengths, KEYS);
    Rng rng = rng_new(rng_key((uint64_t)options->seed, STREAM_SCORES, 0, 0));
    for (int i = 0; i < spans->rows * KEYS; i++) scores[i] = (real)rng_uniform(&rng);
    const Tensor *result = op_masked_softmax(tape, valid_scores(tape, spans, scores), spans);
    toy_copy_spans(result->data, spans, KEYS, 0, weights);
    tape_free(tape);
    params_free(params);
}

static Status demo_softmax(const void *user_options) {
    static const char *const SUFFIXES[] = {".csv", ".pgm", ".svg", NULL};
    const SoftmaxOptions *options = user_options;
    DemoLengths lengths;
    DemoOutput out;
    TRY(demo_lengths_parse(options->lengths, QUERIES, KEYS, &lengths));
    Status status = demo_begin(&out, options->output, SUFFIXES);
    if (status == STATUS_OK) {
        real scores[LENGTHS_MOST_ROWS * KEYS] = {0}, weights[LENGTHS_MOST_ROWS * KEYS];
        compute(options, &lengths, scores, weights);
        DemoRows before = {"scores", "query", lengths.batch, lengths.queries, KEYS, scores, NULL}, after;
        after = (DemoRows){"weights", "query", lengths.batch, lengths.queries, KEYS, weights, lengths.row};
        strbuf_format(&out.text,
                      "masked softmax: exp(a_i) / sum_j exp(a_j) over the first scores a_1, a_2, "
                      "... of each row\n%d rows of %d scores, of which ",
                      demo_lengths_rows(&lengths), KEYS);
        demo_write_lengths(&lengths, &out.text);
        strbuf_add(&out.text, SV(" count\n"));
        demo_write_rows(&before, &out.text);
        demo_write_rows(&after, &out.text);
        demo_draw_weights(&after, "masked softmax", options->cell, &out);
    }
    return demo_finish(&out, status, options->quiet);
}

const Demo DEMO_SOFTMAX = {"softmax", SOFTMAX_OPTIONS, sizeof(SoftmaxOptions), demo_softmax};
