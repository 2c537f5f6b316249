/* markup_place.c - see markup_place.h. Finds the source tokens of marks, the units of source tokens, a slot
 * for each mark. */
#include "postprocess/markup_place.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

/* The position of one mark: units from..to-1 are inside. Single marks, and pairs that enclose nothing, have
 * none. */
typedef struct {
    int from, to, count; /* count: units that belong to it */
} Slot;

typedef struct {
    const MarkedText *marked;
    const Translation *translation;
    const TranslationItem *item;
    int units;          /* of the translation's item */
    UnitText *text;     /* [units] */
    int *source_tokens; /* [units] the source token that each belongs to */
    int *token;         /* [marks] source tokens before it; pairs enclose whole units */
    Slot *slot;         /* [marks] */
    int *owner;         /* [source tokens + 1] scratch: the pair that encloses it, -1 none */
    int *after;  /* [source tokens + 1] scratch: the first unit after all units that belong to it, -1 none */
    int *inside; /* [units + 1] scratch: the pair that encloses this position, -1 none */
    int *order;  /* units and marks in order, as in MarkupOrder */
    int order_count;
} Placement;

/* ---- units ---- */

/* Characters of words; adjacent ones are one unit. */
static bool is_word(int c) {
    CharClass class = unicode_class(c);
    return (class == CHAR_LETTER || class == CHAR_DIGIT || class == CHAR_MARK) && unicode_width(c) < 2;
}

/* The first and last character of a token; -1 if it has none. */
static void token_ends(const Tokenizer *tokenizer, int id, int *first, int *last) {
    StrBuf text = {0};
    *first = *last = -1;
    tokenizer_decode(tokenizer, &id, 1, &text);
    for (size_t position = 0; position < text.length;) {
        *last = utf8_next(strbuf_view(&text), &position);
        if (*first < 0) *first = *last;
    }
    strbuf_free(&text);
}

/* unit[i] of token i, from 0; returns the number of units. */
static int text_units(const Tokenizer *tokenizer, const int *ids, const int *word, int count, int *unit) {
    int units = 0, before = -1, first, last;
    for (int i = 0; i < count; i++) {
        token_ends(tokenizer, ids[i], &first, &last);
        bool joined = first < 0 || before < 0 || first == '\'' || first == 0x2019 ||
                      unicode_class(first) == CHAR_MARK || (is_word(before) && is_word(first));
        if (i == 0 || word[i] != word[i - 1] || !joined) units++;
        before = last;
        unit[i] = units - 1;
    }
    return units;
}

/* The position after the white space at `at`. */
static size_t leading_space(StrView text, size_t at) {
    for (size_t next = at; next < text.length; at = next) {
        utf8_next(text, &next);
        if (!unicode_is_blank((StrView){text.data + at, next - at})) break;
    }
    return at;
}

/* Find the units in the text, in order. White space at the beginning of a token does not belong to its unit:
 * French has some before its question marks. */
static void find_unit_texts(Placement *p, const Tokenizer *target, const int *unit) {
    const TranslationItem *item = p->item;
    StrView text = strbuf_view(&item->text);
    StrList unknown = p->translation->target_unknown;
    size_t at = 0;
    for (int first = 0, end; first < item->length; first = end) {
        StrBuf label = {0};
        for (end = first; end < item->length && unit[end] == unit[first];) end++;
        tokenizer_decode_spelled(target, item->ids + first, (size_t)(end - first), &unknown, &label);
        unknown_skip(&unknown, item->ids + first, end - first);
        size_t blank = leading_space(strbuf_view(&label), 0), length = label.length - blank;
        if (length > 0) at = leading_space(text, at);
        p->text[unit[first]].start = at;
        for (size_t stop = at + length; at < stop && at < text.length;) utf8_next(text, &at);
        p->text[unit[first]].end = at;
        strbuf_free(&label);
    }
}

