/* document.c - the table of formats, and what they have in common. */
#include "documents/document.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/utf8.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static const DocumentFormat *const FORMATS[] = {&HTML_DOCUMENT,   &PO_DOCUMENT,     &XLIFF_DOCUMENT,
                                                &SUBRIP_DOCUMENT, &WEBVTT_DOCUMENT, &MARKDOWN_DOCUMENT,
                                                &TEXT_DOCUMENT};

const DocumentFormat *document_format(StrView name) {
    for (size_t i = 0; i < COUNT(FORMATS); i++)
        if (sv_equal(name, sv(FORMATS[i]->name))) return FORMATS[i];
    return NULL;
}

const DocumentFormat *document_format_at(int index) {
    return (size_t)index < COUNT(FORMATS) ? FORMATS[index] : NULL;
}

const DocumentFormat *document_format_of_name(StrView file_name) {
    for (size_t i = 0; i < COUNT(FORMATS); i++) {
        StrView endings = sv(FORMATS[i]->endings), ending;
        while (sv_next_word(&endings, &ending)) {
            size_t before = file_name.length - ending.length;
            if (file_name.length > ending.length &&
                strncasecmp(file_name.data + before, ending.data, ending.length) == 0)
                return FORMATS[i];
        }
    }
    return NULL;
}

static StrView skip_mark(StrView bytes) {
    StrView mark = SV("\xEF\xBB\xBF");
    if (!sv_starts(bytes, mark)) return bytes;
    return (StrView){bytes.data + mark.length, bytes.length - mark.length};
}

const DocumentFormat *document_detect(StrView sample) {
    sample = skip_mark(sample);
    for (size_t i = 0; i < COUNT(FORMATS); i++)
        if (FORMATS[i]->detect && FORMATS[i]->detect(sample)) return FORMATS[i];
    return NULL;
}

/* ---- formats that other programs convert ---- */

#define PANDOC(from)                                                                                         \
    "convert it with pandoc, there and back: pandoc FILE -t html -s -o FILE.html; translate it; pandoc "     \
    "NEW.html -o NEW." from
#define TOOLKIT(there, back)                                                                                 \
    "convert it with translate-toolkit, there and back: " there "; translate it; " back

/* A file that begins with `magic` and contains `part`, or whose root element has this name. */
static const struct {
    const char *magic, *part, *root, *name, *hint;
} FOREIGN[] = {
    {"PK\3\4", "application/epub+zip", NULL, "an EPUB file", PANDOC("epub")},
    {"PK\3\4", "opendocument.text", NULL, "an ODT file", PANDOC("odt")},
    {"PK\3\4", "word/", NULL, "a DOCX file", PANDOC("docx")},
    {NULL, NULL, "resources", "a file of Android strings",
     "write its strings as a JSON object; " TOOLKIT("json2po NEW.json NEW.po",
                                                    "po2json -t NEW.json OUT.po OUT.json")},
    {NULL, NULL, "TS", "a file of Qt Linguist", TOOLKIT("ts2po FILE FILE.po", "po2ts NEW.po NEW.ts")},
    {NULL, NULL, "root", "a RESX file", TOOLKIT("resx2po FILE FILE.po", "po2resx -t FILE NEW.po NEW.resx")},
    {"{\n", NULL, NULL, "a JSON file", TOOLKIT("json2po FILE FILE.po", "po2json -t FILE NEW.po NEW.json")},
    {"{\r\n", NULL, NULL, "a JSON file", TOOLKIT("json2po FILE FILE.po", "po2json -t FILE NEW.po NEW.json")},
    {"%PDF-", NULL, NULL, "a PDF file", "translate the document that it was made from"},
};

static bool has_root(StrView text, const char *root) {
    for (const char *at; (at = memchr(text.data, '<', text.length));) {
        text = (StrView){at + 1, (size_t)(text.data + text.length - at) - 1};
        if (text.length == 0 || text.data[0] == '?' || text.data[0] == '!') continue;
        size_t length = strlen(root);
        return sv_starts(text, sv(root)) && text.length > length && strchr(" \t\r\n>", text.data[length]);
    }
    return false;
}

Status document_check_foreign(const char *path, StrView sample) {
    sample = skip_mark(sample);
    bool xml = sv_starts(sv_trim(sample), SV("<?xml"));
    for (size_t i = 0; i < COUNT(FOREIGN); i++) {
        const char *part = FOREIGN[i].part;
        bool found = FOREIGN[i].root ? xml && has_root(sample, FOREIGN[i].root)
                                     : sv_starts(sample, sv(FOREIGN[i].magic)) &&
                                           (!part || memmem(sample.data, sample.length, part, strlen(part)));
        if (!found) continue;
        status_fail(STATUS_DATA, "'%.700s' is %s, which attn-mt cannot translate", path, FOREIGN[i].name);
        return status_hint(STATUS_DATA, "%s", FOREIGN[i].hint);
    }
    return STATUS_OK;
}

/* ---- documents ---- */

