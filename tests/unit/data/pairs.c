/* pairs.c - sentence pairs from files: every policy of pairs.h, with the counted report. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "data/pairs.h"
#include "unit/text_fixture.h"

#define WRITE(name, text) fixture_write(name, text, sizeof(text) - 1)

static DataOptions english_french(void) {
    return (DataOptions){.source = "en", .target = "fr", .columns = "en,fr"};
}

static PairReader *open_pairs(const DataOptions *options, const char *entry, const char *second) {
    char *items[2] = {(char *)entry, (char *)second};
    StrList entries = {items, second ? 2 : 1};
    PairReader *reader;
    if (pair_reader_open(&reader, &entries, options) != STATUS_OK) fail_msg("%s", status_message());
    return reader;
}

/* Write "source=target;" for each pair; returns how reading ended. */
static Status read_all(PairReader *reader, StrBuf *out) {
    for (;;) {
        StrView source, target;
        bool more;
        Status status = pair_reader_next(reader, &source, &target, &more);
        if (status != STATUS_OK || !more) return status;
        strbuf_format(out, "%.*s=%.*s;", SV_ARG(source), SV_ARG(target));
    }
}

/* The pairs and the report of a reader; the report has no folder names. */
static void check_reader(PairReader *reader, const char *pairs, const char *report) {
    StrBuf out = {0}, got = {0}, shown = {0};
    if (read_all(reader, &out) != STATUS_OK) fail_msg("%s", status_message());
    assert_string_equal(strbuf_text(&out), pairs);
    pair_reader_report(reader, &got);
    const char *folder = fixture_path("");
    for (const char *at = strbuf_text(&got); *at;) {
        bool here = strncmp(at, folder, strlen(folder)) == 0;
        if (!here) strbuf_add_char(&shown, *at);
        at += here ? strlen(folder) : 1;
    }
    assert_string_equal(strbuf_text(&shown), report);
    strbuf_free(&out);
    strbuf_free(&got);
    strbuf_free(&shown);
}

static void check_tsv_bytes(const void *data, size_t bytes, const char *pairs, const char *report) {
    DataOptions options = english_french();
    PairReader *reader = open_pairs(&options, fixture_write("a.tsv", data, bytes), NULL);
    check_reader(reader, pairs, report);
    pair_reader_rewind(reader); /* the same again */
    assert_int_equal(pair_reader_count(reader), 0);
    check_reader(reader, pairs, report);
    pair_reader_close(reader);
}

#define CHECK_TSV(data, pairs, report) check_tsv_bytes(data, sizeof(data) - 1, pairs, report)

static void test_plain(void **state) {
    (void)state;
    CHECK_TSV("go .\tva !\nhi .\tsalut !\n", "go .=va !;hi .=salut !;", "");
    CHECK_TSV("go .\tva !\nno line end\tpas de fin", "go .=va !;no line end=pas de fin;", "");
    CHECK_TSV("a\tb\tCC-BY 2.0\tmore\n", "a=b;", ""); /* further columns are ignored */
    CHECK_TSV(" a \t b \n", " a = b ;", "");          /* the reader keeps spaces that the tokenizer drops */
    /* Only '\n' ends a line. */
    CHECK_TSV("a\xE2\x80\xA8"
              "b\tc\xC2\x85"
              "d\x0B\x0C\n",
              "a\xE2\x80\xA8"
              "b=c\xC2\x85"
              "d\x0B\x0C;",
              "");
    /* No-break spaces stay. */
    CHECK_TSV("ok\xC2\xA0!\tva\xE2\x80\xAF!\n", "ok\xC2\xA0!=va\xE2\x80\xAF!;", "");
}

