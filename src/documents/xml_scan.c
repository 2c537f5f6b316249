/* xml_scan.c - see xml_scan.h. */
#include "documents/xml_scan.h"

#include <string.h>
#include "text/markup.h"

static bool fail(XmlScan *scan, size_t at, const char *error) {
    scan->at = at;
    scan->error = error;
    return false;
}

/* Moves past `end`; false if the rest does not contain it. */
static bool skip_past(XmlScan *scan, size_t from, const char *end) {
    const char *match = memmem(scan->text.data + from, scan->text.length - from, end, strlen(end));
    if (!match) return fail(scan, from, "damaged XML: a comment, an instruction or a tag does not end");
    scan->at = (size_t)(match - scan->text.data) + strlen(end);
    return true;
}

/* Past what is no element, at a '<'. *skipped is false at a tag. */
static bool skip_other(XmlScan *scan, bool *skipped) {
    StrView rest = {scan->text.data + scan->at, scan->text.length - scan->at};
    size_t at = scan->at;
    *skipped = true;
    if (sv_starts(rest, SV("<!--"))) return skip_past(scan, at + 4, "-->");
    if (sv_starts(rest, SV("<?"))) return skip_past(scan, at + 2, "?>");
    if (sv_starts(rest, SV("<![CDATA["))) return skip_past(scan, at, "]]>");
    if (sv_starts(rest, SV("<!"))) {
        if (!skip_past(scan, at, ">")) return false;
        if (!memchr(scan->text.data + at, '[', scan->at - at)) return true;
        return fail(scan, at, "declarations of XML are not read");
    }
    *skipped = false;
    return true;
}

/* The end of the tag at `at`: a '>' outside of quotes. 0: none. */
static size_t tag_end(StrView text, size_t at) {
    char quote = '\0';
    for (size_t i = at + 1; i < text.length; i++) {
        char c = text.data[i];
        if (quote)
            quote = c == quote ? '\0' : quote;
        else if (c == '"' || c == '\'')
            quote = c;
        else if (c == '>')
            return i + 1;
        else if (c == '<')
            return 0;
    }
    return 0;
}

static bool nest(XmlScan *scan, const XmlTag *tag, StrView whole) {
    if (tag->kind == XML_TAG_EMPTY) return true;
    if (tag->kind == XML_TAG_OPEN) {
        if (scan->depth == XML_SCAN_DEPTH) return fail(scan, tag->from, "more than 256 nested elements");
        scan->open[scan->depth++] = whole;
        return true;
    }
    if (scan->depth > 0 && sv_equal(scan->open[scan->depth - 1], whole)) {
        scan->depth--;
        return true;
    }
    return fail(scan, tag->from, "damaged XML: this closing tag does not belong to the element that is open");
}

bool xml_scan_next(XmlScan *scan, XmlTag *tag) {
    StrView text = scan->text;
    if (scan->error) return false;
    for (bool skipped = true; skipped;) {
        const char *next = memchr(text.data + scan->at, '<', text.length - scan->at);
        if (!next) {
            if (scan->depth > 0)
                return fail(scan, text.length, "damaged XML: the file ends inside an element");
            scan->at = text.length;
            return false;
        }
        scan->at = (size_t)(next - text.data);
        if (!skip_other(scan, &skipped)) return false;
    }
    size_t from = scan->at, to = tag_end(text, from), start = from + 1;
    if (to == 0) return fail(scan, from, "damaged XML: a tag does not end");
    bool closing = text.data[start] == '/';
    start += closing;
    size_t end = start, local = start;
    for (; end < to && !strchr(" \t\r\n/>", text.data[end]); end++)
        if (text.data[end] == ':') local = end + 1;
    if (end == start) return fail(scan, from, "damaged XML: a tag without a name");
    *tag = (XmlTag){.kind = closing                    ? XML_TAG_CLOSE
                            : text.data[to - 2] == '/' ? XML_TAG_EMPTY
                                                       : XML_TAG_OPEN,
                    .from = from,
                    .to = to,
                    .name = {text.data + local, end - local},
                    .prefix = {text.data + start, local > start ? local - start - 1 : 0}};
    scan->at = to;
    return nest(scan, tag, (StrView){text.data + start, end - start});
}

StrView xml_scan_attribute(StrView text, const XmlTag *tag, const char *name) {
    const char *after = tag->name.data + tag->name.length;
    StrView rest = {after, (size_t)(text.data + tag->to - after)}, key, value;
    while (tag_next_attribute(&rest, &key, &value)) {
        const char *colon = memchr(key.data, ':', key.length);
        if (colon) key = (StrView){colon + 1, (size_t)(key.data + key.length - colon) - 1};
        if (sv_equal(key, sv(name))) return value;
    }
    return (StrView){NULL, 0};
}
