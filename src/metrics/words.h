/* words.h - texts as sequences of word ids, so that n-grams of words compare fast.
 *
 * Equal words have equal ids for as long as the object lives; words_clear forgets the texts, not the words.
 */
#ifndef METRICS_WORDS_H
#define METRICS_WORDS_H

#include <stdint.h>
#include "base/strview.h"

typedef struct Words Words;

typedef struct {
    const uint32_t *ids; /* valid until the next words_add */
    size_t count;
} WordIds;

Words *words_new(void);
void words_free(Words *words);
void words_clear(Words *words);
void words_begin_text(Words *words); /* the words that follow belong to a new text */
void words_add(Words *words, StrView word);
WordIds words_text(const Words *words, size_t index); /* in order of words_begin_text */

#endif