static void test_columns(void **state) {
    (void)state;
    const char *path = WRITE("cols.tsv", "7\tone\tun\teins\n8\ttwo\tdeux\n");
    DataOptions options = english_french();
    options.columns = "id, en ,fr,de";
    PairReader *reader = open_pairs(&options, path, NULL);
    check_reader(reader, "one=un;two=deux;", "");
    pair_reader_close(reader);
    options.source = "fr", options.target = "en"; /* the other direction */
    reader = open_pairs(&options, path, NULL);
    check_reader(reader, "un=one;deux=two;", "");
    pair_reader_close(reader);
    options.target = "de";
    reader = open_pairs(&options, path, NULL);
    check_reader(reader, "un=eins;",
                 "dropped 1 line without a TAB between the languages (cols.tsv: line 2)\n");
    pair_reader_close(reader);
    DataOptions reworded = {.source = "en", .target = "en", .columns = "-,en,-,en"};
    reader = open_pairs(&reworded, path, NULL);
    check_reader(reader, "one=eins;",
                 "dropped 1 line without a TAB between the languages (cols.tsv: line 2)\n");
    pair_reader_close(reader);
    WRITE("numbers.tsv", "7\t7\tone\n8\ttwo\tdeux\n");
    WRITE("plain.tsv", "a\tone\tun\teins\nb\ttwo\tdeux\n");
    static const char *const NOT_NAMED[] = {NULL, ""};
    for (int i = 0; i < 2; i++) {
        StrBuf out = {0};
        options.columns = (char *)NOT_NAMED[i];
        reader = open_pairs(&options, fixture_path("plain.tsv"), NULL);
        check_reader(reader, "a=one;b=two;", "");
        pair_reader_close(reader);
        reader = open_pairs(&options, fixture_path("cols.tsv"), NULL);
        assert_int_equal(read_all(reader, &out), STATUS_DATA); /* ids */
        assert_non_null(strstr(status_message(), "has 4 columns, and in line 1 the fr side is"));
        pair_reader_close(reader);
        reader = open_pairs(&options, fixture_path("numbers.tsv"), NULL);
        check_reader(reader, "7=7;8=two;", ""); /* no ids: both sides are a number */
        pair_reader_close(reader);
        reader = open_pairs(&options, fixture_path("cols.tsv"), NULL);
        pair_reader_allow_other_encodings(reader);
        check_reader(
            reader, "7=one;8=two;",
            "found a number for the source, and more columns than are read, in 1 file (cols.tsv: line 1)\n");
        pair_reader_close(reader);
        WRITE("words.tsv", "Nr\tWort\tmot\n8\ttwo\tdeux\n9\tthree\ttrois\n");
        reader = open_pairs(&options, fixture_path("words.tsv"), NULL);
        assert_int_equal(read_all(reader, &out), STATUS_DATA); /* ids below a header in unknown words */
        assert_non_null(strstr(status_message(), "has 3 columns, and in line 2 the fr side is the number 8"));
        pair_reader_close(reader);
        reader = open_pairs(&options, fixture_path("words.tsv"), NULL);
        pair_reader_allow_other_encodings(reader);
        check_reader(
            reader, "Nr=Wort;8=two;9=three;",
            "found a number for the source, and more columns than are read, in 1 file (words.tsv: line 2)\n");
        pair_reader_close(reader);
        strbuf_free(&out);
    }
}

/* A first line that names the two languages is not a pair. Later lines, and names of other languages, are. */
static void test_header(void **state) {
    (void)state;
    CHECK_TSV("en\tfr\na\tb\n", "a=b;", "left out 1 header line (a.tsv: line 1)\n");
    CHECK_TSV("English\tFRENCH\na\tb\n", "a=b;", "left out 1 header line (a.tsv: line 1)\n");
    CHECK_TSV("source\ttarget\na\tb\n", "a=b;", "left out 1 header line (a.tsv: line 1)\n");
    CHECK_TSV("a\tb\nen\tfr\n", "a=b;en=fr;", "");
    static const char OTHERS[] = "kept as a pair: 1 first line that names other languages (a.tsv: line 1)\n";
    CHECK_TSV("en\tde\na\tb\n", "en=de;a=b;", OTHERS);
    CHECK_TSV("source\tfr\na\tb\n", "source=fr;a=b;", OTHERS);
    CHECK_TSV("target\tsource\na\tb\n", "b=a;", "left out 1 header line (a.tsv: line 1)\n");
    CHECK_TSV("en\trouge\na\tb\n", "en=rouge;a=b;", "");
    CHECK_TSV("fr\trouge\na\tb\n", "fr=rouge;a=b;", "");
    CHECK_TSV("rouge\ten\na\tb\n", "rouge=en;a=b;", "");
    CHECK_TSV("7\tseven\na\tb\n", "7=seven;a=b;", ""); /* a first line without other columns */
    CHECK_TSV("\tb\tmore\na\tb\n", "a=b;", "dropped 1 pair with an empty side (a.tsv: line 1)\n");
}

static void check_fails_reading(const char *entry, Status expected, const char *message, const char *hint);

/* The first line comes before data.columns; ids show that other columns are meant. */
static void test_other_columns(void **state) {
    (void)state;
    static const char *const ORDERS[] = {"fr\ten\nb\ta\n", "key\ten\tfr\n1\ta\tb\n",
                                         "en\tkey\tfr\na\t1\tb\n"};
    for (size_t i = 0; i < sizeof ORDERS / sizeof *ORDERS; i++)
        check_tsv_bytes(ORDERS[i], strlen(ORDERS[i]), "a=b;", "left out 1 header line (a.tsv: line 1)\n");
    check_fails_reading(WRITE("c.tsv", "9\tone\tun\n"), STATUS_DATA,
                        "has 3 columns, and in line 1 the en side is the number 9", "data.columns=-,en,fr");
    check_fails_reading(WRITE("c.tsv", "9\tone\teins\tun\n"), STATUS_DATA, "has 4 columns",
                        "data.columns=-,en,-,fr");
}

