/* xml.h - XML as a stream of elements and text, and the only user of libxml2.
 *
 * The parser pushes chunks of the file through libxml2's SAX interface: memory does not grow with the file.
 * Nothing else is read: no DTD, no external entity, no network. A file that declares entities is refused,
 * so nothing can expand. A file is at most 256 elements deep, and has at most 10 MB in one text or tag.
 * Encodings are converted to UTF-8. Comments and processing instructions are left out.
 *
 * Owner   the LineReader stays the caller's; views are valid until the next xml_reader_next
 * Fails   STATUS_DATA with file and line; STATUS_USAGE if the program was built without libxml2
 */
#ifndef IO_XML_H
#define IO_XML_H

#include "io/fileio.h"

typedef enum { XML_START, XML_END, XML_TEXT } XmlKind;

typedef struct {
    XmlKind kind;
    StrView name; /* of the element, without its prefix */
    StrView text; /* of XML_TEXT; longer texts come in parts */
    long line;    /* where the element, or this part of the text, ends to begin */
} XmlEvent;

typedef struct XmlReader XmlReader;
/* Reads from the first byte that `bytes` has not handed out. */
Status xml_reader_open(XmlReader **reader, LineReader *bytes);
/* The next event; an empty element has a start and an end. *more is false after the end of the root. */
Status xml_reader_next(XmlReader *reader, XmlEvent *event, bool *more);
/* The attribute of the XML_START just read, by its name without prefix ("lang" for xml:lang); empty
 * without. */
StrView xml_reader_attribute(const XmlReader *reader, const char *name);
void xml_reader_close(XmlReader *reader);

#endif
