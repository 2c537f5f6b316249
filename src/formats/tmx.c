/* tmx.c - see tmx.h. */
#include "formats/tmx.h"

#include "base/mem.h"
#include "formats/inline_tags.h"
#include "io/xml.h"

typedef struct {
    XmlReader *xml;
    const char *path;
    StrBuf source; /* srclang of the header; empty if it is *all* */
} Tmx;

Status tmx_open(void **state, LineReader *bytes) {
    XmlReader *xml;
    TRY(xml_reader_open(&xml, bytes));
    Tmx *tmx = mem_alloc(1, sizeof *tmx);
    tmx->xml = xml;
    tmx->path = line_reader_path(bytes);
    *state = tmx;
    return STATUS_OK;
}

static void tmx_close(void *state) {
    Tmx *tmx = state;
    xml_reader_close(tmx->xml);
    strbuf_free(&tmx->source);
    mem_free(tmx);
}

static StrView language_of(const Tmx *tmx) {
    StrView language = xml_reader_attribute(tmx->xml, "lang"); /* xml:lang, or lang before TMX 1.4 */
    return language.length > 0 ? language : SV("?");
}

/* The variant in the language of the header first: it is the source if nothing else says so. */
static void put_source_first(const Tmx *tmx, Unit *unit) {
    for (size_t i = 1; i < unit->count && tmx->source.length > 0; i++) {
        if (!sv_equal(strbuf_view(&unit->variants[i].language), strbuf_view(&tmx->source))) continue;
        Variant source = unit->variants[i];
        for (size_t j = i; j > 0; j--) unit->variants[j] = unit->variants[j - 1];
        unit->variants[0] = source;
        return;
    }
}

/* From behind <tu> to </tu>. */
static Status read_unit(Tmx *tmx, Unit *unit) {
    XmlEvent event;
    Variant *variant = NULL;
    for (bool more;;) {
        TRY(xml_reader_next(tmx->xml, &event, &more));
        if (!more || (event.kind == XML_END && sv_equal(event.name, SV("tu")))) break;
        if (event.kind != XML_START) continue;
        if (sv_equal(event.name, SV("tuv"))) variant = unit_add(unit, language_of(tmx));
        if (sv_equal(event.name, SV("seg")) && variant)
            TRY(inline_tags_read(tmx->xml, INLINE_TMX, tmx->path, unit->line, &variant->text));
    }
    put_source_first(tmx, unit);
    return STATUS_OK;
}

static Status tmx_next(void *state, Unit *unit, bool *more) {
    Tmx *tmx = state;
    XmlEvent event;
    for (;;) {
        TRY(xml_reader_next(tmx->xml, &event, more));
        if (!*more) return STATUS_OK;
        if (event.kind != XML_START) continue;
        if (sv_equal(event.name, SV("header"))) {
            StrView language = xml_reader_attribute(tmx->xml, "srclang");
            strbuf_clear(&tmx->source);
            if (!sv_equal(language, SV("*all*"))) strbuf_add(&tmx->source, language);
        }
        if (!sv_equal(event.name, SV("tu"))) continue;
        unit_clear(unit, event.line);
        return read_unit(tmx, unit);
    }
}

const UnitFormat TMX_FORMAT = {tmx_next, tmx_close};