/* Every pair is in one of the two parts; pairs with the same source are in the same part. */
static void test_held_out(void **state) {
    (void)state;
    StrBuf text = {0};
    for (int i = 0; i < 400; i++) /* a space at the end is not another source */
        strbuf_format(&text, "source %d%s\ttarget %d\n", i % 200, i < 200 ? "" : " ", i);
    DataOptions options = english_french();
    options.held_out = 0.25;
    PairReader *reader = open_pairs(&options, fixture_write("h.tsv", text.data, text.length), NULL);
    bool held_out[200] = {0};
    long count[3];
    for (int part = PAIRS_HELD_OUT; part >= PAIRS_ALL; part--) {
        StrView source, target;
        pair_reader_rewind(reader);
        pair_reader_set_range(reader, (PairSplit)part, options.limit);
        for (bool more = true; more;) {
            assert_int_equal(pair_reader_next(reader, &source, &target, &more), STATUS_OK);
            if (!more) break;
            int number = atoi(source.data + strlen("source "));
            if (part == PAIRS_HELD_OUT) held_out[number] = true;
            if (part == PAIRS_NOT_HELD_OUT) assert_false(held_out[number]);
        }
        count[part] = pair_reader_count(reader);
    }
    assert_int_equal(count[PAIRS_HELD_OUT] + count[PAIRS_NOT_HELD_OUT], 400);
    assert_int_equal(count[PAIRS_ALL], 400);
    assert_in_range(count[PAIRS_HELD_OUT], 70, 130);
    pair_reader_close(reader);
    options.limit = 100; /* of both parts */
    reader = open_pairs(&options, fixture_path("h.tsv"), NULL);
    StrBuf all = {0};
    for (int part = PAIRS_NOT_HELD_OUT; part <= PAIRS_HELD_OUT; part++) {
        pair_reader_rewind(reader);
        pair_reader_set_range(reader, (PairSplit)part, options.limit);
        assert_int_equal(read_all(reader, &all), STATUS_OK);
        count[part] = pair_reader_count(reader);
    }
    assert_int_equal(count[PAIRS_HELD_OUT] + count[PAIRS_NOT_HELD_OUT], 100);
    assert_in_range(count[PAIRS_HELD_OUT], 10, 40);
    strbuf_free(&all);
    pair_reader_close(reader);
    options.limit = 0;
    options.held_out = 1e-9;
    reader = open_pairs(&options, fixture_path("h.tsv"), NULL);
    pair_reader_set_range(reader, PAIRS_HELD_OUT, 0);
    StrBuf out = {0};
    assert_int_equal(read_all(reader, &out), STATUS_DATA);
    assert_non_null(strstr(status_message(), "is held out for validation"));
    assert_non_null(strstr(status_hint_text(), "raise data.held_out"));
    pair_reader_close(reader);
    options.held_out = 1;
    reader = open_pairs(&options, fixture_path("h.tsv"), NULL);
    pair_reader_set_range(reader, PAIRS_NOT_HELD_OUT, 0);
    assert_int_equal(read_all(reader, &out), STATUS_DATA);
    assert_non_null(strstr(status_message(), "every sentence pair"));
    assert_null(strstr(status_hint_text(), "Macs"));
    pair_reader_close(reader);
    reader = open_pairs(&options, WRITE("mac.tsv", "a\tb\rc\td\r"), NULL); /* the file is one line */
    pair_reader_set_range(reader, PAIRS_NOT_HELD_OUT, 0);
    assert_int_equal(read_all(reader, &out), STATUS_DATA);
    assert_non_null(strstr(status_hint_text(), "old Macs ended lines with carriage returns"));
    pair_reader_close(reader);
    strbuf_free(&text);
}

static void test_dropped(void **state) {
    (void)state;
    CHECK_TSV("\tb\na\t\na\tb\n \xC2\xA0\tb\na\t\t\n\n", "a=b;",
              "dropped 5 pairs with an empty side (a.tsv: lines 1, 2, 4, 5, 6)\n");
    CHECK_TSV("a\tb\nonly one side\n\xE3\x80\x80\n", "a=b;",
              "dropped 1 pair with an empty side (a.tsv: line 3)\n"
              "dropped 1 line without a TAB between the languages (a.tsv: line 2)\n");
    CHECK_TSV("\t\n\t\n\t\n\t\n\t\n\t\n\t\na\tb\n", "a=b;",
              "dropped 7 pairs with an empty side (a.tsv: lines 1, 2, 3, 4, 5, ...)\n");
}

