/* fileio.c - reading plain and gzip files whole and by lines, atomic writing, and compression. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include "io/deflate.h"
#include "io/fileio.h"
#include "base/mem.h"

static char folder[64];

static const char *in_folder(const char *name) {
    static char paths[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(paths[turn], sizeof paths[turn], "%s/%s", folder, name);
    return paths[turn];
}

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/attn-mt-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static int entries_in_folder(void) {
    int count = 0;
    DIR *entries = opendir(folder);
    assert_non_null(entries);
    while (readdir(entries)) count++;
    closedir(entries);
    return count - 2;
}

static void put_plain(const char *path, const void *data, size_t bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* `mode` "wb", or "ab" to append another gzip member. */
static void put_gzip(const char *path, const char *mode, const void *data, size_t bytes) {
    gzFile file = gzopen(path, mode);
    assert_non_null(file);
    assert_int_equal(gzwrite(file, data, (unsigned)bytes), bytes);
    assert_int_equal(gzclose(file), Z_OK);
}

static void assert_content(const char *path, const void *data, size_t bytes) {
    StrBuf content = {0};
    assert_int_equal(file_read(path, 0, &content), STATUS_OK);
    assert_int_equal(content.length, bytes);
    assert_memory_equal(content.data, data, bytes);
    assert_int_equal(content.data[bytes], 0);
    strbuf_free(&content);
}

static void assert_message(Status status, Status expected, const char *part) {
    assert_int_equal(status, expected);
    if (!strstr(status_message(), part)) fail_msg("'%s' is not in '%s'", part, status_message());
}

static char *noise(size_t bytes) {
    char *data = mem_alloc(bytes + 1, 1);
    uint32_t x = 1;
    for (size_t i = 0; i < bytes; i++) data[i] = (char)((x = x * 1664525 + 1013904223) >> 24);
    return data;
}

static void reads_whole_files(void **state) {
    (void)state;
    const char *path = in_folder("whole");
    static const size_t SIZES[] = {0, 1, 2, 3, 1000, 65535, 65536, 65537, 131072, 1000000};
    char *data = noise(1000000);
    for (size_t i = 0; i < sizeof SIZES / sizeof *SIZES; i++) {
        put_plain(path, data, SIZES[i]);
        assert_content(path, data, SIZES[i]);
        put_gzip(path, "wb", data, SIZES[i]);
        assert_content(path, data, SIZES[i]);
    }
    put_plain(path, "\x1f", 1);
    assert_content(path, "\x1f", 1);
    put_plain(path, "\x1fz", 2);
    assert_content(path, "\x1fz", 2);
    mem_free(data);
}

static void obeys_the_limit(void **state) {
    (void)state;
    StrBuf content = {0};
    const char *path = in_folder("limited");
    char zeros[1000] = {0};
    put_plain(path, zeros, 1000);
    assert_int_equal(file_read(path, 1000, &content), STATUS_OK);
    assert_message(file_read(path, 999, &content), STATUS_DATA, "larger than 999 B");
    char *big = mem_alloc(10000000, 1);
    put_gzip(path, "wb", big, 10000000); /* about 10 kB packed */
    assert_message(file_read(path, 1000000, &content), STATUS_DATA, "larger than 1.0 MB");
    assert_true(content.length < 1200000);
    mem_free(big);
    strbuf_free(&content);
}

static void reads_gzip_members_in_a_row(void **state) {
    (void)state;
    const char *path = in_folder("members.gz");
    put_gzip(path, "wb", "one ", 4);
    put_gzip(path, "ab", "", 0);
    put_gzip(path, "ab", "two", 3);
    assert_content(path, "one two", 7);
    FILE *file = fopen(path, "ab"); /* zeros may pad the end, as tapes do */
    char zeros[700] = {0};
    fwrite(zeros, 1, sizeof zeros, file);
    fclose(file);
    assert_content(path, "one two", 7);
    static const char *const JUNK[] = {"\x1f", "j", "junk"}; /* the first could begin another member */
    for (size_t i = 0; i < sizeof JUNK / sizeof *JUNK; i++) {
        put_gzip(path, "wb", "one", 3);
        file = fopen(path, "ab");
        fputs(JUNK[i], file);
        fclose(file);
        StrBuf content = {0};
        assert_message(file_read(path, 0, &content), STATUS_DATA, "other bytes follow");
        strbuf_free(&content);
    }
}

