/* input.h - references and hypotheses as lines, read the way sacreBLEU reads them.
 *
 * Only '\n' ends a line; white space at the end of a line goes, by Python's idea of white space; a byte-order
 * mark stays.
 * STATUS_DATA for a text beyond the limits of base/fileio.h.
 * Ill-formed UTF-8, where sacreBLEU gives up, becomes U+FFFD with a warning; UTF-16 and packed files are
 * STATUS_DATA.
 *
 * Owner   lines point into the texts that the LineSet keeps
 */
#ifndef BLEU_INPUT_H
#define BLEU_INPUT_H

#include "base/options.h"
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
    bool nothing; /* standard input was empty */
} LineSet;

/* One list per file; or, if `columns` > 1, one list per tab-separated column of the only file. */
Status input_references(LineSet *set, const StrList *paths, int columns);
/* One list per file, named after it. With `paired` the first is the baseline and may be named again. */
Status input_files(LineSet *set, const StrList *paths, bool paired);
/* One list per tab-separated column of standard input. */
Status input_stdin(LineSet *set, bool paired);
/* One list: the lines of a text, which the set takes over. */
void input_text(LineSet *set, const char *name, StrBuf *text);

/* Every list has as many lines as every other. */
Status input_check(const LineSet *hypotheses, const LineSet *references);
void input_free(LineSet *set);

#endif
