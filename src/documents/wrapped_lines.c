/* wrapped_lines.c - see wrapped_lines.h. */
#include "documents/wrapped_lines.h"

#include <string.h>
#include "base/unicode.h"
#include "base/utf8.h"
#include "documents/marked_lines.h"
#include "text/punctuation.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

static int first_character(StrView text) {
    size_t at = 0;
    return utf8_next(text, &at);
}

static int last_character(StrView text) {
    size_t at = utf8_before(text, text.length);
    return utf8_next(text, &at);
}

static bool ends_sentence(StrView text) {
    while (text.length > 0 && punctuation_is_closing(last_character(text), false))
        text.length = utf8_before(text, text.length);
    return text.length > 0 && punctuation_of(last_character(text)) >= PUNCTUATION_STOP;
}

/* ---- pieces ---- */

typedef struct {
    StrView text; /* not empty, without white space around it */
    size_t gap;   /* where the white space before it begins in its line */
    bool stays;
} Piece;

/* The white space at `at`; *gap: a column begins after it. */
static size_t blank_length(StrView line, size_t at, bool *gap) {
    size_t end = at;
    while (end < line.length && is_blank(line.data[end])) end++;
    size_t length = end - at;
    *gap = length > 2 || (length == 2 && !ends_sentence((StrView){line.data, at})) ||
           memchr(line.data + at, '\t', length);
    return length;
}

/* The next piece of a line, which has no white space at its end; false: there is none. */
static bool next_piece(StrView line, size_t *at, Piece *piece) {
    size_t start = *at;
    while (start < line.length && is_blank(line.data[start])) start++;
    if (start == line.length) return false;
    size_t mark = *at == 0 ? line_item_length(line, start) : 0;
    size_t end = start;
    for (bool gap = false; end < line.length; end++) {
        if (!is_blank(line.data[end])) continue;
        size_t length = blank_length(line, end, &gap);
        if (gap || mark > 0) break;
        end += length - 1;
    }
    StrView text = {line.data + start, end - start};
    bool name = end < line.length && (text.length == 1 || text.data[0] == '-');
    *piece = (Piece){.text = text, .gap = *at, .stays = mark > 0 || name};
    *at = end;
    return true;
}

/* ---- lines ---- */

/* Goes through the lines of a text. */
typedef struct {
    StrView text, rest;
    int widest;        /* columns */
    bool is_prose;     /* its last line ends a sentence */
    StrView line;      /* the current one, without white space at its end */
    StrView line_end;  /* this white space, and the line end before the line */
    bool wraps;        /* the current line goes on with the piece before it */
    Piece piece;       /* its last one; with an empty text if it has none */
    bool other_pieces; /* it has others */
} Lines;

static Lines lines_of(StrView text) {
    Lines lines = {.text = text, .rest = text, .line = {text.data, 0}};
    StrView rest = text, line;
    while (sv_next(&rest, '\n', &line)) {
        line = unicode_trim_end(line);
        int columns = text_columns(line);
        if (columns > lines.widest) lines.widest = columns;
        if (line.length > 0) lines.is_prose = ends_sentence(line);
    }
    return lines;
}

/* Does the second piece begin below the first, or a little to the right of the text of a column? */
static bool is_below(StrView before, Piece first, StrView line, Piece second) {
    enum { HANGING = 4 }; /* columns */
    StrView a = {before.data, (size_t)(first.text.data - before.data)};
    StrView b = {line.data, (size_t)(second.text.data - line.data)};
    if (memchr(a.data, '\t', a.length) || memchr(b.data, '\t', b.length)) return sv_equal(a, b);
    int right = text_columns(b) - text_columns(a);
    return right == 0 || (first.gap > 0 && right > 0 && right <= HANGING);
}

