/* memory.c - see memory.h. */
#include "postprocess/memory.h"

#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "data/pairs.h"
#include "text/placeholders.h"

enum { BUCKETS = 1 << 16, TRIGRAM = 3 };

typedef struct {
    StrView source, target;
    int length; /* of the source in characters */
} Pair;

struct Memory {
    Arena *arena;
    Pair *pairs; /* shortest source first */
    size_t count, capacity, bytes;
    HashMap *exact;     /* source: number of the pair */
    HashMap *masked;    /* source with MASK for each placeholder: number of the pair */
    size_t *starts;     /* [BUCKETS + 1] the bucket's part of `postings` */
    unsigned *postings; /* numbers of pairs with a trigram of the bucket, ascending */
};

/* ---- texts ---- */

/* The text with one space between words, and without its accelerator. */
static void add_key(StrView text, AcceleratorKind accelerator, StrBuf *out) {
    StrBuf plain = {0};
    Accelerator taken;
    StrView rest = text, word;
    if (utf8_valid(text) && accelerator_take(text, accelerator, &plain, &taken)) rest = strbuf_view(&plain);
    for (bool first = true; unicode_next_word(&rest, &word); first = false) {
        if (!first) strbuf_add_char(out, ' ');
        strbuf_add(out, word);
    }
    strbuf_free(&plain);
}

#define MASK "\xEF\xBF\xBC" /* U+FFFC, the object replacement character */

/* Can another placeholder stand in its place without a change of the text around it? */
static bool is_exchangeable(const Placeholder *placeholder) {
    return placeholder->kind != PLACEHOLDER_ENTITY && placeholder->kind != PLACEHOLDER_ICU &&
           placeholder->kind != PLACEHOLDER_NUMBER_SIGN;
}

/* Appends the text with MASK for each placeholder; false if it has none, or others than exchangeable ones. */
static bool add_masked(StrView text, StrBuf *out) {
    PlaceholderScan scan = {.text = text};
    Placeholder placeholder;
    size_t at = 0;
    bool all = true;
    while (all && placeholder_next(&scan, &placeholder)) {
        size_t start = (size_t)(placeholder.text.data - text.data);
        all = is_exchangeable(&placeholder);
        strbuf_add(out, (StrView){text.data + at, start - at});
        strbuf_add(out, SV(MASK));
        at = start + placeholder.text.length;
    }
    strbuf_add(out, (StrView){text.data + at, text.length - at});
    return all && at > 0;
}

/* The code points of the text [*count]; the caller frees them. */
static int *code_points(StrView text, int *count) {
    int *points = mem_alloc(text.length, sizeof *points);
    *count = 0;
    for (size_t at = 0; at < text.length;) points[(*count)++] = utf8_next(text, &at);
    return points;
}

static int count_characters(StrView text) {
    int count = 0;
    for (size_t at = 0; at < text.length; count++) utf8_next(text, &at);
    return count;
}

static unsigned bucket_at(StrView text, size_t at) {
    const unsigned char *bytes = (const unsigned char *)text.data + at;
    unsigned trigram = (unsigned)bytes[0] << 16 | (unsigned)bytes[1] << 8 | bytes[2];
    return trigram * 2654435761u >> 16;
}

static size_t trigram_count(StrView text) { return text.length < TRIGRAM ? 0 : text.length - TRIGRAM + 1; }

/* ---- reading ---- */

static Status add_pair(Memory *memory, StrView source, StrView target, AcceleratorKind accelerator) {
    StrBuf key = {0}, value = {0};
    Status status = STATUS_OK;
    add_key(source, accelerator, &key);
    add_key(target, accelerator, &value);
    memory->bytes += key.length + value.length;
    if (memory->count >= MEMORY_MAX_PAIRS || memory->bytes > MEMORY_MAX_BYTES) {
        status_fail(STATUS_DATA, "the translation memory has more than %d pairs or %d MiB of text",
                    MEMORY_MAX_PAIRS, MEMORY_MAX_BYTES >> 20);
        status = status_hint(STATUS_DATA, "use a part of it, such as the pairs of your subject");
    } else if (hashmap_get(memory->exact, strbuf_view(&key), -1) < 0) {
        MEM_GROW(memory->pairs, memory->capacity, memory->count + 1);
        memory->pairs[memory->count++] =
            (Pair){arena_text(memory->arena, strbuf_view(&key)),
                   arena_text(memory->arena, strbuf_view(&value)), count_characters(strbuf_view(&key))};
        hashmap_set(memory->exact, strbuf_view(&key), 0); /* numbered when sorted */
    }
    strbuf_free(&key);
    strbuf_free(&value);
    return status;
}

