/* explorer_page.h - the attention explorer: one self-contained HTML file.
 *
 * Style, script, data and pictures are in the page, which makes no network requests. Its
 * Content-Security-Policy (W3C, CSP level 3) contains the SHA-256 of the script, and no other script runs:
 * untrusted text stays text. The sources are explorer/explorer.css and explorer.js, which make turns into
 * explorer_assets.c.
 *
 * Owner   writers append to a StrBuf
 * Fails   never
 */
#ifndef VIZ_EXPLORER_PAGE_H
#define VIZ_EXPLORER_PAGE_H

#include "viz/heatmap.h"

/* Lines of the style sheet and of the script with their line ends. The last item is NULL. */
extern const char *const EXPLORER_STYLE[], *const EXPLORER_SCRIPT[];

/* Appends a picture of the weights for browsers without scripts, in the colours of the page. */
void explorer_page_picture(const Heatmap *map, StrBuf *out);
/* `data` is the JSON of explain/explorer_data.h, which the page compresses; `pictures` comes from
 * explorer_page_picture. */
void explorer_page_write(const char *title, StrView data, StrView pictures, StrBuf *out);

#endif