static void finds_damaged_gzip(void **state) {
    (void)state;
    const char *path = in_folder("damaged.gz");
    char *data = noise(3000);
    put_gzip(path, "wb", data, 3000);
    StrBuf packed = {0}, content = {0};
    FILE *file = fopen(path, "rb");
    for (int c; (c = fgetc(file)) != EOF;) strbuf_add_char(&packed, (char)c);
    fclose(file);
    for (size_t length = 2; length < packed.length;
         length += length < 40 || length + 40 > packed.length ? 1 : 100) {
        put_plain(path, packed.data, length);
        assert_message(file_read(path, 0, &content), STATUS_DATA, "cut off");
    }
    packed.data[packed.length - 6] ^= 1; /* checksum */
    put_plain(path, packed.data, packed.length);
    assert_message(file_read(path, 0, &content), STATUS_DATA, "damaged gzip");
    mem_free(data);
    strbuf_free(&packed);
    strbuf_free(&content);
}

static void names_files_it_cannot_read(void **state) {
    (void)state;
    StrBuf content = {0};
    assert_message(file_read(in_folder("absent"), 0, &content), STATUS_RUNTIME, "absent': No such file");
    assert_message(file_read(folder, 0, &content), STATUS_RUNTIME, "Is a directory");
    LineReader *reader = NULL;
    assert_message(line_reader_open(&reader, in_folder("absent")), STATUS_RUNTIME, "absent': No such file");
    assert_null(reader);
    assert_int_equal(line_reader_open(&reader, folder), STATUS_OK);
    StrView line;
    bool more;
    assert_message(line_reader_next(reader, &line, &more), STATUS_RUNTIME, "Is a directory");
    line_reader_close(reader);
    line_reader_close(NULL);
    strbuf_free(&content);
}

static void assert_next(LineReader *reader, const char *data, size_t bytes) {
    StrView line;
    bool more;
    assert_int_equal(line_reader_next(reader, &line, &more), STATUS_OK);
    assert_true(more);
    assert_int_equal(line.length, bytes);
    assert_memory_equal(line.data, data, bytes);
}

static void assert_no_more(LineReader *reader) {
    for (int i = 0; i < 2; i++) {
        StrView line;
        bool more = true;
        assert_true(line_reader_ready(reader));
        assert_int_equal(line_reader_next(reader, &line, &more), STATUS_OK);
        assert_false(more);
        assert_int_equal(line.length, 0);
    }
}

static LineReader *reader_of(const void *data, size_t bytes) {
    const char *path = in_folder("lines");
    put_plain(path, data, bytes);
    LineReader *reader;
    assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
    return reader;
}

#define READER(literal) reader_of(literal, sizeof(literal) - 1)

static void lines_end_at_line_feeds_only(void **state) {
    (void)state;
    LineReader *reader = READER("a\n\nb\0c\n\xE2\x80\xA8\v\f\xC2\x85 \rx\nlast");
    assert_next(reader, "a", 1);
    assert_int_equal(line_reader_number(reader), 1);
    assert_next(reader, "", 0);
    assert_next(reader, "b\0c", 3);
    assert_next(reader, "\xE2\x80\xA8\v\f\xC2\x85 \rx", 10);
    assert_next(reader, "last", 4);
    assert_int_equal(line_reader_number(reader), 5);
    assert_no_more(reader);
    assert_int_equal(line_reader_number(reader), 5);
    assert_int_equal(line_reader_carriage_returns(reader), 0);
    assert_false(line_reader_has_bom(reader));
    line_reader_close(reader);
    reader = READER("");
    assert_no_more(reader);
    line_reader_close(reader);
    reader = READER("\n");
    assert_next(reader, "", 0);
    assert_no_more(reader);
    line_reader_close(reader);
}

