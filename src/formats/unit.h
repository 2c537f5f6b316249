/* unit.h - one text in several languages: what TMX, XLIFF, PO and JSON lines are made of. */
#ifndef FORMATS_UNIT_H
#define FORMATS_UNIT_H

#include "base/status.h"
#include "base/strview.h"

enum { UNIT_MOST_VARIANTS = 256, UNIT_MOST_BYTES = 4 << 20 };

typedef struct {
    StrBuf language; /* as the file has it; empty: unknown, may be any */
    StrBuf text;
} Variant;

typedef enum {
    UNIT_PAIR,
    UNIT_FUZZY
} UnitState; /* UNIT_FUZZY: fuzzy, obsolete or to be reviewed: left out */

/* Buffers are used again for the next unit. Zeroed, it is a valid empty unit. */
typedef struct {
    Variant *variants;
    size_t count, capacity; /* `capacity` variants have buffers */
    StrBuf context;         /* msgctxt; empty without */
    UnitState state;
    long line; /* in the file, from 1 */
} Unit;

void unit_clear(Unit *unit, long line);
/* A variant without text; NULL if there are UNIT_MOST_VARIANTS. */
Variant *unit_add(Unit *unit, StrView language);
void unit_free(Unit *unit);

/* A file as units: `state` is what the format's open made. */
typedef struct {
    Status (*next)(void *state, Unit *unit, bool *more);
    void (*close)(void *state);
} UnitFormat;

#endif
