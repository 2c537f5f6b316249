/* cmd_bleu.c - attn-mt bleu: scores translations. The metrics are in src/bleu. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/chrf.h"
#include "bleu/input.h"
#include "bleu/report.h"
#include "bleu/scoring.h"
#include "bleu/bleu_tokenizers.h"
#include "cli/command_io.h"
#include "cli/commands.h"
#include "text/languages.h"

/* chrF++ is chrF with words, not a metric of its own. */
#define CHRF_PLUS_PLUS "chrf++"
enum { CHRF_PLUS_PLUS_WORDS = 2 };

#define METRIC_ONE(name_, metric_) +1
enum { METRIC_COUNT = METRIC_TABLE(METRIC_ONE, ) };

/* Options and input of the command. */
typedef struct {
    StrList references; /* --reference first, then positional */
    StrList inputs;
    int num_refs;

    StrList metrics;
    char *language_pair;
    bool sentence_level;

    bool confidence, paired_bs;
    int confidence_n, paired_bs_n, paired_jobs;

    bool quiet, short_signature, score_only, no_color;
    int width, format;

    void *metric_options[METRIC_COUNT]; /* in the order of METRICS */
    ChrfOptions chrf_plus_plus;
    OptionTable tables[METRIC_COUNT + 3];
    LineSet reference_lines, systems;
} Run;

#define FIELD(member_) OPT_FIELD(Run, member_)

/* The options of the metrics come between these two tables. */
/* clang-format off */
static const Option INPUT_ROWS[] = {
    {.flag = "input", .common = true, .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE...",
     .group = "Input",
     .help = "hypotheses, one file per system; default: standard input, with systems separated by tabs"},
    {.flag = "reference", .type = OPT_LIST, FIELD(references), .arg = "FILE",
     .help = "reference file, like the argument REFERENCE"},
    {.flag = "num-refs", .common = true, .alias = "nr", .type = OPT_INT, FIELD(num_refs), .default_text = "1",
     .min = 1, .max = 1000, .arg = "N",
     .help = "split each line of the only reference file at tabs into N references"},

    {.flag = "metrics", .common = true, .letter = 'm', .type = OPT_LIST, FIELD(metrics),
     .default_text = "bleu",
     .choices = METRIC_CHOICES "|" CHRF_PLUS_PLUS, .arg = "NAME...", .group = "Score",
     .help = "metrics to compute; chrf++ is chrf with --chrf-word-order 2"},
    {.flag = "language-pair", .common = true, .letter = 'l', .type = OPT_STRING, FIELD(language_pair),
     .arg = "FROM-TO",
     .help = "use sacreBLEU's tokenizer for the language TO, unless --tokenize is given"},
    {.flag = "sentence-level", .common = true, .alias = "sl", .type = OPT_BOOL, FIELD(sentence_level),
     .help = "print a score for each line, with effective order"},
    {0},
};

static const Option OUTPUT_ROWS[] = {
    {.flag = "confidence", .common = true, .alias = "ci", .type = OPT_BOOL, FIELD(confidence),
     .group = "Significance",
     .help = "print the 95 % confidence interval, by bootstrap resampling"},
    {.flag = "confidence-n", .alias = "cin", .type = OPT_INT, FIELD(confidence_n), .default_text = "1000",
     .min = 1, .max = 1e8, .arg = "N",
     .help = "number of resamples of --confidence"},
    {.flag = "paired-bs", .common = true, .alias = "pbs", .type = OPT_BOOL, FIELD(paired_bs),
     .help = "compare the systems with the first one by paired bootstrap resampling"},
    {.flag = "paired-bs-n", .alias = "pbsn", .type = OPT_INT, FIELD(paired_bs_n), .default_text = "1000",
     .min = 1, .max = 1e8, .arg = "N",
     .help = "number of resamples of --paired-bs"},
    {.flag = "paired-jobs", .letter = 'j', .type = OPT_INT, FIELD(paired_jobs), .default_text = "1", .min = 0,
     .max = 1024, .arg = "N",
     .help = "accepted for compatibility; has no effect"},

    {.flag = "score-only", .common = true, .letter = 'b', .type = OPT_BOOL, FIELD(score_only),
     .group = "Output",
     .help = "print only the number"},
    {.flag = "width", .common = true, .letter = 'w', .type = OPT_INT, FIELD(width), .default_text = "-1",
     .min = -1,
     .max = 100, .arg = "N",
     .help = "digits after the decimal point; -1 = 1 digit, or 3 with --d2l"},
    {.flag = "format", .letter = 'f', .type = OPT_CHOICE, FIELD(format), .default_text = "json",
     .choices = REPORT_FORMAT_CHOICES, .arg = "NAME",
     .help = "output format"},
    {.flag = "short", .alias = "sh", .type = OPT_BOOL, FIELD(short_signature),
     .help = "print a short signature"},
    {.flag = "no-color", .alias = "nc", .type = OPT_BOOL, FIELD(no_color),
     .help = "do not colour the output on a terminal"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(quiet),
     .help = "print only warnings and errors"},
    {0},
};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt bleu REFERENCE... [-i HYPOTHESES...] [-m bleu chrf ter]\n"
    "                    [OPTION...] [< HYPOTHESES]\n"
    "\n"
    "Scores translations against references with BLEU, chrF and TER. Scores and\n"
    "output are those of sacreBLEU " SACREBLEU_VERSION ". Confidence intervals and p-values use\n"
    "other random numbers, and agree with sacreBLEU's within the noise of resampling.\n"
    "Files have raw, detokenized text, one sentence per line; .gz files too.\n";

