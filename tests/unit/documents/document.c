/* document.c - documents of all formats: what is translated, what stays, which files are refused.
 * Cases: tests/cases/documents.case */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "documents/document.h"
#include "kern/kern.h"
#include "translate/translator.h"
#include "unit/cases.h"
#include "unit/copy_model.h"

/* Translates the segments as the commands do, with the words of `translations`. */
static void translate(Document *document, StrView translations, double confidence) {
    StrBuf pairs = {0};
    strbuf_add(&pairs, translations);
    Seq2Seq *model = copy_model_new(&(CopyModelOptions){.translations = strbuf_text(&pairs)});
    const Seq2Seq *models = model;
    TranslatorOptions options = {
        .search = {.decode = seq2seq_config(model)->decode, .n_best = 1, .attention = true},
        .split = true,
        .tags = true,
        .tags_aside = document->format->has_many_tags,
        .wrapped = document->format->is_wrapped,
        .quiet = true};
    Workers *workers = workers_new(1);
    Translator *translator;
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    for (size_t s = 0; s < document->count; s++) {
        Segment *segment = &document->segments[s];
        StrView text = strbuf_view(&segment->text);
        Translation out = {0};
        translator_run(translator, &text, NULL, 1, 1, &out);
        strbuf_add(&segment->translation, strbuf_view(&out.items[0].text));
        segment->is_translated = true;
        segment->confidence = confidence;
        translation_free(&out);
    }
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
    strbuf_free(&pairs);
}

/* Copies of its texts leave the document as it is. */
static void check_copies(Document document) {
    StrBuf out = {0};
    Status status = document_read(&document);
    for (size_t s = 0; s < document.count; s++) {
        Segment *segment = &document.segments[s];
        strbuf_add(&segment->translation, strbuf_view(&segment->text));
        segment->is_translated = true;
    }
    if (status == STATUS_OK) document_write(&document, &out);
    if (status == STATUS_OK && !sv_equal(strbuf_view(&out), document.bytes))
        fail_msg("copied: '%s' from '%.*s'", strbuf_text(&out), SV_ARG(document.bytes));
    strbuf_free(&out);
    document_free(&document);
}

static void run_document(const CaseSection *section, StrView input, StrBuf *got) {
    StrView confidence = case_option(section, "confidence");
    Document document = {.path = "x",
                         .format = document_format(case_option(section, "format")),
                         .bytes = input,
                         .options = {.confident = 0.5, .fuzzy = case_option(section, "fuzzy").length > 0}};
    assert_non_null(document.format);
    if (!document.format->is_bilingual) check_copies(document);
    document.options.target_language = case_option(section, "language");
    if (document_read(&document) != STATUS_OK) {
        strbuf_format(got, "%s", status_message());
    } else {
        translate(&document, case_option(section, "translations"),
                  confidence.length ? strtod(confidence.data, NULL) : 0.4);
        document_write(&document, got);
        if (document.rejected > 0) strbuf_format(got, "[%ld rejected]", document.rejected);
    }
    document_free(&document);
}

static void test_documents(void **state) {
    (void)state;
    cases_run("tests/cases/documents.case", "format translations language confidence fuzzy", run_document);
}

static void test_detected(void **state) {
    (void)state;
    static const struct {
        const char *start, *format;
    } CASES[] = {
        {"<!DOCTYPE html>\n<p>a", "html"},
        {"\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- a -->\n <HTML>", "html"},
        {"# a\nmsgid \"\"\nmsgstr \"\"\n", "po"},
        {"msgid \"a\"\n", "po"},
        {"msgid \"a\tb\"\n", NULL},
        {"<?xml version='1.0'?>\n<xliff version=\"1.2\">", "xliff"},
        {"<x:xliff version=\"2.0\">", "xliff"},
        {"1\r\n00:00:01,000 --> 00:00:02,000\r\na\r\n", "srt"},
        {"1\n2\n", NULL},
        {"WEBVTT\n", "vtt"},
        {"WEBVTTX\n", NULL},
        {"the dog\n", NULL},
        {"<p>the dog</p>\n", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const DocumentFormat *format = document_detect(sv(CASES[i].start));
        const char *name = format ? format->name : "none", *want = CASES[i].format ? CASES[i].format : "none";
        if (strcmp(name, want) != 0) fail_msg("'%s' is %s, not %s", CASES[i].start, name, want);
    }
}

/* Other formats are refused with the commands that convert them. */
static void test_foreign(void **state) {
    (void)state;
    static const struct {
        const char *start;
        size_t length;
        const char *hint;
    } CASES[] = {
        {"PK\3\4\0\0word/document.xml", 23, "pandoc"},
        {"PK\3\4mimetypeapplication/epub+zip", 32, "epub"},
        {"PK\3\4mimetypeapplication/vnd.oasis.opendocument.text", 51, "odt"},
        {"<?xml version='1.0'?>\n<resources>\n", 34, "json2po"},
        {"<?xml version='1.0'?><!DOCTYPE TS><TS version='2'>", 50, "ts2po"},
        {"<?xml version='1.0'?><root>", 27, "resx2po"},
        {"{\n \"a\": \"b\"}", 12, "json2po"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        StrView sample = {CASES[i].start, CASES[i].length};
        assert_int_equal(document_check_foreign("f", sample), STATUS_DATA);
        if (!strstr(status_hint_text(), CASES[i].hint))
            fail_msg("'%s': %s", CASES[i].start, status_hint_text());
    }
    assert_int_equal(document_check_foreign("f", SV("the dog")), STATUS_OK);
    assert_int_equal(document_check_foreign("f", SV("")), STATUS_OK);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_documents), cmocka_unit_test(test_detected),
                                       cmocka_unit_test(test_foreign)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
