/* document_xliff.c - XLIFF 1.2 and 2.0. A scanner of its own keeps each byte that is not written.
 *
 * Units without a translation get a <target> with its state: translated from the threshold of confidence on,
 * else needs-review-translation (1.2) or initial (2.0). The confidence is the quality of a match:
 * <alt-trans match-quality> in 1.2, a match of the module mtc in 2.0. Texts without elements keep their lines
 * and columns, as in PO files.
 */
#include <string.h>
#include "base/mem.h"
#include "documents/document.h"
#include "documents/wrapped_lines.h"
#include "documents/xml_scan.h"
#include "text/entities.h"
#include "text/markup.h"

typedef struct {
    bool is_there;
    XmlTag tag;        /* the opening one, or an empty one */
    size_t inner, end; /* its content, and the end of the element */
    size_t inner_end;
} Element;

/* A <trans-unit>, or a <segment>. */
typedef struct {
    XmlTag tag;
    Element source, seg_source, target, match; /* match: an <alt-trans> that we wrote */
    size_t unit;                               /* 2.0: the end of the tag of its <unit> */
    size_t matches_end;                        /* 2.0: where <matches> of the unit ends; 0: there is none */
    StrView matches_prefix;
    int number;    /* in its <unit>, from 1 */
    bool is_lines; /* a text without elements: its segment has its pieces (wrapped_lines.h) */
    size_t segment;
} Unit;

typedef struct {
    size_t at; /* before the end of the tag */
} Insertion;

typedef struct {
    bool is_new; /* version 2 */
    Unit *units;
    size_t count, capacity;
    Insertion *languages; /* tags without a target language */
    size_t language_count, language_capacity;
} Xliff;

static bool is_name(const XmlTag *tag, const char *name) { return sv_equal(tag->name, sv(name)); }

static bool detect(StrView sample) {
    XmlScan scan = {.text = sample};
    XmlTag tag;
    sample = sv_trim(sample);
    return sample.length > 0 && sample.data[0] == '<' && xml_scan_next(&scan, &tag) && is_name(&tag, "xliff");
}

/* ---- reading ---- */

typedef struct {
    Document *document;
    Xliff *xliff;
    XmlScan scan;
    bool translate[XML_SCAN_DEPTH + 1]; /* of each depth */
    XmlTag unit_tag;                    /* of <unit> */
    int unit_segments;
    size_t matches_end;
    StrView matches_prefix;
} Reader;

/* From the tag to the end of its element. */
static bool read_element(Reader *reader, const XmlTag *tag, Element *element) {
    XmlScan *scan = &reader->scan;
    *element =
        (Element){.is_there = true, .tag = *tag, .inner = tag->to, .inner_end = tag->to, .end = tag->to};
    if (tag->kind == XML_TAG_EMPTY) return true;
    XmlTag next = *tag;
    for (int depth = scan->depth; scan->depth >= depth;)
        if (!xml_scan_next(scan, &next)) return false;
    element->inner_end = next.from;
    element->end = next.to;
    return true;
}

static void note_language(Reader *reader, const XmlTag *tag, const char *name) {
    Xliff *xliff = reader->xliff;
    StrView language = xml_scan_attribute(reader->scan.text, tag, name);
    if (language.data) {
        strbuf_clear(&reader->document->language);
        strbuf_add(&reader->document->language, language);
        return;
    }
    MEM_GROW(xliff->languages, xliff->language_capacity, xliff->language_count + 1);
    bool slash = tag->kind == XML_TAG_EMPTY;
    xliff->languages[xliff->language_count++] = (Insertion){tag->to - 1 - slash};
}

/* CDATA as text. */
static void add_source(StrView source, StrBuf *out) {
    for (;;) {
        StrView begin = SV("<![CDATA[");
        const char *cdata = memmem(source.data, source.length, begin.data, begin.length);
        const char *end =
            cdata ? memmem(cdata, (size_t)(source.data + source.length - cdata), "]]>", 3) : NULL;
        if (!end) break;
        strbuf_add(out, (StrView){source.data, (size_t)(cdata - source.data)});
        cdata += begin.length;
        text_escape((StrView){cdata, (size_t)(end - cdata)}, out);
        source = (StrView){end + 3, (size_t)(source.data + source.length - end) - 3};
    }
    strbuf_add(out, source);
}

