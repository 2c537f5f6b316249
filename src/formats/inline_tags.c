/* inline_tags.c - see inline_tags.h. */
#include "formats/inline_tags.h"

#include <stdlib.h>
#include "base/utf8.h"
#include "formats/unit.h"

static bool is_one_of(StrView name, const char *const *names) {
    for (; *names; names++)
        if (sv_equal(name, sv(*names))) return true;
    return false;
}

/* <cp hex="001A"/>: a character that XML does not allow. */
static void add_character(const XmlReader *xml, StrBuf *text) {
    char number[9] = {0};
    StrView hex = xml_reader_attribute(xml, "hex");
    for (size_t i = 0; i < hex.length && i < sizeof number - 1; i++) number[i] = hex.data[i];
    long code = strtol(number, NULL, 16);
    if (code > 0 && code < 0x110000 && (code < 0xD800 || code > 0xDFFF)) utf8_add(text, (int)code);
}

/* A code without content. */
static void add_code(const XmlReader *xml, StrView name, StrBuf *text) {
    static const char *const PLACEHOLDERS[] = {"ph", "x", NULL};
    StrView equivalent = xml_reader_attribute(xml, "equiv-text");
    if (equivalent.length == 0) equivalent = xml_reader_attribute(xml, "equiv");
    if (equivalent.length > 0) {
        strbuf_add(text, equivalent);
        return;
    }
    if (!is_one_of(name, PLACEHOLDERS)) return;
    StrView id = xml_reader_attribute(xml, "x");
    if (id.length == 0) id = xml_reader_attribute(xml, "id");
    strbuf_format(text, "{%.*s}", (int)(id.length < 40 ? id.length : 40), id.data);
}

/* A code that is open; codes inside of it are part of its text. */
typedef struct {
    int depth;    /* 0: none is open */
    size_t start; /* of its text */
    StrBuf instead;
} OpenCode;

static Status read_tags(XmlReader *xml, const char *const *codes, const char *path, long line, OpenCode *code,
                        StrBuf *text) {
    for (int depth = 0; depth >= 0;) {
        XmlEvent event;
        bool more;
        TRY(xml_reader_next(xml, &event, &more));
        if (!more) return STATUS_OK;
        if (event.kind == XML_TEXT) strbuf_add(text, event.text);
        if (event.kind == XML_START) {
            depth++;
            if (sv_equal(event.name, SV("cp"))) add_character(xml, text);
            if (code->depth == 0 && is_one_of(event.name, codes)) {
                code->depth = depth;
                code->start = text->length;
                strbuf_clear(&code->instead);
                add_code(xml, event.name, &code->instead);
            }
        }
        if (event.kind == XML_END) {
            bool ends = code->depth == depth && depth > 0;
            if (ends && text->length == code->start) strbuf_add(text, strbuf_view(&code->instead));
            if (ends) code->depth = 0;
            depth--;
        }
        if (text->length > UNIT_MOST_BYTES)
            return status_fail(STATUS_DATA, "'%.700s', line %ld: a unit of more than %d MB", path, line,
                               UNIT_MOST_BYTES >> 20);
    }
    return STATUS_OK;
}

Status inline_tags_read(XmlReader *xml, InlineTags tags, const char *path, long line, StrBuf *text) {
    static const char *const TMX_CODES[] = {"bpt", "ept", "it", "ph", "ut", NULL};
    static const char *const XLIFF_CODES[] = {"bpt", "ept", "it", "ph", "x",  "bx",
                                              "ex",  "sc",  "ec", "sm", "em", NULL};
    OpenCode code = {0};
    Status status = read_tags(xml, tags == INLINE_TMX ? TMX_CODES : XLIFF_CODES, path, line, &code, text);
    strbuf_free(&code.instead);
    return status;
}