static Status read_pairs(Memory *memory, PairReader *reader, AcceleratorKind accelerator) {
    for (bool more = true;;) {
        StrView source, target;
        TRY(pair_reader_next(reader, &source, &target, &more));
        if (!more) return STATUS_OK;
        TRY(add_pair(memory, source, target, accelerator));
    }
}

static int shortest_first(const void *a, const void *b) {
    const Pair *x = a, *y = b;
    if (x->length != y->length) return x->length < y->length ? -1 : 1;
    return sv_compare(x->source, y->source);
}

/* Counts the trigrams of each bucket, and then distributes the numbers of the pairs. */
static void build_index(Memory *memory) {
    qsort(memory->pairs, memory->count, sizeof *memory->pairs, shortest_first);
    memory->starts = mem_alloc(BUCKETS + 1, sizeof *memory->starts);
    StrBuf masked = {0};
    size_t total = 0;
    for (size_t p = 0; p < memory->count; p++) {
        StrView source = memory->pairs[p].source;
        hashmap_set(memory->exact, source, (int64_t)p);
        strbuf_clear(&masked);
        if (add_masked(source, &masked) && hashmap_get(memory->masked, strbuf_view(&masked), -1) < 0)
            hashmap_set(memory->masked, strbuf_view(&masked), (int64_t)p);
        if (memory->pairs[p].length > MEMORY_FUZZY_LENGTH) continue;
        for (size_t at = 0; at < trigram_count(source); at++) memory->starts[bucket_at(source, at) + 1]++;
        total += trigram_count(source);
    }
    strbuf_free(&masked);
    for (size_t b = 0; b < BUCKETS; b++) memory->starts[b + 1] += memory->starts[b];
    memory->postings = mem_alloc(total, sizeof *memory->postings);
    size_t *next = mem_alloc(BUCKETS, sizeof *next);
    memcpy(next, memory->starts, BUCKETS * sizeof *next);
    for (size_t p = 0; p < memory->count && memory->pairs[p].length <= MEMORY_FUZZY_LENGTH; p++) {
        StrView source = memory->pairs[p].source;
        for (size_t at = 0; at < trigram_count(source); at++)
            memory->postings[next[bucket_at(source, at)]++] = (unsigned)p;
    }
    mem_free(next);
}

Status memory_read(Memory **memory, const StrList *entries, const char *source, const char *target,
                   AcceleratorKind accelerator) {
    DataOptions options = {.source = (char *)(uintptr_t)source, .target = (char *)(uintptr_t)target};
    PairReader *reader;
    *memory = NULL;
    TRY(pair_reader_open(&reader, entries, &options));
    Memory *result = mem_alloc(1, sizeof *result);
    *result = (Memory){.arena = arena_new(), .exact = hashmap_new(), .masked = hashmap_new()};
    Status status = read_pairs(result, reader, accelerator);
    pair_reader_close(reader);
    if (status == STATUS_OK) {
        build_index(result);
        *memory = result;
    } else {
        memory_free(result);
    }
    return status;
}

void memory_free(Memory *memory) {
    if (!memory) return;
    arena_free(memory->arena);
    hashmap_free(memory->exact);
    hashmap_free(memory->masked);
    mem_free(memory->pairs);
    mem_free(memory->starts);
    mem_free(memory->postings);
    mem_free(memory);
}

/* ---- finding ---- */

static int minimum(int a, int b) { return a < b ? a : b; }

/* The edit distance of a [m] and b [n]; `row` [n + 1] is scratch. */
static int edit_distance(const int *a, int m, const int *b, int n, int *row) {
    for (int j = 0; j <= n; j++) row[j] = j;
    for (int i = 1; i <= m; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int changed = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            row[j] = minimum(changed, 1 + minimum(row[j], row[j - 1]));
        }
    }
    return row[n];
}