static bool is_unfinished(const Reader *reader, const Unit *unit) {
    StrView text = reader->scan.text;
    if (reader->xliff->is_new) {
        StrView state = xml_scan_attribute(text, &unit->tag, "state");
        return state.length == 0 || sv_equal(state, SV("initial"));
    }
    StrView state = xml_scan_attribute(text, &unit->target.tag, "state");
    return sv_equal(state, SV("new")) || sv_starts(state, SV("needs-"));
}

static StrView inner(const Reader *reader, const Element *element) {
    return (StrView){reader->scan.text.data + element->inner, element->inner_end - element->inner};
}

static void add_unit(Reader *reader, Unit *unit) {
    Document *document = reader->document;
    Xliff *xliff = reader->xliff;
    const Element *from = unit->seg_source.is_there ? &unit->seg_source : &unit->source;
    if (!unit->source.is_there || sv_trim(inner(reader, from)).length == 0) return;
    bool empty = !unit->target.is_there || sv_trim(inner(reader, &unit->target)).length == 0;
    bool approved = sv_equal(xml_scan_attribute(reader->scan.text, &unit->tag, "approved"), SV("yes"));
    if (approved || (!empty && !(document->options.fuzzy && is_unfinished(reader, unit)))) {
        document->kept++;
        return;
    }
    StrBuf text = {0}, pieces = {0};
    add_source(inner(reader, from), &text);
    unit->is_lines = !memchr(text.data, '<', text.length);
    if (unit->is_lines) lines_unwrap(strbuf_view(&text), &pieces);
    unit->segment = document->count;
    document_add(document, from->inner, from->inner_end, strbuf_view(unit->is_lines ? &pieces : &text));
    strbuf_free(&pieces);
    strbuf_free(&text);
    MEM_GROW(xliff->units, xliff->capacity, xliff->count + 1);
    xliff->units[xliff->count++] = *unit;
}

/* From the tag of a <trans-unit> or <segment> to its end. */
static bool read_unit(Reader *reader, const XmlTag *tag, bool translate) {
    Unit unit = {.tag = *tag,
                 .unit = reader->unit_tag.to,
                 .number = ++reader->unit_segments,
                 .matches_end = reader->matches_end,
                 .matches_prefix = reader->matches_prefix};
    int depth = reader->scan.depth;
    while (reader->scan.depth >= depth) {
        XmlTag child;
        Element element;
        if (!xml_scan_next(&reader->scan, &child)) return false;
        if (child.kind == XML_TAG_CLOSE) continue;
        if (!read_element(reader, &child, &element)) return false;
        bool ours = is_name(&child, "alt-trans") &&
                    sv_equal(xml_scan_attribute(reader->scan.text, &child, "origin"), SV("attn-mt"));
        Element *place = is_name(&child, "source")       ? &unit.source
                         : is_name(&child, "seg-source") ? &unit.seg_source
                         : is_name(&child, "target")     ? &unit.target
                         : ours                          ? &unit.match
                                                         : NULL;
        if (place && !place->is_there) *place = element;
    }
    if (translate) add_unit(reader, &unit);
    return true;
}

static bool read_tag(Reader *reader, const XmlTag *tag) {
    StrView text = reader->scan.text;
    int depth = reader->scan.depth;
    if (tag->kind == XML_TAG_CLOSE) return true;
    StrView no = xml_scan_attribute(text, tag, "translate");
    bool translate = reader->translate[depth > 0 ? depth - 1 : 0];
    if (no.data) translate = !sv_equal(no, SV("no"));
    if (tag->kind == XML_TAG_OPEN) reader->translate[depth] = translate;
    if (is_name(tag, "xliff")) {
        reader->xliff->is_new = sv_starts(xml_scan_attribute(text, tag, "version"), SV("2"));
        if (reader->xliff->is_new) note_language(reader, tag, "trgLang");
    }
    bool is_new = reader->xliff->is_new;
    if (is_name(tag, "file") && !is_new) note_language(reader, tag, "target-language");
    if (is_name(tag, "unit")) {
        reader->unit_tag = *tag;
        reader->unit_segments = 0;
        reader->matches_end = 0;
    }
    Element element;
    if (is_new && is_name(tag, "matches")) {
        if (!read_element(reader, tag, &element)) return false;
        reader->matches_end = tag->kind == XML_TAG_EMPTY ? 0 : element.inner_end;
        reader->matches_prefix = tag->prefix;
    }
    bool header = sv_equal(xml_scan_attribute(text, tag, "restype"), SV("x-gettext-domain-header"));
    bool other = header || is_name(tag, "bin-unit") || is_name(tag, "ignorable") || is_name(tag, "glossary");
    if (other) return read_element(reader, tag, &element);
    if (tag->kind == XML_TAG_OPEN && is_name(tag, is_new ? "segment" : "trans-unit"))
        return read_unit(reader, tag, translate);
    return true;
}

