/* document_po.c - catalogues of gettext. A scanner of its own keeps each byte that is not written.
 *
 * An entry is a group of lines around a msgid. Its empty msgstr gets a translation, with the comment
 * "attn-mt: confidence 0.87" (or "1.00, from the translation memory") and, below the threshold, the flag
 * fuzzy. The plural form for n = 1 is a translation of msgid, unless msgid lacks placeholders that
 * msgid_plural has and the language has more than two forms; the others are of msgid_plural. Translations
 * agree with msgid in line ends at their start and end, and in format directives; those that do not are left
 * out. Line ends and columns inside of a text stay; line ends that only wrap a paragraph (wrapped_lines.h) do
 * not cut its sentences, and the translation is wrapped again.
 */
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "documents/document.h"
#include "formats/plural_forms.h"
#include "documents/po_format.h"
#include "documents/wrapped_lines.h"
#include "text/placeholders.h"

enum { MAX_FORMS = PLURAL_FORMS_MAX };

/* A keyword with its strings; places in the bytes. */
typedef struct {
    size_t from, to; /* from the keyword to after the last line end */
    bool is_there;
} Field;

typedef struct {
    size_t start;                      /* of its first comment */
    size_t flags;                      /* after "#,"; 0: there are none */
    size_t flags_end;                  /* of this line */
    size_t previous_from, previous_to; /* the lines "#|" */
    size_t score_from, score_to;       /* our comment */
    Field id, plural, other, forms[MAX_FORMS];
    size_t keyword; /* of msgctxt or msgid: flags are written before it */
    int form_count; /* lines msgstr */
    bool fuzzy, no_wrap;
    FormatLanguage format;
    size_t segments; /* its first one: of msgid; behind it of msgid_plural */
    int segment_count;
    int singular; /* the form that translates msgid */
} Entry;

enum { SEGMENT_ID, SEGMENT_PLURAL }; /* what a segment is a text of */

typedef struct {
    Entry *entries;
    size_t count, capacity;
    PluralForms forms;
} Catalogue;

static bool detect(StrView sample) {
    StrView line;
    while (sv_next(&sample, '\n', &line)) {
        line = sv_trim(line);
        if (line.length == 0 || line.data[0] == '#') continue;
        bool keyword = sv_starts(line, SV("msgid \"")) || sv_starts(line, SV("msgctxt \"")) ||
                       sv_starts(line, SV("domain \""));
        return keyword && line.data[line.length - 1] == '"' && !memchr(line.data, '\t', line.length);
    }
    return false;
}

/* ---- strings ---- */

/* Appends what the strings of a field stand for. */
static Status add_strings(const Document *document, const Field *field, StrBuf *out) {
    StrView bytes = document->bytes;
    bool in_string = false;
    for (size_t i = field->from; i < field->to; i++) {
        char c = bytes.data[i];
        if (c == '"') {
            in_string = !in_string;
        } else if (in_string && c == '\n') {
            return document_fail(document, i, "a string of a PO file does not end on its line");
        } else if (in_string && c == '\\' && i + 1 < field->to) {
            static const char LETTERS[] = "abfnrtv", CHARACTERS[] = "\a\b\f\n\r\t\v";
            char next = bytes.data[++i];
            const char *letter = next ? strchr(LETTERS, next) : NULL;
            if (next >= '0' && next <= '7') {
                int value = 0;
                for (int digit = 0; digit < 3 && bytes.data[i] >= '0' && bytes.data[i] <= '7'; digit++)
                    value = 8 * value + bytes.data[i++] - '0';
                i--;
                if (value == 0 || value > 127)
                    return document_fail(document, i, "an octal escape of a character that is not ASCII");
                strbuf_add_char(out, (char)value);
            } else if (next == 'x') {
                return document_fail(document, i, "hexadecimal escapes are not read");
            } else {
                strbuf_add_char(out, letter ? CHARACTERS[letter - LETTERS] : next);
            }
        } else if (in_string) {
            strbuf_add_char(out, c);
        }
    }
    if (in_string) return document_fail(document, field->from, "a string of a PO file does not end");
    return STATUS_OK;
}

