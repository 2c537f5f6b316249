/* pair_issues.h - what is wrong with files of sentence pairs: how often, and in which lines. */
#ifndef DATA_PAIR_ISSUES_H
#define DATA_PAIR_ISSUES_H

#include <stddef.h>
#include "base/status.h"
#include "base/strview.h"

typedef enum {
    PAIR_ISSUE_EMPTY_SIDE,
    PAIR_ISSUE_NO_TAB,
    PAIR_ISSUE_TOO_BIG,
    PAIR_ISSUE_BAD_UTF8,
    PAIR_ISSUE_NUL_BYTES,
    PAIR_ISSUE_INNER_RETURN,
    HEADER,
    PAIR_ISSUE_OTHER_HEADER,
    IDS,
    QUOTED,
    PAIR_ISSUE_CARRIAGE_RETURN, /* from here on of files, not of lines */
    PAIR_ISSUE_BYTE_ORDER_MARK,
    PAIR_ISSUE_NO_LINES,
    PAIR_ISSUE_KINDS
} PairIssueKind;

enum { PAIR_ISSUE_LINES = 5 };

/* A zeroed one is empty; nothing to free. */
typedef struct {
    struct PairIssue {
        long count;
        int places; /* the first ones */
        size_t entry[PAIR_ISSUE_LINES];
        long line[PAIR_ISSUE_LINES]; /* 0: the file as a whole */
    } of[PAIR_ISSUE_KINDS];
} PairIssues;

/* `count` more of a kind, in this line (0: none) of this entry of the list of files. */
void pair_issues_add(PairIssues *issues, PairIssueKind kind, long count, size_t entry, long line);
/* One line per kind: "dropped 2 pairs with an empty side (train.tsv: lines 7, 19)". `pairs`: so many were
 * usable. */
void pair_issues_report(const PairIssues *issues, const StrList *entries, long pairs, StrBuf *out);
/* STATUS_DATA if so many pairs are no UTF-8 that the files are in another encoding. */
Status pair_issues_check_encoding(const PairIssues *issues, const StrList *entries, long pairs);

#endif
