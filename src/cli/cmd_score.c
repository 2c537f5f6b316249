/* cmd_score.c - attn-mt score: how probable given translations are. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/pair_window.h"
#include "cli/score_heads.h"
#include "cli/score_output.h"
#include "decode/translator.h"

typedef struct {
    StrList models;
    char *output, *n_best, *feature;
    int threads, precision, mini_batch, max_length;
    double length_penalty, keep_above;
    bool left_to_right, per_token, per_word, heads, json, quiet;
} ScoreOptions;

#define FIELD(member) OPT_FIELD(ScoreOptions, member)

/* clang-format off */
static const Option SCORE_OPTIONS[] = {
    {.flag = "model", .alias = "models", .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "FILE",
     .help = "model to score with; several vote", .group = "Input and output"},
    {.flag = "output", .letter = 'o', .type = OPT_STRING, FIELD(output), .fallback = "-", .arg = "FILE",
     .help = "where scores go; a file is replaced only when all is done"},
    {.flag = "n-best", .type = OPT_STRING, FIELD(n_best), .arg = "FILE",
     .help = "score an n-best list in Moses format, whose numbers count the lines of SOURCE from 0: prints "
             "the list with one more feature"},
    {.flag = "n-best-feature", .type = OPT_STRING, FIELD(feature), .fallback = "Score", .needs = "n-best",
     .arg = "NAME",
     .help = "name of that feature"},
    {.flag = "threads", .alias = "cpu-threads", .type = OPT_INT, FIELD(threads), .fallback = "0",
     .max = 1024, .arg = "N", .help = "threads; they decide only the time; 0 = one per core"},
    {.flag = "mini-batch", .type = OPT_INT, FIELD(mini_batch), .fallback = "32", .min = 1, .max = 100000,
     .arg = "N", .help = "pairs scored together"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .fallback = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "numbers that weights are kept in; files of attn-mt convert keep their own"},
    {.flag = "left-to-right", .type = OPT_BOOL, FIELD(left_to_right), .fallback = "false",
     .help = "of a model of two decoders the first alone says it, as in translate; the model may ask for it"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, FIELD(quiet), .fallback = "false",
     .help = "no warnings, no summary at the end"},
    {.flag = "per-token", .type = OPT_BOOL, FIELD(per_token), .fallback = "false",
     .help = "add log p of each token and of </s>", .group = "What is printed"},
    {.flag = "per-word", .alias = "word-scores", .type = OPT_BOOL, FIELD(per_word), .fallback = "false",
     .help = "add log p of each word, the sum of its tokens, and of </s>"},
    {.flag = "normalize", .alias = "length-penalty", .letter = 'n', .type = OPT_REAL,
     FIELD(length_penalty), .fallback = "1", .max = 10, .bare = "1", .arg = "ALPHA",
     .help = "the second score is log p / length^ALPHA; the length counts </s>"},
    {.flag = "keep-above", .type = OPT_REAL, FIELD(keep_above), .arg = "X",
     .help = "print the pairs themselves, only those whose normalized score is above X and neither side "
             "empty"},
    {.flag = "max-length", .type = OPT_INT, FIELD(max_length), .fallback = "1000", .max = 100000,
     .needs = "keep-above", .arg = "N",
     .help = "with --keep-above: leave out pairs with more than N tokens on a side, which would take long; "
             "0 = none"},
    {.flag = "heads", .type = OPT_BOOL, FIELD(heads), .fallback = "false",
     .help = "print instead what each attention head of a Transformer is worth: log p per token of all pairs "
             "without it"},
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .fallback = "false",
     .help = "print one JSON object a line: source, target, score, normalized_score, tokens"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt score --model FILE [OPTION...] SOURCE TARGET [> SCORES]\n"
    "       attn-mt score --model FILE [OPTION...] [PAIRS]\n"
    "       attn-mt score --model FILE [OPTION...] --n-best LIST SOURCE\n"
    "\n"
    "Scores translations: two files, line by line, or one of pairs with a TAB between\n"
    "them (standard input), the first line of which may name the columns. One line\n"
    "out for each pair: log p, a TAB, log p by length. An empty translation of an\n"
    "empty source is certain (0), any other impossible (-inf).\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt score -m best.safetensors test.en test.fr > scores\n"
    "  attn-mt score -m best.safetensors --keep-above -3 noisy.tsv > clean.tsv\n"
    "  attn-mt score -m transformer.safetensors --heads valid.tsv | sort -g -k 4\n"
    "  attn-mt score -m other.safetensors --n-best test.nbest test.en > rescored.nbest\n";

enum { WINDOW_BATCHES = 50, WINDOW_MOST = 10000 };

typedef struct {
    ScoreOptions options;
    bool filter, direction_given; /* --keep-above, --left-to-right */
    bool interactive;
    ModelSet models;
    Workers *workers;
    Translator *translator;
    HeadScores *heads; /* --heads, else NULL */
    OutFile *output;
    PairWindow window;
    ScoreStyle style;
    /* What the summary says. */
    long scored, empty, too_long, kept, steps;
    double sum, seconds;
} Session;

static void write_pair(Session *session, const Pair *pair, const Translation *translation, StrBuf *out) {
    PairScore score = pair_score(pair, translation);
    bool empty = translation->pieces == 0 || sv_trim(pair->target).length == 0;
    session->scored++;
    if (translation->pieces > 0) {
        session->sum += score.score;
        session->steps += score.item->steps;
    }
    session->empty += empty;
    if (session->heads) return;
    if (session->filter) {
        if (empty || !(score.normalized > session->options.keep_above)) return;
        session->kept++;
    }
    if (session->options.json) {
        score_write_json(&session->style, pair, score, out);
    } else if (session->filter) {
        strbuf_add(out, pair->raw);
        strbuf_add_char(out, '\n');
    } else if (session->window.n_best) {
        score_write_n_best(&session->style, pair, score, out);
    } else {
        score_write_plain(&session->style, score, out);
    }
}

static Status score_pairs(Session *session) {
    size_t count = (size_t)session->window.count;
    Translation *results = mem_alloc(count, sizeof *results);
    StrView *sources = mem_alloc(count, sizeof *sources), *targets = mem_alloc(count, sizeof *targets);
    StrBuf out = {0};
    for (size_t i = 0; i < count; i++) {
        sources[i] = session->window.pairs[i].source;
        targets[i] = session->window.pairs[i].target;
    }
    double start = clock_seconds();
    translator_force(session->translator, sources, targets, session->window.count, results);
    if (session->heads)
        head_scores_add(session->heads, session->translator, sources, targets, session->window.count);
    session->seconds += clock_seconds() - start;
    for (size_t i = 0; i < count; i++) {
        write_pair(session, &session->window.pairs[i], &results[i], &out);
        translation_free(&results[i]);
    }
    Status status = translator_check(session->translator, &session->options.models);
    if (status == STATUS_OK) status = file_write(session->output, out.data, out.length);
    if (status == STATUS_OK) status = file_flush(session->output);
    mem_free(results);
    mem_free(sources);
    mem_free(targets);
    strbuf_free(&out);
    return status;
}

static bool is_longer(StrView text, Segmenter *segmenter, int most) {
    if (text.length <= (size_t)most) return false; /* hardly a token is less than a byte */
    IdList ids = {0};
    segmenter_encode(segmenter, text, &ids);
    bool longer = ids.count > (size_t)most;
    id_list_free(&ids);
    return longer;
}

/* A filter must not wait for lines that are no sentences. */
static void drop_long_pairs(Session *session) {
    const Seq2Seq *model = session->models.items[0];
    PairWindow *window = &session->window;
    int most = session->options.max_length, kept = 0;
    for (int i = 0; i < window->count; i++) {
        const Pair *pair = &window->pairs[i];
        if (is_longer(pair->source, seq2seq_source(model), most) ||
            is_longer(pair->target, seq2seq_target(model), most))
            session->too_long++;
        else
            window->pairs[kept++] = *pair;
    }
    window->count = kept;
}

/* Nobody is kept from scoring other languages than the model's. */
static void say_columns(const Session *session) {
    const PairWindow *window = &session->window;
    const LanguageColumns *named = &window->named;
    StrView source = window->source_language, target = window->target_language;
    bool swapped = window->source_column > window->target_column;
    if (session->options.quiet) return;
    command_say_columns(named, line_reader_path(window->reader));
    if (swapped || !languages_differ(source, target, named->first_name, named->second_name)) return;
    log_warn("'%s' translates from %.*s to %.*s, these pairs are from %.*s to %.*s",
             session->options.models.items[0], SV_ARG(source), SV_ARG(target), SV_ARG(named->first_name),
             SV_ARG(named->second_name));
}

/* The names of the languages stay with the pairs, or name the columns of the scores. */
static Status write_header(Session *session) {
    StrView header = strbuf_view(&session->window.header);
    if (header.length == 0) return STATUS_OK;
    say_columns(session);
    if (session->options.json || session->heads) return STATUS_OK;
    if (!session->filter) header = SV("log_p\tnormalized");
    TRY(file_write(session->output, header.data, header.length));
    return file_write(session->output, "\n", 1);
}

static Status write_heads(const Session *session) {
    StrBuf table = {0};
    head_scores_write(session->heads, session->sum, session->steps, &table);
    Status status = file_write(session->output, table.data, table.length);
    strbuf_free(&table);
    return status;
}

static void report(const Session *session) {
    char pairs[32], time[32];
    const ScoreOptions *options = &session->options;
    if (options->quiet) return;
    command_warn_repaired(session->window.repaired, session->window.first_repaired);
    if (session->empty > 0)
        log_warn("%ld pair%s with an empty side", session->empty, session->empty == 1 ? "" : "s");
    if (session->too_long > 0)
        log_warn("%ld pair%s with more than %d tokens on a side left out", session->too_long,
                 session->too_long == 1 ? "" : "s", options->max_length);
    if (session->window.passed_over > 0)
        log_warn("%ld line%s without a TAB left out, the first is line %ld", session->window.passed_over,
                 session->window.passed_over == 1 ? "" : "s", session->window.first_passed_over);
    if (session->filter)
        log_info("kept %ld of %ld pairs: normalized score above %g", session->kept,
                 session->scored + session->too_long, options->keep_above);
    if (session->steps == 0) return;
    double mean = session->sum / (double)session->steps;
    log_info("scored %s pair%s in %s: log p %.6g, per token %.4f, perplexity %.4g",
             str_count(session->scored, pairs), session->scored == 1 ? "" : "s",
             str_duration(session->seconds, time), session->sum, mean, exp(-mean));
}

/* ---- the command ---- */

static Status open_input(Session *session, const StrList *files) {
    const char *list = session->options.n_best, *first = files->count > 0 ? files->items[0] : "-";
    if (files->count > (list ? 1 : 2)) {
        status_fail(STATUS_USAGE, "more files than %s", list ? "one source" : "a source and a target");
        return status_hint(STATUS_USAGE, "attn-mt score --help shows what files are read");
    }
    if (list && files->count == 0) {
        status_fail(STATUS_USAGE, "--n-best needs the source that the list is of");
        return status_hint(STATUS_USAGE, "attn-mt score --model FILE --n-best LIST SOURCE");
    }
    if (list && session->filter)
        return status_fail(STATUS_USAGE, "--keep-above filters pairs, not n-best lists");
    if ((session->filter || list) && !session->options.json &&
        (session->options.per_token || session->options.per_word)) {
        status_fail(STATUS_USAGE, list ? "--n-best prints the list with one score more"
                                       : "--keep-above prints pairs as they are, without scores");
        return status_hint(STATUS_USAGE, "--json prints them with the scores of tokens or words");
    }
    const char *second = list ? list : files->count == 2 ? files->items[1] : NULL;
    if (second && strcmp(first, "-") == 0 && strcmp(second, "-") == 0)
        return status_fail(STATUS_USAGE, "standard input cannot be read twice");
    if (list) return pair_window_open_n_best(&session->window, first, list);
    if (second) return pair_window_open_two(&session->window, first, second);
    session->interactive = files->count == 0 && isatty(STDIN_FILENO) == 1;
    if (session->interactive) log_info("one pair a line, SOURCE TAB TARGET; Ctrl-D ends");
    return pair_window_open(&session->window, first);
}

/* A head is left out of weights that are floats, and of one model. */
static Status check_heads(const Session *session) {
    const ScoreOptions *options = &session->options;
    if (options->models.count > 1) return status_fail(STATUS_USAGE, "--heads is about one model");
    if (options->precision != FORMAT_FLOAT32)
        return status_fail(STATUS_USAGE, "--heads computes with --precision float32");
    if (options->n_best || session->filter || options->json || options->per_token || options->per_word)
        return status_fail(STATUS_USAGE, "--heads prints a table of heads, not of pairs: it goes without "
                                         "--n-best, --keep-above, --json, --per-token and --per-word");
    return STATUS_OK;
}

static Status load_models(Session *session) {
    const ScoreOptions *options = &session->options;
    if (!options->heads || options->models.count == 0)
        return model_set_load(&session->models, &options->models, (WeightFormat)options->precision);
    TRY(check_heads(session));
    TRY(model_set_load_floats(&session->models, &options->models));
    return head_scores_new(&session->heads, session->models.items[0]);
}

/* Readers of n-best lists look for "NAME= VALUE" between white space, and for "|||" before that. */
static Status check_feature(const char *name) {
    StrView rest = sv(name), word;
    bool one_word = unicode_next_word(&rest, &word) && word.length == strlen(name);
    if (one_word && !strstr(name, "|||")) return STATUS_OK;
    status_fail(STATUS_USAGE, "option '--n-best-feature': '%s' is no name of a feature", name);
    return status_hint(STATUS_USAGE, "one word without ||| in it, such as LM");
}

static Status session_begin(Session *session, const StrList *files) {
    const ScoreOptions *options = &session->options;
    TranslatorOptions scoring = {.search = {.n_best = 1}};
    TRY(check_feature(options->feature));
    TRY(command_spare_all(options->output, &options->models));
    TRY(command_spare_all(options->output, files));
    if (files->count == 0) TRY(command_spare(options->output, "-"));
    TRY(command_spare(options->output, options->n_best));
    TRY(load_models(session));
    session->window.filters = session->filter;
    session->window.source_language = strbuf_view(&session->models.source_language);
    session->window.target_language = strbuf_view(&session->models.target_language);
    session->window.most = options->mini_batch < WINDOW_MOST / WINDOW_BATCHES
                               ? options->mini_batch * WINDOW_BATCHES
                               : WINDOW_MOST;
    session->style = (ScoreStyle){.target = seq2seq_target(session->models.items[0]),
                                  .feature = options->n_best ? options->feature : NULL,
                                  .per_token = options->per_token,
                                  .per_word = options->per_word};
    TRY(open_input(session, files));
    const DecodeOptions *wanted = &seq2seq_config(session->models.items[0])->decode;
    scoring.search.decode = (DecodeOptions){
        .beam_size = 1,
        .mini_batch = options->mini_batch,
        .length_penalty = options->length_penalty,
        .left_to_right = session->direction_given ? options->left_to_right : wanted->left_to_right};
    session->workers = workers_new(options->threads > 0 ? options->threads : workers_default_count());
    TRY(translator_new(&session->translator, model_set_items(&session->models), session->models.count,
                       &scoring, session->workers));
    return file_create(&session->output, options->output);
}

static Status session_run(Session *session) {
    const ScoreOptions *options = &session->options;
    ProgressLine progress =
        command_progress_begin("pairs", options->output, options->quiet || session->interactive);
    Status status = STATUS_OK;
    for (bool more = true, first = true; more && status == STATUS_OK; first = false) {
        status = pair_window_read(&session->window, &more);
        if (status == STATUS_OK && first) status = write_header(session);
        if (status == STATUS_OK && session->filter && options->max_length > 0) drop_long_pairs(session);
        if (status == STATUS_OK && session->window.count > 0) status = score_pairs(session);
        if (status == STATUS_OK)
            progress_line_count(&progress, (double)(session->scored + session->too_long),
                                pair_window_share(&session->window));
    }
    log_progress_end();
    if (status == STATUS_OK && session->heads) status = write_heads(session);
    if (status == STATUS_OK) {
        report(session);
        return file_commit(session->output);
    }
    file_discard(session->output);
    return status;
}

static void session_free(Session *session) {
    translator_free(session->translator);
    head_scores_free(session->heads);
    workers_free(session->workers);
    model_set_free(&session->models);
    pair_window_free(&session->window);
}

Status cmd_score(int argc, char **argv) {
    Session session = {0};
    OptionTable tables[] = {{SCORE_OPTIONS, &session.options}, {0}};
    StrList files;
    OptionsGiven given = {0};
    bool help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, &files, &help, &given);
    session.filter = options_given(&given, "keep-above");
    session.direction_given = options_given(&given, "left-to-right");
    if (status == STATUS_OK && help) {
        status = command_print_help(USAGE, tables, EXAMPLES);
    } else if (status == STATUS_OK) {
        status = session_begin(&session, &files);
        if (status == STATUS_OK) status = session_run(&session);
    }
    session_free(&session);
    mem_free(files.items);
    mem_free(given.rows);
    options_free(tables);
    return status;
}
