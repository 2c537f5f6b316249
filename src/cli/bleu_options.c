/* bleu_options.c - the option table, and the spellings of sacreBLEU that the table does not cover. */
#include "cli/bleu_options.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "cli/command_io.h"

#define FIELD(member_) OPT_FIELD(BleuCommand, member_)

/* One row, two lines: what it is, and its help. */
/* clang-format off */
static const Option ROWS[] = {
    {.flag = "input", .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE...", .group = "Input",
     .help = "hypotheses, one file per system; without it they are read from standard input, tab-separated"},
    {.flag = "reference", .alias = "references", .type = OPT_LIST, FIELD(references), .arg = "FILE",
     .help = "a reference, as an argument without an option is"},
    {.flag = "num-refs", .alias = "nr", .type = OPT_INT, FIELD(num_refs), .fallback = "1", .min = 1, .max = 1000, .arg = "N",
     .help = "split each line of the one reference file at tabs into N references"},
    {.flag = "model", .alias = "models", .type = OPT_LIST, FIELD(models), .arg = "FILE",
     .help = "translate --source with this model and score the result; several models form an ensemble"},
    {.flag = "source", .type = OPT_STRING, FIELD(source), .arg = "FILE",
     .help = "what --model translates"},
    {.flag = "beam-size", .type = OPT_INT, FIELD(beam_size), .fallback = "5", .min = 1, .max = 1000, .arg = "N",
     .help = "hypotheses kept per sentence by --model; 1 = greedy"},
    {.flag = "threads", .alias = "cpu-threads", .type = OPT_INT, FIELD(threads), .fallback = "0", .min = 0, .max = 1024, .arg = "N",
     .help = "threads of --model; 0 = one per core"},

    {.flag = "metrics", .letter = 'm', .type = OPT_LIST, FIELD(metrics), .fallback = "bleu", .arg = "NAME...", .group = "Score",
     .help = "bleu, chrf"},
    {.flag = "sentence-level", .alias = "sl", .type = OPT_BOOL, FIELD(sentence_level),
     .help = "a score for each line, with effective order"},
    {.flag = "d2l", .type = OPT_OPTIONAL_INT, FIELD(d2l), .bare = "2", .min = 1, .max = 100, .arg = "K",
     .help = "the textbook's bleu(k) on tokens between spaces, 0 to 1: mean over lines, or each with --sentence-level"},

    {.flag = "tokenize", .alias = "tok", .type = OPT_CHOICE, FIELD(tokenizer), .fallback = "13a", .choices = BLEU_TOKENIZER_CHOICES,
     .arg = "NAME", .group = "BLEU", .help = "tokenizer"},
    {.flag = "lowercase", .alias = "lc", .type = OPT_BOOL, FIELD(lowercase),
     .help = "ignore case"},
    {.flag = "smooth-method", .letter = 's', .type = OPT_CHOICE, FIELD(smoothing), .fallback = "exp", .choices = BLEU_SMOOTHING_CHOICES,
     .arg = "NAME", .help = "what to do about n-gram orders without a match"},
    {.flag = "smooth-value", .alias = "sv", .type = OPT_REAL, FIELD(smooth_value), .min = 0, .max = 1e9, .arg = "X",
     .help = "value for floor (usually 0.1) and add-k (usually 1)"},
    {.flag = "force", .type = OPT_BOOL, FIELD(force),
     .help = "no warning about input that looks tokenized"},

    {.flag = "chrf-char-order", .alias = "cc", .type = OPT_INT, FIELD(chrf_char_order), .fallback = "6", .min = 0, .max = 40,
     .arg = "N", .group = "chrF", .help = "longest n-grams of characters"},
    {.flag = "chrf-word-order", .alias = "cw", .type = OPT_INT, FIELD(chrf_word_order), .fallback = "0", .min = 0, .max = 40,
     .arg = "N", .help = "longest n-grams of words; 2 makes it chrF++"},
    {.flag = "chrf-beta", .type = OPT_INT, FIELD(chrf_beta), .fallback = "2", .min = 0, .max = 1000, .arg = "N",
     .help = "weight of recall against precision"},
    {.flag = "chrf-whitespace", .type = OPT_BOOL, FIELD(chrf_whitespace),
     .help = "count white space too"},
    {.flag = "chrf-lowercase", .type = OPT_BOOL, FIELD(chrf_lowercase),
     .help = "ignore case"},
    {.flag = "chrf-eps-smoothing", .type = OPT_BOOL, FIELD(chrf_eps_smoothing),
     .help = "average over all orders, as chrF++.py does"},

    {.flag = "confidence", .alias = "ci", .type = OPT_BOOL, FIELD(confidence), .group = "Significance",
     .help = "95 % confidence interval by bootstrap resampling"},
    {.flag = "confidence-n", .alias = "cin", .type = OPT_INT, FIELD(confidence_n), .fallback = "1000", .min = 1, .max = 1e8, .arg = "N",
     .help = "resamples of --confidence"},
    {.flag = "paired-bs", .alias = "pbs", .type = OPT_BOOL, FIELD(paired_bs),
     .help = "compare the systems with the first one by paired bootstrap resampling"},
    {.flag = "paired-bs-n", .alias = "pbsn", .type = OPT_INT, FIELD(paired_bs_n), .fallback = "1000", .min = 1, .max = 1e8, .arg = "N",
     .help = "resamples of --paired-bs"},
    {.flag = "paired-ar", .alias = "par", .type = OPT_BOOL, FIELD(paired_ar),
     .help = "the same by approximate randomization"},
    {.flag = "paired-ar-n", .alias = "parn", .type = OPT_INT, FIELD(paired_ar_n), .fallback = "10000", .min = 1, .max = 1e8, .arg = "N",
     .help = "trials of --paired-ar"},
    {.flag = "paired-jobs", .letter = 'j', .type = OPT_INT, FIELD(paired_jobs), .fallback = "1", .min = 0, .max = 1024, .arg = "N",
     .help = "accepted, without effect: the tests run in one thread"},

    {.flag = "score-only", .letter = 'b', .type = OPT_BOOL, FIELD(score_only), .group = "Output",
     .help = "print the number only"},
    {.flag = "width", .letter = 'w', .type = OPT_INT, FIELD(width), .fallback = "1", .min = 0, .max = 100, .arg = "N",
     .help = "digits after the decimal point; 3 with --d2l"},
    {.flag = "format", .letter = 'f', .type = OPT_CHOICE, FIELD(format), .fallback = "json", .choices = BLEU_FORMAT_CHOICES,
     .arg = "NAME", .help = "output format"},
    {.flag = "short", .alias = "sh", .type = OPT_BOOL, FIELD(short_signature),
     .help = "short signature"},
    {.flag = "no-color", .alias = "nc", .type = OPT_BOOL, FIELD(no_color),
     .help = "no colours on a terminal"},
    {.flag = "quiet", .letter = 'q', .type = OPT_BOOL, FIELD(quiet),
     .help = "say less"},
    {0},
};
/* clang-format on */

