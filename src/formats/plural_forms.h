/* plural_forms.h - the field Plural-Forms in the header of a gettext catalogue.
 *
 *   "nplurals=4; plural=(n%100==1 ? 1 : n%100==2 ? 2 : n%100==3 || n%100==4 ? 3 : 0)"
 *
 * The expression is C with the variable n (GNU gettext manual, section "Additional functions for plural
 * forms"). It is evaluated for n = 1 alone: this form translates msgid, all others translate msgid_plural.
 */
#ifndef FORMATS_PLURAL_FORMS_H
#define FORMATS_PLURAL_FORMS_H

#include "base/strview.h"

enum { PLURAL_FORMS_MAX = 6 }; /* Arabic has six */

typedef struct {
    int count;    /* of forms, up to PLURAL_FORMS_MAX; 0: unknown */
    int singular; /* the form for n = 1; 0 if the expression is absent or damaged */
} PluralForms;

/* `header` is the text of the field, or of the whole header. */
PluralForms plural_forms_parse(StrView header);

#endif
