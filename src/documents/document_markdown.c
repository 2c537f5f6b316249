/* document_markdown.c - Markdown, and plain text with paragraphs.
 *
 * A block is a paragraph, a heading, an item of a list, or a cell of a table. Its lines are joined,
 * translated, and wrapped again at the width of the file's longest wrapped line, with the indent of its
 * second line. Front matter, code, blocks of HTML, definitions of links, rules and underlines stay. In plain
 * text, lines with columns (three spaces or a TAB between words) stay, too.
 */
#include <string.h>
#include "base/mem.h"
#include "documents/document.h"
#include "documents/markdown_inline.h"
#include "documents/marked_lines.h"
#include "text/markup.h"

typedef struct {
    StrBuf indent; /* of the lines after the first */
    int start;     /* the column where its text begins */
    bool wrapped;  /* it has several lines */
    Codes codes;
} Block;

typedef struct {
    Block *blocks; /* one for each segment */
    size_t count, capacity;
    int width; /* of the longest line of a block with several ones */
} Blocks;

/* What stands before the text of a line. */
typedef struct {
    size_t length;
    int spaces; /* columns before the first mark */
    int quotes; /* > */
    bool item;  /* it begins an item of a list */
} Prefix;

typedef struct {
    Document *document;
    bool markdown;
    /* The paragraph that is open. */
    bool open, is_item;
    size_t from, to;
    int lines, width, quotes, start;
    StrBuf indent, text;
    /* Blocks that stay. */
    char fence; /* '\0': none */
    size_t fence_length;
    bool in_html, in_comment, in_table, blank, in_list;
} Reader;

/* ---- lines ---- */

static Prefix prefix_of(StrView line, bool markdown) {
    enum { MAX_MARKS = 16 };
    Prefix prefix = {0};
    size_t at = 0;
    for (int marks = 0; marks < MAX_MARKS; marks++) {
        while (at < line.length && (line.data[at] == ' ' || line.data[at] == '\t')) {
            if (marks == 0) prefix.spaces += line.data[at] == '\t' ? 4 : 1;
            at++;
        }
        size_t item = line_item_length(line, at);
        if (item > 0) {
            prefix.item = true;
            at += item;
        } else if (at < line.length && line.data[at] == '>' &&
                   (markdown || marks > 0 || at + 1 == line.length || line.data[at + 1] == ' ')) {
            prefix.quotes++;
            at++;
        } else {
            break;
        }
        if (item > 0 && !markdown) break;
    }
    StrView box = SV("[ ] "), done = SV("[x] "), rest = {line.data + at, line.length - at};
    if (prefix.item && (sv_starts(rest, box) || sv_starts(rest, done))) at += box.length;
    prefix.length = at;
    return prefix;
}

/* A line of one repeated mark: a rule or an underline. */
static bool is_rule(StrView text) {
    if (text.length < 2 || !strchr("-=_*~^#+", text.data[0])) return false;
    for (size_t i = 0; i < text.length; i++)
        if (text.data[i] != text.data[0] && text.data[i] != ' ') return false;
    return true;
}

static bool has_columns(StrView text) {
    return memmem(text.data, text.length, "   ", 3) || memchr(text.data, '\t', text.length);
}

/* "|---|:--:|" */
static bool is_table_rule(StrView text) {
    bool dash = false, bar = false;
    for (size_t i = 0; i < text.length; i++) {
        if (!strchr("|-: \t\r", text.data[i])) return false;
        dash |= text.data[i] == '-';
        bar |= text.data[i] == '|';
    }
    return dash && bar;
}

/* ---- blocks ---- */

static void add_block(Reader *reader, size_t from, size_t to, StrView text, Block block) {
    Document *document = reader->document;
    Blocks *blocks = document->state;
    StrBuf encoded = {0};
    if (reader->markdown)
        markdown_encode(document->bytes, text, &block.codes, &encoded);
    else
        strbuf_add(&encoded, text);
    document_add(document, from, to, strbuf_view(&encoded))->item = blocks->count;
    strbuf_free(&encoded);
    MEM_GROW(blocks->blocks, blocks->capacity, blocks->count + 1);
    blocks->blocks[blocks->count++] = block;
}

