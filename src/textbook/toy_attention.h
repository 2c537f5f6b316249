/* toy_attention.h - attention of queries over ten keys, small enough to follow by hand.
 * Dive into Deep Learning, section 11.3, "Attention Scoring Functions"
 *
 * Each example of the batch has its own keys, all ones or normal random numbers. Its values are the numbers 0
 * to 39 in rows of four. A query attends to the first `length` keys of its example. Queries have 20
 * components, or 2 like the keys if the score needs equal sizes.
 *
 * Fails   never; the score is a row of ATTENTION_SCORES
 */
#ifndef TEXTBOOK_TOY_ATTENTION_H
#define TEXTBOOK_TOY_ATTENTION_H

#include <stdint.h>
#include "layers/attention.h"
#include "textbook/demo.h"

enum { TOY_KEYS = 10, TOY_KEY_SIZE = 2, TOY_VALUE_SIZE = 4, TOY_QUERY_MAX = 20 };
enum { TOY_ROWS = LENGTHS_MOST_ROWS }; /* queries; also an upper bound of the examples */

typedef struct {
    int query_size;
    bool sees_keys;                         /* the score depends on the keys */
    real queries[TOY_ROWS * TOY_QUERY_MAX]; /* rows of query_size */
    real keys[TOY_ROWS][TOY_KEYS][TOY_KEY_SIZE];
    real values[TOY_ROWS][TOY_KEYS][TOY_VALUE_SIZE];
    real scores[TOY_ROWS][TOY_KEYS];  /* minus infinity from the length on */
    real weights[TOY_ROWS][TOY_KEYS]; /* 0 from the length on */
    real contexts[TOY_ROWS][TOY_VALUE_SIZE];
} ToyAttention;

/* `seed` determines the queries, the parameters of the score and random keys. Appends the parameters to
 * `parameters`, which can be NULL. */
void toy_attention_run(int score, const DemoLengths *lengths, bool equal_keys, uint64_t seed,
                       ToyAttention *toy, StrBuf *parameters);

/* Appends the parameters whose names begin with "attention", matrix after matrix. */
void toy_write_parameters(const ParamSet *params, StrBuf *out);
/* The valid keys of each query: the first ones of its example, which has `keys` keys. */
Spans *toy_spans(Tape *tape, const DemoLengths *lengths, int keys);
Tensor *toy_normal(Tape *tape, int rows, int columns, uint64_t key); /* normal random numbers */
/* Copies scores or weights of one head to rows of `keys` numbers, with `beyond` from the length on. */
void toy_copy_spans(const real *from, const Spans *spans, int keys, real beyond, real *to);

#endif
