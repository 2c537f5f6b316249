/* markup.c - scans for marks, finds pairs with a stack, joins marks, and writes the masked text. */
#include "text/markup.h"

#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/entities.h"

enum { DEEPEST_PAIR = 64 }; /* with more open tags, the first ones become single */

/* Elements that browsers lay out as blocks, lines or cells, and elements with text in the head. Not included
 * are names that other formats use inside of sentences, such as <link>. */
static const char *const BLOCKS[] = {
    "address",  "article",  "aside",      "blockquote", "body",    "br",     "button",    "caption",
    "center",   "col",      "colgroup",   "dd",         "details", "dialog", "div",       "dl",
    "dt",       "fieldset", "figcaption", "figure",     "footer",  "form",   "frameset",  "h1",
    "h2",       "h3",       "h4",         "h5",         "h6",      "head",   "header",    "hgroup",
    "hr",       "html",     "legend",     "li",         "listing", "main",   "menu",      "nav",
    "noframes", "noscript", "ol",         "optgroup",   "option",  "p",      "plaintext", "pre",
    "search",   "section",  "select",     "summary",    "table",   "tbody",  "td",        "tfoot",
    "th",       "thead",    "title",      "tr",         "ul",      "xmp"};
/* Tags closed implicitly by the next one of their name. */
static const char *const IMPLIED[] = {"dd", "dt", "li", "option", "p", "td", "th", "tr"};
/* Elements whose content is neither text nor tags. */
static const char *const RAW[] = {"script", "style"};
enum { RAW_COUNT = sizeof RAW / sizeof *RAW };
/* Elements with code of HTML, and the codes of XLIFF, whose content is the code itself. */
static const char *const CODE[] = {"bpt",  "code", "ec",  "ept",  "it", "kbd",
                                   "math", "ph",   "pre", "samp", "ut", "var"};

static char byte_at(StrView text, size_t at) { return at < text.length ? text.data[at] : '\0'; }

static bool is_one_of(char c, const char *set) { return c && strchr(set, c); }
static bool is_blank(char c) { return is_one_of(c, " \t\r\n\f"); }

static bool equals(StrView text, const char *word) {
    return text.length == strlen(word) && strncasecmp(text.data, word, text.length) == 0;
}

static int find_name(StrView name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (equals(name, names[i])) return (int)i;
    return -1;
}
#define FIND_NAME(name, names) find_name(name, names, sizeof(names) / sizeof *(names))

/* ---- tags ---- */

bool tag_is_block(StrView tag) {
    StrView doctype = SV("<!doctype");
    return FIND_NAME(tag_name(tag), BLOCKS) >= 0 ||
           (tag.length > doctype.length && strncasecmp(tag.data, doctype.data, doctype.length) == 0);
}

StrView tag_attributes(StrView tag) {
    StrView name = tag_name(tag);
    const char *end = name.data + name.length;
    return name.length > 0 ? (StrView){end, (size_t)(tag.data + tag.length - end)} : SV("");
}

bool tag_next_attribute(StrView *rest, StrView *name, StrView *value) {
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

bool tag_is_untranslatable(StrView tag) {
    StrView rest = tag_attributes(tag), name, value, word;
    if (FIND_NAME(tag_name(tag), CODE) >= 0 || FIND_NAME(tag_name(tag), RAW) >= 0) return true;
    while (tag_next_attribute(&rest, &name, &value)) {
        if (equals(name, "translate") && equals(value, "no")) return true;
        while (equals(name, "class") && sv_next_word(&value, &word))
            if (equals(word, "notranslate")) return true;
    }
    return false;
}

/* ---- all marks ---- */

typedef struct {
    PlaceholderScan scan;
    Markup *markup;
    bool without_end[RAW_COUNT]; /* the rest of the text has no closing tag */
} Scan;

static void add_mark(Scan *scan, Mark mark) {
    Markup *markup = scan->markup;
    mark.partner = -1;
    MEM_GROW(markup->items, markup->capacity, (size_t)markup->count + 1);
    markup->items[markup->count++] = mark;
}

/* Length from `at` to the end of the tag that closes RAW[raw]; 0: there is none. */
static size_t raw_length(Scan *scan, size_t at, int raw) {
    StrView text = scan->scan.text;
    for (size_t i = at; i + 1 < text.length && !scan->without_end[raw]; i++) {
        if (text.data[i] != '<' || text.data[i + 1] != '/') continue;
        size_t length = tag_length(text, i);
        if (length > 0 && equals(tag_name((StrView){text.data + i, length}), RAW[raw]))
            return i + length - at;
    }
    scan->without_end[raw] = true;
    return 0;
}

static void scan_mark(Scan *scan, const Placeholder *placeholder) {
    Mark mark = {.text = placeholder->text,
                 .type = placeholder->kind,
                 .block = placeholder->kind == PLACEHOLDER_ICU || tag_is_block(placeholder->text)};
    StrView name = tag_name(placeholder->text);
    if (tag_is_opening(placeholder->text)) mark.kind = MARK_OPEN;
    if (tag_is_closing(placeholder->text)) mark.kind = MARK_CLOSE;
    int raw = mark.kind == MARK_OPEN ? FIND_NAME(name, RAW) : -1;
    size_t content = raw >= 0 ? raw_length(scan, scan->scan.at, raw) : 0;
    if (content > 0) {
        mark.kind = MARK_SINGLE;
        mark.is_element = true;
        mark.text.length += content;
        scan->scan.at += content;
    }
    add_mark(scan, mark);
}

static void scan_marks(Scan *scan) {
    StrView text = scan->scan.text;
    int c;
    for (Placeholder placeholder; placeholder_next(&scan->scan, &placeholder);) {
        size_t start = (size_t)(placeholder.text.data - text.data);
        bool tag = placeholder.kind == PLACEHOLDER_TAG, character = entity_decode(text, start, &c) > 0;
        scan->markup->icu |= placeholder.kind == PLACEHOLDER_ICU;
        scan->markup->html |= character || (tag && !tag_is_opening(placeholder.text));
        if (character) continue;
        scan_mark(scan, &placeholder);
    }
}

/* ---- pairs ---- */

/* The number of tags that stay open when a tag begins that closes others implicitly. */
static int close_implied(const Markup *markup, const int *open, int depth, StrView tag) {
    for (int at = depth - 1; at >= 0; at--) {
        StrView other = markup->items[open[at]].text;
        if (tag_same_name(other, tag)) return at;
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
            if (FIND_NAME(tag_name(mark->text), IMPLIED) >= 0)
                depth = close_implied(markup, open, depth, mark->text);
            if (depth == DEEPEST_PAIR) memmove(open, open + 1, (size_t)--depth * sizeof *open);
            open[depth++] = m;
        } else if (mark->kind == MARK_CLOSE) {
            int at = depth - 1;
            while (at >= 0 && !tag_same_name(markup->items[open[at]].text, mark->text)) at--;
            if (at < 0) continue;
            depth = at;
            mark->partner = open[at];
            markup->items[open[at]].partner = m;
        }
    }
}