static long line_of(StrView bytes, size_t at) {
    long line = 1;
    for (size_t i = 0; i < at && i < bytes.length; i++) line += bytes.data[i] == '\n';
    return line;
}

Status document_fail(const Document *document, size_t at, const char *message) {
    return status_fail(STATUS_DATA, "'%.700s', line %ld: %s", document->path, line_of(document->bytes, at),
                       message);
}

static Status check_bytes(const Document *document) {
    StrView bytes = document->bytes;
    if (bytes.length > DOCUMENT_BYTES)
        return status_fail(STATUS_DATA, "'%.700s' is larger than %d MB, too large for a document",
                           document->path, DOCUMENT_BYTES / 1000000);
    const char *nul = memchr(bytes.data, '\0', bytes.length);
    if (nul) return document_fail(document, (size_t)(nul - bytes.data), "a NUL byte");
    if (utf8_valid(bytes)) return STATUS_OK;
    StrView rest = bytes, line;
    long number = 0;
    while (sv_next(&rest, '\n', &line)) {
        number++;
        if (!utf8_valid(line)) break;
    }
    status_fail(STATUS_DATA, "'%.700s', line %ld: not UTF-8", document->path, number);
    if (document->format == &PO_DOCUMENT)
        return status_hint(STATUS_DATA, "convert it: msgconv -t UTF-8 FILE > NEW");
    return status_hint(STATUS_DATA,
                       "convert it, and change the encoding that it declares: iconv -f ISO-8859-1 -t "
                       "UTF-8 FILE > NEW");
}

Status document_read(Document *document) {
    TRY(check_bytes(document));
    return document->format->read(document);
}

Segment *document_add(Document *document, size_t from, size_t to, StrView text) {
    MEM_GROW(document->segments, document->capacity, document->count + 1);
    Segment *segment = &document->segments[document->count++];
    *segment = (Segment){.from = from, .to = to};
    strbuf_add(&segment->text, text);
    return segment;
}

StrBuf *document_edit(Document *document, size_t from, size_t to) {
    MEM_GROW(document->edits, document->edit_capacity, document->edit_count + 1);
    Edit *edit = &document->edits[document->edit_count];
    *edit = (Edit){.from = from, .to = to, .order = document->edit_count++};
    return &edit->text;
}

static int by_place(const void *a, const void *b) {
    const Edit *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool has_crlf(StrView bytes) {
    const char *first = memchr(bytes.data, '\n', bytes.length);
    return first && first > bytes.data && first[-1] == '\r';
}

/* Appends a text whose line ends become those of the file. */
static void add_edit(StrView text, bool crlf, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        if (crlf && text.data[i] == '\n' && (i == 0 || text.data[i - 1] != '\r')) strbuf_add_char(out, '\r');
        strbuf_add_char(out, text.data[i]);
    }
}

void document_write(Document *document, StrBuf *out) {
    size_t at = 0;
    bool crlf = has_crlf(document->bytes);
    document->format->write(document);
    if (document->edit_count > 0)
        qsort(document->edits, document->edit_count, sizeof *document->edits, by_place);
    for (size_t e = 0; e < document->edit_count; e++) {
        const Edit *edit = &document->edits[e];
        if (edit->from < at) continue;
        strbuf_add(out, (StrView){document->bytes.data + at, edit->from - at});
        add_edit(strbuf_view(&edit->text), crlf, out);
        at = edit->to;
    }
    strbuf_add(out, (StrView){document->bytes.data + at, document->bytes.length - at});
}

void document_free(Document *document) {
    for (size_t s = 0; s < document->count; s++) {
        strbuf_free(&document->segments[s].text);
        strbuf_free(&document->segments[s].translation);
    }
    for (size_t e = 0; e < document->edit_count; e++) strbuf_free(&document->edits[e].text);
    if (document->state) document->format->release(document->state);
    strbuf_free(&document->language);
    mem_free(document->segments);
    mem_free(document->edits);
}

/* ---- texts ---- */

bool text_same_words(StrView a, StrView b) {
    StrView x, y;
    for (;;) {
        bool more = sv_next_word(&a, &x);
        if (more != sv_next_word(&b, &y)) return false;
        if (!more) return true;
        if (!sv_equal(x, y)) return false;
    }
}

void text_escape(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] == '&')
            strbuf_add(out, SV("&amp;"));
        else if (text.data[i] == '<')
            strbuf_add(out, SV("&lt;"));
        else
            strbuf_add_char(out, text.data[i]);
    }
}

void text_unescape(StrView text, StrBuf *out) {
    for (size_t i = 0; i < text.length;) {
        StrView rest = {text.data + i, text.length - i};
        if (sv_starts(rest, SV("&amp;"))) {
            strbuf_add_char(out, '&');
            i += 5;
        } else if (sv_starts(rest, SV("&lt;"))) {
            strbuf_add_char(out, '<');
            i += 4;
        } else {
            strbuf_add_char(out, text.data[i++]);
        }
    }
}
