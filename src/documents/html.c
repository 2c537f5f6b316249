/* html.c - see html.h. One pass over the tags. */
#include "documents/html.h"

#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "text/languages.h"
#include "text/markup.h"

static bool is_one_of(StrView name, const char *const *names) {
    for (; *names; names++)
        if (name.length == strlen(*names) && strncasecmp(name.data, *names, name.length) == 0) return true;
    return false;
}

static bool has_text(StrView attribute) {
    static const char *const NAMES[] = {"alt", "title", "placeholder", "aria-label", NULL};
    return is_one_of(attribute, NAMES);
}

static bool is_language(StrView attribute) {
    static const char *const NAMES[] = {"lang", "xml:lang", NULL};
    return is_one_of(attribute, NAMES);
}

static bool is_html(StrView tag) {
    static const char *const NAMES[] = {"html", NULL};
    return is_one_of(tag_name(tag), NAMES) && !tag_is_closing(tag);
}

static char quote_of(StrView value) {
    char before = value.data[-1]; /* '=' or a quote: a value is inside of a tag */
    return before == '"' || before == '\'' ? before : '\0';
}

static void add_tag(HtmlTags *tags, StrView tag) {
    HtmlTag html_tag = {.tag = tag, .first = tags->attribute_count};
    StrView rest = tag_attributes(tag), name, value;
    while (tag_next_attribute(&rest, &name, &value)) {
        if (!has_text(name) || sv_trim(value).length == 0) continue;
        MEM_GROW(tags->attributes, tags->attribute_capacity, (size_t)tags->attribute_count + 1);
        tags->attributes[tags->attribute_count++] = (HtmlAttribute){value, quote_of(value)};
        html_tag.count++;
    }
    if (html_tag.count == 0 && !is_html(tag)) return;
    MEM_GROW(tags->tags, tags->tag_capacity, (size_t)tags->count + 1);
    tags->tags[tags->count++] = html_tag;
}

void html_tags_find(StrView text, HtmlTags *tags) {
    StrView skipped = {"", 0}; /* the name of an element that must not be translated */
    int depth = 0;             /* elements of this name around `at`, at least the skipped one */
    for (size_t at = 0, length; at < text.length; at += length) {
        const char *next = memchr(text.data + at, '<', text.length - at);
        if (!next) break;
        at = (size_t)(next - text.data);
        length = tag_length(text, at);
        StrView tag = {next, length}, name = tag_name(tag);
        if (length == 0) {
            length = 1;
        } else if (depth > 0) {
            bool same =
                name.length == skipped.length && strncasecmp(name.data, skipped.data, name.length) == 0;
            if (same && tag_is_closing(tag))
                depth--;
            else if (same && tag_is_opening(tag))
                depth++;
        } else if (tag_is_opening(tag) && tag_is_untranslatable(tag)) {
            skipped = name;
            depth = 1;
        } else if (name.length > 0 && !tag_is_closing(tag) && !tag_is_untranslatable(tag)) {
            add_tag(tags, tag);
        }
    }
}

void html_tags_free(HtmlTags *tags) {
    mem_free(tags->tags);
    mem_free(tags->attributes);
    *tags = (HtmlTags){0};
}

/* A value between quotes; one that had none gets them. */
static void add_value(StrView value, char quote, StrBuf *out) {
    char used = quote ? quote : '"';
    if (!quote) strbuf_add_char(out, used);
    for (size_t i = 0; i < value.length; i++) {
        if (value.data[i] == used)
            strbuf_add(out, used == '"' ? SV("&quot;") : SV("&#39;"));
        else
            strbuf_add_char(out, value.data[i]);
    }
    if (!quote) strbuf_add_char(out, used);
}

static void add_html(StrView tag, StrView language, StrBuf *out) {
    StrView rest = tag_attributes(tag), name, value;
    const char *from = tag.data, *after_name = rest.data;
    bool has_lang = false;
    while (tag_next_attribute(&rest, &name, &value)) {
        if (!is_language(name) || value.length == 0) continue;
        has_lang |= name.length == strlen("lang");
        strbuf_add(out, (StrView){from, (size_t)(value.data - from)});
        strbuf_add(out, language);
        from = value.data + value.length;
    }
    if (!has_lang && from == tag.data) {
        strbuf_add(out, (StrView){from, (size_t)(after_name - from)});
        strbuf_format(out, " lang=\"%.*s\"", SV_ARG(language));
        from = after_name;
    }
    strbuf_add(out, (StrView){from, (size_t)(tag.data + tag.length - from)});
}

void html_tag_write(const HtmlTags *tags, const HtmlTag *tag, const StrView *translations, StrView language,
                    StrBuf *out) {
    const char *from = tag->tag.data;
    if (tag->count == 0 && language.length > 0) {
        add_html(tag->tag, language, out);
        return;
    }
    for (int a = tag->first; a < tag->first + tag->count; a++) {
        const HtmlAttribute *attribute = &tags->attributes[a];
        if (translations[a].length == 0) continue;
        strbuf_add(out, (StrView){from, (size_t)(attribute->value.data - from)});
        add_value(translations[a], attribute->quote, out);
        from = attribute->value.data + attribute->value.length;
    }
    strbuf_add(out, (StrView){from, (size_t)(tag->tag.data + tag->tag.length - from)});
}

void html_tags_apply(const HtmlTags *tags, int first, int end, const StrView *translations, StrView language,
                     StrView text, StrBuf *out) {
    int next = first; /* tags mostly keep their order */
    size_t from = 0;
    for (size_t at = 0; at < text.length && first < end;) {
        const char *start = memchr(text.data + at, '<', text.length - at);
        if (!start) break;
        at = (size_t)(start - text.data);
        size_t length = tag_length(text, at);
        int found = -1;
        for (int i = 0; i < end - first && length > 0 && found < 0; i++) {
            enum { MAX_MOVED = 64 };
            int t = first + (next - first + i) % (end - first);
            if (i > MAX_MOVED) break;
            if (sv_equal(tags->tags[t].tag, (StrView){start, length})) found = t;
        }
        if (found >= 0) {
            strbuf_add(out, (StrView){text.data + from, at - from});
            html_tag_write(tags, &tags->tags[found], translations, language, out);
            next = found + 1;
            from = at + length;
        }
        at += length > 0 ? length : 1;
    }
    strbuf_add(out, (StrView){text.data + from, text.length - from});
}

void html_language(StrView name, StrBuf *out) {
    Language language;
    if (!language_read(name, &language) || language.code.length > 3) return; /* "target" */
    strbuf_add(out, language.code);
    if (language.script[0] && memchr(name.data, language.script[0], name.length))
        strbuf_format(out, "-%s", language.script);
    if (language.region[0]) strbuf_format(out, "-%s", language.region);
}
