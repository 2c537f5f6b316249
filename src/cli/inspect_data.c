/* inspect_data.c - the report of data/pair_stats.h as text and as JSON. */
#include "cli/inspect_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "data/columns.h"
#include "data/pair_clean.h"
#include "data/pair_stats.h"
#include "formats/format.h"
#include "io/json_write.h"

bool inspect_is_data(const char *path) {
    enum { LENGTH_BYTES = 8 };
    LineReader *reader;
    StrView line;
    Status status = STATUS_OK;
    bool zero = false, more;
    if (strstr(path, "{}")) return true;
    if (sv_ends(sv(path), SV(".safetensors")) || file_size(path) < 0) return false;
    if (line_reader_open(&reader, path) != STATUS_OK) return false;
    if (line_reader_peek(reader, FORMAT_SAMPLE, &line) == STATUS_OK) {
        if (line.length > FORMAT_SAMPLE) line.length = FORMAT_SAMPLE;
        if (format_detect(line, false).kind != FORMAT_TABLE) {
            line_reader_close(reader);
            return true;
        }
    }
    /* A model begins with the length of its header in 8 bytes. The highest ones are 0, and others may look
     * like the end of a line. Errors of texts are reported when the pairs are read. */
    for (size_t seen = 0; seen < LENGTH_BYTES && !zero; seen += line.length + 1) {
        status = line_reader_next(reader, &line, &more);
        if (status != STATUS_OK || !more) break;
        size_t rest = LENGTH_BYTES - seen;
        zero = memchr(line.data, 0, line.length < rest ? line.length : rest) != NULL;
    }
    line_reader_close(reader);
    return status == STATUS_DATA || (status == STATUS_OK && !zero);
}

/* ---- wording ---- */

static const char *const SIDE_NAMES[PAIR_SIDES] = {"source", "target"};

static const char *const FINDING_TEXTS[FINDING_KINDS] = {
    [FINDING_REPEATED] = "repeated pairs",
    [FINDING_OTHER_TRANSLATION] = "repeated sources, other target",
    [FINDING_IN_VALID] = "pairs also in validation",
    [FINDING_SOURCE_IN_VALID] = "sources in validation, other target",
    [FINDING_SAME_TEXT] = "the same text on both sides",
    [FINDING_SWAPPED] = "swapped columns",
    [FINDING_MOJIBAKE] = "wrongly decoded letters, as in \"Ã©\"",
    [FINDING_LENGTHS] = "very different lengths",
    [FINDING_PLACEHOLDERS] = "placeholders",
    [FINDING_TAGS] = "tags",
    [FINDING_ACCELERATORS] = "accelerators, as in \"&File\"",
    [FINDING_NUMBERS] = "numbers",
    [FINDING_PUNCTUATION] = "punctuation at the end",
    [FINDING_BLANKS] = "blanks at the start or end",
    [FINDING_ENTITIES] = "entities, as in \"&amp;\"",
    [FINDING_MARKUP] = "markup",
    [FINDING_SOFT_HYPHENS] = "soft hyphens",
    [FINDING_ADDRESSES] = "web and e-mail addresses",
    [FINDING_TOKENIZED] = "marks of a tokenizer, as in \"@-@\"",
};

/* The report has a heading for each group of kinds. */
static const struct {
    const char *heading;
    FindingKind first, end;
} GROUPS[] = {
    {"repeated", FINDING_REPEATED, FINDING_SAME_TEXT},
    {"suspicious", FINDING_SAME_TEXT, FINDING_PLACEHOLDERS},
    {"different on the two sides", FINDING_PLACEHOLDERS, FINDING_ENTITIES},
    {"not plain text", FINDING_ENTITIES, FINDING_KINDS},
};

static bool is_reported(const PairStats *stats, FindingKind kind) {
    return stats->valid_pairs > 0 || (kind != FINDING_IN_VALID && kind != FINDING_SOURCE_IN_VALID);
}

static bool valid_is_swapped(const PairStats *stats) {
    return stats->valid_swapped > 0 && 4 * stats->valid_swapped >= stats->valid_pairs;
}

/* ---- text ---- */

/* The name of the only file is in the first line of the report. */
static void add_locations(const Finding *finding, const StrList *files, StrBuf *out) {
    enum { FEW = 5 };
    int shown = finding->count < FEW ? (int)finding->count : FEW;
    if (shown > 0) strbuf_add(out, SV("  "));
    if (files->count > 1) {
        pair_locations_format(finding->locations, shown, files, out);
    } else {
        for (int i = 0; i < shown; i++) {
            const char *before = i > 0 ? ", " : finding->count > 1 ? "lines " : "line ";
            strbuf_format(out, "%s%ld", before, finding->locations[i].line);
        }
    }
    if (finding->count > FEW) strbuf_add(out, SV(", ..."));
}

