/* copied_text.c - see copied_text.h. */
#include "text/copied_text.h"

#include "base/unicode.h"
#include "base/utf8.h"
#include "text/placeholders.h"

static bool has_letter(StrView text) {
    for (size_t position = 0; position < text.length;)
        if (unicode_class(utf8_next(text, &position)) == CHAR_LETTER) return true;
    return false;
}

bool text_is_copied(StrView text) {
    StrBuf repaired = {0};
    if (!has_letter(text)) return true;
    utf8_repair(text, &repaired);
    PlaceholderScan scan = {.text = strbuf_view(&repaired)};
    Placeholder placeholder;
    bool more = true, letter = false;
    for (size_t at = 0; more && !letter;) {
        more = placeholder_next(&scan, &placeholder);
        size_t end = more ? (size_t)(placeholder.text.data - scan.text.data) : scan.text.length;
        letter = has_letter((StrView){scan.text.data + at, end - at});
        at = end + (more ? placeholder.text.length : 0);
    }
    strbuf_free(&repaired);
    return !letter;
}