static const char *mark_end(const Mark *mark) { return mark->text.data + mark->text.length; }

/* Elements that must not be translated become one mark, tags without a partner singles, or text if they are
 * words in angle brackets. */
static void join_untranslatable(Markup *markup) {
    int count = 0;
    for (int m = 0; m < markup->count; m++) {
        Mark mark = markup->items[m];
        if (mark.kind == MARK_OPEN && mark.partner >= 0 && tag_is_untranslatable(mark.text)) {
            m = mark.partner;
            mark.text.length = (size_t)(mark_end(&markup->items[m]) - mark.text.data);
            mark.kind = MARK_SINGLE;
            mark.is_element = mark.is_visible = true;
        }
        if (mark.partner < 0 && !mark.block && !mark.is_element && tag_is_word(mark.text)) continue;
        if (mark.partner < 0) mark.kind = MARK_SINGLE;
        markup->items[count++] = mark;
    }
    markup->count = count;
}

/* ---- breaks ---- */

/* Only tags and breaks become part of a break, placeholders belong to the text. */
static bool is_absorbed(const Mark *mark, const char *start, const char *end) {
    bool tag = mark->type == PLACEHOLDER_TAG || mark->block;
    return tag && unicode_is_blank((StrView){start, (size_t)(end - start)});
}

/* The change of the depth at a mark, from left to right. */
static int depth_step(const Mark *mark) {
    if (mark->partner < 0) return 0;
    return mark->kind == MARK_OPEN ? 1 : -1;
}

