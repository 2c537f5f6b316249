/* line_guides.h - what the options of `attn-mt translate` ask of the translations of lines: a prefix. What a
 * line of JSON asks for itself comes first.
 *
 * Fails     STATUS_USAGE, STATUS_RUNTIME for files that cannot be read, STATUS_DATA for what is in them
 */
#ifndef CLI_LINE_GUIDES_H
#define CLI_LINE_GUIDES_H

#include "cli/line_window.h"

typedef struct LineGuides LineGuides;

/* Both may be NULL. `tags`: markup is taken out of prefixes, as it is of the text. */
Status line_guides_open(LineGuides **guides, const char *prefix, const char *prefix_file, bool tags);
void line_guides_free(LineGuides *guides);
/* For the lines of the window: [count], valid until the next call; NULL if nothing is asked for. */
Status line_guides_next(LineGuides *guides, const LineWindow *window, const LineGuide **found);
/* After the last line: STATUS_DATA if there are more prefixes than lines. */
Status line_guides_end(LineGuides *guides);

#endif
