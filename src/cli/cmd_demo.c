/* cmd_demo.c - attn-mt demo: small computations of the textbook's chapters, as numbers and pictures. */
#include <stdio.h>
#include <string.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/toy_attention.h"
#include "layers/positions.h"
#include "viz/heatmap.h"
#include "viz/plot.h"

typedef struct {
    int length, size;
    char *output;
    bool quiet;
} PositionOptions;

typedef struct {
    int score, keys, cell;
    long long seed;
    char *output;
    bool quiet;
} AttentionOptions;

enum { MOST_POSITIONS = 512, FIRST_COLUMN = 6, CURVES = 4 };
typedef enum { KEYS_EQUAL, KEYS_RANDOM } Keys;

#define POSITION(member)  OPT_FIELD(PositionOptions, member)
#define ATTENTION(member) OPT_FIELD(AttentionOptions, member)

/* clang-format off */
static const Option POSITION_OPTIONS[] = {
    {.flag = "length", .type = OPT_INT, POSITION(length), .fallback = "60", .min = 2, .max = MOST_POSITIONS,
     .arg = "N", .help = "positions: rows of the matrix", .group = "demo positions"},
    {.flag = "size", .type = OPT_INT, POSITION(size), .fallback = "32", .min = FIRST_COLUMN + CURVES,
     .max = MOST_POSITIONS, .arg = "N", .help = "numbers that encode a position: columns of the matrix"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, POSITION(output), .fallback = "positions",
     .arg = "PREFIX", .help = "write PREFIX-curves.svg, PREFIX-matrix.svg and PREFIX-matrix.csv"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, POSITION(quiet), .fallback = "false",
     .help = "do not say which files were written"},
    {0}};