static void test_repaired(void **state) {
    (void)state;
    CHECK_TSV("a\tb\rc\td\r", "a=b\rc;",
              "found carriage returns, the line ends of old Macs, inside of 1 pair (a.tsv: line 1)\n"
              "removed the carriage return from 1 line (a.tsv)\n");
    CHECK_TSV("a\rb\tc\nd\te\n", "a\rb=c;d=e;",
              "found carriage returns, the line ends of old Macs, inside of 1 pair (a.tsv: line 1)\n");
    CHECK_TSV("a\xFF"
              "b\tc\nd\te\xC3\nf\tg\n",
              "a\xEF\xBF\xBD"
              "b=c;d=e\xEF\xBF\xBD;f=g;",
              "repaired 2 pairs with invalid UTF-8 (a.tsv: lines 1, 2)\n");
    CHECK_TSV("a\0b\tc\0\n\0\td\n",
              "a\xEF\xBF\xBD"
              "b=c\xEF\xBF\xBD;\xEF\xBF\xBD=d;",
              "repaired 2 pairs with NUL bytes (a.tsv: lines 1, 2)\n");
    CHECK_TSV("a\tb\r\nc\td\r\ne\tf\n", "a=b;c=d;e=f;", "removed the carriage return from 2 lines (a.tsv)\n");
    CHECK_TSV("\xEF\xBB\xBF"
              "a\tb\nc\td\n",
              "a=b;c=d;", "removed the byte-order mark from 1 file (a.tsv)\n");
    CHECK_TSV("\xEF\xBB\xBF"
              "a\tb\r\n\r\n",
              "a=b;",
              "dropped 1 pair with an empty side (a.tsv: line 2)\n"
              "removed the carriage return from 2 lines (a.tsv)\n"
              "removed the byte-order mark from 1 file (a.tsv)\n");
}

static char *long_line(size_t source, size_t target, size_t *length) {
    char *line = mem_alloc(source + target + 8, 1);
    memset(line, 'x', source);
    line[source] = '\t';
    memset(line + source + 1, 'y', target);
    memcpy(line + source + 1 + target, "\na\tb\n", 5);
    *length = source + target + 6;
    return line;
}

/* Quoted fields with doubled quotes come from a spreadsheet. They are reported and not changed if other lines
 * contradict: no spreadsheet writes a quote into a field without quotes. */
static void test_quoted(void **state) {
    (void)state;
    static const char *const FINE[] = {"\"So.\"",        "\"a\" and \"b\"", "\"\"",
                                       "say \"\"hi\"\"", "\"a\"b\"",        "\"a\"\""};
    for (size_t i = 0; i < sizeof FINE / sizeof *FINE; i++) {
        char line[64], pair[64];
        int length = snprintf(line, sizeof line, "%s\tx\n", FINE[i]);
        snprintf(pair, sizeof pair, "%s=x;", FINE[i]);
        check_tsv_bytes(line, (size_t)length, pair, "");
    }
    CHECK_TSV(
        "a\tb \"c\"\nx\t\"the \"\"a\"\"\"\n\"\"\"\"\ty\n", "a=b \"c\";x=\"the \"\"a\"\"\";\"\"\"\"=y;",
        "found the quotes of a spreadsheet, as in \"say \"\"hi\"\"\", in 2 pairs (a.tsv: lines 2, 3)\n"
        "a model learns these quotes; to remove them: awk 'BEGIN {FS = OFS = \"\\t\"} {for (i = 1; i <= NF; "
        "i++) "
        "if ($i ~ /^\".*\"$/) {$i = substr($i, 2, length($i) - 2); gsub(/\"\"/, \"\\\"\", $i)} print}' FILE "
        "> NEW\n");
}

