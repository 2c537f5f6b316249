/* strview.c - status, memory, views, buffers, nearest words, numbers for people, hash map, log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/hashmap.h"
#include "io/json_write.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/strview.h"

static void status_keeps_message_and_hint(void **state) {
    (void)state;
    assert_int_equal(status_fail(STATUS_DATA, "bad '%s'", "x"), STATUS_DATA);
    assert_string_equal(status_message(), "bad 'x'");
    assert_string_equal(status_hint_text(), "");
    assert_int_equal(status_hint(STATUS_DATA, "try %d", 7), STATUS_DATA);
    assert_string_equal(status_message(), "bad 'x'");
    assert_string_equal(status_hint_text(), "try 7");
    assert_int_equal(status_context(STATUS_USAGE, "file '%s'", "f"), STATUS_USAGE);
    assert_string_equal(status_message(), "file 'f': bad 'x'");
    assert_string_equal(status_hint_text(), "try 7");
    status_fail(STATUS_RUNTIME, "again: %s", status_message()); /* its previous text as an argument */
    assert_string_equal(status_message(), "again: file 'f': bad 'x'");
    assert_string_equal(status_hint_text(), "");
}

static void status_survives_long_text(void **state) {
    (void)state;
    char text[3000];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    status_fail(STATUS_DATA, "%s", text);
    assert_int_equal(strlen(status_message()), 1023);
    status_context(STATUS_DATA, "c");
    assert_int_equal(strlen(status_message()), 1023);
    assert_memory_equal(status_message(), "c: aaa", 6);
    status_context(STATUS_DATA, "%s", text);
    assert_int_equal(strlen(status_message()), 1023);
}

static void *fail_in_thread(void *record) {
    status_hint(status_fail(STATUS_DIVERGED, "in thread"), "hint of thread");
    status_save(record, STATUS_DIVERGED);
    return NULL;
}

static void status_belongs_to_its_thread(void **state) {
    (void)state;
    status_fail(STATUS_DATA, "mine");
    StatusRecord record;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, &record), 0);
    pthread_join(thread, NULL);
    assert_string_equal(status_message(), "mine");
    assert_int_equal(status_restore(&record), STATUS_DIVERGED);
    assert_string_equal(status_message(), "in thread");
    assert_string_equal(status_hint_text(), "hint of thread");
}

static void mem_gives_zeroed_aligned_blocks(void **state) {
    (void)state;
    for (size_t size = 0; size < 300; size += 7) {
        unsigned char *block = mem_aligned(size, 3);
        assert_int_equal((uintptr_t)block % 64, 0);
        for (size_t i = 0; i < 3 * size; i++) assert_int_equal(block[i], 0);
        mem_free(block);
    }
    unsigned char *empty = mem_alloc(0, 8), *other = mem_alloc(8, 0);
    assert_non_null(empty);
    assert_ptr_not_equal(empty, other);
    mem_free(empty);
    mem_free(other);
    char *copy = mem_strndup("abcdef", 3);
    assert_string_equal(copy, "abc");
    mem_free(copy);
}

static void mem_grows_geometrically(void **state) {
    (void)state;
    int *list = NULL;
    size_t capacity = 0, moves = 0;
    for (int i = 0; i < 100000; i++) {
        size_t before = capacity;
        MEM_GROW(list, capacity, (size_t)i + 1);
        moves += capacity != before;
        assert_true(capacity > (size_t)i);
        list[i] = i;
    }
    assert_true(moves < 40);
    for (int i = 0; i < 100000; i++) assert_int_equal(list[i], i);
    mem_free(list);
}

static jmp_buf out_of_memory;
static size_t requested;

static void jump_out(size_t bytes) {
    requested = bytes;
    longjmp(out_of_memory, 1);
}

