/* columns.c - see columns.h. */
#include "data/columns.h"

#include <string.h>
#include "formats/table.h"
#include "io/fileio.h"
#include "base/log.h"
#include "text/languages.h"

static int last_of(const Columns *columns) {
    return columns->source > columns->target ? columns->source : columns->target;
}

static Columns first_two(StrView source, StrView target, ColumnsReason reason) {
    return (Columns){0, 1, 2, source, target, reason};
}

Columns columns_first_two(StrView source, StrView target) {
    return first_two(source, target, COLUMNS_DEFAULT);
}

static void swap_sides(Columns *columns) {
    *columns = (Columns){columns->target,      columns->source,      columns->count,
                         columns->target_name, columns->source_name, columns->reason};
}

/* ---- headers ---- */

/* Numbers are not names, and neither are sentences: they are long, or end with a punctuation mark. Short
 * abbreviations ("Nr.") do so too. */
static bool is_column_name(StrView field) {
    enum { LONGEST = 40, SHORT = 4 };
    field = sv_trim(field);
    if (field.length == 0) return true;
    if (field.length > SHORT && strchr(".!?", field.data[field.length - 1])) return false;
    return field.length <= LONGEST && (field.data[0] < '0' || field.data[0] > '9');
}

/* Two languages in the first two columns are enough; further on, all columns must have names. */
static bool is_header(StrView line, const Columns *columns) {
    StrView field;
    if (last_of(columns) == 1) return true;
    while (sv_next(&line, '\t', &field))
        if (!is_column_name(field)) return false;
    return true;
}

/* The first two languages in the line; `indonesian`: "id" is one. */
static bool find_any_two(StrView line, bool indonesian, Columns *columns) {
    StrView field;
    *columns = (Columns){.reason = COLUMNS_HEADER};
    for (int column = 0; sv_next(&line, '\t', &field); column++) {
        StrView code = language_code(field);
        if (code.length == 0 || sv_equal(code, columns->source_name)) continue;
        if (sv_equal(code, SV("id")) && !indonesian) continue;
        if (columns->source_name.length > 0) {
            columns->target = column;
            columns->count = column + 1;
            columns->target_name = code;
            return true;
        }
        columns->source = column;
        columns->source_name = code;
    }
    return false;
}

static bool is_any_header(StrView line, Columns *columns) {
    if (find_any_two(line, false, columns) && is_header(line, columns)) return true;
    if (!find_any_two(line, true, columns)) return false;
    bool starts_with_id = columns->source == 0 && sv_equal(columns->source_name, SV("id"));
    return columns->target == 1 || (!starts_with_id && is_header(line, columns));
}

/* The first column of either language, and the next one of the other language. */
static bool find_both(StrView line, StrView source, StrView target, Columns *columns) {
    StrView field;
    bool has_source = false, has_target = false;
    *columns = (Columns){.source_name = source, .target_name = target, .reason = COLUMNS_HEADER};
    for (int column = 0; !(has_source && has_target) && sv_next(&line, '\t', &field); column++) {
        if (!has_source && language_names_match(field, source)) {
            columns->source = column;
            has_source = true;
        } else if (!has_target && language_names_match(field, target)) {
            columns->target = column;
            has_target = true;
        }
    }
    columns->count = last_of(columns) + 1;
    return has_source && has_target;
}

bool columns_from_header_of(StrView line, StrView source, StrView target, Columns *columns) {
    if (source.length == 0 || target.length == 0) return false;
    if (find_both(line, source, target, columns)) return is_header(line, columns);
    if (!find_both(line, SV("source"), SV("target"), columns)) return false;
    columns->source_name = source;
    columns->target_name = target;
    return is_header(line, columns);
}

/* "en-US" and "en-GB" are two languages for columns_from_header_of and one for is_any_header. */
bool columns_from_header(StrView line, StrView source, StrView target, Columns *columns) {
    if (columns_from_header_of(line, source, target, columns)) return true;
    if (!is_any_header(line, columns)) return false;
    bool reversed = language_names_match(columns->source_name, target) &&
                    language_names_match(columns->target_name, source);
    if (reversed) swap_sides(columns);
    return true;
}

/* ---- names ---- */

void columns_format(const Columns *columns, StrBuf *names) {
    for (int i = 0; i <= last_of(columns); i++) {
        StrView name = SV("-");
        if (i == columns->source) name = columns->source_name;
        if (i == columns->target) name = columns->target_name;
        strbuf_format(names, "%s%.*s", i > 0 ? "," : "", SV_ARG(name));
    }
}

int columns_languages(const char *names, StrView two[2]) {
    StrView rest = sv(names ? names : ""), name;
    int count = 0;
    while (sv_next(&rest, ',', &name)) {
        name = sv_trim(name);
        if (name.length == 0 || sv_equal(name, SV("-"))) continue;
        if (count < 2) two[count] = name;
        count++;
    }
    return count;
}

/* The first column of that name, from `first` on. */
static Status find_name(const char *names, StrView language, int first, int *column) {
    StrView rest = sv(names), name;
    for (*column = 0; sv_next(&rest, ',', &name); (*column)++)
        if (*column >= first && language_names_match(name, language)) return STATUS_OK;
    status_fail(STATUS_USAGE, "language '%.*s' is not one of the columns '%s'", SV_ARG(language), names);
    return status_hint(STATUS_USAGE, "data.columns names the columns of TSV files in order, --languages "
                                     "en-de those that are read");
}

