/* csv.c - rows as spreadsheets write them, and which files have them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "formats/csv.h"
#include "unit/text_fixture.h"

/* The rows with their lines, "1:a|b;2:c|d;"; an error as "3:MESSAGE". */
static void check_rows(const char *text, char separator, const char *expected) {
    LineReader *bytes;
    StrBuf row = {0}, shown = {0};
    bool more = true;
    long line;
    assert_int_equal(line_reader_open(&bytes, fixture_write("a.csv", text, strlen(text))), STATUS_OK);
    CsvReader *reader = csv_open(bytes, separator);
    Status status = csv_next(reader, &row, &line, &more);
    for (; status == STATUS_OK && more; status = csv_next(reader, &row, &line, &more)) {
        strbuf_format(&shown, "%ld:", line);
        for (size_t i = 0; i < row.length; i++)
            strbuf_add_char(&shown, row.data[i] == '\t' ? '|' : row.data[i]);
        strbuf_add(&shown, SV(";"));
    }
    if (status != STATUS_OK) strbuf_format(&shown, "%d:%s", status, strstr(status_message(), ": ") + 2);
    assert_string_equal(strbuf_text(&shown), expected);
    strbuf_free(&shown);
    strbuf_free(&row);
    csv_close(reader);
    line_reader_close(bytes);
}

static void test_rows(void **state) {
    (void)state;
    check_rows("a,b\nc,d", ',', "1:a|b;2:c|d;");
    check_rows("\xEF\xBB\xBF"
               "a;b\r\n;\r\nc;d\r\n",
               ';', "1:a|b;2:|;3:c|d;");
    check_rows("\"a,\"\"b\"\"\",c\n", ',', "1:a,\"b\"|c;");
    check_rows("\"a\r\nb\",\"c\td\\\"\nnext,row\n", ',', "1:a\\nb|c\\td\\\\;3:next|row;");
    check_rows("a\t\"b\nc\"\n\n\nd\te\n", '\t', "1:a|b\\nc;5:d|e;");
    check_rows("a,b\rc,d\r", ',', "1:a|b;2:c|d;"); /* old Macs */
    check_rows("sep=;\r\na;b\n", ';', "2:a|b;");
    check_rows("say \"hi\",\"a\"b,\"\"\n", ',', "1:say \"hi\"|ab|;"); /* lenient */
    check_rows("", ',', "");
    check_rows("\n\n", ',', "");
    check_rows("a,\"b\nc\n", ',', "3:the quotes of a cell in line 1 do not end");
    check_rows("x,y\na,\"b", ',', "1:x|y;3:the quotes of a cell in line 2 do not end");
}

static void test_separators(void **state) {
    (void)state;
    static const struct {
        const char *text;
        char separator;
    } CASES[] = {
        {"en,de\nGo!,Los!\n", ','},
        {"id;English;German\n1;Go, now!;Los!\n", ';'},
        {"\"Go, now!\",\"Los, jetzt!\"\n", ','},
        {"Go!,Los!\nRun!,Lauf!\nStop!,Halt!\n", ','},
        {"Go!;Los, jetzt!\nRun!;Lauf!\nStop!;Halt!\n", ';'},
        {"\"a \"\"b\"\"\"\tc\nd\te\n", '\t'},
        {"en\tde\n\"a\nb\"\tc\n", '\t'},
        {"sep=,\nx,y\n", ','},
        {"", 0},
        {"Go!\tLos!\n", 0},
        {"\"Go!\"\t\"Los!\"\n", 0},                /* quotes of speech */
        {"\"a \"\"b\"\"\"\tc\nsay \"d\"\te\n", 0}, /* no spreadsheet writes the second line */
        {"Go, now!\nRun.\nStop.\n", 0},
        {"Go,\nRun\n", 0},
        {"Yes, sir.\nNo, sir.\n", 0},    /* too few to tell */
        {"a,b\tc\nd,e\tf\ng,h\ti\n", 0}, /* a table whose texts have commas */
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (csv_separator(sv(CASES[i].text), true) != CASES[i].separator) fail_msg("case %zu", i);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows), cmocka_unit_test(test_separators)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