/* The first pair whose source has at least `length` characters. */
static size_t first_of_length(const Memory *memory, double length) {
    size_t low = 0, high = memory->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->pairs[middle].length < length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The first place of the bucket with a pair of at least number `pair`. */
static size_t first_posting(const Memory *memory, unsigned bucket, size_t pair) {
    size_t low = memory->starts[bucket], high = memory->starts[bucket + 1];
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (memory->postings[middle] < pair)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Counts for pairs first to end - 1 the trigrams that they share with the text. */
static unsigned short *count_shared(const Memory *memory, StrView text, size_t first, size_t end) {
    unsigned short *shared = mem_alloc(end - first, sizeof *shared);
    for (size_t at = 0; at < trigram_count(text); at++) {
        unsigned bucket = bucket_at(text, at);
        for (size_t i = first_posting(memory, bucket, first);
             i < memory->starts[bucket + 1] && memory->postings[i] < end; i++)
            if (shared[memory->postings[i] - first] < UINT16_MAX) shared[memory->postings[i] - first]++;
    }
    return shared;
}

typedef struct {
    size_t pair;
    double fraction;
} Candidate;

/* Keeps the best MEMORY_CANDIDATES, best first; of equals the earlier ones. */
static int keep_candidate(Candidate *best, int count, Candidate candidate) {
    if (count == MEMORY_CANDIDATES && best[count - 1].fraction >= candidate.fraction) return count;
    if (count < MEMORY_CANDIDATES) count++;
    int at = count - 1;
    for (; at > 0 && best[at - 1].fraction < candidate.fraction; at--) best[at] = best[at - 1];
    best[at] = candidate;
    return count;
}

static int choose_candidates(const Memory *memory, StrView text, int length, double threshold,
                             Candidate *best) {
    size_t first = first_of_length(memory, threshold * length),
           end = first_of_length(memory, length / threshold + 1);
    int count = 0;
    if (first >= end) return 0;
    unsigned short *shared = count_shared(memory, text, first, end);
    for (size_t p = first; p < end; p++) {
        size_t trigrams = trigram_count(memory->pairs[p].source) + trigram_count(text);
        if (shared[p - first] == 0) continue;
        count = keep_candidate(best, count, (Candidate){p, 2.0 * shared[p - first] / (double)trigrams});
    }
    mem_free(shared);
    return count;
}

static MemoryMatch find_similar(const Memory *memory, StrView text, double threshold) {
    MemoryMatch match = {0};
    Candidate candidates[MEMORY_CANDIDATES];
    int length, other_length;
    int *points = code_points(text, &length);
    int count =
        length > MEMORY_FUZZY_LENGTH ? 0 : choose_candidates(memory, text, length, threshold, candidates);
    for (int c = 0; c < count; c++) {
        const Pair *pair = &memory->pairs[candidates[c].pair];
        int *other = code_points(pair->source, &other_length);
        int *row = mem_alloc((size_t)other_length + 1, sizeof *row);
        int distance = edit_distance(points, length, other, other_length, row);
        double similarity = 1 - (double)distance / (length > other_length ? length : other_length);
        if (similarity >= threshold && similarity > match.similarity)
            match = (MemoryMatch){similarity, pair->source, pair->target};
        mem_free(row);
        mem_free(other);
    }
    mem_free(points);
    return match;
}

MemoryMatch memory_find(const Memory *memory, StrView text, double threshold) {
    StrBuf key = {0};
    add_key(text, ACCELERATOR_NONE, &key);
    MemoryMatch match = {0};
    int64_t exact = hashmap_get(memory->exact, strbuf_view(&key), -1);
    if (exact >= 0)
        match = (MemoryMatch){1, memory->pairs[exact].source, memory->pairs[exact].target};
    else if (key.length > 0 && threshold < 1)
        match = find_similar(memory, strbuf_view(&key), threshold);
    strbuf_free(&key);
    return match;
}

/* ---- translating ---- */

/* The number of the placeholder in the list; -1: it is there not at all, or several times. */
static int find_once(const PlaceholderList *list, StrView text) {
    int found = -1;
    for (int i = 0; i < list->count; i++)
        if (sv_equal(list->items[i].text, text)) {
            if (found >= 0) return -1;
            found = i;
        }
    return found;
}

/* Appends the target of the pair with the placeholders `own` in the places of those of its source; false if
 * it is not clear which belong together. */
static bool exchange(const Pair *pair, const PlaceholderList *own, StrBuf *out) {
    PlaceholderList source = {0};
    PlaceholderScan scan = {.text = pair->target};
    Placeholder placeholder;
    size_t at = 0;
    placeholders_find(pair->source, &source);
    bool clear = source.count == own->count;
    while (clear && placeholder_next(&scan, &placeholder)) {
        size_t start = (size_t)(placeholder.text.data - pair->target.data);
        int number = find_once(&source, placeholder.text);
        clear = number >= 0;
        strbuf_add(out, (StrView){pair->target.data + at, start - at});
        if (clear) strbuf_add(out, own->items[number].text);
        at = start + placeholder.text.length;
    }
    strbuf_add(out, (StrView){pair->target.data + at, pair->target.length - at});
    placeholders_free(&source);
    return clear;
}

/* The text inside the pair of tags around it. */
static bool has_tags_around(StrView text, const PlaceholderList *list, StrView *inside) {
    if (list->count < 2) return false;
    StrView open = list->items[0].text, close = list->items[list->count - 1].text;
    if (!tag_is_opening(open) || !tag_is_closing(close) || !tag_same_name(open, close) ||
        open.data != text.data || close.data + close.length != text.data + text.length)
        return false;
    for (int i = 1; i < list->count - 1; i++)
        if (tag_same_name(list->items[i].text, open)) return false; /* may be two pairs: <b>a</b> <b>c</b> */
    *inside = (StrView){open.data + open.length, (size_t)(close.data - open.data) - open.length};
    return true;
}

static bool take(const Memory *memory, int64_t pair, MemoryMatch *match) {
    if (pair >= 0) *match = (MemoryMatch){1, memory->pairs[pair].source, memory->pairs[pair].target};
    return pair >= 0;
}

/* The same for a text with one space between words. */
static bool translate_key(const Memory *memory, StrView key, bool tags, MemoryMatch *match, StrBuf *out) {
    PlaceholderList list = {0};
    StrBuf masked = {0}, translation = {0};
    StrView inside;
    bool taken = take(memory, hashmap_get(memory->exact, key, -1), match);
    if (taken) strbuf_add(&translation, match->target);
    if (tags && taken) taken = placeholders_agree_in(key, strbuf_view(&translation));
    if (tags && !taken) {
        strbuf_clear(&translation);
        placeholders_find(key, &list);
        int64_t pair = add_masked(key, &masked) ? hashmap_get(memory->masked, strbuf_view(&masked), -1) : -1;
        taken = pair >= 0 && exchange(&memory->pairs[pair], &list, &translation) &&
                placeholders_agree_in(key, strbuf_view(&translation));
        if (taken) take(memory, pair, match);
    }
    if (taken) strbuf_add(out, strbuf_view(&translation));
    strbuf_free(&translation);
    strbuf_free(&masked);
    if (!taken && has_tags_around(key, &list, &inside)) {
        StrView open = list.items[0].text, close = list.items[list.count - 1].text;
        taken = memory_translate(memory, inside, true, match, &translation);
        if (taken)
            strbuf_format(out, "%.*s%.*s%.*s", SV_ARG(open), SV_ARG(strbuf_view(&translation)),
                          SV_ARG(close));
        strbuf_free(&translation);
    }
    placeholders_free(&list);
    return taken;
}

bool memory_translate(const Memory *memory, StrView text, bool tags, MemoryMatch *match, StrBuf *out) {
    StrBuf key = {0};
    add_key(text, ACCELERATOR_NONE, &key);
    MemoryMatch found;
    bool taken =
        key.length > 0 && utf8_valid(text) && translate_key(memory, strbuf_view(&key), tags, &found, out);
    if (taken) *match = found;
    strbuf_free(&key);
    return taken;
}
