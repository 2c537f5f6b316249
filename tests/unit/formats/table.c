/* table.c - pairs of all formats as lines of one table, and damaged files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>
#include "formats/table.h"
#include "unit/text_fixture.h"

/* "LINE:SOURCE|TARGET;" for each line; an error as "!MESSAGE" without the path. */
static void read_table(const char *text, size_t bytes, const char *source, const char *target,
                       StrBuf *shown) {
    const char *path = fixture_write("file", text, bytes);
    TableReader *table = NULL;
    StrView line;
    bool more = true;
    Status status = table_open(&table, path, sv(source), sv(target));
    while (status == STATUS_OK && (status = table_next(table, &line, &more)) == STATUS_OK && more) {
        strbuf_format(shown, "%ld:", table_number(table));
        for (size_t i = 0; i < line.length; i++)
            strbuf_add_char(shown, line.data[i] == '\t' ? '|' : line.data[i]);
        strbuf_add_char(shown, ';');
    }
    if (status == STATUS_OK && table_untranslated(table) + table_fuzzy(table) > 0)
        strbuf_format(shown, " without %ld, fuzzy %ld", table_untranslated(table), table_fuzzy(table));
    if (status != STATUS_OK) {
        const char *message = status_message(), *at = strstr(message, path);
        strbuf_format(shown, "!%s", at ? at + strlen(path) + 1 : message);
        assert_int_equal(status, STATUS_DATA);
    }
    table_close(table);
}

static void check(const char *text, const char *source, const char *target, const char *expected) {
    StrBuf shown = {0};
    read_table(text, strlen(text), source, target, &shown);
    assert_string_equal(strbuf_text(&shown), expected);
    strbuf_free(&shown);
}

#define EN_DE "en", "de"
#define END   "|context|escaped;"

#define TMX(body)          "<tmx version='1.4'>\n<header srclang='en-US'/><body>\n" body "</body></tmx>\n"
#define TUV(language, seg) "<tuv xml:lang='" language "'><seg>" seg "</seg></tuv>"

static void test_tmx(void **state) {
    (void)state;
#ifdef ATTN_MT_XML
    static const char TWO[] = TMX("<tu>" TUV("de-DE", "Los!") TUV("en-US", "Go!") "</tu>\n<tu>" TUV(
        "de-AT", "Lauf\n!") TUV("en-GB", "Run &amp; go!") TUV("fr", "Cours !") "</tu>\n");
    check(TWO, EN_DE, "0:en|de" END "3:Go!|Los!;4:Run & go!|Lauf\\n!;");
    check(TWO, "de", "en", "0:de|en" END "3:Los!|Go!;4:Lauf\\n!|Run & go!;");
    check(TWO, "fra", "en-GB", "0:fra|en-GB" END "4:Cours !|Run & go!; without 1, fuzzy 0");
    check(TWO, "", "", "0:en-US|de-DE" END "3:Go!|Los!;4:Run & go!|Lauf\\n!;");
    check(TWO, "source", "target", "0:source|target" END "3:Go!|Los!;4:Lauf\\n!|Run & go!;");
    check(TWO, "it", "es",
          "0:it|es" END "! has no pair of it and es: its languages are en-US, de-DE, de-AT, en-GB, fr");
    check(TMX("<tu>" TUV("en", "Go!") "</tu><tu>" TUV("en", "Go!") TUV("de", " ") "</tu>"), EN_DE,
          "0:en|de" END " without 2, fuzzy 0");
    check(TMX(""), EN_DE, "0:en|de" END);
    check(TMX(""), "", "", "0:source|target" END);
    check(TMX("<tu>" TUV(
              "en", "Click <bpt i='1'>&lt;b></bpt>here<ept i='1'>&lt;/b></ept>, <hi>now</hi> <ph x='2'/> "
                    "<ph>%s</ph><it pos='begin'/><![CDATA[<i>]]>")
                  TUV("de", "Hier<ut><sub>x</sub></ut>") "<note>no</note></tu>"),
          EN_DE, "0:en|de" END "3:Click <b>here</b>, now {2} %s<i>|Hierx;");
    check(TMX("<tu><tuv lang='EN'><seg>a\\b\tc</seg></tuv>" TUV("de", "d") "</tu>"), EN_DE,
          "0:en|de" END "3:a\\\\b\\tc|d;"); /* TMX 1.1 */
#endif
}

