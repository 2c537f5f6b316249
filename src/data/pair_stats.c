/* pair_stats.c - see pair_stats.h. */
#include "data/pair_stats.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "tokenizer/pretokenize.h"

enum { CODE_POINTS = 0x110000, TRIGRAMS = 1 << 16, MAX_RATIO = 10000 };

/* ---- counting ---- */

static void histogram_add(Histogram *histogram, int value) {
    size_t before = histogram->capacity;
    MEM_GROW(histogram->counts, histogram->capacity, (size_t)value + 1);
    for (size_t i = before; i < histogram->capacity; i++) histogram->counts[i] = 0;
    histogram->counts[value]++;
    histogram->total++;
    if (value > histogram->greatest) histogram->greatest = value;
}

int histogram_quantile(const Histogram *histogram, double fraction) {
    double target = fraction * (double)histogram->total, sum = 0;
    for (int value = 0; value < histogram->greatest; value++)
        if ((sum += (double)histogram->counts[value]) >= target) return value;
    return histogram->greatest;
}

/* `pair`: its index. */
static void add_finding(PairStats *stats, FindingKind kind, long pair, PairLocation location) {
    Finding *finding = &stats->findings[kind];
    MEM_GROW(finding->locations, finding->capacity, (size_t)finding->count + 1);
    finding->locations[finding->count++] = location;
    stats->found_in_pair[pair] |= finding_bit(kind);
}

/* A set of texts, stored as 64-bit hashes: in data that fits on a disk two texts do not collide by chance.
 * Not base/hashmap.h, which copies its keys: this takes 8 to 16 bytes per text instead of the text. */
typedef struct {
    uint64_t *slots; /* 0: empty */
    size_t capacity, count;
} HashSet;

static uint64_t hash_text(StrView text, uint64_t seed) {
    return sv_hash(text, seed) | 1; /* 0 is an empty slot */
}

static uint64_t *set_slot(const HashSet *set, uint64_t hash) {
    size_t i = hash >> 1 & (set->capacity - 1); /* the lowest bit is always set */
    while (set->slots[i] && set->slots[i] != hash) i = (i + 1) & (set->capacity - 1);
    return &set->slots[i];
}

static bool set_has(const HashSet *set, uint64_t hash) {
    return set->count > 0 && *set_slot(set, hash) == hash;
}

/* Was it in the set before? */
static bool set_add(HashSet *set, uint64_t hash) {
    if (2 * (set->count + 1) > set->capacity) {
        HashSet grown = {.capacity = set->capacity ? 2 * set->capacity : 1024, .count = set->count};
        grown.slots = mem_alloc(grown.capacity, sizeof *grown.slots);
        for (size_t i = 0; i < set->capacity; i++)
            if (set->slots[i]) *set_slot(&grown, set->slots[i]) = set->slots[i];
        mem_free(set->slots);
        *set = grown;
    }
    uint64_t *slot = set_slot(set, hash);
    if (*slot == hash) return true;
    *slot = hash;
    set->count++;
    return false;
}

/* ---- one sentence ---- */

/* The byte of this character in Windows-1252 if it is 0x80 to 0xBF, else -1. */
static int continuation_byte(int c) {
    static const int characters[32] = {0x20AC, 0x81,   0x201A, 0x192,  0x201E, 0x2026, 0x2020, 0x2021,
                                       0x2C6,  0x2030, 0x160,  0x2039, 0x152,  0x8D,   0x17D,  0x8F,
                                       0x90,   0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014,
                                       0x2DC,  0x2122, 0x161,  0x203A, 0x153,  0x9D,   0x17E,  0x178};
    if (c >= 0x80 && c <= 0xBF) return c;
    for (int i = 0; i < 32; i++)
        if (characters[i] == c) return 0x80 + i;
    return -1;
}

/* Is it the ellipsis, a quote, a dash or the no-break space of Windows-1252? */
static bool is_punctuation_byte(int byte) {
    return byte == 0x85 || (byte >= 0x91 && byte <= 0x97 && byte != 0x95) || byte == 0xA0 || byte == 0xAB ||
           byte == 0xBB;
}

