/* options_value.h - the value of one option: from text, from JSON, to text. Shared by the options_*.c files
 * and whoever keeps choices elsewhere.
 *
 * Fails   STATUS_USAGE; `name` is what the user wrote ("option '--beam-size'", "key 'decode.beam_size'")
 */
#ifndef BASE_OPTIONS_VALUE_H
#define BASE_OPTIONS_VALUE_H

#include "base/options.h"

bool option_row_ends(const Option *row);
bool option_is_on(const Option *row); /* a switch that is on unless --no-flag is given */
void *option_field(const OptionTable *table, const Option *row);

/* Store `text` into `field`. Lists: `append` keeps what is there. */
Status option_from_text(const Option *row, void *field, StrView text, bool append, const char *name);
Status option_from_json(const Option *row, void *field, const Json *value, const char *name);
void option_default(const Option *row, void *field);
void option_copy(const Option *row, void *field, const void *from); /* of numbers and choices */
void option_release(const Option *row, void *field);

void option_to_json(const Option *row, const void *field, StrBuf *out);
bool option_is_default(const Option *row, const void *field);
/* Index of `text` in "a|b|c", or -1. */
int option_choice(const char *choices, StrView text);
StrView option_choice_name(const char *choices, int index); /* "?" if there are not so many */

/* The long flag of a row, without dashes: options.h says how it follows from the key. */
typedef struct {
    char text[64];
} OptionFlag;
OptionFlag option_flag(const OptionTable *tables, const Option *row);

/* Note that a row was given; `given` may be NULL. */
void user_options_add(UserOptions *given, const Option *row);
/* The row with this key, or with the key that this one was renamed to. */
const Option *option_by_key(const OptionTable *tables, StrView key, void **field);
/* STATUS_USAGE "unknown key" with the nearest key as hint. */
Status option_unknown_key(const OptionTable *tables, StrView key);

#endif
