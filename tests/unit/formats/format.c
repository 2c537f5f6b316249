/* format.c - the format of a file, by its first bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "formats/format.h"

#define TEXT(text)                                                                                           \
    { text, sizeof(text) - 1 }

static void test_formats(void **state) {
    (void)state;
    static const struct {
        StrView sample;
        FormatKind kind;
        const char *name; /* or NULL */
    } CASES[] = {
        {TEXT(""), FORMAT_TABLE, NULL},
        {TEXT("Go!\tLos!\n"), FORMAT_TABLE, NULL},
        {TEXT("<b>Go!</b>\t<b>Los!</b>\n"), FORMAT_TABLE, NULL},
        {TEXT("{name}\t{name}\n"), FORMAT_TABLE, NULL},
        {TEXT("[Music]\t[Musik]\n"), FORMAT_TABLE, NULL},
        {TEXT("{\n"), FORMAT_TABLE, NULL},
        {TEXT("# a comment\nmsgid\tno\n"), FORMAT_TABLE, NULL},
        {TEXT("\"a\",\"b\"\tc\n\"d\"\te\n"), FORMAT_TABLE, NULL},
        {TEXT("One sentence.\nAnother one, with a comma.\nThe last.\n"), FORMAT_TABLE, NULL},
        {TEXT("\xFF\xFEG\0o\0,\0a\0\n\0"), FORMAT_TABLE, NULL}, /* refused by the reader of lines */
        {TEXT("<?xml version=\"1.0\"?>\n<!DOCTYPE tmx SYSTEM \"tmx14.dtd\" [<!ELEMENT a (b)>]>\n<tmx v"),
         FORMAT_TMX, NULL},
        {TEXT("\xEF\xBB\xBF<tmx version=\"1.4\">"), FORMAT_TMX, NULL},
        {TEXT("\xFF\xFE<\0t\0m\0x\0>\0"), FORMAT_TMX, NULL},
        {TEXT("<!-- <html> --><x:xliff a='1'>"), FORMAT_XLIFF, NULL},
        {TEXT("# comment\n\nmsgid \"\"\nmsgstr \"\"\n"), FORMAT_PO, NULL},
        {TEXT("msgctxt \"a\"\nmsgid \"b\"\n"), FORMAT_PO, NULL},
        {TEXT("{\"en\": \"Go!\", \"de\": \"Los!\"}\n"), FORMAT_JSON_LINES, NULL},
        {TEXT("{\"en\":\t\"Go!\"}\n"), FORMAT_JSON_LINES, NULL},
        {TEXT("en,de\nGo!,Los!\n"), FORMAT_CSV, NULL},
        {TEXT("sep=;\na;b\n"), FORMAT_CSV, NULL},
        {TEXT("<!DOCTYPE HTML><title>"), FORMAT_OTHER, "a web page (HTML)"},
        {TEXT("<?xml version='1.0'?><html xmlns='x'>"), FORMAT_OTHER, "a web page (HTML)"},
        {TEXT("<?xml version='1.0'?><!DOCTYPE TS><TS>"), FORMAT_OTHER, "a file of Qt Linguist"},
        {TEXT("<?xml version='1.0'?><other/>"), FORMAT_OTHER, "XML, and neither TMX nor XLIFF"},
        {TEXT("<?xml version='1.0'?>"), FORMAT_OTHER, "XML, and neither TMX nor XLIFF"},
        {TEXT("PK\3\4....xl/workbook"), FORMAT_OTHER, "an Excel file"},
        {TEXT("PK\3\4....word/document"), FORMAT_OTHER, "a Word file"},
        {TEXT("PK\3\4mimetypeapplication/vnd.oasis.opendocument.text"), FORMAT_OTHER, "an OpenDocument file"},
        {TEXT("PK\3\4...."), FORMAT_OTHER, "a zip file"},
        {TEXT("%PDF-1.7\n"), FORMAT_OTHER, "a PDF file"},
        {TEXT("SQLite format 3\0.."), FORMAT_OTHER, "an SQLite database"},
        {TEXT("\336\022\004\225...."), FORMAT_OTHER, "a compiled catalogue of gettext (MO)"},
        {TEXT("[\n  {\"en\": \"Go!\"}\n]\n"), FORMAT_OTHER, "JSON, and not one object a line"},
        {TEXT("{\n  \"title\": \"Go!\"\n}\n"), FORMAT_OTHER, "JSON, and not one object a line"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Format format = format_detect(CASES[i].sample, true);
        if (format.kind != CASES[i].kind) fail_msg("case %zu: %d", i, format.kind);
        if (!CASES[i].name) continue;
        assert_string_equal(format.name, CASES[i].name);
        assert_int_equal(format_refuse(&format, "file"), STATUS_DATA);
        assert_non_null(strstr(status_message(), CASES[i].name));
        assert_true(strlen(status_hint_text()) > 10);
    }
}

/* One line as of a pipe, or a part of it, is not a file of another kind. */
static void test_every_prefix(void **state) {
    (void)state;
    static const char TMX[] =
        "<?xml version=\"1.0\"?><!DOCTYPE tmx SYSTEM \"a\" [ ]><!-- --><tmx version=\"1.4\"/>";
    for (size_t length = 0; length < sizeof TMX; length++) format_detect((StrView){TMX, length}, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_formats), cmocka_unit_test(test_every_prefix)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
