/* placeholders.c - placeholders of texts, and texts that agree in them. Cases:
 * tests/cases/placeholder_kinds.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>
#include "text/placeholders.h"
#include "unit/text_fixture.h"

static void check_agreement(const FixtureCase *block, StrView text, StrView target, bool expected) {
    PlaceholderList a = {0}, b = {0};
    placeholders_find(text, &a);
    placeholders_find(target, &b);
    if (placeholders_agree(&a, &b) != expected)
        fail_msg("case of line %d: '%.*s'", block->number, SV_ARG(target));
    placeholders_free(&a);
    placeholders_free(&b);
}

/* The names of the kinds in the cases. */
static const char *const NAMES[] = {
    [PLACEHOLDER_TAG] = "tag",           [PLACEHOLDER_ENTITY] = "entity",
    [PLACEHOLDER_PRINTF] = "printf",     [PLACEHOLDER_BRACES] = "braces",
    [PLACEHOLDER_ICU] = "icu",           [PLACEHOLDER_NUMBER_SIGN] = "number sign",
    [PLACEHOLDER_VARIABLE] = "variable", [PLACEHOLDER_URL] = "url",
    [PLACEHOLDER_EMAIL] = "e-mail",      [PLACEHOLDER_PATH] = "path",
    [PLACEHOLDER_EMOJI] = "emoji",       [PLACEHOLDER_VERSION] = "version"};
_Static_assert(sizeof NAMES / sizeof *NAMES == PLACEHOLDER_KINDS, "a name for each kind");

static bool cut_start(StrView *line, StrView start) {
    if (!sv_starts(*line, start)) return false;
    *line = (StrView){line->data + start.length, line->length - start.length};
    return true;
}

static void check_case(const FixtureCase *block) {
    StrBuf found = {0};
    PlaceholderList list = {0};
    placeholders_find(block->line[0], &list);
    for (int i = 0; i < list.count; i++)
        strbuf_format(&found, "[%s%s %.*s]", NAMES[list.items[i].kind], list.items[i].in_order ? "!" : "",
                      SV_ARG(list.items[i].text));
    for (int i = 1; i < block->count; i++) {
        StrView line = block->line[i];
        if (cut_start(&line, SV("agrees ")))
            check_agreement(block, block->line[0], line, true);
        else if (cut_start(&line, SV("differs ")))
            check_agreement(block, block->line[0], line, false);
        else if (!sv_equal(line, found.length > 0 ? strbuf_view(&found) : SV("none")))
            fail_msg("case of line %d: found %s", block->number, strbuf_text(&found));
    }
    placeholders_free(&list);
    strbuf_free(&found);
}

static void test_cases(void **state) {
    (void)state;
    fixture_cases("tests/cases/placeholder_kinds.case", check_case);
}

/* Time grows with the length of the text, whatever is in it. */
static void test_time(void **state) {
    (void)state;
    static const char *const PARTS[] = {"{a,plural,", "{{", "<",       "<!--", "<?a", "%(",
                                        "a.",         "a@", "http://", "{",    "/a",  "v1."};
    clock_t began = clock();
    for (size_t p = 0; p < sizeof PARTS / sizeof *PARTS; p++) {
        StrBuf text = {0};
        PlaceholderList list = {0};
        while (text.length < 300000) strbuf_add(&text, sv(PARTS[p]));
        placeholders_find(strbuf_view(&text), &list);
        assert_true(placeholders_agree(&list, &list));
        placeholders_free(&list);
        strbuf_free(&text);
    }
    assert_true((double)(clock() - began) / CLOCKS_PER_SEC < 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
