/* html.h - the attributes of HTML that contain text, and the language of a page.
 *
 * Attributes with text are alt, title, placeholder and aria-label, except in elements that must not be
 * translated (text/markup.h). The tag <html> gets the target language as its lang, and its xml:lang
 * if it has one.
 *
 * Owner   tags are views into the text
 */
#ifndef DOCUMENTS_HTML_H
#define DOCUMENTS_HTML_H

#include "base/strview.h"

typedef struct {
    StrView value; /* without its quotes */
    char quote;    /* '\0': there are none */
} HtmlAttribute;

typedef struct {
    StrView tag;
    int first, count; /* its attributes; none: <html> */
} HtmlTag;

typedef struct {
    HtmlTag *tags; /* [count] in the order of the text */
    HtmlAttribute *attributes;
    int count, attribute_count;
    size_t tag_capacity, attribute_capacity;
} HtmlTags;

/* `tags` is zeroed. */
void html_tags_find(StrView text, HtmlTags *tags);
void html_tags_free(HtmlTags *tags);
/* Appends the tag with translated attributes; `translations` [attribute_count] may have empty ones, whose
 * attributes stay. `language`: for <html>, or empty. */
void html_tag_write(const HtmlTags *tags, const HtmlTag *tag, const StrView *translations, StrView language,
                    StrBuf *out);
/* Appends a text, a translation of the source that `tags` are of, with its tags written by html_tag_write. */
void html_tags_apply(const HtmlTags *tags, int first, int end, const StrView *translations, StrView language,
                     StrView text, StrBuf *out);
/* Appends the BCP 47 tag of a language: "de" for "german", "zh-Hant" for "zho_Hant"; nothing if the name is
 * unknown. */
void html_language(StrView name, StrBuf *out);

#endif
