/* zip.c - entries of zip files, and files that are damaged or hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "io/zip.h"
#include "unit/bytes_fixture.h"

static void assert_refused(Status status, const char *message) {
    assert_int_equal(status, STATUS_DATA);
    if (!strstr(status_message(), message)) fail_msg("'%s' instead of '%s'", status_message(), message);
}

static void test_entries(void **state) {
    (void)state;
    ZipWriter writer = {0};
    Zip zip;
    StrBuf content = {0};
    zip_put(&writer, "folder/", SV(""));
    zip_put(&writer, "folder/stored.txt", SV("stored\0bytes"));
    writer.method = 8;
    zip_put(&writer, "packed", SV("packed"));
    zip_put(&writer, "__MACOSX/._packed", SV("x"));
    StrView bytes = zip_end(&writer);
    assert_true(zip_starts(bytes));
    assert_int_equal(zip_open(&zip, bytes), STATUS_OK);
    assert_int_equal(zip.count, 2); /* neither folders nor what macOS adds */
    assert_true(sv_equal(zip.entries[0].name, SV("folder/stored.txt")));
    assert_int_equal(zip_read(&zip, 0, &content), STATUS_OK);
    assert_int_equal(zip_read(&zip, 1, &content), STATUS_OK); /* appended */
    assert_int_equal(content.length, 12 + 6);
    assert_memory_equal(content.data, "stored\0bytespacked", 18);
    zip_free(&zip);
    strbuf_free(&content);
    zip_writer_free(&writer);
}

static void test_names(void **state) {
    (void)state;
    static const char *const BAD[] = {"/etc/passwd", "../x", "a/../../x", "a\\b",
                                      "C:x",         "",     "a\nb",      "\x1b[0m"},
                             *const GOOD[] = {"a", "a/b.txt", "..a/b..", "model.npz"};
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++)
        assert_int_equal(zip_check_name(sv(BAD[i])), STATUS_DATA);
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        assert_int_equal(zip_check_name(sv(GOOD[i])), STATUS_OK);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        ZipWriter how;
        const char *name, *message;
    } CASES[] = {
        {{.flags = 1}, "a", "encrypted"},
        {{.method = 12}, "a", "compression method 12 is not supported"},
        {{.more = 1}, "a", "its two sizes differ"},
        {{.method = 8, .more = 1u << 30}, "a", "claims 1073741829 bytes"},
        {{.flags = 0}, "../a", "leads out of it"},
    };
    Zip zip;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ZipWriter writer = CASES[i].how;
        zip_put(&writer, CASES[i].name, SV("hello"));
        assert_refused(zip_open(&zip, zip_end(&writer)), CASES[i].message);
        zip_writer_free(&writer);
    }
}

/* A file that was cut, or of which one byte is another. */
static void test_damaged(void **state) {
    (void)state;
    for (unsigned method = 0; method <= 8; method += 8) {
        ZipWriter writer = {.method = method};
        StrBuf content = {0};
        Zip zip;
        zip_put(&writer, "a", SV("hello"));
        StrView bytes = zip_end(&writer);
        for (size_t length = 0; length < bytes.length; length++)
            assert_int_equal(zip_open(&zip, (StrView){bytes.data, length}), STATUS_DATA);
        for (size_t i = 0; i < bytes.length; i++) {
            writer.bytes.data[i] ^= 0x41;
            if (zip_open(&zip, bytes) == STATUS_OK) {
                for (size_t k = 0; k < zip.count; k++) {
                    strbuf_clear(&content);
                    if (zip_read(&zip, k, &content) == STATUS_OK) assert_string_equal(content.data, "hello");
                }
                zip_free(&zip);
            }
            writer.bytes.data[i] ^= 0x41;
        }
        size_t at = 30 + 1 + (method ? 5 : 0);
        writer.bytes.data[at] = 'j';
        assert_int_equal(zip_open(&zip, bytes), STATUS_OK);
        assert_refused(zip_read(&zip, 0, &content), "'a' is damaged: its checksum differs");
        zip_free(&zip);
        strbuf_free(&content);
        zip_writer_free(&writer);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_entries), cmocka_unit_test(test_names),
                                       cmocka_unit_test(test_refused), cmocka_unit_test(test_damaged)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