static void test_xliff(void **state) {
    (void)state;
#ifdef ATTN_MT_XML
    static const char ONE[] =
        "<?xml version='1.0'?>\n<xliff version='1.2' xmlns='urn:oasis:names:tc:xliff:document:1.2'>"
        "<file source-language='en' target-language='de-DE'><body>\n"
        "<trans-unit id='1'><source>Go <g id='1'>now</g><x id='2' equiv-text='&lt;br/>'/><bx id='3'/><ph "
        "id='4'>%d</ph>"
        "</source><seg-source><mrk mid='1'>Go</mrk></seg-source><target state='translated'>Los<x "
        "id='9'/></target>"
        "<alt-trans><source>no</source><target>nein</target></alt-trans></trans-unit>\n"
        "<trans-unit id='2'><source>Stop</source><target/></trans-unit>\n"
        "<trans-unit id='3'><source>Wait</source><target "
        "state='needs-review-translation'>Warte</target></trans-unit>\n"
        "<trans-unit id='0' "
        "restype='x-gettext-domain-header'><source>h</source><target>k</target></trans-unit>"
        "<trans-unit id='4'><source>Yes</source><target>Ja</target></trans-unit></body></file></xliff>";
    static const char TWO[] =
        "<xliff version='2.0' srcLang='en' trgLang='de'><file id='f'><unit "
        "id='u'><notes><note>n</note></notes>\n"
        "<segment><source>Go <pc id='1'>now</pc><cp hex='001b'/></source><target>Los<ph id='1' "
        "equiv='%s'/></target>"
        "</segment>\n<ignorable><source> </source><target> </target></ignorable>\n"
        "<segment><source>Yes</source><target>Ja</target></segment></unit></file></xliff>";
    check(ONE, EN_DE, "0:en|de" END "3:Go now<br/>%d|Los{9};6:Yes|Ja; without 1, fuzzy 1");
    check(ONE, "de", "en", "0:de|en" END "3:Los{9}|Go now<br/>%d;6:Ja|Yes; without 1, fuzzy 1");
    check(ONE, "fr", "it", "0:fr|it" END "! has no pair of fr and it: its languages are en, de-DE");
    check(TWO, EN_DE, "0:en|de" END "2:Go now\x1b|Los%s;4:Yes|Ja;");
    check("<xliff><file "
          "source-language='en'><trans-unit><source>a</source><target>b</target></trans-unit></file></xliff>",
          EN_DE, "0:en|de" END "1:a|b;"); /* a target of any language */
#endif
}

static void test_po(void **state) {
    (void)state;
#ifdef ATTN_MT_PO
    static const char PO[] =
        "# comment\nmsgid \"\"\nmsgstr \"\"\n\"Language: de\\n\"\n"
        "\"Content-Type: text/plain; charset=UTF-8\\n\"\n"
        "\"Plural-Forms: nplurals=2; plural=n != 1;\\n\"\n\n"
        "#: a.c:1\nmsgctxt \"menu\\n\"\nmsgid \"_Open \"\n\"C:\\\\x\"\nmsgstr \"Ö_ffnen\"\n\n"
        "msgid \"%d file\"\nmsgid_plural \"%d files\"\nmsgstr[0] \"%d Datei\"\nmsgstr[1] \"%d Dateien\"\n\n"
        "#, fuzzy\nmsgid \"old\"\nmsgstr \"alt\"\n\nmsgid \"none\"\nmsgstr \"\"\n\n"
        "msgid \"last\"\nmsgstr \"zuletzt\"\n\n#~ msgid \"gone\"\n#~ msgstr \"weg\"\n";
    static const char ROWS[] = "10:_Open C:\\\\x|Ö_ffnen|menu\\n;14:%d file|%d Datei;14:%d files|%d Dateien;"
                               "26:last|zuletzt; without 1, fuzzy 2";
    StrBuf expected = {0};
    strbuf_format(&expected, "0:en|de" END "%s", ROWS);
    check(PO, EN_DE, strbuf_text(&expected));
    check(PO, "", "", strbuf_text(&expected));
    strbuf_free(&expected);
    check("msgid \"a\"\nmsgstr \"b\"\n", EN_DE, "0:en|de" END "1:a|b;");
    check("msgid \"a\"\nmsgstr \"b\"\n", "", "", "0:source|target" END "1:a|b;");
    check("msgid \"\"\nmsgstr \"Plural-Forms: nplurals=3; plural=n==1 ? 2 : n==2 ? 0 : 1;\\n\"\n\n"
          "msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"0\"\nmsgstr[1] \"1\"\nmsgstr[2] \"2\"\n",
          EN_DE, "0:en|de" END "4:b|0;4:b|1;4:a|2;");
    check("msgid \"\"\nmsgstr \"Language: de\\n\"\n\nmsgid \"a\"\nmsgstr \"b\"\n", "de", "en",
          "0:de|en" END "4:b|a;");
    check("msgid \"\"\nmsgstr \"Language: fr\\n\"\n\nmsgid \"a\"\nmsgstr \"b\"\n", EN_DE,
          "0:en|de" END "! has no pair of en and de: its languages are fr");
    check("msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[0] \"c\"\n", EN_DE, "0:en|de" END "1:b|c;");
#endif
}

