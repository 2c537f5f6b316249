/* pair_issues.c - see pair_issues.h. */
#include "data/pair_issues.h"

static const struct {
    const char *before, *one, *many; /* "dropped" 2 "pairs with an empty side" */
} WORDING[PAIR_ISSUE_KINDS] = {
    [PAIR_ISSUE_EMPTY_SIDE] = {"dropped", "pair with an empty side", "pairs with an empty side"},
    [PAIR_ISSUE_NO_TAB] = {"dropped", "line without a TAB between the languages",
                           "lines without a TAB between the languages"},
    [PAIR_ISSUE_TOO_BIG] = {"dropped", "over-long pair (more than 1 MiB a side)",
                            "over-long pairs (more than 1 MiB a side)"},
    [PAIR_ISSUE_BAD_UTF8] = {"repaired", "pair with invalid UTF-8", "pairs with invalid UTF-8"},
    [PAIR_ISSUE_NUL_BYTES] = {"repaired", "pair with NUL bytes", "pairs with NUL bytes"},
    [PAIR_ISSUE_INNER_RETURN] = {"found carriage returns, the line ends of old Macs, inside of", "pair",
                                 "pairs"},
    [PAIR_ISSUE_HEADER] = {"left out", "header line", "header lines"},
    [PAIR_ISSUE_OTHER_HEADER] = {"kept as a pair:", "first line that names other languages",
                                 "first lines that name other languages"},
    [PAIR_ISSUE_IDS] = {"found a number for the source, and more columns than are read, in", "file", "files"},
    [PAIR_ISSUE_QUOTED] = {"found the quotes of a spreadsheet, as in \"say \"\"hi\"\"\", in", "pair",
                           "pairs"},
    [PAIR_ISSUE_CARRIAGE_RETURN] = {"removed the carriage return from", "line", "lines"},
    [PAIR_ISSUE_BYTE_ORDER_MARK] = {"removed the byte-order mark from", "file", "files"},
    [PAIR_ISSUE_NO_LINES] = {"found", "empty file", "empty files"},
    [PAIR_ISSUE_UNTRANSLATED] = {"left out", "unit without a text in both languages",
                                 "units without a text in both languages"},
    [PAIR_ISSUE_FUZZY] = {"left out", "fuzzy or obsolete unit", "fuzzy or obsolete units"},
};

const char *pair_issue_name(PairIssueKind kind) {
    return kind == PAIR_ISSUE_EMPTY_SIDE ? "empty_side" : kind == PAIR_ISSUE_NO_TAB ? "no_tab" : "too_big";
}

void pair_issues_add(PairIssues *issues, PairIssueKind kind, long count, PairLocation location) {
    struct PairIssue *issue = &issues->of[kind];
    issue->count += count;
    if (issue->location_count < PAIR_ISSUE_LINES) issue->locations[issue->location_count++] = location;
}

void pair_locations_format(const PairLocation *locations, int count, const StrList *entries, StrBuf *out) {
    for (int i = 0; i < count; i++) {
        bool same = i > 0 && locations[i].entry == locations[i - 1].entry;
        bool more = i + 1 < count && locations[i + 1].entry == locations[i].entry;
        if (!same) strbuf_format(out, "%s%s", i > 0 ? "; " : "", entries->items[locations[i].entry]);
        if (locations[i].line == 0) continue;
        strbuf_format(out, "%s%ld", same ? ", " : more ? ": lines " : ": line ", locations[i].line);
    }
}

/* A model would learn text in another encoding with U+FFFD in place of its letters. */
static bool is_other_encoding(const PairIssues *issues, long pairs) {
    enum { FEW = 10, PERCENT = 10 };
    long bad = issues->of[PAIR_ISSUE_BAD_UTF8].count;
    return bad >= FEW && bad * 100 > pairs * PERCENT;
}

#define ENCODING_ADVICE                                                                                      \
    "convert the file, if it is in Latin-1 with: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW; iconv -l lists "   \
    "other encodings"

#define QUOTES_ADVICE                                                                                        \
    "a model learns these quotes; to remove them: awk 'BEGIN {FS = OFS = \"\\t\"} {for (i = 1; i <= NF; "    \
    "i++) if "                                                                                               \
    "($i ~ /^\".*\"$/) {$i = substr($i, 2, length($i) - 2); gsub(/\"\"/, \"\\\"\", $i)} print}' FILE > NEW"

void pair_issues_report(const PairIssues *issues, const StrList *entries, long pairs, StrBuf *out) {
    for (int kind = 0; kind < PAIR_ISSUE_KINDS; kind++) {
        const struct PairIssue *issue = &issues->of[kind];
        if (issue->count == 0) continue;
        char number[32];
        strbuf_format(out, "%s %s %s (", WORDING[kind].before, str_count(issue->count, number),
                      issue->count == 1 ? WORDING[kind].one : WORDING[kind].many);
        pair_locations_format(issue->locations, issue->location_count, entries, out);
        bool all = kind >= PAIR_ISSUE_CARRIAGE_RETURN || issue->count == issue->location_count;
        strbuf_add(out, all ? SV(")\n") : SV(", ...)\n"));
    }
    if (issues->of[PAIR_ISSUE_QUOTED].count > 0) strbuf_add(out, SV(QUOTES_ADVICE "\n"));
    if (is_other_encoding(issues, pairs))
        strbuf_add(out, SV("the file is in another encoding: " ENCODING_ADVICE "\n"));
}

Status pair_issues_check_encoding(const PairIssues *issues, const StrList *entries, long pairs) {
    const struct PairIssue *bad = &issues->of[PAIR_ISSUE_BAD_UTF8];
    if (!is_other_encoding(issues, pairs)) return STATUS_OK;
    status_fail(STATUS_DATA, "%ld of %ld pairs are not UTF-8, the first in line %ld of '%s'", bad->count,
                pairs, bad->locations[0].line, entries->items[bad->locations[0].entry]);
    return status_hint(STATUS_DATA, ENCODING_ADVICE);
}
