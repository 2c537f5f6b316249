/* markup.c - markup found in texts: marks, breaks, and the masked text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "text/marked_text.h"

/* ---- finding ---- */

/* Each word of the masked text stands for a part of the source. */
static void check_source(const Markup *markup, const Mark *mark) {
    StrView masked = strbuf_view(&markup->masked);
    if (mark->kind != MARK_SINGLE || mark->type == PLACEHOLDER_TAG) return;
    StrView source = markup_source(markup, (StrView){masked.data + mark->position, 6});
    assert_true(sv_equal(source, mark->text));
}

/* `expected`: the marks in brackets, ( and ) around pairs' tags, bars around breaks. `masked`: with X for
 * the mask of a placeholder, without breaks at the ends. */
static void check_found(const char *text, const char *masked, const char *expected) {
    Markup markup = {0};
    StrBuf got = {0};
    markup_find(sv(text), &markup);
    for (int m = 0; m < markup.count; m++) {
        const Mark *mark = &markup.items[m];
        strbuf_format(&got,
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
    assert_string_equal(strbuf_text(&got), expected);
    StrBuf mask = {0};
    for (size_t i = 0; i < markup.masked.length; i++) {
        bool masks = sv_starts((StrView){markup.masked.data + i, markup.masked.length - i},
                               SV("\xD7\x90\xD7\x90\xD7\x90"));
        strbuf_add_char(&mask, masks ? 'X' : markup.masked.data[i]);
        if (masks) i += 5;
    }
    if (mask.length > 0 && mask.data[mask.length - 1] == MARKUP_BREAK) strbuf_cut(&mask, mask.length - 1);
    assert_string_equal(strbuf_text(&mask) + (mask.length > 0 && mask.data[0] == MARKUP_BREAK), masked);
    strbuf_free(&mask);
    strbuf_free(&got);
    markup_free(&markup);
}

static void test_found(void **state) {
    (void)state;
    check_found("", "", "");
    check_found("a <b>c</b> d", "a c d", "(<b></b>)");
    check_found("<A HREF=\"x>y\">c</a>", "c", "(<A HREF=\"x>y\"></a>)");
    check_found("a<x/>b<img>c <ph /> d", "a b c  d", "[<x/>][<img>][<ph />]");
    check_found("<i><b>x</i></b>", "x", "(<i>[<b>]</i>)[</b>]");
    check_found("</b>x<b>", "x", "[</b>][<b>]");
    check_found("<!-- <b> --> x", " x", "[<!-- <b> -->]");
    check_found("1 < 2 <3> a<b c > d <- <", "1 < 2 <3> a d <- <", "[<b c >]");
    check_found("a {0} <b>%s</b>x.", "a X Xx.", "[{0}](<b>[%s]</b>)");
    check_found("a\xff{0}", "a\xEF\xBF\xBDX", "[{0}]");
    /* Words in angle brackets are text, elements are not. */
    check_found("add <file> <an option> <f1>", "add <file> <an option> ", "[<f1>]");
    check_found("<file>a</file>", "a", "(<file></file>)");
}

static void test_entities(void **state) {
    (void)state;
    check_found("a&nbsp;b &#39;&#x1F; AT&T & c; &;",
                "a\xC2\xA0"
                "b 'X AT&T & c; &;",
                "[&#x1F;]");
    check_found("I don&#39;t &amp; won&rsquo;t", "I don't & won\xE2\x80\x99t", "");
    check_found("&lt; &lt;b&gt; &amp;lt; &foo; &#65;", "< Xb> Xlt; X X", "[&lt;][&amp;][&foo;][&#65;]");
    check_found("&#xD800; &#1114112; &#99999999999;", "X X X", "[&#xD800;][&#1114112;][&#99999999999;]");
}

static void test_icu(void **state) {
    (void)state;
    check_found("You have {n, plural, one {# file} other {# files}} left.",
                "You have\fX file\fX files\fleft.", "| {n, plural, one {|[#]|} other {|[#]|}} |");
    check_found("{g, select, a {x {n, plural, =0{no} other{{n}}} y} other {}}", "x\fno\fX\fy",
                "|{g, select, a {|| {n, plural, =0{||} other{|[{n}]|}} ||} other {}}|");
    check_found("{n, plural, one {x}", "{n, plural, one X", "[{x}]");
}

static void test_without_end(void **state) {
    (void)state;
    check_found("<!-- x --", "<!-- x --", "");
    check_found("<a b=\"x>", "<a b=\"x>", "");
    check_found("<a=b>", "<a=b>", "");
    check_found("<a <b>", "<a ", "[<b>]");
}

static void test_breaks(void **state) {
    (void)state;
    check_found("<p>a</p><P>b</P>", "a\fb", "|<p>||</p><P>||</P>|");
    check_found(" <h1>a</h1>\n <p>b.\nc</p>\n", "a\fb.\nc", "| <h1>||</h1>\n <p>||</p>\n|");
    check_found("a<br/>b<br>c <hr /> d", "a\fb\fc\fd", "|<br/>||<br>|| <hr /> |");
    check_found("<td> <td>", "", "|<td> <td>|");
    check_found("<pp>a</pp><p-x a=1>b", "a b", "(<pp></pp>)[<p-x a=1>]");
    check_found("<!doctype html>a<!doc>", "a<!doc>", "|<!doctype html>|");
    check_found("a\fb", "a b", "");
    /* What no text parts from a break is in it; what is around text is not. */
    check_found("a {0} <br> <!-- <p> -->b", "a X\fb", "[{0}]| <br> <!-- <p> -->|");
    check_found("<p><a><i></i></a> <b>a</b> {1}</p>", "a X", "|<p><a><i></i></a> |(<b></b>)[{1}]|</p>|");
    check_found("<p><a>{0}</a> <b>a</b> <i></i></p>", "X a", "|<p>|(<a>[{0}]</a>)(<b></b>)| <i></i></p>|");
    check_found("<p><b><i></i>a{0}</b></p>", "aX", "|<p>|(<b>(<i></i>)[{0}]</b>)|</p>|");
    /* A pair that reaches across is two halves; like pairs they leave nothing in the text. */
    check_found("<b>a<br>b</b>c", "a\fbc", "(<b>|<br>|</b>)");
    check_found("<i>x <b>a</i> <p>b</b>", "x a\fb", "(<i>[<b>]</i>)| <p>|[</b>]");
    check_found("<a><div>a</div></a>", "a", "|<a><div>||</div></a>|");
    /* Line ends in <pre>. */
    check_found("<pre>a\n  b\r\n\n</pre>c\nd", "a\fb\fc\nd", "|<pre>||\n  ||\r\n\n</pre>|");
}

static void test_untranslatable(void **state) {
    (void)state;
    check_found("a<style>p { x: %d }</style>b", "a b", "[<style>p { x: %d }</style>]");
    check_found("<SCRIPT a='b'>x </b></scripts><p>&amp;</Script >a", "a",
                "[<SCRIPT a='b'>x </b></scripts><p>&amp;</Script >]");
    check_found("<p><style></style>a<script>b<script/>c", "a b c",
                "|<p><style></style>|[<script>][<script/>]");
    check_found("<b translate=no>a <b>b</b></b>c", "Xc", "[<b translate=no>a <b>b</b></b>]");
    check_found("a <i class='x\tnotranslate'>b <br> c</i>", "a X",
                "[<i class='x\tnotranslate'>b <br> c</i>]");
    check_found("a<p x Translate = \"NO\">b</p>c", "a\fc", "|<p x Translate = \"NO\">b</p>|");
    check_found("<i translate=no>a", "a", "[<i translate=no>]");
    check_found("<i translate>a</i><i class=notranslated translate=yes />b", "a b",
                "(<i translate></i>)[<i class=notranslated translate=yes />]");
    check_found("<i x=\"translate=no\" = / class=>a</i>", "a", "(<i x=\"translate=no\" = / class=></i>)");
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
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_entities),
        cmocka_unit_test(test_icu),
        cmocka_unit_test(test_breaks),
        cmocka_unit_test(test_untranslatable),
        cmocka_unit_test(test_tags_without_end),
        cmocka_unit_test(test_without_end),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_long_tags),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
