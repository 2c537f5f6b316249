/* base64.h - bytes as text and back. RFC 4648, section 4.
 *
 * Fails   reading: STATUS_DATA for other characters, line breaks, missing padding, or bits that are not 0
 */
#ifndef IO_BASE64_H
#define IO_BASE64_H

#include "base/status.h"
#include "base/strview.h"

void base64_write(StrView bytes, StrBuf *text);  /* appends */
Status base64_read(StrView text, StrBuf *bytes); /* appends */

#endif