/* Do the last three characters end in a UTF-8 sequence of two or three bytes, read as Windows-1252? Two-byte
 * sequences count for accented Latin, Greek and Cyrillic letters only, the ones that occur in practice. Text
 * that can follow a French letter, such as a no-break space before a closing quote, does not count. */
static bool ends_in_mojibake(int before, int middle, int last) {
    int third = continuation_byte(last);
    if (third < 0) return false;
    if ((middle >= 0xC2 && middle <= 0xC5) || middle == 0xCE || middle == 0xCF || middle == 0xD0 ||
        middle == 0xD1)
        return middle != 0xC2 || last != 0xBB; /* a French capital before its closing quote */
    int second = before >= 0xE0 && before <= 0xEF ? continuation_byte(middle) : -1;
    return second >= 0 && !(is_punctuation_byte(second) && is_punctuation_byte(third));
}

/* The last three characters. */
typedef struct {
    int before, middle, last;
} Window;

static void window_add(Window *window, int c) { *window = (Window){window->middle, window->last, c}; }

static unsigned window_trigram(const Window *window) {
    uint64_t key =
        ((uint64_t)window->before << 42) | ((uint64_t)window->middle << 21) | (uint64_t)window->last;
    return (unsigned)(key * UINT64_C(0x9E3779B97F4A7C15) >> 48);
}

static void count_word(void *context, StrView token) {
    (void)token;
    ++*(int *)context;
}

/* ---- both passes ---- */

typedef struct {
    PairStats *stats;
    PairReader *reader;
    HashSet pairs, sources, valid_pairs, valid_sources;
    uint32_t *trigrams[PAIR_SIDES]; /* [TRIGRAMS] */
    double trigram_total[PAIR_SIDES];
    PairChecker checker;
} Survey;

typedef struct {
    StrView side[PAIR_SIDES];
    StrView whole[PAIR_SIDES]; /* with the blanks around it */
    long index;
    PairLocation location;
} TextPair;

static Status next_pair(PairReader *reader, TextPair *pair, bool *more) {
    TRY(pair_reader_next(reader, &pair->whole[0], &pair->whole[1], more));
    for (int s = 0; s < PAIR_SIDES && *more; s++) pair->side[s] = sv_trim(pair->whole[s]);
    pair->index = pair_reader_count(reader) - 1;
    pair->location = pair_reader_location(reader);
    return STATUS_OK;
}

static uint64_t hash_pair(const TextPair *pair) {
    return hash_text(pair->side[PAIR_TARGET], hash_text(pair->side[PAIR_SOURCE], 0));
}

static void add_to(Survey *survey, FindingKind kind, const TextPair *pair) {
    add_finding(survey->stats, kind, pair->index, pair->location);
}

static void check_duplicates(Survey *survey, const TextPair *pair) {
    uint64_t both = hash_pair(pair), source = hash_text(pair->side[PAIR_SOURCE], 0);
    bool repeated = set_add(&survey->pairs, both), known_source = set_add(&survey->sources, source);
    if (repeated)
        add_to(survey, FINDING_REPEATED, pair);
    else if (known_source)
        add_to(survey, FINDING_OTHER_TRANSLATION, pair);
    if (set_has(&survey->valid_pairs, both))
        add_to(survey, FINDING_IN_VALID, pair);
    else if (set_has(&survey->valid_sources, source))
        add_to(survey, FINDING_SOURCE_IN_VALID, pair);
}

/* Counts the characters and trigrams of one side; returns its length in characters. */
static int survey_text(Survey *survey, int side, StrView text, bool *mojibake) {
    Window window = {0};
    int length = 0;
    for (size_t position = 0; position < text.length; length++) {
        int c = utf8_next(text, &position);
        survey->stats->seen[side][c]++;
        window_add(&window, c);
        survey->trigrams[side][window_trigram(&window)]++;
        *mojibake |= ends_in_mojibake(window.before, window.middle, window.last);
    }
    survey->trigram_total[side] += length;
    return length;
}

static int ratio_of(const int *length) {
    int ratio = (int)lround(100.0 * length[PAIR_TARGET] / length[PAIR_SOURCE]);
    return ratio < MAX_RATIO ? ratio : MAX_RATIO;
}

