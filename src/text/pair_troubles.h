/* pair_troubles.h - what is wrong with files of sentence pairs: how often, and in which lines. */
#ifndef TEXT_PAIR_TROUBLES_H
#define TEXT_PAIR_TROUBLES_H

#include <stddef.h>
#include "base/status.h"
#include "base/strview.h"

typedef enum {
    EMPTY_SIDE,
    NO_TAB,
    TOO_BIG,
    BAD_UTF8,
    NUL_BYTES,
    INNER_RETURN,
    HEADER,
    OTHER_HEADER,
    IDS,
    QUOTED,
    CARRIAGE_RETURN, /* from here on of files, not of lines */
    BYTE_ORDER_MARK,
    NO_LINES,
    TROUBLE_KINDS
} TroubleKind;

enum { TROUBLE_PLACES = 5 };

/* A zeroed one is empty; nothing to free. */
typedef struct {
    struct Trouble {
        long count;
        int places; /* the first ones */
        size_t entry[TROUBLE_PLACES];
        long line[TROUBLE_PLACES]; /* 0: the file as a whole */
    } of[TROUBLE_KINDS];
} PairTroubles;

/* `count` more of a kind, in this line (0: none) of this entry of the list of files. */
void pair_troubles_note(PairTroubles *troubles, TroubleKind kind, long count, size_t entry, long line);
/* One line per kind: "dropped 2 pairs with an empty side (train.tsv: lines 7, 19)". `pairs`: so many were
 * usable. */
void pair_troubles_report(const PairTroubles *troubles, const StrList *entries, long pairs, StrBuf *out);
/* STATUS_DATA if so many pairs are no UTF-8 that the files are in another encoding. */
Status pair_troubles_check_encoding(const PairTroubles *troubles, const StrList *entries, long pairs);

#endif
