/* po.c - see po.h. The library takes names of files alone, so the bytes go through a temporary file. */
#include "io/po.h"

#ifdef ATTN_MT_PO

#include <ctype.h>
#include <errno.h>
#include <gettext-po.h>
#include <iconv.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include "base/mem.h"

struct PoCatalogue {
    StrBuf content; /* for the numbers of lines */
    size_t seen;    /* of the content */
    long line;      /* at `seen` */
    po_file_t file;
    po_message_iterator_t messages;
    char *header;
};

/* ---- errors ---- */

/* Of the catalogue that is being read. */
static jmp_buf leave;
static char first_error[256];
static size_t first_line;

static void keep_error(int severity, size_t line, const char *text) {
    if (severity == PO_SEVERITY_WARNING || first_error[0]) return;
    snprintf(first_error, sizeof first_error, "%.*s", (int)strcspn(text, "\n"), text);
    first_line = line == (size_t)-1 ? 0 : line;
}

static void on_error(int severity, po_message_t message, const char *path, size_t line, size_t column,
                     int multiline, const char *text) {
    (void)message, (void)path, (void)column, (void)multiline;
    keep_error(severity, line, text);
    if (severity == PO_SEVERITY_FATAL_ERROR) longjmp(leave, 1); /* it must not return */
}

static void on_two_errors(int severity, po_message_t message, const char *path, size_t line, size_t column,
                          int multiline, const char *text, po_message_t other, const char *other_path,
                          size_t other_line, size_t other_column, int other_multiline,
                          const char *other_text) {
    (void)message, (void)path, (void)column, (void)multiline, (void)other, (void)other_path;
    (void)other_line, (void)other_column, (void)other_multiline, (void)other_text;
    keep_error(severity, line, text);
    if (severity == PO_SEVERITY_FATAL_ERROR) longjmp(leave, 1);
}

/* Sanitizers do not count what the library loses. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_LSAN
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(HAS_LSAN)
#include <sanitizer/lsan_interface.h>
#else
static void __lsan_disable(void) {} /* NOLINT: its name */
static void __lsan_enable(void) {}  /* NOLINT */
#endif

/* NULL after an error, also if the library would go on. */
static po_file_t read_file(const char *path) {
    static const struct po_xerror_handler HANDLER = {on_error, on_two_errors};
    first_error[0] = '\0';
    first_line = 0;
    __lsan_disable();
    if (setjmp(leave)) {
        __lsan_enable();
        return NULL;
    }
    po_file_t file = po_file_read(path, &HANDLER);
    __lsan_enable();
    if (!file && !first_error[0]) snprintf(first_error, sizeof first_error, "it cannot be read");
    if (file && first_error[0]) {
        po_file_free(file);
        file = NULL;
    }
    return file;
}

/* ---- reading ---- */

static Status take_all(LineReader *bytes, StrBuf *content) {
    enum { PART = 65536 };
    for (size_t got = 1; got > 0; content->length += got) {
        MEM_GROW(content->data, content->capacity, content->length + PART + 1);
        TRY(line_reader_take(bytes, content->data + content->length, PART, &got));
        if (content->length + got > FILE_TEXT_BYTES)
            return status_fail(STATUS_DATA, "'%.700s' is larger than %d MB, too large for a PO file",
                               line_reader_path(bytes), FILE_TEXT_BYTES / 1000000);
    }
    content->data[content->length] = '\0';
    return STATUS_OK;
}

/* ---- other encodings ---- */

/* The name of the charset in the header; empty: there is none. */
static StrView find_charset(StrView content) {
    static const char FIELD[] = "\"Content-Type:", CHARSET[] = "charset=";
    StrView line;
    while (sv_next(&content, '\n', &line)) {
        if (!sv_starts(line, sv(FIELD))) continue;
        const char *start = memmem(line.data, line.length, CHARSET, strlen(CHARSET));
        if (!start) break;
        start += strlen(CHARSET);
        size_t length = 0, most = (size_t)(line.data + line.length - start);
        while (length < most && (isalnum((unsigned char)start[length]) || strchr("-_.:", start[length])))
            length++;
        return (StrView){start, length};
    }
    return (StrView){content.data, 0};
}

