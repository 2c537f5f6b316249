/* markup_place.h - finds the positions of markup between the words of a translation; markup_restore.h has
 * the rules.
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
    UnitText *text; /* [units] */
    int *order;     /* [order_count] units and marks in order: the index of a mark, or ~unit */
    int order_count;
} MarkupOrder;

/* For item `rank` of the translation of `markup->plain`, which must have attention weights. */
void markup_place(const Markup *markup, const Translation *translation, int rank, Tokenizer *source,
                  const Tokenizer *target, MarkupOrder *out);
void markup_order_free(MarkupOrder *order);
/* Is this a character of words with spaces between them? Adjacent ones are one unit. */
bool markup_is_word(int c);

#endif
