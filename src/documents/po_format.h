/* po_format.h - do the format directives of two strings agree, as msgfmt checks them? */
#ifndef DOCUMENTS_PO_FORMAT_H
#define DOCUMENTS_PO_FORMAT_H

#include "base/strview.h"

typedef enum {
    FORMAT_NONE,
    FORMAT_C,               /* c-format, objc-format, and others with the directives of printf */
    FORMAT_OTHER_DIRECTIVES /* all other kinds: braces, $name, %(name)s */
} FormatLanguage;

/* Of a flag: "c-format", "python-brace-format"; FORMAT_NONE for others, "no-c-format" among these. */
FormatLanguage po_format_of(StrView flag);
/* Printf: the same directives for the same arguments. Others: the same directives, each equally often. */
bool po_format_agrees(FormatLanguage format, StrView source, StrView target);
/* Can a translation of the singular stand beside the plural? It has the plural's directives for the same
 * arguments, or some of them: "one file in %s". */
bool po_format_fits_plural(FormatLanguage format, StrView singular, StrView plural);

#endif
