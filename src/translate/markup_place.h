/* markup_place.h - between which words of a translation its markup goes; markup_restore.h says where that is.
 *
 * Owner   markup_order_free releases
 */
#ifndef TRANSLATE_MARKUP_PLACE_H
#define TRANSLATE_MARKUP_PLACE_H

#include "translate/translation.h"
#include "text/markup.h"

typedef struct {
    size_t start, end; /* in the translation's text */
} UnitText;

typedef struct {
    UnitText *text; /* of each unit */
    int *order;     /* [order_count] what follows what: the number of a mark, or ~unit */
    int order_count;
} MarkupOrder;

/* For item `rank` of the translation of `markup->plain`; it must have attention weights. */
void markup_place(const Markup *markup, const Translation *translation, int rank, Tokenizer *source,
                  const Tokenizer *target, MarkupOrder *out);
void markup_order_free(MarkupOrder *order);
/* Is this of words with spaces between them? Such characters are one unit if nothing parts them. */
bool markup_is_word(int c);

#endif
