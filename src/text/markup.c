/* markup.c - scans for marks, finds pairs with a stack, joins marks, and copies the text between them. */
#include "text/markup.h"

#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"

enum {
    LONGEST_NAME = 64,   /* bytes, of placeholders and entities */
    LONGEST_UNIT = 3,    /* letters: %dms, %dmin */
    DEEPEST_PAIR = 64,   /* with more open tags, the first ones become single */
    MOST_PRECISION = 12, /* bytes of flags, width and precision: %-08.3f */
};

/* Elements that browsers lay out as blocks, lines or cells, and elements with text in the head. Not included
 * are names that other formats use inside of sentences, such as <link>. */
static const char *const BLOCKS[] = {
    "address",  "article",  "aside",      "blockquote", "body",    "br",    "caption",   "center",
    "col",      "colgroup", "dd",         "details",    "dialog",  "dir",   "div",       "dl",
    "dt",       "fieldset", "figcaption", "figure",     "footer",  "form",  "frameset",  "h1",
    "h2",       "h3",       "h4",         "h5",         "h6",      "head",  "header",    "hgroup",
    "hr",       "html",     "legend",     "li",         "listing", "main",  "menu",      "nav",
    "noframes", "noscript", "ol",         "optgroup",   "option",  "p",     "plaintext", "pre",
    "search",   "section",  "select",     "summary",    "table",   "tbody", "td",        "tfoot",
    "th",       "thead",    "title",      "tr",         "ul",      "xmp"};
/* Tags without a closing tag, also in other formats; and tags closed implicitly by the next one of their
 * name. */
static const char *const VOIDS[] = {"br", "col", "embed", "hr", "img", "input", "wbr"};
static const char *const IMPLIED[] = {"dd", "dt", "li", "option", "p", "td", "th", "tr"};
/* Elements whose content is neither text nor tags. */
static const char *const RAW[] = {"script", "style"};
enum { RAW_COUNT = sizeof RAW / sizeof *RAW };

/* ---- length of the mark at text.data[at]; 0: there is none ----
 *
 * Tags and comments have no length limit, because attributes can contain pictures (src="data:..."). */

static char byte_at(StrView text, size_t at) { return at < text.length ? text.data[at] : '\0'; }

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }
static bool is_blank(char c) { return is_one_of(c, " \t\r\n\f"); }
static bool is_name(char c) { return is_letter(c) || is_digit(c) || is_one_of(c, "_.:-"); }

static bool equals(StrView text, const char *word) {
    return text.length == strlen(word) && strncasecmp(text.data, word, text.length) == 0;
}

static int find_name(StrView name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (equals(name, names[i])) return (int)i;
    return -1;
}
#define FIND_NAME(name, names) find_name(name, names, sizeof(names) / sizeof *(names))

static bool is_doctype(StrView text, size_t at) {
    enum { START = sizeof "<!doctype" - 1 };
    return text.length - at > START && equals((StrView){text.data + at, START}, "<!doctype");
}

/* Linear time for the whole text, even with many "<": outside of quotes a tag ends at the next "<", so at
 * most three scans reach any position (outside of quotes, in " and in '). */
static size_t tag_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (byte_at(text, i) == '/' || is_doctype(text, at)) i++;
    if (!is_letter(byte_at(text, i))) return 0;
    while (is_name(byte_at(text, i))) i++;
    if (!is_blank(byte_at(text, i)) && !is_one_of(byte_at(text, i), "/>")) return 0;
    for (char quote = '\0'; i < text.length; i++) {
        char c = text.data[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i + 1 - at;
        else if (c == '<')
            return 0;
    }
    return 0;
}

static size_t entity_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (byte_at(text, i) == '#') i += is_one_of(byte_at(text, i + 1), "xX") ? 2 : 1;
    size_t name = i;
    while (i < at + LONGEST_NAME && (is_letter(byte_at(text, i)) || is_digit(byte_at(text, i)))) i++;
    return i > name && byte_at(text, i) == ';' ? i + 1 - at : 0;
}

/* {name}, {{ name }} */
static size_t brace_length(StrView text, size_t at) {
    size_t i = at + 1;
    bool twice = byte_at(text, i) == '{';
    for (i += twice; i < at + LONGEST_NAME; i++) {
        char c = byte_at(text, i);
        if (!is_name(c) && !is_one_of(c, "[],!") && !(twice && c == ' ')) break;
    }
    if (byte_at(text, i) != '}' || (twice && byte_at(text, i + 1) != '}')) return 0;
    return i + 1 + twice - at;
}

/* "100%" or "100 %" up to the sign at `at`. */
static bool is_percentage(StrView text, size_t at) {
    if (at > 0 && is_blank(text.data[at - 1])) at--;
    return at > 0 && is_digit(text.data[at - 1]);
}

