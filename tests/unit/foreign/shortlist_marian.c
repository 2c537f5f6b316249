/* shortlist_marian.c - Marian's binary shortlists as ours. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "foreign/shortlist_marian.h"
#include "unit/bytes_fixture.h"

enum { SOURCES = 7, TARGETS = 8 };
/* The foreign ids of ours: Marian has </s> 0, <unk> 1, then the others. */
static const int SOURCE_ROW[SOURCES] = {-1, 1, -1, 0, 2, 3, 4},
                 TARGET_ROW[TARGETS] = {-1, 1, -1, 0, 2, 3, 4, 5};

static uint64_t word_at(const StrBuf *bytes, size_t at) {
    uint64_t word;
    memcpy(&word, bytes->data + at, sizeof word);
    return word;
}

static void write_list(StrBuf *file, uint64_t first, const uint64_t *offsets, size_t lists,
                       const uint32_t *ids, size_t count) {
    put_number(file, 0xF11A48D5013417F5, 8);
    put_number(file, 0, 8);
    put_number(file, first, 8);
    put_number(file, 50, 8);
    put_number(file, lists, 8);
    put_number(file, count, 8);
    for (size_t i = 0; i < lists; i++) put_number(file, offsets[i], 8);
    for (size_t i = 0; i < count; i++) put_number(file, ids[i], 4);
    uint64_t seed = 0; /* boost::hash_combine */
    for (size_t at = 16; at + 8 <= file->length; at += 8)
        seed ^= word_at(file, at) + 0x9e3779b9 + (seed << 6) + (seed >> 2);
    memcpy(file->data + 8, &seed, sizeof seed);
}

static Status read_lists(Shortlist **shortlist, const StrBuf *file) {
    return foreign_shortlist_read(shortlist, strbuf_view(file), SOURCE_ROW, SOURCES, TARGET_ROW, TARGETS);
}

static void assert_refused(const StrBuf *file, const char *message) {
    Shortlist *shortlist = (void *)1;
    assert_int_equal(read_lists(&shortlist, file), STATUS_DATA);
    assert_null(shortlist);
    if (!strstr(status_message(), message)) fail_msg("'%s', not '%s'", status_message(), message);
}

static void test_lists(void **state) {
    (void)state;
    static const uint64_t OFFSETS[] = {0, 1, 1, 3, 5, 6};
    static const uint32_t IDS[] = {0, 2, 3, 5, 4, 2};
    /* The most frequent tokens, then a list for each of our source tokens; the first four have none. */
    static const size_t START[SOURCES + 2] = {0, 2, 2, 2, 2, 2, 4, 6, 7};
    static const int OURS[] = {4, 5, 4, 5, 7, 6, 4};
    StrBuf file = {0};
    Shortlist *shortlist;
    write_list(&file, 4, OFFSETS, 6, IDS, 6); /* rows 0 to 3 are always there: ours 3 and 1, 4, 5 */
    assert_int_equal(read_lists(&shortlist, &file), STATUS_OK);
    assert_int_equal(shortlist->source_size, SOURCES);
    assert_int_equal(shortlist->target_size, TARGETS);
    assert_memory_equal(shortlist->start, START, sizeof START);
    assert_memory_equal(shortlist->ids, OURS, sizeof OURS);
    shortlist_free(shortlist);
    strbuf_free(&file);
}

static void test_refused(void **state) {
    (void)state;
    static const struct {
        uint64_t offsets[6];
        uint32_t ids[6];
        const char *message;
    } CASES[] = {
        {{0, 0, 0, 9, 5, 6}, {0, 2, 3, 5, 4, 2}, "its list 2 is malformed"},
        {{0, 0, 4, 2, 5, 6}, {0, 2, 3, 5, 4, 2}, "its list 2 is malformed"},
        {{0, 1, 1, 3, 5, 6}, {0, 2, 9, 5, 4, 2}, "its list 2 has the id 9"},
    };
    StrBuf file = {0};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        strbuf_clear(&file);
        write_list(&file, 4, CASES[i].offsets, 6, CASES[i].ids, 6);
        assert_refused(&file, CASES[i].message);
    }
    /* Cut, or with another byte. */
    StrBuf part = {0};
    for (size_t length = 0; length < file.length; length++) {
        strbuf_clear(&part);
        strbuf_add(&part, (StrView){file.data, length});
        assert_refused(&part, "");
    }
    file.data[60] ^= 1;
    assert_refused(&file, "its checksum differs");
    strbuf_free(&file);
    strbuf_free(&part);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lists), cmocka_unit_test(test_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
