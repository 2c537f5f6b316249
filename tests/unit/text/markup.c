/* markup.c - markup found in texts: marks, breaks, and the masked text. Cases: tests/cases/markup.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "text/marked_text.h"
#include "unit/cases.h"

/* ---- finding ---- */

/* The mask of a placeholder stands for it, perhaps with tags beside it. */
static void check_source(const Markup *markup, const Mark *mark) {
    StrView masked = strbuf_view(&markup->masked);
    if (mark->kind != MARK_SINGLE || mark->type == PLACEHOLDER_TAG) return;
    StrView source = markup_source(markup, (StrView){masked.data + mark->position, 6});
    assert_true(source.data <= mark->text.data);
    assert_true(source.data + source.length >= mark->text.data + mark->text.length);
}

/* The masked text, with X for the mask of a placeholder and without breaks at its ends, a line end, and the
 * marks: in brackets, ( and ) around the tags of pairs, bars around breaks. */
static void add_found(StrView text, StrBuf *got) {
    Markup markup = {0};
    markup_find(text, &markup);
    StrView masked = strbuf_view(&markup.masked), mask = SV("\xD7\x90\xD7\x90\xD7\x90");
    for (size_t i = 0; i < masked.length; i++) {
        bool masks = sv_starts((StrView){masked.data + i, masked.length - i}, mask);
        bool at_end = i == 0 || i + 1 == masked.length;
        if (masks || masked.data[i] != MARKUP_BREAK || !at_end)
            strbuf_add_char(got, masks ? 'X' : masked.data[i]);
        if (masks) i += mask.length - 1;
    }
    strbuf_add_char(got, '\n');
    for (int m = 0; m < markup.count; m++) {
        const Mark *mark = &markup.items[m];
        strbuf_format(got,
                      mark->kind == MARK_SINGLE  ? "[%.*s]"
                      : mark->kind == MARK_BREAK ? "|%.*s|"
                      : mark->kind == MARK_OPEN  ? "(%.*s"
                                                 : "%.*s)",
                      SV_ARG(mark->text));
        assert_int_equal(mark->block, mark->kind == MARK_BREAK);
        check_source(&markup, mark);
        if (mark->partner < 0) continue;
        assert_true(mark->kind == MARK_OPEN || mark->kind == MARK_CLOSE);
        assert_int_equal(markup.items[mark->partner].partner, m);
    }
    markup_free(&markup);
}

static void check_found(const char *text, const char *masked, const char *expected) {
    StrBuf got = {0}, want = {0};
    add_found(sv(text), &got);
    strbuf_format(&want, "%s\n%s", masked, expected);
    assert_string_equal(strbuf_text(&got), strbuf_text(&want));
    strbuf_free(&got);
    strbuf_free(&want);
}

static void run_found(const CaseSection *section, StrView input, StrBuf *got) {
    (void)section;
    add_found(input, got);
}

static void test_cases(void **state) {
    (void)state;
    cases_run("tests/cases/markup.case", "", run_found);
}

static void repeat(StrBuf *out, const char *text, int times) {
    while (times-- > 0) strbuf_add(out, sv(text));
}

/* Tags that nothing closes, or that others of their name close, take no room from those around them. */
static void test_tags_without_end(void **state) {
    (void)state;
    check_found("<link>a</link> <source>b</source>", "a b", "(<link></link>)(<source></source>)");
    static const char *const WITHIN[] = {"a <img src=x> ", "a<br>", "<tr><td>a<td>b"};
    for (size_t i = 0; i < sizeof WITHIN / sizeof *WITHIN; i++) {
        StrBuf text = {0}, expected = {0};
        strbuf_add(&text, SV("<table translate=no>"));
        repeat(&text, WITHIN[i], 1000);
        strbuf_add(&text, SV("</table>"));
        strbuf_format(&expected, "|%s|", strbuf_text(&text));
        check_found(strbuf_text(&text), "", strbuf_text(&expected));
        strbuf_free(&text);
        strbuf_free(&expected);
    }
}

/* Tags and comments may be long, as pictures in them are; those that nothing ends take no time. */
static void test_long_tags(void **state) {
    (void)state;
    static const char *const WITHIN[][2] = {{"<a b=\"", "\">"}, {"<!--", "-->"}};
    for (size_t i = 0; i < sizeof WITHIN / sizeof *WITHIN; i++) {
        StrBuf text = {0}, expected = {0};
        strbuf_add(&text, sv(WITHIN[i][0]));
        repeat(&text, "+/ >x", 100000);
        strbuf_add(&text, sv(WITHIN[i][1]));
        strbuf_format(&expected, "[%s]", strbuf_text(&text));
        check_found(strbuf_text(&text), "", strbuf_text(&expected));
        strbuf_free(&text);
        strbuf_free(&expected);
    }
    static const char *const WITHOUT[] = {"<!--", "<!-- <a", "<a '", "<a \"<a '", "<a \"'"};
    for (size_t i = 0; i < sizeof WITHOUT / sizeof *WITHOUT; i++) {
        StrBuf text = {0};
        strbuf_add(&text, SV("<!-->"));
        repeat(&text, WITHOUT[i], 300000);
        check_found(strbuf_text(&text), strbuf_text(&text), "");
        strbuf_free(&text);
    }
}

