/* format.c - see format.h. */
#include "formats/format.h"

#include <string.h>
#include "formats/csv.h"
#include "io/fileio.h"
#include "io/json.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

static bool contains(StrView text, const char *part) {
    return memmem(text.data, text.length, part, strlen(part));
}

static bool starts_ignoring_case(StrView text, const char *prefix) {
    size_t length = strlen(prefix);
    for (size_t i = 0; i < length && i < text.length; i++) {
        char c = text.data[i];
        if ((c >= 'A' && c <= 'Z' ? c + 32 : c) != prefix[i]) return false;
    }
    return text.length >= length;
}

static Format other(const char *name, const char *hint) {
    return (Format){.kind = FORMAT_OTHER, .name = name, .hint = hint};
}

/* ---- binary files ---- */

#define ALIGN                                                                                                \
    "it has one language: save the documents of both as plain text (pandoc FILE -t plain), one sentence a "  \
    "line, line n the translation of line n, as train.en and train.de, and name them 'train.{}'"

static const struct {
    const char *magic, *part; /* `part`: further on in the sample, or NULL */
    const char *name, *hint;
} BINARY[] = {
    {"PK\3\4", "xl/", "an Excel file", "save the sheet as CSV (UTF-8), with the languages in its first row"},
    {"PK\3\4", "oasis.opendocument.spreadsheet", "an OpenDocument spreadsheet",
     "save the sheet as CSV (UTF-8), with the languages in its first row"},
    {"PK\3\4", "word/", "a Word file", ALIGN},
    {"PK\3\4", "ppt/", "a PowerPoint file", ALIGN},
    {"PK\3\4", "oasis.opendocument", "an OpenDocument file", ALIGN},
    {"PK\3\4", "epub+zip", "an EPUB file", ALIGN},
    {"PK\3\4", NULL, "a zip file", "unpack it: unzip FILE"},
    {"%PDF-", NULL, "a PDF file", ALIGN},
    {"{\\rtf", NULL, "an RTF file", ALIGN},
    {"\320\317\021\340\241\261\032\341", NULL, "a file of an old version of Word, Excel or PowerPoint",
     "save a sheet with both languages as CSV (UTF-8)"},
    {"SQLite format 3", NULL, "an SQLite database",
     "write its pairs as CSV: sqlite3 -header -csv FILE 'SELECT source AS en, target AS de FROM pairs' > "
     "NEW"},
    {"\336\022\004\225", NULL, "a compiled catalogue of gettext (MO)", "msgunfmt FILE > NEW.po"},
    {"\225\004\022\336", NULL, "a compiled catalogue of gettext (MO)", "msgunfmt FILE > NEW.po"},
    {"\3757zXZ", NULL, "an xz file", "unpack it: xz -d FILE; gzip alone is read as it is"},
    {"BZh91AY&SY", NULL, "a bzip2 file", "unpack it: bunzip2 FILE; gzip alone is read as it is"},
    {"\50\265\57\375", NULL, "a zstd file", "unpack it: zstd -d FILE; gzip alone is read as it is"},
    {"7z\274\257\47", NULL, "a 7-Zip file", "unpack it: 7z x FILE; gzip alone is read as it is"},
};

static bool is_binary(StrView sample, Format *format) {
    for (size_t i = 0; i < COUNT(BINARY); i++) {
        if (!sv_starts(sample, sv(BINARY[i].magic))) continue;
        if (BINARY[i].part && !contains(sample, BINARY[i].part)) continue;
        *format = other(BINARY[i].name, BINARY[i].hint);
        return true;
    }
    return false;
}

/* ---- XML ---- */

/* By the name of the root. The others are converted by translate-toolkit. */
static const struct {
    const char *root, *name, *hint;
} ROOTS[] = {
    {"html", "a web page (HTML)", ALIGN},
    {"TS", "a file of Qt Linguist", "translate-toolkit makes a PO file of it: ts2po FILE NEW.po"},
    {"resources", "a file of Android strings",
     "translate-toolkit (3.20 or later) makes a PO file of both languages: android2po -t "
     "values/strings.xml values-de/strings.xml NEW.po"},
    {"root", "an XML file, perhaps RESX",
     "translate-toolkit makes a PO file of both languages of RESX: resx2po -t Resources.resx "
     "Resources.de.resx "
     "NEW.po"},
    {"plist", "a property list",
     "read the pairs from .strings files: translate-toolkit's prop2po makes PO files"},
    {"svg", "a picture (SVG)", "pairs of sentences are text in two languages"},
};

/* UTF-16 with zero bytes is good enough for names in ASCII. */
static StrView narrow(StrView sample, char *buffer, size_t size) {
    size_t length = 0;
    for (size_t i = 0; i < sample.length && length < size; i++)
        if (sample.data[i]) buffer[length++] = sample.data[i];
    return (StrView){buffer, length};
}

static StrView skip_past(StrView text, const char *end) {
    const char *at = memmem(text.data, text.length, end, strlen(end));
    if (!at) return (StrView){"", 0};
    at += strlen(end);
    return (StrView){at, (size_t)(text.data + text.length - at)};
}