/* A conversion of printf. A space is not a flag here: "100 % sure" is text. A conversion with a name or the
 * number of an argument can be followed by any text, others by a unit (%dms), but not by a word
 * (%discount). */
static size_t percent_length(StrView text, size_t at) {
    size_t i = at + 1;
    if (byte_at(text, i) == '%') return 2;
    if (byte_at(text, i) == '(') {
        while (i < at + LONGEST_NAME && is_name(byte_at(text, i + 1))) i++;
        if (byte_at(text, ++i) != ')') return 0;
        i++;
    }
    for (size_t first = i; i < first + MOST_PRECISION && is_one_of(byte_at(text, i), "0123456789$+-#.*"); i++)
        ;
    while (is_one_of(byte_at(text, i), "hlLzjt") && is_letter(byte_at(text, i + 1))) i++;
    if (!is_one_of(byte_at(text, i), "diuoxXfFeEgGcsSp@")) return 0;
    size_t length = i + 1 - at, unit = 0;
    if (byte_at(text, at + 1) == '(' || memchr(text.data + at, '$', length)) return length;
    while (unit <= LONGEST_UNIT && is_letter(byte_at(text, at + length + unit))) unit++;
    return unit > LONGEST_UNIT || (unit > 0 && is_percentage(text, at)) ? 0 : length;
}

/* ---- tags ---- */

/* Empty for comments, placeholders and entities. */
static StrView tag_name(StrView tag) {
    if (tag.data[0] != '<') return SV("");
    size_t start = tag.data[1] == '/' ? 2 : 1, end = start;
    while (is_name(byte_at(tag, end))) end++;
    return (StrView){tag.data + start, end - start};
}

static bool same_name(StrView a, StrView b) {
    a = tag_name(a), b = tag_name(b);
    return a.length == b.length && strncasecmp(a.data, b.data, a.length) == 0;
}

static MarkKind mark_kind(StrView text) {
    if (text.data[0] != '<' || text.data[1] == '!' || text.data[text.length - 2] == '/') return MARK_SINGLE;
    return text.data[1] == '/' ? MARK_CLOSE : MARK_OPEN;
}

/* Cuts the next attribute off `rest`, the tag after its name; false if there is none. */
static bool next_attribute(StrView *rest, StrView *name, StrView *value) {
    size_t i = 0;
    while (is_blank(byte_at(*rest, i)) || byte_at(*rest, i) == '/') i++;
    size_t start = i;
    while (i < rest->length && !is_blank(rest->data[i]) && !is_one_of(rest->data[i], "=/>")) i++;
    *name = (StrView){rest->data + start, i - start};
    while (is_blank(byte_at(*rest, i))) i++;
    bool has_value = byte_at(*rest, i) == '=';
    i += has_value;
    while (has_value && is_blank(byte_at(*rest, i))) i++;
    char quote = has_value && is_one_of(byte_at(*rest, i), "\"'") ? rest->data[i++] : '\0';
    for (start = i; has_value && i < rest->length; i++)
        if (quote ? rest->data[i] == quote : is_blank(rest->data[i]) || rest->data[i] == '>') break;
    *value = (StrView){rest->data + start, i - start};
    i += quote != '\0';
    *rest = i < rest->length ? (StrView){rest->data + i, rest->length - i} : SV("");
    return name->length > 0 || has_value;
}

/* Does this opening tag exclude its element from translation? */
static bool is_untranslatable(StrView tag) {
    StrView start = tag_name(tag), name, value, word;
    const char *end_of_name = start.data + start.length;
    StrView rest = {end_of_name, (size_t)(tag.data + tag.length - end_of_name)};
    while (next_attribute(&rest, &name, &value)) {
        if (equals(name, "translate") && equals(value, "no")) return true;
        while (equals(name, "class") && sv_next_word(&value, &word))
            if (equals(word, "notranslate")) return true;
    }
    return false;
}

/* ---- all marks ---- */

typedef struct {
    StrView text;
    Markup *markup;
    bool without_end[RAW_COUNT], comment_without_end; /* the rest of the text has no closing tag */
    bool in_pre;
} Scan;

static void add_mark(Scan *scan, size_t at, size_t length, MarkKind kind, bool block) {
    Markup *markup = scan->markup;
    MEM_GROW(markup->items, markup->capacity, (size_t)markup->count + 1);
    markup->items[markup->count++] =
        (Mark){.text = {scan->text.data + at, length}, .kind = kind, .block = block, .partner = -1};
}

/* 0: the comment has no end. */
static size_t comment_length(Scan *scan, size_t at) {
    StrView text = scan->text;
    for (size_t i = at + 4; i + 2 < text.length && !scan->comment_without_end; i++)
        if (memcmp(text.data + i, "-->", 3) == 0) return i + 3 - at;
    scan->comment_without_end = true;
    return 0;
}

