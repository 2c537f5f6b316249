/* markup_restore.c - source tokens of the marks, target units of the tokens, a place for each mark, text. */
#include "decode/markup_restore.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

typedef struct {
    size_t start, end; /* in the translation's text */
} UnitText;

/* Where one mark goes: units from..to-1 are inside; singles, and pairs that enclose nothing, have none. */
typedef struct {
    int from, to, count; /* count: units that belong to it */
} Place;

typedef struct {
    const Markup *markup;
    const Translation *translation;
    const TranslationItem *item;
    int units;      /* of the translation */
    UnitText *text; /* [units] */
    int *belongs;   /* [units] a source token */
    int *token;     /* [marks] source tokens before it; pairs take in whole units */
    Place *place;   /* [marks] */
    int *owner;     /* [source tokens + 1] scratch: the pair that encloses it, -1 none */
    int *behind;    /* [source tokens + 1] scratch: first unit behind all that belongs to it, -1 none */
    int *inside;    /* [units + 1] scratch: the pair that this place would be inside of, -1 none */
    int *order;     /* what follows what: a mark, or ~unit */
    int order_count;
} Restoring;

/* ---- units ---- */

/* The first and last character of a token; -1 if it has none. */
static void token_ends(const Segmenter *segmenter, int id, int *first, int *last) {
    StrBuf text = {0};
    *first = *last = -1;
    segmenter_decode(segmenter, &id, 1, &text);
    for (size_t position = 0; position < text.length;) {
        *last = utf8_next(strbuf_view(&text), &position);
        if (*first < 0) *first = *last;
    }
    strbuf_free(&text);
}

static bool is_word(int c) {
    CharClass class = unicode_class(c);
    return (class == CHAR_LETTER || class == CHAR_DIGIT || class == CHAR_MARK) && unicode_width(c) < 2;
}

/* unit[i] of token i, from 0; returns how many there are. */
static int text_units(const Segmenter *segmenter, const int *ids, const int *word, int count, int *unit) {
    int units = 0, before = -1, first, last;
    for (int i = 0; i < count; i++) {
        token_ends(segmenter, ids[i], &first, &last);
        bool joined = first < 0 || before < 0 || first == '\'' || first == 0x2019 ||
                      unicode_class(first) == CHAR_MARK || (is_word(before) && is_word(first));
        if (i == 0 || word[i] != word[i - 1] || !joined) units++;
        before = last;
        unit[i] = units - 1;
    }
    return units;
}

/* Behind what is blank at `at`. */
static size_t leading_space(StrView text, size_t at) {
    for (size_t next = at; next < text.length; at = next) {
        utf8_next(text, &next);
        if (!unicode_is_blank((StrView){text.data + at, next - at})) break;
    }
    return at;
}

/* Find the units in the text, one behind the other. White space that a token begins with is no part of its
 * unit: French has some before its question marks. */
static void find_unit_texts(Restoring *r, const Segmenter *target, const int *unit) {
    const TranslationItem *item = r->item;
    StrView text = strbuf_view(&item->text);
    StrList unknown = r->translation->target_unknown;
    size_t at = 0;
    for (int first = 0, end; first < item->length; first = end) {
        StrBuf label = {0};
        for (end = first; end < item->length && unit[end] == unit[first];) end++;
        segmenter_decode_spelled(target, item->ids + first, (size_t)(end - first), &unknown, &label);
        unknown_pass(&unknown, item->ids + first, end - first);
        size_t blank = leading_space(strbuf_view(&label), 0), length = label.length - blank;
        if (length > 0) at = leading_space(text, at);
        r->text[unit[first]].start = at;
        for (size_t stop = at + length; at < stop && at < text.length;) utf8_next(text, &at);
        r->text[unit[first]].end = at;
        strbuf_free(&label);
    }
}

/* To which source token, the first of its unit, each unit of the translation belongs. */
static void find_belongs(Restoring *r, const int *target_unit, const int *source_unit) {
    int S = r->translation->source_length;
    float *weight = mem_alloc((size_t)S, sizeof *weight); /* of source units */
    for (int t = 0; t < r->item->length; t++) {
        AttentionRow row = translation_attention(r->item, t);
        int end = row.first + row.count < S ? row.first + row.count : S, best = 0;
        for (int s = row.first; s < end; s++) weight[source_unit[s]] += row.weights[s - row.first];
        if (t + 1 < r->item->length && target_unit[t + 1] == target_unit[t]) continue;
        for (int s = row.first; s < end; s++)
            if (weight[source_unit[s]] > weight[source_unit[best]]) best = s;
        r->belongs[target_unit[t]] = best;
        for (int s = row.first; s < end; s++) weight[source_unit[s]] = 0;
    }
    mem_free(weight);
}