static Status read(Document *document) {
    Xliff *xliff = mem_alloc(1, sizeof *xliff);
    document->state = xliff;
    Reader *reader = mem_alloc(1, sizeof *reader);
    *reader = (Reader){.document = document, .xliff = xliff, .scan = {.text = document->bytes}};
    reader->translate[0] = true;
    XmlTag tag;
    while (xml_scan_next(&reader->scan, &tag) && read_tag(reader, &tag)) continue;
    const char *error = reader->scan.error;
    size_t at = reader->scan.at;
    mem_free(reader);
    return error ? document_fail(document, at, error) : STATUS_OK;
}

/* ---- writing ---- */

static bool is_xml_entity(StrView entity) {
    static const char *const NAMES[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (sv_equal(entity, sv(NAMES[i]))) return true;
    return entity.length > 2 && entity.data[1] == '#';
}

/* Escapes & and < that are no markup; false if the elements do not nest, or it has characters that XML does
 * not allow. */
static bool make_well_formed(StrView text, StrBuf *out) {
    for (size_t at = 0; at < text.length;) {
        size_t entity = text.data[at] == '&' ? entity_length(text, at) : 0;
        size_t tag = text.data[at] == '<' ? tag_length(text, at) : 0, length = entity + tag;
        if (entity > 0 && !is_xml_entity((StrView){text.data + at, entity})) length = 0;
        unsigned char c = (unsigned char)text.data[at];
        if (c < ' ' && c != '\t' && c != '\n' && c != '\r') return false;
        if (length == 0) {
            text_escape((StrView){text.data + at, 1}, out);
            length = 1;
        } else {
            strbuf_add(out, (StrView){text.data + at, length});
        }
        at += length;
    }
    XmlScan *scan = mem_alloc(1, sizeof *scan);
    *scan = (XmlScan){.text = {strbuf_text(out), out->length}};
    for (XmlTag tag; xml_scan_next(scan, &tag);) continue;
    bool sound = !scan->error;
    mem_free(scan);
    return sound;
}

static void add_name(StrView prefix, const char *name, StrBuf *out) {
    if (prefix.length > 0) strbuf_format(out, "%.*s:", SV_ARG(prefix));
    strbuf_add(out, sv(name));
}

/* An opening tag without the attributes `left_out`, and without its end. */
static void add_tag_without(StrView text, const XmlTag *tag, const char *const *left_out, StrBuf *out) {
    const char *after = tag->name.data + tag->name.length;
    strbuf_add(out, (StrView){text.data + tag->from, (size_t)(after - text.data) - tag->from});
    StrView rest = {after, (size_t)(text.data + tag->to - after)}, key, value;
    while (tag_next_attribute(&rest, &key, &value)) {
        bool found = false;
        for (const char *const *name = left_out; *name; name++) found |= sv_equal(key, sv(*name));
        if (found || !value.data || value.data == text.data) continue;
        char quote = value.data[-1] == '\'' ? '\'' : '"';
        strbuf_format(out, " %.*s=%c%.*s%c", SV_ARG(key), quote, SV_ARG(value), quote);
    }
}

/* The white space before an element, if a line begins with it. */
static StrView indent_before(StrView text, size_t at) {
    size_t start = at;
    while (start > 0 && (text.data[start - 1] == ' ' || text.data[start - 1] == '\t')) start--;
    bool line = start > 0 && text.data[start - 1] == '\n';
    return line ? (StrView){text.data + start - 1, at - start + 1} : SV("");
}

static void write_target(StrView text, const Unit *unit, bool is_new, bool confident, StrView translation,
                         StrBuf *out) {
    static const char *const STATES[] = {"state", "state-qualifier", NULL};
    StrView prefix = unit->source.tag.prefix;
    if (unit->target.is_there) {
        add_tag_without(text, &unit->target.tag, STATES, out);
    } else {
        StrView space = xml_scan_attribute(text, &unit->source.tag, "space");
        strbuf_add_char(out, '<');
        add_name(prefix, "target", out);
        if (space.length > 0) strbuf_format(out, " xml:space=\"%.*s\"", SV_ARG(space));
    }
    if (!is_new)
        strbuf_format(out, " state=\"%s\" state-qualifier=\"mt-suggestion\"",
                      confident ? "translated" : "needs-review-translation");
    strbuf_format(out, ">%.*s</", SV_ARG(translation));
    add_name(unit->target.is_there ? unit->target.tag.prefix : prefix, "target", out);
    strbuf_add_char(out, '>');
}

/* "<prefix:name>content</prefix:name>" */
static void add_element(StrView prefix, const char *name, StrView content, StrBuf *out) {
    strbuf_add_char(out, '<');
    add_name(prefix, name, out);
    strbuf_format(out, ">%.*s</", SV_ARG(content));
    add_name(prefix, name, out);
    strbuf_add_char(out, '>');
}

static void write_old(Document *document, const Unit *unit, double confidence, StrView translation) {
    StrView text = document->bytes, prefix = unit->source.tag.prefix;
    const Element *after = unit->seg_source.is_there ? &unit->seg_source : &unit->source;
    StrView indent = indent_before(text, unit->source.tag.from);
    size_t from = unit->target.is_there ? unit->target.tag.from : after->end;
    size_t to = unit->target.is_there ? unit->target.end : from;
    bool confident = confidence >= document->options.confident;
    if (unit->match.is_there) {
        size_t start = unit->match.tag.from - indent_before(text, unit->match.tag.from).length;
        document_edit(document, start, unit->match.end);
    }
    StrBuf *out = document_edit(document, from, to);
    if (!unit->target.is_there) strbuf_add(out, indent);
    write_target(text, unit, false, confident, translation, out);
    strbuf_format(out, "%.*s<", SV_ARG(indent));
    add_name(prefix, "alt-trans", out);
    strbuf_format(out, " match-quality=\"%.0f%%\" origin=\"attn-mt\">", 100 * confidence);
    /* A target with segments needs them in its source, says the schema. */
    const Element *segments = &unit->seg_source;
    strbuf_add(out, (StrView){text.data + segments->tag.from, segments->end - segments->tag.from});
    add_element(prefix, "target", translation, out);
    strbuf_add(out, SV("</"));
    add_name(prefix, "alt-trans", out);
    strbuf_add_char(out, '>');
}

#define MATCHES "urn:oasis:names:tc:xliff:matches:2.0"

static void write_new(Document *document, const Unit *unit, bool opens, bool closes, double confidence,
                      StrView translation) {
    static const char *const STATE[] = {"state", "subState", NULL};
    StrView text = document->bytes, id = xml_scan_attribute(text, &unit->tag, "id");
    StrView prefix = unit->source.tag.prefix, matches = unit->matches_prefix;
    StrBuf made_id = {0}, *out;
    if (id.data)
        strbuf_add(&made_id, id);
    else
        strbuf_format(&made_id, "attn-mt-%d", unit->number);
    /* The match, at the start of the unit or in its list of matches. */
    size_t at = unit->matches_end > 0 ? unit->matches_end : unit->unit;
    out = document_edit(document, at, at);
    if (unit->matches_end == 0) matches = SV("mtc");
    if (opens && unit->matches_end == 0) strbuf_add(out, SV("<mtc:matches xmlns:mtc=\"" MATCHES "\">"));
    strbuf_add_char(out, '<');
    add_name(matches, "match", out);
    strbuf_format(out, " ref=\"#%s\" matchQuality=\"%.0f\" origin=\"attn-mt\" type=\"mt\">",
                  strbuf_text(&made_id), 100 * confidence);
    size_t length = unit->source.inner_end - unit->source.inner;
    add_element(prefix, "source", (StrView){text.data + unit->source.inner, length}, out);
    add_element(prefix, "target", translation, out);
    strbuf_add(out, SV("</"));
    add_name(matches, "match", out);
    strbuf_add_char(out, '>');
    if (closes && unit->matches_end == 0) strbuf_add(out, SV("</mtc:matches>"));
    /* The state, and the target. */
    out = document_edit(document, unit->tag.from, unit->tag.to);
    add_tag_without(text, &unit->tag, STATE, out);
    if (!id.data) strbuf_format(out, " id=\"%s\"", strbuf_text(&made_id));
    strbuf_format(out, " state=\"%s\">",
                  confidence >= document->options.confident ? "translated" : "initial");
    size_t from = unit->target.is_there ? unit->target.tag.from : unit->source.end;
    size_t to = unit->target.is_there ? unit->target.end : from;
    out = document_edit(document, from, to);
    if (!unit->target.is_there) strbuf_add(out, indent_before(text, unit->source.tag.from));
    write_target(text, unit, true, false, translation, out);
    strbuf_free(&made_id);
}

/* Is the last or next unit that is written one of the same <unit>? */
static bool same_unit(const Xliff *xliff, const bool *written, size_t u, int step) {
    for (size_t other = u + (size_t)step; other < xliff->count; other += (size_t)step) {
        if (xliff->units[other].unit != xliff->units[u].unit) return false;
        if (written[other]) return true;
    }
    return false;
}

/* Appends what becomes the target; false if it is no XML, or has other lines than the source. */
static bool add_target(const Document *document, const Unit *unit, const Segment *segment, StrBuf *out) {
    const Element *from = unit->seg_source.is_there ? &unit->seg_source : &unit->source;
    StrView source = {document->bytes.data + from->inner, from->inner_end - from->inner};
    StrBuf text = {0}, lines = {0};
    add_source(source, &text);
    bool made =
        unit->is_lines && lines_rewrap(strbuf_view(&text), strbuf_view(&segment->translation), &lines);
    bool sound = (made || !unit->is_lines || segment->from_memory) &&
                 make_well_formed(strbuf_view(made ? &lines : &segment->translation), out);
    strbuf_free(&text);
    strbuf_free(&lines);
    return sound;
}

static void write(Document *document) {
    const Xliff *xliff = document->state;
    StrView language = document->options.target_language;
    bool *written = mem_alloc(xliff->count, sizeof *written);
    StrBuf *texts = mem_alloc(xliff->count, sizeof *texts);
    for (size_t u = 0; u < xliff->count; u++) {
        const Segment *segment = &document->segments[xliff->units[u].segment];
        written[u] = segment->is_translated && add_target(document, &xliff->units[u], segment, &texts[u]);
        document->rejected += segment->is_translated && !written[u];
    }
    for (size_t u = 0; u < xliff->count; u++) {
        const Unit *unit = &xliff->units[u];
        double confidence = document->segments[unit->segment].confidence;
        if (written[u] && xliff->is_new)
            write_new(document, unit, !same_unit(xliff, written, u, -1), !same_unit(xliff, written, u, 1),
                      confidence, strbuf_view(&texts[u]));
        else if (written[u])
            write_old(document, unit, confidence, strbuf_view(&texts[u]));
        strbuf_free(&texts[u]);
    }
    for (size_t i = 0; i < xliff->language_count && language.length > 0; i++) {
        size_t at = xliff->languages[i].at;
        strbuf_format(document_edit(document, at, at), " %s=\"%.*s\"",
                      xliff->is_new ? "trgLang" : "target-language", SV_ARG(language));
    }
    mem_free(written);
    mem_free(texts);
}

static void release(void *state) {
    Xliff *xliff = state;
    mem_free(xliff->units);
    mem_free(xliff->languages);
    mem_free(xliff);
}

const DocumentFormat XLIFF_DOCUMENT = {.name = "xliff",
                                       .endings = ".xlf .xliff",
                                       .title = "an XLIFF file",
                                       .has_many_tags = true,
                                       .is_bilingual = true,
                                       .detect = detect,
                                       .read = read,
                                       .write = write,
                                       .release = release};
