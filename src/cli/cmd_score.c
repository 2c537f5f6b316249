/* cmd_score.c - attn-mt score: how probable given translations are. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/fileio.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "decode/translator.h"
#include "text/pairs.h"

typedef struct {
    StrList models;
    char *output, *n_best, *feature;
    int threads, precision, mini_batch;
    double length_penalty, keep_above;
    bool per_token, per_word, json, quiet;
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
    {.flag = "n-best-feature", .type = OPT_STRING, FIELD(feature), .fallback = "Score", .arg = "NAME",
     .help = "name of that feature"},
    {.flag = "threads", .alias = "cpu-threads", .type = OPT_INT, FIELD(threads), .fallback = "0",
     .max = 1024, .arg = "N", .help = "threads; they decide only the time; 0 = one per core"},
    {.flag = "mini-batch", .type = OPT_INT, FIELD(mini_batch), .fallback = "32", .min = 1, .max = 100000,
     .arg = "N", .help = "pairs scored together"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .fallback = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND", .help = "numbers that weights are kept in"},
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
    {.flag = "json", .type = OPT_BOOL, FIELD(json), .fallback = "false",
     .help = "print one JSON object a line: source, target, score, normalized_score, tokens"},
    {0}};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt score --model FILE [OPTION...] SOURCE TARGET [> SCORES]\n"
    "       attn-mt score --model FILE [OPTION...] [PAIRS]\n"
    "       attn-mt score --model FILE [OPTION...] --n-best LIST SOURCE\n"
    "\n"
    "Scores translations: two files, line by line, or one of pairs with a TAB between them (standard "
    "input).\n"
    "One line out for each pair: log p, a TAB, log p by length. An empty translation of an empty source is\n"
    "certain (0), any other impossible (-inf).\n";

static const char EXAMPLES[] =
    "Examples:\n"
    "  attn-mt score -m best.safetensors test.en test.fr > scores\n"
    "  attn-mt score -m best.safetensors --keep-above -3 noisy.tsv > clean.tsv\n"
    "  attn-mt score -m reverse.safetensors --n-best test.nbest test.en > rescored.nbest\n";

enum { WINDOW_BATCHES = 50, WINDOW_MOST = 10000 };

typedef struct {
    StrView raw; /* the line it came from; of two files SOURCE TAB TARGET */
    StrView source, target;
    long id; /* of an n-best list */
} Pair;

typedef struct {
    ScoreOptions options;
    bool filter;
    ModelSet models;
    Workers *workers;
    Translator *translator;
    OutFile *output;
    LineReader *reader, *targets; /* targets: the second of two files, or NULL */
    Arena *arena;                 /* of the pairs' text */
    Pair *pairs;
    int count, most;
    Arena *source_arena; /* of an n-best list: the sentences that it numbers */
    StrView *sources;
    long source_count;
    size_t source_capacity;
    /* What the summary says. */
    long scored, empty, kept, repaired, first_repaired, steps;
    double sum, seconds;
} Session;

/* ---- input ---- */

static StrView keep_text(Arena *arena, StrView text) {
    char *copy = arena_alloc(arena, text.length + 1);
    if (text.length > 0) memcpy(copy, text.data, text.length);
    return (StrView){copy, text.length};
}

static Status fail_line(const LineReader *reader, const char *what, const char *hint) {
    status_fail(STATUS_DATA, "'%s', line %ld: %s", line_reader_path(reader), line_reader_number(reader),
                what);
    return hint ? status_hint(STATUS_DATA, "%s", hint) : STATUS_DATA;
}

/* The next line, kept in `arena`. */
static Status next_line(Session *session, LineReader *reader, Arena *arena, StrView *line, bool *more) {
    TRY(line_reader_next(reader, line, more));
    if (!*more) return STATUS_OK;
    if (line->length > 2 * (size_t)PAIR_MAX_BYTES)
        return fail_line(reader, "a line of more than 2 MB", "is it text, one sentence a line?");
    *line = keep_text(arena, *line);
    bool sound = !memchr(line->data, 0, line->length) && utf8_valid(*line);
    if (!sound && session->repaired++ == 0) session->first_repaired = line_reader_number(reader);
    return STATUS_OK;
}

/* SOURCE TAB TARGET; further columns are passed over. */
static Status cut_columns(const LineReader *reader, Pair *pair) {
    StrView rest = pair->raw;
    if (!memchr(rest.data, '\t', rest.length))
        return fail_line(reader, "no TAB in it",
                         "pairs are SOURCE TAB TARGET; two files are given as SOURCE TARGET");
    sv_next(&rest, '\t', &pair->source);
    if (!sv_next(&rest, '\t', &pair->target)) pair->target = (StrView){pair->raw.data + pair->raw.length, 0};
    return STATUS_OK;
}