/* ---- source tokens before each mark ---- */

static int count_tokens(Segmenter *segmenter, StrView text) {
    IdList ids = {0};
    segmenter_encode(segmenter, text, &ids);
    int count = (int)ids.count;
    id_list_free(&ids);
    return count;
}

/* Tokens before byte `at` of a word of *tokens tokens (-1: not counted yet), no more than these, though a
 * part may be cut into more than the whole; of words too long to be cut again and again, by share. */
static int tokens_before(Segmenter *segmenter, StrView word, size_t at, int *tokens) {
    enum { LONG_WORD = 4096 };
    if (*tokens < 0) *tokens = count_tokens(segmenter, word);
    if (word.length >= LONG_WORD) return (int)((double)at / (double)word.length * *tokens);
    int count = count_tokens(segmenter, (StrView){word.data, at});
    return count < *tokens ? count : *tokens;
}

/* Where a tag goes that stands within a unit: away from its partner, so that pairs take in whole units;
 * nowhere if it is of a pair around nothing, or of none. */
static int pair_step(const Markup *markup, int m) {
    const Mark *mark = &markup->items[m];
    if (mark->partner < 0 || markup->items[mark->partner].position == mark->position) return 0;
    return mark->kind == MARK_OPEN ? -1 : 1;
}

static void find_tokens(Restoring *r, Segmenter *segmenter, const int *source_unit) {
    const Markup *markup = r->markup;
    StrView plain = strbuf_view(&markup->plain);
    StrView rest = plain, word = {plain.data, 0};
    int before = 0, of_word = -1; /* tokens before it, and its own if they were counted */
    int S = r->translation->source_length;
    for (int m = 0; m < markup->count; m++) {
        size_t at = markup->items[m].position;
        while (rest.length > 0 && plain.length - rest.length <= at) {
            if (word.length > 0) before += count_tokens(segmenter, word);
            of_word = -1;
            sv_next_word(&rest, &word);
        }
        size_t start = (size_t)(word.data - plain.data);
        int token = before + (at > start ? tokens_before(segmenter, word, at - start, &of_word) : 0);
        int step = pair_step(markup, m);
        if (step < 0 && at > start && at < start + word.length && token == before + of_word) token--;
        if (token > S) token = S;
        while (step && token > 0 && token < S && source_unit[token] == source_unit[token - 1]) token += step;
        r->token[m] = token;
    }
}

/* ---- places ---- */

typedef struct {
    int first, end;         /* marks */
    int source, source_end; /* tokens */
    int from, to;           /* units */
} Range;

static bool is_pair(const Restoring *r, int m) { return r->markup->items[m].kind == MARK_OPEN; }

static int next_mark(const Restoring *r, int m) {
    return is_pair(r, m) ? r->markup->items[m].partner + 1 : m + 1;
}

/* The longest runs of units that belong to one pair, without any of another. */
static void place_pairs(Restoring *r, const Range *range) {
    for (int s = range->source; s < range->source_end; s++) r->owner[s] = -1;
    for (int m = range->first; m < range->end; m = next_mark(r, m)) {
        r->place[m] = (Place){0};
        for (int s = r->token[m]; is_pair(r, m) && s < r->token[r->markup->items[m].partner]; s++)
            r->owner[s] = m;
    }
    int current = -1;
    Place run = {0};
    for (int u = range->from; u < range->to; u++) {
        int s = r->belongs[u], owner = s >= range->source && s < range->source_end ? r->owner[s] : -1;
        if (owner < 0) continue;
        if (owner != current) run = (Place){.from = u};
        current = owner;
        run.to = u + 1;
        run.count++;
        if (run.count > r->place[owner].count) r->place[owner] = run;
    }
}

