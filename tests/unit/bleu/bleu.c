/* bleu.c - tokenizers, lower case, counts and scores of BLEU against sacreBLEU; the textbook's BLEU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"
#include "bleu/bleu.h"
#include "bleu/bleu_tokenizers.h"
#include "base/unicode.h"
#include "unit/bleu_cases.h"

static void check_text(StrView input, const char *what, StrView expected, StrView actual) {
    if (!sv_equal(expected, actual))
        fail_msg("%s of '%.*s': expected '%.*s', is '%.*s'", what, SV_ARG(input), SV_ARG(expected),
                 SV_ARG(actual));
}

static void languages_have_tokenizers(void **state) {
    (void)state;
    static const char *const CASES[][2] = {{"zh-TW", "zh"},   {"Chinese", "zh"}, {"ja", "char"},
                                           {"de", "13a"},     {"", "13a"},       {"target", "13a"},
                                           {"elvish", "13a"}, {"yue", "zh"},     {"bo", "char"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        assert_string_equal(BLEU_TOKENIZERS[bleu_tokenizer_for(sv(CASES[i][0]))].name, CASES[i][1]);
}

static void tokenizers_agree(void **state) {
    (void)state;
    StrBuf out = {0};
    for (const Json *c = json_first(bleu_cases("tokenize", 250)); c; c = json_after(c)) {
        StrView text = case_text(c, "text");
        for (const BleuTokenizer *tokenizer = BLEU_TOKENIZERS; tokenizer->name; tokenizer++) {
            bool none = strcmp(tokenizer->name, "none") == 0;
            tokenizer->apply(text, &out);
            check_text(text, tokenizer->name, none ? text : case_text(c, tokenizer->name), strbuf_view(&out));
        }
    }
    strbuf_free(&out);
}

static void lower_case_agrees(void **state) {
    (void)state;
    StrBuf out = {0};
    for (const Json *c = json_first(bleu_cases("tokenize", 250)); c; c = json_after(c)) {
        StrView text = case_text(c, "text");
        strbuf_clear(&out);
        unicode_lower(text, &out);
        check_text(text, "lower case", case_text(c, "lower"), strbuf_view(&out));
    }
    strbuf_free(&out);
}

static void white_space_agrees(void **state) {
    (void)state;
    for (const Json *c = json_first(bleu_cases("tokenize", 250)); c; c = json_after(c)) {
        StrView text = case_text(c, "text"), words[200], rest = text, word;
        size_t count = case_texts(c, "words", words, 200), found = 0;
        for (; unicode_next_word(&rest, &word); found++) {
            if (found >= count) fail_msg("'%.*s' has more than %zu words", SV_ARG(text), count);
            check_text(text, "a word", words[found], word);
        }
        if (found != count) fail_msg("'%.*s' has %zu words, not %zu", SV_ARG(text), count, found);
        check_text(text, "rstrip", case_text(c, "trimmed"), unicode_trim_end(text));
    }
}

/* Invalid bytes are not read past their end and are not white space. */
static void broken_utf8_is_survived(void **state) {
    (void)state;
    static const char *const BROKEN[] = {"\xE2\x80",     "a\xC2",      "\xFF\xFE", "\x80\x80\x80\x80\x80",
                                         "\xF0\x9F\x98", "a \xE3\x80 "};
    for (size_t i = 0; i < sizeof BROKEN / sizeof *BROKEN; i++) {
        size_t length = strlen(BROKEN[i]);
        char *copy = mem_strndup(BROKEN[i], length); /* so that a sanitizer detects reads beyond the end */
        StrView text = {copy, length}, rest = text, word;
        assert_true(unicode_trim_end(text).length > 0);
        assert_true(unicode_next_word(&rest, &word));
        StrBuf out = {0};
        for (const BleuTokenizer *tokenizer = BLEU_TOKENIZERS; tokenizer->name; tokenizer++)
            tokenizer->apply(text, &out);
        unicode_lower(text, &out);
        strbuf_free(&out);
        mem_free(copy);
    }
}

static int tokenizer_of(const char *name) { return case_choice(sv(name), BLEU_TOKENIZER_CHOICES); }

static BleuOptions options_of(const Json *c) {
    BleuOptions options = {.lowercase = case_flag(c, "lowercase"),
                           .effective_order = case_flag(c, "effective_order")};
    options.tokenizer = case_choice(case_text(c, "tokenizer"), BLEU_TOKENIZER_CHOICES);
    options.smoothing = case_choice(case_text(c, "smoothing"), BLEU_SMOOTHING_CHOICES);
    const Json *value = json_get(c, "smooth_value");
    options.smooth_value = json_type(value) == JSON_NUMBER ? json_number(value) : -1;
    return options;
}

static void segments_agree(void **state) {
    (void)state;
    int number = 0;
    for (const Json *c = json_first(bleu_cases("bleu", 300)); c; c = json_after(c), number++) {
        BleuOptions options = options_of(c);
        StrView references[4], hypothesis = case_text(c, "hypothesis");
        size_t count = case_texts(c, "references", references, 4);
        double expected[BLEU_WIDTH], precisions[BLEU_ORDER], sums[BLEU_WIDTH];
        assert_int_equal(case_numbers(c, "row", expected, BLEU_WIDTH), BLEU_WIDTH);
        assert_int_equal(case_numbers(c, "precisions", precisions, BLEU_ORDER), BLEU_ORDER);
        case_count((ConfiguredMetric){&METRIC_BLEU, &options}, hypothesis, references, count, sums);
        for (int i = 0; i < BLEU_WIDTH; i++)
            if (sums[i] != expected[i])
                fail_msg("case %d, column %d: %g, not %g", number, i, sums[i], expected[i]);
        BleuScore score = bleu_score(&options, sums);
        if (!case_agrees(case_number(c, "score"), score.score))
            fail_msg("case %d: score %.17g", number, score.score);
        if (!case_agrees(case_number(c, "brevity_penalty"), score.brevity_penalty))
            fail_msg("case %d: brevity penalty %.17g", number, score.brevity_penalty);
        for (int n = 0; n < BLEU_ORDER; n++)
            if (!case_agrees(precisions[n], score.precisions[n]))
                fail_msg("case %d: precision %d", number, n + 1);
    }
}

