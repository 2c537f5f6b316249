/* heatmap_files.c - selects formats and writes their files. */
#include "cli/heatmap_files.h"

#include <unistd.h>
#include "io/fileio.h"
#include "base/log.h"
#include "io/options.h"
#include "cli/command_io.h"

static const char *const SUFFIXES[HEATMAP_FORMAT_COUNT] = {"txt", "csv", "pgm", "svg", "json", "html"};

/* Removes the extension of a format from the prefix. Returns the format, or HEATMAP_FORMAT_COUNT. */
static HeatmapFormat cut_format(StrView *prefix) {
    int f = 0;
    while (f < HEATMAP_FORMAT_COUNT && !sv_cut_extension(prefix, sv(SUFFIXES[f]))) f++;
    return (HeatmapFormat)f;
}

/* Is it the beginning of a file name, without the extension of an unknown format? */
static Status check_prefix(StrView prefix) {
    static const char *const UNSUPPORTED[] = {"png", "jpg", "jpeg", "gif", "pdf"};
    if (prefix.length == 0) {
        status_fail(STATUS_USAGE, "option '--output': the prefix is empty");
        return status_hint(STATUS_USAGE,
                           "is a shell variable empty? --output calm writes calm.csv and so on");
    }
    if (sv_ends(prefix, SV("/"))) {
        status_fail(STATUS_USAGE, "option '--output': '%.*s' is a folder, not the beginning of file names",
                    SV_ARG(prefix));
        return status_hint(STATUS_USAGE, "--output %.*scalm writes %.*scalm.csv and so on", SV_ARG(prefix),
                           SV_ARG(prefix));
    }
    for (size_t i = 0; i < sizeof UNSUPPORTED / sizeof *UNSUPPORTED; i++)
        if (sv_cut_extension(&(StrView){prefix.data, prefix.length}, sv(UNSUPPORTED[i]))) {
            status_fail(STATUS_USAGE, "option '--output': '%.*s': %s is not among the formats",
                        SV_ARG(prefix), UNSUPPORTED[i]);
            return status_hint(
                STATUS_USAGE,
                "pictures are .svg and .pgm, tables .txt and .csv; .json and .html contain everything");
        }
    return STATUS_OK;
}

Status heatmap_files_choose(HeatmapFiles *files, const StrList *formats) {
    bool *selected = files->selected;
    StrView prefix = sv(files->prefix ? files->prefix : "");
    if (files->prefix) TRY(check_prefix(prefix));
    HeatmapFormat named = cut_format(&prefix);
    for (size_t i = 0; i < formats->count; i++)
        selected[option_choice(HEATMAP_FORMAT_CHOICES, sv(formats->items[i]))] = true;
    if (formats->count > 0) return STATUS_OK;
    if (!files->prefix)
        selected[HEATMAP_TEXT] = true;
    else if (named < HEATMAP_FORMAT_COUNT)
        selected[named] = true;
    else
        selected[HEATMAP_CSV] = selected[HEATMAP_PGM] = selected[HEATMAP_SVG] = true;
    return STATUS_OK;
}

Status heatmap_files_check(const HeatmapFiles *files, int sentences) {
    int count = 0;
    if (files->prefix) return STATUS_OK;
    for (int f = 0; f < HEATMAP_FORMAT_COUNT; f++) count += files->selected[f];
    if (count > 1)
        status_fail(STATUS_USAGE, "only one format can go to standard output");
    else if (sentences > 1 && (files->selected[HEATMAP_PGM] || files->selected[HEATMAP_SVG]))
        status_fail(STATUS_USAGE, "pictures of %d sentences cannot go to standard output", sentences);
    else
        return STATUS_OK;
    return status_hint(STATUS_USAGE, "--output PREFIX writes each into a file of its own");
}

/* Makes the document one line. JSON has line ends only between tokens. */
static void join_lines(StrBuf *json) {
    for (size_t i = 0; i + 1 < json->length; i++)
        if (json->data[i] == '\n') json->data[i] = ' ';
}

static Status print(HeatmapFormat format, int number, StrBuf *content) {
    if (number > 0 && format == HEATMAP_JSON) join_lines(content);
    bool plain =
        format == HEATMAP_CSV && isatty(STDOUT_FILENO) == 1; /* the other formats escape their labels */
    if (plain) log_sanitize(content->data, content->length);
    if (number > 1 && format != HEATMAP_JSON) TRY(command_print(SV("\n")));
    return command_print(strbuf_view(content));
}

Status heatmap_files_write(const HeatmapFiles *files, HeatmapFormat format, int number, StrBuf *content) {
    if (!files->prefix) return print(format, number, content);
    StrBuf path = {0};
    StrView prefix = sv(files->prefix);
    const char *suffix = SUFFIXES[format];
    if (cut_format(&prefix) == format)
        suffix = prefix.data + prefix.length + 1; /* the extension as the user wrote it, such as .SVG */
    strbuf_add(&path, prefix);
    if (number > 0) strbuf_format(&path, "-%d", number);
    strbuf_format(&path, ".%s", suffix);
    Status status = file_write_whole(strbuf_text(&path), strbuf_view(content));
    if (status == STATUS_OK && !files->quiet) log_info("wrote %s", strbuf_text(&path));
    strbuf_free(&path);
    return status;
}
