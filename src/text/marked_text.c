/* marked_text.c - see marked_text.h. */
#include "text/marked_text.h"

#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/entities.h"
#include "text/whole_words.h"

enum {
    LONGEST_IN_PLACE = 64, /* bytes of a mark */
    MAX_IN_PLACE = 32,     /* marks */
    MAX_BYTES_IN_PLACE = 512,
    MAX_TAGS = 64, /* adjacent ones that are looked through */
};

bool text_is_word(int c) {
    CharClass class = unicode_class(c);
    return (class == CHAR_LETTER || class == CHAR_DIGIT || class == CHAR_MARK) && unicode_width(c) < 2 &&
           !text_is_unspaced(c);
}

/* ---- making ---- */

typedef struct {
    MarkedText *text;
    bool space; /* the plain text so far is empty or ends in white space */
    bool literal;
    TextMark *pending; /* a single without text after it so far */
    size_t mark_bytes;
} Copy;

static void add_plain(Copy *copy, int c) {
    StrBuf *plain = &copy->text->plain;
    copy->space = unicode_is_space(c);
    copy->text->has_letters |= unicode_class(c) == CHAR_LETTER;
    if (copy->pending) {
        copy->pending->space_after = copy->space;
        if (!copy->space && !copy->pending->space_before) strbuf_add_char(plain, ' ');
    }
    copy->pending = NULL;
    utf8_add(plain, c);
}

/* Text between marks, from byte `at` to `end` of the source. */
static void copy_text(Copy *copy, size_t at, size_t end) {
    MarkedText *text = copy->text;
    while (at < end) {
        size_t start = at, length;
        int c;
        if ((length = copy->literal ? 0 : entity_decode(text->source, at, &c)) > 0)
            at += length;
        else
            c = utf8_next(text->source, &at);
        if (c == MARKUP_BREAK) c = ' ';
        bool written = length > 0 || c == '<' || c == '&' || c == '"' || c == '\'' || c == '>' || c >= 0x80;
        if (written) {
            MEM_GROW(text->forms, text->form_capacity, (size_t)text->form_count + 1);
            text->forms[text->form_count++] = (CharacterForm){c, {text->source.data + start, at - start}};
        }
        utf8_add(&text->in_place, c);
        add_plain(copy, c);
    }
}

/* Keep the forms of characters that the source writes as an entity somewhere, and of < and &. */
static void choose_forms(MarkedText *text) {
    int count = 0;
    for (int i = 0; i < text->form_count; i++) {
        CharacterForm form = text->forms[i];
        bool keep = form.c == '<' || form.c == '&' || form.text.data[0] == '&';
        for (int j = 0; j < text->form_count && !keep && text->html; j++)
            keep = text->forms[j].c == form.c && text->forms[j].text.data[0] == '&';
        if (keep) text->forms[count++] = form;
    }
    text->form_count = count;
}

static void copy_mark(Copy *copy, const Mark *mark, int first, int end) {
    MarkedText *text = copy->text;
    TextMark *item = &text->items[text->count++];
    bool inside = mark->partner >= first && mark->partner < end;
    *item = (TextMark){.text = mark->text,
                       .kind = mark->kind,
                       .is_tag = mark->type == PLACEHOLDER_TAG,
                       .partner = inside ? mark->partner - first : -1,
                       .position = text->plain.length};
    if (mark->is_element || mark->text.length > LONGEST_IN_PLACE) text->fits_in_place = false;
    strbuf_add(&text->in_place, mark->text);
    copy->mark_bytes += mark->text.length;
    if (mark->kind != MARK_SINGLE) return;
    item->space_before = copy->space;
    copy->space = false;
    copy->pending = item;
}

static bool is_half(const TextMark *mark) { return mark->kind != MARK_SINGLE && mark->partner < 0; }

bool marked_text_has(const MarkedText *text, StrView placeholder) {
    for (int i = 0; i < text->placeholders.count; i++)
        if (sv_equal(text->placeholders.items[i].text, placeholder)) return true;
    return false;
}

/* The placeholders of an output: without the entities that are characters, and without the words in angle
 * brackets that are none in the source. */
static void find_placeholders(const MarkedText *source, StrView text, PlaceholderList *list) {
    int count = 0, c;
    placeholders_find(text, list);
    for (int i = 0; i < list->count; i++) {
        StrView item = list->items[i].text;
        if (entity_decode(text, (size_t)(item.data - text.data), &c) > 0) continue;
        if (tag_is_word(item) && !marked_text_has(source, item)) continue;
        list->items[count++] = list->items[i];
    }
    list->count = count;
}