static void test_long_lines(void **state) {
    (void)state;
    static const struct {
        size_t source, target;
        bool kept;
    } sizes[] = {{PAIR_MAX_BYTES, 3, true},
                 {3, PAIR_MAX_BYTES, true},
                 {PAIR_MAX_BYTES + 1, 3, false},
                 {3, PAIR_MAX_BYTES + 1, false}};
    for (size_t i = 0; i < 4; i++) {
        size_t length;
        char *data = long_line(sizes[i].source, sizes[i].target, &length);
        DataOptions options = english_french();
        PairReader *reader = open_pairs(&options, fixture_write("long.tsv", data, length), NULL);
        StrBuf out = {0}, report = {0};
        assert_int_equal(read_all(reader, &out), STATUS_OK);
        assert_int_equal(pair_reader_count(reader), sizes[i].kept ? 2 : 1);
        assert_int_equal(out.length, 4 + (sizes[i].kept ? sizes[i].source + sizes[i].target + 2 : 0));
        pair_reader_report(reader, &report);
        if (sizes[i].kept)
            assert_int_equal(report.length, 0);
        else
            assert_non_null(strstr(report.data, "dropped 1 over-long pair (more than 1 MiB a side) ("));
        if (!sizes[i].kept) assert_non_null(strstr(report.data, "long.tsv: line 1)\n"));
        pair_reader_close(reader);
        strbuf_free(&out);
        strbuf_free(&report);
        mem_free(data);
    }
}

static void write_two(const char *english, const char *french) {
    fixture_write("t.en", english, strlen(english));
    fixture_write("t.fr", french, strlen(french));
}

static void test_two_files(void **state) {
    (void)state;
    DataOptions options = english_french();
    write_two("one\n\ntwo\r\nthree", "un\nx\ndeux\n\xEF\xBB\xBFtrois\n");
    PairReader *reader = open_pairs(&options, fixture_path("t.{}"), NULL);
    check_reader(
        reader, "one=un;two=deux;three=\xEF\xBB\xBFtrois;",
        "dropped 1 pair with an empty side (t.{}: line 2)\nremoved the carriage return from 1 line (t.{})\n");
    pair_reader_close(reader);
    options.source = "fr", options.target = "en";
    /* Both files have an issue, which is reported once. */
    write_two("one\r\n", "un\r\n");
    reader = open_pairs(&options, fixture_path("t.{}"), NULL);
    check_reader(reader, "un=one;", "removed the carriage return from 2 lines (t.{})\n");
    pair_reader_close(reader);
    write_two("one\tmore\n", "un\n"); /* a TAB is just white space here */
    reader = open_pairs(&options, fixture_path("t.{}"), NULL);
    check_reader(reader, "un=one\tmore;", "");
    pair_reader_close(reader);
    options.columns = "a,b"; /* columns are for TSV files only */
    write_two("en\n", "fr\n");
    reader = open_pairs(&options, fixture_path("t.{}"), NULL);
    check_reader(reader, "fr=en;", "");
    pair_reader_close(reader);
}

/* More than a tenth of the pairs have another encoding: the files are refused, or the pairs reported. */
static void test_other_encoding(void **state) {
    (void)state;
    static const struct {
        int bad, good;
        bool refused;
    } CASES[] = {{9, 0, false}, {10, 89, true}, {10, 90, false}};
    static const char ADVICE[] = "iconv -f ISO-8859-1";
    DataOptions options = english_french();
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        for (int tolerant = 0; tolerant < 2; tolerant++) {
            StrBuf text = {0}, out = {0}, report = {0};
            for (int line = 0; line < CASES[i].bad; line++) strbuf_add(&text, SV("\xE9t\xE9\ta\n"));
            for (int line = 0; line < CASES[i].good; line++) strbuf_add(&text, SV("a\tb\n"));
            PairReader *reader = open_pairs(&options, fixture_write("l.tsv", text.data, text.length), NULL);
            if (tolerant) pair_reader_allow_other_encodings(reader);
            bool refused = CASES[i].refused && !tolerant;
            assert_int_equal(read_all(reader, &out), refused ? STATUS_DATA : STATUS_OK);
            if (refused) assert_non_null(strstr(status_message(), "10 of 99 pairs are not UTF-8, the first"));
            if (refused) assert_non_null(strstr(status_hint_text(), ADVICE));
            pair_reader_report(reader, &report);
            assert_int_equal(strstr(strbuf_text(&report), ADVICE) != NULL, CASES[i].refused);
            pair_reader_close(reader);
            strbuf_free(&text);
            strbuf_free(&out);
            strbuf_free(&report);
        }
}

/* A TAB in a text would start another column; earlier text in the buffer does not change. */
static void test_join(void **state) {
    (void)state;
    StrBuf line = {0};
    strbuf_add(&line, SV("x\ty|"));
    pair_join(&line, SV("a\tb"), SV("\tc d\t"));
    assert_string_equal(strbuf_text(&line), "x\ty|a b\t c d ");
    strbuf_free(&line);
}