static void mem_refuses_overflow(void **state) {
    (void)state;
    mem_on_exhausted(jump_out);
    volatile int failures = 0;
    if (setjmp(out_of_memory) == 0)
        mem_alloc(SIZE_MAX / 8 + 2, 8); /* the product wraps to 8 */
    else
        failures++;
    if (setjmp(out_of_memory) == 0)
        mem_aligned(SIZE_MAX, 1);
    else
        failures++;
    if (setjmp(out_of_memory) == 0)
        mem_realloc(NULL, SIZE_MAX / 4, 8);
    else
        failures++;
    size_t capacity = 0;
    if (setjmp(out_of_memory) == 0)
        mem_grow(NULL, &capacity, SIZE_MAX, 1);
    else
        failures++;
    if (setjmp(out_of_memory) == 0)
        mem_strndup("x", SIZE_MAX);
    else
        failures++;
    mem_on_exhausted(NULL);
    assert_int_equal(failures, 5);
    assert_true(requested > SIZE_MAX / 2);
}

static void views_compare_and_trim(void **state) {
    (void)state;
    assert_true(sv_equal(SV("a\0b"), (StrView){"a\0b", 3}));
    assert_false(sv_equal(SV("a\0b"), SV("a\0c")));
    assert_false(sv_equal(SV("ab"), SV("abc")));
    assert_true(sv_equal((StrView){NULL, 0}, SV("")));
    assert_true(sv_compare(SV("a"), SV("b")) < 0);
    assert_true(sv_compare(SV("b"), SV("a")) > 0);
    assert_true(sv_compare(SV("a"), SV("ab")) < 0);
    assert_true(sv_compare(SV("\xC3"), SV("z")) > 0); /* bytes are unsigned */
    assert_int_equal(sv_compare(SV("ab"), SV("ab")), 0);
    assert_true(sv_starts(SV("abc"), SV("ab")));
    assert_false(sv_starts(SV("a"), SV("ab")));
    assert_true(sv_ends(SV("abc"), SV("bc")));
    assert_true(sv_ends(SV("abc"), SV("")));
    assert_false(sv_ends(SV("bc"), SV("abc")));
    assert_false(sv_ends(SV("abd"), SV("bc")));
    StrView name = SV("a.b.svg"), bare = SV(".svg"), other = SV("asvg");
    assert_true(sv_cut_extension(&name, SV("svg")) && sv_equal(name, SV("a.b")));
    assert_false(sv_cut_extension(&name, SV("svg")) || sv_cut_extension(&bare, SV("svg")) ||
                 sv_cut_extension(&other, SV("svg")));
    name = SV("x.SvG");
    assert_true(sv_cut_extension(&name, SV("svg")) && sv_equal(name, SV("x")));
    assert_true(sv_equal(sv_trim(SV(" \t\r\n\v\fa b \n")), SV("a b")));
    assert_int_equal(sv_trim(SV(" \n ")).length, 0);
    assert_true(sv_equal(sv_trim(SV("\xC2\xA0x")), SV("\xC2\xA0x"))); /* no-break space is not ASCII */
}

static void assert_pieces(StrView text, size_t count, const char *const *expected) {
    StrView piece;
    size_t i = 0;
    for (; sv_next(&text, ',', &piece); i++) {
        assert_true(i < count);
        assert_true(sv_equal(piece, sv(expected[i])));
    }
    assert_int_equal(i, count);
}

static void views_split(void **state) {
    (void)state;
    assert_pieces(SV("a,,b"), 3, (const char *const[]){"a", "", "b"});
    assert_pieces(SV(","), 2, (const char *const[]){"", ""});
    assert_pieces(SV("abc"), 1, (const char *const[]){"abc"});
    assert_pieces(SV("a,"), 2, (const char *const[]){"a", ""});
    assert_pieces((StrView){NULL, 0}, 0, NULL);

    StrView rest = SV(" \ta  b\n"), word;
    assert_true(sv_next_word(&rest, &word) && sv_equal(word, SV("a")) && sv_equal(rest, SV("  b\n")));
    assert_true(sv_next_word(&rest, &word) && sv_equal(word, SV("b")));
    assert_true(!sv_next_word(&rest, &word) && word.length == 0 && rest.length == 0);
    rest = (StrView){NULL, 0};
    assert_true(!sv_next_word(&rest, &word) && word.length == 0);
}