static void end_paragraph(Reader *reader) {
    if (reader->open) {
        Blocks *blocks = reader->document->state;
        Block block = {.start = reader->start, .wrapped = reader->lines > 1};
        if (block.wrapped && reader->width > blocks->width) blocks->width = reader->width;
        strbuf_add(&block.indent, strbuf_view(&reader->indent));
        add_block(reader, reader->from, reader->to, strbuf_view(&reader->text), block);
    }
    reader->open = false;
    strbuf_clear(&reader->text);
    strbuf_clear(&reader->indent);
}

/* The prefix with spaces for the mark of an item. */
static void set_indent(Reader *reader, StrView prefix, bool keep) {
    strbuf_clear(&reader->indent);
    for (size_t i = 0; i < prefix.length; i++) {
        unsigned char c = (unsigned char)prefix.data[i];
        bool stays = keep || c == '>' || c == ' ' || c == '\t';
        if (stays || (c & 0xC0) != 0x80) strbuf_add_char(&reader->indent, stays ? (char)c : ' ');
    }
}

/* `line` is at `at`, its text is line[from, to). */
static void add_line(Reader *reader, StrView line, size_t at, Prefix prefix, size_t from, size_t to) {
    int columns = text_columns((StrView){line.data, to});
    StrView before = {line.data, from};
    if (!reader->open) {
        reader->open = true;
        reader->is_item = prefix.item;
        reader->quotes = prefix.quotes;
        reader->from = at + from;
        reader->lines = reader->width = 0;
        reader->start = text_columns(before);
        set_indent(reader, before, false);
    } else {
        if (reader->lines == 1) set_indent(reader, before, true);
        strbuf_add_char(&reader->text, ' ');
    }
    strbuf_add(&reader->text, (StrView){line.data + from, to - from});
    reader->to = at + to;
    reader->lines++;
    if (columns > reader->width) reader->width = columns;
}

/* The cells of a row, which are blocks of one line. */
static void add_cells(Reader *reader, StrView line, size_t at, size_t from) {
    size_t start = from;
    bool code = false;
    for (size_t i = from; i <= line.length; i++) {
        bool end = i == line.length || (line.data[i] == '|' && !code);
        if (i < line.length && line.data[i] == '`') code = !code;
        if (i + 1 < line.length && line.data[i] == '\\') {
            i++;
            continue;
        }
        if (!end) continue;
        StrView cell = sv_trim((StrView){line.data + start, i - start});
        size_t begin = (size_t)(cell.data - line.data);
        if (cell.length > 0) add_block(reader, at + begin, at + begin + cell.length, cell, (Block){0});
        start = i + 1;
    }
}

/* ---- Markdown ---- */

/* Does the block that stays begin, or go on, with this line? */
static bool is_kept_block(Reader *reader, StrView line, StrView text, Prefix prefix) {
    size_t run = 0;
    char first = text.length > 0 ? text.data[0] : '\0';
    while (run < text.length && text.data[run] == first) run++;
    if (reader->fence) {
        bool ends = first == reader->fence && run >= reader->fence_length && run == sv_trim(text).length;
        if (ends) reader->fence = '\0';
        return true;
    }
    if (reader->in_comment) {
        reader->in_comment = !memmem(line.data, line.length, "-->", 3);
        return true;
    }
    if (reader->in_html) {
        reader->in_html = text.length > 0;
        return reader->in_html;
    }
    if ((first == '`' || first == '~') && run >= 3 && !memchr(text.data + run, first, text.length - run)) {
        end_paragraph(reader);
        reader->fence = first;
        reader->fence_length = run;
        return true;
    }
    if (sv_starts(text, SV("<!--")) && !reader->open) {
        reader->in_comment = !memmem(text.data, text.length, "-->", 3);
        return true;
    }
    if (first == '<' && tag_is_block((StrView){text.data, tag_length(text, 0)})) {
        end_paragraph(reader);
        reader->in_html = true;
        return true;
    }
    bool code = prefix.quotes == 0 && !prefix.item && prefix.spaces >= (reader->in_list ? 8 : 4);
    return code && !reader->open && text.length > 0;
}