static void test_share(void **state) {
    (void)state;
    DataOptions options = english_french();
    write_two("one\ntwo\n", "un\ndeux\n");
    PairReader *reader = open_pairs(&options, fixture_path("t.{}"), NULL);
    StrView source, target;
    bool more = true;
    for (int round = 0; round < 2; round++) {
        for (int pair = 0; pair <= 2; pair++) {
            static const double SHARES[] = {0, 7. / 16, 1}; /* of the bytes of both files */
            assert_true(pair_reader_fraction(reader) == SHARES[pair]);
            assert_int_equal(pair_reader_next(reader, &source, &target, &more), STATUS_OK);
        }
        assert_false(more);
        assert_true(pair_reader_fraction(reader) == 1);
        pair_reader_rewind(reader);
    }
    for (int limit = 2; limit <= 3; limit++) { /* the limit or the end of the file comes first */
        pair_reader_rewind(reader);
        pair_reader_set_range(reader, PAIRS_ALL, limit);
        assert_int_equal(pair_reader_next(reader, &source, &target, &more), STATUS_OK);
        assert_true(pair_reader_fraction(reader) == (limit == 2 ? 1. / 2 : 7. / 16));
    }
    pair_reader_close(reader);
    reader = open_pairs(&options, WRITE("empty.tsv", ""), NULL);
    assert_true(pair_reader_fraction(reader) == 1);
    pair_reader_close(reader);
}

/* Issues of a whole file are also reported if only a part of it is read. */
static void test_limit_report(void **state) {
    (void)state;
    DataOptions options = english_french();
    PairReader *reader = open_pairs(&options,
                                    WRITE("a.tsv", "\xEF\xBB\xBF"
                                                   "a\tb\r\nc\td\r\ne\tf\r\n"),
                                    NULL);
    pair_reader_set_range(reader, PAIRS_ALL, 2);
    check_reader(reader, "a=b;c=d;",
                 "removed the carriage return from 2 lines (a.tsv)\n"
                 "removed the byte-order mark from 1 file (a.tsv)\n");
    pair_reader_close(reader);
}

/* A pattern stands for one file per side. */
static void test_pattern_of_one_name(void **state) {
    (void)state;
    DataOptions options = {.source = "en", .target = "en"};
    StrList entries = {0};
    PairReader *reader;
    WRITE("same.en", "a\n");
    strlist_add(&entries, sv(fixture_path("same.{}")));
    assert_int_equal(pair_reader_open(&reader, &entries, &options), STATUS_USAGE);
    assert_non_null(strstr(status_message(), "same.{}' is one file for both sides"));
    strlist_free(&entries);
}

/* {} may occur more than once, and files may be compressed. */
static void test_pattern_and_gzip(void **state) {
    (void)state;
    static const char *const languages[] = {"en", "fr"};
    static const char *const texts[] = {"one\ntwo\n", "un\ndeux\n"};
    for (int i = 0; i < 2; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s", languages[i]);
        assert_int_equal(file_make_dirs(fixture_path(name), NULL), STATUS_OK);
        snprintf(name, sizeof name, "%s/x.%s.gz", languages[i], languages[i]);
        gzFile file = gzopen(fixture_path(name), "wb");
        assert_non_null(file);
        assert_int_equal(gzwrite(file, texts[i], (unsigned)strlen(texts[i])), strlen(texts[i]));
        assert_int_equal(gzclose(file), Z_OK);
    }
    DataOptions options = english_french();
    PairReader *reader = open_pairs(&options, fixture_path("{}/x.{}.gz"), NULL);
    check_reader(reader, "one=un;two=deux;", "");
    pair_reader_close(reader);
}

static void test_several_entries(void **state) {
    (void)state;
    DataOptions options = english_french();
    write_two("one\n\n", "un\ny\n");
    char tsv[256];
    strcpy(tsv, WRITE("b.tsv", "a\tb\n\tb\nc\t\n"));
    PairReader *reader = open_pairs(&options, tsv, fixture_path("t.{}"));
    check_reader(reader, "a=b;one=un;",
                 "dropped 3 pairs with an empty side (b.tsv: lines 2, 3; t.{}: line 2)\n");
    pair_reader_close(reader);
    strcpy(tsv, WRITE("empty.tsv", ""));
    reader = open_pairs(&options, tsv, fixture_path("t.{}"));
    check_reader(reader, "one=un;",
                 "dropped 1 pair with an empty side (t.{}: line 2)\nfound 1 empty file (empty.tsv)\n");
    pair_reader_close(reader);
    strcpy(tsv, WRITE("b.tsv", "a\tb\n\tb\n"));
    write_two("one\r\n\n", "un\ny\n");
    reader = open_pairs(&options, tsv, fixture_path("t.{}"));
    check_reader(reader, "a=b;one=un;",
                 "dropped 2 pairs with an empty side (b.tsv: line 2; t.{}: line 2)\n"
                 "removed the carriage return from 1 line (t.{})\n"); /* not from b.tsv */
    pair_reader_close(reader);
    options.columns = "id,en,fr"; /* the last file does not have these columns */
    strcpy(tsv, WRITE("b.tsv", "1\ta\tb\n"));
    reader = open_pairs(&options, tsv, fixture_path("t.{}"));
    check_reader(reader, "a=b;one=un;",
                 "dropped 1 pair with an empty side (t.{}: line 2)\n"
                 "removed the carriage return from 1 line (t.{})\n");
    pair_reader_close(reader);
}

