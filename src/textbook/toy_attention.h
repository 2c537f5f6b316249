/* toy_attention.h - queries over ten keys, small enough to follow by hand.
 * Dive into Deep Learning, "Attention Scoring Functions"
 *
 * Each example of the batch has its own keys, all ones or normal random numbers, and the same values, the
 * numbers 0 to 39 in rows of four. Each query looks at the first keys of its example, as many as its length
 * says. Queries have 20 numbers, or 2 like the keys where the score compares both number by number.
 *
 * Fails   never; the score is a row of ATTENTION_SCORES
 */
#ifndef TEXTBOOK_TOY_ATTENTION_H
#define TEXTBOOK_TOY_ATTENTION_H

#include <stdint.h>
#include "textbook/demo.h"
#include "layers/attention.h"

enum { TOY_KEYS = 10, TOY_KEY_SIZE = 2, TOY_VALUE_SIZE = 4, TOY_QUERY_MOST = 20 };
enum { TOY_ROWS = LENGTHS_MOST_ROWS }; /* of queries, and more than there are examples */

typedef struct {
    int query_size;
    bool sees_keys;                          /* the score depends on the keys */
    real queries[TOY_ROWS * TOY_QUERY_MOST]; /* rows of query_size */
    real keys[TOY_ROWS][TOY_KEYS][TOY_KEY_SIZE];
    real values[TOY_ROWS][TOY_KEYS][TOY_VALUE_SIZE];
    real scores[TOY_ROWS][TOY_KEYS];  /* minus infinity beyond the length, */
    real weights[TOY_ROWS][TOY_KEYS]; /* of which the softmax makes 0 */
    real contexts[TOY_ROWS][TOY_VALUE_SIZE];
} ToyAttention;

/* `seed`: of the queries, of the score's parameters and of keys that are not equal. `parameters`: also
 * written there, unless it is NULL. */
void toy_attention_run(int score, const DemoLengths *lengths, bool equal_keys, uint64_t seed,
                       ToyAttention *toy, StrBuf *parameters);

/* The parameters of what is called "attention", a matrix after the other. */
void toy_write_parameters(const ParamSet *params, StrBuf *out);
/* Which keys each query may look at: those of its example, `keys` of each, up to its length. */
Spans *toy_spans(Tape *tape, const DemoLengths *lengths, int keys);
Tensor *toy_normal(Tape *tape, int rows, int columns, uint64_t key); /* random numbers */
/* Scores or weights of one head as rows of `keys` numbers, all the same beyond the length. */
void toy_copy_spans(const real *from, const Spans *spans, int keys, real beyond, real *to);

#endif