static void lines_lose_returns_and_mark(void **state) {
    (void)state;
    LineReader *reader = READER("\xEF\xBB\xBF"
                                "a\r\n\xEF\xBB\xBF"
                                "b\r\r\n\r\nc\r");
    assert_next(reader, "a", 1);
    assert_next(reader,
                "\xEF\xBB\xBF"
                "b\r",
                5); /* a mark elsewhere is text; one return goes */
    assert_next(reader, "", 0);
    assert_next(reader, "c", 1);
    assert_no_more(reader);
    assert_int_equal(line_reader_carriage_returns(reader), 4);
    assert_true(line_reader_has_bom(reader));
    line_reader_close(reader);
    reader = READER("\xEF\xBB\xBF");
    assert_next(reader, "", 0);
    assert_no_more(reader);
    line_reader_close(reader);
    reader = READER("\xEF\xBB");
    assert_next(reader, "\xEF\xBB", 2);
    assert_no_more(reader);
    line_reader_close(reader);
}

static void lines_may_be_long(void **state) {
    (void)state;
    enum { LONG = 3000000 };
    StrBuf text = {0};
    for (int i = 0; i < LONG; i++) strbuf_add_char(&text, (char)('a' + i % 26));
    strbuf_add(&text, SV("\nshort\n"));
    for (int i = 0; i < 100000; i++) strbuf_format(&text, "%d\n", i);
    for (int packed = 0; packed < 2; packed++) {
        const char *path = in_folder("long");
        if (packed)
            put_gzip(path, "wb", text.data, text.length);
        else
            put_plain(path, text.data, text.length);
        LineReader *reader;
        assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
        assert_next(reader, text.data, LONG);
        assert_next(reader, "short", 5);
        for (int i = 0; i < 100000; i++) {
            char number[16];
            assert_next(reader, number, (size_t)snprintf(number, sizeof number, "%d", i));
        }
        assert_no_more(reader);
        line_reader_close(reader);
    }
    strbuf_free(&text);
}

/* Limits on a line, and on all lines of a text in memory. */
static void lines_have_limits(void **state) {
    (void)state;
    StrBuf text = {0};
    StrView line;
    LineReader *reader;
    bool more = true;
    for (int i = 0; i < FILE_LINE_BYTES; i++) strbuf_add_char(&text, 'x');
    strbuf_add(&text, SV("\ny\n"));
    put_plain(in_folder("wide"), text.data, text.length);
    assert_int_equal(line_reader_open(&reader, in_folder("wide")), STATUS_OK);
    assert_next(reader, text.data, FILE_LINE_BYTES);
    assert_next(reader, "y", 1);
    line_reader_close(reader);
    assert_int_equal(file_check_lines("wide", strbuf_view(&text)), STATUS_OK);
    text.data[FILE_LINE_BYTES] = 'x';
    put_plain(in_folder("wide"), text.data, text.length);
    assert_int_equal(line_reader_open(&reader, in_folder("wide")), STATUS_OK);
    assert_message(line_reader_next(reader, &line, &more), STATUS_DATA, "line 1 is longer than 64 MB");
    line_reader_close(reader);
    assert_message(file_check_lines("wide", strbuf_view(&text)), STATUS_DATA,
                   "'wide': line 1 is longer than 64 MB");
    memset(text.data, '\n', FILE_TEXT_LINES);
    text.length = FILE_TEXT_LINES;
    assert_int_equal(file_check_lines("many", strbuf_view(&text)), STATUS_OK);
    strbuf_add(&text, SV("y\n"));
    put_plain(in_folder("many"), text.data, text.length);
    assert_message(file_check_lines("many", strbuf_view(&text)), STATUS_DATA,
                   "has more than 4,000,000 lines");
    for (int kept = 0; kept < 2; kept++) {
        Status status = (kept ? line_reader_open_limited : line_reader_open)(&reader, in_folder("many"));
        for (more = true; status == STATUS_OK && more;) status = line_reader_next(reader, &line, &more);
        assert_int_equal(status, kept ? STATUS_DATA : STATUS_OK);
        assert_int_equal(line_reader_number(reader), FILE_TEXT_LINES + !kept);
        line_reader_close(reader);
    }
    strbuf_free(&text);
}

/* With and without a byte-order mark, little and big endian. In Chinese only the line ends have zero
 * bytes. */
