/* pairs.c - see pairs.h. */
#include "data/pairs.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "data/columns.h"
#include "data/pair_issues.h"
#include "formats/escapes.h"
#include "formats/table.h"

struct PairReader {
    StrList entries;
    size_t current;
    char *source, *target;
    Columns columns;      /* of tables */
    Columns open_columns; /* of the open table */
    TableReader *table;   /* the open file, or the two of a pattern: */
    LineReader *first, *second;
    StrView line;                    /* the current line of the table */
    long rows;                       /* lines of the open table so far */
    StrBuf source_cell, target_cell; /* texts without escapes */
    StrBuf source_text, target_text; /* repaired texts */
    PairIssues issues;
    PairDropHandler dropped;
    void *dropped_context;
    long usable, in_other_split;
    long seen_before;         /* usable pairs in the files before the open one */
    long short_lines;         /* lines of the open table without the columns */
    long full_lines;          /* and with them */
    double bytes, bytes_done; /* size of all files; bytes read from closed files */
    PairSplit split;
    double held_out;
    bool allows_other_encodings;
    bool first_is_number; /* the source of the first line is a number */
    int limit;            /* usable pairs to read, in all splits; 0 = no limit */
};

static void count_issue(PairReader *reader, PairIssueKind kind, long count, long line) {
    pair_issues_add(&reader->issues, kind, count, (PairLocation){reader->current, line});
}

static void drop_line(PairReader *reader, PairIssueKind kind, StrView source, StrView target) {
    count_issue(reader, kind, 1, pair_reader_location(reader).line);
    if (reader->dropped) reader->dropped(reader->dropped_context, kind, source, target);
}

/* Usable pairs so far, in all splits. */
static long pairs_seen(const PairReader *reader) { return reader->usable + reader->in_other_split; }

void pair_reader_report(const PairReader *reader, StrBuf *out) {
    pair_issues_report(&reader->issues, &reader->entries, pairs_seen(reader), out);
}

/* ---- entries and files ---- */

static bool is_pattern(const char *entry) { return strstr(entry, "{}") != NULL; }

char *pair_pattern_fill(const char *pattern, const char *language) {
    StrBuf path = {0};
    for (const char *hole; (hole = strstr(pattern, "{}")); pattern = hole + 2) {
        strbuf_add(&path, (StrView){pattern, (size_t)(hole - pattern)});
        strbuf_add(&path, sv(language));
    }
    strbuf_add(&path, sv(pattern));
    char *result = mem_strdup(strbuf_text(&path));
    strbuf_free(&path);
    return result;
}

/* The corpus of scripts/get-data that contains the file, or NULL. */
static const char *corpus_of(const char *path) {
    if (sv_starts(sv(path), SV("data/multi30k/"))) return "multi30k";
    if (sv_starts(sv(path), SV("data/tatoeba/"))) return "tatoeba";
    return NULL;
}

static Status check_file(const char *path, const char *entry, const PairReader *reader) {
    if (file_is_stream(path))
        return status_hint(status_fail(STATUS_USAGE, "'%s' is not a regular file", path),
                           "sentence pairs are read more than once, which a pipe cannot be: give a file");
    if (file_exists(path)) return STATUS_OK;
    status_fail(STATUS_RUNTIME, "cannot find '%s'", path);
    const char *corpus = corpus_of(path);
    if (corpus) return status_hint(STATUS_RUNTIME, "run 'scripts/get-data %s'", corpus);
    if (!is_pattern(entry)) return status_hint(STATUS_RUNTIME, "paths are relative to the current folder");
    return status_hint(STATUS_RUNTIME,
                       "{} in '%s' stands for '%s' and '%s', --languages names others: both files are needed",
                       entry, reader->source, reader->target);
}

static Status check_entry(const PairReader *reader, const char *entry) {
    if (strcmp(entry, "-") == 0) {
        status_fail(STATUS_USAGE, "sentence pairs cannot come from standard input");
        return status_hint(STATUS_USAGE, "they are read more than once: give a file");
    }
    if (!is_pattern(entry)) return check_file(entry, entry, reader);
    if (strcmp(reader->source, reader->target) == 0) {
        status_fail(STATUS_USAGE, "'%s' is one file for both sides, which are both called '%s'", entry,
                    reader->source);
        return status_hint(STATUS_USAGE, "name them as the files end: --languages SRC-TRG");
    }
    char *paths[2] = {pair_pattern_fill(entry, reader->source), pair_pattern_fill(entry, reader->target)};
    Status status = check_file(paths[0], entry, reader);
    if (status == STATUS_OK) status = check_file(paths[1], entry, reader);
    mem_free(paths[0]);
    mem_free(paths[1]);
    return status;
}

