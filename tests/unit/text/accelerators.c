/* accelerators.c - tests/cases/accelerators.case, accelerators_put.case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/utf8.h"
#include "text/accelerators.h"
#include "io/options.h"
#include "unit/text_fixture.h"

static void check_taken(const FixtureCase *block) {
    StrBuf text = {0}, letter = {0};
    Accelerator found = {0};
    int kind = option_choice(ACCELERATOR_CHOICES, block->line[0]);
    assert_true(kind >= 0 && block->count >= 3);
    bool has = !sv_equal(block->line[2], SV("-"));
    if (accelerator_take(block->line[1], (AcceleratorKind)kind, &text, &found) != has)
        fail_msg("line %d: %s", block->number, has ? "no accelerator" : "an accelerator");
    if (has) {
        utf8_add(&letter, found.letter);
        if (!sv_equal(strbuf_view(&text), block->line[2]) || !sv_equal(strbuf_view(&letter), block->line[3]))
            fail_msg("line %d: '%s', '%s'", block->number, strbuf_text(&text), strbuf_text(&letter));
        assert_true(sv_starts((StrView){text.data + found.position, text.length - found.position},
                              strbuf_view(&letter)));
    }
    strbuf_free(&text);
    strbuf_free(&letter);
}

static void test_taken(void **state) {
    (void)state;
    fixture_cases("tests/cases/accelerators.case", check_taken);
}

static void check_put(const FixtureCase *block) {
    StrBuf source = {0}, text = {0}, got = {0};
    Accelerator accelerator;
    size_t start = 0, end = 0;
    assert_int_equal(block->count, 3);
    assert_true(accelerator_take(block->line[0], ACCELERATOR_AUTO, &source, &accelerator));
    for (size_t i = 0; i < block->line[1].length; i++) {
        char c = block->line[1].data[i];
        if (c == '[') start = text.length;
        if (c == ']') end = text.length;
        if (c != '[' && c != ']') strbuf_add_char(&text, c);
    }
    accelerator_put(&accelerator, strbuf_view(&text), start, end - start, &got);
    if (!sv_equal(strbuf_view(&got), block->line[2]))
        fail_msg("line %d: '%s'", block->number, strbuf_text(&got));
    strbuf_free(&source);
    strbuf_free(&text);
    strbuf_free(&got);
}

static void test_put(void **state) {
    (void)state;
    fixture_cases("tests/cases/accelerators_put.case", check_put);
    StrBuf got = {0}; /* into an empty text, or beyond its end */
    accelerator_put(&(Accelerator){'&', 'f', 0}, SV(""), 0, 0, &got);
    assert_string_equal(strbuf_text(&got), "(&F)");
    strbuf_free(&got);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_taken), cmocka_unit_test(test_put)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
