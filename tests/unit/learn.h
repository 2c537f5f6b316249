/* learn.h - a segmenter from a text in memory. */
#ifndef UNIT_LEARN_H
#define UNIT_LEARN_H

#include "text/segmenter.h"

/* *segmenter is NULL if learning fails. */
static inline Status learn_segmenter(Segmenter **segmenter, const TextOptions *options, StrView text) {
    HashMap *words = hashmap_new();
    Status status = segmenter_begin(segmenter, options);
    if (status == STATUS_OK) {
        segmenter_count(*segmenter, text, words);
        status = segmenter_finish(*segmenter, options, words, NULL);
    }
    hashmap_free(words);
    if (status == STATUS_OK) return STATUS_OK;
    segmenter_free(*segmenter);
    *segmenter = NULL;
    return status;
}

#endif