static void buffers_grow_and_end_in_nul(void **state) {
    (void)state;
    StrBuf buffer = {0};
    assert_string_equal(strbuf_text(&buffer), "");
    assert_int_equal(strbuf_view(&buffer).length, 0);
    StrBuf expected = {0};
    for (int i = 0; i < 2000; i++) {
        strbuf_format(&buffer, "%d,", i);
        char number[16];
        snprintf(number, sizeof number, "%d", i);
        strbuf_add(&expected, sv(number));
        strbuf_add_char(&expected, ',');
        assert_int_equal(buffer.data[buffer.length], 0);
    }
    assert_int_equal(buffer.length, expected.length);
    assert_string_equal(buffer.data, expected.data);
    char wide[1000];
    memset(wide, 'w', 999);
    wide[999] = '\0';
    strbuf_clear(&buffer);
    assert_string_equal(buffer.data, "");
    strbuf_format(&buffer, "<%s>", wide);
    assert_int_equal(buffer.length, 1001);
    assert_int_equal(buffer.data[1000], '>');
    strbuf_clear(&buffer);
    strbuf_add(&buffer, SV("a\0b"));
    assert_memory_equal(buffer.data, "a\0b", 4);
    strbuf_free(&buffer);
    strbuf_free(&expected);
    assert_null(buffer.data);
}

static void nearest_word_is_near(void **state) {
    (void)state;
    static const char *const WORDS[] = {"beam-size", "model", "n-best", "normalize", "threads", "max_length"};
    enum { COUNT = sizeof WORDS / sizeof *WORDS };
    assert_string_equal(str_nearest("beam-szie", WORDS, COUNT), "beam-size");
    assert_string_equal(str_nearest("beamsize", WORDS, COUNT), "beam-size");
    assert_string_equal(str_nearest("beam_size", WORDS, COUNT), "beam-size");
    assert_string_equal(str_nearest("BEAM-SIZE", WORDS, COUNT), "beam-size");
    assert_string_equal(str_nearest("beam", WORDS, COUNT), "beam-size");
    assert_string_equal(str_nearest("modle", WORDS, COUNT), "model");
    assert_string_equal(str_nearest("thread", WORDS, COUNT), "threads");
    assert_string_equal(str_nearest("max-lenght", WORDS, COUNT), "max_length");
    assert_null(str_nearest("quantise", WORDS, COUNT));
    assert_null(str_nearest("", WORDS, COUNT));
    assert_null(str_nearest("x", WORDS, 0));
    char long_word[300];
    memset(long_word, 'm', sizeof long_word - 1);
    long_word[sizeof long_word - 1] = '\0';
    assert_null(str_nearest(long_word, WORDS, COUNT));
    static const char *const HOLES[] = {NULL, "model"};
    assert_string_equal(str_nearest("modl", HOLES, 2), "model");
}

static void numbers_read_well(void **state) {
    (void)state;
    char text[32];
    assert_string_equal(str_bytes(0, text), "0 B");
    assert_string_equal(str_bytes(999, text), "999 B");
    assert_string_equal(str_bytes(1500, text), "1.5 kB");
    assert_string_equal(str_bytes(999600, text), "1.0 MB");
    assert_string_equal(str_bytes(1.5e6, text), "1.5 MB");
    assert_string_equal(str_bytes(123456789, text), "123 MB");
    assert_string_equal(str_count(0, text), "0");
    assert_string_equal(str_count(999, text), "999");
    assert_string_equal(str_count(1000, text), "1,000");
    assert_string_equal(str_count(12345, text), "12,345");
    assert_string_equal(str_count(-123456, text), "-123,456");
    assert_string_equal(str_count(1234567890123456789, text), "1,234,567,890,123,456,789");
    assert_string_equal(str_count(INT64_MIN, text), "-9,223,372,036,854,775,808");
    assert_string_equal(str_duration(0.04, text), "0.0s");
    assert_string_equal(str_duration(3.21, text), "3.2s");
    assert_string_equal(str_duration(59.4, text), "59s");
    assert_string_equal(str_duration(59.6, text), "1m00s");
    assert_string_equal(str_duration(125, text), "2m05s");
    assert_string_equal(str_duration(3600, text), "1h00m");
    assert_string_equal(str_duration(5 * 86400 + 3 * 3600, text), "5d03h");
    assert_string_equal(str_duration(-1, text), "?");
    assert_string_equal(str_duration(0.0 / 0.0, text), "?");
}

