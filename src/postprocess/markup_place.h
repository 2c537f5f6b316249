/* markup_place.h - finds the positions of markup between the words of a translation; markup_restore.h has
 * the rules.
 *
 * Owner   markup_order_free releases
 */
#ifndef POSTPROCESS_MARKUP_PLACE_H
#define POSTPROCESS_MARKUP_PLACE_H

#include "postprocess/translation.h"
#include "text/marked_text.h"

typedef struct {
    size_t start, end; /* in the translation's text */
} UnitText;

typedef struct {
    UnitText *text; /* [units] */
    int *order;     /* [order_count] units and marks in order: the index of a mark, or ~unit */
    int order_count;
} MarkupOrder;

/* For item `rank` of the translation of `marked->plain`: by its attention weights, or `in_order`: the marks
 * keep their order and their share of the text, as they do without weights. */
void markup_place(const MarkedText *marked, const Translation *translation, int rank, bool in_order,
                  Tokenizer *source, const Tokenizer *target, MarkupOrder *out);
void markup_order_free(MarkupOrder *order);

#endif
