/* placeholders_agree.c - compares the placeholders of two texts. */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "text/placeholders.h"

enum { DEEPEST_PAIR = 64 }; /* with more open tags, the first ones have no partner */

/* partner[i]: the other tag of the pair of item i, or -1. */
static void find_partners(const PlaceholderList *list, int *partner) {
    int open[DEEPEST_PAIR], depth = 0;
    for (int i = 0; i < list->count; i++) {
        StrView text = list->items[i].text;
        partner[i] = -1;
        if (list->items[i].kind != PLACEHOLDER_TAG) continue;
        if (tag_is_opening(text)) {
            if (depth == DEEPEST_PAIR) memmove(open, open + 1, (size_t)--depth * sizeof *open);
            open[depth++] = i;
        } else if (tag_is_closing(text)) {
            int at = depth - 1;
            while (at >= 0 && !tag_same_name(list->items[open[at]].text, text)) at--;
            if (at < 0) continue;
            depth = at;
            partner[i] = open[at];
            partner[open[at]] = i;
        }
    }
}

static int compare_hashes(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void sort_hashes(uint64_t *hashes, int count) {
    if (count > 1) qsort(hashes, (size_t)count, sizeof *hashes, compare_hashes);
}

/* Sorted hashes of the tags that must keep their order; returns their number. */
static int list_ordered_tags(const PlaceholderList *list, uint64_t *hashes) {
    int count = 0;
    for (int i = 0; i < list->count; i++)
        if (list->items[i].kind == PLACEHOLDER_TAG && list->items[i].in_order)
            hashes[count++] = sv_hash(list->items[i].text, 0);
    sort_hashes(hashes, count);
    return count;
}

static bool has_hash(const uint64_t *sorted, int count, uint64_t hash) {
    return count > 0 && bsearch(&hash, sorted, (size_t)count, sizeof *sorted, compare_hashes);
}

/* Sorted hashes of all placeholders, each with the tags around it; release with mem_free. A tag without a
 * partner that is among `ordered` [count] divides the text. */
static uint64_t *hash_nested(const PlaceholderList *list, const uint64_t *ordered, int count) {
    size_t size = (size_t)list->count;
    uint64_t *hashes = mem_alloc(size, sizeof *hashes), *around = mem_alloc(size + 1, sizeof *around);
    int *partner = mem_alloc(size, sizeof *partner), depth = 0;
    find_partners(list, partner);
    around[0] = 1;
    for (int i = 0; i < list->count; i++) {
        StrView text = list->items[i].text;
        bool paired = partner[i] >= 0, opens = paired && partner[i] > i;
        bool half = !paired && has_hash(ordered, count, sv_hash(text, 0));
        if (paired && !opens) depth--;
        hashes[i] = sv_hash(text, around[depth] + paired);
        if (!opens && !half) continue;
        around[depth + opens] = hashes[i]; /* an undivided half is in no pair */
        depth += opens;
    }
    sort_hashes(hashes, list->count);
    mem_free(partner);
    mem_free(around);
    return hashes;
}

/* Hashes of the placeholders of a kind whose texts are in `sorted` [count], in the order of the text; returns
 * their number. */
static int list_order(const PlaceholderList *list, PlaceholderKind kind, const uint64_t *sorted, int count,
                      uint64_t *order) {
    int found = 0;
    for (int i = 0; i < list->count; i++) {
        uint64_t hash = sv_hash(list->items[i].text, 0);
        if (list->items[i].kind == kind && has_hash(sorted, count, hash)) order[found++] = hash;
    }
    return found;
}

/* The lists have the same number of placeholders. */
static bool same_order(const PlaceholderList *source, const PlaceholderList *target) {
    size_t size = (size_t)source->count;
    uint64_t *sorted = mem_alloc(size, sizeof *sorted), *a = mem_alloc(size, sizeof *a),
             *b = mem_alloc(size, sizeof *b);
    bool same = true;
    for (PlaceholderKind kind = 0; kind < PLACEHOLDER_KINDS && same; kind++) {
        int count = 0;
        for (int i = 0; i < source->count; i++)
            if (source->items[i].kind == kind && source->items[i].in_order)
                sorted[count++] = sv_hash(source->items[i].text, 0);
        if (count == 0) continue;
        sort_hashes(sorted, count);
        int found = list_order(source, kind, sorted, count, a);
        same = list_order(target, kind, sorted, count, b) == found &&
               memcmp(a, b, (size_t)found * sizeof *a) == 0;
    }
    mem_free(sorted);
    mem_free(a);
    mem_free(b);
    return same;
}

bool placeholders_agree(const PlaceholderList *source, const PlaceholderList *target) {
    if (source->count != target->count) return false;
    if (source->count == 0) return true;
    uint64_t *ordered = mem_alloc((size_t)source->count, sizeof *ordered);
    int count = list_ordered_tags(source, ordered);
    uint64_t *a = hash_nested(source, ordered, count), *b = hash_nested(target, ordered, count);
    bool same = memcmp(a, b, (size_t)source->count * sizeof *a) == 0;
    mem_free(ordered);
    mem_free(a);
    mem_free(b);
    return same && same_order(source, target);
}

bool placeholders_agree_in(StrView source, StrView target) {
    PlaceholderList a = {0}, b = {0};
    placeholders_find(source, &a);
    placeholders_find(target, &b);
    bool agree = placeholders_agree(&a, &b);
    placeholders_free(&a);
    placeholders_free(&b);
    return agree;
}
