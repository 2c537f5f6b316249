/* cmd_heatmap.c - attn-mt heatmap: attention weights as tables and pictures. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "io/line_window.h"
#include "io/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "base/unicode.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/heatmap_files.h"
#include "cli/model_choice.h"
#include "explain/heatmap_page.h"
#include "explain/self_attention.h"
#include "explain/trace.h"
#include "search/rescore.h"
#include "postprocess/alignment.h"
#include "translate/translator.h"
#include "postprocess/unknown_text.h"
#include "viz/heatmap.h"

typedef struct {
    StrList models, formats;
    char *languages, *output, *target, *target_file;
    int level, cell, layer, head, self; /* self: SelfSide */
    bool quiet, subwords;               /* subwords: --level subword was given */
} HeatmapOptions;

#define FIELD(member) OPT_FIELD(HeatmapOptions, member)

/* clang-format off */
static const Option HEATMAP_OPTIONS[] = {
    {.flag = "model", .common = true, .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "MODEL",
     .help = "model to translate with: a name in 'attn-mt models', a file, or the folder of a run; several "
             "form an ensemble, which shows the attention of the first one; "
             "html: each model translates, up to 4 side by side",
     .group = "Input and output"},
    {.flag = "languages", .common = true, .type = OPT_STRING, FIELD(languages), .arg = "SRC-TRG",
     .help = "languages, such as en-de; without --model, a model that translates them"},
    {.flag = "format", .common = true, .letter = 'f', .type = OPT_LIST, FIELD(formats),
     .choices = HEATMAP_FORMAT_CHOICES,
     .arg = "NAMES",
     .help = "output formats; default: text, or with --output csv, pgm and svg. json: all activations, on "
             "standard output one object per line if there are several sentences; html: the explorer page"},
    {.flag = "output", .common = true, .letter = 'o', .type = OPT_STRING, FIELD(output), .arg = "PREFIX",
     .help = "write PREFIX.csv and so on; several sentences: PREFIX-1.csv, PREFIX-2.csv, ...; a PREFIX such "
             "as x.svg selects the format svg, and - standard output"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(quiet), .default_text = "false",
     .help = "print only errors"},
    {.flag = "target", .common = true, .letter = 't', .type = OPT_STRING, FIELD(target), .arg = "TEXT",
     .help = "show this translation instead of the model's own; html: both",
     .group = "Heatmap"},
    {.flag = "target-file", .type = OPT_STRING, FIELD(target_file), .arg = "FILE",
     .help = "the same for several sentences: one translation per line"},
    {.flag = "level", .common = true, .type = OPT_CHOICE, FIELD(level), .default_text = "subword",
     .choices = ALIGNMENT_LEVELS, .arg = "LEVEL",
     .help = "rows and columns are words, or the subwords of the model; html: the initial choice is words"},
    {.flag = "self-attention", .common = true, .type = OPT_CHOICE, FIELD(self), .default_text = "none",
     .implied_value = "decoder",
     .choices = SELF_SIDES, .arg = "SIDE",
     .help = "show self-attention instead, always of the whole line. decoder: columns are the earlier target "
             "tokens; encoder: rows and columns are source tokens. Transformers have it, and recurrent "
             "decoders with model.decoder.self_attention"},
    {.flag = "layer", .common = true, .type = OPT_INT, FIELD(layer), .default_text = "0",
     .max = MODEL_MAX_LAYERS, .arg = "N",
     .help = "layer of a Transformer to show, from 1; 0 = the mean of all"},
    {.flag = "head", .common = true, .type = OPT_INT, FIELD(head), .default_text = "0", .max = 1024,
     .arg = "N",
     .help = "attention head to show, from 1; 0 = the mean of all"},
    {.flag = "cell", .type = OPT_INT, FIELD(cell), .default_text = "16", .min = 1, .max = 256, .arg = "N",
     .help = "pgm: pixels per weight, across and down"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt heatmap [--model MODEL] [OPTION...] [SENTENCE | < INPUT]\n"
    "\n"
    "Translates and shows the attention weights, with a row for each target token and\n"
    "a column for each source token.\n";

static const char DETAILS[] =
    "Attention shows which source tokens the model used, which are not always those\n"
    "that a word translates. A model without attention (model.attention = none) is\n"
    "refused.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt heatmap -m best.safetensors \"he's calm .\"\n"
    "  attn-mt heatmap -m best.safetensors -o calm \"he's calm .\"        calm.csv, calm.pgm, calm.svg\n"
    "  attn-mt heatmap -m best.safetensors -f html -o look <sentences.txt     look.html, for a browser\n"
    "  attn-mt heatmap -m best.safetensors -t \"il est calme .\" -f csv \"he's calm .\"\n"
    "  attn-mt heatmap -m best.safetensors -f json \"he's calm .\" >calm.json\n";

static const CommandText TEXT = {USAGE, EXAMPLES, DETAILS};

static Status lines_read(LineWindow *lines, const char *path) {
    LineReader *reader;
    TRY(line_reader_open_limited(&reader, path));
    Status status = line_window_read_all(lines, reader);
    line_reader_close(reader);
    return status;
}

/* ---- output ---- */

/* A sentence with its heatmap. */
typedef struct {
    StrView line;
    const Translation *translation;
    const Seq2Seq *model;
    const Backpointers *tree; /* the search tree; empty without a search or without JSON */
    Heatmap map;
} SentenceHeatmap;

static void begin_json(StrView line, StrView translation, StrBuf *out) {
    json_open_object(out);
    json_put_string(out, "sentence", line);
    json_write_line(out, 0);
    json_put_string(out, "translation", translation);
}

/* Rows and columns of the picture, then all activations of the model. */
static void write_json(const SentenceHeatmap *sentence, StrBuf *out) {
    enum { BEST = 10 };
    const Translation *translation = sentence->translation;
    const TranslationItem *item = &translation->items[0];
    int V = vocab_size(tokenizer_vocab(seq2seq_target(sentence->model)));
    Trace trace;
    trace_run(&trace, sentence->model, (Tokens){translation->source, translation->source_length},
              (Tokens){item->ids, item->length}, V < BEST ? V : BEST);
    begin_json(sentence->line, strbuf_view(&item->text), out);
    json_write_line(out, 0);
    json_write_key(out, "heatmap");
    heatmap_write_json(&sentence->map, out);
    trace_write_json(&trace, sentence->model, sentence->tree, out);
    strbuf_add(out, SV("}\n"));
    trace_free(&trace);
}

static void draw(const SentenceHeatmap *sentence, HeatmapFormat format, const HeatmapOptions *options,
                 StrBuf *out) {
    const Heatmap *map = &sentence->map;
    switch (format) {
    case HEATMAP_JSON:
        write_json(sentence, out);
        break;
    case HEATMAP_CSV:
        heatmap_write_csv(map, out);
        break;
    case HEATMAP_PGM:
        heatmap_write_pgm(map, options->cell, out);
        break;
    case HEATMAP_SVG:
        heatmap_write_svg(map, out);
        break;
    default:
        heatmap_write_text(map, options->output ? 100 : log_terminal_width(STDOUT_FILENO),
                           !options->output && log_true_colour(STDOUT_FILENO), out);
    }
}

/* Writes all formats of one heatmap, except html. */
static Status write_formats(const SentenceHeatmap *sentence, const HeatmapOptions *options,
                            const HeatmapFiles *files, int number) {
    Status status = STATUS_OK;
    for (int f = 0; f < HEATMAP_FORMAT_COUNT && status == STATUS_OK; f++) {
        if (!files->selected[f] || f == HEATMAP_HTML) continue;
        StrBuf content = {0};
        draw(sentence, (HeatmapFormat)f, options, &content);
        status = heatmap_files_write(files, (HeatmapFormat)f, number, &content);
        strbuf_free(&content);
    }
    return status;
}

static AttentionChoice choice_of(const HeatmapOptions *options) {
    return (AttentionChoice){options->layer - 1, options->head - 1};
}

static void align(const Translation *translation, const Seq2Seq *model, const HeatmapOptions *options,
                  Alignment *alignment) {
    AlignmentLevel level = (AlignmentLevel)options->level;
    if (!options->self) {
        alignment_make(alignment, translation, 0, level, seq2seq_source(model), seq2seq_target(model));
        return;
    }
    self_attention_align(alignment, model, translation, (SelfSide)options->self, choice_of(options), level);
}

/* A line without text has no heatmap, but with JSON on standard output it gets its line of output. */
static Status show_blank(StrView line, const HeatmapFiles *files, int number) {
    if (files->prefix || !files->selected[HEATMAP_JSON]) return STATUS_OK;
    StrBuf json = {0};
    begin_json(line, SV(""), &json);
    strbuf_add(&json, SV("}\n"));
    Status status = heatmap_files_write(files, HEATMAP_JSON, number, &json);
    strbuf_free(&json);
    return status;
}

static Status show_translation(const Translation *translation, StrView line, const Ensemble *models,
                               const Backpointers *tree, const HeatmapOptions *options,
                               const HeatmapFiles *files, int number) {
    Alignment alignment;
    StrBuf title = {0};
    if (translation->chunks == 0) return show_blank(line, files, number);
    align(translation, models->items[0], options, &alignment);
    heatmap_title(line, translation, &title);
    SentenceHeatmap sentence = {line, translation, models->items[0], tree, {0}};
    sentence.map = (Heatmap){.rows = alignment.rows,
                             .columns = alignment.columns,
                             .row_labels = (const char *const *)alignment.row_labels,
                             .column_labels = (const char *const *)alignment.column_labels,
                             .weights = alignment_matrix(&alignment),
                             .title = strbuf_text(&title)};
    Status status = write_formats(&sentence, options, files, number);
    alignment_free(&alignment);
    strbuf_free(&title);
    return status;
}

/* ---- the command ---- */

/* JSON has the search tree of each sentence: then sentences are translated one by one, and never in
 * chunks. */
static Status write_heatmaps(const HeatmapOptions *options, TranslatorOptions *translating,
                             const Ensemble *models, const HeatmapFiles *files, const LineWindow *lines,
                             const LineWindow *targets, HeatmapCounts *counts) {
    enum { BATCH = 256 };
    const bool *selected = files->selected;
    int batch = selected[HEATMAP_JSON] ? 1 : BATCH;
    Translation results[BATCH];
    Translator *translator = NULL;
    Backpointers tree = {0};
    if (selected[HEATMAP_JSON]) translating->search.decode.max_input_length = INT_MAX;
    translating->whole = selected[HEATMAP_JSON];
    if (selected[HEATMAP_JSON] && targets->count == 0) translating->search.tree = &tree;
    Workers *workers = workers_new(workers_default_count());
    Status status = translator_new(&translator, ensemble_items(models), models->count, translating, workers);
    for (int first = 0; first < lines->count && status == STATUS_OK; first += batch) {
        int n = lines->count - first < batch ? lines->count - first : batch;
        if (targets->count > 0)
            translator_force(translator, lines->lines[0] + first, targets->lines[0] + first, n, results);
        else
            translator_run(translator, lines->lines[0] + first, NULL, n, first + 1, results);
        status = translator_check_finite(translator, &options->models);
        for (int i = 0; i < n; i++) {
            int number = lines->count > 1 ? first + i + 1 : 0;
            heatmap_count(counts, &results[i], models->items[0], number);
            if (status == STATUS_OK)
                status = show_translation(&results[i], lines->lines[0][first + i], models, &tree, options,
                                          files, number);
            translation_free(&results[i]);
        }
        backpointers_free(&tree);
    }
    translator_free(translator);
    workers_free(workers);
    return status;
}

/* Writes the explorer page: all sentences in one file. */
static Status write_page(const HeatmapOptions *options, const TranslatorOptions *translating,
                         const Ensemble *models, const HeatmapFiles *files, const LineWindow *lines,
                         const LineWindow *targets, HeatmapCounts *counts) {
    StrBuf content = {0};
    ProgressLine progress = progress_line_begin("exploring");
    Status status =
        heatmap_page_write(&(HeatmapPage){.models = models,
                                          .paths = &options->models,
                                          .translating = translating,
                                          .lines = lines->lines[0],
                                          .targets = targets->count > 0 ? targets->lines[0] : NULL,
                                          .count = lines->count,
                                          .layer = options->layer,
                                          .head = options->head,
                                          .subwords = options->subwords,
                                          .counts = counts,
                                          .progress = options->quiet ? NULL : &progress},
                           &content);
    if (status == STATUS_OK) status = heatmap_files_write(files, HEATMAP_HTML, 0, &content);
    strbuf_free(&content);
    return status;
}

/* Selects the formats before models are read, so that wrong options fail at once. */
static Status choose_formats(const HeatmapOptions *options, const UserOptions *user_options,
                             HeatmapFiles *files) {
    *files = (HeatmapFiles){.prefix = options->output, .quiet = options->quiet};
    TRY(heatmap_files_choose(files, &options->formats));
    if (option_is_given(user_options, "cell") && !files->selected[HEATMAP_PGM]) {
        status_fail(STATUS_USAGE, "option '--cell' does nothing without '--format pgm'");
        return status_hint(STATUS_USAGE, "add --format pgm, or leave --cell out");
    }
    if (options->self && files->selected[HEATMAP_HTML]) {
        status_fail(STATUS_USAGE,
                    "--format html shows all attention and cannot be combined with --self-attention");
        return status_hint(STATUS_USAGE, "leave --self-attention out: the view 'Layers and heads' shows it");
    }
    return heatmap_files_check(files, 1);
}

static Status read_sentences(const HeatmapOptions *options, const char *sentence, LineWindow *lines,
                             LineWindow *targets) {
    if (sentence && unicode_is_blank(sv(sentence))) {
        status_fail(STATUS_USAGE, "the sentence is empty");
        return status_hint(STATUS_USAGE, "attn-mt heatmap \"a sentence in quotes\"");
    }
    if (options->target && options->target_file)
        return status_fail(STATUS_USAGE, "--target and --target-file exclude each other");
    if (sentence) {
        if (strcmp(sentence, "-") != 0 && file_size(sentence) >= 0 && !options->quiet)
            log_warn("'%s' is used as the sentence, although a file has this name; < '%s' reads the file",
                     sentence, sentence);
        line_window_add(lines, sv(sentence));
    } else {
        if (isatty(STDIN_FILENO) == 1) log_info("enter one sentence per line; Ctrl-D ends the input");
        TRY(lines_read(lines, "-"));
    }
    if (options->target) line_window_add(targets, sv(options->target));
    if (options->target_file) TRY(lines_read(targets, options->target_file));
    if ((options->target || options->target_file) && targets->count != lines->count) {
        status_fail(STATUS_DATA, "%d sentence%s, but %d translation%s to show", lines->count,
                    lines->count == 1 ? "" : "s", targets->count, targets->count == 1 ? "" : "s");
        return status_hint(STATUS_DATA, options->target
                                            ? "--target-file FILE gives many translations"
                                            : "a sentence and its translation have the same line number");
    }
    return STATUS_OK;
}

static Status check_choice(const HeatmapOptions *options, const Seq2Seq *model) {
    static const char *const KINDS[] = {[SELF_NONE] = "cross-attention",
                                        [SELF_DECODER] = "self-attention of the decoder",
                                        [SELF_ENCODER] = "self-attention of the encoder"};
    int layers, heads;
    if (options->self) {
        TRY(self_attention_check(model, (SelfSide)options->self, &layers, &heads));
    } else {
        TRY(seq2seq_check_attention(model));
        seq2seq_attentions(model, &layers, &heads);
    }
    if (options->layer <= layers && options->head <= heads) return STATUS_OK;
    bool layer = options->layer > layers;
    status_fail(STATUS_USAGE, "no %s %d: the %s has %d layer%s with %d head%s", layer ? "layer" : "head",
                layer ? options->layer : options->head, KINDS[options->self], layers, layers > 1 ? "s" : "",
                heads, heads > 1 ? "s" : "");
    return status_hint(STATUS_USAGE, "layers and heads count from 1; 0 shows the mean of all");
}

static Status heatmap(const HeatmapOptions *options, const HeatmapFiles *files,
                      TranslatorOptions *translating, const Ensemble *models, const char *sentence) {
    LineWindow lines = {0}, targets = {0};
    HeatmapCounts counts = {0};
    bool pictures = false;
    translating->search.n_best = 1;
    translating->search.attention = !options->self;
    translating->search.choice = choice_of(options);
    TRY(check_choice(options, models->items[0]));
    if (files->selected[HEATMAP_JSON]) TRY(model_require_left_to_right(models->items[0], "--format json"));
    Status status = read_sentences(options, sentence, &lines, &targets);
    if (status == STATUS_OK) status = heatmap_files_check(files, lines.count);
    for (int f = 0; f < HEATMAP_FORMAT_COUNT; f++) pictures |= files->selected[f] && f != HEATMAP_HTML;
    if (status == STATUS_OK && files->selected[HEATMAP_HTML])
        status = write_page(options, translating, models, files, &lines, &targets, pictures ? NULL : &counts);
    if (status == STATUS_OK && pictures)
        status = write_heatmaps(options, translating, models, files, &lines, &targets, &counts);
    if (status == STATUS_OK && !options->quiet && counts.translated == 0)
        log_warn("no line contains text: there is nothing to show");
    if (status == STATUS_OK && !options->quiet) unknown_text_report(&counts.unknown, models->items[0]);
    unknown_text_free(&counts.unknown);
    line_window_free(&lines);
    line_window_free(&targets);
    return status;
}

Status cmd_heatmap(int argc, char **argv) {
    HeatmapOptions options = {0};
    HeatmapFiles files;
    TranslatorOptions translating = {.translate_symbols = true,
                                     .read_unknown = true}; /* to show what models do */
    Ensemble models = {0};
    OptionTable tables[] = {{HEATMAP_OPTIONS, &options}, {DECODE_OPTIONS, &translating.search.decode}, {0}};
    StrList words;
    UserOptions user_options = {0};
    HelpKind help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, &words, &help, &user_options);
    if (options.output && strcmp(options.output, "-") == 0) {
        mem_free(options.output);
        options.output = NULL;
    }
    if (status == STATUS_OK && !help) status = choose_formats(&options, &user_options, &files);
    if (status == STATUS_OK && help) {
        status = command_print_help(&TEXT, tables, help);
    } else if (status == STATUS_OK && words.count > 1) {
        status = status_fail(STATUS_USAGE, "more than one sentence given");
        status_hint(status, "put the sentence in quotes, or give many sentences on standard input");
    } else if (status == STATUS_OK) {
        options.subwords = option_is_given(&user_options, "level") && options.level == ALIGNMENT_SUBWORD;
        status = model_choice(&options.models, options.languages, options.quiet, &translating.target_language,
                              NULL);
        if (status == STATUS_OK) status = ensemble_load(&models, &options.models, WEIGHT_FLOAT32, false);
        if (status == STATUS_OK) {
            ensemble_apply_defaults(&models, &user_options, &translating.search.decode);
            status = heatmap(&options, &files, &translating, &models, words.count ? words.items[0] : NULL);
        }
    }
    mem_free(words.items);
    mem_free(user_options.rows);
    mem_free(translating.target_language);
    ensemble_free(&models);
    options_free(tables);
    return status;
}