static void hashmap_keeps_every_key(void **state) {
    (void)state;
    HashMap *map = hashmap_new();
    assert_int_equal(hashmap_get(map, SV("a"), -1), -1);
    enum { COUNT = 400000 }; /* enough for equal 32-bit hashes of different keys */
    StrView first = {0};
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        int length = snprintf(key, sizeof key, "key%d", i * 7);
        hashmap_set(map, (StrView){key, (size_t)length}, i);
        if (i == 0) first = hashmap_key(map, 0);
    }
    assert_int_equal(hashmap_count(map), COUNT);
    for (int i = 0; i < COUNT; i++) {
        char key[32];
        snprintf(key, sizeof key, "key%d", i * 7);
        assert_int_equal(hashmap_get(map, sv(key), -1), i);
        assert_true(sv_equal(hashmap_key(map, (size_t)i), sv(key))); /* order of insertion */
        assert_int_equal(hashmap_value(map, (size_t)i), i);
        snprintf(key, sizeof key, "key%d", i * 7 + 1);
        assert_int_equal(hashmap_get(map, sv(key), -1), -1);
    }
    assert_true(sv_equal(first, SV("key0"))); /* views of keys stay valid */
    hashmap_set(map, SV("key7"), 99);
    assert_int_equal(hashmap_get(map, SV("key7"), -1), 99);
    assert_int_equal(hashmap_count(map), COUNT);
    hashmap_free(map);
}

static void hashmap_tells_keys_apart(void **state) {
    (void)state;
    HashMap *map = hashmap_new();
    char big[40000];
    memset(big, 'b', sizeof big);
    hashmap_set(map, SV(""), 1);
    hashmap_set(map, SV("\0"), 2);
    hashmap_set(map, SV("\0\0"), 3);
    hashmap_set(map, SV("a\0b"), 4);
    hashmap_set(map, SV("a\0c"), 5);
    hashmap_set(map, (StrView){big, sizeof big}, 6);
    hashmap_set(map, (StrView){big, sizeof big - 1}, 7);
    assert_int_equal(hashmap_get(map, (StrView){NULL, 0}, 0), 1);
    assert_int_equal(hashmap_get(map, SV("\0"), 0), 2);
    assert_int_equal(hashmap_get(map, SV("\0\0"), 0), 3);
    assert_int_equal(hashmap_get(map, SV("a\0b"), 0), 4);
    assert_int_equal(hashmap_get(map, SV("a\0c"), 0), 5);
    assert_int_equal(hashmap_get(map, (StrView){big, sizeof big}, 0), 6);
    assert_int_equal(hashmap_get(map, (StrView){big, sizeof big - 1}, 0), 7);
    for (int i = 0; i < 10; i++) ++*hashmap_slot(map, SV("counter"), 0);
    assert_int_equal(hashmap_get(map, SV("counter"), 0), 10);
    hashmap_free(map);
}

/* The output of `print` on standard error. */
static char *stderr_of(void (*print)(void), char *text, size_t size) {
    int pipe_ends[2], kept = dup(STDERR_FILENO);
    assert_int_equal(pipe(pipe_ends), 0);
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[1]);
    print();
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t got = read(pipe_ends[0], text, size - 1);
    text[got > 0 ? got : 0] = '\0';
    close(pipe_ends[0]);
    return text;
}

static void print_all(void) {
    log_info("info %d", 1);
    log_warn("warn %d", 2);
    log_progress("progress");
    log_progress_end();
    status_hint(status_fail(STATUS_DATA, "failed"), "mend it");
    log_failure();
}

