/* document_html.c - pages of HTML: the texts between breaks of text/markup.h, and attributes. */
#include <string.h>
#include <strings.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "documents/document.h"
#include "documents/html.h"
#include "text/markup.h"

enum { KIND_TEXT, KIND_ATTRIBUTE };

static bool starts(StrView text, const char *prefix) {
    return text.length >= strlen(prefix) && strncasecmp(text.data, prefix, strlen(prefix)) == 0;
}

/* After comments and the XML declaration. */
static bool detect(StrView sample) {
    for (;;) {
        sample = sv_trim(sample);
        bool comment = starts(sample, "<!--"), declaration = starts(sample, "<?xml");
        if (!comment && !declaration) break;
        const char *end = memmem(sample.data, sample.length, comment ? "-->" : "?>", comment ? 3 : 2);
        if (!end) return false;
        end += comment ? 3 : 2;
        sample.length -= (size_t)(end - sample.data);
        sample.data = end;
    }
    return starts(sample, "<!doctype html") || starts(sample, "<html");
}

static void add_texts(Document *document, const Markup *markup) {
    StrView masked = {strbuf_text(&markup->masked), markup->masked.length};
    const char *bytes = strbuf_text(&markup->repaired);
    for (StrView part; sv_next(&masked, MARKUP_BREAK, &part);) {
        part = sv_trim(part);
        if (part.length == 0) continue;
        StrView source = markup_source(markup, part);
        size_t from = (size_t)(source.data - bytes);
        if (source.length > 0) document_add(document, from, from + source.length, source)->kind = KIND_TEXT;
    }
}

/* The attributes follow the texts. */
static Status read(Document *document) {
    Markup markup = {0};
    HtmlTags *tags = mem_alloc(1, sizeof *tags);
    document->state = tags;
    markup_find(document->bytes, &markup);
    add_texts(document, &markup);
    markup_free(&markup);
    html_tags_find(document->bytes, tags);
    for (int a = 0; a < tags->attribute_count; a++) {
        StrView value = tags->attributes[a].value;
        size_t from = (size_t)(value.data - document->bytes.data);
        document_add(document, from, from + value.length, value)->kind = KIND_ATTRIBUTE;
    }
    return STATUS_OK;
}

static bool is_changed(const Segment *segment) {
    return segment->is_translated &&
           !text_same_words(strbuf_view(&segment->text), strbuf_view(&segment->translation));
}

/* Tags inside of a text are part of its translation. */
static void write(Document *document) {
    const HtmlTags *tags = document->state;
    StrView language = document->options.target_language;
    size_t texts = document->count - (size_t)tags->attribute_count;
    StrView *translations = mem_alloc((size_t)tags->attribute_count, sizeof *translations);
    for (int a = 0; a < tags->attribute_count; a++) {
        const Segment *segment = &document->segments[texts + (size_t)a];
        translations[a] = is_changed(segment) ? strbuf_view(&segment->translation) : SV("");
    }
    int next = 0;
    for (size_t s = 0; s <= texts; s++) {
        const Segment *segment = s < texts ? &document->segments[s] : NULL;
        size_t from = segment ? segment->from : document->bytes.length;
        for (; next < tags->count; next++) {
            size_t at = (size_t)(tags->tags[next].tag.data - document->bytes.data);
            if (at >= from) break;
            StrBuf *out = document_edit(document, at, at + tags->tags[next].tag.length);
            html_tag_write(tags, &tags->tags[next], translations, language, out);
        }
        int first = next;
        while (segment && next < tags->count &&
               tags->tags[next].tag.data < document->bytes.data + segment->to)
            next++;
        if (!segment || (!is_changed(segment) && first == next)) continue;
        StrView text = is_changed(segment) ? strbuf_view(&segment->translation) : strbuf_view(&segment->text);
        html_tags_apply(tags, first, next, translations, language, text,
                        document_edit(document, segment->from, segment->to));
    }
    mem_free(translations);
}

static void release(void *state) {
    html_tags_free(state);
    mem_free(state);
}

const DocumentFormat HTML_DOCUMENT = {.name = "html",
                                      .endings = ".html .htm .xhtml",
                                      .title = "an HTML page",
                                      .has_many_tags = true,
                                      .is_wrapped = true,
                                      .detect = detect,
                                      .read = read,
                                      .write = write,
                                      .release = release};
