/* detect.c - see detect.h. */
#include "text/detect.h"

#ifdef ATTN_MT_DETECT

#include <dirent.h>
#include <errno.h>
#include <fingerprint.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "io/fileio.h"
#include "text/languages.h"

enum { GROUPS = 400 /* of a fingerprint */, FINGERPRINT_BYTES = 100000 };

/* Chosen on half of the sentences of scripts/measure-detect, which reports on the other half. */
enum { LETTER_PENALTY = 2 * GROUPS }; /* of a letter that the language does not have */
static const double SCALE = 320,
                    SCALE_POWER = 0.3;   /* of distances, for one letter; by the number of letters */
static const double OTHER_WEIGHT = 0.03; /* of a language that is no candidate; a candidate has 1 */

/* Letters that stand for all of their script: a fingerprint has only few of them. */
enum { LETTER_HAN = 0x4E00, LETTER_KANA = 0x3042, LETTER_HANGUL = 0xAC00 };

/* Languages whose models have another code than their fingerprint. */
static const char *const OTHER_CODES[][2] = {{"no", "nb"},  {"fil", "tl"}, {"mg", "plt"},
                                             {"qu", "quz"}, {"gn", "gug"}, {"kg", "kng"}};

typedef struct {
    char *name;        /* "en", "zh-Hans": the name of the file */
    Language language; /* if `known` */
    bool known;
    void *groups;
    int *letters; /* sorted */
    int letter_count;
    bool is_candidate;
} Fingerprint;

struct Detector {
    Fingerprint *fingerprints;
    int fingerprint_count;
    int count;    /* candidates */
    int (*of)[2]; /* [count]: fingerprints of a candidate, two for "zh" and "sr"; -1: none */
};

/* ---- letters ---- */

/* The letter in a list of letters; 0 for characters that are none. */
static int letter_of(int code_point) {
    if ((code_point >= 0x4E00 && code_point <= 0x9FFF) || (code_point >= 0x3400 && code_point <= 0x4DBF) ||
        (code_point >= 0x20000 && code_point <= 0x3FFFF))
        return LETTER_HAN;
    if (code_point >= 0x3041 && code_point <= 0x30FF) return LETTER_KANA;
    if (code_point >= 0xAC00 && code_point <= 0xD7A3) return LETTER_HANGUL;
    return unicode_class(code_point) == CHAR_LETTER ? code_point : 0;
}

/* The letters of `text` in lower case, with repetitions; the caller frees the list. */
static int *list_letters(StrView text, int *count) {
    int *letters = mem_alloc(text.length + 1, sizeof *letters);
    *count = 0;
    for (size_t at = 0; at < text.length;) {
        int letter = letter_of(utf8_next(text, &at));
        if (letter) letters[(*count)++] = letter;
    }
    return letters;
}

