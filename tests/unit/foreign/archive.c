/* archive.c - the files of archives in memory: a tar, a zip, a single file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "foreign/archive.h"
#include "unit/bytes_fixture.h"

enum { BLOCK = 512 };

static void add_block(StrBuf *tar, StrView content) {
    strbuf_add(tar, content);
    while (tar->length % BLOCK) strbuf_add_char(tar, '\0');
}

static void tar_put(StrBuf *tar, const char *prefix, const char *name, char type, const char *size,
                    StrView content) {
    char header[BLOCK] = "";
    snprintf(header, 100, "%s", name);
    snprintf(header + 124, 12, "%s", size);
    header[156] = type;
    memcpy(header + 257, "ustar", 5);
    snprintf(header + 345, 155, "%s", prefix);
    add_block(tar, (StrView){header, BLOCK});
    add_block(tar, content);
}

static void assert_file(const ForeignArchive *archive, size_t index, const char *name, const char *content) {
    StrBuf bytes = {0};
    assert_string_equal(foreign_archive_name(archive, index), name);
    assert_int_equal(foreign_archive_read(archive, index, &bytes), STATUS_OK);
    assert_string_equal(strbuf_text(&bytes), content);
    strbuf_free(&bytes);
}

static void test_tar(void **state) {
    (void)state;
    StrBuf tar = {0};
    ForeignArchive *archive;
    tar_put(&tar, "", "model", '5', "0", SV("")); /* a folder */
    tar_put(&tar, "model", "vocab.spm", '0', "00000000005", SV("pices"));
    tar_put(&tar, "", "config.json", '\0', "2 ", SV("{}"));
    tar_put(&tar, "", "link", '2', "0", SV(""));
    for (int i = 0; i < 2 * BLOCK; i++) strbuf_add_char(&tar, '\0');
    assert_int_equal(foreign_archive_open_bytes(&archive, strbuf_view(&tar)), STATUS_OK);
    assert_int_equal(foreign_archive_count(archive), 2); /* in the order of their names */
    assert_file(archive, 0, "config.json", "{}");
    assert_file(archive, 1, "model/vocab.spm", "pices");
    assert_int_equal(foreign_archive_find(archive, 0, "vocab", ".spm"), 1);
    assert_int_equal(foreign_archive_find(archive, 0, "model", ""), -1); /* no folder */
    assert_int_equal(foreign_archive_find(archive, 1, "config.json", ""), -1);
    foreign_archive_close(archive);
    strbuf_free(&tar);
}

static void test_damaged_tar(void **state) {
    (void)state;
    static const struct {
        const char *name, *size, *message;
    } CASES[] = {{"../x", "2", "leads out of it"},
                 {"/x", "2", "leads out of it"},
                 {"x", "77777777777", "truncated"},
                 {"x", "9", "damaged at byte 0"},
                 {"x", "-1", "damaged at byte 0"}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrBuf tar = {0};
        ForeignArchive *archive = (void *)1;
        tar_put(&tar, "", CASES[i].name, '0', CASES[i].size, SV("{}"));
        assert_int_equal(foreign_archive_open_bytes(&archive, strbuf_view(&tar)), STATUS_DATA);
        assert_null(archive);
        if (!strstr(status_message(), CASES[i].message)) fail_msg("%zu: %s", i, status_message());
        strbuf_free(&tar);
    }
}

/* The digest says what a model was made from: names and contents, in any order. */
static void test_digest(void **state) {
    (void)state;
    static const char *const NAMES[][2] = {{"a", "b"}, {"b", "a"}, {"a", "c"}, {"a", "b"}};
    char digests[4][65];
    for (int i = 0; i < 4; i++) {
        ZipWriter zip = {0};
        ForeignArchive *archive;
        for (int k = 0; k < 2; k++)
            zip_put(&zip, NAMES[i][k], i == 3 ? SV("x") : NAMES[i][k][0] == 'a' ? SV("one") : SV("two"));
        assert_int_equal(foreign_archive_open_bytes(&archive, zip_end(&zip)), STATUS_OK);
        assert_int_equal(foreign_archive_digest(archive, digests[i]), STATUS_OK);
        foreign_archive_close(archive);
        zip_writer_free(&zip);
    }
    assert_string_equal(digests[0], digests[1]);
    assert_string_not_equal(digests[0], digests[2]);
    assert_string_not_equal(digests[0], digests[3]);
}

static void test_single_file(void **state) {
    (void)state;
    ForeignArchive *archive;
    assert_int_equal(foreign_archive_open_bytes(&archive, SV("hello")), STATUS_OK);
    assert_int_equal(foreign_archive_count(archive), 1);
    assert_file(archive, 0, "file", "hello");
    foreign_archive_close(archive);
    ZipWriter zip = {0};
    assert_int_equal(foreign_archive_open_bytes(&archive, zip_end(&zip)), STATUS_DATA);
    assert_non_null(strstr(status_message(), "there are no files in it"));
    zip_writer_free(&zip);
    assert_int_equal(foreign_archive_open(&archive, "/no/such/file"), STATUS_RUNTIME);
    assert_null(archive);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tar), cmocka_unit_test(test_damaged_tar),
                                       cmocka_unit_test(test_digest), cmocka_unit_test(test_single_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