/* The placeholders of the source, without characters and words. Some may be none in the whole text: a path at
 * the beginning of the chunk. */
static void find_source_placeholders(MarkedText *text) {
    PlaceholderList *list = &text->placeholders;
    int count = 0, m = 0, c;
    placeholders_find(text->source, list);
    for (int i = 0; i < list->count; i++) {
        Placeholder item = list->items[i];
        while (m < text->count && text->items[m].text.data + text->items[m].text.length <= item.text.data)
            m++;
        bool marked = m < text->count && text->items[m].text.data <= item.text.data;
        if (entity_decode(text->source, (size_t)(item.text.data - text->source.data), &c) > 0) continue;
        if (!marked && tag_is_word(item.text)) continue;
        if (marked && text->items[m].text.data == item.text.data) item.in_order |= is_half(&text->items[m]);
        list->items[count++] = item;
    }
    list->count = count;
}

void marked_text_make(const Markup *markup, StrView source, MarkedText *text) {
    if (!source.data) source = SV("");
    Copy copy = {.text = text, .space = true, .literal = markup->literal};
    int first = markup_first_mark(markup, source.data),
        end = markup_first_mark(markup, source.data + source.length);
    *text = (MarkedText){.icu = markup->icu,
                         .source = source,
                         .html = markup->html,
                         .fits_in_place = end - first <= MAX_IN_PLACE};
    text->items = mem_alloc((size_t)(end - first), sizeof *text->items);
    size_t at = 0;
    for (int m = first; m < end; m++) {
        const Mark *mark = &markup->items[m];
        size_t start = (size_t)(mark->text.data - source.data);
        copy_text(&copy, at, start);
        copy_mark(&copy, mark, first, end);
        at = start + mark->text.length;
    }
    copy_text(&copy, at, source.length);
    if (copy.pending) copy.pending->space_after = true;
    if (copy.mark_bytes > MAX_BYTES_IN_PLACE) text->fits_in_place = false;
    choose_forms(text);
    find_source_placeholders(text);
}

void marked_text_free(MarkedText *text) {
    strbuf_free(&text->in_place);
    strbuf_free(&text->plain);
    mem_free(text->items);
    mem_free(text->forms);
    placeholders_free(&text->placeholders);
    *text = (MarkedText){0};
}

/* ---- glued words ---- */

static const char *end_of(StrView text) { return text.data + text.length; }

/* Is there a word, or a placeholder that is no tag, directly behind item i, if tags between them are not
 * counted? */
static bool touches_after(StrView text, const PlaceholderList *list, int i) {
    const char *at = end_of(list->items[i].text);
    for (int end = i + MAX_TAGS; ++i < list->count && i < end && list->items[i].text.data == at;) {
        if (list->items[i].kind != PLACEHOLDER_TAG) return list->items[i].kind != PLACEHOLDER_ICU;
        at = end_of(list->items[i].text);
    }
    size_t position = (size_t)(at - text.data);
    return position < text.length && text_is_word(utf8_next(text, &position));
}

static bool touches_before(StrView text, const PlaceholderList *list, int i) {
    const char *at = list->items[i].text.data;
    for (int end = i - MAX_TAGS; --i >= 0 && i > end && end_of(list->items[i].text) == at;) {
        if (list->items[i].kind != PLACEHOLDER_TAG) return list->items[i].kind != PLACEHOLDER_ICU;
        at = list->items[i].text.data;
    }
    size_t position = (size_t)(at - text.data);
    if (position == 0) return false;
    position = utf8_before(text, position);
    return text_is_word(utf8_next(text, &position));
}