static void add_escaped(StrView text, StrBuf *out) {
    static const char LETTERS[] = "abfnrtv", CHARACTERS[] = "\a\b\f\n\r\t\v";
    for (size_t i = 0; i < text.length; i++) {
        char c = text.data[i];
        const char *special = c ? strchr(CHARACTERS, c) : NULL;
        if (special)
            strbuf_format(out, "\\%c", LETTERS[special - CHARACTERS]);
        else if (c == '"' || c == '\\')
            strbuf_format(out, "\\%c", c);
        else
            strbuf_add_char(out, c);
    }
}

static int columns(StrView text) {
    int width = 0;
    for (size_t at = 0; at < text.length;) width += unicode_width(utf8_next(text, &at));
    return width;
}

/* A part of a string without line ends inside, in lines of at most 79 columns as gettext has them. */
static void write_wrapped(StrView escaped, StrBuf *out) {
    enum { WIDTH = 77 }; /* between the quotes */
    while (escaped.length > 0) {
        size_t end = 0;
        for (size_t next = 0; next < escaped.length;) {
            while (next < escaped.length && escaped.data[next] != ' ') next++;
            while (next < escaped.length && escaped.data[next] == ' ') next++;
            if (end > 0 && columns((StrView){escaped.data, next}) > WIDTH) break;
            end = next;
        }
        strbuf_format(out, "\"%.*s\"\n", (int)end, escaped.data);
        escaped = (StrView){escaped.data + end, escaped.length - end};
    }
}

/* `keyword` is "msgstr" or "msgstr[1]". */
static void write_field(StrView keyword, StrView text, bool no_wrap, StrBuf *out) {
    StrBuf escaped = {0};
    add_escaped(text, &escaped);
    const char *line_end = memchr(text.data, '\n', text.length);
    bool lines = line_end && line_end + 1 < text.data + text.length;
    bool is_long = (int)keyword.length + 3 + columns(strbuf_view(&escaped)) > 80;
    strbuf_add(out, keyword);
    strbuf_add_char(out, ' ');
    if (!lines && (!is_long || no_wrap)) {
        strbuf_format(out, "\"%s\"\n", strbuf_text(&escaped));
    } else {
        strbuf_add(out, SV("\"\"\n"));
        for (StrView rest = text; rest.length > 0;) {
            const char *end = memchr(rest.data, '\n', rest.length);
            size_t length = end ? (size_t)(end + 1 - rest.data) : rest.length;
            strbuf_clear(&escaped);
            add_escaped((StrView){rest.data, length}, &escaped);
            if (no_wrap)
                strbuf_format(out, "\"%s\"\n", strbuf_text(&escaped));
            else
                write_wrapped(strbuf_view(&escaped), out);
            rest = (StrView){rest.data + length, rest.length - length};
        }
    }
    strbuf_free(&escaped);
}

/* ---- reading ---- */

typedef struct {
    Document *document;
    Catalogue *catalogue;
    Entry entry;
    Field *field; /* that continues; NULL: none */
    bool has_entry;
} Reader;

/* The words after "#,": "c-format", "no-wrap", "fuzzy". */
static void read_flags(Entry *entry, StrView flags) {
    StrView flag;
    while (sv_next(&flags, ',', &flag)) {
        flag = sv_trim(flag);
        entry->fuzzy |= sv_equal(flag, SV("fuzzy"));
        entry->no_wrap |= sv_equal(flag, SV("no-wrap"));
        FormatLanguage format = po_format_of(flag);
        if (format != FORMAT_NONE) entry->format = format;
    }
}

static StrView text_view(const StrBuf *text) { return (StrView){strbuf_text(text), text->length}; }

static bool is_empty_form(const Document *document, const Field *form) {
    StrBuf text = {0};
    bool empty = add_strings(document, form, &text) != STATUS_OK || text.length == 0;
    strbuf_free(&text);
    return empty;
}

/* "Language: de\n" of the header. */
static void read_language(Document *document, StrView header) {
    StrView line, key = SV("Language:");
    while (sv_next(&header, '\n', &line))
        if (sv_starts(line, key)) {
            strbuf_clear(&document->language);
            strbuf_add(&document->language,
                       sv_trim((StrView){line.data + key.length, line.length - key.length}));
        }
}

