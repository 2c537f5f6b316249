/* table.c - see table.h. */
#include "formats/table.h"

#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "formats/csv.h"
#include "formats/escapes.h"
#include "formats/json_lines.h"
#include "formats/po_units.h"
#include "formats/tmx.h"
#include "formats/unit.h"
#include "formats/xliff.h"
#include "text/languages.h"

enum { MAX_NAMES = 8, MAX_MATCHES = 16, LONGEST_MATCH = 32 };
enum { SOURCE, TARGET };

/* How well a language of the file serves as source and as target. */
typedef struct {
    char name[LONGEST_MATCH];
    size_t length;
    int match[2];
} LanguageMatch;

struct TableReader {
    LineReader *bytes;
    Format format;
    long rows;    /* handed out */
    long number;  /* of the last one in the file; of tables LineReader knows it */
    bool escaped; /* a table with escapes */
    StrBuf row;
    CsvReader *csv;
    /* Of formats with units: */
    const UnitFormat *units;
    void *state;
    Unit unit;
    char *source, *target;    /* the languages; NULL until they are known */
    bool has_header, pending; /* `pending`: the unit was read to find the languages */
    long pairs, untranslated, fuzzy;
    bool neutral;                       /* they are "source" and "target" */
    LanguageMatch matches[MAX_MATCHES]; /* of the languages seen so far, because language_rank takes time */
    size_t match_count;
    StrList names; /* the first languages of the file, for messages */
};

/* ---- opening ---- */

static const struct {
    FormatKind kind;
    const UnitFormat *format;
    Status (*open)(void **state, LineReader *bytes);
} UNIT_FORMATS[] = {
    {FORMAT_TMX, &TMX_FORMAT, tmx_open},
    {FORMAT_XLIFF, &XLIFF_FORMAT, xliff_open},
    {FORMAT_PO, &PO_FORMAT, po_units_open},
    {FORMAT_JSON_LINES, &JSON_LINES_FORMAT, json_lines_open},
};

/* A line of a table, from which its format is known: lines of a pipe must not wait for more. */
static bool is_table_line(StrView start) {
    const char *end = memchr(start.data, '\n', start.length);
    StrView line = {start.data, end ? (size_t)(end - start.data) : 0};
    if (line.length == 0 || strchr("<{[\"#%\xEF", line.data[0]) || file_is_utf16(line)) return false;
    bool may_be_csv = memchr(line.data, ',', line.length) || memchr(line.data, ';', line.length);
    bool may_be_po = sv_starts(sv_trim(line), SV("msg")) || sv_starts(line, SV("domain"));
    return memchr(line.data, '\t', line.length) || (!may_be_csv && !may_be_po);
}

static Status detect(TableReader *table, const char *path) {
    StrView start;
    bool is_stream = file_size(path) < 0;
    table->format = (Format){.kind = FORMAT_TABLE, .name = "text"};
    for (size_t bytes = is_stream ? 1 : FORMAT_SAMPLE;;) {
        TRY(line_reader_peek(table->bytes, bytes, &start));
        if (bytes == FORMAT_SAMPLE || start.length < bytes) break;
        if (is_table_line(start)) return STATUS_OK;
        bool has_line = memchr(start.data, '\n', start.length);
        if (has_line && start.data[0] == '{') break;
        bytes = has_line || start.length >= FORMAT_SAMPLE ? FORMAT_SAMPLE : start.length + 1;
    }
    bool whole = start.length < FORMAT_SAMPLE;
    if (!whole) start.length = FORMAT_SAMPLE;
    table->format = format_detect(start, whole);
    return table->format.kind == FORMAT_OTHER ? format_refuse(&table->format, table_path(table)) : STATUS_OK;
}

static Status open_format(TableReader *table) {
    if (table->format.kind == FORMAT_CSV) table->csv = csv_open(table->bytes, table->format.separator);
    for (size_t i = 0; i < sizeof UNIT_FORMATS / sizeof *UNIT_FORMATS; i++) {
        if (UNIT_FORMATS[i].kind != table->format.kind) continue;
        TRY(UNIT_FORMATS[i].open(&table->state, table->bytes));
        table->units = UNIT_FORMATS[i].format;
    }
    return STATUS_OK;
}

static void set_languages(TableReader *table, StrView source, StrView target) {
    table->source = mem_strndup(source.data, source.length);
    table->target = mem_strndup(target.data, target.length);
    table->neutral = language_names_match(source, SV("source")) || language_names_match(target, SV("target"));
}

