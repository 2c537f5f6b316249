/* toy_attention.h - two queries over ten keys, small enough to follow by hand.
 * Dive into Deep Learning, "Attention Scoring Functions"
 *
 * Each query sees the same values, the numbers 0 to 39 in rows of four, and its own keys: all ones, or normal
 * random numbers. The first may look at 2 of them, the second at 6. Queries have 20 numbers, or 2 like the
 * keys where the score compares both number by number.
 *
 * Fails   never; the score is a row of ATTENTION_SCORES
 */
#ifndef CLI_TOY_ATTENTION_H
#define CLI_TOY_ATTENTION_H

#include <stdint.h>
#include "layers/attention.h"

enum { TOY_QUERIES = 2, TOY_KEYS = 10, TOY_KEY_SIZE = 2, TOY_VALUE_SIZE = 4, TOY_QUERY_MOST = 20 };
extern const int TOY_LENGTHS[TOY_QUERIES];

typedef struct {
    int query_size;
    bool sees_keys;                             /* the score depends on the keys */
    real queries[TOY_QUERIES * TOY_QUERY_MOST]; /* rows of query_size */
    real keys[TOY_QUERIES][TOY_KEYS][TOY_KEY_SIZE];
    real weights[TOY_QUERIES][TOY_KEYS]; /* 0 beyond the length */
    real contexts[TOY_QUERIES][TOY_VALUE_SIZE];
} ToyAttention;

/* `seed`: of the queries, of the score's parameters and of keys that are not equal. */
void toy_attention_run(int score, bool equal_keys, uint64_t seed, ToyAttention *toy);

#endif