/* The files of all entries, appended. */
static void pair_files(const StrList *entries, const DataOptions *options, StrList *files) {
    const char *languages[2] = {options->source, options->target};
    for (size_t i = 0; i < entries->count; i++) {
        bool pattern = is_pattern(entries->items[i]);
        for (int side = 0; side < (pattern ? 2 : 1); side++) {
            char *path = pair_pattern_fill(entries->items[i], languages[side]);
            strlist_add(files, sv(path));
            mem_free(path);
        }
    }
}

static void count_table_issue(PairReader *reader, PairIssueKind kind, long count) {
    if (count > 0) count_issue(reader, kind, count, 0);
}

static void close_table(PairReader *reader) {
    const TableReader *table = reader->table;
    count_table_issue(reader, PAIR_ISSUE_CARRIAGE_RETURN, table_carriage_returns(table));
    count_table_issue(reader, PAIR_ISSUE_BYTE_ORDER_MARK, table_has_bom(table));
    count_table_issue(reader, PAIR_ISSUE_UNTRANSLATED, table_untranslated(table));
    count_table_issue(reader, PAIR_ISSUE_FUZZY, table_fuzzy(table));
    reader->bytes_done += (double)table_consumed(table);
    table_close(reader->table);
    reader->table = NULL;
}

/* Closes the files and counts the issues that concern them as a whole. */
static void close_files(PairReader *reader) {
    LineReader *files[2] = {reader->first, reader->second};
    if (reader->table) close_table(reader);
    for (int i = 0; i < 2; i++) {
        if (!files[i]) continue;
        if (line_reader_carriage_returns(files[i]) > 0)
            count_issue(reader, PAIR_ISSUE_CARRIAGE_RETURN, line_reader_carriage_returns(files[i]), 0);
        if (line_reader_has_bom(files[i])) count_issue(reader, PAIR_ISSUE_BYTE_ORDER_MARK, 1, 0);
        reader->bytes_done += (double)line_reader_consumed(files[i]);
        line_reader_close(files[i]);
    }
    reader->first = reader->second = NULL;
}

static Status open_table(PairReader *reader, const char *path) {
    TRY(table_open(&reader->table, path, sv(reader->source), sv(reader->target)));
    reader->open_columns = reader->columns;
    if (table_has_units(reader->table))
        reader->open_columns = columns_first_two(sv(reader->source), sv(reader->target));
    return STATUS_OK;
}

static Status open_files(PairReader *reader) {
    const char *entry = reader->entries.items[reader->current];
    reader->first_is_number = false;
    reader->seen_before = pairs_seen(reader);
    reader->rows = reader->short_lines = reader->full_lines = 0;
    if (!is_pattern(entry)) return open_table(reader, entry);
    char *paths[2] = {pair_pattern_fill(entry, reader->source), pair_pattern_fill(entry, reader->target)};
    Status status = line_reader_open(&reader->first, paths[0]);
    if (status == STATUS_OK) status = line_reader_open(&reader->second, paths[1]);
    if (status != STATUS_OK) close_files(reader);
    mem_free(paths[0]);
    mem_free(paths[1]);
    return status;
}

static Status check_entries(PairReader *reader, const DataOptions *options) {
    bool tsv = false;
    for (size_t i = 0; i < reader->entries.count; i++) tsv |= !is_pattern(reader->entries.items[i]);
    TRY(columns_locate(tsv ? options->columns : NULL, sv(reader->source), sv(reader->target),
                       &reader->columns));
    for (size_t i = 0; i < reader->entries.count; i++) TRY(check_entry(reader, reader->entries.items[i]));
    return STATUS_OK;
}

Status pair_reader_open(PairReader **reader, const StrList *entries, const DataOptions *options) {
    *reader = NULL;
    if (entries->count == 0) {
        status_fail(STATUS_USAGE, "there are no files of sentence pairs");
        return status_hint(STATUS_USAGE,
                           "data.train and data.valid list TSV files or patterns such as 'train.{}'");
    }
    if (!options->source || !options->target || !options->source[0] || !options->target[0])
        return status_fail(STATUS_USAGE, "data.source and data.target must name the languages");
    PairReader *result = mem_alloc(1, sizeof *result);
    result->source = mem_strdup(options->source);
    result->target = mem_strdup(options->target);
    result->held_out = options->held_out;
    for (size_t i = 0; i < entries->count; i++) strlist_add(&result->entries, sv(entries->items[i]));
    Status status = check_entries(result, options);
    StrList files = {0};
    pair_files(entries, options, &files);
    for (size_t i = 0; i < files.count; i++) result->bytes += fmax(0, (double)file_size(files.items[i]));
    strlist_free(&files);
    if (status == STATUS_OK)
        *reader = result;
    else
        pair_reader_close(result);
    return status;
}

