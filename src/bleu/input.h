/* input.h - references and hypotheses as lines, as sacreBLEU reads them.
 *
 * Only '\n' ends a line. White space at the end of a line is removed, as by Python's rstrip. A byte-order
 * mark stays. Ill-formed UTF-8, which stops sacreBLEU, becomes U+FFFD with a warning.
 *
 * Owner   lines point into the texts of the LineSet
 * Fails   STATUS_DATA: UTF-16, a packed file, or a text beyond the limits of io/fileio.h
 */
#ifndef BLEU_INPUT_H
#define BLEU_INPUT_H

#include "io/options.h"
#include "base/status.h"
#include "base/strview.h"

/* One system, or one reference of every segment. */
typedef struct {
    char *name;
    StrView *lines;
    size_t count, capacity;
} LineList;

typedef struct {
    LineList *lists;
    size_t count;
    StrBuf *texts;
    size_t text_count;
    bool empty_stdin;
} LineSet;

/* One list per file; or, if `columns` > 1, one list per tab-separated column of the single file. */
Status input_references(LineSet *set, const StrList *paths, int columns);
/* One list per file, with its name. With `paired` the first file is the baseline, which can be repeated. */
Status input_files(LineSet *set, const StrList *paths, bool paired);
/* One list per tab-separated column of standard input. */
Status input_stdin(LineSet *set, bool paired);
/* One list: the lines of a text. The set becomes the owner of the text. */
void input_text(LineSet *set, const char *name, StrBuf *text);

/* STATUS_DATA unless all lists have the same number of lines. */
Status input_check(const LineSet *hypotheses, const LineSet *references);
void input_free(LineSet *set);

#endif
