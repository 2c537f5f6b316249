/* xml.c - see xml.h. Events of a chunk wait in a queue until they are taken. */
#include "io/xml.h"

#ifdef ATTN_MT_XML

#include <libxml/SAX2.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"

enum { CHUNK_BYTES = 4096, MAX_DEPTH = 256 };

/* Offsets into `text`, because it may move. Attributes follow the name: name, value, name, value. */
typedef struct {
    XmlKind kind;
    size_t name, length; /* of the name, or of the text */
    int attributes;
    size_t first; /* index of the first attribute */
    long line;
} QueuedEvent;

typedef struct {
    size_t name, name_length, value, value_length;
} Attribute;

struct XmlReader {
    LineReader *bytes;
    xmlParserCtxt *parser;
    StrBuf text;
    QueuedEvent *events;
    size_t count, capacity, next;
    Attribute *attributes;
    size_t attribute_count, attribute_capacity;
    const QueuedEvent *current;
    int depth;
    bool ended;      /* the parser has all bytes */
    bool declares;   /* the file declares an entity */
    char error[256]; /* the first one */
    long error_line;
};

/* ---- what libxml2 calls ---- */

static size_t keep(XmlReader *reader, const xmlChar *text, size_t length) {
    size_t at = reader->text.length;
    strbuf_add(&reader->text, (StrView){(const char *)text, length});
    return at;
}

static QueuedEvent *add_event(XmlReader *reader, XmlKind kind, const xmlChar *text, size_t length) {
    MEM_GROW(reader->events, reader->capacity, reader->count + 1);
    QueuedEvent *event = &reader->events[reader->count++];
    *event = (QueuedEvent){.kind = kind, .length = length, .line = xmlSAX2GetLineNumber(reader->parser)};
    event->name = keep(reader, text, length);
    event->first = reader->attribute_count;
    return event;
}

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri,
                     int namespaces, const xmlChar **declared, int count, int defaulted,
                     const xmlChar **values) {
    XmlReader *reader = context;
    if (++reader->depth > MAX_DEPTH) {
        if (!reader->error[0])
            snprintf(reader->error, sizeof reader->error, "more than %d elements deep", MAX_DEPTH);
        xmlStopParser(reader->parser);
        return;
    }
    QueuedEvent *event = add_event(reader, XML_START, name, strlen((const char *)name));
    (void)prefix, (void)uri, (void)namespaces, (void)declared, (void)defaulted;
    event->attributes = count;
    MEM_GROW(reader->attributes, reader->attribute_capacity, reader->attribute_count + (size_t)count);
    for (int i = 0; i < count; i++, values += 5) { /* name, prefix, URI, value, its end */
        Attribute *attribute = &reader->attributes[reader->attribute_count++];
        attribute->name_length = strlen((const char *)values[0]);
        attribute->name = keep(reader, values[0], attribute->name_length);
        attribute->value_length = (size_t)(values[4] - values[3]);
        attribute->value = keep(reader, values[3], attribute->value_length);
    }
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri) {
    (void)prefix, (void)uri;
    ((XmlReader *)context)->depth--;
    add_event(context, XML_END, name, strlen((const char *)name));
}

static void on_text(void *context, const xmlChar *text, int length) {
    add_event(context, XML_TEXT, text, (size_t)length);
}

static void on_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                      const xmlChar *system_id, xmlChar *content) {
    XmlReader *reader = context;
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    reader->declares = true;
    xmlStopParser(reader->parser);
}

static void on_reference(void *context, const xmlChar *name) {
    XmlReader *reader = context;
    if (!reader->error[0])
        snprintf(reader->error, sizeof reader->error, "unknown entity '&%.40s;'", (const char *)name);
    xmlStopParser(reader->parser);
}