static Status end_entry(Reader *reader) {
    Document *document = reader->document;
    Entry *entry = &reader->entry;
    StrBuf id = {0}, plural = {0}, text = {0};
    Status status = STATUS_OK;
    bool has_entry = reader->has_entry && entry->id.is_there;
    reader->has_entry = false;
    reader->field = NULL;
    if (!has_entry) return STATUS_OK;
    status = add_strings(document, &entry->id, &id);
    if (status == STATUS_OK && entry->form_count == 0)
        status = document_fail(document, entry->id.from, "a msgid without msgstr");
    if (status == STATUS_OK && entry->plural.is_there)
        status = add_strings(document, &entry->plural, &plural);
    bool empty = true;
    for (int f = 0; status == STATUS_OK && f < entry->form_count; f++) {
        if (!entry->forms[f].is_there)
            status = document_fail(document, entry->id.from, "the forms of a plural have gaps");
        else
            empty = empty && is_empty_form(document, &entry->forms[f]);
    }
    bool header = id.length == 0;
    if (status == STATUS_OK && header) {
        status = add_strings(document, &entry->forms[0], &text);
        reader->catalogue->forms = plural_forms_parse(text_view(&text));
        read_language(document, text_view(&text));
    }
    bool wanted = empty || (entry->fuzzy && document->options.fuzzy);
    if (status == STATUS_OK && !header && !wanted) document->kept++;
    if (status == STATUS_OK && !header && wanted) {
        Catalogue *catalogue = reader->catalogue;
        int forms = !entry->plural.is_there  ? 1
                    : catalogue->forms.count ? catalogue->forms.count
                                             : entry->form_count;
        bool first = entry->plural.is_there &&
                     ((forms > 2 && !placeholders_agree_in(text_view(&id), text_view(&plural))) ||
                      !po_format_fits_plural(entry->format, text_view(&id), text_view(&plural)));
        entry->segments = document->count;
        entry->segment_count = entry->plural.is_there ? 2 : 1;
        entry->singular = catalogue->forms.singular;
        MEM_GROW(catalogue->entries, catalogue->capacity, catalogue->count + 1);
        for (int s = 0; s < entry->segment_count; s++) {
            bool many = s == 1 || first || (entry->plural.is_there && forms == 1);
            strbuf_clear(&text);
            lines_unwrap(many ? text_view(&plural) : text_view(&id), &text);
            Segment *segment =
                document_add(document, entry->forms[0].from, entry->forms[0].to, strbuf_view(&text));
            segment->item = catalogue->count;
            segment->kind = many ? SEGMENT_PLURAL : SEGMENT_ID;
        }
        entry->form_count = entry->form_count > forms ? entry->form_count : forms;
        catalogue->entries[catalogue->count++] = *entry;
    }
    strbuf_free(&id);
    strbuf_free(&plural);
    strbuf_free(&text);
    return status;
}

static void begin_entry(Reader *reader, size_t at) {
    reader->entry = (Entry){.start = at};
    reader->has_entry = true;
    reader->field = NULL;
}

#define SCORE "# attn-mt: confidence "

static Status read_comment(Reader *reader, StrView line, size_t at, size_t next) {
    Entry *entry = &reader->entry;
    if (reader->has_entry && entry->form_count > 0) TRY(end_entry(reader));
    if (sv_starts(line, SV("#~"))) { /* obsolete, with the comments before it */
        reader->has_entry = false;
        return STATUS_OK;
    }
    if (!reader->has_entry) begin_entry(reader, at);
    if (sv_starts(line, SV("#,"))) {
        entry->flags = at + 2;
        entry->flags_end = at + line.length;
        read_flags(entry, (StrView){line.data + 2, line.length - 2});
    } else if (sv_starts(line, SV("#|"))) {
        if (entry->previous_to == 0) entry->previous_from = at;
        entry->previous_to = next;
    } else if (sv_starts(line, SV(SCORE))) {
        entry->score_from = at;
        entry->score_to = next;
    }
    return STATUS_OK;
}

/* Does the line begin with this keyword and a string? */
static bool is_keyword(StrView line, const char *keyword) {
    size_t length = strlen(keyword);
    if (!sv_starts(line, sv(keyword))) return false;
    StrView rest = sv_trim((StrView){line.data + length, line.length - length});
    return rest.length > 0 && rest.data[0] == '"';
}

/* The number of "msgstr[1]", 0 of "msgstr"; -1: neither. */
static int form_number(StrView line) {
    char keyword[] = "msgstr[0]";
    if (is_keyword(line, "msgstr")) return 0;
    for (int form = 0; form < MAX_FORMS; form++) {
        keyword[7] = (char)('0' + form);
        if (is_keyword(line, keyword)) return form;
    }
    return -1;
}