void pair_reader_set_range(PairReader *reader, PairSplit split, int limit) {
    reader->split = split;
    reader->limit = limit;
}

void pair_reader_rewind(PairReader *reader) {
    close_files(reader);
    reader->current = 0;
    reader->usable = reader->in_other_split = 0;
    reader->bytes_done = 0;
    reader->issues = (PairIssues){0};
}

void pair_reader_close(PairReader *reader) {
    if (!reader) return;
    close_files(reader);
    strlist_free(&reader->entries);
    mem_free(reader->source);
    mem_free(reader->target);
    strbuf_free(&reader->source_cell);
    strbuf_free(&reader->target_cell);
    strbuf_free(&reader->source_text);
    strbuf_free(&reader->target_text);
    mem_free(reader);
}

void pair_reader_allow_other_encodings(PairReader *reader) { reader->allows_other_encodings = true; }

void pair_reader_on_drop(PairReader *reader, PairDropHandler dropped, void *context) {
    reader->dropped = dropped;
    reader->dropped_context = context;
}

bool pair_reader_has_escapes(const PairReader *reader) {
    bool escapes = false;
    for (size_t i = 0; i < reader->entries.count && !escapes; i++) {
        TableReader *table;
        StrView line;
        bool more;
        if (is_pattern(reader->entries.items[i])) continue;
        if (table_open(&table, reader->entries.items[i], sv(reader->source), sv(reader->target)) != STATUS_OK)
            continue; /* reading the pairs fails, too */
        escapes = table_next(table, &line, &more) == STATUS_OK && table_has_escapes(table);
        table_close(table);
    }
    return escapes;
}

long pair_reader_count(const PairReader *reader) { return reader->usable; }

double pair_reader_fraction(const PairReader *reader) {
    double done = reader->bytes_done;
    if (reader->table) done += (double)table_consumed(reader->table);
    if (reader->first) done += (double)line_reader_consumed(reader->first);
    if (reader->second) done += (double)line_reader_consumed(reader->second);
    double fraction = fmin(done / reader->bytes, 1); /* 1 where no size is known */
    return reader->limit > 0 ? fmax(fraction, (double)pairs_seen(reader) / reader->limit) : fraction;
}

PairLocation pair_reader_location(const PairReader *reader) {
    long line = reader->table   ? table_number(reader->table)
                : reader->first ? line_reader_number(reader->first)
                                : 0;
    return (PairLocation){reader->current, line};
}

/* ---- lines ---- */

void pair_join(StrBuf *line, StrView source, StrView target) {
    size_t start = line->length, between = start + source.length;
    strbuf_add(line, source);
    strbuf_add_char(line, '\t');
    strbuf_add(line, target);
    for (size_t i = start; i < line->length; i++)
        if (line->data[i] == '\t' && i != between) line->data[i] = ' ';
}

void pair_join_escaped(StrBuf *line, StrView source, StrView target) {
    escapes_add(source, line);
    strbuf_add_char(line, '\t');
    escapes_add(target, line);
}

static bool needs_repair(StrView text, bool *nul) {
    bool has_nul = memchr(text.data, 0, text.length) != NULL;
    *nul |= has_nul;
    return has_nul || !utf8_valid(text);
}

static void repair(StrView *text, StrBuf *buffer) {
    strbuf_clear(buffer);
    utf8_repair(*text, buffer);
    *text = strbuf_view(buffer);
}

/* Excel writes a field that contains quotes in quotes, and doubles the ones inside. */
static bool is_quoted(StrView text) {
    bool has_doubled = false;
    if (text.length < 4 || text.data[0] != '"' || text.data[text.length - 1] != '"') return false;
    for (size_t i = 1; i + 1 < text.length; i++) {
        if (text.data[i] != '"') continue;
        if (i + 2 == text.length || text.data[++i] != '"') return false;
        has_doubled = true;
    }
    return has_doubled;
}

