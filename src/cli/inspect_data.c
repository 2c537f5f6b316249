/* inspect_data.c - the report of data/pair_stats.h as text and as JSON. */
#include "cli/inspect_data.h"

#include <stdio.h>
#include <string.h>
#include "io/fileio.h"
#include "base/mem.h"
#include "cli/command_io.h"
#include "data/columns.h"
#include "data/pair_stats.h"
#include "formats/format.h"

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

static const struct {
    const char *key, *text;
} FINDING_NAMES[FINDING_KINDS] = {
    [FINDING_REPEATED] = {"repeated_pairs", "repeated pairs"},
    [FINDING_OTHER_TRANSLATION] = {"other_translations", "repeated sources, other target"},
    [FINDING_IN_VALID] = {"in_validation", "pairs also in validation"},
    [FINDING_SOURCE_IN_VALID] = {"source_in_validation", "sources in validation, other target"},
    [FINDING_SAME_TEXT] = {"same_text", "the same text on both sides"},
    [FINDING_SWAPPED] = {"swapped", "swapped columns"},
    [FINDING_MOJIBAKE] = {"mojibake", "wrongly decoded letters, as in \"Ã©\""},
    [FINDING_LENGTHS] = {"lengths", "very different lengths"},
};

static bool is_reported(const PairStats *stats, int kind) {
    return stats->valid_pairs > 0 || (kind != FINDING_IN_VALID && kind != FINDING_SOURCE_IN_VALID);
}

static bool valid_is_swapped(const PairStats *stats) {
    return stats->valid_swapped > 0 && 4 * stats->valid_swapped >= stats->valid_pairs;
}

/* ---- text ---- */

static void add_finding(const PairStats *stats, int kind, StrBuf *out) {
    const Finding *finding = &stats->findings[kind];
    char count[32];
    if (!is_reported(stats, kind)) return;
    strbuf_format(out, "  %-36s %10s", FINDING_NAMES[kind].text, str_count(finding->count, count));
    for (int i = 0; i < FINDING_LINES && i < finding->count; i++)
        strbuf_format(out, "%s%ld",
                      i                    ? ", "
                      : finding->count > 1 ? "  lines "
                                           : "  line ",
                      finding->lines[i]);
    strbuf_add(out, finding->count > FINDING_LINES ? SV(", ...\n") : SV("\n"));
}

static void add_lengths(const char *side, const char *unit, const Histogram *histogram, StrBuf *out) {
    char number[3][32], name[32];
    snprintf(name, sizeof name, "%s %s", side, unit);
    strbuf_format(
        out, "  %-36s %10s %10s %10s\n", name, str_count(histogram_quantile(histogram, 0.5), number[0]),
        str_count(histogram_quantile(histogram, 0.95), number[1]), str_count(histogram->greatest, number[2]));
}

enum { MOST_SCRIPTS = 4 };

static void add_characters(const PairStats *stats, int side, StrBuf *out) {
    ScriptCount scripts[MOST_SCRIPTS];
    int distinct, once, count = pair_stats_scripts(stats, side, scripts, MOST_SCRIPTS, &distinct, &once);
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

static void write_text(const PairStats *stats, const InspectData *options, const char *path, StrBuf *out) {
    char count[32];
    strbuf_format(out, "%s\n\n  %-36s %10s\n", path, "pairs", str_count(stats->pairs, count));
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
    strbuf_add(out, SV("\nrepeated\n"));
    for (int kind = 0; kind < FINDING_SAME_TEXT; kind++) add_finding(stats, kind, out);
    strbuf_add(out, SV("\nsuspicious\n"));
    for (int kind = FINDING_SAME_TEXT; kind < FINDING_KINDS; kind++) add_finding(stats, kind, out);
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
    ScriptCount scripts[MOST_SCRIPTS];
    int distinct, once, count = pair_stats_scripts(stats, side, scripts, MOST_SCRIPTS, &distinct, &once);
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
        double share;
    } QUANTILES[] = {{"median", 0.5}, {"p05", 0.05}, {"p95", 0.95}};
    json_write_line(out, 0);
    json_put_object(out, "ratio");
    for (size_t i = 0; i < sizeof QUANTILES / sizeof *QUANTILES; i++) {
        json_write_key(out, QUANTILES[i].key);
        strbuf_format(out, "%.2f", histogram_quantile(ratio, QUANTILES[i].share) / 100.0);
    }
    json_close_object(out);
}

static void add_json_finding(const char *key, const Finding *finding, StrBuf *out) {
    json_write_line(out, 0);
    json_put_object(out, key);
    json_put_integer(out, "count", finding->count);
    json_put_array(out, "lines");
    for (int i = 0; i < FINDING_LINES && i < finding->count; i++) json_write_integer(out, finding->lines[i]);
    json_close_array(out);
    json_close_object(out);
}

static void write_json(const PairStats *stats, const char *path, StrBuf *out) {
    json_open_object(out);
    json_put_string(out, "file", sv(path));
    json_put_integer(out, "pairs", stats->pairs);
    add_json_report(stats, out);
    for (int side = 0; side < PAIR_SIDES; side++) add_json_side(stats, side, out);
    add_json_ratio(&stats->ratio, out);
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        if (is_reported(stats, kind)) add_json_finding(FINDING_NAMES[kind].key, &stats->findings[kind], out);
    if (stats->valid_pairs > 0) {
        json_write_line(out, 0);
        json_put_object(out, "validation");
        json_put_integer(out, "pairs", stats->valid_pairs);
        json_put_integer(out, "swapped", stats->valid_swapped);
        json_close_object(out);
    }
    strbuf_add(out, SV("}\n"));
}

/* ---- the command ---- */

/* The columns are chosen as training does it. */
static Status choose_columns(const InspectData *options, const char *path, DataOptions *data) {
    StrBuf first_line = {0}, names = {0};
    Columns columns;
    columns_read_first_line(path, options->languages, &first_line);
    Status status = columns_choose(&(ColumnHints){.path = path,
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

Status inspect_data(const InspectData *options, const char *path) {
    DataOptions data = {0};
    PairStats stats;
    StrBuf out = {0};
    TRY(choose_columns(options, path, &data));
    Status status = pair_stats_read(&stats, path, options->valid, &data);
    if (status == STATUS_OK) {
        if (options->json)
            write_json(&stats, path, &out);
        else
            write_text(&stats, options, path, &out);
        status = command_print_report(&out);
        pair_stats_free(&stats);
    }
    strbuf_free(&out);
    mem_free(data.source);
    mem_free(data.target);
    mem_free(data.columns);
    return status;
}