/* Find the source token, the first one of its unit, that each unit of the translation belongs to. */
static void assign_by_attention(Placement *p, const int *target_unit, const int *source_unit) {
    int S = p->translation->source_length;
    float *weight = mem_alloc((size_t)S, sizeof *weight); /* of source units */
    for (int t = 0; t < p->item->length; t++) {
        AttentionRow row = translation_attention(p->item, t);
        int end = row.first + row.count < S ? row.first + row.count : S, best = row.first;
        for (int s = row.first; s < end; s++) weight[source_unit[s]] += row.weights[s - row.first];
        if (t + 1 < p->item->length && target_unit[t + 1] == target_unit[t]) continue;
        for (int s = row.first; s < end; s++)
            if (weight[source_unit[s]] > weight[source_unit[best]]) best = s;
        p->source_tokens[target_unit[t]] = best;
        for (int s = row.first; s < end; s++) weight[source_unit[s]] = 0;
    }
    mem_free(weight);
}

/* ---- source tokens before each mark ---- */

static int count_tokens(Tokenizer *tokenizer, StrView text) {
    IdList ids = {0};
    tokenizer_encode(tokenizer, text, &ids);
    int count = (int)ids.count;
    id_list_free(&ids);
    return count;
}

/* A word of the plain text that has marks inside. */
typedef struct {
    StrView text;
    int tokens;     /* -1: not counted yet */
    bool by_length; /* estimate tokens by length: the word is too long to encode a part for each mark */
} Word;

/* Count the tokens of the word; its first mark is m. */
static void word_measure(const MarkedText *marked, int m, Tokenizer *tokenizer, Word *word) {
    enum { MAX_BYTES = 1 << 19 }; /* of all parts: hundredths of a second */
    size_t end = (size_t)(word->text.data - strbuf_text(&marked->plain)) + word->text.length, marks = 0;
    for (; m < marked->count && marked->items[m].position < end; m++) marks++;
    word->tokens = count_tokens(tokenizer, word->text);
    word->by_length = marks * word->text.length > MAX_BYTES;
}

/* Tokens before byte `at`, at most those of the word: a part may have more tokens than the whole. */
static int tokens_before(Tokenizer *tokenizer, const Word *word, size_t at) {
    if (word->by_length) return (int)((double)at / (double)word->text.length * word->tokens);
    int count = count_tokens(tokenizer, (StrView){word->text.data, at});
    return count < word->tokens ? count : word->tokens;
}

/* The direction in which a tag inside a unit moves: away from its partner, so that pairs enclose whole
 * units. 0 if it has no partner, or the pair encloses nothing. */
static int pair_step(const MarkedText *marked, int m) {
    const TextMark *mark = &marked->items[m];
    if (mark->partner < 0 || marked->items[mark->partner].position == mark->position) return 0;
    return mark->kind == MARK_OPEN ? -1 : 1;
}

/* Tokens of the source before its text: a language, if it has one. */
static int tokens_before_text(const Translation *translation, const Tokenizer *tokenizer) {
    const IdList *languages = tokenizer_role(tokenizer, TOKENIZER_LANGUAGES);
    for (size_t i = 0; i < languages->count; i++)
        if (translation->source_length > 0 && translation->source[0] == languages->ids[i]) return 1;
    return 0;
}

static void find_tokens(Placement *p, Tokenizer *tokenizer, const int *source_unit) {
    const MarkedText *marked = p->marked;
    StrView plain = strbuf_view(&marked->plain);
    StrView rest = plain;
    Word word = {{plain.data, 0}, 0, false};
    int before = tokens_before_text(p->translation, tokenizer); /* tokens before it */
    int S = p->translation->source_length;
    for (int m = 0; m < marked->count; m++) {
        size_t at = marked->items[m].position;
        while (rest.length > 0 && plain.length - rest.length <= at) {
            if (word.tokens < 0) word.tokens = count_tokens(tokenizer, word.text);
            before += word.tokens;
            word.tokens = sv_next_word(&rest, &word.text) ? -1 : 0;
        }
        size_t start = (size_t)(word.text.data - plain.data);
        bool after = at >= start + word.text.length, inside = at > start && !after;
        if (at > start && word.tokens < 0) word_measure(marked, m, tokenizer, &word);
        int token = before + (inside ? tokens_before(tokenizer, &word, at - start) : after ? word.tokens : 0);
        int step = pair_step(marked, m);
        if (step < 0 && inside && token == before + word.tokens) token--;
        if (token > S) token = S;
        while (step && token > 0 && token < S && source_unit[token] == source_unit[token - 1]) token += step;
        p->token[m] = token;
    }
}

