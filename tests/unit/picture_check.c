/* picture_check.c - search in pictures, and the XML check as an assertion. */
#include "unit/picture_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "unit/xml_check.h"

int text_count(const StrBuf *out, const char *part) {
    int count = 0;
    size_t length = strlen(part);
    for (size_t i = 0; i + length <= out->length; i++) count += memcmp(out->data + i, part, length) == 0;
    return count;
}

void assert_text_has(const StrBuf *out, const char *part) {
    if (text_count(out, part) == 0) fail_msg("no '%s' in: %.2000s", part, strbuf_text(out));
}

void assert_xml(const StrBuf *out) {
    const char *problem = xml_check(strbuf_view(out));
    if (problem) fail_msg("%s in: %.2000s", problem, strbuf_text(out));
}
