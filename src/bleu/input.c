/* input.c - files, tab-separated columns and texts as lists of lines. */
#include "bleu/input.h"

#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

static void add_line(LineList *list, StrView line) {
    MEM_GROW(list->lines, list->capacity, list->count + 1);
    list->lines[list->count++] = line;
}

static LineList *add_list(LineSet *set, const char *name) {
    set->lists = mem_realloc(set->lists, set->count + 1, sizeof *set->lists);
    LineList *list = &set->lists[set->count++];
    *list = (LineList){.name = mem_strdup(name)};
    return list;
}

static StrBuf *add_text(LineSet *set) {
    set->texts = mem_realloc(set->texts, set->text_count + 1, sizeof *set->texts);
    StrBuf *text = &set->texts[set->text_count++];
    *text = (StrBuf){0};
    return text;
}

/* The content of a file as valid UTF-8. The set owns it. */
static Status read_text(LineSet *set, const char *path, StrView *content) {
    StrBuf *text = add_text(set);
    TRY(file_read(path, FILE_TEXT_BYTES, text));
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    TRY(file_check_lines(name, strbuf_view(text)));
    StrView rest = strbuf_view(text), first;
    if (sv_next(&rest, '\n', &first)) TRY(file_check_text(name, first));
    if (sv_starts(strbuf_view(text), SV("\xEF\xBB\xBF")))
        log_warn("'%s' starts with a byte-order mark, which counts as part of its first word", name);
    if (!utf8_valid(strbuf_view(text))) {
        StrBuf repaired = {0};
        size_t count = utf8_repair(strbuf_view(text), &repaired);
        log_warn("'%s': %zu ill-formed UTF-8 sequence%s read as U+FFFD", name, count, count == 1 ? "" : "s");
        strbuf_free(text);
        *text = repaired;
    }
    *content = strbuf_view(text);
    return STATUS_OK;
}

/* The next line without white space at its end. Text after the last '\n' is a line, unless it is empty. */
static bool next_line(StrView *rest, StrView *line) {
    if (rest->length == 0) return false;
    sv_next(rest, '\n', line);
    *line = unicode_trim_end(*line);
    return true;
}

static void add_lines(LineSet *set, const char *name, StrView text) {
    StrView line;
    LineList *list = add_list(set, name);
    while (next_line(&text, &line)) add_line(list, line);
}

void input_text(LineSet *set, const char *name, StrBuf *text) {
    StrBuf *owned = add_text(set);
    *owned = *text;
    *text = (StrBuf){0};
    add_lines(set, name, strbuf_view(owned));
}

static Status read_file(LineSet *set, const char *path) {
    StrView text;
    TRY(read_text(set, path, &text));
    add_lines(set, path, text);
    return STATUS_OK;
}

static Status read_reference_columns(LineSet *set, const char *path, int columns) {
    StrView rest, line, field;
    TRY(read_text(set, path, &rest));
    for (int i = 0; i < columns; i++) add_list(set, path);
    for (long number = 1; next_line(&rest, &line); number++) {
        int fields = 0;
        while (fields < columns - 1 && sv_next(&line, '\t', &field)) add_line(&set->lists[fields++], field);
        if (line.data) add_line(&set->lists[fields++], line); /* further tabs belong to the last column */
        if (fields == columns) continue;
        Status status = status_fail(STATUS_DATA, "'%s', line %ld: %d tab-separated references, expected %d",
                                    path, number, fields, columns);
        return status_hint(status, "--num-refs is the number of references in each line");
    }
    return STATUS_OK;
}

Status input_references(LineSet *set, const StrList *paths, int columns) {
    if (columns > 1) return read_reference_columns(set, paths->items[0], columns);
    for (size_t i = 0; i < paths->count; i++) TRY(read_file(set, paths->items[i]));
    return STATUS_OK;
}

static void name_baseline(LineSet *set) {
    StrBuf name = {0};
    strbuf_format(&name, "Baseline: %s", set->lists[0].name);
    mem_free(set->lists[0].name);
    set->lists[0].name = mem_strdup(strbuf_text(&name));
    strbuf_free(&name);
}

Status input_files(LineSet *set, const StrList *paths, bool paired) {
    for (size_t i = 0; i < paths->count; i++) {
        const char *path = paths->items[i];
        bool repeated = false;
        for (size_t j = 0; j < i; j++) repeated = repeated || strcmp(paths->items[j], path) == 0;
        if (repeated && paired && strcmp(path, paths->items[0]) == 0) {
            log_info("'%s' is the baseline already: ignored here", path);
            continue;
        }
        if (repeated) {
            Status status = status_fail(STATUS_USAGE, "'%s' is given twice as input", path);
            return status_hint(status, "give each system under a different name");
        }
        TRY(read_file(set, path));
    }
    if (paired) name_baseline(set);
    return STATUS_OK;
}

Status input_stdin(LineSet *set, bool paired) {
    StrView rest, line = {"", 0}, field;
    TRY(read_text(set, "-", &rest));
    set->empty_stdin = !next_line(&rest, &line); /* an empty input is one empty line */
    StrView fields = line;
    for (int number = 1; sv_next(&fields, '\t', &field); number++) {
        char name[32] = "Baseline";
        if (!paired || number > 1) snprintf(name, sizeof name, "System %d", paired ? number - 1 : number);
        add_line(add_list(set, name), field);
    }
    for (long number = 2; next_line(&rest, &line); number++) {
        size_t count = 0;
        for (fields = line; sv_next(&fields, '\t', &field); count++)
            if (count < set->count) add_line(&set->lists[count], unicode_trim_end(field));
        if (count == set->count) continue;
        Status status =
            status_fail(STATUS_DATA, "standard input, line %ld: %zu tab-separated fields, expected %zu",
                        number, count, set->count);
        return status_hint(status, "each field is one system: every line needs as many as the first");
    }
    return STATUS_OK;
}

Status input_check(const LineSet *hypotheses, const LineSet *references) {
    for (size_t i = 0; i < hypotheses->count; i++) {
        const LineList *system = &hypotheses->lists[i];
        if (system->count == 0) return status_fail(STATUS_DATA, "'%s' has no line to score", system->name);
        for (size_t j = 0; j < references->count; j++) {
            const LineList *reference = &references->lists[j];
            if (reference->count == system->count) continue;
            if (hypotheses->empty_stdin) {
                status_fail(STATUS_DATA, "standard input is empty, reference '%s' has %zu line%s",
                            reference->name, reference->count, reference->count == 1 ? "" : "s");
                return status_hint(STATUS_DATA, "-i FILE names a file of translations");
            }
            Status status =
                status_fail(STATUS_DATA, "'%s' has %zu line%s, but reference '%s' has %zu", system->name,
                            system->count, system->count == 1 ? "" : "s", reference->name, reference->count);
            return status_hint(status, "line N of one is scored against line N of the other");
        }
    }
    return STATUS_OK;
}

void input_free(LineSet *set) {
    for (size_t i = 0; i < set->count; i++) {
        mem_free(set->lists[i].name);
        mem_free(set->lists[i].lines);
    }
    for (size_t i = 0; i < set->text_count; i++) strbuf_free(&set->texts[i]);
    mem_free(set->lists);
    mem_free(set->texts);
    *set = (LineSet){0};
}