/* "[label]: target"; a footnote "[^1]: text" is text after its label. */
static bool is_definition(StrView text, size_t *skip) {
    const char *end = text.length > 0 && text.data[0] == '[' ? memchr(text.data, ']', text.length) : NULL;
    size_t at = end ? (size_t)(end - text.data) + 1 : 0;
    if (!end || at >= text.length || text.data[at] != ':') return false;
    if (text.data[1] != '^') return true;
    for (at++; at < text.length && text.data[at] == ' ';) at++;
    *skip = at;
    return false;
}

static void read_markdown(Reader *reader, StrView line, size_t at, StrView next) {
    Prefix prefix = prefix_of(line, true);
    StrView text = sv_trim((StrView){line.data + prefix.length, line.length - prefix.length});
    if (is_kept_block(reader, line, text, prefix)) return;
    bool rule = is_rule(sv_trim(line)), rest_is_rule = text.length > 0 && is_rule(text);
    if (text.length == 0 || rule || rest_is_rule) {
        end_paragraph(reader);
        reader->in_table = false;
        return;
    }
    if (prefix.spaces == 0 && reader->blank && !prefix.item) reader->in_list = false;
    reader->in_list |= prefix.item;
    size_t from = (size_t)(text.data - line.data), to = from + text.length, skip = 0;
    if (is_table_rule(text)) {
        end_paragraph(reader);
        reader->in_table = true;
        return;
    }
    bool bar = memchr(text.data, '|', text.length);
    if (bar && (reader->in_table || is_table_rule(sv_trim(next)))) {
        end_paragraph(reader);
        add_cells(reader, line, at, prefix.length);
        return;
    }
    size_t level = 0;
    while (level < text.length && text.data[level] == '#') level++;
    if (level > 0 && level <= 6 && level < text.length && text.data[level] == ' ') {
        end_paragraph(reader);
        for (from += level; from < to && line.data[from] == ' ';) from++;
        while (to > from && (line.data[to - 1] == '#' || line.data[to - 1] == ' ')) to--;
        if (to > from) add_line(reader, line, at, prefix, from, to);
        end_paragraph(reader);
        return;
    }
    if (is_definition(text, &skip)) {
        end_paragraph(reader);
        return;
    }
    if (prefix.item || skip > 0 || (reader->open && prefix.quotes != reader->quotes && prefix.quotes > 0))
        end_paragraph(reader);
    if (from + skip < to) add_line(reader, line, at, prefix, from + skip, to);
    bool hard = line.data[to - 1] == '\\' || sv_ends((StrView){line.data, line.length}, SV("  "));
    if (hard) { /* the line end stays */
        if (line.data[to - 1] == '\\' && reader->open) {
            reader->to--;
            strbuf_cut(&reader->text, reader->text.length - 1);
        }
        end_paragraph(reader);
    }
}

/* ---- plain text ---- */

static void read_text(Reader *reader, StrView line, size_t at) {
    Prefix prefix = prefix_of(line, false);
    StrView text = sv_trim((StrView){line.data + prefix.length, line.length - prefix.length});
    if (text.length == 0 || is_rule(sv_trim(line)) || has_columns(text)) {
        end_paragraph(reader);
        return;
    }
    size_t from = (size_t)(text.data - line.data);
    bool other_indent = reader->open && reader->lines > 1 &&
                        !sv_equal(strbuf_view(&reader->indent), (StrView){line.data, from});
    if (prefix.item || other_indent) end_paragraph(reader);
    add_line(reader, line, at, prefix, from, from + text.length);
}

/* ---- all ---- */