/* A DOCTYPE may have brackets with '>' in them. */
static StrView skip_doctype(StrView text) {
    const char *bracket = memchr(text.data, '[', text.length), *end = memchr(text.data, '>', text.length);
    return bracket && end && bracket < end ? skip_past(skip_past(text, "]"), ">") : skip_past(text, ">");
}

/* The name of the root element without its prefix; empty if there is none. */
static StrView root_of(StrView text) {
    for (;;) {
        text = sv_trim(text);
        if (sv_starts(text, SV("<?")))
            text = skip_past(text, "?>");
        else if (sv_starts(text, SV("<!--")))
            text = skip_past(text, "-->");
        else if (sv_starts(text, SV("<!")))
            text = skip_doctype(text);
        else
            break;
    }
    size_t start = 1, end = 1;
    if (!sv_starts(text, SV("<"))) return (StrView){"", 0};
    for (; end < text.length && !char_is_space(text.data[end]) && !strchr("/>", text.data[end]); end++)
        if (text.data[end] == ':') start = end + 1;
    return (StrView){text.data + start, end - start};
}

/* A table may begin with a tag: "<b>Go!</b> TAB ...". */
static bool is_xml(StrView sample, Format *format) {
    char buffer[4096];
    bool wide = sv_starts(sample, SV("\xFF\xFE")) || sv_starts(sample, SV("\xFE\xFF"));
    StrView text =
        sv_trim(wide ? narrow((StrView){sample.data + 2, sample.length - 2}, buffer, sizeof buffer) : sample);
    if (starts_ignoring_case(text, "<!doctype html") || starts_ignoring_case(text, "<html")) {
        *format = other(ROOTS[0].name, ROOTS[0].hint);
        return true;
    }
    StrView root = root_of(text);
    bool is_memory = sv_equal(root, SV("tmx")), is_xliff = sv_equal(root, SV("xliff"));
    if (is_memory) *format = (Format){.kind = FORMAT_TMX, .name = "a TMX file"};
    if (is_xliff) *format = (Format){.kind = FORMAT_XLIFF, .name = "an XLIFF file"};
    if (is_memory || is_xliff) return true;
    if (!sv_starts(text, SV("<?xml")) && !sv_starts(text, SV("<!DOCTYPE"))) return false;
    for (size_t i = 0; i < COUNT(ROOTS); i++) {
        if (!sv_equal(root, sv(ROOTS[i].root))) continue;
        *format = other(ROOTS[i].name, ROOTS[i].hint);
        return true;
    }
    *format =
        other("XML, and neither TMX nor XLIFF",
              "translate-toolkit makes PO files of many formats (its commands end in 2po), xsltproc CSV");
    return true;
}

/* ---- PO ---- */

static bool is_po(StrView sample) {
    StrView line;
    while (sv_next(&sample, '\n', &line)) {
        line = sv_trim(line);
        if (line.length == 0 || line.data[0] == '#') continue;
        bool keyword =
            sv_starts(line, SV("msgid")) || sv_starts(line, SV("msgctxt")) || sv_starts(line, SV("domain"));
        return keyword && line.data[line.length - 1] == '"' && !memchr(line.data, '\t', line.length);
    }
    return false;
}

/* ---- JSON ---- */

static bool is_json(StrView sample, bool whole, Format *format) {
    Json *root = NULL;
    StrView text = sv_trim(sample), rest = text, line;
    if (text.length < 2 || (text.data[0] != '{' && text.data[0] != '[')) return false;
    sv_next(&rest, '\n', &line);
    bool object = text.data[0] == '{' && json_parse(&root, line, false) == STATUS_OK;
    json_free(root);
    if (object) {
        *format = (Format){.kind = FORMAT_JSON_LINES, .name = "JSON lines"};
        return true;
    }
    char next = sv_trim((StrView){text.data + 1, text.length - 1}).data[0];
    if (memchr(line.data, '\t', line.length) || !strchr("\"{[]}", next)) return false;
    if (text.data[0] == '{' && next != '"') return false; /* a placeholder */
    (void)whole;
    *format =
        other("JSON, and not one object a line",
              "jq -c '.[]' FILE > NEW writes the objects of a list as lines of {\"en\": ..., \"de\": ...}; "
              "translate-toolkit makes a PO file of the catalogues of a program: json2po -t en.json de.json "
              "NEW.po");
    return true;
}

/* ---- all ---- */

Format format_detect(StrView sample, bool whole) {
    Format format = {.kind = FORMAT_TABLE, .name = "text"};
    StrView rest = sample, first;
    if (is_binary(sample, &format) || is_xml(sample, &format)) return format;
    if (sv_next(&rest, '\n', &first) && file_is_utf16(first)) return format;
    if (sv_starts(sample, SV("\xEF\xBB\xBF"))) sample = (StrView){sample.data + 3, sample.length - 3};
    if (is_xml(sample, &format) || is_json(sample, whole, &format)) return format;
    if (is_po(sample)) return (Format){.kind = FORMAT_PO, .name = "a PO file"};
    format.separator = csv_separator(sample, whole);
    if (format.separator) format = (Format){FORMAT_CSV, format.separator, "a CSV file", NULL};
    return format;
}

Status format_refuse(const Format *format, const char *path) {
    status_fail(STATUS_DATA, "'%.700s' is %s, not a file of sentence pairs", path, format->name);
    return status_hint(STATUS_DATA, "%s", format->hint);
}
