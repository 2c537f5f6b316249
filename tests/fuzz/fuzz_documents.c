/* fuzz_documents.c - documents of all formats, with their own texts and with other ones as translations.
 *
 * Input: a byte that chooses the format, a line end, a translation, a line end, and the document.
 */
#include <string.h>
#include "base/utf8.h"
#include "documents/document.h"
#include "fuzz/scratch.h"

static const DocumentFormat *const FORMATS[] = {&HTML_DOCUMENT,   &PO_DOCUMENT,     &XLIFF_DOCUMENT,
                                                &SUBRIP_DOCUMENT, &WEBVTT_DOCUMENT, &MARKDOWN_DOCUMENT,
                                                &TEXT_DOCUMENT};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS };

/* `translation`: of all texts; NULL: copies, which leave documents of one language as they are. */
static void run(const DocumentFormat *format, StrView bytes, const StrView *translation) {
    StrBuf out = {0};
    Document document = {.path = "x",
                         .format = format,
                         .bytes = bytes,
                         .options = {.confident = 0.5, .fuzzy = translation != NULL}};
    if (translation) document.options.target_language = SV("fr");
    Status status = document_read(&document);
    for (size_t s = 0; s < document.count; s++) {
        Segment *segment = &document.segments[s];
        require(segment->from <= segment->to && segment->to <= bytes.length);
        strbuf_add(&segment->translation, translation ? *translation : strbuf_view(&segment->text));
        segment->is_translated = segment->translation.length > 0;
        segment->confidence = s % 2 ? 0.9 : 0.1;
    }
    if (status == STATUS_OK) {
        document_write(&document, &out);
        require(utf8_valid(strbuf_view(&out)));
        if (!translation && !format->is_bilingual) require(sv_equal(strbuf_view(&out), bytes));
        if (!translation && format->is_bilingual) { /* what was written can be read, and is complete */
            Document next = {.path = "x", .format = format, .options = {.confident = 0.5}};
            next.bytes = (StrView){strbuf_text(&out), out.length};
            require(document_read(&next) == STATUS_OK);
            document_free(&next);
        }
    }
    document_free(&document);
    strbuf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    StrView rest = {(const char *)data, size}, line = {"", 0}, translation = {"", 0};
    const DocumentFormat *format = FORMATS[data[0] % FORMAT_COUNT];
    sv_next(&rest, '\n', &line);
    sv_next(&rest, '\n', &translation);
    if (rest.length == 0) rest = SV("");
    if (!utf8_valid(translation)) return 0;
    document_detect(rest);
    document_check_foreign("x", rest);
    run(format, rest, NULL);
    run(format, rest, &translation);
    return 0;
}