/* The end of "---" ... "---" at the start; 0: there is none. */
static size_t front_matter(StrView bytes) {
    StrView rest = bytes, line = {"", 0};
    if (!sv_next(&rest, '\n', &line)) return 0;
    StrView mark = sv_trim(line);
    if (!sv_equal(mark, SV("---")) && !sv_equal(mark, SV("+++"))) return 0;
    while (sv_next(&rest, '\n', &line)) {
        StrView end = sv_trim(line);
        if (sv_equal(end, mark) || (mark.data[0] == '-' && sv_equal(end, SV("..."))))
            return (size_t)(line.data + line.length - bytes.data);
    }
    return 0;
}

static StrView line_at(StrView bytes, size_t at) {
    if (at >= bytes.length) return SV("");
    const char *end = memchr(bytes.data + at, '\n', bytes.length - at);
    return (StrView){bytes.data + at, end ? (size_t)(end - bytes.data) - at : bytes.length - at};
}

static Status read_blocks(Document *document, bool markdown) {
    document->state = mem_alloc(1, sizeof(Blocks));
    Reader reader = {.document = document, .markdown = markdown, .blank = true};
    StrView bytes = document->bytes, mark = SV("\xEF\xBB\xBF");
    size_t at = markdown ? front_matter(bytes) : 0;
    if (at == 0 && sv_starts(bytes, mark)) at = mark.length;
    while (at < bytes.length) {
        StrView line = line_at(bytes, at), content = line;
        size_t next = at + line.length + 1;
        if (sv_ends(content, SV("\r"))) content.length--;
        if (markdown)
            read_markdown(&reader, content, at, line_at(bytes, next));
        else
            read_text(&reader, content, at);
        reader.blank = sv_trim(content).length == 0;
        at = next;
    }
    end_paragraph(&reader);
    strbuf_free(&reader.text);
    strbuf_free(&reader.indent);
    return STATUS_OK;
}

static Status read_markdown_document(Document *document) { return read_blocks(document, true); }
static Status read_text_document(Document *document) { return read_blocks(document, false); }

static void write(Document *document) {
    enum { NARROWEST = 40 };
    const Blocks *blocks = document->state;
    int width = blocks->width < NARROWEST ? NARROWEST : blocks->width;
    bool markdown = document->format == &MARKDOWN_DOCUMENT;
    for (size_t s = 0; s < document->count; s++) {
        const Segment *segment = &document->segments[s];
        const Block *block = &blocks->blocks[segment->item];
        StrBuf text = {0};
        StrView translation = strbuf_view(&segment->translation);
        if (!segment->is_translated || text_same_words(strbuf_view(&segment->text), translation)) continue;
        if (!markdown)
            strbuf_add(&text, translation);
        else if (!codes_decode(&block->codes, translation, &text))
            strbuf_clear(&text);
        if (text.length > 0) {
            StrBuf *out = document_edit(document, segment->from, segment->to);
            if (block->wrapped)
                lines_wrap(strbuf_view(&text), block->start, width, strbuf_view(&block->indent), out);
            else
                strbuf_add(out, strbuf_view(&text));
            for (size_t i = 0; i < out->length && markdown; i++)
                if (out->data[i] == CODES_SPACE) out->data[i] = ' ';
        } else {
            document->rejected++;
        }
        strbuf_free(&text);
    }
}

static void release(void *state) {
    Blocks *blocks = state;
    for (size_t b = 0; b < blocks->count; b++) {
        strbuf_free(&blocks->blocks[b].indent);
        codes_free(&blocks->blocks[b].codes);
    }
    mem_free(blocks->blocks);
    mem_free(blocks);
}

const DocumentFormat MARKDOWN_DOCUMENT = {.name = "markdown",
                                          .endings = ".md .markdown",
                                          .title = "a Markdown file",
                                          .has_many_tags = true,
                                          .is_wrapped = true,
                                          .read = read_markdown_document,
                                          .write = write,
                                          .release = release};
const DocumentFormat TEXT_DOCUMENT = {.name = "text",
                                      .endings = ".txt",
                                      .title = "a text with paragraphs",
                                      .is_wrapped = true,
                                      .read = read_text_document,
                                      .write = write,
                                      .release = release};