#if LIBXML_VERSION >= 21200
static void on_error(void *context, const xmlError *error) {
#else
static void on_error(void *context, xmlError *error) {
#endif
    XmlReader *reader = context;
    if (error->level == XML_ERR_WARNING || reader->error[0]) return;
    const char *message = error->message ? error->message : "unknown error";
    snprintf(reader->error, sizeof reader->error, "%.*s", (int)strcspn(message, "\n"), message);
    reader->error_line = error->line;
}

/* ---- reading ---- */

Status xml_reader_open(XmlReader **opened, LineReader *bytes) {
    xmlSAXHandler handlers = {.initialized = XML_SAX2_MAGIC,
                              .startElementNs = on_start,
                              .endElementNs = on_end,
                              .characters = on_text,
                              .ignorableWhitespace = on_text,
                              .cdataBlock = on_text,
                              .entityDecl = on_entity,
                              .reference = on_reference,
                              .serror = on_error};
    XmlReader *reader = mem_alloc(1, sizeof *reader);
    reader->bytes = bytes;
    xmlInitParser();
    reader->parser = xmlCreatePushParserCtxt(&handlers, reader, NULL, 0, NULL);
    if (!reader->parser) {
        mem_free(reader);
        return status_fail(STATUS_RUNTIME, "cannot read '%.700s': no memory for XML",
                           line_reader_path(bytes));
    }
    xmlCtxtUseOptions(reader->parser, XML_PARSE_NONET | XML_PARSE_NOCDATA);
    *opened = reader;
    return STATUS_OK;
}

static Status check_parser(const XmlReader *reader, int code) {
    const char *path = line_reader_path(reader->bytes);
    if (reader->declares) {
        status_fail(STATUS_DATA, "'%.700s' declares entities, which are not read", path);
        return status_hint(STATUS_DATA, "xmllint --noent --nonet FILE > NEW expands them");
    }
    if (code == XML_ERR_NO_MEMORY)
        return status_fail(STATUS_RUNTIME, "cannot read '%.700s': no memory for XML", path);
    if (code == XML_ERR_OK && !reader->error[0]) return STATUS_OK;
    long line = reader->error_line > 0 ? reader->error_line : xmlSAX2GetLineNumber(reader->parser);
    return status_fail(STATUS_DATA, "'%.700s', line %ld: damaged XML: %s", path, line,
                       reader->error[0] ? reader->error : "it cannot be read");
}

/* Gives the parser a chunk; its events become the queue. */
static Status parse_chunk(XmlReader *reader) {
    char chunk[CHUNK_BYTES];
    size_t got;
    reader->count = reader->next = reader->attribute_count = 0;
    strbuf_clear(&reader->text);
    TRY(line_reader_take(reader->bytes, chunk, sizeof chunk, &got));
    reader->ended = got == 0;
    int code = xmlParseChunk(reader->parser, chunk, (int)got, reader->ended);
    return check_parser(reader, code);
}

static StrView queued_text(const XmlReader *reader, size_t at, size_t length) {
    return (StrView){reader->text.data + at, length};
}

Status xml_reader_next(XmlReader *reader, XmlEvent *event, bool *more) {
    while (reader->next == reader->count && !reader->ended) TRY(parse_chunk(reader));
    *more = reader->next < reader->count;
    if (!*more) return STATUS_OK;
    reader->current = &reader->events[reader->next++];
    *event = (XmlEvent){.kind = reader->current->kind, .line = reader->current->line};
    *(event->kind == XML_TEXT ? &event->text : &event->name) =
        queued_text(reader, reader->current->name, reader->current->length);
    return STATUS_OK;
}

StrView xml_reader_attribute(const XmlReader *reader, const char *name) {
    const Attribute *attribute = reader->attributes + reader->current->first;
    for (int i = 0; i < reader->current->attributes; i++, attribute++)
        if (sv_equal(queued_text(reader, attribute->name, attribute->name_length), sv(name)))
            return queued_text(reader, attribute->value, attribute->value_length);
    return (StrView){"", 0};
}

void xml_reader_close(XmlReader *reader) {
    if (!reader) return;
    if (reader->parser->myDoc) xmlFreeDoc(reader->parser->myDoc);
    xmlFreeParserCtxt(reader->parser);
    strbuf_free(&reader->text);
    mem_free(reader->events);
    mem_free(reader->attributes);
    mem_free(reader);
}

#else

Status xml_reader_open(XmlReader **reader, LineReader *bytes) {
    *reader = NULL;
    status_fail(STATUS_USAGE, "'%.700s' is XML, and this program was built without libxml2",
                line_reader_path(bytes));
    return status_hint(STATUS_USAGE, "install it (Debian: libxml2-dev) and run 'make' again");
}

Status xml_reader_next(XmlReader *reader, XmlEvent *event, bool *more) {
    (void)reader, (void)event;
    *more = false;
    return STATUS_OK;
}

StrView xml_reader_attribute(const XmlReader *reader, const char *name) {
    (void)reader, (void)name;
    return (StrView){"", 0};
}

void xml_reader_close(XmlReader *reader) { (void)reader; }

#endif