static void add_finding(const PairStats *stats, FindingKind kind, const StrList *files, StrBuf *out) {
    const Finding *finding = &stats->findings[kind];
    char count[32];
    if (!is_reported(stats, kind)) return;
    strbuf_format(out, "  %-36s %10s", FINDING_TEXTS[kind], str_count(finding->count, count));
    add_locations(finding, files, out);
    strbuf_add_char(out, '\n');
}

static void add_lengths(const char *side, const char *unit, const Histogram *histogram, StrBuf *out) {
    char number[3][32], name[32];
    snprintf(name, sizeof name, "%s %s", side, unit);
    strbuf_format(
        out, "  %-36s %10s %10s %10s\n", name, str_count(histogram_quantile(histogram, 0.5), number[0]),
        str_count(histogram_quantile(histogram, 0.95), number[1]), str_count(histogram->greatest, number[2]));
}

enum { MAX_SCRIPTS = 4 };

static void add_characters(const PairStats *stats, int side, StrBuf *out) {
    ScriptCount scripts[MAX_SCRIPTS];
    int distinct, once, count = pair_stats_scripts(stats, side, scripts, MAX_SCRIPTS, &distinct, &once);
    char number[32], rare[32];
    double letters = 0;
    for (int i = 0; i < count; i++) letters += (double)scripts[i].letters;
    strbuf_format(out, "  %-36s %10s  %s seen once", SIDE_NAMES[side], str_count(distinct, number),
                  str_count(once, rare));
    for (int i = 0; i < count; i++) {
        double percent = 100 * (double)scripts[i].letters / letters;
        strbuf_format(out, "%s%s ", i ? ", " : "; ", scripts[i].name);
        strbuf_format(out, percent < 0.01 ? "under 0.01%%" : "%.3g%%", percent);
    }
    strbuf_add_char(out, '\n');
}

static void add_spaces(const PairStats *stats, int side, StrBuf *out) {
    char name[32], number[32];
    long count = pair_stats_other_spaces(stats, side);
    if (count == 0) return;
    snprintf(name, sizeof name, "%s, no-break or wide spaces", SIDE_NAMES[side]);
    strbuf_format(out, "  %-36s %10s  text.normalize=nfkc turns them into plain spaces\n", name,
                  str_count(count, number));
}

/* "  valid.tsv    1,000" */
static void add_written(const char *path, long pairs, StrBuf *out) {
    char count[32];
    strbuf_format(out, "  %-36s %10s\n", path, str_count(pairs, count));
}

static void add_reason(const char *name, long count, bool *first, StrBuf *out) {
    char number[32];
    if (count == 0) return;
    strbuf_format(out, "%s%s %s", *first ? "    " : ", ", name, str_count(count, number));
    *first = false;
}

static void write_clean_text(const PairCleanOptions *clean, const PairCleanCounts *counts, StrBuf *out) {
    bool first = true;
    strbuf_add(out, SV("\nwritten\n"));
    add_written(clean->output, counts->kept, out);
    for (size_t i = 0; i < clean->parts.count; i++) add_written(clean->parts.items[i], counts->part[i], out);
    strbuf_add(out, SV("\ndropped\n"));
    add_written(clean->dropped, counts->dropped, out);
    for (FindingKind kind = 0; kind < FINDING_KINDS; kind++)
        add_reason(finding_name(kind), counts->reasons[kind], &first, out);
    for (PairIssueKind kind = 0; kind < PAIR_ISSUE_KINDS; kind++)
        add_reason(pair_issue_name(kind), counts->unusable[kind], &first, out);
    if (!first) strbuf_add_char(out, '\n');
}

/* The names of the files, and of several the pairs of each. */
static void add_files(const PairStats *stats, const StrList *files, StrBuf *out) {
    char count[32];
    for (size_t i = 0; i < files->count; i++)
        if (files->count == 1)
            strbuf_format(out, "%s\n", files->items[i]);
        else
            strbuf_format(out, "%-38s %10s\n", files->items[i], str_count(stats->file_pairs[i], count));
}

