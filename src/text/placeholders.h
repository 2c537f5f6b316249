/* placeholders.h - parts of a text that its translation must contain byte for byte.
 *
 * Each kind is a row of the table in placeholders.c. To add a kind, write a scanner and add a row.
 *
 *   printf       %s %1$s %'d %-8.2f %(name)s %% %m of C and Python, %@ of Objective-C, %1 %L1 %n of Qt,
 *                %<PRIu64> of gettext. A unit can follow (%dms); "%fat" and "50% of" are text
 *   braces       {} {0} {name} {0:N2} {n, number} ${x} #{x} %{x} {{ x }} <%= x %> {% x %}
 *   icu          the skeleton of {n, plural, one {# file} other {# files}}: all but the texts in its
 *                branches, in parts: "{n, plural, one {", "} other {", "}}". Each branch is a text of its own
 *   number sign  # without a letter or digit beside it: the number in a branch
 *   variable     $x $HOME, not $5
 *   tag          <b> </b> <br/> <a href="x"> <!-- --> <!DOCTYPE html> <?xml ?>: a letter must follow < or </
 *   entity       &nbsp; &#39;
 *   url, e-mail, path (/usr/bin, ~/x, C:\x), emoji, version (1.2.3, v1.2)
 *
 * Two texts agree if they have the same placeholders, equally often, each inside the same pairs of tags;
 * placeholders with `in_order` (such as %s and {}, which take the next argument) must keep their order within
 * their row.
 *
 * Owner   placeholders are views into the text
 */
#ifndef TEXT_PLACEHOLDERS_H
#define TEXT_PLACEHOLDERS_H

#include "base/strview.h"

typedef enum {
    PLACEHOLDER_TAG,
    PLACEHOLDER_ENTITY,
    PLACEHOLDER_PRINTF,
    PLACEHOLDER_BRACES,
    PLACEHOLDER_ICU,
    PLACEHOLDER_NUMBER_SIGN,
    PLACEHOLDER_VARIABLE,
    PLACEHOLDER_URL,
    PLACEHOLDER_EMAIL,
    PLACEHOLDER_PATH,
    PLACEHOLDER_EMOJI,
    PLACEHOLDER_VERSION,
    PLACEHOLDER_KINDS
} PlaceholderKind;

typedef struct {
    StrView text;
    PlaceholderKind kind;
    bool in_order; /* must keep its order among those of its kind */
} Placeholder;

enum { PLACEHOLDER_ICU_DEPTH = 8 }; /* deeper plurals and selects are text */

/* A pass over a text, which is valid UTF-8. Set `text` and zero the rest to begin. */
typedef struct {
    StrView text;
    size_t at; /* bytes so far */
    /* Private. */
    unsigned without_end;                  /* closing marks that the rest of the text does not contain */
    int icu_depth;                         /* plurals and selects around `at` */
    size_t icu_end[PLACEHOLDER_ICU_DEPTH]; /* where each ends */
    int icu_braces[PLACEHOLDER_ICU_DEPTH]; /* open braces in the text of its branch */
} PlaceholderScan;

/* Finds the next placeholder and moves past it; false at the end of the text. Linear time for the text. */
bool placeholder_next(PlaceholderScan *scan, Placeholder *placeholder);

typedef struct {
    Placeholder *items; /* [count] in the order of the text */
    int count;
    size_t capacity;
} PlaceholderList;

/* Appends all placeholders of a text. */
void placeholders_find(StrView text, PlaceholderList *list);
void placeholders_free(PlaceholderList *list);
/* Do the two texts agree? */
bool placeholders_agree(const PlaceholderList *source, const PlaceholderList *target);
bool placeholders_agree_in(StrView source, StrView target);

/* ---- tags ---- */

/* Empty for comments, document types and anything that is no tag. */
StrView tag_name(StrView tag);
bool tag_is_closing(StrView tag);
/* An opening tag that may have a closing one: not <br/>, and not <br> or <img>. */
bool tag_is_opening(StrView tag);
/* Words in angle brackets, such as <file> in "git add <file>", unless there is a closing tag: letters,
 * hyphens, apostrophes and spaces alone, and no name of an element inside of sentences. */
bool tag_is_word(StrView tag);
/* Do two tags have the same name, in upper or lower case? */
bool tag_same_name(StrView a, StrView b);
/* The length of the tag that begins at text.data[at]; 0: there is none. */
size_t tag_length(StrView text, size_t at);

#endif