/* The field that a keyword begins. */
static Status find_field(Reader *reader, StrView line, size_t at, Field **field) {
    Entry *entry = &reader->entry;
    bool context = is_keyword(line, "msgctxt"), id = is_keyword(line, "msgid"),
         domain = is_keyword(line, "domain");
    int form = form_number(line);
    if ((context || id || domain) && reader->has_entry && entry->form_count > 0) TRY(end_entry(reader));
    if (!reader->has_entry) begin_entry(reader, at);
    if ((context || id) && entry->keyword == 0) entry->keyword = at;
    *field = context || domain                  ? &entry->other
             : id                               ? &entry->id
             : is_keyword(line, "msgid_plural") ? &entry->plural
             : form >= 0                        ? &entry->forms[form]
                                                : NULL;
    if (form + 1 > entry->form_count) entry->form_count = form + 1;
    if (!*field)
        return document_fail(reader->document, at,
                             "this line is not valid in a PO file, or a plural has more than 6 forms");
    bool order = form < 0 || (entry->id.is_there && entry->plural.is_there == (line.data[6] == '['));
    return order ? STATUS_OK
                 : document_fail(reader->document, at, "this msgstr does not belong to its msgid");
}

static Status read_line(Reader *reader, StrView line, size_t at, size_t next) {
    while (line.length > 0 && char_is_space(line.data[0])) line.data++, line.length--, at++;
    if (line.length == 0) return STATUS_OK;
    if (line.data[0] == '#') return read_comment(reader, line, at, next);
    if (line.data[0] != '"') {
        TRY(find_field(reader, line, at, &reader->field));
        if (reader->field->is_there && reader->field != &reader->entry.other)
            return document_fail(reader->document, at, "an entry contains this line twice");
        reader->field->from = at;
        reader->field->is_there = true;
    } else if (!reader->field) {
        return document_fail(reader->document, at, "a string without a keyword");
    }
    reader->field->to = next;
    return STATUS_OK;
}

static Status read(Document *document) {
    Catalogue *catalogue = mem_alloc(1, sizeof *catalogue);
    document->state = catalogue;
    Reader reader = {.document = document, .catalogue = catalogue};
    StrView bytes = document->bytes, mark = SV("\xEF\xBB\xBF");
    for (size_t at = sv_starts(bytes, mark) ? mark.length : 0, next; at < bytes.length; at = next) {
        const char *end = memchr(bytes.data + at, '\n', bytes.length - at);
        next = end ? (size_t)(end + 1 - bytes.data) : bytes.length;
        TRY(read_line(&reader, (StrView){bytes.data + at, next - at}, at, next));
    }
    return end_entry(&reader);
}

/* ---- writing ---- */

/* Gives a translation the line ends at start and end of its source. */
static void copy_line_ends(StrView source, StrBuf *text) {
    StrView middle = sv_trim(strbuf_view(text));
    size_t start = 0, end = source.length;
    while (start < source.length && char_is_space(source.data[start])) start++;
    while (end > start && char_is_space(source.data[end - 1])) end--;
    StrBuf out = {0};
    strbuf_add(&out, (StrView){source.data, start});
    strbuf_add(&out, middle);
    strbuf_add(&out, (StrView){source.data + end, source.length - end});
    strbuf_free(text);
    *text = out;
}

static void add_source(const Document *document, const Entry *entry, const Segment *segment, StrBuf *out) {
    add_strings(document, segment->kind == SEGMENT_PLURAL ? &entry->plural : &entry->id, out);
}

/* Gives a translation the lines of its source. A translation memory's has its own. */
static bool rewrap(StrView source, Segment *segment) {
    StrBuf text = {0};
    bool agrees = lines_rewrap(source, strbuf_view(&segment->translation), &text);
    if (!agrees) return segment->from_memory;
    strbuf_free(&segment->translation);
    segment->translation = text;
    return true;
}

static bool is_usable(const Document *document, const Entry *entry) {
    bool usable = true;
    StrBuf source = {0};
    for (int s = 0; s < entry->segment_count && usable; s++) {
        Segment *segment = &document->segments[entry->segments + (size_t)s];
        strbuf_clear(&source);
        add_source(document, entry, segment, &source);
        usable = segment->is_translated && rewrap(text_view(&source), segment);
        if (!usable) break;
        copy_line_ends(text_view(&source), &segment->translation);
        usable = po_format_agrees(entry->format, text_view(&source), strbuf_view(&segment->translation));
    }
    strbuf_free(&source);
    return usable;
}

