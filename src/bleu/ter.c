/* ter.c - edit distance near the diagonal, its alignment, and the search for shifts that shorten it. */
#include "bleu/ter.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "bleu/bleu_tokenizers.h"

enum { BEAM = 25, MAX_SHIFT_LENGTH = 10, MAX_SHIFT_DISTANCE = 50, MAX_CANDIDATES = 1000 };

/* clang-format off */
#define FIELD(member_) OPT_FIELD(TerOptions, member_)
static const Option ROWS[] = {
    {.flag = "ter-case-sensitive", .type = OPT_BOOL, FIELD(case_sensitive), .group = "TER",
     .help = "distinguish upper and lower case"},
    {.flag = "ter-asian-support", .type = OPT_BOOL, FIELD(asian_support),
     .help = "with --ter-normalized, split ideographs; with --ter-no-punct, also remove Asian punctuation"},
    {.flag = "ter-no-punct", .type = OPT_BOOL, FIELD(no_punct),
     .help = "remove punctuation"},
    {.flag = "ter-normalized", .type = OPT_BOOL, FIELD(normalized),
     .help = "separate punctuation from words"},
    {0},
};
/* clang-format on */

typedef enum { UNREACHED, MATCH, SUBSTITUTE, DELETE, INSERT } Edit;

/* The cheapest way to turn the first i words of the hypothesis into the first j of the reference. */
typedef struct {
    int cost;
    Edit last;
} EditCell;

static const EditCell NOWHERE = {INT_MAX / 2, UNREACHED};

/* A hypothesis whose words are shifted towards its reference. A row of the tables has only the cells near the
 * diagonal, from row_begin on. */
typedef struct {
    Symbols reference;
    size_t length;                 /* of the hypothesis */
    double slope;                  /* of the diagonal: reference words per hypothesis word */
    size_t width;                  /* number of cells on each side of the diagonal */
    uint32_t *words, *trial;       /* the current hypothesis, and one with a further shift */
    EditCell *table, *trial_table; /* [length + 1][2 width + 1]; row 0 is not stored */
    long *aligned; /* of each reference word: index of its hypothesis word or the one before it, or -1 */
    bool *reference_wrong, *hypothesis_wrong; /* words without a match */
    int candidates;                           /* shifts tried so far */
} Pair;

/* Moves `length` words from `start` to `target`, both in the words before the shift. */
typedef struct {
    size_t start, length, target;
    int gain; /* edits saved */
} Shift;

static size_t row_size(const Pair *pair) { return 2 * pair->width + 1; }

static size_t row_begin(const Pair *pair, size_t i) {
    size_t middle = (size_t)floor((double)i * pair->slope);
    return middle > pair->width ? middle - pair->width : 0;
}

/* A row, to compute the next one. */
typedef struct {
    const EditCell *cells; /* NULL: row 0 */
    size_t begin, size;
} Row;

static Row row_at(const Pair *pair, const EditCell *table, size_t i) {
    size_t size = row_size(pair);
    return (Row){i > 0 ? table + i * size : NULL, row_begin(pair, i), size};
}

static EditCell cell_at(const Row *row, size_t j) {
    if (!row->cells) return (EditCell){(int)j, INSERT};
    return j >= row->begin && j - row->begin < row->size ? row->cells[j - row->begin] : NOWHERE;
}

static Pair pair_new(Symbols hypothesis, Symbols reference) {
    Pair pair = {.reference = reference, .length = hypothesis.count, .width = BEAM};
    pair.slope = pair.length ? (double)reference.count / (double)pair.length : 0;
    if (pair.slope / 2 > BEAM) pair.width = (size_t)ceil(pair.slope / 2 + BEAM);
    size_t cells = (pair.length + 1) * row_size(&pair);
    pair.words = mem_alloc(pair.length + 1, sizeof *pair.words);
    pair.trial = mem_alloc(pair.length + 1, sizeof *pair.trial);
    pair.table = mem_alloc(cells, sizeof *pair.table);
    pair.trial_table = mem_alloc(cells, sizeof *pair.trial_table);
    pair.aligned = mem_alloc(reference.count, sizeof *pair.aligned);
    pair.reference_wrong = mem_alloc(reference.count, sizeof *pair.reference_wrong);
    pair.hypothesis_wrong = mem_alloc(pair.length + 1, sizeof *pair.hypothesis_wrong);
    if (pair.length) memcpy(pair.words, hypothesis.items, pair.length * sizeof *pair.words);
    return pair;
}