static const char USAGE[] =
    "Usage: attn-mt bleu REFERENCE... [-i HYPOTHESES...] [-m bleu chrf] [OPTION...] [< HYPOTHESES]\n"
    "       attn-mt bleu REFERENCE... --model MODEL --source SOURCE [OPTION...]\n"
    "\n"
    "Score translations against references with BLEU and chrF, in numbers and output like sacreBLEU " //
    BLEU_COMPATIBLE_VERSION ".\n"
    "Raw, detokenized text is expected, one sentence per line. Files may be gzipped.\n";

static const char NOTES[] =
    "sacreBLEU's short forms work too: -tok -lc -sl -sv -nr -cc -cw -ci -cin -pbs -pbsn -par -parn -sh "
    "-nc.\n"
    "\nEnvironment:\n"
    "  SACREBLEU_SEED   seed of resampling (default: 12345); none = different every time\n"
    "  SACREBLEU_FORMAT output format: json, text, latex; it overrides --format\n"
    "  NO_COLOR         if not empty, no colours\n";

/* Options of sacreBLEU that are about the test sets it downloads. */
static const char *const ABOUT_TEST_SETS[] = {
    "-t",         "--test-set", "-l",     "--language-pair", "-ol",    "--origlang", "--subset",
    "--download", "--echo",     "--list", "--citation",      "--cite", "-d",         "--detail"};

