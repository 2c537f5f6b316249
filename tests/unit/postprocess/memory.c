/* memory.c - matches in a translation memory. Cases: tests/cases/memory.case and
 * memory_placeholders.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "postprocess/memory.h"
#include "unit/cases.h"
#include "unit/text_fixture.h"

static Status read_memory(Memory **memory, const char *text) {
    const char *path = fixture_write("memory.tsv", text, strlen(text));
    char *paths[] = {(char *)(uintptr_t)path};
    return memory_read(memory, &(StrList){paths, 1}, "en", "de", ACCELERATOR_AND);
}

static void run_match(const CaseSection *section, StrView input, StrBuf *got) {
    static const char PAIRS[] = "Save the file\tDatei speichern\n"
                                "Close\tSchlie\303\237en\nClose\tZu\n"
                                "Open the &window\t&Fenster  \303\266ffnen\n"
                                "\303\211t\303\251 \303\240 No\303\253l\tSommer\n"
                                "Delete all the files\tAlle Dateien l\303\266schen\n"
                                "Delete all the filter\tAlle Filter l\303\266schen\n";
    (void)section;
    Memory *memory;
    assert_int_equal(read_memory(&memory, PAIRS), STATUS_OK);
    MemoryMatch match = memory_find(memory, input, 0.75);
    if (match.similarity > 0)
        strbuf_format(got, "%.2f %.*s", match.similarity, SV_ARG(match.target));
    else
        strbuf_add(got, SV("-"));
    assert_true(memory_find(memory, input, 1).similarity == (match.similarity == 1 ? 1 : 0));
    memory_free(memory);
}

static void test_found(void **state) {
    (void)state;
    cases_run("tests/cases/memory.case", "", run_match);
}

static void run_placeholders(const CaseSection *section, StrView input, StrBuf *got) {
    static const char PAIRS[] = "Save the file\tDatei speichern\n"
                                "Delete %d files\t%d Dateien l\303\266schen\n"
                                "Copy %1$s to %2$s\tNach %2$s wird %1$s kopiert\n"
                                "Press <b>Enter</b>\t<b>Eingabe</b> dr\303\274cken\n"
                                "From %s to %s\tVon %s bis %s\n"
                                "A &lt; B\tA &lt; B\n"
                                "Open %s\t\303\226ffnen\n";
    Memory *memory;
    MemoryMatch match = {0};
    assert_int_equal(read_memory(&memory, PAIRS), STATUS_OK);
    bool found = memory_translate(memory, input, case_option(section, "tags").length == 0, &match, got);
    assert_true(match.similarity == (found ? 1 : 0));
    if (!found) strbuf_add(got, SV("-"));
    memory_free(memory);
}

static void test_placeholders(void **state) {
    (void)state;
    cases_run("tests/cases/memory_placeholders.case", "tags", run_placeholders);
}

/* A text over MEMORY_FUZZY_LENGTH is found if it is identical, and so is a text shorter than a trigram. */
static void test_lengths(void **state) {
    (void)state;
    StrBuf text = {0};
    for (int i = 0; i <= MEMORY_FUZZY_LENGTH; i++) strbuf_add_char(&text, "abcdefg"[i % 7]);
    size_t length = text.length;
    strbuf_add(&text, SV("\tlang\nOK\tGut\n"));
    Memory *memory;
    assert_int_equal(read_memory(&memory, strbuf_text(&text)), STATUS_OK);
    assert_true(memory_find(memory, (StrView){text.data, length}, 0.5).similarity == 1);
    assert_true(memory_find(memory, (StrView){text.data, length - 1}, 0.5).similarity == 0);
    assert_true(memory_find(memory, SV("OK"), 0.5).similarity == 1);
    assert_true(memory_find(memory, SV("OX"), 0.5).similarity == 0);
    memory_free(memory);
    strbuf_free(&text);
}

static void test_refused(void **state) {
    (void)state;
    Memory *memory;
    assert_int_equal(read_memory(&memory, ""), STATUS_DATA);
    assert_null(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_found), cmocka_unit_test(test_lengths),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_placeholders)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