/* Repairs a pair; false if it is unusable. */
static bool repair_pair(PairReader *reader, StrView *source, StrView *target, long line) {
    if (source->length > PAIR_MAX_BYTES || target->length > PAIR_MAX_BYTES) {
        drop_line(reader, PAIR_ISSUE_TOO_BIG, *source, *target);
        return false;
    }
    if (unicode_is_blank(*source) || unicode_is_blank(*target)) {
        drop_line(reader, PAIR_ISSUE_EMPTY_SIDE, *source, *target);
        return false;
    }
    if (memchr(source->data, '\r', source->length) || memchr(target->data, '\r', target->length))
        count_issue(reader, PAIR_ISSUE_INNER_RETURN, 1, line);
    if (is_quoted(*source) || is_quoted(*target)) count_issue(reader, PAIR_ISSUE_QUOTED, 1, line);
    bool nul = false;
    bool bad_source = needs_repair(*source, &nul), bad_target = needs_repair(*target, &nul);
    if (nul)
        count_issue(reader, PAIR_ISSUE_NUL_BYTES, 1, line);
    else if (bad_source || bad_target)
        count_issue(reader, PAIR_ISSUE_BAD_UTF8, 1, line);
    if (bad_source) repair(source, &reader->source_text);
    if (bad_target) repair(target, &reader->target_text);
    return true;
}

/* The next line of the open table, cut. *ok: it has both columns. */
static Status next_row(PairReader *reader, StrView *source, StrView *target, bool *ok, bool *more) {
    TRY(table_next(reader->table, &reader->line, more));
    if (!*more) return STATUS_OK;
    reader->rows++;
    int fields = columns_cut(&reader->open_columns, reader->line, source, target);
    *ok = fields > reader->open_columns.source && fields > reader->open_columns.target;
    if (*ok) {
        *source = table_text(reader->table, *source, &reader->source_cell);
        *target = table_text(reader->table, *target, &reader->target_cell);
        reader->full_lines++;
        return STATUS_OK;
    }
    bool blank = unicode_is_blank(reader->line);
    drop_line(reader, blank ? PAIR_ISSUE_EMPTY_SIDE : PAIR_ISSUE_NO_TAB, reader->line, SV(""));
    reader->short_lines += !blank;
    return STATUS_OK;
}

static Status next_two_lines(PairReader *reader, StrView *source, StrView *target, bool *more) {
    StrView lines[2];
    TRY(line_readers_next((LineReader *[]){reader->first, reader->second}, lines, more));
    *source = lines[0];
    *target = lines[1];
    return STATUS_OK;
}

/* The next line of the open file or files; *more is false at their end. *ok: the line has both columns. */
static Status next_line(PairReader *reader, StrView *source, StrView *target, bool *ok, bool *more) {
    *ok = true;
    if (reader->table)
        TRY(next_row(reader, source, target, ok, more));
    else
        TRY(next_two_lines(reader, source, target, more));
    bool empty = reader->table ? reader->rows == 0 : line_reader_number(reader->first) == 0;
    if (!*more && empty) count_issue(reader, PAIR_ISSUE_NO_LINES, 1, 0);
    return STATUS_OK;
}

/* Many tables begin with a column of ids. It shows in the first line, or in the second one if the first is a
 * header in words that are no languages. */
static Status check_ids(PairReader *reader, StrView source) {
    long line = pair_reader_location(reader).line;
    bool known = reader->rows > 1 && reader->first_is_number;
    reader->first_is_number = columns_is_number(source);
    if (known || !columns_look_like_ids(&reader->open_columns, reader->line)) return STATUS_OK;
    if (!reader->allows_other_encodings)
        return columns_fail_ids(&reader->open_columns, reader->line, table_path(reader->table), line);
    count_issue(reader, PAIR_ISSUE_IDS, 1, line);
    return STATUS_OK;
}

/* Checks the first two lines of a table. *header: the line names the columns. */
static Status check_columns(PairReader *reader, StrView source, bool *header) {
    FirstLine kind = FIRST_LINE_PAIR;
    *header = false;
    if (!reader->table || reader->rows > 2) return STATUS_OK;
    if (table_has_units(reader->table)) {
        *header = reader->rows == 1;
        return STATUS_OK;
    }
    if (reader->rows == 1) kind = columns_check_first_line(&reader->open_columns, reader->line);
    *header = kind == FIRST_LINE_HEADER;
    if (*header) count_issue(reader, PAIR_ISSUE_HEADER, 1, 1);
    if (kind == FIRST_LINE_OTHER_HEADER) count_issue(reader, PAIR_ISSUE_OTHER_HEADER, 1, 1);
    return *header ? STATUS_OK : check_ids(reader, source);
}

uint64_t pair_source_hash(StrView source, uint64_t salt) { return sv_hash(sv_trim(source), salt); }

/* A number in [0, 1) that depends on the source alone. */
static double source_fraction(StrView source) {
    return (double)(pair_source_hash(source, 0) >> 11) / (double)(UINT64_C(1) << 53);
}