/* Singles, and pairs whose words have vanished. */
static void place_points(Restoring *r, const Range *range) {
    for (int s = range->source; s <= range->source_end; s++) r->behind[s] = -1;
    for (int k = range->from; k <= range->to; k++) r->inside[k] = -1;
    for (int u = range->from; u < range->to; u++)
        if (r->belongs[u] >= range->source && r->belongs[u] < range->source_end)
            r->behind[r->belongs[u]] = u + 1;
    for (int s = range->source, last = -1; s < range->source_end; s++)
        r->behind[s] = last = r->behind[s] >= 0 ? r->behind[s] : last;
    for (int m = range->first; m < range->end; m = next_mark(r, m))
        for (int k = r->place[m].from + 1; r->place[m].count > 0 && k < r->place[m].to; k++) r->inside[k] = m;
    for (int m = range->first; m < range->end; m = next_mark(r, m)) {
        if (r->place[m].count > 0) continue;
        int token = r->token[m], at = range->from;
        if (token > range->source && token >= range->source_end)
            at = range->to;
        else if (token > range->source && r->behind[token - 1] >= 0)
            at = r->behind[token - 1];
        int around = r->inside[at];
        if (around >= 0) at = around > m ? r->place[around].from : r->place[around].to;
        r->place[m].from = r->place[m].to = at;
    }
}

typedef struct {
    int from, filled, mark;
} Sorted;

static int sorted_compare(const void *a, const void *b) {
    const Sorted *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->filled != y->filled) return x->filled - y->filled;
    return x->mark - y->mark;
}

static void add_units(Restoring *r, int from, int to) {
    for (int u = from; u < to; u++) r->order[r->order_count++] = ~u;
}

/* Place the marks of a range, without breaks, and what is in them, and put them in order with its units. */
static void place_range(Restoring *r, Range range) {
    int count = 0, unit = range.from;
    for (int m = range.first; m < range.end; m = next_mark(r, m)) count++;
    if (count > 0) {
        place_pairs(r, &range);
        place_points(r, &range);
    }
    Sorted *sorted = mem_alloc((size_t)count, sizeof *sorted);
    for (int m = range.first, i = 0; m < range.end; m = next_mark(r, m))
        sorted[i++] = (Sorted){r->place[m].from, r->place[m].count > 0, m};
    if (count > 1) qsort(sorted, (size_t)count, sizeof *sorted, sorted_compare);
    for (int i = 0; i < count; i++) {
        int m = sorted[i].mark;
        add_units(r, unit, r->place[m].from);
        unit = r->place[m].to;
        r->order[r->order_count++] = m;
        if (!is_pair(r, m)) continue;
        int close = r->markup->items[m].partner;
        place_range(r, (Range){m + 1, close, r->token[m], r->token[close], r->place[m].from, unit});
        r->order[r->order_count++] = close;
    }
    add_units(r, unit, range.to);
    mem_free(sorted);
}

static bool is_break(const Restoring *r, int m) { return r->markup->items[m].kind == MARK_BREAK; }

/* The translation's text has the MARKUP_BREAKs of the plain one, unless it was translated as one sentence. */
static void place_breaks(Restoring *r) {
    StrView text = strbuf_view(&r->item->text);
    bool split = text.length > 0 && memchr(text.data, MARKUP_BREAK, text.length);
    int S = r->translation->source_length, unit = 0, *before = r->behind; /* units of the tokens before */
    for (int s = 0; s <= S; s++) before[s] = 0;
    for (int u = 0; u < r->units; u++)
        if (r->belongs[u] < S) before[r->belongs[u] + 1]++;
    for (int s = 0; s < S; s++) before[s + 1] += before[s];
    size_t at = 0;
    for (int m = 0; m < r->markup->count; m++) {
        size_t position = r->markup->items[m].position;
        if (!is_break(r, m)) continue;
        if (position > 0 && position == r->markup->plain.length) {
            unit = r->units;
        } else if (position > 0 && split) {
            while (at < text.length && text.data[at] != MARKUP_BREAK) at++;
            while (unit < r->units && r->text[unit].end <= at) unit++;
            at++;
        } else if (position > 0) {
            unit = before[r->token[m]];
        }
        r->place[m].from = r->place[m].to = unit;
    }
}

/* Breaks divide marks, tokens and units into ranges. */
static void place_marks(Restoring *r) {
    Range range = {0};
    place_breaks(r);
    for (int m = 0; m < r->markup->count; m++) {
        if (!is_break(r, m)) continue;
        range.end = m;
        range.source_end = r->token[m];
        range.to = r->place[m].from;
        place_range(r, range);
        r->order[r->order_count++] = m;
        range = (Range){.first = m + 1, .source = range.source_end, .from = range.to};
    }
    range.end = r->markup->count;
    range.source_end = r->translation->source_length;
    range.to = r->units;
    place_range(r, range);
}