static void test_json_lines(void **state) {
    (void)state;
    static const char LINES[] =
        "{\"de\": \"Los!\", \"en\": \"Go\\n\\t!\", \"id\": 1}\n\n"
        "{\"translation\": {\"eng_Latn\": \"Yes\", \"deu_Latn\": \"Ja\"}}\n{\"en\": null, \"de\": \"x\"}\n";
    check(LINES, EN_DE, "0:en|de" END "1:Go\\n\\t!|Los!;3:Yes|Ja; without 1, fuzzy 0");
    check(LINES, "", "", "0:de|en" END "1:Los!|Go\\n\\t!;3:Ja|Yes; without 1, fuzzy 0");
    check("{\"target\": \"b\", \"source\": \"a\", \"context\": \"c\"}", "source", "target",
          "0:source|target" END "1:a|b|c;");
}

static void test_tables(void **state) {
    (void)state;
    check("a\tb\\n\nc\td\n", EN_DE, "1:a|b\\n;2:c|d;");
    check("id,en\n1,\"a\nb\"\n", EN_DE, "1:id|en;2:1|a\\nb;");
    TableReader *table;
    StrBuf buffer = {0};
    StrView line;
    bool more;
    static const char ESCAPED[] = "en\tde\tescaped\na\\\\n\\n\tb\n";
    assert_int_equal(table_open(&table, fixture_write("t", ESCAPED, sizeof ESCAPED - 1), SV(""), SV("")),
                     STATUS_OK);
    assert_int_equal(table_next(table, &line, &more), STATUS_OK);
    assert_true(table_has_escapes(table));
    assert_int_equal(table_next(table, &line, &more), STATUS_OK);
    assert_true(sv_equal(table_text(table, (StrView){line.data, 6}, &buffer), SV("a\\n\n")));
    table_close(table);
    strbuf_free(&buffer);
}

