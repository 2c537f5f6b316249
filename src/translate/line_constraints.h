/* line_constraints.h - constraints that the options of `attn-mt translate` set for each line: a prefix. A
 * line of JSON that has its own prefix keeps it.
 *
 * Fails     STATUS_USAGE, STATUS_RUNTIME for files that cannot be read, STATUS_DATA for what is in them
 */
#ifndef TRANSLATE_LINE_CONSTRAINTS_H
#define TRANSLATE_LINE_CONSTRAINTS_H

#include "translate/line_window.h"

typedef struct LineConstraintReader LineConstraintReader;

/* Both may be NULL. `tags`: markup is taken out of prefixes, as it is of the text. */
Status line_constraints_open(LineConstraintReader **constraints, const char *prefix, const char *prefix_file,
                             bool tags);
void line_constraints_free(LineConstraintReader *constraints);
/* For the lines of the window: [count], valid until the next call; NULL if nothing is asked for. */
Status line_constraints_next(LineConstraintReader *constraints, const LineWindow *window,
                             const LineConstraints **found);
/* After the last line: STATUS_DATA if there are more prefixes than lines. */
Status line_constraints_end(LineConstraintReader *constraints);

#endif