static void survey_pair(Survey *survey, const TextPair *pair) {
    PairStats *stats = survey->stats;
    bool mojibake = false;
    int length[PAIR_SIDES];
    for (int side = 0; side < PAIR_SIDES; side++) {
        int words = 0;
        length[side] = survey_text(survey, side, pair->side[side], &mojibake);
        tokenize_words(pair->side[side], count_word, &words);
        histogram_add(&stats->characters[side], length[side]);
        histogram_add(&stats->words[side], words);
    }
    histogram_add(&stats->ratio, ratio_of(length));
    MEM_GROW(stats->found_in_pair, stats->found_in_pair_capacity, (size_t)stats->pairs + 1);
    stats->found_in_pair[stats->pairs++] = 0;
    stats->file_pairs[pair->location.entry]++;
    check_duplicates(survey, pair);
    if (sv_equal(pair->side[0], pair->side[1])) add_to(survey, FINDING_SAME_TEXT, pair);
    if (mojibake) add_to(survey, FINDING_MOJIBAKE, pair);
    FindingSet findings = pair_check(&survey->checker, pair->whole[0], pair->whole[1]);
    for (FindingKind kind = FINDING_PLACEHOLDERS; kind < FINDING_KINDS; kind++)
        if (findings & finding_bit(kind)) add_to(survey, kind, pair);
}

/* log p(text | other column) - log p(text | its column). `counted`: the column's counts include the text. */
static double other_column(const Survey *survey, int side, StrView text, bool counted) {
    const uint32_t *own = survey->trigrams[side], *other = survey->trigrams[!side];
    double sum = 0, half = 0.5 * TRIGRAMS;
    Window window = {0};
    for (size_t position = 0; position < text.length;) {
        window_add(&window, utf8_next(text, &position));
        unsigned trigram = window_trigram(&window);
        double mine = own[trigram] - (counted ? 1.0 : 0.0);
        sum += log((other[trigram] + 0.5) / (mine + 0.5));
    }
    double all = log((survey->trigram_total[side] + half) / (survey->trigram_total[!side] + half));
    return sum + (double)utf8_count(text) * all;
}

static bool is_swapped(const Survey *survey, const TextPair *pair, bool counted) {
    static const double SURE = 12, LIKELY = 3; /* both sides together, each side: short texts prove little */
    double source = other_column(survey, PAIR_SOURCE, pair->side[PAIR_SOURCE], counted);
    double target = other_column(survey, PAIR_TARGET, pair->side[PAIR_TARGET], counted);
    return source > LIKELY && target > LIKELY && source + target > SURE;
}

static bool has_odd_lengths(const PairStats *stats, const TextPair *pair) {
    enum { FACTOR = 3, FEW = 20 }; /* characters: small differences do not count */
    double expected =
        (double)utf8_count(pair->side[PAIR_SOURCE]) * histogram_quantile(&stats->ratio, 0.5) / 100;
    double length = (double)utf8_count(pair->side[PAIR_TARGET]);
    return fabs(length - expected) > FEW && (length > FACTOR * expected || FACTOR * length < expected);
}

static Status check_pairs(Survey *survey) {
    PairStats *stats = survey->stats;
    TextPair pair;
    for (bool more = true;;) {
        TRY(next_pair(survey->reader, &pair, &more));
        if (!more) return STATUS_OK;
        if (is_swapped(survey, &pair, true)) add_to(survey, FINDING_SWAPPED, &pair);
        if (has_odd_lengths(stats, &pair)) add_to(survey, FINDING_LENGTHS, &pair);
    }
}

static Status survey_pairs(Survey *survey) {
    TextPair pair;
    for (bool more = true;;) {
        TRY(next_pair(survey->reader, &pair, &more));
        if (!more) return STATUS_OK;
        survey_pair(survey, &pair);
    }
}