static const char NOTES[] =
    "sacreBLEU's short options also work: -tok -lc -sl -sv -nr -cc -cw -ci -cin -pbs\n"
    "-pbsn -sh -nc.\n"
    "\n"
    "Environment:\n"
    "  SACREBLEU_SEED   seed of resampling (default: 12345); none = a random one\n"
    "  SACREBLEU_FORMAT output format, json or text; overrides --format\n"
    "  NO_COLOR         if not empty, output has no colours\n";

static const CommandText TEXT = {USAGE, NOTES, NULL};

/* sacreBLEU's options for the test sets that it downloads. */
static const char *const TEST_SET_OPTIONS[] = {"-t",         "--test-set", "-ol",    "--origlang",
                                               "--subset",   "--download", "--echo", "--list",
                                               "--citation", "--cite",     "-d",     "--detail"};

/* argv, with the values of --input joined to the option. */
typedef struct {
    char **items;
    size_t count, capacity;
} Words;

static void add_word(Words *words, char *word) {
    MEM_GROW(words->items, words->capacity, words->count + 1);
    words->items[words->count++] = word;
}

/* "--name=value" with escaped commas, because a comma separates the items of a list option. */
static char *joined(const char *name, const char *value) {
    StrBuf word = {0};
    strbuf_format(&word, "--%s=", name);
    for (; *value; value++) {
        if (*value == ',') strbuf_add_char(&word, '\\');
        strbuf_add_char(&word, *value);
    }
    char *copy = mem_strdup(strbuf_text(&word));
    strbuf_free(&word);
    return copy;
}

static bool is_option(const char *word) { return word[0] == '-' && word[1] != '\0'; }

static Status refuse_test_sets(const char *word) {
    for (size_t i = 0; i < sizeof TEST_SET_OPTIONS / sizeof *TEST_SET_OPTIONS; i++) {
        if (strcmp(word, TEST_SET_OPTIONS[i]) != 0) continue;
        Status status =
            status_fail(STATUS_USAGE, "option '%s': sacreBLEU's test sets are not built in", word);
        return status_hint(status, "give the files of the references as arguments");
    }
    return STATUS_OK;
}

/* "-i a b" becomes "--input=a --input=b": -i has all arguments up to the next option. */
static Status spread_inputs(int argc, char **argv, Words *words) {
    int i = 0;
    if (argc > 0) add_word(words, mem_strdup(argv[i++]));
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        bool has_value = strncmp(argv[i], "--input=", 8) == 0 && argv[i][8];
        TRY(refuse_test_sets(argv[i]));
        if (strcmp(argv[i], "-i") != 0 && strcmp(argv[i], "--input") != 0) {
            add_word(words, has_value ? joined("input", argv[i] + 8) : mem_strdup(argv[i]));
            continue;
        }
        int last = i;
        while (last + 1 < argc && argv[last + 1][0] && !is_option(argv[last + 1]))
            add_word(words, joined("input", argv[++last]));
        if (last == i) return status_fail(STATUS_USAGE, "option '%s' needs a value", argv[i]);
        i = last;
    }
    for (; i < argc; i++) add_word(words, mem_strdup(argv[i]));
    return STATUS_OK;
}

