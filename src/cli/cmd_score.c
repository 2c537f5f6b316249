/* cmd_score.c - attn-mt score: scores given translations. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "io/fileio.h"
#include "io/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "cli/model_choice.h"
#include "data/pair_window.h"
#include "text/languages.h"
#include "search/ensemble.h"
#include "tokenizer/tokenizer.h"
#include "translate/translator.h"

typedef struct {
    StrList models;
    char *output, *n_best, *feature;
    int threads, precision, mini_batch, max_length;
    double length_penalty, keep_above;
    bool left_to_right, per_token, per_word, json, quiet;
} ScoreOptions;

#define FIELD(member) OPT_FIELD(ScoreOptions, member)

/* clang-format off */
static const Option SCORE_OPTIONS[] = {
    {.flag = "model", .common = true, .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "MODEL",
     .help = "model to score with: a name in 'attn-mt models', a file, or the folder of a run; several "
             "models form an ensemble",
     .group = "Input and output"},
    {.flag = "output", .common = true, .letter = 'o', .type = OPT_STRING, FIELD(output), .default_text = "-",
     .arg = "FILE",
     .help = "output file; it is replaced only when everything is done"},
    {.flag = "n-best", .common = true, .type = OPT_STRING, FIELD(n_best), .arg = "FILE",
     .help = "score an n-best list in Moses format, and print it with one more feature; the numbers in "
             "the list count the lines of SOURCE from 0"},
    {.flag = "n-best-feature", .type = OPT_STRING, FIELD(feature), .default_text = "Score", .needs = "n-best",
     .arg = "NAME",
     .help = "name of the new feature"},
    {.flag = "threads", .common = true, .type = OPT_INT, FIELD(threads), .default_text = "0",
     .max = 1024, .arg = "N",
     .help = "number of threads, 0 = one per core; the result does not depend on it"},
    {.flag = "mini-batch", .type = OPT_INT, FIELD(mini_batch), .default_text = "32", .min = 1, .max = 100000,
     .arg = "N", .help = "pairs scored together"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .default_text = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "number format of the weights; files of attn-mt convert keep their own format"},
    {.flag = "left-to-right", .type = OPT_BOOL, FIELD(left_to_right), .default_text = "false",
     .help = "use only the first decoder of a model with two, as in translate; the model file can set "
             "this, too"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(quiet), .default_text = "false",
     .help = "print no warnings and no summary"},
    {.flag = "per-token", .common = true, .type = OPT_BOOL, FIELD(per_token), .default_text = "false",
     .help = "add log p of each token and of </s>", .group = "Output format"},
    {.flag = "per-word", .common = true, .type = OPT_BOOL, FIELD(per_word), .default_text = "false",
     .help = "add log p of each word (the sum over its tokens) and of </s>"},
    {.flag = "length-penalty", .common = true, .letter = 'n', .type = OPT_REAL,
     FIELD(length_penalty), .default_text = "1", .max = 10, .implied_value = "1", .arg = "ALPHA",
     .help = "the second score is log p / length^ALPHA; the length includes </s>"},
    {.flag = "keep-above", .common = true, .type = OPT_REAL, FIELD(keep_above), .arg = "X",
     .help = "print pairs instead of scores: those with a normalized score above X and no empty side"},
    {.flag = "max-length", .type = OPT_INT, FIELD(max_length), .default_text = "1000", .max = 100000,
     .needs = "keep-above", .arg = "N",
     .help = "with --keep-above: drop pairs with more than N tokens on a side; 0 = keep all"},
    {.flag = "json", .common = true, .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print one JSON object per line; its fields are source, target, score, normalized_score and "
             "tokens"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt score [--model MODEL] [OPTION...] SOURCE TARGET [> SCORES]\n"
    "       attn-mt score [--model MODEL] [OPTION...] [PAIRS]\n"
    "       attn-mt score [--model MODEL] [OPTION...] --n-best LIST SOURCE\n"
    "\n"
    "Scores given translations: two files, line by line, or one file of pairs\n"
    "(default: standard input): a table with a TAB between source and target, whose\n"
    "first line may name the columns, CSV, TMX, XLIFF, PO or JSON lines. Prints one\n"
    "line per pair: log p, a TAB, log p normalized by length.\n"
    "For an empty source, log p is 0 if the translation is empty too, otherwise -inf.\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt score -m best.safetensors test.en test.fr > scores\n"
    "  attn-mt score -m best.safetensors --keep-above -3 noisy.tsv > clean.tsv\n"
    "  attn-mt score -m other.safetensors --n-best test.nbest test.en > rescored.nbest\n";

static const CommandText TEXT = {USAGE, EXAMPLES, NULL};

enum { WINDOW_BATCHES = 50, MAX_WINDOW_PAIRS = 10000 };

typedef struct {
    ScoreOptions options;
    bool filter, direction_given; /* --keep-above, --left-to-right */
    bool interactive;
    Ensemble models;
    Workers *workers;
    Translator *translator;
    OutFile *output;
    bool to_terminal;
    PairWindow window;
    /* For the summary. */
    long scored, empty, too_long, written, steps;
    double sum, seconds;
} Session;

/* ---- output lines ---- */

enum { DIGITS = 6 };

/* 0 or -inf if the source is empty. */
typedef struct {
    double score, normalized;
    const TranslationItem *item;
} PairScore;

static PairScore pair_score(const Pair *pair, const Translation *translation) {
    const TranslationItem *item = &translation->items[0];
    double nothing = unicode_is_blank(pair->target) ? 0 : -INFINITY;
    if (translation->chunks == 0) return (PairScore){nothing, nothing, item};
    return (PairScore){item->score, item->normalized, item};
}

/* Adds log p of each token, or of each word: the sum over its tokens. */
static void add_log_probs(const TranslationItem *item, bool words, const char *separator, StrBuf *out) {
    for (int t = 0; t < item->steps;) {
        double sum = 0;
        int first = t;
        do sum += (double)item->token_scores[t++];
        while (words && t < item->length && item->word[t] == item->word[first]);
        if (first > 0) strbuf_add(out, sv(separator));
        json_write_digits(out, sum, DIGITS);
    }
}

static void add_json_strings(const Tokenizer *tokenizer, const TranslationItem *item, bool words,
                             StrBuf *out) {
    StrBuf text = {0};
    for (int t = 0; t < item->length;) {
        int first = t;
        strbuf_clear(&text);
        for (t++; words && t < item->length && item->word[t] == item->word[first];) t++;
        if (words)
            tokenizer_decode(tokenizer, item->ids + first, (size_t)(t - first), &text);
        else
            tokenizer_label(tokenizer, item->ids[first], &text);
        if (first > 0) strbuf_add(out, SV(", "));
        json_write_string(out, strbuf_view(&text));
    }
    strbuf_free(&text);
}

static void add_json_text(const char *name, StrView text, StrBuf *out) {
    strbuf_format(out, "\"%s\": ", name);
    json_write_string(out, text);
    strbuf_add(out, SV(", "));
}

static void write_json(const Session *session, const Pair *pair, PairScore score, StrBuf *out) {
    const Tokenizer *target = seq2seq_target(session->models.items[0]);
    strbuf_add_char(out, '{');
    if (session->options.n_best) strbuf_format(out, "\"id\": %ld, ", pair->id);
    add_json_text("source", pair->source, out);
    add_json_text("target", pair->target, out);
    strbuf_add(out, SV("\"score\": "));
    json_write_digits(out, score.score, DIGITS);
    strbuf_add(out, SV(", \"normalized_score\": "));
    json_write_digits(out, score.normalized, DIGITS);
    strbuf_add(out, SV(", \"tokens\": ["));
    add_json_strings(target, score.item, false, out);
    if (session->options.per_token) {
        strbuf_add(out, SV("], \"token_scores\": ["));
        add_log_probs(score.item, false, ", ", out);
    }
    if (session->options.per_word) {
        strbuf_add(out, SV("], \"words\": ["));
        add_json_strings(target, score.item, true, out);
        strbuf_add(out, SV("], \"word_scores\": ["));
        add_log_probs(score.item, true, ", ", out);
    }
    strbuf_add(out, SV("]}\n"));
}

/* Writes the line with the new feature after its features, or at its end if it has none. */
static void write_n_best(const char *feature, const Pair *pair, PairScore score, StrBuf *out) {
    StrView raw = pair->raw, rest = raw, features = {0};
    for (int field = 0; rest.length > 0; field++) {
        StrView text = sv_trim(n_best_next_field(&rest));
        bool named = !sv_starts(text, SV("WordScores=")) && memchr(text.data, '=', text.length);
        if (field >= 2 && named) features = text;
    }
    size_t at = features.data ? (size_t)(features.data - raw.data) + features.length : raw.length;
    strbuf_add(out, (StrView){raw.data, at});
    strbuf_format(out, "%s%s= %.6g", features.data ? " " : " ||| ", feature, score.score);
    strbuf_add(out, (StrView){raw.data + at, raw.length - at});
    strbuf_add_char(out, '\n');
}

static void write_plain(const ScoreOptions *options, PairScore score, StrBuf *out) {
    strbuf_format(out, "%.6g\t%.6g", score.score, score.normalized);
    if (options->per_token) strbuf_add_char(out, '\t');
    if (options->per_token) add_log_probs(score.item, false, " ", out);
    if (options->per_word) strbuf_add_char(out, '\t');
    if (options->per_word) add_log_probs(score.item, true, " ", out);
    strbuf_add_char(out, '\n');
}

/* ---- scoring ---- */

static void write_pair(Session *session, const Pair *pair, const Translation *translation, StrBuf *out) {
    PairScore score = pair_score(pair, translation);
    bool empty = translation->chunks == 0 || sv_trim(pair->target).length == 0;
    session->scored++;
    if (translation->chunks > 0) {
        session->sum += score.score;
        session->steps += score.item->steps;
    }
    session->empty += empty;
    if (session->filter) {
        if (empty || !(score.normalized > session->options.keep_above)) return;
        session->written++;
    }
    if (session->options.json) {
        write_json(session, pair, score, out);
    } else if (session->filter) {
        strbuf_add(out, pair->raw);
        strbuf_add_char(out, '\n');
    } else if (session->window.n_best) {
        write_n_best(session->options.feature, pair, score, out);
    } else {
        write_plain(&session->options, score, out);
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
    session->seconds += clock_seconds() - start;
    for (size_t i = 0; i < count; i++) {
        write_pair(session, &session->window.pairs[i], &results[i], &out);
        translation_free(&results[i]);
    }
    Status status = translator_check_finite(session->translator, &session->options.models);
    if (session->to_terminal) log_sanitize(out.data, out.length); /* tokens are the model's */
    if (status == STATUS_OK) status = file_write(session->output, out.data, out.length);
    if (status == STATUS_OK) status = file_flush(session->output);
    mem_free(results);
    mem_free(sources);
    mem_free(targets);
    strbuf_free(&out);
    return status;
}

static bool is_longer(StrView text, Tokenizer *tokenizer, int max_tokens) {
    if (text.length <= (size_t)max_tokens)
        return false; /* a token has at least a byte, with few exceptions */
    IdList ids = {0};
    tokenizer_encode(tokenizer, text, &ids);
    bool longer = ids.count > (size_t)max_tokens;
    id_list_free(&ids);
    return longer;
}

/* Very long lines are hardly sentences, and scoring them would delay a filter. */
static void drop_long_pairs(Session *session) {
    const Seq2Seq *model = session->models.items[0];
    PairWindow *window = &session->window;
    int max_tokens = session->options.max_length, count = 0;
    for (int i = 0; i < window->count; i++) {
        const Pair *pair = &window->pairs[i];
        if (is_longer(pair->source, seq2seq_source(model), max_tokens) ||
            is_longer(pair->target, seq2seq_target(model), max_tokens))
            session->too_long++;
        else
            window->pairs[count++] = *pair;
    }
    window->count = count;
}

/* Logs which columns are scored. Other languages than the model's are only a warning: names may be wrong. */
static void log_columns(const Session *session) {
    const PairWindow *window = &session->window;
    const Columns *columns = &window->columns;
    StrView source = window->source_language, target = window->target_language;
    if (session->options.quiet) return;
    columns_log(columns, pair_window_path(window));
    if (!directions_differ(source, target, columns->source_name, columns->target_name)) return;
    log_warn("'%s' translates from %.*s to %.*s, but these pairs are from %.*s to %.*s",
             session->options.models.items[0], SV_ARG(source), SV_ARG(target), SV_ARG(columns->source_name),
             SV_ARG(columns->target_name));
}

/* With --keep-above the header line of the pairs is kept; scores have a header of their own. */
static Status write_header(Session *session) {
    StrView header = strbuf_view(&session->window.header);
    if (header.length == 0) return STATUS_OK;
    log_columns(session);
    if (session->options.json) return STATUS_OK;
    if (!session->filter) header = SV("log_p\tnormalized");
    TRY(file_write(session->output, header.data, header.length));
    return file_write(session->output, "\n", 1);
}

static void report(const Session *session) {
    char pairs[32], time[32];
    const ScoreOptions *options = &session->options;
    if (options->quiet) return;
    command_warn_repaired(session->window.lines.repaired, session->window.lines.first_repaired);
    if (session->empty > 0)
        log_warn("%ld pair%s with an empty side", session->empty, session->empty == 1 ? "" : "s");
    if (session->too_long > 0)
        log_warn("dropped %ld pair%s with more than %d tokens on a side", session->too_long,
                 session->too_long == 1 ? "" : "s", options->max_length);
    if (session->window.skipped > 0)
        log_warn("skipped %ld line%s without a TAB, the first is line %ld", session->window.skipped,
                 session->window.skipped == 1 ? "" : "s", session->window.first_skipped);
    if (session->filter)
        log_info("kept %ld of %ld pairs: normalized score above %g", session->written,
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
        status_fail(STATUS_USAGE, "too many files: expected %s",
                    list ? "one source" : "a source and a target");
        return status_hint(STATUS_USAGE, "attn-mt score --help describes the arguments");
    }
    if (list && files->count == 0) {
        status_fail(STATUS_USAGE, "--n-best needs the source of the list");
        return status_hint(STATUS_USAGE, "attn-mt score --n-best LIST SOURCE");
    }
    if (list && session->filter)
        return status_fail(STATUS_USAGE, "--keep-above filters pairs, not n-best lists");
    if ((session->filter || list) && !session->options.json &&
        (session->options.per_token || session->options.per_word)) {
        status_fail(STATUS_USAGE, list ? "--n-best prints the list with one more score"
                                       : "--keep-above prints pairs as they are, without scores");
        return status_hint(STATUS_USAGE, "--json prints them with the scores of tokens or words");
    }
    const char *second = list ? list : files->count == 2 ? files->items[1] : NULL;
    if (second && strcmp(first, "-") == 0 && strcmp(second, "-") == 0)
        return status_fail(STATUS_USAGE, "standard input cannot be read twice");
    if (list) return pair_window_open_n_best(&session->window, first, list);
    if (second) return pair_window_open_two(&session->window, first, second);
    session->interactive = files->count == 0 && isatty(STDIN_FILENO) == 1;
    if (session->interactive) log_info("enter one pair per line, SOURCE TAB TARGET; Ctrl-D ends the input");
    return pair_window_open(&session->window, first);
}

/* Readers of n-best lists split at "|||" first, and then look for "NAME= VALUE" between white space. */
static Status check_feature(const char *name) {
    StrView rest = sv(name), word;
    bool one_word = unicode_next_word(&rest, &word) && word.length == strlen(name);
    if (one_word && !strstr(name, "|||")) return STATUS_OK;
    status_fail(STATUS_USAGE, "option '--n-best-feature': '%s' is not a feature name", name);
    return status_hint(STATUS_USAGE, "name one word without |||, such as LM");
}

static Status session_begin(Session *session, const StrList *files) {
    const ScoreOptions *options = &session->options;
    TranslatorOptions scoring = {.search = {.n_best = 1}};
    TRY(check_feature(options->feature));
    TRY(model_choice(&session->options.models, NULL, options->quiet, NULL, NULL));
    TRY(command_refuse_overwrites(options->output, &options->models));
    TRY(command_refuse_overwrites(options->output, files));
    if (files->count == 0) TRY(command_refuse_overwrite(options->output, "-"));
    TRY(command_refuse_overwrite(options->output, options->n_best));
    TRY(ensemble_load(&session->models, &options->models, (WeightFormat)options->precision, false));
    session->window.filters = session->filter;
    session->window.source_language = strbuf_view(&session->models.source_language);
    session->window.target_language = strbuf_view(&session->models.target_language);
    session->window.max_pairs = options->mini_batch < MAX_WINDOW_PAIRS / WINDOW_BATCHES
                                    ? options->mini_batch * WINDOW_BATCHES
                                    : MAX_WINDOW_PAIRS;
    TRY(open_input(session, files));
    const DecodeOptions *model_options = &seq2seq_config(session->models.items[0])->decode;
    scoring.search.decode = (DecodeOptions){
        .beam_size = 1,
        .mini_batch = options->mini_batch,
        .length_penalty = options->length_penalty,
        .left_to_right = session->direction_given ? options->left_to_right : model_options->left_to_right};
    session->workers = workers_new(options->threads > 0 ? options->threads : workers_default_count());
    TRY(translator_new(&session->translator, ensemble_items(&session->models), session->models.count,
                       &scoring, session->workers));
    session->to_terminal = strcmp(options->output, "-") == 0 && isatty(STDOUT_FILENO) == 1;
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
                                pair_window_fraction(&session->window));
    }
    log_progress_end();
    if (status == STATUS_OK) {
        report(session);
        return file_commit(session->output);
    }
    file_discard(session->output);
    return status;
}

static void session_free(Session *session) {
    translator_free(session->translator);
    workers_free(session->workers);
    ensemble_free(&session->models);
    pair_window_free(&session->window);
}

Status cmd_score(int argc, char **argv) {
    Session session = {0};
    OptionTable tables[] = {{SCORE_OPTIONS, &session.options}, {0}};
    StrList files;
    UserOptions user_options = {0};
    HelpKind help;
    options_defaults(tables);
    Status status = options_parse(tables, argc, argv, &files, &help, &user_options);
    session.filter = option_is_given(&user_options, "keep-above");
    session.direction_given = option_is_given(&user_options, "left-to-right");
    if (status == STATUS_OK && help) {
        status = command_print_help(&TEXT, tables, help);
    } else if (status == STATUS_OK) {
        status = session_begin(&session, &files);
        if (status == STATUS_OK) status = session_run(&session);
    }
    session_free(&session);
    mem_free(files.items);
    mem_free(user_options.rows);
    options_free(tables);
    return status;
}
