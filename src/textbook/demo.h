/* demo.h - the demonstrations of attn-mt demo, and their common output.
 *
 * textbook/ has computations that show chapters of Dive into Deep Learning (sections 11.2, 11.3, 11.5 and
 * 11.6) with the layers of the models. They are small enough to follow by hand and need no model file. A
 * demonstration is one file, which begins with its sections and equations, and one Demo. The command line is
 * cli/cmd_demo.c, which nothing here uses. No training or translation code uses this folder.
 *
 * A demonstration prints text and writes files. All files are created before the work starts and put in place
 * together at its end.
 */
#ifndef TEXTBOOK_DEMO_H
#define TEXTBOOK_DEMO_H

#include "io/fileio.h"
#include "io/options.h"
#include "kern/tensor.h"

typedef struct {
    const char *name;
    const Option *options;
    size_t size; /* of the struct that `options` fill */
    Status (*run)(const void *options);
} Demo;

extern const Demo DEMO_POOLING, DEMO_POSITIONS, DEMO_ATTENTION, DEMO_SOFTMAX, DEMO_MULTIHEAD;

/* ---- the number of valid keys of each query ---- */

enum { LENGTHS_MOST_ROWS = 32 };

/* "2,6": one length for each example of a batch, for all of its queries. "1,3;2,4": one length for each
 * query, with semicolons between examples. */
typedef struct {
    int batch, queries;
    int row[LENGTHS_MOST_ROWS]; /* [batch, queries] */
} DemoLengths;

/* `queries` is the number of queries of an example if the text has one length for each example. STATUS_USAGE:
 * not such a text. */
Status demo_lengths_parse(const char *text, int queries, int keys, DemoLengths *lengths);
int demo_lengths_rows(const DemoLengths *lengths);                /* batch * queries */
void demo_write_lengths(const DemoLengths *lengths, StrBuf *out); /* "2, 3 and 4" */

/* ---- output ---- */

enum { DEMO_MOST_FILES = 7 };

typedef struct {
    StrBuf text;                     /* for standard output */
    StrBuf content[DEMO_MOST_FILES]; /* in the order of the suffixes */
    StrBuf path[DEMO_MOST_FILES];
    OutFile *file[DEMO_MOST_FILES];
    int files;
} DemoOutput;

/* Creates the files; none if `prefix` is NULL. `suffixes` ends with NULL. Call demo_finish even if this
 * fails. */
Status demo_begin(DemoOutput *out, const char *prefix, const char *const *suffixes);
/* If `status` is STATUS_OK, prints the text and puts the files in place, with a message for each unless
 * `quiet`. Frees `out`. Returns `status` or its own error. */
Status demo_finish(DemoOutput *out, Status status, bool quiet);

/* A title such as "weights (2, 1, 10)", and a line for each row: "query 1" and its numbers. */
typedef struct {
    const char *title;
    /* "query": labels are query 1, query 2, ...; with several rows in an example query 1.1, query 1.2, ... */
    const char *row;
    int batch, rows, columns; /* batch 0: a single matrix */
    const real *numbers;      /* [batch, rows, columns] */
    const int *used;          /* [batch, rows] number of valid columns, the others print 0; NULL: all */
} DemoRows;
void demo_write_rows(const DemoRows *rows, StrBuf *out);

/* Writes weights as CSV, PGM (`cell` pixels per weight) and SVG: the first three files. Columns are keys. */
void demo_draw_weights(const DemoRows *weights, const char *title, int cell, DemoOutput *out);

#endif
