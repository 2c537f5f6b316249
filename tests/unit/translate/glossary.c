/* glossary.c - the terms in a text, and invalid glossaries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "base/unicode.h"
#include "translate/glossary.h"
#include "unit/text_fixture.h"

static const TextOptions TEXT = {.normalize = NORMALIZE_NFC, .lowercase = true};

static Status read_files(Glossary **glossary, const char *first, const char *second) {
    char *paths[] = {(char *)(uintptr_t)first, (char *)(uintptr_t)second};
    return glossary_read(glossary, &(StrList){paths, second ? 2 : 1}, &TEXT);
}

static void test_found(void **state) {
    (void)state;
    static const struct {
        const char *text, *found; /* each with a bar behind it */
        int most;
    } CASES[] = {
        {"the dog sleeps", "chien|", 9},
        {"a cat, a dog", "chien|chat|", 9}, /* as in the file: both have three letters */
        {"a bird, a dog", "oiseau|chien|", 9},
        {"a Hot Dog", "saucisse|", 9},                   /* the longer term hides the other */
        {" a  hot \t\xE2\x80\xA8 dog ", "saucisse|", 9}, /* white space is one space, as to the model, ... */
        {"a hot\xC2\xA0"
         "dog",
         "chien|", 9}, /* ... which knows a no-break space for itself */
        {"big  black  bird", "merle|oiseau|", 9},
        {"dogs", "", 9},
        {"", "", 9},
        {"a hound, a dog", "chien|", 9}, /* once */
        {"a cat, a hot dog, a hound", "saucisse|chien|chat|", 3},
        {"a cat, a hot dog, a hound", "saucisse|chien|", 2},
        {"a cat, a hot dog, a hound", "", 0},
    };
    static const char FILE_TEXT[] = "dog\tchien\ncat\t chat \tmore\n\nhound\tchien\nHot dog\tsaucisse\n";
    static const char MORE_TEXT[] =
        "Dog\tloup\nbird\toiseau\nbig  black\tmerle\n"; /* the first file's dog counts */
    Glossary *glossary;
    const char *path = fixture_write("glossary", FILE_TEXT, strlen(FILE_TEXT)),
               *more = fixture_write("more", MORE_TEXT, strlen(MORE_TEXT));
    assert_int_equal(read_files(&glossary, path, more), STATUS_OK);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        GlossaryTerm terms[9];
        StrBuf found = {0};
        int count = glossary_find(glossary, sv(CASES[i].text), terms, 0, CASES[i].most);
        for (int t = 0; t < count; t++) {
            strbuf_add(&found, terms[t].target);
            strbuf_add_char(&found, '|');
        }
        assert_string_equal(strbuf_text(&found), CASES[i].found);
        strbuf_free(&found);
    }
    glossary_free(glossary);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *message;
        size_t bytes;
    } CASES[] = {
        {"go\tva\ngo va\n", "line 2: not SOURCE TAB TARGET", 12},
        {"\tva\n", "line 1: not SOURCE TAB TARGET", 4},
        {"go\t \n", "line 1: not SOURCE TAB TARGET", 5},
        {"go\t\xFF\n", "line 1: not UTF-8", 5},
        {"go\tva\nhi\tsa\0lut\n", "line 2: a NUL byte", 15},
        {"\n\n", "has no terms", 2},
        {"\x1F\x8B\x08", "the gzip data is cut off", 3},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Glossary *glossary;
        const char *path = fixture_write("glossary", CASES[i].text, CASES[i].bytes);
        assert_int_equal(read_files(&glossary, path, NULL), STATUS_DATA);
        assert_null(glossary);
        if (!strstr(status_message(), CASES[i].message))
            fail_msg("no '%s' in '%s'", CASES[i].message, status_message());
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
