/* xml_check.h - checks that a picture is well-formed XML. */
#ifndef UNIT_XML_CHECK_H
#define UNIT_XML_CHECK_H

#include "base/strview.h"

/* Returns NULL or an error. One root; elements nested and closed; attributes quoted and not repeated; only
 * the five named entities; valid UTF-8 without characters that XML forbids; <?...?> only at the start. */
const char *xml_check(StrView text);

#endif
