/* fuzz_markup.c - texts with placeholders and markup: marks, chunks and what agrees with them.
 *
 * Input: a text, a line end, and a translation.
 */
#include <string.h>
#include "base/utf8.h"
#include "text/marked_text.h"
#include "fuzz/scratch.h"

static void check_marks(const Markup *markup) {
    const char *end = strbuf_text(&markup->repaired);
    for (int m = 0; m < markup->count; m++) {
        const Mark *mark = &markup->items[m];
        require(mark->text.data >= end && mark->text.length > 0);
        end = mark->text.data + mark->text.length;
        if (mark->partner >= 0) require(markup->items[mark->partner].partner == m);
    }
    require(end <= strbuf_text(&markup->repaired) + markup->repaired.length);
    require(utf8_valid(strbuf_view(&markup->masked)));
}

/* Each text between breaks agrees with itself. */
static void check_part(const Markup *markup, StrView part, StrView translation) {
    MarkedText text = {0};
    StrBuf out = {0};
    StrView source = markup_source(markup, part), repaired = strbuf_view(&markup->repaired);
    require(source.data >= repaired.data && source.data + source.length <= repaired.data + repaired.length);
    marked_text_make(markup, source, &text);
    require(utf8_valid(strbuf_view(&text.in_place)) && utf8_valid(strbuf_view(&text.plain)));
    require(marked_text_agrees(&text, source));
    marked_text_write(&text, translation, &out);
    marked_text_agrees(&text, strbuf_view(&out));
    strbuf_free(&out);
    marked_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Markup markup = {0};
    StrBuf output = {0}, translation = {0};
    StrView rest = {(const char *)data, size}, line = {"", 0};
    sv_next(&rest, '\n', &line);
    utf8_repair(rest, &translation);
    markup_find(line, &markup);
    check_marks(&markup);
    StrView masked = {strbuf_text(&markup.masked), markup.masked.length};
    for (StrView part; sv_next(&masked, MARKUP_BREAK, &part);) {
        part = sv_trim(part);
        if (part.length > 0) check_part(&markup, part, strbuf_view(&translation));
    }
    strbuf_add(&output, strbuf_view(&translation));
    markup_finish(&markup, &output);
    strbuf_free(&output);
    strbuf_free(&translation);
    markup_free(&markup);
    return 0;
}