/* ---- text ---- */

static bool word_at(StrView text, size_t at) { return at < text.length && is_word(utf8_next(text, &at)); }

static bool word_before(StrView text, size_t at) {
    if (at == 0) return false;
    size_t start = utf8_before(text, at);
    return is_word(utf8_next(text, &start));
}

/* Tags of pairs with white space before the first that opens. */
static void write_tags(const Restoring *r, const int *tags, int count, StrView space, StrBuf *out) {
    bool open = false;
    for (int i = 0; i < count; i++) {
        const Mark *mark = &r->markup->items[tags[i]];
        if (mark->kind == MARK_OPEN && !open) {
            strbuf_add(out, space);
            open = true;
        }
        strbuf_add(out, mark->text);
    }
    if (!open) strbuf_add(out, space);
}

/* Where marks stand in the translation's text. */
typedef struct {
    size_t start, end;     /* the white space between the units beside them */
    bool at_start, at_end; /* a break, or an end of the text, instead of a unit */
    size_t first, last;    /* where that is in the plain text */
} Gap;

/* White space on both sides of singles that stand in a gap. */
static void choose_spaces(const Restoring *r, const Mark *first, const Mark *last, Gap place, StrView *left,
                          StrView *right) {
    size_t start = place.start, end = place.end;
    StrView text = strbuf_view(&r->item->text), gap = {strbuf_text(&r->item->text) + start, end - start};
    StrView one = gap.length > 0 ? gap : SV(" ");
    bool at_start = place.at_start, at_end = place.at_end;
    bool before = first->space_before || (last->space_after && gap.length > 0 && word_before(text, start));
    bool after = last->space_after || (first->space_before && gap.length > 0 && word_at(text, end));
    *left = *right = SV("");
    if (at_start || at_end) {
        /* White space at the ends of a paragraph is the source's: it stays on its side. */
        size_t behind = place.last - last->position, cut = first->position - place.first;
        if (!at_start) cut = gap.length > behind ? gap.length - behind : 0;
        if (cut > gap.length) cut = gap.length;
        *left = (StrView){gap.data, cut};
        *right = (StrView){gap.data + cut, gap.length - cut};
        if (!at_start && before && left->length == 0) *left = SV(" ");
        if (!at_end && after && right->length == 0) *right = SV(" ");
    } else if (before && after) {
        bool two = gap.length > 1 && gap.data[0] == ' ';
        *left = two ? SV(" ") : one;
        *right = two ? (StrView){gap.data + 1, gap.length - 1} : SV(" ");
    } else if (before) {
        *left = one;
    } else if (after || (gap.length > 0 && !sv_equal(gap, SV(" ")))) {
        *right = one;
    }
}

/* Marks marks[0..count), none a break, with the white space of their gap. */
static void write_in_gap(const Restoring *r, const int *marks, int count, Gap gap, StrBuf *out) {
    const Mark *items = r->markup->items, *single = NULL, *first = NULL, *last = NULL;
    StrView left = {strbuf_text(&r->item->text) + gap.start, gap.end - gap.start}, right = SV("");
    for (int i = 0; i < count; i++) {
        if (items[marks[i]].kind != MARK_SINGLE) continue;
        if (!first) first = &items[marks[i]];
        last = &items[marks[i]];
    }
    if (first) choose_spaces(r, first, last, gap, &left, &right);
    int tags = 0; /* since the last single */
    for (int i = 0; i < count; i++, tags++) {
        const Mark *mark = &items[marks[i]];
        if (mark->kind != MARK_SINGLE) continue;
        bool between = single && (single->space_after || mark->space_before);
        write_tags(r, marks + i - tags, tags, !single ? left : between ? SV(" ") : SV(""), out);
        strbuf_add(out, mark->text);
        single = mark;
        tags = -1;
    }
    write_tags(r, marks + count - tags, tags, single ? right : left, out);
}

/* Which part of text[start..end) stands before a break, returned in *stop, and where that behind it begins.
 * Where sentences were translated together, white space of the text goes: a break brings its own. */
static size_t end_before_break(const Restoring *r, const Mark *mark, size_t start, size_t end, size_t *stop) {
    const char *text = strbuf_text(&r->item->text);
    const char *found = end > start ? memchr(text + start, MARKUP_BREAK, end - start) : NULL;
    if (mark->position == 0) return *stop = start;
    if (mark->position == r->markup->plain.length) return *stop = end;
    *stop = found ? (size_t)(found - text) : start;
    return found ? *stop + 1 : end;
}