static bool convert(iconv_t conversion, StrView from, StrBuf *out) {
    char piece[4096], *in = (char *)from.data;
    for (size_t remaining = from.length, flushed = 0; remaining > 0 || !flushed;) {
        char *to = piece;
        size_t space = sizeof piece;
        flushed = remaining == 0;
        size_t result = iconv(conversion, remaining > 0 ? &in : NULL, &remaining, &to, &space);
        strbuf_add(out, (StrView){piece, sizeof piece - space});
        if (result == (size_t)-1 && errno != E2BIG) return false;
    }
    return true;
}

/* Texts that are not in the charset of their header stay as they are: the reader of pairs reports them. */
static Status convert_content(PoCatalogue *catalogue, const char *path) {
    StrView content = strbuf_view(&catalogue->content), charset = find_charset(content);
    char name[64];
    if (charset.length == 0 || charset.length >= sizeof name || sv_equal(charset, SV("CHARSET")))
        return STATUS_OK;
    snprintf(name, sizeof name, "%.*s", SV_ARG(charset));
    if (strcasecmp(name, "UTF-8") == 0 || strcasecmp(name, "UTF8") == 0) return STATUS_OK;
    iconv_t conversion = iconv_open("UTF-8", name);
    if (conversion == (iconv_t)-1) /* NOLINT: its value */
        return status_fail(STATUS_DATA, "'%.700s' is in an unknown encoding, '%s'", path, name);
    StrBuf other = {0};
    size_t before = (size_t)(charset.data - content.data), after = before + charset.length;
    bool converted = convert(conversion, (StrView){content.data, before}, &other);
    strbuf_add(&other, SV("UTF-8"));
    converted =
        converted && convert(conversion, (StrView){content.data + after, content.length - after}, &other);
    iconv_close(conversion);
    if (converted) {
        StrBuf swap = catalogue->content;
        catalogue->content = other;
        other = swap;
    }
    strbuf_free(&other);
    return STATUS_OK;
}

static Status read_content(PoCatalogue *catalogue, const char *path) {
    char name[64];
    FILE *copy = tmpfile();
    bool written =
        copy &&
        fwrite(catalogue->content.data, 1, catalogue->content.length, copy) == catalogue->content.length &&
        fflush(copy) == 0;
    if (!written) {
        int error = errno;
        if (copy) fclose(copy);
        return status_fail(STATUS_RUNTIME, "cannot write a temporary copy of '%.700s': %s", path,
                           strerror(error));
    }
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(copy));
    catalogue->file = read_file(name);
    fclose(copy);
    if (catalogue->file) return STATUS_OK;
    if (first_line == 0) return status_fail(STATUS_DATA, "'%.700s': damaged PO file: %s", path, first_error);
    status_fail(STATUS_DATA, "'%.700s', line %zu: damaged PO file: %s", path, first_line, first_error);
    return status_hint(STATUS_DATA, "msgfmt -c FILE lists all errors");
}

Status po_catalogue_read(PoCatalogue **read, LineReader *bytes) {
    PoCatalogue *catalogue = mem_alloc(1, sizeof *catalogue);
    *read = NULL;
    Status status = take_all(bytes, &catalogue->content);
    if (status == STATUS_OK) status = convert_content(catalogue, line_reader_path(bytes));
    if (status == STATUS_OK) status = read_content(catalogue, line_reader_path(bytes));
    if (status != STATUS_OK) {
        po_catalogue_free(catalogue);
        return status;
    }
    catalogue->header = (char *)po_file_domain_header(catalogue->file, NULL); /* a copy, despite the type */
    catalogue->messages = po_message_iterator(catalogue->file, NULL);
    *read = catalogue;
    return STATUS_OK;
}

