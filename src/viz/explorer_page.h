/* explorer_page.h - the page that shows how a model attends: one file of HTML with everything inside.
 *
 * Style, script, data and pictures are in the page; it asks nobody for anything. Its Content-Security-Policy
 * (W3C, CSP level 3) lets nothing run but the script whose SHA-256 it names, so text of others stays text.
 * explorer/explorer.css and explorer.js are its sources; make turns them into explorer_assets.c.
 *
 * Owner   writers append to a StrBuf
 * Fails   never
 */
#ifndef VIZ_EXPLORER_PAGE_H
#define VIZ_EXPLORER_PAGE_H

#include "viz/heatmap.h"

/* Lines of the style sheet and of the script, each with its line end; NULL ends them. */
extern const char *const EXPLORER_STYLE[], *const EXPLORER_SCRIPT[];

/* A picture of the weights for a reader without scripts, in the page's own colours. */
void explorer_page_picture(const Heatmap *map, StrBuf *out);
/* `data`: what explain/explorer_data.h describes; it is compressed. `pictures`: of explorer_page_picture. */
void explorer_page_write(const char *title, StrView data, StrView pictures, StrBuf *out);

#endif