static void pair_free(Pair *pair) {
    mem_free(pair->words);
    mem_free(pair->trial);
    mem_free(pair->table);
    mem_free(pair->trial_table);
    mem_free(pair->aligned);
    mem_free(pair->reference_wrong);
    mem_free(pair->hypothesis_wrong);
}

static void take_cheaper(EditCell *cell, int cost, Edit edit) {
    if (cost < cell->cost) *cell = (EditCell){cost, edit};
}

/* Row i from the row above it. */
static void fill_row(const Pair *pair, uint32_t word, size_t i, EditCell *table) {
    const uint32_t *reference = pair->reference.items;
    size_t begin = row_begin(pair, i), size = row_size(pair), columns = pair->reference.count + 1;
    size_t end = (size_t)floor((double)i * pair->slope) + pair->width;
    if (end > columns) end = columns;
    Row above = row_at(pair, table, i - 1);
    EditCell *row = table + i * size, left = NOWHERE,
             corner = begin > 0 ? cell_at(&above, begin - 1) : NOWHERE;
    for (size_t j = begin; j < end; j++) {
        EditCell up = cell_at(&above, j), cell = NOWHERE;
        if (j > 0) {
            bool same = word == reference[j - 1];
            take_cheaper(&cell, corner.cost + !same, same ? MATCH : SUBSTITUTE);
        }
        take_cheaper(&cell, up.cost + 1, DELETE);
        if (j > 0) take_cheaper(&cell, left.cost + 1, INSERT);
        row[j - begin] = left = cell;
        corner = up;
    }
    for (size_t j = end - begin; j < size; j++) row[j] = NOWHERE;
}

/* The edit distance. Rows up to `known` are filled already. */
static int fill_table(const Pair *pair, const uint32_t *words, size_t known, EditCell *table) {
    for (size_t i = known + 1; i <= pair->length; i++) fill_row(pair, words[i - 1], i, table);
    Row last = row_at(pair, table, pair->length);
    return cell_at(&last, pair->reference.count).cost;
}

/* Follows the edits from the end of both texts to their beginning. */
static void align(Pair *pair) {
    size_t i = pair->length, j = pair->reference.count;
    while (i > 0 || j > 0) {
        Row row = row_at(pair, pair->table, i);
        Edit edit = cell_at(&row, j).last;
        bool wrong = edit != MATCH;
        if (edit != INSERT) pair->hypothesis_wrong[--i] = wrong;
        if (edit == DELETE) continue;
        pair->reference_wrong[--j] = wrong;
        pair->aligned[j] = edit == INSERT ? (long)i - 1 : (long)i;
    }
}

static void perform(const Pair *pair, Shift shift, uint32_t *out) {
    size_t at = 0, end = shift.start + shift.length;
    /* A target inside the segment moves it forward by the distance from its start. */
    size_t target = shift.target;
    if (target >= shift.start && target <= end) target += shift.length;
    if (target > pair->length) target = pair->length;
    for (size_t i = 0; i <= pair->length; i++) {
        if (i == target)
            for (size_t k = shift.start; k < end; k++) out[at++] = pair->words[k];
        if (i < pair->length && (i < shift.start || i >= end)) out[at++] = pair->words[i];
    }
}

static bool is_better(Shift a, Shift b) {
    if (a.gain != b.gain) return a.gain > b.gain;
    if (a.length != b.length) return a.length > b.length;
    if (a.start != b.start) return a.start < b.start;
    return a.target < b.target;
}

static bool any(const bool *flags, size_t count) { return memchr(flags, 1, count) != NULL; }

/* Tries shifts of the `length` words at `start` to where the reference has the same words, at `from`. */
static void try_targets(Pair *pair, size_t start, size_t from, size_t length, int distance, Shift *best) {
    size_t row = row_size(pair), last = SIZE_MAX;
    for (size_t k = 0; k <= length; k++) {
        size_t target = from + k == 0 ? 0 : (size_t)(pair->aligned[from + k - 1] + 1);
        if (target == last) continue;
        last = target;
        Shift shift = {start, length, target, 0};
        size_t known = target < start ? target : start; /* rows that the shift does not change */
        perform(pair, shift, pair->trial);
        memcpy(pair->trial_table + known * row, pair->table + known * row, row * sizeof(EditCell));
        shift.gain = distance - fill_table(pair, pair->trial, known, pair->trial_table);
        pair->candidates++;
        if (best->length == 0 || is_better(shift, *best)) *best = shift;
    }
}