/* argv with every value in one word with its option. */
typedef struct {
    char **items;
    size_t count, capacity;
} Words;

static void add_word(Words *words, char *word) {
    MEM_GROW(words->items, words->capacity, words->count + 1);
    words->items[words->count++] = word;
}

/* "--name=value" with commas protected: a comma in a list option separates items. */
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

static bool is_metric(const char *word) {
    return strcmp(word, "bleu") == 0 || strcmp(word, "chrf") == 0 || strcmp(word, "ter") == 0;
}

static bool is_option(const char *word) { return word[0] == '-' && word[1] != '\0'; }

/* Options that take every argument up to the next option. Returns the name of such an option, or NULL. */
static const char *many_valued(const char *word) {
    if (strcmp(word, "-i") == 0 || strcmp(word, "--input") == 0) return "input";
    if (strcmp(word, "-m") == 0 || strcmp(word, "--metrics") == 0) return "metrics";
    return NULL;
}

static Status refuse_test_sets(const char *word) {
    for (size_t i = 0; i < sizeof ABOUT_TEST_SETS / sizeof *ABOUT_TEST_SETS; i++) {
        if (strcmp(word, ABOUT_TEST_SETS[i]) != 0) continue;
        Status status =
            status_fail(STATUS_USAGE, "option '%s': sacreBLEU's test sets are not built in", word);
        return status_hint(status, "give the files of the references as arguments");
    }
    return STATUS_OK;
}

/* The values of option argv[at], each with an option of its own. Returns the index of the last one, or `at`. */
static int spread_option(int at, int argc, char **argv, const char *name, Words *words) {
    int last = at;
    while (last + 1 < argc && argv[last + 1][0] && !is_option(argv[last + 1])) {
        /* Not a metric: a reference, unless it stands where a metric must. */
        if (strcmp(name, "metrics") == 0 && last > at && !is_metric(argv[last + 1])) break;
        add_word(words, joined(name, argv[++last]));
    }
    return last;
}