/* Does `lines`, at its next line, go on with the piece of the line `before`? */
static bool is_wrap(const Lines *lines, StrView before, Piece piece) {
    enum { SHORT = 30, FULL = 50 }; /* columns */
    StrView next = lines->piece.text, rest = next, word;
    if (piece.text.length == 0 || piece.stays || next.length == 0 || lines->piece.stays ||
        lines->other_pieces || memchr(lines->line_end.data, '\r', lines->line_end.length) ||
        !is_below(before, piece, lines->line, lines->piece))
        return false;
    int last = last_character(piece.text), first = first_character(next), columns = text_columns(before);
    if (unicode_width(last) > 1 || unicode_width(first) > 1 || last == ':' || strchr("-#>|=", first))
        return false;
    if (unicode_is_lower(first)) return columns >= SHORT || lines->is_prose;
    return sv_next_word(&rest, &word) && !ends_sentence(piece.text) && lines->widest >= FULL &&
           columns + 1 + text_columns(word) > lines->widest;
}

static bool lines_next(Lines *lines) {
    StrView before = lines->line, line;
    Piece last = lines->piece, piece;
    const char *end = before.data + before.length;
    if (!sv_next(&lines->rest, '\n', &line)) {
        lines->line_end = (StrView){end, (size_t)(lines->text.data + lines->text.length - end)};
        return false;
    }
    lines->line_end = (StrView){end, (size_t)(line.data - end)};
    lines->line = unicode_trim_end(line);
    lines->piece = (Piece){{line.data, 0}, 0, false};
    lines->other_pieces = false;
    for (size_t at = 0; next_piece(lines->line, &at, &piece);) {
        lines->other_pieces = lines->piece.text.length > 0;
        lines->piece = piece;
    }
    lines->wraps = is_wrap(lines, before, last);
    return true;
}

/* ---- both ways ---- */

void lines_unwrap(StrView text, StrBuf *out) {
    size_t start = out->length;
    for (Lines lines = lines_of(text); lines_next(&lines);) {
        Piece piece;
        for (size_t at = 0; next_piece(lines.line, &at, &piece);) {
            if (out->length > start) strbuf_add_char(out, lines.wraps ? ' ' : '\n');
            strbuf_add(out, piece.text);
        }
    }
    if (out->length == start) strbuf_add(out, text);
}

static int count_line_ends(StrView text) {
    int count = 0;
    for (size_t i = 0; i < text.length; i++) count += text.data[i] == '\n';
    return count;
}

/* The pieces of the current line; moves to the next one that is not wrapped. False at the end. */
static bool write_line(Lines *lines, StrView *translations, StrBuf *out) {
    StrView line = lines->line, translation = {"", 0}, indent = {"", 0};
    Piece piece, last = lines->piece;
    int width = lines->widest;
    bool wrapped = false, more;
    while ((more = lines_next(lines)) && lines->wraps) {
        wrapped = true;
        indent = (StrView){lines->line.data, (size_t)(lines->piece.text.data - lines->line.data)};
    }
    for (size_t at = 0; next_piece(line, &at, &piece);) {
        StrView before = {line.data, (size_t)(piece.text.data - line.data)};
        sv_next(translations, '\n', &translation);
        strbuf_add(out, (StrView){line.data + piece.gap, before.length - piece.gap});
        if (piece.stays)
            strbuf_add(out, piece.text);
        else if (wrapped && piece.text.data == last.text.data)
            lines_wrap(translation, text_columns(before), width, indent, out);
        else
            strbuf_add(out, sv_trim(translation));
    }
    return more;
}

bool lines_rewrap(StrView text, StrView translation, StrBuf *out) {
    StrBuf pieces = {0};
    lines_unwrap(text, &pieces);
    bool agree = count_line_ends(strbuf_view(&pieces)) == count_line_ends(translation);
    bool blank = sv_trim(text).length == 0;
    strbuf_free(&pieces);
    if (!agree) return false;
    Lines lines = lines_of(text);
    if (blank)
        strbuf_add(out, translation);
    else
        for (bool more = lines_next(&lines); more;) {
            more = write_line(&lines, &translation, out);
            strbuf_add(out, lines.line_end);
        }
    return true;
}
