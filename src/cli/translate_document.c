/* translate_document.c - see translate_document.h. */
#include "cli/translate_document.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include "base/log.h"
#include "base/mem.h"
#include "documents/html.h"
#include "postprocess/problems.h"
#include "text/languages.h"

/* ---- which format ---- */

/* The first bytes of a plain file; unpacked if they are text. */
static Status read_sample(const char *path, StrBuf *sample) {
    char bytes[DOCUMENT_SAMPLE];
    int file = file_open(path, O_RDONLY, 0);
    ssize_t length = file >= 0 ? read(file, bytes, sizeof bytes) : 0;
    if (file >= 0) close(file);
    StrView start = {bytes, length > 0 ? (size_t)length : 0};
    TRY(document_check_foreign(path, start));
    LineReader *reader;
    TRY(line_reader_open(&reader, path));
    StrView line;
    Status status = STATUS_OK;
    for (bool more = true; status == STATUS_OK && more && sample->length < DOCUMENT_SAMPLE;) {
        status = line_reader_next(reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        strbuf_add(sample, line);
        strbuf_add_char(sample, '\n');
    }
    line_reader_close(reader);
    return status;
}

/* By the content, or by the name if that stands for a format with a content to recognize: a part of a page,
 * a damaged PO. */
static Status detect(const char *path, const DocumentFormat **format) {
    StrBuf sample = {0};
    if (strcmp(path, "-") == 0 || file_is_stream(path)) return STATUS_OK;
    Status status = read_sample(path, &sample);
    const DocumentFormat *named = document_format_of_name(sv(path));
    if (status == STATUS_OK) *format = document_detect(strbuf_view(&sample));
    if (status == STATUS_OK && !*format && named && named->detect) *format = named;
    strbuf_free(&sample);
    return status;
}

static Status check_options(const TranslateOptions *options, const DocumentFormat *format) {
    const char *option = options->json                             ? "--json"
                         : options->json_input                     ? "--json-input"
                         : options->n_best                         ? "--n-best"
                         : options->word_scores                    ? "--word-scores"
                         : options->attention                      ? "--attention"
                         : options->references.count               ? "--reference"
                         : options->prefix || options->prefix_file ? "--prefix"
                         : options->translator.crop                ? "--max-length-crop"
                         : strcmp(options->alignment, "none") != 0 ? "--alignment"
                                                                   : NULL;
    if (option) {
        status_fail(STATUS_USAGE, "option '%s' is for lines of text, and the input is %s", option,
                    format->title);
        return status_hint(STATUS_USAGE, "--format lines translates it line by line");
    }
    if (options->inputs.count <= 1) return STATUS_OK;
    status_fail(STATUS_USAGE, "a document must be the only input, but there are %zu inputs",
                options->inputs.count);
    return status_hint(STATUS_USAGE, "run attn-mt translate for each of them");
}

enum { FORMAT_AUTO, FORMAT_LINES }; /* before the names of DOCUMENT_FORMATS */

Status translate_document_choose(const TranslateOptions *options, const DocumentFormat **format) {
    *format = NULL;
    if (options->format == FORMAT_LINES) return STATUS_OK;
    if (options->format > FORMAT_LINES) {
        StrView names = sv(DOCUMENT_FORMATS), name = {"", 0};
        for (int i = FORMAT_LINES; i < options->format; i++) sv_next(&names, '|', &name);
        *format = document_format(name);
    }
    for (size_t i = 0; options->format == FORMAT_AUTO && i < options->inputs.count && !*format; i++)
        TRY(detect(options->inputs.items[i], format));
    if (*format) return check_options(options, *format);
    const char *option = options->confident <= 1 ? "--confident" : options->fuzzy ? "--fuzzy" : NULL;
    if (!option) return STATUS_OK;
    status_fail(STATUS_USAGE, "option '%s' is for PO and XLIFF, and the input is lines of text", option);
    return status_hint(STATUS_USAGE, "--format po, if it is read from standard input");
}

void translate_document_set_options(const DocumentFormat *format, TranslateOptions *options) {
    options->translator.split = options->translator.tags = true;
    options->translator.wrapped = format->is_wrapped;
    options->translator.tags_aside = format->has_many_tags;
}

/* ---- translation ---- */

/* 0 if something is wrong with the translation. */
static double confidence(const OutputStyle *style, const Translation *translation) {
    const TranslationItem *item = &translation->items[0];
    for (int p = 0; p < PROBLEM_KINDS; p++)
        if (item->problems[p]) return 0;
    if (translation->chunks == 0) return 1; /* copied */
    double *words = mem_alloc((size_t)item->words, sizeof *words);
    double whole = calibration_confidence(&style->calibration, item, words);
    mem_free(words);
    return isfinite(whole) ? whole : 0;
}

/* Some segments at a time, so that their translations need little memory. */
static Status translate_segments(Document *document, const TranslateOptions *options,
                                 const OutputStyle *style, Translator *translator) {
    enum { WINDOW = 4096 };
    StrView *texts = mem_alloc(WINDOW, sizeof *texts);
    Translation *results = mem_alloc(WINDOW, sizeof *results);
    Status status = STATUS_OK;
    for (size_t first = 0; first < document->count && status == STATUS_OK; first += WINDOW) {
        size_t count = document->count - first < WINDOW ? document->count - first : WINDOW;
        memset(results, 0, count * sizeof *results);
        for (size_t i = 0; i < count; i++) texts[i] = strbuf_view(&document->segments[first + i].text);
        translator_run(translator, texts, NULL, (int)count, (long)first + 1, results);
        for (size_t i = 0; i < count; i++) {
            Segment *segment = &document->segments[first + i];
            strbuf_add(&segment->translation, strbuf_view(&results[i].items[0].text));
            segment->confidence = confidence(style, &results[i]);
            segment->from_memory = results[i].from_memory;
            segment->is_translated = segment->translation.length > 0;
            translation_free(&results[i]);
        }
        status = translator_check_finite(translator, &options->models);
    }
    mem_free(results);
    mem_free(texts);
    return status;
}

static void report(const Document *document) {
    char texts[32], kept[32];
    StrBuf text = {0};
    size_t empty = 0;
    for (size_t s = 0; s < document->count; s++) empty += !document->segments[s].is_translated;
    strbuf_format(&text, "translated %s texts of %s", str_count((long long)document->count, texts),
                  document->format->title);
    if (document->kept > 0) strbuf_format(&text, "; %s had a translation", str_count(document->kept, kept));
    log_info("%s", strbuf_text(&text));
    strbuf_free(&text);
    if (empty > 0) log_warn("%zu texts got no translation, because it would be empty", empty);
    if (document->rejected > 0)
        log_warn("%ld texts got no translation, because their format directives or marks would differ",
                 document->rejected);
}

/* Translations in another language than the document says would go unnoticed. */
static void check_language(const Document *document, const char *target, const Ensemble *models) {
    StrView ours = target ? sv(target) : strbuf_view(&models->target_language),
            theirs = strbuf_view(&document->language);
    Language language;
    bool known = language_read(ours, &language) && language_read(theirs, &language);
    if (known && !sv_equal(language_code(ours), language_code(theirs)))
        log_warn("the translations in '%s' are in '%.*s', but the model writes '%.*s'", document->path,
                 SV_ARG(theirs), SV_ARG(ours));
}

Status translate_document_run(const DocumentFormat *format, const TranslateOptions *options,
                              const OutputStyle *style, const Ensemble *models, Translator *translator,
                              OutFile *output) {
    StrBuf content = {0}, out = {0}, language = {0};
    Document document = {.path = options->inputs.items[0],
                         .format = format,
                         .options = {.confident = options->confident, .fuzzy = options->fuzzy}};
    html_language(strbuf_view(&models->target_language), &language);
    document.options.target_language = strbuf_view(&language);
    Status status = file_read(document.path, FILE_TEXT_BYTES, &content);
    document.bytes = (StrView){strbuf_text(&content), content.length};
    if (status == STATUS_OK) status = document_read(&document);
    if (status == STATUS_OK && !options->translator.quiet)
        check_language(&document, options->translator.target_language, models);
    if (status == STATUS_OK) status = translate_segments(&document, options, style, translator);
    if (status == STATUS_OK) {
        document_write(&document, &out);
        status = file_write(output, out.data, out.length);
        if (!options->translator.quiet) report(&document);
    }
    document_free(&document);
    strbuf_free(&content);
    strbuf_free(&language);
    strbuf_free(&out);
    return status;
}