Status columns_locate(const char *names, StrView source, StrView target, Columns *columns) {
    *columns = first_two(source, target, COLUMNS_NAMES);
    if (!names || !names[0]) return STATUS_OK;
    StrView rest = sv(names), name;
    for (columns->count = 0; sv_next(&rest, ',', &name);) columns->count++;
    TRY(find_name(names, source, 0, &columns->source));
    int first = language_names_match(source, target) ? columns->source + 1 : 0;
    return find_name(names, target, first, &columns->target);
}

/* ---- choosing ---- */

static bool is_table(const char *path) { return path && !strstr(path, "{}"); }

Status columns_choose(const ColumnHints *hints, Columns *columns) {
    StrView two[2] = {SV("source"), SV("target")};
    bool has_names = hints->names && hints->names[0];
    if (hints->languages)
        TRY(languages_split(hints->languages, &two[0], &two[1]));
    else
        columns_languages(hints->names, two);
    *columns = first_two(two[0], two[1], hints->languages ? COLUMNS_LANGUAGES : COLUMNS_DEFAULT);
    if (has_names)
        return is_table(hints->path) ? columns_locate(hints->names, two[0], two[1], columns) : STATUS_OK;
    Columns header;
    if (hints->languages
            ? columns_from_header_of(hints->first_line, two[0], two[1], &header)
            : columns_from_header(hints->first_line, hints->model_source, hints->model_target, &header))
        *columns = header;
    else if (!hints->languages && hints->model_source.length > 0)
        *columns = first_two(hints->model_source, hints->model_target, COLUMNS_MODEL);
    return STATUS_OK;
}

Status columns_check_languages(const ColumnHints *hints) {
    StrView source, target;
    Columns header;
    TRY(languages_split(hints->languages, &source, &target));
    if (columns_from_header_of(hints->first_line, source, target, &header)) return STATUS_OK;
    if (!is_any_header(hints->first_line, &header)) return STATUS_OK;
    status_fail(STATUS_USAGE, "'%s' names %.*s and %.*s, --languages %s", hints->path,
                SV_ARG(header.source_name), SV_ARG(header.target_name), hints->languages);
    return status_hint(STATUS_USAGE, "one of them is wrong: change --languages, or the names in the file");
}

Status columns_read_first_line(const char *path, const char *languages, StrBuf *line) {
    TableReader *table;
    StrView first;
    bool more = false;
    StrView source = {0}, target = {0};
    if (!is_table(path) || file_size(path) < 0) return STATUS_OK;
    if (languages && languages_split(languages, &source, &target) != STATUS_OK) return STATUS_OK;
    Status status = table_open(&table, path, source, target);
    if (status == STATUS_OK) {
        status = table_next(table, &first, &more);
        if (status == STATUS_OK && more) strbuf_add(line, first);
        table_close(table);
    }
    return status == STATUS_RUNTIME ? status : STATUS_OK;
}

/* The sides in the order of the table. */
static Columns in_table_order(Columns columns) {
    if (columns.source > columns.target) swap_sides(&columns);
    return columns;
}

void columns_log(const Columns *columns, const char *path) {
    Columns table = in_table_order(*columns);
    if (table.reason == COLUMNS_HEADER)
        log_info("columns  %.*s and %.*s, as '%s' says", SV_ARG(table.source_name), SV_ARG(table.target_name),
                 path);
}

/* ---- lines ---- */

int columns_cut(const Columns *columns, StrView line, StrView *source, StrView *target) {
    StrView field;
    int count = 0;
    for (; sv_next(&line, '\t', &field); count++) {
        if (count == columns->source) *source = field;
        if (count == columns->target) *target = field;
    }
    return count;
}

bool columns_is_number(StrView field) {
    field = sv_trim(field);
    for (size_t i = 0; i < field.length; i++)
        if (field.data[i] < '0' || field.data[i] > '9') return false;
    return field.length > 0;
}

bool columns_look_like_ids(const Columns *columns, StrView line) {
    StrView source = {0}, target = {0};
    return columns_cut(columns, line, &source, &target) > columns->count && columns_is_number(source) &&
           !columns_is_number(target);
}

Status columns_fail_ids(const Columns *columns, StrView line, const char *path, long number) {
    StrView source = {0}, target = {0};
    int count = columns_cut(columns, line, &source, &target);
    status_fail(STATUS_DATA, "'%s' has %d columns, and in line %ld the %.*s side is the number %.*s", path,
                count, number, SV_ARG(columns->source_name), SV_ARG(sv_trim(source)));
    return status_hint(STATUS_DATA,
                       "name all columns, '-' what is not read: --set data.columns=-,%.*s,%s%.*s",
                       SV_ARG(columns->source_name), count > 3 ? "-," : "", SV_ARG(columns->target_name));
}

FirstLine columns_check_first_line(Columns *columns, StrView line) {
    Columns header;
    if (columns_from_header_of(line, columns->source_name, columns->target_name, &header)) {
        *columns = header;
        return FIRST_LINE_HEADER;
    }
    return is_any_header(line, &header) ? FIRST_LINE_OTHER_HEADER : FIRST_LINE_PAIR;
}