static int compare_ints(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static bool has_letter(const Fingerprint *fingerprint, int letter) {
    return bsearch(&letter, fingerprint->letters, (size_t)fingerprint->letter_count, sizeof letter,
                   compare_ints) != NULL;
}

/* Letters of a text, each once, with their numbers of occurrences. */
typedef struct {
    int *letters, *occurrences;
    int count, total;
} LetterCounts;

static LetterCounts count_letters(StrView lower) {
    LetterCounts counts = {0};
    counts.letters = list_letters(lower, &counts.total);
    counts.occurrences = mem_alloc((size_t)counts.total + 1, sizeof *counts.occurrences);
    qsort(counts.letters, (size_t)counts.total, sizeof *counts.letters, compare_ints);
    for (int i = 0; i < counts.total; i++) {
        if (counts.count == 0 || counts.letters[counts.count - 1] != counts.letters[i])
            counts.letters[counts.count++] = counts.letters[i];
        counts.occurrences[counts.count - 1]++;
    }
    return counts;
}

/* The number of letters that the language does not have. Half of the Chinese characters count for a language
 * with kana if the text has none: Japanese sentences have some. */
static double foreign_letters(const Fingerprint *fingerprint, const LetterCounts *counts) {
    double foreign = 0, han = 0;
    bool kana = false;
    for (int i = 0; i < counts->count; i++) {
        if (!has_letter(fingerprint, counts->letters[i])) foreign += counts->occurrences[i];
        if (counts->letters[i] == LETTER_HAN) han = counts->occurrences[i];
        kana = kana || counts->letters[i] == LETTER_KANA;
    }
    return foreign + (!kana && has_letter(fingerprint, LETTER_KANA) ? han / 2 : 0);
}

/* ---- fingerprints ---- */

/* All but the groups. */
static Status read_fingerprint(Fingerprint *fingerprint, const char *name, const char *path) {
    StrBuf content = {0}, lower = {0};
    Status status = file_read_text(path, FINGERPRINT_BYTES, &content);
    if (status == STATUS_OK) {
        fingerprint->name = mem_strdup(name);
        fingerprint->known = language_read(sv(name), &fingerprint->language);
        unicode_lower(strbuf_view(&content), &lower);
        fingerprint->letters = list_letters(strbuf_view(&lower), &fingerprint->letter_count);
        qsort(fingerprint->letters, (size_t)fingerprint->letter_count, sizeof *fingerprint->letters,
              compare_ints);
    }
    strbuf_free(&content);
    strbuf_free(&lower);
    return status;
}

static int compare_names(const void *a, const void *b) { return strcmp(a, b); }

enum { NAME_BYTES = 64, PATH_BYTES = sizeof ATTN_MT_FINGERPRINTS + NAME_BYTES };
typedef char FileName[NAME_BYTES];

/* Writes the names of fingerprints to names[most], and returns how many there are. Allocates nothing while
 * the folder is open: base/mem_scope.h. */
static int scan_folder(FileName *names, int most) {
    DIR *folder = opendir(ATTN_MT_FINGERPRINTS);
    int count = 0;
    for (const struct dirent *entry; folder && (entry = readdir(folder));) {
        StrView name = sv(entry->d_name);
        if (!sv_cut_extension(&name, SV("lm")) || name.length + sizeof "/.lm" > NAME_BYTES) continue;
        if (count < most) snprintf(names[count], NAME_BYTES, "%.*s", SV_ARG(name));
        count++;
    }
    if (folder) closedir(folder);
    return count;
}

static void fingerprint_path(char path[PATH_BYTES], const char *name) {
    snprintf(path, PATH_BYTES, "%s/%s.lm", ATTN_MT_FINGERPRINTS, name);
}

/* The names of all fingerprints, sorted: an array of mem.h. */
static Status list_fingerprints(FileName **names, int *count) {
    int most = scan_folder(NULL, 0);
    *names = mem_alloc((size_t)most, sizeof **names);
    *count = scan_folder(*names, most);
    if (*count > most) *count = most;
    qsort(*names, (size_t)*count, sizeof **names, compare_names);
    if (*count > 0) return STATUS_OK;
    status_fail(STATUS_USAGE, "no language can be detected: no fingerprints of libexttextcat in '%s'",
                ATTN_MT_FINGERPRINTS);
    return status_hint(STATUS_USAGE, "install them (Debian: libexttextcat-data)");
}

static Status read_fingerprints(Detector *detector) {
    FileName *names;
    int count;
    Status status = list_fingerprints(&names, &count);
    detector->fingerprints = mem_alloc((size_t)count, sizeof *detector->fingerprints);
    for (int i = 0; i < count && status == STATUS_OK; i++) {
        char path[PATH_BYTES];
        fingerprint_path(path, names[i]);
        status = read_fingerprint(&detector->fingerprints[i], names[i], path);
        detector->fingerprint_count++;
    }
    mem_free(names);
    return status;
}

static void *new_groups(const char *name) {
    void *groups = fp_Init(name);
    if (!groups) return NULL;
    fp_SetProperty(groups, TCPROP_UTF8AWARE, TC_TRUE);
    fp_SetProperty(groups, TCPROP_MINIMUM_DOCUMENT_SIZE, 0);
    return groups;
}

/* Reads the groups of all fingerprints. They are memory of the library, so this comes last and allocates
 * nothing else: base/mem_scope.h. */
static Status read_groups(Detector *detector) {
    for (int i = 0; i < detector->fingerprint_count; i++) {
        Fingerprint *fingerprint = &detector->fingerprints[i];
        char path[PATH_BYTES];
        fingerprint_path(path, fingerprint->name);
        fingerprint->groups = new_groups(fingerprint->name);
        if (!fingerprint->groups || !fp_Read(fingerprint->groups, path, GROUPS))
            return status_fail(STATUS_DATA, "'%.700s' is not a fingerprint of libexttextcat", path);
    }
    return STATUS_OK;
}

/* Finds the fingerprints of a candidate. Names that are no languages must be equal. */
static void choose_fingerprints(Detector *detector, StrView candidate, int of[2]) {
    int found = 0;
    StrView code = language_code(candidate);
    for (size_t i = 0; i < sizeof OTHER_CODES / sizeof *OTHER_CODES; i++)
        if (sv_equal(code, sv(OTHER_CODES[i][0]))) candidate = sv(OTHER_CODES[i][1]);
    Language language;
    bool known = language_read(candidate, &language);
    of[0] = of[1] = -1;
    for (int i = 0; i < detector->fingerprint_count && found < 2; i++) {
        const Fingerprint *fingerprint = &detector->fingerprints[i];
        bool matches = known && fingerprint->known
                           ? languages_match_but_region(&language, &fingerprint->language)
                           : language_rank(candidate, sv(fingerprint->name)) > 0;
        if (!matches) continue;
        of[found++] = i;
        detector->fingerprints[i].is_candidate = true;
    }
}

Status detector_open(Detector **out, const StrView *candidates, int count) {
    Detector *detector = *out = mem_alloc(1, sizeof *detector);
    Status status = read_fingerprints(detector);
    detector->count = count;
    detector->of = mem_alloc((size_t)count + 1, sizeof *detector->of);
    for (int i = 0; i < count && status == STATUS_OK; i++)
        choose_fingerprints(detector, candidates[i], detector->of[i]);
    if (status == STATUS_OK) status = read_groups(detector);
    if (status == STATUS_OK) return STATUS_OK;
    detector_close(detector);
    *out = NULL;
    return status;
}

void detector_close(Detector *detector) {
    if (!detector) return;
    for (int i = 0; i < detector->fingerprint_count; i++) {
        if (detector->fingerprints[i].groups) fp_Done(detector->fingerprints[i].groups);
        mem_free(detector->fingerprints[i].name);
        mem_free(detector->fingerprints[i].letters);
    }
    mem_free(detector->fingerprints);
    mem_free(detector->of);
    mem_free(detector);
}

bool detector_knows(const Detector *detector, int candidate) { return detector->of[candidate][0] >= 0; }

Status detect_known_languages(StrBuf *codes) {
    FileName *names;
    int count;
    Status status = list_fingerprints(&names, &count);
    StrView last = {0};
    for (int i = 0; i < count; i++) {
        StrView code = language_code(sv(names[i]));
        if (code.length != 2 || sv_equal(code, last)) continue;
        strbuf_format(codes, "%s%.*s", codes->length ? " " : "", SV_ARG(code));
        last = code;
    }
    mem_free(names);
    return status;
}

/* ---- texts ---- */

static StrView first_bytes(StrView text) {
    size_t length = text.length < DETECT_BYTES ? text.length : DETECT_BYTES;
    while (length > 0 && length < text.length && utf8_continues(text.data[length])) length--;
    return (StrView){text.data, length};
}

/* distances[f] to each fingerprint, at least 0. Between fp_Create and fp_Done nothing is allocated: memory of
 * the library would be lost if the work were left (base/mem_scope.h). */
static bool measure_distances(const Detector *detector, StrView lower, double *distances) {
    void *groups = new_groups(NULL);
    bool any = groups && fp_Create(groups, lower.data, (uint4)lower.length, GROUPS);
    for (int i = 0; i < detector->fingerprint_count && any; i++)
        distances[i] = fp_Compare(detector->fingerprints[i].groups, groups, INT_MAX);
    if (groups) fp_Done(groups);
    return any;
}

/* weights[f]: how probable each language is, not yet with the sum 1. Returns the sum of all. */
static double weigh(const Detector *detector, StrView lower, const LetterCounts *counts, double *weights) {
    double least = INFINITY, sum = 0;
    if (!measure_distances(detector, lower, weights)) return 0;
    for (int i = 0; i < detector->fingerprint_count; i++) {
        weights[i] += LETTER_PENALTY * foreign_letters(&detector->fingerprints[i], counts);
        if (weights[i] < least) least = weights[i];
    }
    double scale = SCALE * pow(counts->total > 4 ? counts->total : 4, SCALE_POWER);
    for (int i = 0; i < detector->fingerprint_count; i++) {
        weights[i] = exp((least - weights[i]) / scale);
        if (!detector->fingerprints[i].is_candidate) weights[i] *= OTHER_WEIGHT;
        sum += weights[i];
    }
    return sum;
}

/* Insertion keeps the order of candidates with equal confidences. */
static void rank(Detection *detections, int count) {
    for (int i = 1; i < count; i++) {
        Detection moved = detections[i];
        int at = i;
        for (; at > 0 && detections[at - 1].confidence < moved.confidence; at--)
            detections[at] = detections[at - 1];
        detections[at] = moved;
    }
}

void detector_run(const Detector *detector, StrView text, Detection *ranked) {
    StrBuf lower = {0}, repaired = {0};
    utf8_repair(first_bytes(text), &repaired);
    unicode_lower(strbuf_view(&repaired), &lower);
    LetterCounts counts = count_letters(strbuf_view(&lower));
    double *weights = mem_alloc((size_t)detector->fingerprint_count + 1, sizeof *weights);
    double sum = counts.total > 0 ? weigh(detector, strbuf_view(&lower), &counts, weights) : 0;
    for (int i = 0; i < detector->count; i++) {
        ranked[i] = (Detection){.candidate = i};
        for (int k = 0; k < 2 && sum > 0; k++)
            if (detector->of[i][k] >= 0) ranked[i].confidence += weights[detector->of[i][k]] / sum;
    }
    rank(ranked, detector->count);
    mem_free(weights);
    mem_free(counts.letters);
    mem_free(counts.occurrences);
    strbuf_free(&lower);
    strbuf_free(&repaired);
}

#else

static Status fail_without_library(void) {
    status_fail(STATUS_USAGE, "no language can be detected: this program was built without libexttextcat");
    return status_hint(STATUS_USAGE, "install it (Debian: libexttextcat-dev) and run 'make' again");
}

Status detector_open(Detector **detector, const StrView *candidates, int count) {
    (void)candidates, (void)count;
    *detector = NULL;
    return fail_without_library();
}

void detector_close(Detector *detector) { (void)detector; }

bool detector_knows(const Detector *detector, int candidate) {
    (void)detector, (void)candidate;
    return false;
}

void detector_run(const Detector *detector, StrView text, Detection *ranked) {
    (void)detector, (void)text, (void)ranked;
}

Status detect_known_languages(StrBuf *codes) {
    (void)codes;
    return fail_without_library();
}

#endif