static int compare_hashes(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

typedef enum { TOUCHES_BEFORE, TOUCHES_AFTER, TOUCHES_BOTH } Touch;

typedef struct {
    uint64_t *hashes; /* [count] sorted */
    int count;
} TouchSet;

/* What touches what. Tags touch words if there are words on both sides. */
static TouchSet find_touching(StrView text, const PlaceholderList *list) {
    TouchSet set = {.hashes = mem_alloc(2 * (size_t)list->count, sizeof *set.hashes)};
    for (int i = 0; i < list->count; i++) {
        StrView item = list->items[i].text;
        bool before = touches_before(text, list, i), after = touches_after(text, list, i);
        bool tag = list->items[i].kind == PLACEHOLDER_TAG;
        if (tag && before && after) set.hashes[set.count++] = sv_hash(item, TOUCHES_BOTH);
        if (!tag && before) set.hashes[set.count++] = sv_hash(item, TOUCHES_BEFORE);
        if (!tag && after) set.hashes[set.count++] = sv_hash(item, TOUCHES_AFTER);
    }
    if (set.count > 1) qsort(set.hashes, (size_t)set.count, sizeof *set.hashes, compare_hashes);
    return set;
}

static bool may_touch(const TouchSet *set, StrView item, Touch touch) {
    uint64_t hash = sv_hash(item, touch);
    return set->count > 0 &&
           bsearch(&hash, set->hashes, (size_t)set->count, sizeof *set->hashes, compare_hashes);
}

static bool glues(const MarkedText *source, StrView output, const PlaceholderList *list) {
    TouchSet allowed = find_touching(source->source, &source->placeholders),
             found = find_touching(output, list);
    bool glued = false;
    for (int i = 0; i < found.count && !glued; i++)
        glued = allowed.count == 0 || !bsearch(&found.hashes[i], allowed.hashes, (size_t)allowed.count,
                                               sizeof *allowed.hashes, compare_hashes);
    mem_free(allowed.hashes);
    mem_free(found.hashes);
    return glued;
}

/* Spaces before and after item i that keep it from what it must not touch. */
static void find_spaces(StrView text, const PlaceholderList *list, int i, const TouchSet *allowed,
                        bool *before, bool *after) {
    StrView item = list->items[i].text;
    *before = touches_before(text, list, i);
    *after = touches_after(text, list, i);
    if (list->items[i].kind != PLACEHOLDER_TAG) {
        *before = *before && !may_touch(allowed, item, TOUCHES_BEFORE);
        *after = *after && !may_touch(allowed, item, TOUCHES_AFTER);
        return;
    }
    bool glued = *before && *after && !may_touch(allowed, item, TOUCHES_BOTH) && !tag_is_block(item);
    *after = glued && tag_is_closing(item);
    *before = glued && !*after;
}

/* Separates by spaces what joined chunks have glued to placeholders. */
static void unglue(const Markup *markup, StrBuf *output) {
    PlaceholderList source = {0}, list = {0};
    StrView text = strbuf_view(output);
    placeholders_find(strbuf_view(&markup->repaired), &source);
    placeholders_find(text, &list);
    TouchSet allowed = find_touching(strbuf_view(&markup->repaired), &source);
    StrBuf out = {0};
    size_t at = 0, apart = 0; /* apart: end of the tags that a space already keeps apart */
    for (int i = 0; i < list.count; i++) {
        StrView item = list.items[i].text;
        bool before, after, tag = list.items[i].kind == PLACEHOLDER_TAG;
        int c;
        size_t start = (size_t)(item.data - text.data), end = start + item.length;
        if (entity_decode(text, start, &c) > 0) continue;
        find_spaces(text, &list, i, &allowed, &before, &after);
        if (tag && apart > 0 && apart == start) {
            apart = end;
            continue;
        }
        if (!before && !after) continue;
        if (tag) apart = end;
        strbuf_add(&out, (StrView){text.data + at, start - at});
        if (before) strbuf_add_char(&out, ' ');
        strbuf_add(&out, item);
        at = end;
        if (after) strbuf_add_char(&out, ' ');
    }
    if (at > 0) {
        strbuf_add(&out, (StrView){text.data + at, text.length - at});
        strbuf_free(output);
        *output = out;
    }
    mem_free(allowed.hashes);
    placeholders_free(&source);
    placeholders_free(&list);
}

static uint64_t *hash_placeholders(StrView text, int *count) {
    PlaceholderList list = {0};
    placeholders_find(text, &list);
    uint64_t *hashes = mem_alloc((size_t)list.count, sizeof *hashes);
    *count = 0;
    for (int i = 0, c; i < list.count; i++) {
        StrView item = list.items[i].text;
        bool is_text = entity_decode(text, (size_t)(item.data - text.data), &c) > 0 || tag_is_word(item);
        if (!is_text) hashes[(*count)++] = sv_hash(item, 0);
    }
    if (*count > 1) qsort(hashes, (size_t)*count, sizeof *hashes, compare_hashes);
    placeholders_free(&list);
    return hashes;
}

bool markup_finish(const Markup *markup, StrBuf *output) {
    int count, found;
    unglue(markup, output);
    uint64_t *source = hash_placeholders(strbuf_view(&markup->repaired), &count);
    uint64_t *target = hash_placeholders(strbuf_view(output), &found);
    bool same = count == found && (count == 0 || memcmp(source, target, (size_t)count * sizeof *source) == 0);
    mem_free(source);
    mem_free(target);
    return same;
}

/* The bytes among `set` in a text that are in no placeholder. */
static void find_bytes(StrView text, const char *set, StrBuf *found_bytes) {
    if (text.length == 0) return;
    PlaceholderScan scan = {.text = text};
    Placeholder placeholder;
    for (const char *from = text.data, *end = end_of(text); from < end;) {
        bool more = placeholder_next(&scan, &placeholder);
        for (; from < (more ? placeholder.text.data : end); from++)
            if (*from && strchr(set, *from)) strbuf_add_char(found_bytes, *from);
        if (more) from = end_of(placeholder.text);
    }
}

static bool same_braces(StrView a, StrView b) {
    StrBuf braces[2] = {0};
    find_bytes(a, "{}", &braces[0]);
    find_bytes(b, "{}", &braces[1]);
    bool same = sv_equal(strbuf_view(&braces[0]), strbuf_view(&braces[1]));
    strbuf_free(&braces[0]);
    strbuf_free(&braces[1]);
    return same;
}

bool markup_is_open(StrView output) {
    StrBuf bytes = {0};
    find_bytes(output, "<{}%$#", &bytes);
    bool any = bytes.length > 0;
    strbuf_free(&bytes);
    return any;
}

bool marked_text_agrees(const MarkedText *text, StrView output) {
    if (text->icu && !same_braces(text->source, output)) return false;
    PlaceholderList list = {0};
    find_placeholders(text, output, &list);
    bool agrees = placeholders_agree(&text->placeholders, &list) && !glues(text, output, &list);
    placeholders_free(&list);
    return agrees;
}

/* ---- output ---- */

/* The form of the next occurrence of a character, or nothing if the source does not have it. */
static StrView next_form(TextWriter *writer, int c) {
    const MarkedText *text = writer->text;
    StrView form = SV("");
    if (!writer->used) writer->used = mem_alloc((size_t)text->form_count, sizeof *writer->used);
    for (int i = 0; i < text->form_count; i++) {
        if (text->forms[i].c != c) continue;
        form = text->forms[i].text;
        if (writer->used[i]) continue;
        writer->used[i] = true;
        break;
    }
    return form;
}

/* Could a < before `at` begin a tag? */
static bool begins_tag(StrView text, size_t at) {
    if (at == text.length) return true;
    char c = text.data[at];
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '/' || c == '!' || c == '?';
}

/* Does a word in angle brackets begin here? */
static bool begins_word(const TextWriter *writer, const char *at) {
    if (writer->all.length == 0 || *at != '<') return false;
    size_t position = (size_t)(at - writer->all.data), length = tag_length(writer->all, position);
    return length > 0 && tag_is_word((StrView){at, length});
}

void text_writer_add(TextWriter *writer, StrView translation, StrBuf *out) {
    const MarkedText *text = writer->text;
    for (size_t at = 0, start = 0; at < translation.length; start = at) {
        int c = utf8_next(translation, &at);
        StrView form = text->form_count > 0 ? next_form(writer, c) : SV("");
        bool bare = c == '<' && (form.length <= 1) && begins_tag(translation, at);
        if (begins_word(writer, translation.data + start))
            form = SV("<");
        else if (text->html && c == '<' && (form.length == 0 || bare))
            form = SV("&lt;");
        if (form.length == 0 && text->html && c == '&') form = SV("&amp;");
        strbuf_add(out, form.length > 0 ? form : (StrView){translation.data + start, at - start});
    }
}

void marked_text_write(const MarkedText *text, StrView translation, StrBuf *out) {
    if (translation.length == 0) return;
    TextWriter writer = {.text = text};
    PlaceholderScan scan = {.text = translation};
    const char *from = translation.data;
    for (Placeholder placeholder; placeholder_next(&scan, &placeholder); from = end_of(placeholder.text)) {
        text_writer_add(&writer, (StrView){from, (size_t)(placeholder.text.data - from)}, out);
        strbuf_add(out, placeholder.text);
    }
    text_writer_add(&writer, (StrView){from, (size_t)(end_of(translation) - from)}, out);
    mem_free(writer.used);
}