static void test_damaged(void **state) {
    (void)state;
    static const struct {
        const char *text, *message; /* a part of it */
    } FILES[] = {
#ifdef ATTN_MT_XML
        {"<tmx version='1.4'><body><tu>", "line 1: damaged XML"},
        {"<tmx><body>\n<tu></body>",
         "line 2: damaged XML: Opening and ending tag mismatch: tu line 2 and body"},
        {"<tmx>\n\n&unknown;</tmx>", "line 3: damaged XML: Entity 'unknown' not defined"},
        {"<!DOCTYPE tmx [<!ENTITY a 'b'>]><tmx>&a;</tmx>", "declares entities"},
        {"<!DOCTYPE tmx [<!ENTITY a 'bb'><!ENTITY c '&a;&a;&a;'>]><tmx>&c;</tmx>", "declares entities"},
        {"<!DOCTYPE tmx [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><tmx>&a;</tmx>", "declares entities"},
        {"<!DOCTYPE tmx [<!ENTITY % a SYSTEM 'http://localhost/x'> %a;]><tmx></tmx>", "declares entities"},
        {"<tmx><body/></tmx><tmx/>", "damaged XML: Extra content"},
        {"<tmx a='1' a='2'/>", "damaged XML: Attribute a redefined"},
        {"<tmx a=1/>", "damaged XML"},
        {"<tmx>\x01</tmx>", "damaged XML"},
        {"<tmx>\xFF</tmx>", "damaged XML"},
        {"<?xml version='1.0' encoding='nonsense'?><tmx/>", "damaged XML: Unsupported encoding nonsense"},
        {"<xliff><file><trans-unit><source>a</target></trans-unit></file></xliff>", "damaged XML"},
        {"<xliff>", "line 1: damaged XML"},
        {"<xliff><file source-language='&lt'/></xliff>", "damaged XML"},
#endif
#ifdef ATTN_MT_PO
        {"msgid \"a\"\n\nmsgid \"b\"\nmsgstr \"c\"\n", "damaged PO file: missing 'msgstr' section"},
        {"msgid \"a\"\nmsgstr \"b\"\n\nmsgid \"a\"\nmsgstr \"c\"\n",
         "damaged PO file: duplicate message definition"},
        {"msgid \"a\"\nmsgstr \"b\n", "line 3: damaged PO file: end-of-line within string"},
        {"msgid \"a\"\nnonsense\nmsgstr \"b\"\n", "line 2: damaged PO file: keyword \"nonsense\" unknown"},
        {"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr \"c\"\n", "damaged PO file"},
        {"msgid \"a\"\nmsgid_plural \"b\"\nmsgstr[1] \"c\"\n", "damaged PO file"},
        {"msgid \"a\"\nmsgstr \"\\q\"\n", "line 2: damaged PO file: invalid control sequence"},
#endif
        {"{\"en\": \"a\"}\n{\"en\": \"a\n", "line 2: line 1 column 10: the text ends too early"},
        {"{\"en\": \"a\"}\n[1]\n", "line 2: not a JSON object"},
        {"{\"en\": \"a\"}\nGo!\tLos!\n", "line 2: line 1 column 1: "},
        {"{\"en\": \"a\", \"en\": \"b\"}\n", "JSON, and not one object a line"},
        {"{\"en\": \"a\"}\n{\"en\": \"\\ud800\"}\n", "line 2: "},
        {"en,de\na,\"b\nc,d\n", "the quotes of a cell in line 2 do not end"},
        {"sep=,\n\"", "the quotes of a cell in line 2 do not end"},
        {"<html><p>Go!</p>", "is a web page (HTML), not a file of sentence pairs"},
    };
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        StrBuf shown = {0};
        read_table(FILES[i].text, strlen(FILES[i].text), EN_DE, &shown);
        const char *failure = strchr(strbuf_text(&shown), '!');
        if (!failure || !strstr(failure, FILES[i].message)) fail_msg("file %zu: %s", i, strbuf_text(&shown));
        strbuf_free(&shown);
    }
}

/* Deeper than libxml2 allows, and wider: neither takes the stack or the memory. */
static void test_bounds(void **state) {
    (void)state;
#ifdef ATTN_MT_XML
    StrBuf text = {0}, shown = {0};
    strbuf_add(&text, SV("<tmx>"));
    for (int i = 0; i < 100000; i++) strbuf_add(&text, SV("<a>"));
    read_table(text.data, text.length, EN_DE, &shown);
    if (!strstr(strbuf_text(&shown), "line 1: damaged XML: more than 256 elements deep"))
        fail_msg("%s", strbuf_text(&shown));
    strbuf_clear(&text);
    strbuf_clear(&shown);
    strbuf_add(&text, SV("<tmx><tu><tuv xml:lang='en'><seg>"));
    for (int i = 0; i < 1200000; i++) strbuf_add(&text, SV("<hi>text</hi>"));
    strbuf_add(&text, SV("</seg></tuv></tu></tmx>"));
    read_table(text.data, text.length, EN_DE, &shown);
    assert_non_null(strstr(strbuf_text(&shown), "line 1: a unit of more than 4 MB") ? strbuf_text(&shown)
                                                                                    : NULL);
    strbuf_clear(&text);
    strbuf_clear(&shown);
    strbuf_add(&text, SV("<tmx><tu>"));
    for (int i = 0; i < 1000; i++) strbuf_format(&text, "<tuv xml:lang='x%d'><seg>a</seg></tuv>", i);
    strbuf_add(&text, SV("</tu></tmx>"));
    read_table(text.data, text.length, "x1", "x0", &shown);
    assert_string_equal(strbuf_text(&shown), "0:x1|x0" END "1:a|a;");
    strbuf_free(&text);
    strbuf_free(&shown);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tmx),        cmocka_unit_test(test_xliff),  cmocka_unit_test(test_po),
        cmocka_unit_test(test_json_lines), cmocka_unit_test(test_tables), cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