/* ---- slots ---- */

typedef struct {
    int first, end;         /* marks */
    int source, source_end; /* tokens */
    int from, to;           /* units */
} Range;

static bool is_pair(const Placement *p, int m) {
    return p->marked->items[m].kind == MARK_OPEN && p->marked->items[m].partner >= 0;
}

/* A tag whose partner is in another chunk. */
static bool is_half(const Placement *p, int m) {
    MarkKind kind = p->marked->items[m].kind;
    return (kind == MARK_OPEN || kind == MARK_CLOSE) && p->marked->items[m].partner < 0;
}

static int next_mark(const Placement *p, int m) {
    return is_pair(p, m) ? p->marked->items[m].partner + 1 : m + 1;
}

/* Pairs: the longest run of units that belong to the pair, without units of another pair. */
static void place_pairs(Placement *p, const Range *range) {
    for (int s = range->source; s < range->source_end; s++) p->owner[s] = -1;
    for (int m = range->first; m < range->end; m = next_mark(p, m)) {
        p->slot[m] = (Slot){0};
        for (int s = p->token[m]; is_pair(p, m) && s < p->token[p->marked->items[m].partner]; s++)
            p->owner[s] = m;
    }
    int current = -1;
    Slot run = {0};
    for (int u = range->from; u < range->to; u++) {
        int s = p->source_tokens[u], owner = s >= range->source && s < range->source_end ? p->owner[s] : -1;
        if (owner < 0) continue;
        if (owner != current) run = (Slot){.from = u};
        current = owner;
        run.to = u + 1;
        run.count++;
        if (run.count > p->slot[owner].count) p->slot[owner] = run;
    }
}

/* The position with the most units on the side of a source token that they belong to. It never moves back
 * for a later token. */
static int cut_units(const Placement *p, const Range *range, int token) {
    int cut = range->from;
    for (int u = range->from, more = 0, most = 0; u < range->to; u++) {
        more += p->source_tokens[u] < token ? 1 : -1;
        if (more <= most) continue;
        most = more;
        cut = u + 1;
    }
    return cut;
}

/* Single marks, and pairs without units. */
static void place_points(Placement *p, const Range *range) {
    for (int s = range->source; s <= range->source_end; s++) p->after[s] = -1;
    for (int k = range->from; k <= range->to; k++) p->inside[k] = -1;
    for (int u = range->from; u < range->to; u++)
        if (p->source_tokens[u] >= range->source && p->source_tokens[u] < range->source_end)
            p->after[p->source_tokens[u]] = u + 1;
    for (int s = range->source, last = -1; s < range->source_end; s++)
        p->after[s] = last = p->after[s] >= 0 ? p->after[s] : last;
    for (int m = range->first; m < range->end; m = next_mark(p, m))
        for (int k = p->slot[m].from + 1; p->slot[m].count > 0 && k < p->slot[m].to; k++) p->inside[k] = m;
    for (int m = range->first; m < range->end; m = next_mark(p, m)) {
        if (p->slot[m].count > 0) continue;
        int token = p->token[m], at = range->from;
        if (token > range->source && token >= range->source_end)
            at = range->to;
        else if (token > range->source && p->after[token - 1] >= 0)
            at = p->after[token - 1];
        int around = p->inside[at];
        if (around >= 0) at = around > m ? p->slot[around].from : p->slot[around].to;
        p->slot[m].from = p->slot[m].to = at;
    }
}

typedef struct {
    int from, filled, mark;
} SortedMark;

static int sorted_compare(const void *a, const void *b) {
    const SortedMark *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->filled != y->filled) return x->filled - y->filled;
    return x->mark - y->mark;
}

static void add_units(Placement *p, int from, int to) {
    for (int u = from; u < to; u++) p->order[p->order_count++] = ~u;
}

/* Place the marks of a range without breaks, and recursively the marks inside pairs, in order with its
 * units. */