static const Option ATTENTION_OPTIONS[] = {
    {.flag = "score", .type = OPT_CHOICE, ATTENTION(score), .fallback = "additive",
     .choices = ATTENTION_CHOICES,
     .arg = "NAME", .help = "attention score function", .group = "demo attention"},
    {.flag = "keys", .type = OPT_CHOICE, ATTENTION(keys), .fallback = "equal", .choices = "equal|random",
     .arg = "KIND", .help = "all keys are the same, so that weights are too, or random"},
    {.flag = "seed", .type = OPT_LONG, ATTENTION(seed), .fallback = "1", .max = 9e15, .arg = "N",
     .help = "start of all random numbers"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, ATTENTION(output), .fallback = "attention",
     .arg = "PREFIX", .help = "write the weights to PREFIX.csv, PREFIX.pgm and PREFIX.svg"},
    {.flag = "cell", .type = OPT_INT, ATTENTION(cell), .fallback = "16", .min = 1, .max = 256, .arg = "N",
     .help = "pgm: pixels per weight, across and down"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, ATTENTION(quiet), .fallback = "false",
     .help = "do not say which files were written"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt demo positions [OPTION...]\n"
    "       attn-mt demo attention [OPTION...]\n"
    "\n"
    "Small computations that need no model, done by the layers that models are made of. The first draws the\n"
    "sinusoidal encoding of positions: columns 6 to 9 as curves, and the whole matrix. The second lets two\n"
    "queries look at ten keys, of which 2 and 6 count, prints the weights and the contexts and draws the\n"
    "weights: exactly 0 beyond the length, and all the same where all keys are.\n";

static const char EXAMPLES[] = "Examples:\n"
                               "  attn-mt demo positions\n"
                               "  attn-mt demo positions --length 100 --size 64 -o long\n"
                               "  attn-mt demo attention --score scaled_dot --keys random --seed 7\n";

/* ---- files: all are there before the work starts, and are put in place together ---- */

enum { MOST_OUTPUTS = 3 };
typedef struct {
    OutFile *file;
    StrBuf path, content;
} Output;

static void close_outputs(Output *outputs) {
    for (int i = 0; i < MOST_OUTPUTS; i++) {
        file_discard(outputs[i].file);
        strbuf_free(&outputs[i].path);
        strbuf_free(&outputs[i].content);
    }
}

static Status open_outputs(Output *outputs, const char *prefix, const char *const *suffixes) {
    Status status = STATUS_OK;
    for (int i = 0; i < MOST_OUTPUTS && status == STATUS_OK; i++) {
        strbuf_format(&outputs[i].path, "%s%s", prefix, suffixes[i]);
        status = file_create(&outputs[i].file, strbuf_text(&outputs[i].path));
        if (status != STATUS_OK) outputs[i].file = NULL;
    }
    return status;
}

static Status commit_outputs(Output *outputs, bool quiet) {
    for (int i = 0; i < MOST_OUTPUTS; i++)
        TRY(file_write(outputs[i].file, outputs[i].content.data, outputs[i].content.length));
    for (int i = 0; i < MOST_OUTPUTS; i++) {
        OutFile *file = outputs[i].file;
        outputs[i].file = NULL; /* released in any case */
        TRY(file_commit(file));
        if (!quiet) log_info("wrote %s", strbuf_text(&outputs[i].path));
    }
    return STATUS_OK;
}

/* `before` with `first`, `first` + 1, ...: one block, labels and their texts, to be freed as one. */
static const char **new_labels(const char *before, int first, int count) {
    enum { LENGTH = 32 };
    const char **labels = mem_alloc((size_t)count, sizeof *labels + LENGTH);
    char *text = (char *)(labels + count);
    for (int i = 0; i < count; i++, text += LENGTH) {
        snprintf(text, LENGTH, "%s%d", before, first + i);
        labels[i] = text;
    }
    return labels;
}

/* ---- positions ---- */

static void draw_curves(const PositionOptions *options, const real *matrix, StrBuf *out) {
    size_t n = (size_t)options->length;
    double *x = mem_alloc(n * (CURVES + 1), sizeof *x);
    const char **names = new_labels("column ", FIRST_COLUMN, CURVES);
    PlotSeries series[CURVES];
    for (size_t i = 0; i < n; i++) x[i] = (double)i;
    for (int c = 0; c < CURVES; c++) {
        double *y = x + (size_t)(c + 1) * n;
        for (size_t i = 0; i < n; i++)
            y[i] = (double)matrix[i * (size_t)options->size + (size_t)(FIRST_COLUMN + c)];
        series[c] = (PlotSeries){names[c], x, y, options->length, false};
    }
    Plot plot = {.title = "Sinusoidal encoding of positions",
                 .x = {.title = "position", .whole = true},
                 .left = {.title = "value"},
                 .series = series,
                 .count = CURVES};
    plot_write_svg(&plot, out);
    mem_free(names);
    mem_free(x);
}

static void draw_matrix(const PositionOptions *options, const real *matrix, StrBuf *svg, StrBuf *csv) {
    const char **rows = new_labels("", 0, options->length), **columns = new_labels("", 0, options->size);
    Heatmap map = {.rows = options->length,
                   .columns = options->size,
                   .row_labels = rows,
                   .column_labels = columns,
                   .weights = matrix,
                   .title = "Sinusoidal encoding: a row for each position"};
    heatmap_write_svg_range(&map, -1, 1, svg);
    heatmap_write_csv(&map, csv);
    mem_free(rows);
    mem_free(columns);
}

static Status demo_positions(const PositionOptions *options) {
    static const char *const SUFFIXES[MOST_OUTPUTS] = {"-curves.svg", "-matrix.svg", "-matrix.csv"};
    Output outputs[MOST_OUTPUTS] = {0};
    Status status = open_outputs(outputs, options->output, SUFFIXES);
    if (status == STATUS_OK) {
        real *matrix = mem_alloc((size_t)options->length * (size_t)options->size, sizeof *matrix);
        positions_sinusoidal(0, options->length, options->size, matrix);
        draw_curves(options, matrix, &outputs[0].content);
        draw_matrix(options, matrix, &outputs[1].content, &outputs[2].content);
        mem_free(matrix);
        status = commit_outputs(outputs, options->quiet);
    }
    close_outputs(outputs);
    return status;
}

/* ---- attention ---- */

/* What was never computed is a bare 0, unlike the 0.0000 of a small weight. */
static void write_numbers(const real *numbers, int count, int used, StrBuf *out) {
    for (int i = 0; i < count; i++)
        if (i < used)
            strbuf_format(out, " %7.4f", (double)numbers[i]);
        else
            strbuf_format(out, " %7d", 0);
    strbuf_add_char(out, '\n');
}

static void describe(const AttentionOptions *options, const ToyAttention *toy, StrBuf *out) {
    const AttentionScore *score = &ATTENTION_SCORES[options->score];
    strbuf_format(out, "%s: %s\n%d queries of %d numbers, %d %s keys of %d, of which %d and %d count\n",
                  score->name, score->formula, TOY_QUERIES, toy->query_size, TOY_KEYS,
                  options->keys == KEYS_EQUAL ? "equal" : "random", TOY_KEY_SIZE, TOY_LENGTHS[0],
                  TOY_LENGTHS[1]);
    if (!toy->sees_keys)
        strbuf_add(out, SV("this score looks at the positions of the keys, not at the keys\n"));
    strbuf_add(out, SV("\nweights"));
    for (int k = 0; k < TOY_KEYS; k++) strbuf_format(out, k ? " %7d" : "%9d", k + 1);
    strbuf_add_char(out, '\n');
    for (int q = 0; q < TOY_QUERIES; q++) {
        strbuf_format(out, "query %d ", q + 1);
        write_numbers(toy->weights[q], TOY_KEYS, TOY_LENGTHS[q], out);
    }
    strbuf_add(out, SV("\ncontexts\n"));
    for (int q = 0; q < TOY_QUERIES; q++) {
        strbuf_format(out, "query %d ", q + 1);
        write_numbers(toy->contexts[q], TOY_VALUE_SIZE, TOY_VALUE_SIZE, out);
    }
}

static void draw_weights(const AttentionOptions *options, const ToyAttention *toy, Output *outputs) {
    const char **rows = new_labels("query ", 1, TOY_QUERIES), **columns = new_labels("key ", 1, TOY_KEYS);
    StrBuf title = {0};
    strbuf_format(&title, "%s attention, %s keys", ATTENTION_SCORES[options->score].name,
                  options->keys == KEYS_EQUAL ? "equal" : "random");
    Heatmap map = {.rows = TOY_QUERIES,
                   .columns = TOY_KEYS,
                   .row_labels = rows,
                   .column_labels = columns,
                   .weights = toy->weights[0],
                   .title = strbuf_text(&title)};
    heatmap_write_csv(&map, &outputs[0].content);
    heatmap_write_pgm(&map, options->cell, &outputs[1].content);
    heatmap_write_svg(&map, &outputs[2].content);
    strbuf_free(&title);
    mem_free(rows);
    mem_free(columns);
}

static Status demo_attention(const AttentionOptions *options) {
    static const char *const SUFFIXES[MOST_OUTPUTS] = {".csv", ".pgm", ".svg"};
    Output outputs[MOST_OUTPUTS] = {0};
    StrBuf text = {0};
    Status status = open_outputs(outputs, options->output, SUFFIXES);
    if (status == STATUS_OK) {
        ToyAttention toy;
        toy_attention_run(options->score, options->keys == KEYS_EQUAL, (uint64_t)options->seed, &toy);
        describe(options, &toy, &text);
        draw_weights(options, &toy, outputs);
        status = command_print(strbuf_view(&text));
    }
    if (status == STATUS_OK) status = commit_outputs(outputs, options->quiet);
    close_outputs(outputs);
    strbuf_free(&text);
    return status;
}

/* ---- the command ---- */

static const char *const NAMES[] = {"positions", "attention"};

static Status fail_demo(const char *name) {
    if (name)
        status_fail(STATUS_USAGE, "unknown demo '%s'", name);
    else
        status_fail(STATUS_USAGE, "no demo given");
    return status_hint(STATUS_USAGE, "attn-mt demo positions, or attn-mt demo attention, then its options");
}

/* The demo's name where options stand before it: the first argument that neither is an option nor belongs to
 * one, which is what that demo's own options say. */
static const char *find_name(int argc, char **argv, const OptionTable *all) {
    if (argc < 2 || argv[1][0] != '-') return argc > 1 ? argv[1] : NULL;
    const char *found = NULL;
    for (int i = 0; i < 2 && !found; i++) {
        OptionTable one[] = {all[i], {0}};
        StrList rest;
        bool help;
        options_defaults(one);
        if (options_parse(one, argc, argv, false, &rest, &help) == STATUS_OK && !help && rest.count > 0 &&
            strcmp(rest.items[0], NAMES[i]) == 0)
            found = rest.items[0];
        mem_free(rest.items);
        options_free(one);
    }
    /* With a wrong option before it: that is what is to be said. */
    for (int i = 0; i < 2 && !found; i++)
        if (strcmp(argv[argc - 1], NAMES[i]) == 0) found = argv[argc - 1];
    return found;
}

Status cmd_demo(int argc, char **argv) {
    PositionOptions position = {0};
    AttentionOptions attention = {0};
    OptionTable all[] = {{POSITION_OPTIONS, &position}, {ATTENTION_OPTIONS, &attention}, {0}};
    OptionTable one[] = {{0}, {0}};
    const char *name = find_name(argc, argv, all);
    for (int i = 0; i < 2 && name; i++)
        if (strcmp(name, NAMES[i]) == 0) one[0] = all[i];
    if (name && !one[0].rows) return fail_demo(name);
    /* Without a name there may be --help, or an option that is unknown to both. */
    const OptionTable *tables = name ? one : all;
    StrList rest;
    bool help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, false, &rest, &help);
    if (status == STATUS_OK && help) {
        status = command_print_help(USAGE, all, EXAMPLES);
    } else if (status == STATUS_OK && !name) {
        status = fail_demo(NULL);
    } else if (status == STATUS_OK && rest.count > 1) {
        const char *other = rest.items[rest.items[0] == name];
        status_fail(STATUS_USAGE, "'%s' is too much: demo %s takes options only", other, name);
        status = status_hint(STATUS_USAGE, "attn-mt demo --help lists them");
    } else if (status == STATUS_OK) {
        status = one[0].target == &position ? demo_positions(&position) : demo_attention(&attention);
    }
    mem_free(rest.items);
    options_free(tables);
    return status;
}