static void write_text(const PairStats *stats, const InspectData *options, const StrList *files,
                       StrBuf *out) {
    char count[32];
    add_files(stats, files, out);
    strbuf_format(out, "\n  %-36s %10s\n", "pairs", str_count(stats->pairs, count));
    StrView rest = strbuf_view(&stats->report), line;
    while (sv_next(&rest, '\n', &line))
        if (line.length) strbuf_format(out, "  %.*s\n", SV_ARG(line));
    strbuf_format(out, "\n%-38s %10s %10s %10s\n", "lengths", "median", "95 %", "longest");
    for (int side = 0; side < PAIR_SIDES; side++) {
        add_lengths(SIDE_NAMES[side], "words", &stats->words[side], out);
        add_lengths(SIDE_NAMES[side], "characters", &stats->characters[side], out);
    }
    strbuf_format(out, "  %-36s %10.2f  %.2f to %.2f for 90 %% of the pairs\n", "target / source characters",
                  histogram_quantile(&stats->ratio, 0.5) / 100.0,
                  histogram_quantile(&stats->ratio, 0.05) / 100.0,
                  histogram_quantile(&stats->ratio, 0.95) / 100.0);
    strbuf_add(out, SV("\ncharacters\n"));
    for (int side = 0; side < PAIR_SIDES; side++) add_characters(stats, side, out);
    for (int side = 0; side < PAIR_SIDES; side++) add_spaces(stats, side, out);
    for (size_t i = 0; i < sizeof GROUPS / sizeof *GROUPS; i++) {
        strbuf_format(out, "\n%s\n", GROUPS[i].heading);
        for (FindingKind kind = GROUPS[i].first; kind < GROUPS[i].end; kind++)
            add_finding(stats, kind, files, out);
    }
    if (valid_is_swapped(stats))
        strbuf_format(out, "\nThe columns of %s seem to be swapped.\n", options->valid);
}

/* ---- JSON ---- */

static void add_quantiles(const char *name, const Histogram *histogram, StrBuf *out) {
    json_put_object(out, name);
    json_put_integer(out, "median", histogram_quantile(histogram, 0.5));
    json_put_integer(out, "p95", histogram_quantile(histogram, 0.95));
    json_put_integer(out, "max", histogram->greatest);
    json_close_object(out);
}

static void add_json_side(const PairStats *stats, int side, StrBuf *out) {
    ScriptCount scripts[MAX_SCRIPTS];
    int distinct, once, count = pair_stats_scripts(stats, side, scripts, MAX_SCRIPTS, &distinct, &once);
    json_write_line(out, 0);
    json_put_object(out, SIDE_NAMES[side]);
    add_quantiles("words", &stats->words[side], out);
    add_quantiles("characters", &stats->characters[side], out);
    json_put_integer(out, "different_characters", distinct);
    json_put_integer(out, "seen_once", once);
    json_put_integer(out, "other_spaces", pair_stats_other_spaces(stats, side));
    json_put_object(out, "letters");
    for (int i = 0; i < count; i++) json_put_integer(out, scripts[i].name, scripts[i].letters);
    json_close_object(out);
    json_close_object(out);
}

static void add_json_report(const PairStats *stats, StrBuf *out) {
    StrView rest = strbuf_view(&stats->report), line;
    json_put_array(out, "notes");
    while (sv_next(&rest, '\n', &line))
        if (line.length > 0) json_write_string(out, line);
    json_close_array(out);
}

static void add_json_ratio(const Histogram *ratio, StrBuf *out) {
    static const struct {
        const char *key;
        double fraction;
    } QUANTILES[] = {{"median", 0.5}, {"p05", 0.05}, {"p95", 0.95}};
    json_write_line(out, 0);
    json_put_object(out, "ratio");
    for (size_t i = 0; i < sizeof QUANTILES / sizeof *QUANTILES; i++) {
        json_write_key(out, QUANTILES[i].key);
        strbuf_format(out, "%.2f", histogram_quantile(ratio, QUANTILES[i].fraction) / 100.0);
    }
    json_close_object(out);
}

/* "lines" of the places from `first` on that are in one file; returns the place after them. */
static long add_json_lines(const Finding *finding, long first, StrBuf *out) {
    long i = first;
    json_put_array(out, "lines");
    for (; i < finding->count && finding->locations[i].entry == finding->locations[first].entry; i++)
        json_write_integer(out, finding->locations[i].line);
    json_close_array(out);
    return i;
}

static void add_json_locations(const Finding *finding, const StrList *files, StrBuf *out) {
    json_put_array(out, "files");
    for (long i = 0; i < finding->count;) {
        json_open_object(out);
        json_put_string(out, "file", sv(files->items[finding->locations[i].entry]));
        i = add_json_lines(finding, i, out);
        json_close_object(out);
    }
    json_close_array(out);
}