static StrView next_field(StrView *rest) {
    for (size_t i = 0; i + 3 <= rest->length; i++) {
        if (memcmp(rest->data + i, "|||", 3) != 0) continue;
        StrView field = {rest->data, i};
        *rest = (StrView){rest->data + i + 3, rest->length - i - 3};
        return field;
    }
    StrView field = *rest;
    *rest = (StrView){rest->data + rest->length, 0};
    return field;
}

/* NUMBER ||| TEXT ||| ... */
static Status cut_fields(const Session *session, Pair *pair) {
    StrView rest = pair->raw, number = sv_trim(next_field(&rest));
    long id = 0;
    bool sound = number.length > 0 && number.length < 10 && rest.length > 0;
    for (size_t i = 0; i < number.length && sound; i++) {
        sound = number.data[i] >= '0' && number.data[i] <= '9';
        id = id * 10 + (number.data[i] - '0');
    }
    if (!sound)
        return fail_line(session->reader, "not 'NUMBER ||| TEXT ||| ...'",
                         "n-best lists are in Moses format, as 'attn-mt translate --n-best' prints them");
    if (id >= session->source_count) {
        char what[96];
        snprintf(what, sizeof what, "number %ld, but the source has %ld line%s", id, session->source_count,
                 session->source_count == 1 ? "" : "s");
        return fail_line(session->reader, what, "numbers count the lines of the source from 0");
    }
    *pair = (Pair){pair->raw, session->sources[id], sv_trim(next_field(&rest)), id};
    return STATUS_OK;
}

/* Count the lines of the file that goes on, so that both numbers can be named. */
static Status fail_lengths(Session *session, bool more_sources) {
    LineReader *longer = more_sources ? session->reader : session->targets;
    StrView line;
    for (bool more = true; more;) TRY(line_reader_next(longer, &line, &more));
    long sources = line_reader_number(session->reader), targets = line_reader_number(session->targets);
    status_fail(STATUS_DATA, "'%s' has %ld lines, '%s' has %ld", line_reader_path(session->reader), sources,
                line_reader_path(session->targets), targets);
    return status_hint(STATUS_DATA, "source and target stand on the same line of their files");
}

static Status next_pair(Session *session, Pair *pair, bool *more) {
    *pair = (Pair){0};
    TRY(next_line(session, session->reader, session->arena, &pair->raw, more));
    if (session->targets) {
        bool more_targets;
        StrBuf both = {0};
        pair->source = pair->raw;
        TRY(next_line(session, session->targets, session->arena, &pair->target, &more_targets));
        if (*more != more_targets) return fail_lengths(session, *more);
        if (!*more || !session->filter) return STATUS_OK;
        strbuf_add(&both, pair->source);
        strbuf_add_char(&both, '\t');
        strbuf_add(&both, pair->target);
        for (size_t i = 0; i < both.length; i++) /* a TAB inside would begin another column */
            if (both.data[i] == '\t' && i != pair->source.length) both.data[i] = ' ';
        pair->raw = keep_text(session->arena, strbuf_view(&both));
        strbuf_free(&both);
        return STATUS_OK;
    }
    if (!*more) return STATUS_OK;
    return session->sources ? cut_fields(session, pair) : cut_columns(session->reader, pair);
}

/* Wait for a pair, then take all that can be had. */
static Status read_pairs(Session *session, bool *more) {
    session->count = 0;
    arena_reset(session->arena);
    do {
        Pair pair;
        TRY(next_pair(session, &pair, more));
        if (!*more) break;
        session->pairs[session->count++] = pair;
    } while (session->count < session->most && line_reader_ready(session->reader));
    return STATUS_OK;
}

static Status read_sources(Session *session, const char *path) {
    LineReader *reader;
    TRY(line_reader_open(&reader, path));
    Status status = STATUS_OK;
    session->source_arena = arena_new();
    MEM_GROW(session->sources, session->source_capacity, 1);
    for (bool more = true; status == STATUS_OK;) {
        StrView line;
        status = next_line(session, reader, session->source_arena, &line, &more);
        if (status != STATUS_OK || !more) break;
        MEM_GROW(session->sources, session->source_capacity, (size_t)session->source_count + 1);
        session->sources[session->source_count++] = line;
    }
    line_reader_close(reader);
    return status;
}