/* The validation file is read before the survey for its hashes, and after it to find swapped columns. */
static Status read_valid(Survey *survey, PairReader *reader, bool surveyed) {
    TextPair pair;
    for (bool more = true;;) {
        TRY(next_pair(reader, &pair, &more));
        if (!more) return STATUS_OK;
        if (surveyed) {
            survey->stats->valid_swapped += is_swapped(survey, &pair, false);
            continue;
        }
        set_add(&survey->valid_pairs, hash_pair(&pair));
        set_add(&survey->valid_sources, hash_text(pair.side[PAIR_SOURCE], 0));
        survey->stats->valid_pairs++;
    }
}

static Status open_pairs(PairReader **reader, const StrList *files, const DataOptions *options) {
    TRY(pair_reader_open(reader, files, options));
    pair_reader_allow_other_encodings(*reader);
    return STATUS_OK;
}

static Status open_valid(PairReader **reader, const char *file, const DataOptions *options) {
    StrList files = {0};
    strlist_add(&files, sv(file));
    Status status = open_pairs(reader, &files, options);
    strlist_free(&files);
    return status;
}

static Status run_survey(Survey *survey, PairReader *valid) {
    if (valid) TRY(read_valid(survey, valid, false));
    TRY(survey_pairs(survey));
    pair_reader_report(survey->reader, &survey->stats->report);
    pair_reader_rewind(survey->reader);
    TRY(check_pairs(survey));
    if (!valid) return STATUS_OK;
    pair_reader_rewind(valid);
    return read_valid(survey, valid, true);
}

Status pair_stats_read(PairStats *stats, const StrList *files, const char *valid,
                       const DataOptions *options) {
    Survey survey = {.stats = stats};
    PairReader *valid_reader = NULL;
    *stats = (PairStats){0};
    TRY(open_pairs(&survey.reader, files, options));
    stats->file_pairs = mem_alloc(files->count, sizeof *stats->file_pairs);
    for (int side = 0; side < PAIR_SIDES; side++) {
        stats->seen[side] = mem_alloc(CODE_POINTS, sizeof *stats->seen[side]);
        survey.trigrams[side] = mem_alloc(TRIGRAMS, sizeof *survey.trigrams[side]);
    }
    Status status = valid ? open_valid(&valid_reader, valid, options) : STATUS_OK;
    if (status == STATUS_OK) status = run_survey(&survey, valid_reader);
    pair_reader_close(valid_reader);
    pair_reader_close(survey.reader);
    mem_free(survey.pairs.slots);
    mem_free(survey.sources.slots);
    mem_free(survey.valid_pairs.slots);
    mem_free(survey.valid_sources.slots);
    pair_checker_free(&survey.checker);
    for (int side = 0; side < PAIR_SIDES; side++) mem_free(survey.trigrams[side]);
    if (status != STATUS_OK) pair_stats_free(stats);
    return status;
}

void pair_stats_free(PairStats *stats) {
    for (int side = 0; side < PAIR_SIDES; side++) {
        mem_free(stats->words[side].counts);
        mem_free(stats->characters[side].counts);
        mem_free(stats->seen[side]);
    }
    for (FindingKind kind = 0; kind < FINDING_KINDS; kind++) mem_free(stats->findings[kind].locations);
    mem_free(stats->found_in_pair);
    mem_free(stats->file_pairs);
    mem_free(stats->ratio.counts);
    strbuf_free(&stats->report);
    *stats = (PairStats){0};
}

/* ---- scripts ---- */