/* A mark with `most` times `c` in its middle is one, with one more it is text. */
static void check_longest(const char *before, char c, int most, const char *after) {
    const char middle[] = {c, '\0'};
    for (int more = 0; more < 2; more++) {
        StrBuf text = {0}, expected = {0};
        strbuf_add(&text, sv(before));
        repeat(&text, middle, most + more);
        strbuf_add(&text, sv(after));
        if (!more) strbuf_format(&expected, "[%s]", strbuf_text(&text));
        check_found(strbuf_text(&text), more ? strbuf_text(&text) : "X", strbuf_text(&expected));
        strbuf_free(&text);
        strbuf_free(&expected);
    }
}

static void test_limits(void **state) {
    (void)state;
    check_longest("&", 'n', 63, ";");
    check_longest("{", 'n', 63, "}");
    check_longest("%(", 'n', 63, ")d");
    check_longest("%", '1', 12, "d");
    StrBuf text = {0}, expected = {0};
    repeat(&text, "<b>", 66);
    repeat(&text, "</b>", 66);
    repeat(&expected, "[<b>]", 2);
    repeat(&expected, "(<b>", 64);
    repeat(&expected, "</b>)", 64);
    repeat(&expected, "[</b>]", 2);
    check_found(strbuf_text(&text), "", strbuf_text(&expected));
    strbuf_free(&text);
    strbuf_free(&expected);
}

/* ---- chunks ---- */

static void check_chunk(const char *text, const char *part, const char *in_place, const char *plain) {
    Markup markup = {0};
    MarkedText marked = {0};
    markup_find(sv(text), &markup);
    const char *found = strstr(strbuf_text(&markup.masked), part);
    assert_non_null(found);
    marked_text_make(&markup, markup_source(&markup, (StrView){found, strlen(part)}), &marked);
    assert_string_equal(strbuf_text(&marked.in_place), in_place);
    assert_string_equal(strbuf_text(&marked.plain), plain);
    marked_text_free(&marked);
    markup_free(&markup);
}

static void test_chunks(void **state) {
    (void)state;
    check_chunk("<p>Hi &amp; <b>you</b></p>", "Hi & you", "Hi & <b>you</b>", "Hi & you");
    /* Tags around the whole, and those whose partner is elsewhere, are left out. */
    check_chunk("<i><b>Go <u>on</u>.</b> Hi.</i>", "Go on.", "Go <u>on</u>.", "Go on.");
    check_chunk("<i><b>Go <u>on</u>.</b> Hi.</i>", "Hi.", "Hi.", "Hi.");
    check_chunk("<b>One. Two</b> more.", "Two more.", "Two</b> more.", "Two more.");
    check_chunk("a<br/>b<img>c", "b c", "b<img>c", "b c");
    check_chunk("\xE4\xB8\x80\xE3\x80\x82<i>\xE4\xBA\x8C</i>", "\xE4\xB8\x80\xE3\x80\x82",
                "\xE4\xB8\x80\xE3\x80\x82", "\xE4\xB8\x80\xE3\x80\x82");
}

static void check_written(const char *source, const char *translation, const char *output, bool agrees) {
    Markup markup = {0};
    MarkedText marked = {0};
    StrBuf out = {0};
    markup_find(sv(source), &markup);
    marked_text_make(&markup, strbuf_view(&markup.repaired), &marked);
    marked_text_write(&marked, sv(translation), &out);
    assert_string_equal(strbuf_text(&out), output);
    assert_int_equal(marked_text_agrees(&marked, strbuf_view(&out)), agrees);
    strbuf_free(&out);
    marked_text_free(&marked);
    markup_free(&markup);
}

static void test_written(void **state) {
    (void)state;
    check_written("I don&#39;t &amp; won't", "j'ai & l'eau & d'or", "j&#39;ai &amp; l'eau &amp; d'or", true);
    check_written("a &nbsp; b", "a < b & c", "a &lt; b &amp; c", true); /* U+00A0 is gone */
    check_written("<b>a</b> b", "<b>a</b> < & b", "<b>a</b> &lt; &amp; b", true);
    check_written("a < b & c %s", "a < b & c %s", "a < b & c %s", true);
    check_written("%s: a < %d", "%d: a < %s", "%d: a < %s", false);
    check_written("%1$s: %2$d", "%2$d: %1$s", "%2$d: %1$s", true);
    check_written("a %s b", "a %s %s b", "a %s %s b", false);
    check_written("a b", "a %s b", "a %s b", false);
    check_written("add <file>", "<Datei> <file>", "<Datei> <file>", true);
    /* Words that a placeholder is glued to. */
    check_written("the %s file", "die %s-Datei", "die %s-Datei", true);
    check_written("the %s file", "die%s Datei", "die%s Datei", false);
    check_written("%dms of %d", "%dms von %d", "%dms von %d", true);
    check_written("%s %s", "%s%s", "%s%s", false);
    check_written("a <b>b</b> c", "x<b>y</b>, z", "x<b>y</b>, z", false);
    check_written("a<b>b</b>", "x<b>y</b>", "x<b>y</b>", true);
    /* Nesting. */
    check_written("<b>%s</b> <i>a</i>", "<i>x</i> <b>%s</b>", "<i>x</i> <b>%s</b>", true);
    check_written("<b>%s</b> <i>a</i>", "%s <i>x</i> <b></b>", "%s <i>x</i> <b></b>", false);
    check_written("<b><i>a</i></b>", "<i><b>a</b></i>", "<i><b>a</b></i>", false);
    check_written("</b> a <i>", "<i> x </b>", "<i> x </b>", true); /* neither has a partner */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),  cmocka_unit_test(test_tags_without_end),
        cmocka_unit_test(test_limits), cmocka_unit_test(test_long_tags),
        cmocka_unit_test(test_chunks), cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
