/* cmd_translate.c - attn-mt translate: lines in, lines out, always in order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/line_window.h"
#include "cli/translate_output.h"
#include "viz/heatmap.h"

typedef struct {
    StrList models, inputs;
    char *output;
    int threads, precision;
    int n_best; /* 0: off; N_BEST_ALL: as many as the beam is wide */
    char *alignment;
    int level;
    bool word_scores, json, json_input, crop, attention, quiet;
} TranslateOptions;

enum { N_BEST_ALL = 1000000 };

#define FIELD(member) OPT_FIELD(TranslateOptions, member)

/* One row, two lines: what it is, and its help. */
/* clang-format off */
static const Option TRANSLATE_OPTIONS[] = {
    {.flag = "model", .alias = "models", .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "FILE",
     .help = "model to translate with; several vote", .group = "Input and output"},
    {.flag = "input", .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE",
     .help = "text to translate, one sentence a line, .gz too; default: standard input"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .fallback = "-", .arg = "FILE",
     .help = "where translations go; a file is replaced only when all is done"},
    {.flag = "threads", .alias = "cpu-threads", .type = OPT_INT, FIELD(threads), .fallback = "0", .max = 1024, .arg = "N",
     .help = "threads; they decide only the time; 0 = one per core"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .fallback = "float32", .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "numbers that weights are kept in: fewer bits are faster and take less memory, and can change a word here and there"},
    {.flag = "quiet", .alias = "quiet-translation", .letter = 'q', .type = OPT_BOOL, FIELD(quiet), .fallback = "false",
     .help = "no warnings, no figures at the end"},
    {.flag = "n-best", .type = OPT_OPTIONAL_INT, FIELD(n_best), .fallback = "0", .bare = "1000000", .max = N_BEST_ALL, .arg = "N",
     .help = "print the N best, in Moses format; without N as many as the beam is wide", .group = "What is printed"},
    {.flag = "alignment", .type = OPT_STRING, FIELD(alignment), .fallback = "none", .choices = "none|hard|soft", .bare = "hard", .arg = "STYLE",
     .help = "add the best source word of each target word (hard), pairs with a weight of at least STYLE if that is a number, or all attention weights (soft, with those of </s>)"},
    {.flag = "alignment-level", .alias = "level", .type = OPT_CHOICE, FIELD(level), .fallback = "word", .choices = ALIGNMENT_LEVELS, .arg = "LEVEL",
     .help = "align words, or the subwords the model works on"},
    {.flag = "word-scores", .type = OPT_BOOL, FIELD(word_scores), .fallback = "false",
     .help = "add log p of each token and of </s>"},
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .fallback = "false",
     .help = "print one JSON object a line: text, translation, score, tokens, alignment"},
    {.flag = "json-input", .type = OPT_BOOL, FIELD(json_input), .fallback = "false",
     .help = "read objects with a \"text\"; prints JSON, and passes other fields on"},
    {.flag = "attention", .type = OPT_BOOL, FIELD(attention), .fallback = "false",
     .help = "draw the attention weights of each translation on standard error"},
    {.flag = "max-length-crop", .type = OPT_BOOL, FIELD(crop), .fallback = "false",
     .help = "crop lines longer than --max-length instead of translating them in pieces", .group = "Long lines"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt translate --model FILE [--model FILE]... [OPTION...] [INPUT...] [> OUTPUT]\n"
    "\n"
    "Translates text, one sentence a line: one line out for each line in. Search options that are not\n"
    "given are the model's own, which may differ from the defaults below.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  echo \"i'm home .\" | attn-mt translate -m best.safetensors\n"
    "  attn-mt translate -m a.safetensors -m b.safetensors -b 12 test.en > test.fr\n"
    "  attn-mt translate -m best.safetensors --n-best=5 --alignment --word-scores test.en\n";

typedef struct {
    TranslateOptions options;
    ModelSet models;
    Workers *workers;
    Translator *translator;
    OutputStyle style;
    OutFile *output;
    bool interactive;
    LineWindow window;
    long lines; /* so far, over all inputs */
    double seconds;
} Session;

static void show_attention(const Session *session, const Translation *translation) {
    Alignment alignment;
    StrBuf picture = {0};
    if (translation->pieces == 0) return;
    alignment_make(&alignment, translation, 0, (AlignmentLevel)session->options.level, session->style.source,
                   session->style.target);
    Heatmap map = {.rows = alignment.rows,
                   .columns = alignment.columns,
                   .row_labels = (const char *const *)alignment.row_labels,
                   .column_labels = (const char *const *)alignment.column_labels,
                   .weights = alignment.weights};
    heatmap_write_text(&map, log_terminal_width(STDERR_FILENO), log_may_colour(STDERR_FILENO), &picture);
    fwrite(strbuf_text(&picture), 1, picture.length, stderr);
    strbuf_free(&picture);
    alignment_free(&alignment);
}

static Status window_translate(Session *session, long first_number) {
    const LineWindow *window = &session->window;
    Translation *results = mem_alloc((size_t)window->count, sizeof *results);
    StrBuf out = {0};
    double start = clock_seconds();
    translator_run(session->translator, window->lines, window->count, first_number, results);
    session->seconds += clock_seconds() - start;
    for (int i = 0; i < window->count; i++) {
        if (window->errors[i])
            translate_output_write_error(window->errors[i], &out);
        else
            translate_output_write(&session->style, session->lines + i, window->lines[i],
                                   window->json ? window->raw[i] : (StrView){0}, &results[i], &out);
    }
    session->lines += window->count;
    Status status = file_write(session->output, out.data, out.length);
    if (status == STATUS_OK) status = file_flush(session->output);
    for (int i = 0; i < window->count; i++) {
        if (session->options.attention && status == STATUS_OK) show_attention(session, &results[i]);
        translation_free(&results[i]);
    }
    mem_free(results);
    strbuf_free(&out);
    return status;
}

static void prompt(const Session *session) {
    if (session->interactive) fputs("> ", stderr);
}

static void show_progress(const Session *session) {
    char lines[32];
    if (session->interactive || session->options.quiet || isatty(STDOUT_FILENO)) return;
    log_progress("%s lines, %.1f lines/s", str_count(session->lines, lines),
                 (double)session->lines / (session->seconds > 0 ? session->seconds : 1));
}

static Status translate_file(Session *session, const char *path) {
    LineReader *reader;
    TRY(line_reader_open(&reader, path));
    Status status = STATUS_OK;
    for (bool more = true; more && status == STATUS_OK;) {
        prompt(session);
        status = line_window_read(&session->window, reader, &more);
        if (status == STATUS_OK && session->window.count > 0)
            status = window_translate(session, line_reader_number(reader) - session->window.count + 1);
        if (status == STATUS_OK) show_progress(session);
    }
    log_progress_end();
    line_reader_close(reader);
    return status;
}

static void report(const Session *session) {
    char lines[32], tokens[32], time[32];
    if (session->window.repaired > 0 && !session->options.quiet)
        log_warn("bytes that are no text (invalid UTF-8 or NUL) in %ld line%s, the first is line %ld: read "
                 "as U+FFFD",
                 session->window.repaired, session->window.repaired == 1 ? "" : "s",
                 session->window.first_repaired);
    if (session->options.quiet || session->interactive || session->seconds < 1) return;
    double count = (double)translator_tokens(session->translator);
    log_info("translated %s line%s in %s: %.1f sentences/s, %s target tokens/s",
             str_count(session->lines, lines), session->lines == 1 ? "" : "s",
             str_duration(session->seconds, time), (double)session->lines / session->seconds,
             str_count((long long)(count / session->seconds), tokens));
}

static Status session_run(Session *session) {
    const StrList *inputs = &session->options.inputs;
    if (session->interactive) log_info("one sentence a line; Ctrl-D ends");
    Status status = STATUS_OK;
    if (inputs->count == 0) status = translate_file(session, "-");
    for (size_t i = 0; i < inputs->count && status == STATUS_OK; i++)
        status = translate_file(session, inputs->items[i]);
    if (session->interactive) fputs("\n", stderr);
    if (status == STATUS_OK) report(session);
    return status;
}

/* "none", "hard", "soft", or the least weight of a pair. */
static Status read_alignment(const char *text, OutputStyle *style) {
    char *end;
    double number = strtod(text, &end);
    if (strcmp(text, "none") == 0) {
        style->alignment = ALIGN_NONE;
    } else if (strcmp(text, "soft") == 0) {
        style->alignment = ALIGN_SOFT;
    } else if (strcmp(text, "hard") == 0) {
        style->alignment = ALIGN_HARD;
    } else if (end > text && !*end && number > 0 && number <= 1) {
        style->alignment = ALIGN_HARD;
        style->threshold = number;
    } else {
        status_fail(STATUS_USAGE, "option '--alignment': '%s' is not none, hard, soft or a weight up to 1",
                    text);
        return status_hint(STATUS_USAGE,
                           "options with optional values take them behind '=': --alignment=0.2");
    }
    return STATUS_OK;
}

/* Everything between the command line and the first input line. */
static Status session_begin(Session *session, const DecodeOptions *decode) {
    TranslateOptions *options = &session->options;
    if (options->json_input) options->json = true;
    session->interactive = options->inputs.count == 0 && isatty(STDIN_FILENO) == 1;
    int n_best = options->n_best == N_BEST_ALL ? decode->beam_size : options->n_best;
    if (n_best > decode->beam_size) {
        status_fail(STATUS_USAGE, "--n-best=%d needs a beam as wide, but --beam-size is %d", n_best,
                    decode->beam_size);
        return status_hint(STATUS_USAGE, "add --beam-size %d", n_best);
    }
    session->style = (OutputStyle){.json = options->json,
                                   .word_scores = options->word_scores,
                                   .n_best = n_best,
                                   .level = (AlignmentLevel)options->level,
                                   .source = seq2seq_source(session->models.items[0]),
                                   .target = seq2seq_target(session->models.items[0])};
    TRY(read_alignment(options->alignment, &session->style));
    TranslatorOptions translator = {.decode = *decode,
                                    .n_best = n_best > 1 ? n_best : 1,
                                    .tokens_only = !options->json && !options->word_scores && n_best == 0,
                                    .attention = session->style.alignment != ALIGN_NONE || options->attention,
                                    .choice = {ATTENTION_MEAN, ATTENTION_MEAN},
                                    .crop = options->crop,
                                    .quiet = options->quiet};
    session->workers = workers_new(options->threads > 0 ? options->threads : workers_default_count());
    TRY(translator_new(&session->translator, model_set_items(&session->models), session->models.count,
                       &translator, session->workers));
    session->window.json = options->json_input;
    session->window.most_lines =
        decode->maxi_batch < 1000000 / decode->mini_batch ? decode->mini_batch * decode->maxi_batch : 1000000;
    if (session->interactive) session->window.most_lines = 1;
    return STATUS_OK;
}

/* Better now than after the files before it. */
static Status check_inputs(const StrList *inputs) {
    for (size_t i = 0; i < inputs->count; i++)
        if (strcmp(inputs->items[i], "-") != 0 && !file_exists(inputs->items[i]))
            return status_fail(STATUS_RUNTIME, "cannot open '%s': %s", inputs->items[i], strerror(errno));
    return STATUS_OK;
}

/* Parse the command line into the session, over the values that are already in `decode`. */
static Status parse(Session *session, DecodeOptions *decode, int argc, char **argv, bool *help) {
    OptionTable tables[] = {{TRANSLATE_OPTIONS, &session->options}, {DECODE_OPTIONS, decode}, {0}};
    OptionTable own[] = {{TRANSLATE_OPTIONS, &session->options}, {0}};
    StrList files;
    options_free(own);
    options_defaults(own);
    Status status = options_parse(tables, argc, argv, false, &files, help);
    StrList *inputs = &session->options.inputs;
    if (status == STATUS_OK && files.count > 0) {
        inputs->items = mem_realloc(inputs->items, inputs->count + files.count, sizeof *inputs->items);
        for (size_t i = 0; i < files.count; i++) inputs->items[inputs->count++] = mem_strdup(files.items[i]);
    }
    mem_free(files.items);
    if (status == STATUS_OK && *help) status = command_print_help(USAGE, tables, EXAMPLES);
    return status;
}

/* All of the work, with the options of a first look at the command line. */
static Status translate(Session *session, DecodeOptions *decode, int argc, char **argv) {
    bool help;
    TRY(check_inputs(&session->options.inputs));
    TRY(model_set_load(&session->models, &session->options.models, (WeightFormat)session->options.precision));
    /* Once more, now over the model's own search options. */
    *decode = seq2seq_config(session->models.items[0])->decode;
    TRY(parse(session, decode, argc, argv, &help));
    TRY(session_begin(session, decode));
    OutFile *output;
    TRY(file_create(&output, session->options.output));
    session->output = output;
    Status status = session_run(session);
    if (status != STATUS_OK) {
        file_discard(output);
        return status;
    }
    TRY(file_commit(output));
    long bad = session->window.unreadable;
    return bad ? status_fail(STATUS_DATA, "%ld line%s not JSON with a \"text\"", bad,
                             bad == 1 ? " is" : "s are")
               : STATUS_OK;
}

Status cmd_translate(int argc, char **argv) {
    Session session = {0};
    DecodeOptions decode;
    bool help = false;
    OptionTable search[] = {{DECODE_OPTIONS, &decode}, {0}};
    options_defaults(search);
    Status status = parse(&session, &decode, argc, argv, &help);
    if (status == STATUS_OK && !help) status = translate(&session, &decode, argc, argv);
    translator_free(session.translator);
    workers_free(session.workers);
    model_set_free(&session.models);
    line_window_free(&session.window);
    OptionTable own[] = {{TRANSLATE_OPTIONS, &session.options}, {0}};
    options_free(own);
    return status;
}