static void words_release(Words *words) {
    for (size_t i = 0; i < words->count; i++) mem_free(words->items[i]);
    mem_free(words->items);
}

/* sacreBLEU's tokenizers that need a program of others. */
static Status hint_tokenizer(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        const char *equals = strchr(argv[i], '='), *value = equals ? equals + 1 : argv[i];
        bool names = equals ? strncmp(argv[i], "--tok", 5) == 0 : strncmp(argv[i - 1], "-tok", 4) == 0;
        names = names || (!equals && strcmp(argv[i - 1], "--tokenize") == 0);
        if (!names) continue;
        if (strcmp(value, "ja-mecab") == 0 || strcmp(value, "ko-mecab") == 0) {
            status_fail(STATUS_USAGE, "option '--tokenize': '%s' needs MeCab, which is not built in", value);
            return status_hint(STATUS_USAGE, "--tokenize char scores characters; or split both files with "
                                             "mecab -Owakati, then --tokenize none");
        }
    }
    return STATUS_OK;
}

static SignificanceTest test_of(const Run *run) {
    if (run->paired_bs) return TEST_PAIRED_BOOTSTRAP;
    return run->confidence && run->confidence_n > 1 ? TEST_CONFIDENCE : TEST_NONE;
}

static BleuOptions *bleu_options(const Run *run) {
    for (size_t m = 0; METRICS[m]; m++)
        if (METRICS[m] == &METRIC_BLEU) return run->metric_options[m];
    return NULL;
}

/* The textbook's score splits at spaces and does no smoothing. */
static Status check_d2l(const Run *run, const UserOptions *given) {
    static const char *const OTHERS[] = {"tokenize", "spm", "language-pair", "smooth-method", "smooth-value"};
    if (!bleu_options(run)->d2l) return STATUS_OK;
    if (run->metrics.count > 1 || strcmp(run->metrics.items[0], "bleu") != 0)
        return status_fail(STATUS_USAGE,
                           "option '--d2l' is a metric of its own and cannot be combined with '--metrics'");
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        if (option_is_given(given, OTHERS[i]))
            return status_fail(STATUS_USAGE, "options '--d2l' and '--%s' cannot be combined", OTHERS[i]);
    return STATUS_OK;
}

static bool scores_bleu(const Run *run) {
    for (size_t i = 0; i < run->metrics.count; i++)
        if (strcmp(run->metrics.items[i], METRIC_BLEU.name) == 0) return true;
    return false;
}

/* --spm implies --tokenize spm. */
static Status check_spm(const Run *run, const UserOptions *given) {
    BleuOptions *bleu = bleu_options(run);
    if (!bleu->spm) return STATUS_OK;
    if (!option_is_given(given, "tokenize")) bleu->tokenizer = BLEU_TOKENIZER_PIECES;
    if (bleu->tokenizer >= BLEU_TOKENIZER_PIECES) return STATUS_OK;
    return status_fail(STATUS_USAGE, "options '--spm' and '--tokenize %.*s' cannot be combined",
                       SV_ARG(bleu_tokenizer_name(bleu->tokenizer)));
}

/* As in sacreBLEU: 13a, except for three languages. */
static Status choose_tokenizer(const Run *run, const UserOptions *given) {
    const char *pair = run->language_pair, *dash = pair ? strchr(pair, '-') : NULL;
    if (!pair || option_is_given(given, "tokenize") || bleu_options(run)->spm || !scores_bleu(run))
        return STATUS_OK;
    if (!dash)
        return status_fail(STATUS_USAGE, "option '--language-pair': '%s' is not a pair such as en-zh", pair);
    StrView target = language_code(sv(dash + 1));
    if (sv_equal(target, SV("ja")) || sv_equal(target, SV("ko"))) {
        Status status =
            status_fail(STATUS_USAGE,
                        "option '--language-pair': sacreBLEU tokenizes '%s' with MeCab, which is not "
                        "built in",
                        dash + 1);
        return status_hint(status, "--tokenize char scores characters");
    }
    if (sv_equal(target, SV("zh"))) bleu_options(run)->tokenizer = bleu_tokenizer_for(target);
    return STATUS_OK;
}

