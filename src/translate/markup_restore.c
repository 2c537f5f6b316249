/* markup_restore.c - see markup_restore.h. Writes the units of a translation with marks and white space
 * between them. */
#include "translate/markup_restore.h"

#include <string.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "translate/markup_place.h"

typedef struct {
    const Markup *markup;
    const TranslationItem *item;
    MarkupOrder order;
} Restoration;

static bool is_break(const Restoration *r, int m) { return r->markup->items[m].kind == MARK_BREAK; }

static bool word_at(StrView text, size_t at) {
    return at < text.length && markup_is_word(utf8_next(text, &at));
}

static bool word_before(StrView text, size_t at) {
    if (at == 0) return false;
    size_t start = utf8_before(text, at);
    return markup_is_word(utf8_next(text, &start));
}

/* Tags of pairs, with white space before the first opening tag. */
static void write_tags(const Restoration *r, const int *tags, int count, StrView space, StrBuf *out) {
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

/* The text between two units, where marks go. */
typedef struct {
    size_t start, end;     /* white space in the translation's text */
    bool at_start, at_end; /* a break, or the start or end of the text, instead of a unit */
    size_t first, last;    /* its position in the plain text */
} Gap;

/* The white space on both sides of the single marks in a gap. */
static void choose_spaces(const Restoration *r, const Mark *first, const Mark *last, Gap where, StrView *left,
                          StrView *right) {
    size_t start = where.start, end = where.end;
    StrView text = strbuf_view(&r->item->text), gap = {strbuf_text(&r->item->text) + start, end - start};
    StrView one = gap.length > 0 ? gap : SV(" ");
    bool at_start = where.at_start, at_end = where.at_end;
    bool before = first->space_before || (last->space_after && gap.length > 0 && word_before(text, start));
    bool after = last->space_after || (first->space_before && gap.length > 0 && word_at(text, end));
    *left = *right = SV("");
    if (at_start || at_end) {
        /* White space at the ends of a paragraph is the source's: it stays on its side. */
        size_t after_last = where.last - last->position, cut = first->position - where.first;
        if (!at_start) cut = gap.length > after_last ? gap.length - after_last : 0;
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

/* Marks marks[0..count), which are no breaks, with the white space of their gap. */
static void write_in_gap(const Restoration *r, const int *marks, int count, Gap gap, StrBuf *out) {
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

/* Divide text[start..end) at a break: *stop is the end of the part before it; returns the start of the part
 * after it. If the sentences were translated together, the text's white space is dropped: a break has its
 * own. */
static size_t end_before_break(const Restoration *r, const Mark *mark, size_t start, size_t end,
                               size_t *stop) {
    const char *text = strbuf_text(&r->item->text);
    const char *found = end > start ? memchr(text + start, MARKUP_BREAK, end - start) : NULL;
    if (mark->position == 0) return *stop = start;
    if (mark->position == r->markup->plain.length) return *stop = end;
    *stop = found ? (size_t)(found - text) : start;
    return found ? *stop + 1 : end;
}

/* Marks marks[0..count) between units with text[start..end) between them. */
static void write_between(const Restoration *r, const int *marks, int count, size_t start, size_t end,
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

static void write_order(const Restoration *r, StrBuf *out) {
    const char *text = strbuf_text(&r->item->text);
    const int *order = r->order.order;
    size_t length = r->item->text.length, end = 0; /* end: of the last unit */
    for (int i = 0, first = 0; i <= r->order.order_count; i++) {
        bool last = i == r->order.order_count;
        if (!last && order[i] >= 0) continue;
        UnitText unit = last ? (UnitText){length, length} : r->order.text[~order[i]];
        write_between(r, order + first, i - first, end, unit.start, out);
        strbuf_add(out, (StrView){text + unit.start, unit.end - unit.start});
        end = unit.end;
        first = i + 1;
    }
}

void markup_restore(const Markup *markup, const Translation *translation, int rank, Tokenizer *source,
                    const Tokenizer *target, StrBuf *out) {
    if (translation->chunks == 0) {
        strbuf_add(out, strbuf_view(&markup->repaired));
        return;
    }
    Restoration r = {.markup = markup, .item = &translation->items[rank]};
    markup_place(markup, translation, rank, source, target, &r.order);
    write_order(&r, out);
    markup_order_free(&r.order);
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