/* ---- output ---- */

/* The scores of a pair: certain or impossible where the source has nothing to translate. */
typedef struct {
    double score, normalized;
    const TranslationItem *item;
} PairScore;

static PairScore pair_score(const Pair *pair, const Translation *translation) {
    const TranslationItem *item = &translation->items[0];
    double nothing = sv_trim(pair->target).length == 0 ? 0 : -INFINITY;
    if (translation->pieces == 0) return (PairScore){nothing, nothing, item};
    return (PairScore){item->score, item->normalized, item};
}

static void add_number(double value, bool json, StrBuf *out) {
    if (json && !isfinite(value))
        strbuf_add(out, SV("null"));
    else
        strbuf_format(out, "%.6g", value);
}

/* log p of the tokens, or of the words that they make. */
static void add_parts(const TranslationItem *item, bool words, const char *separator, StrBuf *out) {
    for (int t = 0; t < item->steps;) {
        double sum = 0;
        int first = t;
        do sum += (double)item->token_scores[t++];
        while (words && t < item->length && item->word[t] == item->word[first]);
        if (first > 0) strbuf_add(out, sv(separator));
        add_number(sum, true, out);
    }
}

static void add_json_strings(const Segmenter *segmenter, const TranslationItem *item, bool words,
                             StrBuf *out) {
    StrBuf text = {0};
    for (int t = 0; t < item->length;) {
        int first = t;
        strbuf_clear(&text);
        for (t++; words && t < item->length && item->word[t] == item->word[first];) t++;
        if (words)
            segmenter_decode(segmenter, item->ids + first, (size_t)(t - first), &text);
        else
            segmenter_label(segmenter, item->ids[first], &text);
        if (first > 0) strbuf_add(out, SV(", "));
        json_write_string(out, strbuf_view(&text));
    }
    strbuf_free(&text);
}

static void add_json_text(const char *name, StrView text, StrBuf *out) {
    StrBuf sound = {0};
    utf8_repair(text, &sound);
    strbuf_format(out, "\"%s\": ", name);
    json_write_string(out, strbuf_view(&sound));
    strbuf_add(out, SV(", "));
    strbuf_free(&sound);
}

static void write_json(const Session *session, const Pair *pair, PairScore score, StrBuf *out) {
    const Segmenter *segmenter = seq2seq_target(session->models.items[0]);
    strbuf_add_char(out, '{');
    if (session->sources) strbuf_format(out, "\"id\": %ld, ", pair->id);
    add_json_text("source", pair->source, out);
    add_json_text("target", pair->target, out);
    strbuf_add(out, SV("\"score\": "));
    add_number(score.score, true, out);
    strbuf_add(out, SV(", \"normalized_score\": "));
    add_number(score.normalized, true, out);
    strbuf_add(out, SV(", \"tokens\": ["));
    add_json_strings(segmenter, score.item, false, out);
    if (session->options.per_token) {
        strbuf_add(out, SV("], \"token_scores\": ["));
        add_parts(score.item, false, ", ", out);
    }
    if (session->options.per_word) {
        strbuf_add(out, SV("], \"words\": ["));
        add_json_strings(segmenter, score.item, true, out);
        strbuf_add(out, SV("], \"word_scores\": ["));
        add_parts(score.item, true, ", ", out);
    }
    strbuf_add(out, SV("]}\n"));
}