Status table_open(TableReader **opened, const char *path, StrView source, StrView target) {
    *opened = NULL;
    TableReader *table = mem_alloc(1, sizeof *table);
    Status status = line_reader_open(&table->bytes, path);
    if (status == STATUS_OK) status = detect(table, path);
    if (status == STATUS_OK) status = open_format(table);
    if (status != STATUS_OK) {
        table_close(table);
        return status;
    }
    if (source.length > 0 && target.length > 0) set_languages(table, source, target);
    *opened = table;
    return STATUS_OK;
}

void table_close(TableReader *table) {
    if (!table) return;
    if (table->units) table->units->close(table->state);
    csv_close(table->csv);
    line_reader_close(table->bytes);
    unit_free(&table->unit);
    strbuf_free(&table->row);
    strlist_free(&table->names);
    mem_free(table->source);
    mem_free(table->target);
    mem_free(table);
}

/* ---- units ---- */

static void remember_names(TableReader *table, const Unit *unit) {
    for (size_t i = 0; i < unit->count && table->names.count < MAX_NAMES; i++) {
        StrView name = strbuf_view(&unit->variants[i].language);
        bool known = name.length == 0 || name.length > 40;
        for (size_t j = 0; j < table->names.count && !known; j++)
            known = sv_equal(name, sv(table->names.items[j]));
        if (!known) strlist_add(&table->names, name);
    }
}

static int match_language(TableReader *table, int side, StrView name) {
    for (size_t i = 0; i < table->match_count; i++) {
        const LanguageMatch *earlier = &table->matches[i];
        if (sv_equal(name, (StrView){earlier->name, earlier->length})) return earlier->match[side];
    }
    LanguageMatch match = {.length = name.length};
    match.match[SOURCE] = language_rank(sv(table->source), name);
    match.match[TARGET] = language_rank(sv(table->target), name);
    if (table->match_count < MAX_MATCHES && name.length < LONGEST_MATCH) {
        if (name.length > 0) memcpy(match.name, name.data, name.length);
        table->matches[table->match_count++] = match;
    }
    return match.match[side];
}

/* The variant that serves best for a side, but not `taken`; a variant without a language if no other does. */
static const Variant *choose(TableReader *table, int side, const Variant *other_side) {
    const Unit *unit = &table->unit;
    const Variant *best = NULL;
    int best_match = 0;
    for (size_t i = 0; i < unit->count; i++) {
        const Variant *variant = &unit->variants[i];
        StrView language = strbuf_view(&variant->language);
        int match = 2 * match_language(table, side, language) + (language.length == 0);
        if (variant == other_side || match <= best_match) continue;
        best = variant;
        best_match = match;
    }
    return best;
}

/* The texts of both sides. The languages of a caller that has no names for them are in the order of the
 * unit. */
static bool choose_pair(TableReader *table, const Variant **source, const Variant **target) {
    const Unit *unit = &table->unit;
    if (table->neutral) {
        *source = choose(table, SOURCE, NULL);
        *target = choose(table, TARGET, *source);
        if (*source && *target) return true;
        *source = unit->count > 0 ? &unit->variants[0] : NULL;
        *target = unit->count > 1 ? &unit->variants[1] : NULL;
        return *target != NULL;
    }
    /* The side that is named comes before one that may be any language. */
    *target = choose(table, TARGET, NULL);
    if (*target && (*target)->language.length == 0) *target = NULL;
    *source = choose(table, SOURCE, *target);
    if (!*target) *target = choose(table, TARGET, *source);
    return *source && *target;
}

/* The languages of the first unit that has two; unknown ones are "source" and "target". */
static void find_languages(TableReader *table) {
    const Unit *unit = &table->unit;
    StrView names[2] = {SV("source"), SV("target")};
    size_t count = 0;
    for (size_t i = 0; i < unit->count && count < 2; i++) {
        StrView name = strbuf_view(&unit->variants[i].language);
        if (name.length == 0 && i == 0 && table->format.kind == FORMAT_PO) name = SV("en");
        if (language_code(name).length == 0 || (count == 1 && language_names_match(name, names[0]))) continue;
        names[count++] = name;
    }
    if (count < 2) {
        names[0] = SV("source");
        names[1] = SV("target");
    }
    set_languages(table, names[0], names[1]);
}