/* The first of items[0..count) that belongs to a break beginning at `at`; `count` if there is none. */
static int first_of_break(const Mark *items, int count, const char *at) {
    int first = count;
    for (int i = count - 1, depth = 0; i >= 0 && is_absorbed(&items[i], mark_end(&items[i]), at); i--) {
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
         i < markup->count && is_absorbed(&items[i], mark_end(&items[i - 1]), items[i].text.data); i++) {
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

/* ---- the masked text ---- */

/* A word in a script without cases, so that no rule takes it for an abbreviation. */
#define MASK "\xD7\x90\xD7\x90\xD7\x90"

/* `masked` stands for the source's bytes as a whole, or is these bytes. */
static void add_run(Markup *markup, const char *source, size_t length, StrView masked) {
    if (length == 0) return;
    MEM_GROW(markup->runs, markup->run_capacity, (size_t)markup->run_count + 1);
    markup->runs[markup->run_count++] = (MarkupRun){
        markup->masked.length, (size_t)(source - markup->repaired.data), length, masked.data != source};
    strbuf_add(&markup->masked, masked);
}

static void mask_text(Markup *markup, const char *from, const char *to) {
    StrView text = strbuf_view(&markup->repaired);
    StrBuf character = {0};
    const char *start = from; /* of the text without entities and form feeds */
    for (int c; from < to;) {
        size_t length = entity_decode(text, (size_t)(from - text.data), &c);
        if (length == 0 && *from == MARKUP_BREAK) length = 1, c = ' ';
        if (length > 0) {
            add_run(markup, start, (size_t)(from - start), (StrView){start, (size_t)(from - start)});
            strbuf_clear(&character);
            utf8_add(&character, c);
            add_run(markup, from, length, strbuf_view(&character));
            start = from + length;
        }
        from += length > 0 ? length : 1;
    }
    add_run(markup, start, (size_t)(to - start), (StrView){start, (size_t)(to - start)});
    strbuf_free(&character);
}

static void mask_mark(Markup *markup, Mark *mark) {
    const char *end = mark_end(mark), *last = markup->repaired.data + markup->repaired.length;
    StrBuf *masked = &markup->masked;
    mark->position = masked->length;
    if (mark->kind == MARK_BREAK) {
        add_run(markup, mark->text.data, mark->text.length, SV("\f"));
    } else if (mark->type != PLACEHOLDER_TAG || mark->is_visible) {
        add_run(markup, mark->text.data, mark->text.length, SV(MASK));
    } else if (mark->kind == MARK_SINGLE && end < last && !is_blank(*end)) {
        bool blank = masked->length == 0 || is_blank(masked->data[masked->length - 1]);
        if (!blank) add_run(markup, mark->text.data, mark->text.length, SV(" "));
    }
}

static void mask(Markup *markup) {
    const char *from = strbuf_text(&markup->repaired), *end = from + markup->repaired.length;
    for (int m = 0; m < markup->count; m++) {
        Mark *mark = &markup->items[m];
        mask_text(markup, from, mark->text.data);
        mask_mark(markup, mark);
        from = mark_end(mark);
    }
    mask_text(markup, from, end);
}

void markup_find(StrView text, Markup *markup) {
    utf8_repair(text, &markup->repaired);
    StrView repaired = {strbuf_text(&markup->repaired), markup->repaired.length};
    scan_marks(&(Scan){.scan = {.text = repaired}, .markup = markup});
    find_partners(markup, true);
    join_untranslatable(markup);
    find_partners(markup, false);
    join_breaks(markup);
    find_partners(markup, false);
    mask(markup);
}

void markup_free(Markup *markup) {
    strbuf_free(&markup->repaired);
    strbuf_free(&markup->masked);
    mem_free(markup->items);
    mem_free(markup->runs);
    *markup = (Markup){0};
}

/* ---- from the masked text back ---- */

static const MarkupRun *run_at(const Markup *markup, size_t at) {
    int first = 0, end = markup->run_count; /* the last run that begins at or before `at` */
    while (end - first > 1) {
        int middle = first + (end - first) / 2;
        if (markup->runs[middle].masked <= at)
            first = middle;
        else
            end = middle;
    }
    return &markup->runs[first];
}

int markup_first_mark(const Markup *markup, const char *at) {
    int first = 0, end = markup->count;
    while (first < end) {
        int middle = first + (end - first) / 2;
        if (markup->items[middle].text.data < at)
            first = middle + 1;
        else
            end = middle;
    }
    return first;
}

/* With the tags at the beginning of the masked text at `at`, from the first opening one on. */
static const char *source_start(const Markup *markup, size_t at) {
    const MarkupRun *run = run_at(markup, at);
    const char *start = markup->repaired.data + run->source + (run->whole ? 0 : at - run->masked),
               *text = start;
    int text_mark = markup_first_mark(markup, text), m = text_mark;
    while (m > 0 && mark_end(&markup->items[m - 1]) == start && markup->items[m - 1].position == at)
        start = markup->items[--m].text.data;
    while (m < text_mark && markup->items[m].kind != MARK_OPEN) m++;
    return m < text_mark ? markup->items[m].text.data : text;
}

/* With the closing tags at the end of the masked text before `at`, up to the first other mark. */
static const char *source_end(const Markup *markup, size_t at) {
    const MarkupRun *run = run_at(markup, at - 1);
    const char *end = markup->repaired.data + run->source + (run->whole ? run->length : at - run->masked);
    for (int m = markup_first_mark(markup, end); m < markup->count; m++) {
        const Mark *mark = &markup->items[m];
        if (mark->text.data != end || mark->position != at || mark->kind != MARK_CLOSE) break;
        end = mark_end(mark);
    }
    return end;
}

StrView markup_source(const Markup *markup, StrView part) {
    size_t from = (size_t)(part.data - strbuf_text(&markup->masked));
    const char *start = source_start(markup, from), *end = source_end(markup, from + part.length);
    const Mark *items = markup->items;
    int first = markup_first_mark(markup, start), last = markup_first_mark(markup, end) - 1;
    while (first <= last) { /* leave out a pair around all of it, and tags whose partner is outside */
        bool opens = items[first].text.data == start && items[first].kind == MARK_OPEN;
        bool closes = mark_end(&items[last]) == end && items[last].kind == MARK_CLOSE;
        bool pair = opens && closes && items[first].partner == last;
        opens = opens && (pair || items[first].partner < 0 || items[first].partner > last);
        closes = closes && (pair || items[last].partner < first);
        if (opens) start = mark_end(&items[first++]);
        if (closes) end = items[last--].text.data;
        if (!opens && !closes) break;
    }
    return (StrView){start, (size_t)(end - start)};
}
