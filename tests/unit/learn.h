/* learn.h - a tokenizer from a text in memory. */
#ifndef UNIT_LEARN_H
#define UNIT_LEARN_H

#include "tokenizer/tokenizer.h"

/* *tokenizer is NULL if learning fails. */
static inline Status learn_tokenizer(Tokenizer **tokenizer, const TextOptions *options, StrView text) {
    HashMap *words = hashmap_new();
    Status status = tokenizer_begin(tokenizer, options);
    if (status == STATUS_OK) {
        tokenizer_count(*tokenizer, text, words);
        status = tokenizer_finish(*tokenizer, options, words, NULL);
    }
    hashmap_free(words);
    if (status == STATUS_OK) return STATUS_OK;
    tokenizer_free(*tokenizer);
    *tokenizer = NULL;
    return status;
}

#endif
