/* copied_text.c - text that needs no translation: tests/cases/copied_text.case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "text/copied_text.h"
#include "unit/text_fixture.h"

static void check_case(const FixtureCase *block) {
    bool copied = sv_equal(block->line[1], SV("copied"));
    assert_int_equal(block->count, 2);
    if (!copied) assert_true(sv_equal(block->line[1], SV("translated")));
    if (text_is_copied(block->line[0]) != copied)
        fail_msg("line %d: '%.*s' is not %.*s", block->number, SV_ARG(block->line[0]),
                 SV_ARG(block->line[1]));
}

static void test_cases(void **state) {
    (void)state;
    fixture_cases("tests/cases/copied_text.case", check_case);
    assert_true(text_is_copied(SV("")));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
