/* po_units.c - see po_units.h. */
#include "formats/po_units.h"

#include "base/mem.h"
#include "formats/plural_forms.h"
#include "io/po.h"

typedef struct {
    PoCatalogue *catalogue;
    StrBuf source, target; /* languages; empty: unknown */
    PoEntry entry;
    int form;     /* next one of the entry */
    int singular; /* the form that translates msgid */
} PoUnits;

Status po_units_open(void **state, LineReader *bytes) {
    PoCatalogue *catalogue;
    TRY(po_catalogue_read(&catalogue, bytes));
    PoUnits *units = mem_alloc(1, sizeof *units);
    units->catalogue = catalogue;
    po_catalogue_field(catalogue, "X-Source-Language", &units->source);
    po_catalogue_field(catalogue, "Language", &units->target);
    StrBuf forms = {0};
    po_catalogue_field(catalogue, "Plural-Forms", &forms);
    units->singular = plural_forms_parse(strbuf_view(&forms)).singular;
    strbuf_free(&forms);
    *state = units;
    return STATUS_OK;
}

static void po_units_close(void *state) {
    PoUnits *units = state;
    po_catalogue_free(units->catalogue);
    strbuf_free(&units->source);
    strbuf_free(&units->target);
    mem_free(units);
}

static Status po_units_next(void *state, Unit *unit, bool *more) {
    PoUnits *units = state;
    PoEntry *entry = &units->entry;
    *more = true;
    if (units->form >= entry->forms) {
        units->form = 0;
        do *more = po_catalogue_next(units->catalogue, entry);
        while (*more && entry->forms == 0);
        if (!*more) return STATUS_OK;
    }
    int form = units->form++;
    bool is_plural = entry->plural.length > 0 && (form != units->singular || entry->forms == 1);
    unit_clear(unit, entry->line);
    unit->state = entry->fuzzy || entry->obsolete ? UNIT_FUZZY : UNIT_PAIR;
    strbuf_add(&unit->context, entry->context);
    strbuf_add(&unit_add(unit, strbuf_view(&units->source))->text, is_plural ? entry->plural : entry->id);
    strbuf_add(&unit_add(unit, strbuf_view(&units->target))->text, po_entry_form(entry, form));
    return STATUS_OK;
}

const UnitFormat PO_FORMAT = {po_units_next, po_units_close};