static size_t mark_length(Scan *scan, size_t at) {
    StrView text = scan->text;
    switch (text.data[at]) {
    case '<':
        if (sv_starts((StrView){text.data + at, text.length - at}, SV("<!--")))
            return comment_length(scan, at);
        return tag_length(text, at);
    case '&':
        return entity_length(text, at);
    case '{':
        return brace_length(text, at);
    case '$': {
        size_t length = byte_at(text, at + 1) == '{' ? brace_length(text, at + 1) : 0;
        return length > 0 ? length + 1 : 0;
    }
    case '%':
        return percent_length(text, at);
    default:
        return 0;
    }
}

/* Length from `at` to the end of the tag that closes RAW[raw]; 0: there is none. */
static size_t raw_length(Scan *scan, size_t at, int raw) {
    StrView text = scan->text;
    for (size_t i = at; i + 1 < text.length && !scan->without_end[raw]; i++) {
        if (text.data[i] != '<' || text.data[i + 1] != '/') continue;
        size_t length = tag_length(text, i);
        if (length > 0 && equals(tag_name((StrView){text.data + i, length}), RAW[raw]))
            return i + length - at;
    }
    scan->without_end[raw] = true;
    return 0;
}

/* Adds the mark at `at`; returns its end, or `at` if there is none. */
static size_t scan_mark(Scan *scan, size_t at) {
    size_t length = mark_length(scan, at);
    if (length == 0) return at;
    StrView text = {scan->text.data + at, length}, name = tag_name(text);
    MarkKind kind = mark_kind(text);
    int raw = kind == MARK_OPEN ? FIND_NAME(name, RAW) : -1;
    size_t content = raw >= 0 ? raw_length(scan, at + length, raw) : 0;
    if (content > 0) kind = MARK_SINGLE;
    if (kind != MARK_SINGLE && equals(name, "pre")) scan->in_pre = kind == MARK_OPEN;
    add_mark(scan, at, length + content, kind, FIND_NAME(name, BLOCKS) >= 0 || is_doctype(scan->text, at));
    return at + length + content;
}

static void scan_marks(Scan *scan) {
    for (size_t at = 0, next; at < scan->text.length; at = next) {
        next = scan_mark(scan, at);
        if (next > at) continue;
        next = at + 1;
        if (scan->in_pre && is_one_of(scan->text.data[at], "\r\n")) add_mark(scan, at, 1, MARK_SINGLE, true);
    }
}

/* ---- pairs ---- */

/* The number of tags that stay open when a tag begins that closes others implicitly. */
static int close_implied(const Markup *markup, const int *open, int depth, StrView tag) {
    for (int at = depth - 1; at >= 0; at--) {
        StrView other = markup->items[open[at]].text;
        if (same_name(other, tag)) return at;
        if (FIND_NAME(tag_name(other), IMPLIED) < 0) break;
    }
    return depth;
}

/* Finds the partners of opening and closing tags: with `blocks` of all tags, otherwise between blocks
 * only. */
static void find_partners(Markup *markup, bool blocks) {
    int open[DEEPEST_PAIR], depth = 0;
    for (int m = 0; m < markup->count; m++) {
        Mark *mark = &markup->items[m];
        mark->partner = -1;
        if (mark->block && !blocks) {
            depth = 0;
        } else if (mark->kind == MARK_OPEN) {
            StrView name = tag_name(mark->text);
            if (FIND_NAME(name, VOIDS) >= 0) continue;
            if (FIND_NAME(name, IMPLIED) >= 0) depth = close_implied(markup, open, depth, mark->text);
            if (depth == DEEPEST_PAIR) memmove(open, open + 1, (size_t)--depth * sizeof *open);
            open[depth++] = m;
        } else if (mark->kind == MARK_CLOSE) {
            int at = depth - 1;
            while (at >= 0 && !same_name(markup->items[open[at]].text, mark->text)) at--;
            if (at < 0) continue;
            depth = at;
            mark->partner = open[at];
            markup->items[open[at]].partner = m;
        }
    }
}

static const char *mark_end(const Mark *mark) { return mark->text.data + mark->text.length; }

/* Elements that must not be translated become one mark, tags without a partner singles. */
static void join_untranslatable(Markup *markup) {
    int count = 0;
    for (int m = 0; m < markup->count; m++) {
        Mark mark = markup->items[m];
        if (mark.kind == MARK_OPEN && mark.partner >= 0 && is_untranslatable(mark.text)) {
            m = mark.partner;
            mark.text.length = (size_t)(mark_end(&markup->items[m]) - mark.text.data);
            mark.kind = MARK_SINGLE;
        }
        if (mark.partner < 0) mark.kind = MARK_SINGLE;
        markup->items[count++] = mark;
    }
    markup->count = count;
}

/* ---- breaks ---- */

