/* xliff.c - see xliff.h. */
#include "formats/xliff.h"

#include "base/mem.h"
#include "formats/inline_tags.h"
#include "io/xml.h"

typedef struct {
    XmlReader *xml;
    const char *path;
    StrBuf source, target; /* languages of the <file>, or of the root; empty: unknown */
} Xliff;

Status xliff_open(void **state, LineReader *bytes) {
    XmlReader *xml;
    TRY(xml_reader_open(&xml, bytes));
    Xliff *xliff = mem_alloc(1, sizeof *xliff);
    xliff->xml = xml;
    xliff->path = line_reader_path(bytes);
    *state = xliff;
    return STATUS_OK;
}

static void xliff_close(void *state) {
    Xliff *xliff = state;
    xml_reader_close(xliff->xml);
    strbuf_free(&xliff->source);
    strbuf_free(&xliff->target);
    mem_free(xliff);
}

static void set_language(StrBuf *language, StrView value) {
    if (value.length == 0) return;
    strbuf_clear(language);
    strbuf_add(language, value);
}

/* Skips to the end of the element that was just begun. */
static Status skip_element(XmlReader *xml) {
    XmlEvent event;
    bool more = true;
    for (int depth = 1; depth > 0 && more;) {
        TRY(xml_reader_next(xml, &event, &more));
        if (more) depth += event.kind == XML_START ? 1 : event.kind == XML_END ? -1 : 0;
    }
    return STATUS_OK;
}

static bool is_unfinished(StrView state) {
    return sv_equal(state, SV("new")) || sv_starts(state, SV("needs-"));
}

static Status read_side(Xliff *xliff, StrBuf *language, Unit *unit) {
    Variant *variant = unit_add(unit, strbuf_view(language));
    return variant ? inline_tags_read(xliff->xml, INLINE_XLIFF, xliff->path, unit->line, &variant->text)
                   : skip_element(xliff->xml);
}

/* From behind the start of <trans-unit> or <segment> to its end, called `name`. */
static Status read_unit(Xliff *xliff, StrView name, Unit *unit) {
    XmlEvent event;
    for (bool more;;) {
        TRY(xml_reader_next(xliff->xml, &event, &more));
        if (!more || (event.kind == XML_END && sv_equal(event.name, name))) return STATUS_OK;
        if (event.kind != XML_START) continue;
        bool is_target = sv_equal(event.name, SV("target"));
        if (is_target && is_unfinished(xml_reader_attribute(xliff->xml, "state"))) unit->state = UNIT_FUZZY;
        if (is_target || sv_equal(event.name, SV("source")))
            TRY(read_side(xliff, is_target ? &xliff->target : &xliff->source, unit));
        else
            TRY(skip_element(xliff->xml));
    }
}

static void read_languages(Xliff *xliff, StrView element) {
    const XmlReader *xml = xliff->xml;
    if (sv_equal(element, SV("xliff"))) {
        set_language(&xliff->source, xml_reader_attribute(xml, "srcLang"));
        set_language(&xliff->target, xml_reader_attribute(xml, "trgLang"));
    } else if (sv_equal(element, SV("file"))) {
        set_language(&xliff->source, xml_reader_attribute(xml, "source-language"));
        set_language(&xliff->target, xml_reader_attribute(xml, "target-language"));
    }
}

static Status xliff_next(void *state, Unit *unit, bool *more) {
    Xliff *xliff = state;
    XmlEvent event;
    for (;;) {
        TRY(xml_reader_next(xliff->xml, &event, more));
        if (!*more) return STATUS_OK;
        if (event.kind != XML_START) continue;
        read_languages(xliff, event.name);
        if (sv_equal(xml_reader_attribute(xliff->xml, "restype"), SV("x-gettext-domain-header"))) {
            TRY(skip_element(xliff->xml)); /* the header of a PO file */
            continue;
        }
        bool old = sv_equal(event.name, SV("trans-unit"));
        if (old || sv_equal(event.name, SV("segment"))) {
            unit_clear(unit, event.line);
            return read_unit(xliff, old ? SV("trans-unit") : SV("segment"), unit);
        }
        bool other = sv_equal(event.name, SV("ignorable")) || sv_equal(event.name, SV("matches")) ||
                     sv_equal(event.name, SV("bin-unit"));
        if (other) TRY(skip_element(xliff->xml));
    }
}

const UnitFormat XLIFF_FORMAT = {xliff_next, xliff_close};
