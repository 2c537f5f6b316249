/* respell.c - text in characters that a vocabulary knows: tests/cases/respell.case, capitals.case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "tokenizer/bpe.h"
#include "tokenizer/respell.h"
#include "unit/text_fixture.h"

#define LOWER "plain text stays \"as it is\", 'doubly' so - many words are here... here."
static const char *const LOWER_LINES[] = {LOWER, LOWER, NULL};
#define ALL "\xE2\x80\x9CMany\xE2\x80\x9D wo\xC2\xADrds\xC2\xA0\xE2\x80\x93 so\xE2\x80\xA6"
static const char *const ALL_LINES[] = {LOWER, ALL, ALL, NULL};
#define CASED "Many words are here. \"Many words\" - here! Here. The NATO, the NATO, 12 %."
static const char *const CASED_LINES[] = {CASED, CASED, CASED, "A B C D E F G H I J K L M", "N O P Q R S T U",
                                          NULL};

static const TextOptions SUBWORDS = {
    .tokenizer = TOKENIZER_BPE, .bpe_marker = BPE_PREFIX, .bpe_merges = 200, .min_count = 1};
static const TextOptions WORDS = {.tokenizer = TOKENIZER_WORD, .min_count = 1};

static void check_respelled(const FixtureCase *block) {
    assert_int_equal(block->count, 3);
    StrView name = block->line[0];
    bool all = sv_equal(name, SV("all")), words = sv_equal(name, SV("words"));
    if (!all && !words) assert_true(sv_equal(name, SV("lower")));
    Tokenizer *tokenizer = fixture_learn(words ? &WORDS : &SUBWORDS, all ? ALL_LINES : LOWER_LINES);
    StrBuf got = {0};
    text_respell(tokenizer, block->line[1], &got);
    if (!sv_equal(strbuf_view(&got), block->line[2]))
        fail_msg("line %d: '%s' instead of '%.*s'", block->number, strbuf_text(&got), SV_ARG(block->line[2]));
    strbuf_free(&got);
    tokenizer_free(tokenizer);
}

static void test_respelled(void **state) {
    (void)state;
    fixture_cases("tests/cases/respell.case", check_respelled);
}

/* No-break spaces between letters, for a vocabulary that knows them from other places, and one that does not
 * pay to part. */
static void test_parted(void **state) {
    (void)state;
    static const char *const TOGETHER[] = {"go\xC2\xA0home go\xC2\xA0home", "go\xC2\xA0home", NULL};
    static const struct {
        bool together;
        const char *text, *parted; /* NULL: it stays */
    } CASES[] = {{false,
                  "many\xC2\xA0words\xE2\x80\xAF"
                  "are here",
                  "many words are here"},
                 {false, "many words", NULL},
                 {false,
                  "many\xC2\xA0- words\xC2\xA0"
                  "3 ...\xC2\xA0!",
                  NULL},
                 {true, "go\xC2\xA0home", NULL}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Tokenizer *tokenizer = fixture_learn(&SUBWORDS, CASES[i].together ? TOGETHER : ALL_LINES);
        StrBuf got = {0};
        bool changed = text_replace_no_break_spaces(tokenizer, sv(CASES[i].text), &got);
        if (changed != (CASES[i].parted != NULL)) fail_msg("%s", CASES[i].text);
        if (changed) assert_string_equal(strbuf_text(&got), CASES[i].parted);
        if (!changed) assert_int_equal(got.length, 0);
        strbuf_free(&got);
        tokenizer_free(tokenizer);
    }
}

static void check_capitals(const FixtureCase *block) {
    assert_int_equal(block->count, 2);
    Tokenizer *tokenizer = fixture_learn(&SUBWORDS, CASED_LINES);
    StrBuf got = {0};
    LetterCase letters = text_choose_case(tokenizer, block->line[0]);
    bool changed = letters != CASE_AS_IS;
    text_set_case(block->line[0], &letters, &got);
    if (!sv_equal(strbuf_view(&got), block->line[1]))
        fail_msg("line %d: '%s' instead of '%.*s'", block->number, strbuf_text(&got), SV_ARG(block->line[1]));
    assert_int_equal(changed, !sv_equal(block->line[0], block->line[1]));
    strbuf_free(&got);
    tokenizer_free(tokenizer);
}

/* A vocabulary without capitals reads small letters, at the start too. */
static void test_capitals(void **state) {
    (void)state;
    fixture_cases("tests/cases/capitals.case", check_capitals);
    Tokenizer *tokenizer = fixture_learn(&SUBWORDS, LOWER_LINES);
    assert_int_equal(text_choose_case(tokenizer, SV("MANY WORDS")), CASE_SMALL);
    tokenizer_free(tokenizer);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_respelled), cmocka_unit_test(test_parted),
                                       cmocka_unit_test(test_capitals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