static bool is_blank_between(const char *start, const char *end) {
    return unicode_is_blank((StrView){start, (size_t)(end - start)});
}

/* The change of the depth at a mark, from left to right. */
static int depth_step(const Mark *mark) {
    if (mark->partner < 0) return 0;
    return mark->kind == MARK_OPEN ? 1 : -1;
}

/* The first of items[0..count) that belongs to a break beginning at `at`; `count` if there is none. */
static int first_of_break(const Mark *items, int count, const char *at) {
    int first = count;
    for (int i = count - 1, depth = 0; i >= 0 && is_blank_between(mark_end(&items[i]), at); i--) {
        at = items[i].text.data;
        depth -= depth_step(&items[i]);
        if (depth == 0) first = i;
    }
    return first;
}

/* The last mark that belongs to the break at mark m. */
static int last_of_break(const Markup *markup, int m) {
    const Mark *items = markup->items;
    int last = m;
    for (int i = m + 1, depth = 0;
         i < markup->count && is_blank_between(mark_end(&items[i - 1]), items[i].text.data); i++) {
        depth += depth_step(&items[i]);
        if (depth == 0) last = i;
    }
    return last;
}

static void join_breaks(Markup *markup) {
    StrView text = strbuf_view(&markup->repaired);
    Mark *items = markup->items;
    int count = 0;
    for (int m = 0; m < markup->count; m++) {
        Mark mark = items[m];
        if (mark.block) {
            int first = first_of_break(items, count, mark.text.data);
            m = last_of_break(markup, m);
            const char *start = first < count ? items[first].text.data : mark.text.data;
            size_t from = unicode_trim_end((StrView){text.data, (size_t)(start - text.data)}).length;
            size_t to = (size_t)(mark_end(&items[m]) - text.data);
            for (size_t next = to; next < text.length; to = next)
                if (!unicode_is_space(utf8_next(text, &next))) break;
            mark.text = (StrView){text.data + from, to - from};
            mark.kind = MARK_BREAK;
            count = first;
        }
        items[count++] = mark;
    }
    markup->count = count;
}

/* ---- the plain text ---- */

typedef struct {
    Markup *markup;
    bool space;    /* the text so far is empty or ends in white space */
    Mark *pending; /* a single without text after it so far */
} Copy;

static void copy_text(Copy *copy, StrView text) {
    for (size_t position = 0, start = 0; position < text.length; start = position) {
        int c = utf8_next(text, &position);
        copy->space = unicode_is_space(c);
        if (copy->pending) {
            copy->pending->space_after = copy->space;
            if (!copy->space && !copy->pending->space_before) strbuf_add_char(&copy->markup->plain, ' ');
        }
        copy->pending = NULL;
        StrView character = {text.data + start, position - start};
        strbuf_add(&copy->markup->plain, c == MARKUP_BREAK ? SV(" ") : character);
    }
}

static void copy_break(Copy *copy, const Mark *mark) {
    Markup *markup = copy->markup;
    bool last = mark_end(mark) == markup->repaired.data + markup->repaired.length;
    if (copy->pending) copy->pending->space_after = true;
    copy->pending = NULL;
    copy->space = true;
    if (markup->plain.length > 0 && !last) strbuf_add_char(&markup->plain, MARKUP_BREAK);
}

static void copy_mark(Copy *copy, Mark *mark) {
    mark->position = copy->markup->plain.length;
    if (mark->kind == MARK_BREAK) copy_break(copy, mark);
    if (mark->kind != MARK_SINGLE) return;
    mark->space_before = copy->space;
    copy->space = false;
    copy->pending = mark;
}

static void copy_plain(Markup *markup) {
    Copy copy = {.markup = markup, .space = true};
    const char *from = strbuf_text(&markup->repaired), *end = from + markup->repaired.length;
    for (int m = 0; m < markup->count; m++) {
        Mark *mark = &markup->items[m];
        copy_text(&copy, (StrView){from, (size_t)(mark->text.data - from)});
        copy_mark(&copy, mark);
        from = mark->text.data + mark->text.length;
    }
    copy_text(&copy, (StrView){from, (size_t)(end - from)});
    if (copy.pending) copy.pending->space_after = true;
}

void markup_find(StrView text, Markup *markup) {
    utf8_repair(text, &markup->repaired);
    scan_marks(&(Scan){.text = {strbuf_text(&markup->repaired), markup->repaired.length}, .markup = markup});
    find_partners(markup, true);
    join_untranslatable(markup);
    find_partners(markup, false);
    join_breaks(markup);
    find_partners(markup, false);
    copy_plain(markup);
}

void markup_free(Markup *markup) {
    strbuf_free(&markup->repaired);
    strbuf_free(&markup->plain);
    mem_free(markup->items);
    *markup = (Markup){0};
}