/* Marks marks[0..count) between units with text[start..end) between them. */
static void write_between(const Restoring *r, const int *marks, int count, size_t start, size_t end,
                          StrBuf *out) {
    size_t length = r->markup->plain.length;
    Gap gap = {.start = start, .at_start = start == 0};
    int first = 0;
    for (int i = 0; i < count; i++) {
        if (!is_break(r, marks[i])) continue;
        const Mark *mark = &r->markup->items[marks[i]];
        size_t next = end_before_break(r, mark, gap.start, end, &gap.end);
        gap.at_end = true;
        gap.last = mark->position;
        write_in_gap(r, marks + first, i - first, gap, out);
        strbuf_add(out, mark->text);
        gap = (Gap){.start = next, .at_start = true};
        gap.first = mark->position > 0 && mark->position < length ? mark->position + 1 : mark->position;
        first = i + 1;
    }
    gap.end = end;
    gap.at_end = end == r->item->text.length;
    gap.last = length;
    write_in_gap(r, marks + first, count - first, gap, out);
}

static void write_order(const Restoring *r, StrBuf *out) {
    const char *text = strbuf_text(&r->item->text);
    size_t end = 0; /* of the unit before */
    for (int i = 0, begun = 0; i <= r->order_count; i++) {
        bool last = i == r->order_count;
        if (!last && r->order[i] >= 0) continue;
        UnitText unit = last ? (UnitText){r->item->text.length, r->item->text.length} : r->text[~r->order[i]];
        write_between(r, r->order + begun, i - begun, end, unit.start, out);
        strbuf_add(out, (StrView){text + unit.start, unit.end - unit.start});
        end = unit.end;
        begun = i + 1;
    }
}

void markup_restore(const Markup *markup, const Translation *translation, int rank, Segmenter *source,
                    const Segmenter *target, StrBuf *out) {
    const TranslationItem *item = &translation->items[rank];
    if (translation->pieces == 0) {
        strbuf_add(out, strbuf_view(&markup->sound));
        return;
    }
    size_t S = (size_t)translation->source_length, T = (size_t)item->length, M = (size_t)markup->count;
    int *source_unit = mem_alloc(S, sizeof *source_unit), *target_unit = mem_alloc(T, sizeof *target_unit);
    Restoring r = {.markup = markup, .translation = translation, .item = item};
    text_units(source, translation->source, translation->source_word, (int)S, source_unit);
    r.units = text_units(target, item->ids, item->word, (int)T, target_unit);
    r.text = mem_alloc((size_t)r.units, sizeof *r.text);
    r.belongs = mem_alloc((size_t)r.units, sizeof *r.belongs);
    r.token = mem_alloc(M, sizeof *r.token);
    r.place = mem_alloc(M, sizeof *r.place);
    r.owner = mem_alloc(S + 1, sizeof *r.owner);
    r.behind = mem_alloc(S + 1, sizeof *r.behind);
    r.inside = mem_alloc((size_t)r.units + 1, sizeof *r.inside);
    r.order = mem_alloc(M + (size_t)r.units, sizeof *r.order);
    find_unit_texts(&r, target, target_unit);
    if (S > 0) find_belongs(&r, target_unit, source_unit);
    find_tokens(&r, source, source_unit);
    place_marks(&r);
    write_order(&r, out);
    mem_free(source_unit);
    mem_free(target_unit);
    mem_free(r.text);
    mem_free(r.belongs);
    mem_free(r.token);
    mem_free(r.place);
    mem_free(r.owner);
    mem_free(r.behind);
    mem_free(r.inside);
    mem_free(r.order);
}

void markups_take(const StrView *texts, int count, Markup *markups, StrView *plain) {
    for (int i = 0; i < count; i++) {
        markup_find(texts[i], &markups[i]);
        plain[i] = strbuf_view(&markups[i].plain);
    }
}

void markups_restore(Markup *markups, int count, const Seq2Seq *model, Translation *translations) {
    for (int i = 0; i < count; i++) {
        for (int rank = 0; markups[i].count > 0 && rank < translations[i].count; rank++) {
            StrBuf text = {0};
            markup_restore(&markups[i], &translations[i], rank, seq2seq_source(model), seq2seq_target(model),
                           &text);
            strbuf_free(&translations[i].items[rank].text);
            translations[i].items[rank].text = text;
        }
        markup_free(&markups[i]);
    }
}