static void add_json_finding(const char *key, const Finding *finding, const StrList *files, StrBuf *out) {
    json_write_line(out, 0);
    json_put_object(out, key);
    json_put_integer(out, "count", finding->count);
    if (files->count > 1)
        add_json_locations(finding, files, out);
    else
        add_json_lines(finding, 0, out);
    json_close_object(out);
}

/* {"file": ..., "pairs": ...} */
static void add_json_file(const char *path, long pairs, StrBuf *out) {
    json_write_line(out, 2);
    json_open_object(out);
    json_put_string(out, "file", sv(path));
    json_put_integer(out, "pairs", pairs);
    json_close_object(out);
}

static void add_json_clean(const PairCleanOptions *clean, const PairCleanCounts *counts, StrBuf *out) {
    json_write_line(out, 0);
    json_put_array(out, "written");
    add_json_file(clean->output, counts->kept, out);
    for (size_t i = 0; i < clean->parts.count; i++)
        add_json_file(clean->parts.items[i], counts->part[i], out);
    json_close_array(out);
    json_write_line(out, 0);
    json_put_object(out, "dropped");
    json_put_string(out, "file", sv(clean->dropped));
    json_put_integer(out, "pairs", counts->dropped);
    json_put_object(out, "reasons");
    for (FindingKind kind = 0; kind < FINDING_KINDS; kind++)
        if (counts->reasons[kind] > 0) json_put_integer(out, finding_name(kind), counts->reasons[kind]);
    for (PairIssueKind kind = 0; kind < PAIR_ISSUE_KINDS; kind++)
        if (counts->unusable[kind] > 0) json_put_integer(out, pair_issue_name(kind), counts->unusable[kind]);
    json_close_object(out);
    json_close_object(out);
}

/* `clean` may be NULL. */
static void write_json(const PairStats *stats, const StrList *files, const PairCleanOptions *clean,
                       const PairCleanCounts *counts, StrBuf *out) {
    json_open_object(out);
    if (files->count == 1) {
        json_put_string(out, "file", sv(files->items[0]));
    } else {
        json_put_array(out, "files");
        for (size_t i = 0; i < files->count; i++) add_json_file(files->items[i], stats->file_pairs[i], out);
        json_close_array(out);
        json_write_line(out, 0);
    }
    json_put_integer(out, "pairs", stats->pairs);
    add_json_report(stats, out);
    for (int side = 0; side < PAIR_SIDES; side++) add_json_side(stats, side, out);
    add_json_ratio(&stats->ratio, out);
    for (FindingKind kind = 0; kind < FINDING_KINDS; kind++)
        if (is_reported(stats, kind))
            add_json_finding(finding_name(kind), &stats->findings[kind], files, out);
    if (stats->valid_pairs > 0) {
        json_write_line(out, 0);
        json_put_object(out, "validation");
        json_put_integer(out, "pairs", stats->valid_pairs);
        json_put_integer(out, "swapped", stats->valid_swapped);
        json_close_object(out);
    }
    if (clean) add_json_clean(clean, counts, out);
    strbuf_add(out, SV("}\n"));
}

/* ---- columns ---- */

/* The first file decides about the columns, as in training. */
static Status choose_columns(const InspectData *options, const char *path, DataOptions *data) {
    StrBuf first_line = {0}, names = {0};
    Columns columns;
    Status status = columns_read_first_line(path, options->languages, &first_line);
    if (status == STATUS_OK)
        status = columns_choose(&(ColumnHints){.path = path,
                                               .first_line = strbuf_view(&first_line),
                                               .languages = options->languages,
                                               .names = options->columns},
                                &columns);
    if (status == STATUS_OK) {
        columns_log(&columns, path);
        columns_format(&columns, &names);
        data->source = mem_strndup(columns.source_name.data, columns.source_name.length);
        data->target = mem_strndup(columns.target_name.data, columns.target_name.length);
        data->columns = mem_strdup(options->columns ? options->columns : strbuf_text(&names));
    }
    strbuf_free(&first_line);
    strbuf_free(&names);
    return status;
}

/* ---- cleaning ---- */

/* "clean.tsv.gz": "clean.dropped.tsv.gz" */
static void add_dropped_name(StrView output, StrBuf *name) {
    bool gzip = sv_cut_extension(&output, SV("gz"));
    sv_cut_extension(&output, SV("tsv"));
    strbuf_add(name, output);
    strbuf_add(name, gzip ? SV(".dropped.tsv.gz") : SV(".dropped.tsv"));
}

