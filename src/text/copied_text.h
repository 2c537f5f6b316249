/* copied_text.h - text that needs no translation: numbers, times, symbols, addresses. */
#ifndef TEXT_COPIED_TEXT_H
#define TEXT_COPIED_TEXT_H

#include "base/strview.h"

/* Has the text no letter, of any script, outside of placeholders (placeholders.h)? */
bool text_is_copied(StrView text);

#endif
