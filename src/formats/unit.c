/* unit.c - see unit.h. */
#include "formats/unit.h"

#include "base/mem.h"

void unit_clear(Unit *unit, long line) {
    unit->count = 0;
    unit->state = UNIT_PAIR;
    unit->line = line;
    strbuf_clear(&unit->context);
}

Variant *unit_add(Unit *unit, StrView language) {
    if (unit->count == UNIT_MOST_VARIANTS) return NULL;
    if (unit->count == unit->capacity) {
        unit->capacity = unit->capacity ? 2 * unit->capacity : 4;
        unit->variants = mem_realloc(unit->variants, unit->capacity, sizeof *unit->variants);
        for (size_t i = unit->count; i < unit->capacity; i++) unit->variants[i] = (Variant){{0}, {0}};
    }
    Variant *variant = &unit->variants[unit->count++];
    strbuf_clear(&variant->language);
    strbuf_clear(&variant->text);
    strbuf_add(&variant->language, language);
    return variant;
}

void unit_free(Unit *unit) {
    for (size_t i = 0; i < unit->capacity; i++) {
        strbuf_free(&unit->variants[i].language);
        strbuf_free(&unit->variants[i].text);
    }
    mem_free(unit->variants);
    strbuf_free(&unit->context);
    *unit = (Unit){0};
}
