/* pair_issues.h - problems in files of sentence pairs, counted, with the first lines that have them. */
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
    PAIR_ISSUE_HEADER,
    PAIR_ISSUE_OTHER_HEADER,
    PAIR_ISSUE_IDS,
    PAIR_ISSUE_QUOTED,
    PAIR_ISSUE_CARRIAGE_RETURN, /* this and the following kinds concern files, not lines */
    PAIR_ISSUE_BYTE_ORDER_MARK,
    PAIR_ISSUE_NO_LINES,
    PAIR_ISSUE_UNTRANSLATED,
    PAIR_ISSUE_FUZZY,
    PAIR_ISSUE_KINDS
} PairIssueKind;

enum { PAIR_ISSUE_LINES = 5 };

typedef struct {
    size_t entry; /* index into the list of files */
    long line;    /* from 1; 0: the whole file */
} PairLocation;

/* Zeroed, it has no issues. There is nothing to free. */
typedef struct {
    struct PairIssue {
        long count;
        int location_count;
        PairLocation locations[PAIR_ISSUE_LINES]; /* the first ones */
    } of[PAIR_ISSUE_KINDS];
} PairIssues;

/* Adds `count` issues of a kind, which are at one place. */
void pair_issues_add(PairIssues *issues, PairIssueKind kind, long count, PairLocation location);
/* "empty_side", "no_tab", "too_big": why a line was dropped. */
const char *pair_issue_name(PairIssueKind kind);
/* "train.tsv: lines 7, 19; more.tsv: line 3", appended. */
void pair_locations_format(const PairLocation *locations, int count, const StrList *entries, StrBuf *out);
/* One line per kind: "dropped 2 pairs with an empty side (train.tsv: lines 7, 19)". `pairs`: usable pairs. */
void pair_issues_report(const PairIssues *issues, const StrList *entries, long pairs, StrBuf *out);
/* STATUS_DATA if the files are in another encoding: more than a tenth of the pairs, and at least 10, are not
 * UTF-8. */
Status pair_issues_check_encoding(const PairIssues *issues, const StrList *entries, long pairs);

#endif