/* The line with one more feature at the end of its features, or of the line if it has none. */
static void write_n_best(const char *feature, const Pair *pair, PairScore score, StrBuf *out) {
    StrView raw = pair->raw, rest = raw, features = {0};
    for (int field = 0; rest.length > 0; field++) {
        StrView text = sv_trim(next_field(&rest));
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
    if (options->per_token) add_parts(score.item, false, " ", out);
    if (options->per_word) strbuf_add_char(out, '\t');
    if (options->per_word) add_parts(score.item, true, " ", out);
    strbuf_add_char(out, '\n');
}

static void write_pair(Session *session, const Pair *pair, const Translation *translation, StrBuf *out) {
    PairScore score = pair_score(pair, translation);
    bool empty = translation->pieces == 0 || sv_trim(pair->target).length == 0;
    session->scored++;
    if (translation->pieces > 0) {
        session->sum += score.score;
        session->steps += score.item->steps;
    }
    session->empty += empty;
    if (session->filter) {
        if (empty || !(score.normalized > session->options.keep_above)) return;
        session->kept++;
    }
    if (session->options.json) {
        write_json(session, pair, score, out);
    } else if (session->filter) {
        strbuf_add(out, pair->raw);
        strbuf_add_char(out, '\n');
    } else if (session->sources) {
        write_n_best(session->options.feature, pair, score, out);
    } else {
        write_plain(&session->options, score, out);
    }
}

static Status score_pairs(Session *session) {
    size_t count = (size_t)session->count;
    Translation *results = mem_alloc(count, sizeof *results);
    StrView *sources = mem_alloc(count, sizeof *sources), *targets = mem_alloc(count, sizeof *targets);
    StrBuf out = {0};
    for (size_t i = 0; i < count; i++) {
        sources[i] = session->pairs[i].source;
        targets[i] = session->pairs[i].target;
    }
    double start = clock_seconds();
    translator_force(session->translator, sources, targets, session->count, results);
    session->seconds += clock_seconds() - start;
    for (size_t i = 0; i < count; i++) {
        write_pair(session, &session->pairs[i], &results[i], &out);
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

static void report(const Session *session) {
    char pairs[32], time[32];
    const ScoreOptions *options = &session->options;
    if (options->quiet) return;
    if (session->repaired > 0)
        log_warn("bytes that are no text (invalid UTF-8 or NUL) in %ld line%s, the first is line %ld: read "
                 "as U+FFFD",
                 session->repaired, session->repaired == 1 ? "" : "s", session->first_repaired);
    if (session->empty > 0)
        log_warn("%ld pair%s with an empty side", session->empty, session->empty == 1 ? "" : "s");
    if (session->filter)
        log_info("kept %ld of %ld pairs: normalized score above %g", session->kept, session->scored,
                 options->keep_above);
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
    const char *second = list ? list : files->count == 2 ? files->items[1] : NULL;
    if (second && strcmp(first, "-") == 0 && strcmp(second, "-") == 0)
        return status_fail(STATUS_USAGE, "standard input cannot be read twice");
    if (list) {
        TRY(read_sources(session, first));
        return line_reader_open(&session->reader, list);
    }
    if (files->count == 0 && isatty(STDIN_FILENO) == 1)
        log_info("one pair a line, SOURCE TAB TARGET; Ctrl-D ends");
    TRY(line_reader_open(&session->reader, first));
    return second ? line_reader_open(&session->targets, second) : STATUS_OK;
}

static Status session_begin(Session *session, const StrList *files) {
    const ScoreOptions *options = &session->options;
    TranslatorOptions scoring = {.search = {.n_best = 1}};
    TRY(model_set_load(&session->models, &options->models, (WeightFormat)options->precision));
    TRY(open_input(session, files));
    scoring.search.decode = (DecodeOptions){
        .beam_size = 1, .mini_batch = options->mini_batch, .length_penalty = options->length_penalty};
    session->workers = workers_new(options->threads > 0 ? options->threads : workers_default_count());
    TRY(translator_new(&session->translator, model_set_items(&session->models), session->models.count,
                       &scoring, session->workers));
    session->most = options->mini_batch < WINDOW_MOST / WINDOW_BATCHES ? options->mini_batch * WINDOW_BATCHES
                                                                       : WINDOW_MOST;
    session->pairs = mem_alloc((size_t)session->most, sizeof *session->pairs);
    session->arena = arena_new();
    return file_create(&session->output, options->output);
}

static Status session_run(Session *session) {
    Status status = STATUS_OK;
    for (bool more = true; more && status == STATUS_OK;) {
        status = read_pairs(session, &more);
        if (status == STATUS_OK && session->count > 0) status = score_pairs(session);
        if (status == STATUS_OK && !session->options.quiet && !isatty(STDOUT_FILENO))
            log_progress("%ld pairs", session->scored);
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
    model_set_free(&session->models);
    if (session->reader) line_reader_close(session->reader);
    if (session->targets) line_reader_close(session->targets);
    arena_free(session->arena);
    arena_free(session->source_arena);
    mem_free(session->pairs);
    mem_free(session->sources);
}

static bool was_given(const OptionsGiven *given, const char *flag) {
    for (size_t i = 0; i < given->count; i++)
        if (strcmp(given->rows[i]->flag, flag) == 0) return true;
    return false;
}

Status cmd_score(int argc, char **argv) {
    Session session = {0};
    OptionTable tables[] = {{SCORE_OPTIONS, &session.options}, {0}};
    StrList files;
    OptionsGiven given = {0};
    bool help;
    options_defaults(tables);
    Status status = options_parse_given(tables, argc, argv, &files, &help, &given);
    session.filter = was_given(&given, "keep-above");
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