/* ---- errors that end the run ---- */

static void check_fails_reading(const char *entry, Status expected, const char *message, const char *hint) {
    DataOptions options = english_french();
    PairReader *reader = open_pairs(&options, entry, NULL);
    StrBuf out = {0};
    Status status = read_all(reader, &out);
    assert_int_equal(status, expected);
    if (!strstr(status_message(), message)) fail_msg("'%s' is not in '%s'", message, status_message());
    if (!strstr(status_hint_text(), hint)) fail_msg("'%s' is not in '%s'", hint, status_hint_text());
    pair_reader_close(reader);
    strbuf_free(&out);
}

static void test_line_counts_differ(void **state) {
    (void)state;
    static const char hint[] = "line n of one file must be the translation";
    write_two("1\n2\n3\n4\n5\n", "1\n2\n3\n");
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "t.en' has 5 lines but '", hint);
    assert_non_null(strstr(status_message(), "t.fr' has 3"));
    write_two("1\n2\n3", "1\n2\n3\n4");
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "t.en' has 3 lines but '", hint);
    assert_non_null(strstr(status_message(), "t.fr' has 4"));
    write_two("", "1\n");
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "t.en' has 0 lines but '", hint);
    assert_non_null(strstr(status_message(), "t.fr' has 1"));
    write_two("1\n", "1\n2\n");
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "t.en' has 1 line but '", hint);
    write_two("1\n\n", "1\n"); /* a blank line counts */
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "t.en' has 2 lines but '", hint);
    /* The longer file cannot be read to its end. */
    static char much[1 << 20], packed[1 << 16];
    for (size_t i = 0; i < sizeof much; i++) much[i] = (char)(i % 8 == 7 ? '\n' : 'a' + i * i % 23 * i % 26);
    gzFile file = gzopen(fixture_path("t.en"), "wb");
    assert_int_equal(gzwrite(file, much, sizeof much), sizeof much);
    assert_int_equal(gzclose(file), Z_OK);
    FILE *whole = fopen(fixture_path("t.en"), "rb");
    size_t bytes = fread(packed, 1, sizeof packed, whole);
    fclose(whole);
    fixture_write("t.en", packed, bytes - 20);
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "t.en': the gzip data is cut off", "");
}

static void test_nothing_usable(void **state) {
    (void)state;
    check_fails_reading(WRITE("e.tsv", ""), STATUS_DATA, "no usable sentence pair in '",
                        "found 1 empty file (");
    assert_string_equal(strstr(status_hint_text(), "e.tsv"), "e.tsv)"); /* the hint ends there */
    check_fails_reading(WRITE("e.tsv", "\n\n"), STATUS_DATA, "no usable sentence pair in '",
                        "dropped 2 pairs with an empty side (");
    check_fails_reading(WRITE("e.tsv", "a b\nc d\n"), STATUS_DATA, "no usable",
                        "dropped 2 lines without a TAB");
    check_fails_reading(fixture_path("e.tsv"), STATUS_DATA, "no usable", "'train.{}' with --languages en-fr");
    write_two("", "");
    check_fails_reading(fixture_path("t.{}"), STATUS_DATA, "no usable", "found 1 empty file");
    check_fails_reading(WRITE("e.tsv", "en\tfr\n"), STATUS_DATA, "no usable", "left out 1 header line (");
    DataOptions options = english_french();
    StrBuf out = {0};
    PairReader *reader = open_pairs(&options, fixture_path("e.tsv"), fixture_path("e.tsv"));
    assert_int_equal(read_all(reader, &out), STATUS_DATA);
    assert_non_null(strstr(status_message(), "e.tsv' and the other files"));
    pair_reader_close(reader);
    char wide[256];
    strcpy(wide, WRITE("wide.tsv", "1\ta\tx\tb\n"));
    options.columns = "id,en,-,fr";
    reader = open_pairs(&options, wide, WRITE("e.tsv", "c\td\n\ne\tf\n"));
    assert_int_equal(read_all(reader, &out), STATUS_DATA);
    assert_non_null(strstr(status_message(), "e.tsv', where columns 2 and 4 should be en and fr"));
    assert_non_null(strstr(status_hint_text(), "in one order"));
    pair_reader_close(reader);
    reader = open_pairs(&options, fixture_path("e.tsv"), NULL);
    assert_int_equal(read_all(reader, &out), STATUS_DATA);
    assert_non_null(strstr(status_message(), "e.tsv', where columns 2 and 4 should be en and fr"));
    pair_reader_close(reader);
    strbuf_clear(&out);
    reader = open_pairs(&options, WRITE("e.tsv", "c\td\n2\te\t\tf\n"), wide); /* some pairs are */
    assert_int_equal(read_all(reader, &out), STATUS_OK);
    assert_string_equal(strbuf_text(&out), "e=f;a=b;");
    pair_reader_close(reader);
    strbuf_free(&out);
}