static void log_obeys_its_level(void **state) {
    (void)state;
    char text[1024];
    assert_string_equal(stderr_of(print_all, text, sizeof text),
                        "info 1\nattn-mt: warn 2\nattn-mt: failed\nhint: mend it\n");
    log_set_level(LOG_QUIET);
    assert_string_equal(stderr_of(print_all, text, sizeof text), "attn-mt: failed\nhint: mend it\n");
    log_set_level(LOG_WARN);
    assert_string_equal(stderr_of(print_all, text, sizeof text),
                        "attn-mt: warn 2\nattn-mt: failed\nhint: mend it\n");
    log_set_level(LOG_INFO);
}

static void print_long(void) {
    char text[5000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    log_info("%s", text);
}

static void log_cuts_long_lines(void **state) {
    (void)state;
    char text[8192];
    stderr_of(print_long, text, sizeof text);
    size_t length = strlen(text);
    assert_true(length > 1000 && length <= 4096);
    assert_int_equal(text[length - 1], '\n');
}

/* Control characters, also as invalid bytes, and characters that change the direction of text. */
static void log_sanitizes_controls(void **state) {
    (void)state;
    char text[] = "a\tb\n\x1b]\x7f \xC2\x80\xC2\x9F\xC2\xA0 \xE2\x80\xA9\xE2\x80\xAA\xE2\x80\xAE\xE2\x80\xAF "
                  "\xE2\x81\xA5\xE2\x81\xA6\xE2\x81\xA9 \x9B\xE9 \xEF\xBF\xBD\xC3\xA9";
    log_sanitize(text, sizeof text - 1);
    assert_string_equal(text,
                        "a\tb\n?]? ????\xC2\xA0 \xE2\x80\xA9??????\xE2\x80\xAF \xE2\x81\xA5?????? ?\xE9 "
                        "\xEF\xBF\xBD\xC3\xA9");
    StrBuf json = {0};
    json_write_string(&json, SV("\x1b\x7f\xC2\x9B\xE2\x80\xAE\xE2\x81\xA6\xC3\xA9\t"));
    assert_string_equal(strbuf_text(&json), "\"\\u001b\\u007f\\u009b\\u202e\\u2066\xC3\xA9\\t\"");
    strbuf_free(&json);
}

static void print_hostile(void) { log_warn("tensor '\033[2Ja\rb\x7F\tc\xC3\xA9'"); }

static void log_sanitizes_control_characters(void **state) {
    (void)state;
    char text[1024];
    assert_string_equal(stderr_of(print_hostile, text, sizeof text),
                        "attn-mt: tensor '?[2Ja?b?\tc\xC3\xA9'\n");
}

static void clock_goes_forward(void **state) {
    (void)state;
    double before = clock_seconds();
    usleep(2000);
    double passed = clock_seconds() - before;
    assert_true(passed >= 0.002 && passed < 60);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_keeps_message_and_hint),
        cmocka_unit_test(status_survives_long_text),
        cmocka_unit_test(status_belongs_to_its_thread),
        cmocka_unit_test(mem_gives_zeroed_aligned_blocks),
        cmocka_unit_test(mem_grows_geometrically),
        cmocka_unit_test(mem_refuses_overflow),
        cmocka_unit_test(views_compare_and_trim),
        cmocka_unit_test(views_split),
        cmocka_unit_test(buffers_grow_and_end_in_nul),
        cmocka_unit_test(nearest_word_is_near),
        cmocka_unit_test(numbers_read_well),
        cmocka_unit_test(hashmap_keeps_every_key),
        cmocka_unit_test(hashmap_tells_keys_apart),
        cmocka_unit_test(log_obeys_its_level),
        cmocka_unit_test(log_cuts_long_lines),
        cmocka_unit_test(log_sanitizes_control_characters),
        cmocka_unit_test(log_sanitizes_controls),
        cmocka_unit_test(clock_goes_forward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