/* Checks the options against each other. */
static Status check(const Run *run, const UserOptions *given) {
    if (run->references.count == 0) {
        Status status = status_fail(STATUS_USAGE, "no reference given");
        return status_hint(status, "name the references before -i: attn-mt bleu REFERENCE... -i HYPOTHESES");
    }
    if (run->num_refs != 1 && run->references.count > 1) {
        Status status =
            status_fail(STATUS_USAGE, "option '--num-refs' cannot be combined with several reference files");
        return status_hint(status, "give one file with tab-separated references, or leave --num-refs out");
    }
    if (run->metrics.count == 0) return status_fail(STATUS_USAGE, "option '--metrics' needs a value");
    TRY(check_d2l(run, given));
    TRY(check_spm(run, given));
    TRY(choose_tokenizer(run, given));
    if (run->sentence_level && (run->confidence || run->paired_bs))
        return status_fail(STATUS_USAGE,
                           "option '--sentence-level' cannot be combined with statistical tests");
    return STATUS_OK;
}

/* Checks the options against the number of systems. */
static Status check_systems(const Run *run) {
    size_t systems = run->systems.count;
    if (systems > 1 && run->sentence_level)
        return status_fail(STATUS_USAGE, "option '--sentence-level' scores one system, but there are %zu",
                           systems);
    if (run->paired_bs && systems == 1) {
        Status status =
            status_fail(STATUS_USAGE, "option '--paired-bs' compares several systems, but there is one");
        return status_hint(status, "name the baseline and the others: -i BASELINE OTHER...");
    }
    if (systems > 1 && run->confidence) {
        Status status =
            status_fail(STATUS_USAGE, "option '--confidence' is for one system, but there are %zu", systems);
        return status_hint(status, "use --paired-bs");
    }
    return STATUS_OK;
}

static void make_tables(Run *run) {
    OptionTable *table = run->tables;
    *table++ = (OptionTable){INPUT_ROWS, run};
    for (size_t m = 0; METRICS[m]; m++) {
        run->metric_options[m] = mem_alloc(1, METRICS[m]->options_size);
        *table++ = (OptionTable){METRICS[m]->rows, run->metric_options[m]};
    }
    *table = (OptionTable){OUTPUT_ROWS, run};
}

static void add_references(StrList *references, const StrList *positional) {
    for (size_t i = 0; i < positional->count; i++) strlist_add(references, sv(positional->items[i]));
}

static Status parse(Run *run, int argc, char **argv, HelpKind *help) {
    options_defaults(run->tables);
    Words words = {0};
    StrList positional = {0};
    UserOptions given = {0};
    Status status = hint_tokenizer(argc, argv);
    if (status == STATUS_OK) status = spread_inputs(argc, argv, &words);
    if (status == STATUS_OK)
        status = options_parse(run->tables, (int)words.count, words.items, &positional, help, &given);
    if (status == STATUS_OK && !*help) {
        add_references(&run->references, &positional);
        status = check(run, &given);
    }
    mem_free(positional.items);
    mem_free(given.rows);
    words_release(&words);
    return status;
}

/* chrF before chrF++. */
static int by_name(const void *a, const void *b) {
    const ConfiguredMetric *one = a, *other = b;
    int order = strcmp(one->metric->name, other->metric->name);
    return order ? order : one->metric->width(one->options) - other->metric->width(other->options);
}

static Status add_metric(const Run *run, size_t m, const void *options, ConfiguredMetric *metrics,
                         size_t *count) {
    if (METRICS[m]->check_options)
        TRY(METRICS[m]->check_options(run->metric_options[m], run->sentence_level));
    metrics[(*count)++] = (ConfiguredMetric){METRICS[m], options};
    return STATUS_OK;
}

