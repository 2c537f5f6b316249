/* picture_check.h - checks of pictures in text form. */
#ifndef UNIT_PICTURE_CHECK_H
#define UNIT_PICTURE_CHECK_H

#include "base/strview.h"

int text_count(const StrBuf *out, const char *part); /* number of occurrences */
void assert_text_has(const StrBuf *out, const char *part);
void assert_xml(const StrBuf *out);

#endif