/* "-i a b" becomes "--input=a --input=b". */
static Status spread_values(int argc, char **argv, Words *words) {
    int i = 0;
    if (argc > 0) add_word(words, mem_strdup(argv[i++]));
    for (; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *name = many_valued(argv[i]);
        bool file = strncmp(argv[i], "--input=", 8) == 0 && argv[i][8];
        TRY(refuse_test_sets(argv[i]));
        if (!name) {
            add_word(words, file ? joined("input", argv[i] + 8) : mem_strdup(argv[i]));
            continue;
        }
        int last = spread_option(i, argc, argv, name, words);
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

static void format_from_environment(BleuCommand *command) {
    const char *wanted = getenv("SACREBLEU_FORMAT");
    static const char *const NAMES[] = {"json", "text", "latex"};
    for (int i = 0; wanted && i < 3; i++)
        if (strcasecmp(wanted, NAMES[i]) == 0) command->format = i;
}

/* What one option says about another. */
static Status check(const BleuCommand *command) {
    if (command->paired_ar && command->paired_bs)
        return status_fail(STATUS_USAGE, "option '--paired-ar' does not go with '--paired-bs'");
    if (command->references.count == 0) {
        Status status = status_fail(STATUS_USAGE, "no reference given");
        return status_hint(status, "name the references before -i: attn-mt bleu REFERENCE... -i HYPOTHESES");
    }
    if (command->num_refs != 1 && command->references.count > 1) {
        Status status =
            status_fail(STATUS_USAGE, "option '--num-refs' does not go with several reference files");
        return status_hint(status, "give one file with tab-separated references, or leave --num-refs out");
    }
    if ((command->models.count > 0) != (command->source != NULL))
        return status_fail(STATUS_USAGE, "options '--model' and '--source' go together");
    if (command->models.count > 0 && command->inputs.count > 0)
        return status_fail(STATUS_USAGE, "option '--model' does not go with '--input'");
    if (command->chrf_char_order + command->chrf_word_order == 0)
        return status_fail(STATUS_USAGE,
                           "chrF needs n-grams: '--chrf-char-order' and '--chrf-word-order' are both 0");
    if (command->metrics.count == 0) return status_fail(STATUS_USAGE, "option '--metrics' needs a value");
    for (size_t i = 0; i < command->metrics.count; i++) {
        const char *name = command->metrics.items[i];
        if (strcmp(name, "bleu") == 0 || strcmp(name, "chrf") == 0) continue;
        Status status = status_fail(STATUS_USAGE, "option '--metrics': '%s' is not one of bleu, chrf", name);
        return strcmp(name, "ter") == 0 ? status_hint(status, "TER is not built in") : status;
    }
    bool tests = command->confidence || command->paired_ar || command->paired_bs;
    if (command->d2l && tests)
        return status_fail(STATUS_USAGE,
                           "option '--d2l' does not go with confidence intervals and paired tests");
    if (command->sentence_level && tests)
        return status_fail(STATUS_USAGE, "option '--sentence-level' does not go with statistical tests");
    return STATUS_OK;
}

static const OptionTable *tables_for(BleuCommand *command, OptionTable tables[2]) {
    tables[0] = (OptionTable){ROWS, command};
    tables[1] = (OptionTable){0};
    return tables;
}

static void add_references(StrList *references, const StrList *positional) {
    for (size_t i = 0; i < positional->count; i++) strlist_add(references, sv(positional->items[i]));
}

Status bleu_options_parse(BleuCommand *command, int argc, char **argv, bool *help) {
    OptionTable storage[2];
    const OptionTable *tables = tables_for(command, storage);
    *command = (BleuCommand){0};
    *help = false;
    options_defaults(tables);
    command->smooth_value = NAN;
    command->width = -1;
    Words words = {0};
    Status status = spread_values(argc, argv, &words);
    StrList positional = {0};
    if (status == STATUS_OK)
        status = options_parse(tables, (int)words.count, words.items, false, &positional, help);
    if (status == STATUS_OK && !*help) {
        add_references(&command->references, &positional);
        if (command->width < 0) command->width = command->d2l ? 3 : 1;
        format_from_environment(command);
        status = check(command);
    }
    mem_free(positional.items);
    words_release(&words);
    return status;
}

Status bleu_options_print_help(void) {
    BleuCommand command;
    OptionTable storage[2];
    return command_print_help(USAGE, tables_for(&command, storage), NOTES);
}

void bleu_options_free(BleuCommand *command) {
    OptionTable storage[2];
    options_free(tables_for(command, storage));
}

BleuOptions bleu_options_bleu(const BleuCommand *command) {
    BleuOptions options = {.tokenizer = (BleuTokenizer)command->tokenizer, .lowercase = command->lowercase};
    options.smoothing = (BleuSmoothing)command->smoothing;
    options.smooth_value =
        isnan(command->smooth_value) ? bleu_default_smooth_value(options.smoothing) : command->smooth_value;
    options.effective_order = command->sentence_level;
    return options;
}

ChrfOptions bleu_options_chrf(const BleuCommand *command) {
    return (ChrfOptions){.char_order = command->chrf_char_order,
                         .word_order = command->chrf_word_order,
                         .beta = command->chrf_beta,
                         .lowercase = command->chrf_lowercase,
                         .whitespace = command->chrf_whitespace,
                         .eps_smoothing = command->chrf_eps_smoothing};
}
