/* xml_scan.h - a pass over the bytes of XML, for formats that must keep each of them.
 *
 * Checks that elements nest; knows no entities and no DTD: a document type with declarations is refused.
 *
 * Owner   views are into the text
 */
#ifndef DOCUMENTS_XML_SCAN_H
#define DOCUMENTS_XML_SCAN_H

#include "base/strview.h"

typedef enum { XML_TAG_OPEN, XML_TAG_CLOSE, XML_TAG_EMPTY } XmlTagKind;

typedef struct {
    XmlTagKind kind;
    size_t from, to;      /* of the tag */
    StrView name, prefix; /* "source", and "x" or "" */
} XmlTag;

enum { XML_SCAN_DEPTH = 256 };

/* Set `text` and zero the rest to begin. */
typedef struct {
    StrView text;
    size_t at;
    const char *error; /* NULL: none so far */
    int depth;         /* open elements, after the tag just read */
    StrView open[XML_SCAN_DEPTH];
} XmlScan;

/* The next tag; false at the end, or at an error, which is at `at`. */
bool xml_scan_next(XmlScan *scan, XmlTag *tag);
/* The value of an attribute of a tag, by its name without prefix; data is NULL if there is none. */
StrView xml_scan_attribute(StrView text, const XmlTag *tag, const char *name);

#endif
