/* sentences.c - cutting paragraphs, and joining their translations. Cases: tests/cases/sentences.case */
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
#include "unit/cases.h"
#include "unit/tiny_model.h"

static void run(const CaseSection *section, StrView input, StrBuf *got) {
    TextList sentences = {0};
    split_sentences(input, case_option(section, "wrapped").length > 0, &sentences);
    const char *end = input.data + input.length;
    for (int i = 0; i < sentences.count; i++) {
        const char *next = i + 1 < sentences.count ? sentences.items[i + 1].data : end;
        if (i > 0) strbuf_add_char(got, '|');
        strbuf_add(got, (StrView){sentences.items[i].data, (size_t)(next - sentences.items[i].data)});
    }
    text_list_free(&sentences);
}

static void test_cases(void **state) {
    (void)state;
    cases_run("tests/cases/sentences.case", "wrapped", run);
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

static void test_none(void **state) {
    (void)state;
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
        cmocka_unit_test(test_cases),      cmocka_unit_test(test_blank_parts),
        cmocka_unit_test(test_none),       cmocka_unit_test(test_nothing_is_lost),
        cmocka_unit_test(test_paragraphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
