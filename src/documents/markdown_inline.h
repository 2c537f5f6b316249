/* markdown_inline.h - a paragraph of Markdown as a text with tags (marked_lines.h).
 *
 * Single parts: `code`, <addresses>, footnotes, &amp; and &lt;. Pairs: emphasis, links and pictures
 * with their targets. Tags of HTML stay tags. A character that
 * has a backslash in the text gets one everywhere.
 */
#ifndef DOCUMENTS_MARKDOWN_INLINE_H
#define DOCUMENTS_MARKDOWN_INLINE_H

#include "documents/marked_lines.h"

/* `document`: all of it, for the definitions of links. */
void markdown_encode(StrView document, StrView text, Codes *codes, StrBuf *out);

#endif