void po_catalogue_free(PoCatalogue *catalogue) {
    if (!catalogue) return;
    if (catalogue->messages) po_message_iterator_free(catalogue->messages);
    if (catalogue->file) po_file_free(catalogue->file);
    strbuf_free(&catalogue->content);
    free(catalogue->header); /* NOLINT: the library's memory */
    mem_free(catalogue);
}

void po_catalogue_field(const PoCatalogue *catalogue, const char *name, StrBuf *value) {
    char *field = catalogue->header ? po_header_field(catalogue->header, name) : NULL;
    if (field) strbuf_add(value, sv_trim(sv(field)));
    free(field); /* NOLINT: the library's memory */
}

/* ---- entries ---- */

/* Is it the line of a msgid, obsolete or not, and not of a msgid_plural or of an earlier msgid ("#|")? */
static bool begins_entry(StrView line) {
    line = sv_trim(line);
    if (sv_starts(line, SV("#~"))) line = sv_trim((StrView){line.data + 2, line.length - 2});
    if (!sv_starts(line, SV("msgid"))) return false;
    return line.length == 5 || line.data[5] == '"' || char_is_space(line.data[5]);
}

/* The library does not tell where a message is: its entries are in the order of the file. */
static long next_line_number(PoCatalogue *catalogue) {
    StrView rest = {catalogue->content.data + catalogue->seen, catalogue->content.length - catalogue->seen};
    StrView line;
    while (rest.length > 0 && sv_next(&rest, '\n', &line)) {
        catalogue->line++;
        if (begins_entry(line)) break;
    }
    catalogue->seen = catalogue->content.length - rest.length;
    return catalogue->line;
}

static int count_forms(po_message_t message) {
    int forms = 0;
    while (po_message_msgstr_plural(message, forms)) forms++;
    return forms;
}

static bool is_header(const PoEntry *entry) {
    return entry->id.length == 0 && entry->context.length == 0 && !entry->obsolete;
}

bool po_catalogue_next(PoCatalogue *catalogue, PoEntry *entry) {
    do {
        po_message_t message = po_next_message(catalogue->messages);
        if (!message) return false;
        const char *context = po_message_msgctxt(message), *plural = po_message_msgid_plural(message);
        *entry = (PoEntry){.context = sv(context ? context : ""),
                           .id = sv(po_message_msgid(message)),
                           .plural = sv(plural ? plural : ""),
                           .fuzzy = po_message_is_fuzzy(message),
                           .obsolete = po_message_is_obsolete(message),
                           .forms = plural ? count_forms(message) : 1,
                           .line = next_line_number(catalogue),
                           .message = message};
    } while (is_header(entry));
    return true;
}

StrView po_entry_form(const PoEntry *entry, int form) {
    const char *text = entry->plural.length > 0 ? po_message_msgstr_plural(entry->message, form)
                                                : po_message_msgstr(entry->message);
    return sv(text ? text : "");
}

#else

Status po_catalogue_read(PoCatalogue **catalogue, LineReader *bytes) {
    *catalogue = NULL;
    status_fail(STATUS_USAGE, "'%.700s' is a PO file, and this program was built without libgettextpo",
                line_reader_path(bytes));
    return status_hint(STATUS_USAGE, "install it (Debian: libgettextpo-dev) and run 'make' again");
}

void po_catalogue_field(const PoCatalogue *catalogue, const char *name, StrBuf *value) {
    (void)catalogue, (void)name, (void)value;
}

bool po_catalogue_next(PoCatalogue *catalogue, PoEntry *entry) {
    (void)catalogue, (void)entry;
    return false;
}

StrView po_entry_form(const PoEntry *entry, int form) {
    (void)entry, (void)form;
    return (StrView){"", 0};
}

void po_catalogue_free(PoCatalogue *catalogue) { (void)catalogue; }

#endif