static Status fail_languages(const TableReader *table) {
    StrBuf names = {0};
    for (size_t i = 0; i < table->names.count; i++)
        strbuf_format(&names, "%s%s", i ? ", " : "", table->names.items[i]);
    status_fail(STATUS_DATA, "'%.600s' has no pair of %s and %s: its languages are %s",
                line_reader_path(table->bytes), table->source, table->target, strbuf_text(&names));
    status_hint(STATUS_DATA, "--languages names the two that are read, such as %s-%s", table->names.items[0],
                table->names.items[table->names.count > 1]);
    strbuf_free(&names);
    return STATUS_DATA;
}

static bool has_text(const Variant *variant) { return !unicode_is_blank(strbuf_view(&variant->text)); }

/* Reads units up to one with both texts, which becomes the row. */
static Status next_unit(TableReader *table, bool *more) {
    for (;;) {
        const Variant *source, *target;
        *more = true;
        if (!table->pending) TRY(table->units->next(table->state, &table->unit, more));
        table->pending = false;
        if (!*more) {
            bool other = table->pairs == 0 && table->names.count > 0 && !table->neutral;
            return other ? fail_languages(table) : STATUS_OK;
        }
        remember_names(table, &table->unit);
        bool fuzzy = table->unit.state == UNIT_FUZZY, both = choose_pair(table, &source, &target);
        table->pairs += both;
        table->fuzzy += fuzzy;
        table->untranslated += !fuzzy && !(both && has_text(source) && has_text(target));
        if (fuzzy || !both || !has_text(source) || !has_text(target)) continue;
        strbuf_clear(&table->row);
        escapes_add(strbuf_view(&source->text), &table->row);
        strbuf_add_char(&table->row, '\t');
        escapes_add(strbuf_view(&target->text), &table->row);
        if (table->unit.context.length > 0) strbuf_add_char(&table->row, '\t');
        escapes_add(strbuf_view(&table->unit.context), &table->row);
        table->number = table->unit.line;
        return STATUS_OK;
    }
}

/* The first line. */
static Status write_header(TableReader *table) {
    bool more = true;
    table->has_header = true;
    while (!table->source && more) {
        TRY(table->units->next(table->state, &table->unit, &more));
        table->pending = more;
        if (!more || table->unit.count > 1) find_languages(table);
    }
    strbuf_clear(&table->row);
    strbuf_format(&table->row, "%s\t%s\tcontext\t%s", table->source, table->target, ESCAPES_COLUMN);
    return STATUS_OK;
}

/* ---- reading ---- */

Status table_next(TableReader *table, StrView *line, bool *more) {
    *more = true;
    *line = (StrView){"", 0};
    if (table->units && !table->has_header)
        TRY(write_header(table));
    else if (table->units)
        TRY(next_unit(table, more));
    else if (table->csv)
        TRY(csv_next(table->csv, &table->row, &table->number, more));
    else
        TRY(line_reader_next(table->bytes, line, more));
    if (!*more) return STATUS_OK;
    if (table->units || table->csv) *line = strbuf_view(&table->row);
    if (table->rows++ == 0 && !table->units && !table->csv) table->escaped = escapes_are_named(*line);
    return STATUS_OK;
}

bool table_ready(TableReader *table) {
    bool by_lines = table->format.kind == FORMAT_TABLE || table->format.kind == FORMAT_JSON_LINES;
    return !by_lines || line_reader_ready(table->bytes);
}

bool table_has_escapes(const TableReader *table) { return table->escaped || table->units || table->csv; }

StrView table_text(const TableReader *table, StrView cell, StrBuf *buffer) {
    if (!table_has_escapes(table) || !memchr(cell.data, '\\', cell.length)) return cell;
    strbuf_clear(buffer);
    escapes_remove(cell, buffer);
    return strbuf_view(buffer);
}

bool table_has_units(const TableReader *table) { return table->units != NULL; }

long table_number(const TableReader *table) {
    return table->units || table->csv ? table->number : line_reader_number(table->bytes);
}

const char *table_path(const TableReader *table) { return line_reader_path(table->bytes); }

long table_carriage_returns(const TableReader *table) { return line_reader_carriage_returns(table->bytes); }

bool table_has_bom(const TableReader *table) { return line_reader_has_bom(table->bytes); }

long table_untranslated(const TableReader *table) { return table->untranslated; }

long table_fuzzy(const TableReader *table) { return table->fuzzy; }

long long table_consumed(const TableReader *table) { return line_reader_consumed(table->bytes); }