/* The blocks of the larger scripts; Unicode 15.0, Blocks.txt */
static const struct {
    int first, last;
    const char *name;
} BLOCKS[] = {
    {0x41, 0x24F, "Latin"},        {0x250, 0x2AF, "Latin"},      {0x370, 0x3FF, "Greek"},
    {0x400, 0x52F, "Cyrillic"},    {0x530, 0x58F, "Armenian"},   {0x590, 0x5FF, "Hebrew"},
    {0x600, 0x6FF, "Arabic"},      {0x700, 0x74F, "Syriac"},     {0x750, 0x77F, "Arabic"},
    {0x780, 0x7BF, "Thaana"},      {0x8A0, 0x8FF, "Arabic"},     {0x900, 0x97F, "Devanagari"},
    {0x980, 0x9FF, "Bengali"},     {0xA00, 0xA7F, "Gurmukhi"},   {0xA80, 0xAFF, "Gujarati"},
    {0xB00, 0xB7F, "Oriya"},       {0xB80, 0xBFF, "Tamil"},      {0xC00, 0xC7F, "Telugu"},
    {0xC80, 0xCFF, "Kannada"},     {0xD00, 0xD7F, "Malayalam"},  {0xD80, 0xDFF, "Sinhala"},
    {0xE00, 0xE7F, "Thai"},        {0xE80, 0xEFF, "Lao"},        {0xF00, 0xFFF, "Tibetan"},
    {0x1000, 0x109F, "Myanmar"},   {0x10A0, 0x10FF, "Georgian"}, {0x1100, 0x11FF, "Hangul"},
    {0x1200, 0x139F, "Ethiopic"},  {0x13A0, 0x13FF, "Cherokee"}, {0x1780, 0x17FF, "Khmer"},
    {0x1800, 0x18AF, "Mongolian"}, {0x1C80, 0x1C8F, "Cyrillic"}, {0x1C90, 0x1CBF, "Georgian"},
    {0x1E00, 0x1EFF, "Latin"},     {0x1F00, 0x1FFF, "Greek"},    {0x2C60, 0x2C7F, "Latin"},
    {0x2D30, 0x2D7F, "Tifinagh"},  {0x3005, 0x3007, "Han"},      {0x3040, 0x309F, "Hiragana"},
    {0x30A0, 0x30FF, "Katakana"},  {0x3130, 0x318F, "Hangul"},   {0x31F0, 0x31FF, "Katakana"},
    {0x3400, 0x4DBF, "Han"},       {0x4E00, 0x9FFF, "Han"},      {0xA640, 0xA69F, "Cyrillic"},
    {0xA720, 0xA7FF, "Latin"},     {0xA960, 0xA97F, "Hangul"},   {0xAC00, 0xD7FF, "Hangul"},
    {0xF900, 0xFAFF, "Han"},       {0xFB00, 0xFB06, "Latin"},    {0xFB1D, 0xFB4F, "Hebrew"},
    {0xFB50, 0xFDFF, "Arabic"},    {0xFE70, 0xFEFE, "Arabic"},   {0xFF21, 0xFF5A, "Latin"},
    {0xFF66, 0xFF9F, "Katakana"},  {0x20000, 0x3FFFF, "Han"},
};
enum { BLOCK_COUNT = sizeof BLOCKS / sizeof *BLOCKS };

static const char *script_of(int c) {
    for (int i = 0; i < BLOCK_COUNT; i++)
        if (c >= BLOCKS[i].first && c <= BLOCKS[i].last) return BLOCKS[i].name;
    return "other";
}

static int by_letters_descending(const void *a, const void *b) {
    const ScriptCount *x = a, *y = b;
    return (x->letters < y->letters) - (x->letters > y->letters);
}

int pair_stats_scripts(const PairStats *stats, int side, ScriptCount *scripts, int most, int *different,
                       int *once) {
    ScriptCount counts[BLOCK_COUNT + 1];
    int count = 0;
    *different = *once = 0;
    for (int c = 0; c < CODE_POINTS; c++) {
        long times = stats->seen[side][c];
        if (times == 0 || unicode_is_space(c)) continue;
        ++*different;
        *once += times == 1;
        if (unicode_class(c) != CHAR_LETTER) continue;
        StrView name = sv(script_of(c));
        int i = 0;
        while (i < count && !sv_equal(sv(counts[i].name), name)) i++;
        if (i == count) counts[count++] = (ScriptCount){name.data, 0};
        counts[i].letters += times;
    }
    qsort(counts, (size_t)count, sizeof *counts, by_letters_descending);
    for (int i = 0; i < count && i < most; i++) scripts[i] = counts[i];
    return count < most ? count : most;
}

long pair_stats_other_spaces(const PairStats *stats, int side) {
    long count = 0;
    for (int c = 0; c < CODE_POINTS; c++)
        if (unicode_is_space(c) && unicode_class(c) == CHAR_OTHER) count += stats->seen[side][c];
    return count;
}