/* The best shift of misplaced words to their position in the reference; length 0 if there is none. */
static Shift find_shift(Pair *pair, int distance) {
    Shift best = {.length = 0};
    for (size_t start = 0; start < pair->length; start++) {
        for (size_t from = 0; from < pair->reference.count; from++) {
            if (labs((long)start - (long)from) > MAX_SHIFT_DISTANCE) continue;
            for (size_t length = 1; length <= MAX_SHIFT_LENGTH; length++) {
                size_t end = start + length;
                if (end > pair->length || from + length > pair->reference.count ||
                    pair->words[end - 1] != pair->reference.items[from + length - 1])
                    break;
                if (!any(pair->hypothesis_wrong + start, length) ||
                    !any(pair->reference_wrong + from, length))
                    continue;
                if (pair->aligned[from] >= (long)start && pair->aligned[from] < (long)end) continue;
                try_targets(pair, start, from, length, distance, &best);
                if (pair->candidates >= MAX_CANDIDATES) return best;
            }
        }
    }
    return best;
}

static int count_edits(Symbols hypothesis, Symbols reference) {
    if (reference.count == 0) return (int)hypothesis.count;
    Pair pair = pair_new(hypothesis, reference);
    int shifts = 0, distance = fill_table(&pair, pair.words, 0, pair.table);
    while (distance > 0) {
        align(&pair);
        Shift shift = find_shift(&pair, distance);
        if (shift.gain <= 0 || pair.candidates >= MAX_CANDIDATES) break;
        perform(&pair, shift, pair.trial);
        memcpy(pair.words, pair.trial, pair.length * sizeof *pair.words);
        distance = fill_table(&pair, pair.words, 0, pair.table);
        shifts++;
    }
    pair_free(&pair);
    return shifts + distance;
}

static int width(const void *options) {
    (void)options;
    return 2;
}

static void tokenize(const TerOptions *options, StrView text, StrBuf *words) {
    tokenize_tercom(text, options->normalized, options->no_punct, options->asian_support, words);
}

/* References are tokenized twice, as in sacreBLEU: ",.5" is two words after the first time, then three. */
static void add_text(const TerOptions *options, Scratch *scratch, StrView text, bool is_reference) {
    tokenize(options, scratch_lower(scratch, text, !options->case_sensitive), &scratch->tokens);
    if (is_reference) {
        StrBuf once = scratch->tokens;
        scratch->tokens = (StrBuf){0};
        tokenize(options, strbuf_view(&once), &scratch->tokens);
        strbuf_free(&once);
    }
    texts_begin(scratch->words);
    texts_add_words(scratch->words, strbuf_view(&scratch->tokens));
}

static void count(const void *options, Scratch *scratch, StrView hypothesis, const StrView *references,
                  size_t reference_count, double *row) {
    texts_clear(scratch->words);
    add_text(options, scratch, hypothesis, false);
    size_t texts = 1, words = 0;
    int fewest = INT_MAX;
    for (size_t r = 0; r < reference_count; r++) {
        if (!references[r].data) continue;
        add_text(options, scratch, references[r], true);
        Symbols reference = texts_get(scratch->words, texts++);
        int edits = count_edits(texts_get(scratch->words, 0), reference);
        if (edits < fewest) fewest = edits;
        words += reference.count;
    }
    row[0] = fewest;
    row[1] = (double)words / (double)(texts - 1);
}

static double score(const void *options, const double *sums) {
    (void)options;
    if (sums[1] <= 0) return sums[0] > 0 ? 100 : 0;
    return 100 * (sums[0] / sums[1]);
}

static void sign(const void *options_, Signature *signature) {
    const TerOptions *options = options_;
    signature_name(signature, "TER");
    signature_add(signature, "case", "c", "%s", options->case_sensitive ? "mixed" : "lc");
    signature_add(signature, "tok", "t", "tercom");
    signature_add(signature, "norm", "nr", "%s", options->normalized ? "yes" : "no");
    signature_add(signature, "punct", "pn", "%s", options->no_punct ? "no" : "yes");
    signature_add(signature, "asian", "as", "%s", options->asian_support ? "yes" : "no");
}

const Metric METRIC_TER = {.name = "ter",
                           .rows = ROWS,
                           .options_size = sizeof(TerOptions),
                           .digits = 1,
                           .width = width,
                           .count = count,
                           .score = score,
                           .sign = sign,
                           .version = SACREBLEU_VERSION};
