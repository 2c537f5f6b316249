/* sentences.c - cutting paragraphs, and joining their translations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/mem.h"
#include "base/rng.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "translate/sentences.h"
#include "translate/translator.h"
#include "kern/kern.h"
#include "unit/tiny_model.h"

/* `expected` is the text with | where it is cut; white space around sentences does not count. */
static void check_wrapped(const char *expected, bool wrapped) {
    StrBuf text = {0}, got = {0}, want = {0};
    for (const char *c = expected; *c; c++)
        if (*c != '|') strbuf_add_char(&text, *c);
    TextList sentences = {0};
    split_sentences(strbuf_view(&text), wrapped, &sentences);
    for (int i = 0; i < sentences.count; i++) strbuf_format(&got, "[%.*s]", SV_ARG(sentences.items[i]));
    StrView rest = sv(expected), piece;
    while (sv_next(&rest, '|', &piece)) strbuf_format(&want, "[%.*s]", SV_ARG(sv_trim(piece)));
    assert_string_equal(strbuf_text(&got), strbuf_text(&want));
    text_list_free(&sentences);
    strbuf_free(&text);
    strbuf_free(&got);
    strbuf_free(&want);
}

static void check(const char *expected) { check_wrapped(expected, false); }

static void test_ends(void **state) {
    (void)state;
    check("One sentence.");
    check("no end at all");
    check("It rains. |It pours! |Does it? |Yes…  |No.");
    check("He said \"Go.\" |She went. |(It rained.) |Then what?! |Nothing.");
    check("«\u00a0Allons\u00a0! » |Il part. |„Ja.“ |Er geht. |¿Qué? |¡Nada! |«No.»");
    check("हिंदी है। |यह भी। |هل تراه؟ |نعم. |لا.");
    check("Բարեւ։ |Այո։ |ሰላም። |አዎ፧ |ဟုတ်။ |បាទ។ |Ok");
    check("你好。|再见！|谁？|“走！”他说。|好");
    check("first\n|second line. |Third\r\n|fourth");
    check("one\f|Two.\f\f|three. \f|» \n|» four\r|five. |Six.");
    check_wrapped("one\ntwo.\r\n|Three\n\nfour\f|five\r", true);
    check("a man sleeps . |a dog runs ! |go on");
    check("In 1999. |In 2000. |They are 120. |End");
    check("It costs $5. |Then pay."); /* not a bare number */
}

/* White space is no sentence. */
static void test_blank_parts(void **state) {
    (void)state;
    TextList sentences = {0};
    split_sentences(SV("\u200b\fGo.\f \u200b\n\ufeff\fStop."), false, &sentences);
    assert_int_equal(sentences.count, 2);
    assert_true(sv_equal(sentences.items[0], SV("Go.")) && sv_equal(sentences.items[1], SV("Stop.")));
    text_list_free(&sentences);
}

static void test_no_ends(void **state) {
    (void)state;
    check("Dr. Smith and Mrs. Jones met Prof. Lee on Oct. 5.");
    check("J. R. R. Tolkien lived in the U.S. Army base, e.g. Fort X, z.B. Hier, at 3 p.m. GMT.");
    check("Pi is 3.14 or 3,1. |A page, p. 3, No. 5 and Fig. 2 again. |He said no. |Then left.");
    check("See www.example.com/a.b?c=d. |Or https://x.org/?q=1! |Then version 1.2.3 came.");
    check("Wait... what? |Well... |I know. ... and then . . . so on.");
    check("“Really?” he asked. |Yahoo! is old.");
    check("Am 3. Oktober fing es an. |1. Erstens");
    check("well ... i know . |go");
    check("!!! Hello. |?");
    check("高さは１．７メートル．|２階は３．|答えは３。|５ではない．");
    check("(Mr. X) und Hr. Y");
    check("Ａ．Ｂ．スミスは来た．|１．はじめに．|（Ｍｒ．Ｘ）は．|Ｖｏｌ．３を見た．|Ａ． Smith");
    TextList none = {0};
    split_sentences(SV(""), false, &none);
    split_sentences(SV(" \t\u00a0"), false, &none);
    assert_int_equal(none.count, 0);
}

/* Any text: sentences in order, not overlapping, nothing but white space between them, none empty. */
static void test_nothing_is_lost(void **state) {
    (void)state;
    static const char *const parts[] = {".", "!",  "?",   "…", "。", "！", "”",  "\"", ")", " ",  " ", "\n",
                                        "a", "Bc", "Dr",  "3", "é",  "É",  "你", "«",  "»", "\t", "'", "\xff",
                                        "(", "U",  "...", "-", "۔",  "\r", "\f", " ",  ",", "e.g"};
    for (int number = 0; number < 3000; number++) {
        Rng rng = rng_new(rng_key(11, (uint64_t)number, 0, 0));
        StrBuf text = {0};
        for (int n = (int)rng_below(&rng, 40); n > 0; n--)
            strbuf_add(&text, sv(parts[rng_below(&rng, sizeof parts / sizeof *parts)]));
        TextList sentences = {0};
        const char *end = strbuf_text(&text);
        split_sentences(strbuf_view(&text), number % 2, &sentences);
        for (int i = 0; i <= sentences.count; i++) {
            bool last = i == sentences.count;
            const char *next = last ? strbuf_text(&text) + text.length : sentences.items[i].data;
            assert_true(next >= end);
            for (StrView gap = {end, (size_t)(next - end)}; gap.length > 0;) {
                size_t position = 0;
                assert_true(unicode_is_space(utf8_next(gap, &position)));
                gap = (StrView){gap.data + position, gap.length - position};
            }
            if (last) break;
            assert_true(sentences.items[i].length > 0);
            end = next + sentences.items[i].length;
        }
        text_list_free(&sentences);
        strbuf_free(&text);
    }
}

/* A paragraph's translation is its sentences' translations between the same white space. */
static void test_paragraphs(void **state) {
    (void)state;
    Seq2Seq *model = tiny_model_new(40, 5);
    const Seq2Seq *models = model;
    TranslatorOptions options = {
        .search = {.decode = seq2seq_config(model)->decode, .n_best = 2}, .split = true, .quiet = true};
    StrView lines[] = {SV("  s1 s2 .\t s3 s4 !  s5"), SV("s1 s2 ."), SV("s3 s4 !"), SV("s5"), SV(" \t ")};
    Translation out[5] = {0};
    Workers *workers = workers_new(1);
    Translator *translator;
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    translator_run(translator, lines, NULL, 5, 1, out);
    assert_int_equal(out[0].chunks, 3);
    assert_int_equal(out[0].count, 2);
    for (int k = 0; k < 2; k++) {
        StrBuf want = {0};
        strbuf_format(&want, "  %s\t %s  %s", strbuf_text(&out[1].items[k].text),
                      strbuf_text(&out[2].items[k].text), strbuf_text(&out[3].items[k].text));
        assert_string_equal(strbuf_text(&out[0].items[k].text), strbuf_text(&want));
        strbuf_free(&want);
    }
    assert_string_equal(strbuf_text(&out[4].items[0].text), " \t ");
    for (int i = 0; i < 5; i++) translation_free(&out[i]);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ends),       cmocka_unit_test(test_blank_parts),
        cmocka_unit_test(test_no_ends),    cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_paragraphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
