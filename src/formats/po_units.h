/* po_units.h - the entries of a PO file as units.
 *
 * The source is msgid, in the language of the header's X-Source-Language; without that field it may be
 * any, and is called English. The target's language is the header's Language. Fuzzy and obsolete entries
 * are UNIT_FUZZY. An entry with plural forms is a unit for each form: the one for n = 1 (Plural-Forms)
 * translates msgid, the others msgid_plural; a single form translates msgid_plural.
 */
#ifndef FORMATS_PO_UNITS_H
#define FORMATS_PO_UNITS_H

#include "formats/unit.h"
#include "io/fileio.h"

extern const UnitFormat PO_FORMAT;
Status po_units_open(void **state, LineReader *bytes);

#endif
