/* markup_restore.c - see markup_restore.h. Writes the units of a translation with marks and white space
 * between them. */
#include "postprocess/markup_restore.h"

#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "postprocess/markup_place.h"

typedef struct {
    const MarkedText *marked;
    StrBuf text; /* of the translation's item, with spaces for placeholders that the model wrote */
    MarkupOrder order;
    bool apart; /* spaces around all single marks */
    TextWriter writer;
    StrBuf out;
} Restoration;

static bool word_at(StrView text, size_t at) {
    return at < text.length && text_is_word(utf8_next(text, &at));
}

static bool word_before(StrView text, size_t at) {
    if (at == 0) return false;
    size_t start = utf8_before(text, at);
    return text_is_word(utf8_next(text, &start));
}

/* Tags of pairs, with white space before the first opening tag. */
static void write_tags(Restoration *r, const int *tags, int count, StrView space) {
    bool open = false;
    for (int i = 0; i < count; i++) {
        const TextMark *mark = &r->marked->items[tags[i]];
        if (mark->kind == MARK_OPEN && !open) {
            text_writer_add(&r->writer, space, &r->out);
            open = true;
        }
        strbuf_add(&r->out, mark->text);
    }
    if (!open) text_writer_add(&r->writer, space, &r->out);
}

/* White space of the translation between two units, where marks go. */
typedef struct {
    size_t start, end;
    bool at_start, at_end; /* the start or end of the text instead of a unit */
} Gap;

/* The white space on both sides of the single marks in a gap. */
static void choose_spaces(const Restoration *r, const TextMark *first, const TextMark *last, Gap where,
                          StrView *left, StrView *right) {
    size_t start = where.start, end = where.end;
    StrView text = strbuf_view(&r->text), gap = {strbuf_text(&r->text) + start, end - start};
    StrView one = gap.length > 0 ? gap : SV(" ");
    bool at_start = where.at_start, at_end = where.at_end;
    bool before =
        r->apart || first->space_before || (last->space_after && gap.length > 0 && word_before(text, start));
    bool after =
        r->apart || last->space_after || (first->space_before && gap.length > 0 && word_at(text, end));
    *left = *right = SV("");
    if (at_start || at_end) {
        if (at_start) *right = gap;
        if (!at_start) *left = gap;
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

/* Marks marks[0..count) between two units, with the white space of their gap. */
static void write_in_gap(Restoration *r, const int *marks, int count, Gap gap) {
    const TextMark *items = r->marked->items, *single = NULL, *first = NULL, *last = NULL;
    StrView left = {strbuf_text(&r->text) + gap.start, gap.end - gap.start}, right = SV("");
    for (int i = 0; i < count; i++) {
        if (items[marks[i]].kind != MARK_SINGLE) continue;
        if (!first) first = &items[marks[i]];
        last = &items[marks[i]];
    }
    if (first) choose_spaces(r, first, last, gap, &left, &right);
    int tags = 0; /* since the last single */
    for (int i = 0; i < count; i++, tags++) {
        const TextMark *mark = &items[marks[i]];
        if (mark->kind != MARK_SINGLE) continue;
        bool between = single && (r->apart || single->space_after || mark->space_before);
        write_tags(r, marks + i - tags, tags, !single ? left : between ? SV(" ") : SV(""));
        strbuf_add(&r->out, mark->text);
        single = mark;
        tags = -1;
    }
    write_tags(r, marks + count - tags, tags, single ? right : left);
}

static void write_order(Restoration *r) {
    const char *text = strbuf_text(&r->text);
    const int *order = r->order.order;
    size_t length = r->text.length, end = 0; /* end: of the last unit */
    for (int i = 0, first = 0; i <= r->order.order_count; i++) {
        bool last = i == r->order.order_count;
        if (!last && order[i] >= 0) continue;
        UnitText unit = last ? (UnitText){length, length} : r->order.text[~order[i]];
        Gap gap = {.start = end, .end = unit.start, .at_start = end == 0, .at_end = unit.start == length};
        write_in_gap(r, order + first, i - first, gap);
        text_writer_add(&r->writer, (StrView){text + unit.start, unit.end - unit.start}, &r->out);
        end = unit.end;
        first = i + 1;
    }
}

/* Replace placeholders in the text by spaces, but not words in angle brackets; false if there are none. */
static bool blank_placeholders(const MarkedText *marked, StrBuf *text) {
    PlaceholderScan scan = {.text = strbuf_view(text)};
    bool any = false;
    for (Placeholder placeholder; placeholder_next(&scan, &placeholder);) {
        if (tag_is_word(placeholder.text) && !marked_text_has(marked, placeholder.text)) continue;
        memset(text->data + (placeholder.text.data - text->data), ' ', placeholder.text.length);
        any = true;
    }
    return any;
}

static void join_spaces(StrBuf *text) {
    size_t length = 0;
    for (size_t i = 0; i < text->length; i++)
        if (text->data[i] != ' ' || length == 0 || text->data[length - 1] != ' ')
            text->data[length++] = text->data[i];
    while (length > 0 && text->data[length - 1] == ' ') length--;
    strbuf_cut(text, length);
}

typedef enum { BY_ATTENTION, IN_ORDER, IN_ORDER_APART } Way;

/* Appends the result if it agrees with the source. */
static bool restore(const MarkedText *marked, const Translation *translation, int rank, Way way,
                    Tokenizer *source, const Tokenizer *target, StrBuf *out) {
    Restoration r = {.marked = marked, .apart = way == IN_ORDER_APART, .writer = {.text = marked}};
    strbuf_add(&r.text, strbuf_view(&translation->items[rank].text));
    markup_place(marked, translation, rank, way != BY_ATTENTION, source, target, &r.order);
    bool blanked = blank_placeholders(marked, &r.text);
    for (size_t i = 0; i < r.text.length && marked->icu; i++)
        if (r.text.data[i] == '{' || r.text.data[i] == '}') r.text.data[i] = ' ';
    r.writer.all = strbuf_view(&r.text);
    write_order(&r);
    if (blanked) join_spaces(&r.out);
    bool blank = blanked && marked->has_letters && unicode_is_blank(strbuf_view(&r.text));
    bool agrees = !blank && marked_text_agrees(marked, strbuf_view(&r.out));
    if (agrees) strbuf_add(out, strbuf_view(&r.out));
    markup_order_free(&r.order);
    mem_free(r.writer.used);
    strbuf_free(&r.text);
    strbuf_free(&r.out);
    return agrees;
}

void markup_restore(const MarkedText *marked, const Translation *translation, int rank, Tokenizer *source,
                    const Tokenizer *target, StrBuf *out) {
    for (Way way = BY_ATTENTION; way <= IN_ORDER_APART; way++)
        if (restore(marked, translation, rank, way, source, target, out)) return;
    strbuf_add(out, marked->source);
}
