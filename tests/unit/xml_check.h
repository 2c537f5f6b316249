/* xml_check.h - is a text well-formed XML, as far as pictures need it? For tests. */
#ifndef UNIT_XML_CHECK_H
#define UNIT_XML_CHECK_H

#include "base/strview.h"

/* NULL, or what is wrong. One root; elements nested and closed; attributes quoted and not repeated; only the
 * five named entities; valid UTF-8 without characters that XML forbids; <?...?> only at the start. */
const char *xml_check(StrView text);

#endif