static FindingSet findings_to_drop(const StrList *names) {
    FindingSet drop = finding_bit(FINDING_REPEATED);
    for (size_t i = 0; i < names->count; i++) {
        if (strcmp(names->items[i], "none") == 0) drop &= ~finding_bit(FINDING_REPEATED);
        for (FindingKind kind = 0; kind < FINDING_KINDS; kind++)
            if (strcmp(names->items[i], finding_name(kind)) == 0) drop |= finding_bit(kind);
    }
    return drop;
}

/* "valid.tsv=1000" */
static Status parse_part(const char *text, PairCleanOptions *clean) {
    enum { MOST = 1000000000 };
    const char *equals = strrchr(text, '=');
    char *end = NULL;
    long long pairs = equals ? strtoll(equals + 1, &end, 10) : 0;
    if (!equals || equals == text || end == equals + 1 || *end || pairs < 1 || pairs > MOST) {
        status_fail(STATUS_USAGE, "--split-off '%s' is not FILE=N", text);
        return status_hint(STATUS_USAGE, "for example --split-off valid.tsv=1000,test.tsv=1000");
    }
    if (clean->parts.count == PAIR_PARTS)
        return status_fail(STATUS_USAGE, "--split-off takes at most %d files", PAIR_PARTS);
    clean->sizes[clean->parts.count] = (long)pairs;
    strlist_add(&clean->parts, (StrView){text, (size_t)(equals - text)});
    return STATUS_OK;
}

/* The one or two files of an entry, appended. */
static void add_input(const char *entry, const DataOptions *data, StrList *inputs) {
    const char *languages[] = {data->source, data->target};
    for (int side = 0; side < 2; side++) {
        char *file = pair_pattern_fill(entry, languages[side]);
        strlist_add(inputs, sv(file));
        mem_free(file);
    }
}

static Status check_output(const char *output, StrList *files) {
    if (strcmp(output, "-") == 0) {
        status_fail(STATUS_USAGE, "pairs cannot be written to standard output, where the report goes");
        return status_hint(STATUS_USAGE, "name a file");
    }
    TRY(command_refuse_overwrites(output, files));
    strlist_add(files, sv(output));
    return STATUS_OK;
}

static Status check_outputs(const PairCleanOptions *clean, StrList *files) {
    TRY(check_output(clean->output, files));
    TRY(check_output(clean->dropped, files));
    for (size_t i = 0; i < clean->parts.count; i++) TRY(check_output(clean->parts.items[i], files));
    return STATUS_OK;
}

/* Everything that can be wrong is found before the files are read. `dropped`: for the name of the file. */
static Status read_clean_options(const InspectData *options, const StrList *files, const DataOptions *data,
                                 StrBuf *dropped, PairCleanOptions *clean) {
    clean->drop = findings_to_drop(options->drop);
    clean->output = options->clean;
    if (options->dropped)
        strbuf_add(dropped, sv(options->dropped));
    else
        add_dropped_name(sv(options->clean), dropped);
    clean->dropped = strbuf_text(dropped);
    for (size_t i = 0; i < options->split_off->count; i++)
        TRY(parse_part(options->split_off->items[i], clean));
    StrList inputs = {0};
    for (size_t i = 0; i < files->count; i++) add_input(files->items[i], data, &inputs);
    if (options->valid) add_input(options->valid, data, &inputs);
    Status status = check_outputs(clean, &inputs);
    strlist_free(&inputs);
    return status;
}

/* ---- the command ---- */

static Status report(const InspectData *options, const StrList *files, const DataOptions *data,
                     const PairCleanOptions *clean) {
    PairStats stats;
    PairCleanCounts counts;
    StrBuf out = {0};
    TRY(pair_stats_read(&stats, files, options->valid, data));
    Status status = clean ? pair_clean(&stats, files, data, clean, &counts) : STATUS_OK;
    if (status == STATUS_OK) {
        if (options->json) {
            write_json(&stats, files, clean, &counts, &out);
        } else {
            write_text(&stats, options, files, &out);
            if (clean) write_clean_text(clean, &counts, &out);
        }
        status = command_print_report(&out);
    }
    pair_stats_free(&stats);
    strbuf_free(&out);
    return status;
}

Status inspect_data(const InspectData *options, const StrList *files) {
    DataOptions data = {0};
    PairCleanOptions clean = {0};
    StrBuf dropped = {0};
    Status status = choose_columns(options, files->items[0], &data);
    if (status == STATUS_OK && options->clean)
        status = read_clean_options(options, files, &data, &dropped, &clean);
    if (status == STATUS_OK) status = report(options, files, &data, options->clean ? &clean : NULL);
    strlist_free(&clean.parts);
    strbuf_free(&dropped);
    mem_free(data.source);
    mem_free(data.target);
    mem_free(data.columns);
    return status;
}