static void lines_are_not_of_utf16(void **state) {
    (void)state;
    static const struct {
        const char *start;
        size_t bytes;
        bool refused;
    } CASES[] = {
        {"\xFF\xFEg\0o\0\n\0", 8, true},
        {"\xFE\xFF\0g\0o\0\n", 8, true},
        {"g\0o\0\n\0", 6, true},
        {"\0g\0o\0\n", 6, true},
        {"\xFF\xFE\x60\x4F\x7D\x59\n\0", 8, true},
        {"\xFE\xFF\x4F\x60\x59\x7D", 6, true},
        {"\xFF\xFEg\n", 4, false},
        {"g\0go\n", 5, false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *path = in_folder("utf16");
        LineReader *reader;
        StrView line;
        bool more;
        put_plain(path, CASES[i].start, CASES[i].bytes);
        assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
        Status status = line_reader_next(reader, &line, &more);
        if (CASES[i].refused)
            assert_message(status, STATUS_DATA, "is UTF-16, not UTF-8");
        else
            assert_int_equal(status, STATUS_OK);
        line_reader_close(reader);
    }
}

/* NUL bytes and invalid UTF-8 are refused with the line number, in whole files and line by line. */
static void texts_are_utf8_without_nul(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        const char *message; /* or NULL, then the text is "one\ntwo\n" */
    } CASES[] = {
        {"one\ntwo\n", 8, NULL},
        {"\xEF\xBB\xBFone\ntwo\n", 11, NULL},
        {"one\n\0\n", 6, "line 2: a NUL byte"},
        {"one\0more\ntwo\n", 13, "line 1: a NUL byte"},
        {"one\ntwo\0", 8, "line 2: a NUL byte"},
        {"one\n\xFF\n", 6, "line 2: not UTF-8"},
        {"\xFF\xFEo\0n\0e\0", 8, "is UTF-16, not UTF-8"},
        {"o\0n\0e\0\n\0", 8, "is UTF-16, not UTF-8"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const char *path = in_folder("text");
        StrBuf whole = {0}, joined = {0};
        LineReader *reader;
        StrView line;
        bool more = true;
        put_plain(path, CASES[i].text, CASES[i].bytes);
        Status status = file_read_text(path, 100, &whole);
        assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
        if (CASES[i].message) {
            assert_message(status, STATUS_DATA, CASES[i].message);
            while ((status = line_reader_next_text(reader, &line, &more)) == STATUS_OK) assert_true(more);
            assert_message(status, STATUS_DATA, CASES[i].message);
        } else {
            assert_int_equal(status, STATUS_OK);
            while ((status = line_reader_next_text(reader, &line, &more)) == STATUS_OK && more)
                strbuf_format(&joined, "%.*s\n", SV_ARG(line));
            assert_int_equal(status, STATUS_OK);
            assert_string_equal(strbuf_text(&whole), "one\ntwo\n");
            assert_int_equal(whole.length, 8);
            assert_string_equal(strbuf_text(&joined), "one\ntwo\n");
        }
        line_reader_close(reader);
        strbuf_free(&whole);
        strbuf_free(&joined);
    }
}

/* A pipe as standard input. */
static void lines_come_from_slow_pipes(void **state) {
    (void)state;
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    LineReader *reader;
    assert_int_equal(line_reader_open(&reader, "-"), STATUS_OK);
    assert_string_equal(line_reader_path(reader), "standard input");
    assert_false(line_reader_ready(reader));
    assert_int_equal(write(ends[1], "hel", 3), 3);
    assert_false(line_reader_ready(reader));
    assert_int_equal(write(ends[1], "lo\nwor", 6), 6);
    assert_true(line_reader_ready(reader));
    assert_next(reader, "hello", 5); /* would hang if it waited for a full buffer */
    assert_false(line_reader_ready(reader));
    assert_int_equal(write(ends[1], "ld\nx\ny", 6), 6);
    assert_true(line_reader_ready(reader));
    assert_next(reader, "world", 5);
    assert_true(line_reader_ready(reader));
    assert_next(reader, "x", 1);
    assert_false(line_reader_ready(reader));
    close(ends[1]);
    assert_true(line_reader_ready(reader));
    assert_next(reader, "y", 1);
    assert_no_more(reader);
    line_reader_close(reader);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

static void lines_come_from_slow_gzip(void **state) {
    (void)state;
    const char *path = in_folder("slow.gz");
    put_gzip(path, "wb", "one\ntwo\n", 8);
    put_gzip(path, "ab", "three", 5);
    char packed[200];
    FILE *file = fopen(path, "rb");
    size_t length = fread(packed, 1, sizeof packed, file);
    fclose(file);
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    LineReader *reader;
    assert_int_equal(line_reader_open(&reader, "-"), STATUS_OK);
    static const char *const LINES[] = {"one", "two"};
    int lines = 0;
    for (size_t i = 0; i < length; i++) { /* byte by byte, also between the two bytes of the magic number */
        assert_int_equal(write(ends[1], packed + i, 1), 1);
        while (lines < 2 && line_reader_ready(reader)) assert_next(reader, LINES[lines++], 3);
        if (lines == 2) assert_false(line_reader_ready(reader));
    }
    assert_int_equal(lines, 2);
    close(ends[1]);
    assert_next(reader, "three", 5);
    assert_no_more(reader);
    line_reader_close(reader);
    dup2(kept, STDIN_FILENO);
    close(kept);
}

/* The data fill the buffer to its last byte; the checksum has not arrived yet. */
static void lines_end_before_their_checksum(void **state) {
    (void)state;
    enum { LINES = 65536 / 8, CHECKSUM = 8 };
    const char *path = in_folder("full.gz");
    StrBuf text = {0}, packed = {0};
    for (int i = 0; i < LINES; i++) strbuf_format(&text, "%07d\n", i);
    put_gzip(path, "wb", text.data, text.length);
    FILE *file = fopen(path, "rb");
    for (int c; (c = fgetc(file)) != EOF;) strbuf_add_char(&packed, (char)c);
    fclose(file);
    int ends[2], kept = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    LineReader *reader;
    assert_int_equal(line_reader_open(&reader, "-"), STATUS_OK);
    size_t first = packed.length - CHECKSUM;
    assert_int_equal(write(ends[1], packed.data, first), first);
    for (size_t i = 0; i < LINES; i++) {
        assert_true(line_reader_ready(reader));
        assert_next(reader, text.data + 8 * i, 7);
    }
    assert_false(line_reader_ready(reader));
    assert_int_equal(write(ends[1], packed.data + first, CHECKSUM), CHECKSUM);
    close(ends[1]);
    assert_no_more(reader);
    line_reader_close(reader);
    dup2(kept, STDIN_FILENO);
    close(kept);
    strbuf_free(&text);
    strbuf_free(&packed);
}

static void lines_report_damage_found_ahead(void **state) {
    (void)state;
    const char *path = in_folder("ahead.gz");
    put_gzip(path, "wb", "one\n", 4);
    FILE *file = fopen(path, "ab");
    fputs("junk", file);
    fclose(file);
    LineReader *reader;
    StrView line;
    bool more;
    assert_int_equal(line_reader_open(&reader, path), STATUS_OK);
    assert_next(reader, "one", 3);
    assert_true(line_reader_ready(reader));
    status_fail(STATUS_RUNTIME, "something else");
    assert_message(line_reader_next(reader, &line, &more), STATUS_DATA, "other bytes follow");
    assert_false(more);
    line_reader_close(reader);
}

static void knows_the_same_file(void **state) {
    (void)state;
    char one[256], other[256], link[256];
    strcpy(one, in_folder("one"));
    strcpy(other, in_folder("other"));
    strcpy(link, in_folder("link"));
    put_plain(one, "x", 1);
    put_plain(other, "x", 1);
    assert_int_equal(symlink(one, link), 0);
    assert_true(file_is_same(one, link));
    assert_false(file_is_same(one, other));
    assert_false(file_is_same(one, "/dev/null"));
    assert_false(file_is_same(one, "/no/such/file"));
    assert_false(file_is_same("/no/such/file", one));
    assert_int_equal(unlink(link), 0);
}

static void makes_folders(void **state) {
    (void)state;
    assert_int_equal(file_make_dirs(in_folder("d/e//f/"), NULL), STATUS_OK);
    assert_true(file_exists(in_folder("d/e/f")));
    assert_int_equal(file_make_dirs(in_folder("d/e"), NULL), STATUS_OK);
    assert_int_equal(file_make_dirs("/", NULL), STATUS_OK);
    put_plain(in_folder("plain"), "x", 1);
    assert_message(file_make_dirs(in_folder("plain/x"), NULL), STATUS_RUNTIME, "plain");
    assert_message(file_make_dirs(in_folder("plain"), NULL), STATUS_RUNTIME, "a file has that name");
    assert_false(file_exists(in_folder("nowhere")));
    assert_int_equal(rmdir(in_folder("d/e/f")) | rmdir(in_folder("d/e")) | rmdir(in_folder("d")), 0);
}

static void commit_replaces_and_discard_keeps(void **state) {
    (void)state;
    const char *path = in_folder("out");
    put_plain(path, "old", 3);
    assert_int_equal(chmod(path, 0640), 0);
    int before = entries_in_folder();
    OutFile *file;
    assert_int_equal(file_create(&file, path), STATUS_OK);
    assert_int_equal(file_write(file, "new ", 4), STATUS_OK);
    assert_content(path, "old", 3);
    assert_int_equal(file_write(file, "42 ", 3), STATUS_OK);
    assert_int_equal(file_write(file, "stream end", 10), STATUS_OK);
    assert_int_equal(entries_in_folder(), before + 1);
    assert_int_equal(file_commit(file), STATUS_OK);
    assert_content(path, "new 42 stream end", 17);
    struct stat about;
    assert_int_equal(stat(path, &about), 0);
    assert_int_equal(about.st_mode & 0777, 0640);
    assert_int_equal(entries_in_folder(), before);
    assert_int_equal(file_create(&file, path), STATUS_OK);
    assert_int_equal(file_write(file, "never seen", 10), STATUS_OK);
    file_discard(file);
    file_discard(NULL);
    assert_content(path, "new 42 stream end", 17);
    assert_int_equal(entries_in_folder(), before);
}

static void writes_much_in_any_pieces(void **state) {
    (void)state;
    enum { SIZE = 1000000 };
    char *data = noise(SIZE);
    const char *path = in_folder("much");
    OutFile *file;
    assert_int_equal(file_create(&file, path), STATUS_OK);
    for (size_t at = 0, step = 1; at < SIZE; at += step, step = step * 3 % 200003) {
        if (step > SIZE - at) step = SIZE - at;
        assert_int_equal(file_write(file, data + at, step), STATUS_OK);
    }
    char *text = mem_alloc(5001, 1);
    memset(text, 't', 5000);
    assert_int_equal(file_write(file, text, 5000), STATUS_OK);
    assert_int_equal(file_commit(file), STATUS_OK);
    StrBuf content = {0};
    assert_int_equal(file_read(path, 0, &content), STATUS_OK);
    assert_int_equal(content.length, SIZE + 5000);
    assert_memory_equal(content.data, data, SIZE);
    assert_memory_equal(content.data + SIZE, text, 5000);
    strbuf_free(&content);
    mem_free(text);
    mem_free(data);
}

static void puts_whole_files(void **state) {
    (void)state;
    const char *path = in_folder("put");
    int before = entries_in_folder();
    assert_int_equal(file_write_whole(path, SV("first")), STATUS_OK);
    assert_content(path, "first", 5);
    assert_int_equal(file_write_whole(path, (StrView){0}), STATUS_OK);
    assert_content(path, "", 0);
    assert_int_equal(entries_in_folder(), before + 1);
    assert_message(file_write_whole(in_folder("no/such"), SV("x")), STATUS_RUNTIME, "no/such': No such file");
    if (access("/dev/full", W_OK) == 0)
        assert_message(file_write_whole("/dev/full", SV("x")), STATUS_RUNTIME,
                       "cannot write '/dev/full': No space left");
    assert_int_equal(unlink(path), 0);
}

static void refuses_impossible_targets(void **state) {
    (void)state;
    OutFile *file = NULL;
    int before = entries_in_folder();
    assert_message(file_create(&file, in_folder("no/such")), STATUS_RUNTIME, "no/such': No such file");
    assert_string_equal(status_hint_text(), "create the folder first");
    assert_message(file_create(&file, folder), STATUS_RUNTIME, "Is a directory");
    assert_message(file_create(&file, ""), STATUS_RUNTIME, "cannot create ''");
    assert_int_equal(symlink("nothing", in_folder("dangling")), 0);
    assert_message(file_create(&file, in_folder("dangling")), STATUS_RUNTIME, "dangling': No such file");
    unlink(in_folder("dangling"));
    char long_path[5000];
    memset(long_path, 'p', sizeof long_path - 1);
    long_path[sizeof long_path - 1] = '\0';
    assert_message(file_create(&file, long_path), STATUS_RUNTIME, "File name too long");
    assert_null(file);
    assert_int_equal(entries_in_folder(), before);
}

/* The name of the temporary file would be even longer. */
static void names_may_be_as_long_as_the_system_allows(void **state) {
    (void)state;
    enum { LONGEST = 255 };
    int before = entries_in_folder();
    char path[sizeof folder + LONGEST + 1];
    size_t start = strlen(in_folder(""));
    strcpy(path, in_folder(""));
    memset(path + start, 'n', LONGEST);
    path[start + LONGEST] = '\0';
    assert_int_equal(file_write_whole(path, SV("first")), STATUS_OK);
    assert_int_equal(file_write_whole(path, SV("second")), STATUS_OK);
    assert_content(path, "second", 6);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(entries_in_folder(), before);
}

static void follows_links(void **state) {
    (void)state;
    put_plain(in_folder("real"), "old", 3);
    assert_int_equal(symlink("real", in_folder("link")), 0);
    OutFile *file;
    assert_int_equal(file_create(&file, in_folder("link")), STATUS_OK);
    assert_int_equal(file_write(file, "new", 3), STATUS_OK);
    assert_int_equal(file_commit(file), STATUS_OK);
    assert_content(in_folder("real"), "new", 3);
    struct stat about;
    assert_int_equal(lstat(in_folder("link"), &about), 0);
    assert_true(S_ISLNK(about.st_mode));
    unlink(in_folder("link"));
}

static void *read_fifo(void *path) {
    StrBuf *content = mem_alloc(1, sizeof *content);
    if (file_read(path, 0, content) != STATUS_OK) strbuf_clear(content);
    return content;
}

static void writes_to_what_is_no_file(void **state) {
    (void)state;
    OutFile *file;
    assert_int_equal(file_create(&file, "/dev/null"), STATUS_OK);
    assert_int_equal(file_write(file, "x", 1), STATUS_OK);
    assert_int_equal(file_commit(file), STATUS_OK);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(file_create(&file, "/dev/full"), STATUS_OK);
        assert_int_equal(file_write(file, "x", 1), STATUS_OK);
        assert_message(file_commit(file), STATUS_RUNTIME, "cannot write '/dev/full': No space left");
    }
    const char *path = in_folder("fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, read_fifo, (void *)path), 0);
    assert_int_equal(file_create(&file, path), STATUS_OK);
    assert_int_equal(file_write(file, "through", 7), STATUS_OK);
    assert_int_equal(file_commit(file), STATUS_OK);
    void *result;
    pthread_join(thread, &result);
    StrBuf *content = result;
    assert_string_equal(strbuf_text(content), "through");
    strbuf_free(content);
    mem_free(content);
    unlink(path);
}

/* Standard output that is a file keeps its position, and stays open. */
static void dash_is_standard_output(void **state) {
    (void)state;
    fflush(stdout);
    int kept = dup(STDOUT_FILENO);
    int target = open(in_folder("stdout"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(target, STDOUT_FILENO);
    close(target);
    Status status = file_write_whole("-", SV("part 0\n"));
    if (status == STATUS_OK) status = file_write_whole("/dev/stdout", SV("part 1\n"));
    dup2(kept, STDOUT_FILENO);
    close(kept);
    assert_int_equal(status, STATUS_OK);
    assert_content(in_folder("stdout"), "part 0\npart 1\n", 14);
}

static void removes_what_dead_programs_left(void **state) {
    (void)state;
    put_plain(in_folder(".m.safetensors.123-0.tmp"), "dead", 4);
    put_plain(in_folder(".m.safetensors.124-0.tmp"), "alive", 5);
    put_plain(in_folder(".other.125-0.tmp"), "other", 5);
    int alive = open(in_folder(".m.safetensors.124-0.tmp"), O_RDWR);
    assert_int_equal(flock(alive, LOCK_EX), 0);
    OutFile *first, *second;
    assert_int_equal(file_create(&first, in_folder("m.safetensors")), STATUS_OK);
    assert_int_equal(file_create(&second, in_folder("m.safetensors")), STATUS_OK); /* the first one stays */
    assert_int_equal(file_write(first, "1", 1), STATUS_OK);
    assert_int_equal(file_write(second, "2", 1), STATUS_OK);
    assert_false(file_exists(in_folder(".m.safetensors.123-0.tmp")));
    assert_true(file_exists(in_folder(".m.safetensors.124-0.tmp")));
    assert_true(file_exists(in_folder(".other.125-0.tmp")));
    assert_int_equal(file_commit(first), STATUS_OK);
    assert_content(in_folder("m.safetensors"), "1", 1);
    assert_int_equal(file_commit(second), STATUS_OK);
    assert_content(in_folder("m.safetensors"), "2", 1);
    close(alive);
    unlink(in_folder(".m.safetensors.124-0.tmp"));
    unlink(in_folder(".other.125-0.tmp"));
}

static void discard_all_removes_temporaries(void **state) {
    (void)state;
    int before = entries_in_folder();
    OutFile *a, *b;
    assert_int_equal(file_create(&a, in_folder("a")), STATUS_OK);
    assert_int_equal(file_create(&b, in_folder("b")), STATUS_OK);
    assert_int_equal(entries_in_folder(), before + 2);
    file_discard_all();
    assert_int_equal(entries_in_folder(), before);
    file_discard(a);
    assert_message(file_commit(b), STATUS_RUNTIME, "cannot write");
    assert_int_equal(entries_in_folder(), before);
}

static void check_deflate(const char *data, size_t bytes, size_t most) {
    StrBuf out = {0};
    char *back = mem_alloc(bytes + 1, 1);
    uLongf size = (uLongf)bytes + 1;
    strbuf_add(&out, SV("before"));
    deflate_add((StrView){data, bytes}, &out);
    assert_true(out.length <= most + 6);
    assert_memory_equal(out.data, "before", 6);
    assert_int_equal(uncompress((Bytef *)back, &size, (Bytef *)out.data + 6, (uLong)out.length - 6), Z_OK);
    assert_int_equal(size, bytes);
    assert_memory_equal(back, data, bytes);
    mem_free(back);
    strbuf_free(&out);
}

static void deflates(void **state) {
    (void)state;
    static char noise[5000];
    unsigned number = 1;
    for (size_t i = 0; i < sizeof noise; i++, number = number * 1664525 + 1013904223)
        noise[i] = (char)(number >> 24);
    check_deflate("", 0, 16);
    check_deflate("a", 1, 16);
    check_deflate((char[10000]){0}, 10000, 50);
    check_deflate(noise, sizeof noise, sizeof noise + 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_files),
        cmocka_unit_test(obeys_the_limit),
        cmocka_unit_test(reads_gzip_members_in_a_row),
        cmocka_unit_test(finds_damaged_gzip),
        cmocka_unit_test(names_files_it_cannot_read),
        cmocka_unit_test(lines_end_at_line_feeds_only),
        cmocka_unit_test(lines_lose_returns_and_mark),
        cmocka_unit_test(lines_may_be_long),
        cmocka_unit_test(lines_have_limits),
        cmocka_unit_test(lines_are_not_of_utf16),
        cmocka_unit_test(texts_are_utf8_without_nul),
        cmocka_unit_test(lines_come_from_slow_pipes),
        cmocka_unit_test(lines_come_from_slow_gzip),
        cmocka_unit_test(lines_end_before_their_checksum),
        cmocka_unit_test(lines_report_damage_found_ahead),
        cmocka_unit_test(knows_the_same_file),
        cmocka_unit_test(makes_folders),
        cmocka_unit_test(commit_replaces_and_discard_keeps),
        cmocka_unit_test(writes_much_in_any_pieces),
        cmocka_unit_test(puts_whole_files),
        cmocka_unit_test(refuses_impossible_targets),
        cmocka_unit_test(names_may_be_as_long_as_the_system_allows),
        cmocka_unit_test(follows_links),
        cmocka_unit_test(writes_to_what_is_no_file),
        cmocka_unit_test(dash_is_standard_output),
        cmocka_unit_test(removes_what_dead_programs_left),
        cmocka_unit_test(discard_all_removes_temporaries),
        cmocka_unit_test(deflates),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