/* The metrics of --metrics, each once: sorted by name, except for paired tests, which keep the order. */
static Status choose_metrics(Run *run, ConfiguredMetric *metrics, size_t *count) {
    bool chosen[METRIC_COUNT + 1] = {false};
    const BleuOptions *bleu = bleu_options(run);
    *count = 0;
    assert(bleu);
    if (bleu->d2l) {
        metrics[(*count)++] = (ConfiguredMetric){&METRIC_BLEU_D2L, bleu};
        return STATUS_OK;
    }
    for (size_t i = 0; i < run->metrics.count; i++) {
        bool plus_plus = strcmp(run->metrics.items[i], CHRF_PLUS_PLUS) == 0;
        const char *name = plus_plus ? METRIC_CHRF.name : run->metrics.items[i];
        size_t m = 0;
        while (strcmp(METRICS[m]->name, name) != 0) m++;
        size_t place = plus_plus ? METRIC_COUNT : m;
        if (chosen[place]) continue;
        chosen[place] = true;
        const void *options = run->metric_options[m];
        if (plus_plus) {
            run->chrf_plus_plus = *(const ChrfOptions *)options;
            run->chrf_plus_plus.word_order = CHRF_PLUS_PLUS_WORDS;
            options = &run->chrf_plus_plus;
        }
        TRY(add_metric(run, m, options, metrics, count));
    }
    if (run->sentence_level && *count > 1)
        return status_fail(STATUS_USAGE, "option '--sentence-level' needs a single metric");
    if (!run->paired_bs) qsort(metrics, *count, sizeof *metrics, by_name);
    return STATUS_OK;
}

static Status read_input(Run *run) {
    TRY(input_references(&run->reference_lines, &run->references, run->num_refs));
    if (run->inputs.count > 0) {
        TRY(input_files(&run->systems, &run->inputs, run->paired_bs));
    } else {
        if (isatty(STDIN_FILENO) == 1)
            log_info("enter one translation per line; Ctrl-D ends the input; -i FILE reads a file");
        TRY(input_stdin(&run->systems, run->paired_bs));
    }
    TRY(check_systems(run));
    return input_check(&run->systems, &run->reference_lines);
}

/* SACREBLEU_FORMAT overrides --format, as in sacreBLEU. */
static ReportFormat format_of(const Run *run) {
    const char *format = getenv("SACREBLEU_FORMAT");
    if (format && strcasecmp(format, "json") == 0) return REPORT_JSON;
    if (format && strcasecmp(format, "text") == 0) return REPORT_TEXT;
    if (format && format[0]) log_warn("SACREBLEU_FORMAT=%s is neither json nor text: ignored", format);
    return (ReportFormat)run->format;
}

static Status score(Run *run, StrBuf *out) {
    ConfiguredMetric metrics[METRIC_COUNT + 1];
    Seed seed;
    ScoringOptions scoring = {&run->systems, &run->reference_lines, metrics, 0, test_of(run), 0, &seed};
    scoring.trials = run->paired_bs ? run->paired_bs_n : run->confidence_n;
    if (run->quiet) log_set_level(LOG_WARN);
    TRY(choose_metrics(run, metrics, &scoring.metric_count));
    TRY(seed_read(&seed, getenv("SACREBLEU_SEED")));
    TRY(read_input(run));
    assert(scoring.metric_count > 0);
    ReportStyle style = {.format = format_of(run), .width = run->width, .score_only = run->score_only};
    if (style.width < 0) style.width = metrics[0].metric->digits;
    style.abbreviated = run->short_signature;
    style.colour = style.format != REPORT_JSON && !run->no_color && log_may_colour(STDOUT_FILENO);
    if (run->systems.count > 1) log_info("%zu systems", run->systems.count);
    ScoreTable table = run->sentence_level ? score_sentences(&scoring) : score_systems(&scoring);
    (run->sentence_level ? report_write_sentences : report_write)(&table, &style, out);
    score_table_free(&table);
    return STATUS_OK;
}

Status cmd_bleu(int argc, char **argv) {
    Run run = {.num_refs = 1};
    StrBuf out = {0};
    HelpKind help = HELP_NONE;
    make_tables(&run);
    Status status = parse(&run, argc, argv, &help);
    if (status == STATUS_OK && help) {
        status = command_print_help(&TEXT, run.tables, help);
    } else if (status == STATUS_OK) {
        status = score(&run, &out);
        if (status == STATUS_OK) status = command_print_report(&out);
    }
    strbuf_free(&out);
    input_free(&run.reference_lines);
    input_free(&run.systems);
    options_free(run.tables);
    sentencepiece_free(bleu_options(&run)->pieces);
    for (size_t m = 0; METRICS[m]; m++) mem_free(run.metric_options[m]);
    return status;
}