static void check_fails_opening(const DataOptions *options, const char *entry, Status expected,
                                const char *message, const char *hint) {
    char *items[1] = {(char *)entry};
    StrList entries = {items, entry ? 1 : 0};
    PairReader *reader = (PairReader *)items;
    assert_int_equal(pair_reader_open(&reader, &entries, options), expected);
    assert_null(reader);
    if (!strstr(status_message(), message)) fail_msg("'%s' is not in '%s'", message, status_message());
    if (!strstr(status_hint_text(), hint)) fail_msg("'%s' is not in '%s'", hint, status_hint_text());
}

static void test_cannot_open(void **state) {
    (void)state;
    DataOptions options = english_french();
    check_fails_opening(&options, "/no/such/file.tsv", STATUS_RUNTIME, "cannot find '/no/such/file.tsv'",
                        "current folder");
    check_fails_opening(&options, "data/multi30k/nothing.{}.gz", STATUS_RUNTIME, "nothing.en.gz'",
                        "run 'scripts/get-data multi30k'");
    check_fails_opening(&options, "data/tatoeba/nothing.tsv", STATUS_RUNTIME, "nothing.tsv'",
                        "run 'scripts/get-data tatoeba'");
    WRITE("half.en", "a\n");
    check_fails_opening(&options, fixture_path("half.{}"), STATUS_RUNTIME, "half.fr'",
                        "both files are needed");
    check_fails_opening(&options, NULL, STATUS_USAGE, "no files of sentence pairs", "data.train");
    check_fails_opening(&options, "-", STATUS_USAGE, "standard input", "give a file");
    options.target = "de";
    check_fails_opening(&options, WRITE("a.tsv", "a\tb\n"), STATUS_USAGE,
                        "language 'de' is not one of the columns 'en,fr'", "--languages");
    options = (DataOptions){.source = "de", .target = "fr", .columns = "en,fr"};
    check_fails_opening(&options, fixture_path("a.tsv"), STATUS_USAGE, "language 'de' is not one of", "");
    static char *const names[][2] = {{NULL, "fr"}, {"", "fr"}, {"en", NULL}, {"en", ""}};
    for (int i = 0; i < 4; i++) {
        options = (DataOptions){.source = names[i][0], .target = names[i][1]};
        check_fails_opening(&options, fixture_path("a.tsv"), STATUS_USAGE, "must name the languages", "");
    }
    /* A folder: found, but it cannot be read. */
    options = english_french();
    assert_int_equal(file_make_dirs(fixture_path("folder"), NULL), STATUS_OK);
    char *items[1] = {(char *)fixture_path("folder")};
    StrList entries = {items, 1};
    PairReader *reader;
    StrBuf out = {0};
    assert_int_equal(pair_reader_open(&reader, &entries, &options), STATUS_OK);
    assert_int_equal(read_all(reader, &out), STATUS_RUNTIME);
    pair_reader_close(reader);
    pair_reader_close(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_other_columns),
        cmocka_unit_test(test_held_out),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_repaired),
        cmocka_unit_test(test_quoted),
        cmocka_unit_test(test_long_lines),
        cmocka_unit_test(test_two_files),
        cmocka_unit_test(test_other_encoding),
        cmocka_unit_test(test_join),
        cmocka_unit_test(test_share),
        cmocka_unit_test(test_limit_report),
        cmocka_unit_test(test_pattern_of_one_name),
        cmocka_unit_test(test_pattern_and_gzip),
        cmocka_unit_test(test_several_entries),
        cmocka_unit_test(test_line_counts_differ),
        cmocka_unit_test(test_nothing_usable),
        cmocka_unit_test(test_cannot_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
