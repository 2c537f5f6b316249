/* document.h - documents whose texts are translated, and whose other bytes stay as they are.
 *
 * A document is its bytes, a list of texts to translate, and a list of edits. A format (a row of the table in
 * document.c) finds the texts, and turns their translations into edits.
 *
 *   read    bytes -> segments; the translator protects tags, entities and placeholders in the texts
 *           (text/markup.h); what must not change is a tag in them
 *   caller  sets `translation` and `confidence` of each segment
 *   write   segments -> edits -> the new bytes. A text whose translation equals it, apart from its line
 *           ends, keeps its bytes in formats of one language
 *
 * Owner   document_free releases everything; `path` and `options` belong to the caller
 * Fails   STATUS_DATA with the file and, if there is one, the line
 */
#ifndef DOCUMENTS_DOCUMENT_H
#define DOCUMENTS_DOCUMENT_H

#include "base/status.h"
#include "base/strview.h"

typedef struct {
    StrBuf text;
    size_t from, to;    /* its place in the bytes */
    int kind;           /* private to the format */
    size_t item;        /* private to the format */
    StrBuf translation; /* one line, or the lines of the text */
    bool is_translated;
    double confidence; /* 0 to 1 */
    bool from_memory;  /* the translation comes from a translation memory */
} Segment;

typedef struct {
    size_t from, to; /* bytes that are replaced; equal: text is inserted */
    size_t order;    /* of insertions at one place */
    StrBuf text;
} Edit;

typedef struct {
    StrView target_language; /* BCP 47; empty if unknown */
    double confident; /* translations with at least this confidence need no review; above 1: all need it */
    bool fuzzy;       /* translate texts again whose translation needs a review */
} DocumentOptions;

typedef struct DocumentFormat DocumentFormat;

typedef struct {
    const char *path;
    const DocumentFormat *format;
    DocumentOptions options;
    StrView bytes;
    Segment *segments; /* [count] in the order of the text */
    size_t count, capacity;
    Edit *edits;
    size_t edit_count, edit_capacity;
    StrBuf language; /* that a bilingual document names for its translations; empty: none */
    void *state;     /* private to the format */
    long kept;       /* texts that have a translation */
    long rejected;   /* translations that a rule of the format excludes: their texts have none */
} Document;

struct DocumentFormat {
    const char *name;    /* of --format */
    const char *endings; /* of the names of its files, such as ".html .htm" */
    const char *title;   /* "an HTML document" */
    bool is_wrapped;     /* a line end in a text is a space */
    bool has_many_tags;  /* the markup of its texts is tags that models seldom know */
    bool is_bilingual;   /* translations stand beside the texts */
    bool (*detect)(StrView sample);
    Status (*read)(Document *document);
    void (*write)(Document *document);
    void (*release)(void *state);
};

#define DOCUMENT_FORMATS "html|po|xliff|srt|vtt|markdown|text"
/* The format of this name; NULL: there is none. */
const DocumentFormat *document_format(StrView name);

/* The format number `index`, from 0; NULL after the last one. */
const DocumentFormat *document_format_at(int index);
/* The format that the name of a file ends with; NULL: there is none. */
const DocumentFormat *document_format_of_name(StrView file_name);

enum { DOCUMENT_SAMPLE = 65536, DOCUMENT_BYTES = 64000000 };
/* The format that a file begins with; NULL if it may be lines of text. `sample`: its first bytes. */
const DocumentFormat *document_detect(StrView sample);
/* STATUS_DATA with the commands that convert it, if the file has a known format that is not read. */
Status document_check_foreign(const char *path, StrView sample);

/* `document` is zeroed except for format, path, options and bytes, which must outlive it. */
Status document_read(Document *document);
/* Appends the new document. */
void document_write(Document *document, StrBuf *out);
void document_free(Document *document);

/* ---- for formats ---- */

Segment *document_add(Document *document, size_t from, size_t to, StrView text);
/* Replaces bytes; edits must not overlap. Returns the new text, valid until the next edit. Its line ends are
 * written as the first one of the file. */
StrBuf *document_edit(Document *document, size_t from, size_t to);
Status document_fail(const Document *document, size_t at, const char *message);
/* Are the texts equal apart from the lengths and kinds of white space? */
bool text_same_words(StrView a, StrView b);
/* Encodes and decodes & and <, so that a plain text can contain tags. */
void text_escape(StrView text, StrBuf *out);
void text_unescape(StrView text, StrBuf *out);

extern const DocumentFormat HTML_DOCUMENT, PO_DOCUMENT, XLIFF_DOCUMENT, SUBRIP_DOCUMENT, WEBVTT_DOCUMENT,
    MARKDOWN_DOCUMENT, TEXT_DOCUMENT;

#endif
