/* line_window.c - windows of lines from one file and from two. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "io/line_window.h"

static char folder[64];

static LineReader *reader_of(const char *name, const char *text) {
    char path[128];
    LineReader *reader;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    assert_int_equal(file_write_whole(path, sv(text)), STATUS_OK);
    assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
    unlink(path);
    return reader;
}

static void assert_line(const LineWindow *window, int column, int i, const char *expected) {
    assert_true(sv_equal(window->lines[column][i], sv(expected)));
}

static void test_one_file(void **state) {
    (void)state;
    LineWindow window = {.max_lines = 2};
    LineReader *reader = reader_of("one", "a\n\nb\xff\nc\n");
    bool more;
    assert_int_equal(line_window_read(&window, reader, NULL, &more), STATUS_OK);
    assert_true(more);
    assert_int_equal(window.count, 2);
    assert_int_equal(window.first_number, 1);
    assert_line(&window, 0, 0, "a");
    assert_line(&window, 0, 1, "");
    assert_int_equal(window.repaired, 0);
    assert_int_equal(line_window_read(&window, reader, NULL, &more), STATUS_OK);
    assert_int_equal(window.first_number, 3);
    assert_line(&window, 0, 1, "c");
    assert_int_equal(window.repaired, 1);
    assert_int_equal(window.first_repaired, 3);
    assert_int_equal(line_window_read(&window, reader, NULL, &more), STATUS_OK);
    assert_false(more);
    assert_int_equal(window.count, 0);
    line_reader_close(reader);
    line_window_free(&window);
}

/* The lines before an error are there. */
static void test_two_files(void **state) {
    (void)state;
    LineWindow window = {.max_lines = 10};
    LineReader *first = reader_of("first", "a\nb\nc\n"), *second = reader_of("second", "A\nB\n");
    bool more;
    assert_int_equal(line_window_read(&window, first, second, &more), STATUS_DATA);
    assert_non_null(strstr(status_message(), "has 3 lines but"));
    assert_int_equal(window.count, 2);
    assert_line(&window, 0, 1, "b");
    assert_line(&window, 1, 1, "B");
    line_reader_close(first);
    line_reader_close(second);
    line_window_free(&window);
}

static void test_whole_file(void **state) {
    (void)state;
    LineWindow window = {0};
    LineReader *reader = reader_of("whole", "b\nc");
    line_window_add(&window, SV("a"));
    assert_int_equal(line_window_read_all(&window, reader), STATUS_OK);
    assert_int_equal(window.count, 3);
    assert_line(&window, 0, 0, "a");
    assert_line(&window, 0, 2, "c");
    line_reader_close(reader);
    line_window_free(&window);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_file), cmocka_unit_test(test_two_files),
                                       cmocka_unit_test(test_whole_file)};
    snprintf(folder, sizeof folder, "/tmp/attn-mt-test-XXXXXX");
    if (!mkdtemp(folder)) return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(folder);
    return failed;
}
