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
#include "decode/translator.h"
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

/* clang-format off */
static const Option TRANSLATE_OPTIONS[] = {
    {.flag = "model", .alias = "models", .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "FILE",
     .help = "model to translate with; several vote", .group = "Input and output"},
    {.flag = "input", .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE",
     .help = "text to translate, one sentence a line, .gz too; default: standard input"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .fallback = "-", .arg = "FILE",
     .help = "where translations go; a file is replaced only when all is done"},
    {.flag = "threads", .alias = "cpu-threads", .type = OPT_INT, FIELD(threads), .fallback = "0",
     .max = 1024, .arg = "N", .help = "threads; they decide only the time; 0 = one per core"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .fallback = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "numbers that weights are kept in: fewer bits are faster and take less memory, and can change a "
             "word here and there"},
    {.flag = "quiet", .alias = "quiet-translation", .letter = 'q', .type = OPT_BOOL, FIELD(quiet),
     .fallback = "false", .help = "no warnings, no figures at the end"},
    {.flag = "n-best", .type = OPT_OPTIONAL_INT, FIELD(n_best), .fallback = "0", .bare = "1000000",
     .max = N_BEST_ALL, .arg = "N",
     .help = "print the N best, in Moses format; without N as many as the beam is wide",
     .group = "What is printed"},
    {.flag = "alignment", .type = OPT_STRING, FIELD(alignment), .fallback = "none",
     .choices = "none|hard|soft", .bare = "hard", .arg = "STYLE",
     .help = "add the best source word of each target word (hard), pairs with a weight of at least STYLE if "
             "that is a number, or all attention weights (soft, with those of </s>)"},
    {.flag = "alignment-level", .alias = "level", .type = OPT_CHOICE, FIELD(level), .fallback = "word",
     .choices = ALIGNMENT_LEVELS, .arg = "LEVEL", .help = "align words, or the subwords the model works on"},
    {.flag = "word-scores", .type = OPT_BOOL, FIELD(word_scores), .fallback = "false",
     .help = "add log p of each token and of </s>"},
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .fallback = "false",
     .help = "print one JSON object a line: text, translation, score, tokens, alignment"},
    {.flag = "json-input", .type = OPT_BOOL, FIELD(json_input), .fallback = "false",
     .help = "read objects with a \"text\"; prints JSON, and passes other fields on"},
    {.flag = "attention", .type = OPT_BOOL, FIELD(attention), .fallback = "false",
     .help = "draw the attention weights of each translation on standard error"},
    {.flag = "max-length-crop", .type = OPT_BOOL, FIELD(crop), .fallback = "false",
     .help = "crop lines longer than --max-length instead of translating them in pieces",
     .group = "Long lines"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt translate --model FILE [--model FILE]... [OPTION...] [INPUT...] [> OUTPUT]\n"
    "\n"
    "Translates text, one sentence a line: one line out for each line in. Search options that are not\n"
    "given are the model's own, which may differ from the defaults below. A model may ask for a beam of up\n"
    "to 20, and for translations of up to 5 tokens for each source token and 200 more; you may for more.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  echo \"i'm home .\" | attn-mt translate -m best.safetensors\n"
    "  attn-mt translate -m a.safetensors -m b.safetensors -b 12 test.en > test.fr\n"
    "  attn-mt translate -m best.safetensors --n-best=5 --alignment --word-scores test.en\n";

typedef struct {
    TranslateOptions options;
    TranslatorOptions translating;
    OutputStyle style;
    bool interactive, to_terminal;
    ModelSet models;
    Workers *workers;
    Translator *translator;
    OutFile *output;
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

/* Translate and print the lines of the window. */
static Status translate_window(Session *session, long first_number) {
    const LineWindow *window = &session->window;
    Translation *results = mem_alloc((size_t)window->count, sizeof *results);
    StrBuf out = {0};
    double start = clock_seconds();
    translator_run(session->translator, window->lines, window->count, first_number, results);
    session->seconds += clock_seconds() - start;
    Status status = translator_check(session->translator, &session->options.models);
    for (int i = 0; i < window->count && status == STATUS_OK; i++) {
        if (window->errors[i])
            translate_output_write_error(window->errors[i], &out);
        else
            translate_output_write(&session->style, session->lines + i, window->lines[i],
                                   window->json ? window->raw[i] : (StrView){0}, &results[i], &out);
    }
    session->lines += window->count;
    if (session->to_terminal) log_disarm(out.data, out.length);
    if (status == STATUS_OK) status = file_write(session->output, out.data, out.length);
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
            status = translate_window(session, line_reader_number(reader) - session->window.count + 1);
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

/* What is printed, and what must be found for it. */
static Status choose_output(Session *session) {
    const TranslateOptions *options = &session->options;
    OutputStyle *style = &session->style;
    SearchOptions *search = &session->translating.search;
    int beam = search->decode.beam_size, n_best = options->n_best == N_BEST_ALL ? beam : options->n_best;
    if (n_best > beam) {
        status_fail(STATUS_USAGE, "--n-best=%d needs a beam as wide, but --beam-size is %d", n_best, beam);
        return status_hint(STATUS_USAGE, "add --beam-size %d", n_best);
    }
    *style = (OutputStyle){.json = options->json || options->json_input,
                           .word_scores = options->word_scores,
                           .n_best = n_best,
                           .level = (AlignmentLevel)options->level,
                           .source = seq2seq_source(session->models.items[0]),
                           .target = seq2seq_target(session->models.items[0])};
    TRY(read_alignment(options->alignment, style));
    search->n_best = n_best > 1 ? n_best : 1;
    search->tokens_only = !style->json && !style->word_scores && n_best == 0;
    search->attention = style->alignment != ALIGN_NONE || options->attention;
    search->choice = (AttentionChoice){ATTENTION_MEAN, ATTENTION_MEAN};
    return STATUS_OK;
}

/* Better now than after the files before it. */
static Status check_inputs(const StrList *inputs) {
    for (size_t i = 0; i < inputs->count; i++)
        if (strcmp(inputs->items[i], "-") != 0 && !file_exists(inputs->items[i]))
            return status_fail(STATUS_RUNTIME, "cannot open '%s': %s", inputs->items[i], strerror(errno));
    return STATUS_OK;
}

/* Everything between the command line and the first input line. */
static Status session_begin(Session *session, const OptionsGiven *given) {
    TranslateOptions *options = &session->options;
    DecodeOptions *decode = &session->translating.search.decode;
    TRY(check_inputs(&options->inputs));
    session->interactive = options->inputs.count == 0 && isatty(STDIN_FILENO) == 1;
    if (options->inputs.count == 0) strlist_add(&options->inputs, SV("-"));
    TRY(model_set_load(&session->models, &options->models, (WeightFormat)options->precision));
    model_set_lay_under(&session->models, given, decode);
    TRY(choose_output(session));
    session->translating.crop = options->crop;
    session->translating.quiet = options->quiet;
    session->workers = workers_new(options->threads > 0 ? options->threads : workers_default_count());
    TRY(translator_new(&session->translator, model_set_items(&session->models), session->models.count,
                       &session->translating, session->workers));
    session->window.json = options->json_input;
    session->window.most_lines =
        decode->maxi_batch < 1000000 / decode->mini_batch ? decode->mini_batch * decode->maxi_batch : 1000000;
    if (session->interactive) session->window.most_lines = 1;
    OutFile *output;
    TRY(file_create(&output, options->output));
    session->output = output;
    session->to_terminal = strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO) == 1;
    if (session->interactive) log_info("one sentence a line; Ctrl-D ends");
    return STATUS_OK;
}

/* After the last input line. `status`: how it went. */
static Status session_end(Session *session, Status status) {
    if (session->interactive) fputs("\n", stderr);
    if (status == STATUS_OK) report(session);
    if (status == STATUS_OK)
        status = file_commit(session->output);
    else
        file_discard(session->output);
    long bad = session->window.unreadable;
    if (status == STATUS_OK && bad)
        status =
            status_fail(STATUS_DATA, "%ld line%s not JSON with a \"text\"", bad, bad == 1 ? " is" : "s are");
    return status;
}

Status cmd_translate(int argc, char **argv) {
    Session session = {0};
    StrList files, *inputs = &session.options.inputs;
    OptionsGiven given = {0};
    OptionTable tables[] = {
        {TRANSLATE_OPTIONS, &session.options}, {DECODE_OPTIONS, &session.translating.search.decode}, {0}};
    bool help;
    options_defaults(tables);
    Status status = options_parse_given(tables, argc, argv, &files, &help, &given);
    for (size_t i = 0; i < files.count; i++) strlist_add(inputs, sv(files.items[i]));
    if (status == STATUS_OK && help) {
        status = command_print_help(USAGE, tables, EXAMPLES);
    } else if (status == STATUS_OK) {
        status = session_begin(&session, &given);
        for (size_t i = 0; i < inputs->count && status == STATUS_OK; i++)
            status = translate_file(&session, inputs->items[i]);
        if (session.output) status = session_end(&session, status);
    }
    translator_free(session.translator);
    workers_free(session.workers);
    model_set_free(&session.models);
    line_window_free(&session.window);
    mem_free(files.items);
    mem_free(given.rows);
    options_free(tables);
    return status;
}
