/* demo.h - what the small computations of attn-mt demo have in common: each is a row of a table, prints text
 * and writes files that are all there before the work starts and are put in place together.
 *
 * Dive into Deep Learning, sections 11.2, 11.3, 11.5 and 11.6
 */
#ifndef TEXTBOOK_DEMO_H
#define TEXTBOOK_DEMO_H

#include "base/fileio.h"
#include "base/options.h"
#include "kern/tensor.h"

typedef struct {
    const char *name;
    const Option *options;
    size_t size; /* of the struct that they fill */
    Status (*run)(const void *options);
} Demo;

extern const Demo DEMO_POOLING, DEMO_POSITIONS, DEMO_ATTENTION, DEMO_SOFTMAX, DEMO_MULTIHEAD;

/* ---- how many keys each query may look at ---- */

enum { LENGTHS_MOST_ROWS = 32 };

/* "2,6": a length for each example of a batch, the same for all its queries; "1,3;2,4": one for each query,
 * examples between semicolons. */
typedef struct {
    int batch, queries;
    int row[LENGTHS_MOST_ROWS]; /* [batch, queries] */
} DemoLengths;

/* `queries`: of each example, if the text gives one length for all of them. STATUS_USAGE. */
Status demo_lengths_parse(const char *text, int queries, int keys, DemoLengths *lengths);
int demo_lengths_rows(const DemoLengths *lengths);                /* batch * queries */
void demo_write_lengths(const DemoLengths *lengths, StrBuf *out); /* "2, 3 and 4" */

/* ---- what it gives out ---- */

enum { DEMO_MOST_FILES = 7 };

typedef struct {
    StrBuf text;                     /* for standard output */
    StrBuf content[DEMO_MOST_FILES]; /* in the order of the suffixes */
    StrBuf path[DEMO_MOST_FILES];
    OutFile *file[DEMO_MOST_FILES];
    int files;
} DemoOutput;

/* Create the files. `suffixes` ends with NULL. demo_finish must follow in any case. */
Status demo_begin(DemoOutput *out, const char *prefix, const char *const *suffixes);
/* If all went well, print the text, then put the files in place and, unless `quiet`, say so. */
Status demo_finish(DemoOutput *out, Status status, bool quiet);

/* "weights (2, 1, 10)" and below it a line for each row: "query 1" and its numbers. */
typedef struct {
    const char *title;
    const char *row; /* "query": rows of one for each example are query 1, 2 ..., of more 1.1, 1.2 ... */
    int batch, rows, columns; /* batch 0: one matrix, not of a batch */
    const real *numbers;      /* [batch, rows, columns] */
    const int *used; /* [batch, rows] what is beyond was never computed: a bare 0; NULL: all are used */
} DemoRows;
void demo_write_rows(const DemoRows *rows, StrBuf *out);

/* Weights as CSV, PGM (`cell` pixels each) and SVG, the first three files. A column is a key. */
void demo_draw_weights(const DemoRows *weights, const char *title, int cell, DemoOutput *out);

#endif