static void place_range(Placement *p, Range range) {
    int count = 0, unit = range.from;
    for (int m = range.first; m < range.end; m = next_mark(p, m)) count++;
    if (count > 0) {
        place_pairs(p, &range);
        place_points(p, &range);
    }
    SortedMark *sorted = mem_alloc((size_t)count, sizeof *sorted);
    for (int m = range.first, i = 0; m < range.end; m = next_mark(p, m))
        sorted[i++] = (SortedMark){p->slot[m].from, p->slot[m].count > 0, m};
    if (count > 1) qsort(sorted, (size_t)count, sizeof *sorted, sorted_compare);
    for (int i = 0; i < count; i++) {
        int m = sorted[i].mark;
        add_units(p, unit, p->slot[m].from);
        unit = p->slot[m].to;
        p->order[p->order_count++] = m;
        if (!is_pair(p, m)) continue;
        int close = p->marked->items[m].partner;
        place_range(p, (Range){m + 1, close, p->token[m], p->token[close], p->slot[m].from, unit});
        p->order[p->order_count++] = close;
    }
    add_units(p, unit, range.to);
    mem_free(sorted);
}

/* Without attention, or if `in_order`: units belong to the source unit at the same share of the text, so that
 * marks keep their order. */
static void assign_in_order(Placement *p, const int *source_unit) {
    int S = p->translation->source_length, units = S > 0 ? source_unit[S - 1] + 1 : 0;
    for (int u = 0, s = 0; u < p->units; u++) {
        while (s + 1 < S && source_unit[s] < (int)((double)u * units / p->units)) s++;
        p->source_tokens[u] = s;
    }
}

/* Tags whose partner is in another chunk divide marks, tokens and units into ranges. */
static void place_marks(Placement *p) {
    Range range = {0, p->marked->count, 0, p->translation->source_length, 0, p->units};
    for (int m = 0; m < p->marked->count; m = next_mark(p, m)) {
        if (!is_half(p, m)) continue;
        Range before = range;
        before.end = m;
        before.source_end = p->token[m];
        before.to = p->token[m] == 0                  ? range.from
                    : p->token[m] >= range.source_end ? range.to
                                                      : cut_units(p, &range, p->token[m]);
        place_range(p, before);
        p->order[p->order_count++] = m;
        range.first = m + 1;
        range.source = before.source_end;
        range.from = before.to;
    }
    place_range(p, range);
}

void markup_place(const MarkedText *marked, const Translation *translation, int rank, bool in_order,
                  Tokenizer *source, const Tokenizer *target, MarkupOrder *out) {
    const TranslationItem *item = &translation->items[rank];
    size_t S = (size_t)translation->source_length, T = (size_t)item->length, M = (size_t)marked->count;
    int *source_unit = mem_alloc(S, sizeof *source_unit), *target_unit = mem_alloc(T, sizeof *target_unit);
    Placement p = {.marked = marked, .translation = translation, .item = item};
    text_units(source, translation->source, translation->source_word, (int)S, source_unit);
    p.units = text_units(target, item->ids, item->word, (int)T, target_unit);
    p.text = mem_alloc((size_t)p.units, sizeof *p.text);
    p.source_tokens = mem_alloc((size_t)p.units, sizeof *p.source_tokens);
    p.token = mem_alloc(M, sizeof *p.token);
    p.slot = mem_alloc(M, sizeof *p.slot);
    p.owner = mem_alloc(S + 1, sizeof *p.owner);
    p.after = mem_alloc(S + 1, sizeof *p.after);
    p.inside = mem_alloc((size_t)p.units + 1, sizeof *p.inside);
    p.order = mem_alloc(M + (size_t)p.units, sizeof *p.order);
    find_unit_texts(&p, target, target_unit);
    if (in_order || !item->attention)
        assign_in_order(&p, source_unit);
    else if (S > 0)
        assign_by_attention(&p, target_unit, source_unit);
    find_tokens(&p, source, source_unit);
    place_marks(&p);
    *out = (MarkupOrder){p.text, p.order, p.order_count};
    mem_free(source_unit);
    mem_free(target_unit);
    mem_free(p.source_tokens);
    mem_free(p.token);
    mem_free(p.slot);
    mem_free(p.owner);
    mem_free(p.after);
    mem_free(p.inside);
}

void markup_order_free(MarkupOrder *order) {
    mem_free(order->text);
    mem_free(order->order);
    *order = (MarkupOrder){0};
}