static bool is_in_split(PairReader *reader, StrView source) {
    if (reader->split == PAIRS_ALL) return true;
    bool is_held_out = source_fraction(source) < reader->held_out;
    bool is_in = is_held_out == (reader->split == PAIRS_HELD_OUT);
    reader->in_other_split += !is_in;
    return is_in;
}

/* The limit counts the pairs of both splits. */
static bool is_finished(const PairReader *reader) {
    return (reader->limit > 0 && pairs_seen(reader) >= reader->limit) ||
           reader->current >= reader->entries.count;
}

static Status fail_unusable(const PairReader *reader) {
    if (reader->in_other_split > 0) {
        bool none = reader->split == PAIRS_HELD_OUT;
        const char *ends = reader->issues.of[PAIR_ISSUE_INNER_RETURN].count > 0
                               ? "; old Macs ended lines with carriage returns: tr '\\r' '\\n' <FILE >NEW"
                               : "";
        status_fail(STATUS_DATA, "%s sentence pair of '%s' is held out for validation", none ? "no" : "every",
                    reader->entries.items[0]);
        return status_hint(STATUS_DATA,
                           "%s data.held_out, now %g, or name validation pairs in data.valid: pairs of one "
                           "source stay together, so this needs different ones%s",
                           none ? "raise" : "lower", reader->held_out, ends);
    }
    StrBuf report = {0};
    pair_reader_report(reader, &report);
    status_fail(STATUS_DATA, "no usable sentence pair in '%s'%s", reader->entries.items[0],
                reader->entries.count > 1 ? " and the other files" : "");
    const char *advice =
        "; a file of pairs has lines of SOURCE TAB TARGET (a spreadsheet saves them as tab-separated "
        "text, not as CSV), and two files, one for each language, are named by one pattern: 'train.{}' with "
        "--languages en-fr means train.en and train.fr";
    status_hint(STATUS_DATA, "%.*s%s", (int)report.length - 1, report.data,
                reader->issues.of[PAIR_ISSUE_NO_TAB].count > 0 ? advice : "");
    strbuf_free(&report);
    return STATUS_DATA;
}

/* A few pairs among other lines are no data: a model of them would be worth nothing. */
static Status fail_few_pairs(const PairReader *reader) {
    char pairs[32], lines[32];
    status_fail(STATUS_DATA, "only %s of the %s lines of '%s' have %s", str_count(reader->full_lines, pairs),
                str_count(reader->full_lines + reader->short_lines, lines), table_path(reader->table),
                reader->open_columns.count == 2 ? "a TAB between two languages" : "the columns of the pairs");
    return status_hint(STATUS_DATA,
                       "remove the lines that are no pairs: grep -P '\\t' FILE > NEW keeps those "
                       "with a TAB");
}

/* If one of several files has other columns, training must not go on without it. For a single file with two
 * columns, fail_unusable has the better message. */
static Status check_file_read(const PairReader *reader) {
    bool plain = reader->entries.count == 1 && reader->open_columns.count == 2;
    if (!reader->table) return STATUS_OK;
    if (pairs_seen(reader) > reader->seen_before && reader->short_lines > reader->full_lines)
        return fail_few_pairs(reader);
    if (plain || reader->short_lines == 0 || pairs_seen(reader) > reader->seen_before) return STATUS_OK;
    status_fail(STATUS_DATA, "no usable sentence pair in '%s', where columns %d and %d should be %s and %s",
                table_path(reader->table), reader->open_columns.source + 1, reader->open_columns.target + 1,
                reader->source, reader->target);
    return status_hint(STATUS_DATA, "all files have their columns in one order, with a TAB between them: "
                                    "change those of this one, or data.columns");
}

Status pair_reader_next(PairReader *reader, StrView *source, StrView *target, bool *more) {
    *more = false;
    while (!is_finished(reader)) {
        bool line = false, ok = false, header = false;
        if (!reader->table && !reader->first) TRY(open_files(reader));
        TRY(next_line(reader, source, target, &ok, &line));
        if (!line) {
            TRY(check_file_read(reader));
            close_files(reader);
            reader->current++;
            continue;
        }
        if (ok) TRY(check_columns(reader, *source, &header));
        if (!ok || header || !repair_pair(reader, source, target, pair_reader_location(reader).line))
            continue;
        if (is_in_split(reader, *source)) {
            reader->usable++;
            *more = true;
            return STATUS_OK;
        }
    }
    close_files(reader); /* one may be open because of the limit */
    if (reader->usable == 0) return fail_unusable(reader);
    if (reader->allows_other_encodings) return STATUS_OK;
    return pair_issues_check_encoding(&reader->issues, &reader->entries, pairs_seen(reader));
}