static double entry_confidence(const Document *document, const Entry *entry) {
    double least = 1;
    for (int s = 0; s < entry->segment_count; s++) {
        double confidence = document->segments[entry->segments + (size_t)s].confidence;
        if (confidence < least) least = confidence;
    }
    return least;
}

static bool is_from_memory(const Document *document, const Entry *entry) {
    for (int s = 0; s < entry->segment_count; s++)
        if (!document->segments[entry->segments + (size_t)s].from_memory) return false;
    return true;
}

/* Writes the flags without or with fuzzy. */
static void write_flags(Document *document, const Entry *entry, bool fuzzy) {
    if (fuzzy == entry->fuzzy) return;
    if (fuzzy && entry->flags == 0) {
        size_t at = entry->previous_to > 0 ? entry->previous_from : entry->keyword;
        strbuf_add(document_edit(document, at, at), SV("#, fuzzy\n"));
    } else if (fuzzy) {
        strbuf_add(document_edit(document, entry->flags, entry->flags), SV(" fuzzy,"));
    } else {
        StrView rest = {document->bytes.data + entry->flags, entry->flags_end - entry->flags}, flag;
        StrBuf flags = {0};
        while (sv_next(&rest, ',', &flag))
            if (!sv_equal(sv_trim(flag), SV("fuzzy")))
                strbuf_format(&flags, "%s %.*s", flags.length > 0 ? "," : "", SV_ARG(sv_trim(flag)));
        size_t from = flags.length > 0 ? entry->flags : entry->flags - strlen("#,");
        if (flags.length > 0) strbuf_add_char(&flags, '\n');
        strbuf_add(document_edit(document, from, entry->flags_end), strbuf_view(&flags));
        strbuf_free(&flags);
    }
}

static void write_entry(Document *document, const Entry *entry) {
    double confidence = entry_confidence(document, entry);
    size_t score_at = entry->score_to > 0 ? entry->score_from : entry->start;
    strbuf_format(document_edit(document, score_at, entry->score_to > 0 ? entry->score_to : score_at),
                  SCORE "%.2f%s\n", confidence,
                  is_from_memory(document, entry) ? ", from the translation memory" : "");
    write_flags(document, entry, confidence < document->options.confident);
    if (entry->previous_to > 0) document_edit(document, entry->previous_from, entry->previous_to);
    size_t from = entry->forms[0].from, to = from;
    for (int f = 0; f < MAX_FORMS; f++)
        if (entry->forms[f].is_there && entry->forms[f].to > to) to = entry->forms[f].to;
    StrBuf *out = document_edit(document, from, to), keyword = {0};
    for (int f = 0; f < entry->form_count; f++) {
        size_t s = entry->segments + (entry->plural.is_there && f != entry->singular ? 1 : 0);
        strbuf_clear(&keyword);
        strbuf_add(&keyword, SV("msgstr"));
        if (entry->plural.is_there) strbuf_format(&keyword, "[%d]", f);
        write_field(strbuf_view(&keyword), strbuf_view(&document->segments[s].translation), entry->no_wrap,
                    out);
    }
    strbuf_free(&keyword);
    StrView old = {document->bytes.data + from, to - from};
    if (old.length == 0 || old.data[old.length - 1] != '\n') strbuf_cut(out, out->length - 1);
}

static void write(Document *document) {
    const Catalogue *catalogue = document->state;
    for (size_t e = 0; e < catalogue->count; e++) {
        const Entry *entry = &catalogue->entries[e];
        bool translated = true;
        for (int s = 0; s < entry->segment_count; s++)
            translated = translated && document->segments[entry->segments + (size_t)s].is_translated;
        if (is_usable(document, entry))
            write_entry(document, entry);
        else
            document->rejected += translated;
    }
}

static void release(void *state) {
    Catalogue *catalogue = state;
    mem_free(catalogue->entries);
    mem_free(catalogue);
}

const DocumentFormat PO_DOCUMENT = {.name = "po",
                                    .endings = ".po .pot",
                                    .title = "a PO file",
                                    .is_bilingual = true,
                                    .detect = detect,
                                    .read = read,
                                    .write = write,
                                    .release = release};