/* Segments give the same counts together and one by one. */
static void counting_keeps_no_memory(void **state) {
    (void)state;
    BleuOptions options = {.effective_order = true};
    case_counts_alike((ConfiguredMetric){&METRIC_BLEU, &options}, "bleu", 300);
}

static void absent_references_do_not_count(void **state) {
    (void)state;
    BleuOptions options = {.tokenizer = tokenizer_of("13a")};
    StrView references[3] = {{NULL, 0}, SV("a b c d e"), {NULL, 0}};
    double row[BLEU_WIDTH], expected[BLEU_WIDTH] = {3, 5, 3, 2, 1, 0, 3, 2, 1, 0};
    case_count((ConfiguredMetric){&METRIC_BLEU, &options}, SV("a b c"), references, 3, row);
    assert_memory_equal(row, expected, sizeof row);
}

static void corpus_score_agrees(void **state) {
    (void)state;
    StrBuf texts[2] = {{0}, {0}};
    size_t count, reference_count;
    StrView *hypotheses = case_lines("sys_b.txt", &count, &texts[0]);
    StrView *references = case_lines("ref.txt", &reference_count, &texts[1]);
    assert_int_equal(count, 150);
    assert_int_equal(reference_count, 150);
    double expected = case_number(json_first(bleu_cases("resampling", 4)), "score");
    double score = bleu_corpus_simple(hypotheses, references, count, tokenizer_of("13a"), false);
    if (!case_agrees(expected, score)) fail_msg("%.17g, not %.17g", score, expected);
    assert_true(bleu_corpus_simple(hypotheses, references, count, tokenizer_of("13a"), true) > score);
    assert_true(bleu_corpus_simple(references, references, count, tokenizer_of("none"), false) > 99.999);
    assert_true(bleu_corpus_simple(references, references, 0, tokenizer_of("none"), false) == 0);
    mem_free(hypotheses);
    mem_free(references);
    strbuf_free(&texts[0]);
    strbuf_free(&texts[1]);
}

static double textbook_bleu(StrView prediction, StrView label, int k) {
    BleuOptions options = {.d2l = k};
    const StrView *references[] = {&label};
    Statistics statistics =
        statistics_count((ConfiguredMetric){&METRIC_BLEU_D2L, &options}, &prediction, 1, references, 1);
    double score = statistics_score(&statistics);
    statistics_free(&statistics);
    return score;
}

static void textbook_agrees(void **state) {
    (void)state;
    for (const Json *c = json_first(bleu_cases("textbook", 60)); c; c = json_after(c)) {
        StrView prediction = case_text(c, "prediction"), label = case_text(c, "label");
        double score = textbook_bleu(prediction, label, (int)case_number(c, "k"));
        if (!case_agrees(case_number(c, "score"), score))
            fail_msg("'%.*s' against '%.*s': %.17g", SV_ARG(prediction), SV_ARG(label), score);
    }
    assert_true(textbook_bleu((StrView){NULL, 0}, SV("a"), 2) == 0);
}

/* Counts n-grams of numbers in the slow, obvious way. */
static int slow_matches(const uint32_t *a, size_t a_count, const uint32_t *b, size_t b_count, size_t order) {
    bool used[64] = {false};
    int matches = 0;
    for (size_t i = 0; i + order <= a_count; i++) {
        for (size_t j = 0; j + order <= b_count; j++) {
            if (used[j] || memcmp(a + i, b + j, order * sizeof *a) != 0) continue;
            used[j] = true;
            matches++;
            break;
        }
    }
    return matches;
}

static void ngrams_match_the_slow_count(void **state) {
    (void)state;
    NgramTable *table = ngram_new();
    uint32_t random = 1, a[64], b[64];
    for (int round = 0; round < 400; round++) {
        size_t a_count = (size_t)round % 61, b_count = (size_t)(round * 7) % 64;
        for (size_t i = 0; i < 64; i++) {
            random = random * 1664525u + 1013904223u;
            a[i] = (random >> 20) % 3;
            b[i] = (random >> 28) % 3;
        }
        for (int order = 1; order <= 6; order++) {
            ngram_begin(table, order);
            ngram_add_reference(table, (Symbols){b, b_count});
            assert_int_equal(ngram_match(table, (Symbols){a, a_count}),
                             slow_matches(a, a_count, b, b_count, (size_t)order));
        }
    }
    ngram_free(table);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages_have_tokenizers),   cmocka_unit_test(tokenizers_agree),
        cmocka_unit_test(lower_case_agrees),           cmocka_unit_test(white_space_agrees),
        cmocka_unit_test(broken_utf8_is_survived),     cmocka_unit_test(segments_agree),
        cmocka_unit_test(counting_keeps_no_memory),    cmocka_unit_test(absent_references_do_not_count),
        cmocka_unit_test(corpus_score_agrees),         cmocka_unit_test(textbook_agrees),
        cmocka_unit_test(ngrams_match_the_slow_count),
    };
    return cmocka_run_group_tests(tests, NULL, bleu_cases_free);
}
