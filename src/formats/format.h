/* format.h - what kind of file it is, by its first bytes and never by its name. */
#ifndef FORMATS_FORMAT_H
#define FORMATS_FORMAT_H

#include "base/status.h"
#include "base/strview.h"

typedef enum {
    FORMAT_TABLE, /* lines with TABs, and every text that is nothing else */
    FORMAT_CSV,   /* RFC 4180, with ',', ';' or TAB between the cells */
    FORMAT_JSON_LINES,
    FORMAT_TMX,
    FORMAT_XLIFF,
    FORMAT_PO,
    FORMAT_OTHER /* known, and not read */
} FormatKind;

typedef struct {
    FormatKind kind;
    char separator;   /* of FORMAT_CSV */
    const char *name; /* "a TMX file", "a PDF file" */
    const char *hint; /* of FORMAT_OTHER: how to get pairs out of it */
} Format;

enum { FORMAT_SAMPLE = 256 * 1024 }; /* bytes that decide */

/* `whole`: the sample is the whole file. */
Format format_detect(StrView sample, bool whole);
/* STATUS_DATA with the name and the hint, for FORMAT_OTHER. */
Status format_refuse(const Format *format, const char *path);

#endif
