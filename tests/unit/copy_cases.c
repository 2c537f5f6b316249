/* copy_cases.c - see copy_cases.h. */
#include "unit/copy_cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/unicode.h"
#include "translate/translator.h"
#include "unit/copy_model.h"

static const TextOptions TEXT = {.normalize = NORMALIZE_NFC, .lowercase = true};

void copy_case_run(const CaseSection *section, StrView input, StrBuf *got) {
    StrBuf words = {0}, pairs = {0}, synonyms = {0}, file = {0}, placeholder = {0};
    StrView mistake = case_option(section, "mistake");
    StrView terms = case_option(section, "terms"), term, source;
    strbuf_add(&words, case_option(section, "words"));
    strbuf_add(&pairs, case_option(section, "translations"));
    strbuf_add(&synonyms, case_option(section, "synonyms"));
    strbuf_add(&placeholder, case_option(section, "placeholder"));
    if (sv_equal(case_option(section, "forms"), SV("yes"))) strbuf_add(&file, SV("en\tfr\tforms\n"));
    while (sv_next_word(&terms, &term)) {
        sv_next(&term, '=', &source);
        strbuf_format(&file, "%.*s\t%.*s\n", SV_ARG(source), SV_ARG(term));
    }
    for (size_t i = 0; i < file.length; i++)
        if (file.data[i] == '_') file.data[i] = ' ';
    Seq2Seq *model =
        copy_model_new(&(CopyModelOptions){.words = strbuf_text(&words),
                                           .translations = strbuf_text(&pairs),
                                           .synonyms = strbuf_text(&synonyms),
                                           .mistake = sv_equal(mistake, SV("second"))  ? COPY_SECOND
                                                      : sv_equal(mistake, SV("never")) ? COPY_NEVER
                                                                                       : COPY_SOUND,
                                           .placeholder = strbuf_text(&placeholder)});
    const Seq2Seq *models = model;
    TranslatorOptions options = {
        .search = {.decode = seq2seq_config(model)->decode, .n_best = 1, .attention = true},
        .tags = sv_equal(case_option(section, "tags"), SV("yes")),
        .quiet = true};
    Glossary *glossary = NULL;
    if (file.length) {
        const char *path = fixture_write("terms", file.data, file.length);
        char *paths[] = {(char *)(uintptr_t)path};
        assert_int_equal(glossary_read(&glossary, &(StrList){paths, 1}, &TEXT, SV("en"), SV("fr")),
                         STATUS_OK);
        options.glossary = glossary;
    }
    StrBuf prefix = {0};
    strbuf_add(&prefix, case_option(section, "prefix"));
    StrView phrase = case_option(section, "phrase");
    LineConstraints constraints = {.prefix = prefix.length ? strbuf_view(&prefix) : SV(""),
                                   .phrases = &phrase,
                                   .phrase_count = phrase.length > 0};
    Workers *workers = workers_new(1);
    Translator *translator;
    Translation out = {0};
    assert_int_equal(translator_new(&translator, &models, 1, &options, workers), STATUS_OK);
    translator_run(translator, &input, &constraints, 1, 1, &out);
    strbuf_add(got, strbuf_view(&out.items[0].text));
    translation_free(&out);
    translator_free(translator);
    workers_free(workers);
    seq2seq_free(model);
    glossary_free(glossary);
    strbuf_free(&prefix);
    strbuf_free(&words);
    strbuf_free(&pairs);
    strbuf_free(&synonyms);
    strbuf_free(&file);
    strbuf_free(&placeholder);
}
