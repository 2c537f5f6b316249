/* pair_troubles.c - see pair_troubles.h. */
#include "text/pair_troubles.h"

static const struct {
    const char *before, *one, *many; /* "dropped" 2 "pairs with an empty side" */
} WORDING[TROUBLE_KINDS] = {
    [EMPTY_SIDE] = {"dropped", "pair with an empty side", "pairs with an empty side"},
    [NO_TAB] = {"dropped", "line without a TAB between the languages",
                "lines without a TAB between the languages"},
    [TOO_BIG] = {"dropped", "over-long pair (more than 1 MiB a side)",
                 "over-long pairs (more than 1 MiB a side)"},
    [BAD_UTF8] = {"repaired", "pair with invalid UTF-8", "pairs with invalid UTF-8"},
    [NUL_BYTES] = {"repaired", "pair with NUL bytes", "pairs with NUL bytes"},
    [INNER_RETURN] = {"found carriage returns, the line ends of old Macs, inside of", "pair", "pairs"},
    [HEADER] = {"left out", "header line", "header lines"},
    [OTHER_HEADER] = {"kept as a pair:", "first line that names other languages",
                      "first lines that name other languages"},
    [IDS] = {"found a number for the source, and more columns than are read, in", "file", "files"},
    [QUOTED] = {"found the quotes of a spreadsheet, as in \"say \"\"hi\"\"\", in", "pair", "pairs"},
    [CARRIAGE_RETURN] = {"removed the carriage return from", "line", "lines"},
    [BYTE_ORDER_MARK] = {"removed the byte-order mark from", "file", "files"},
    [NO_LINES] = {"found", "empty file", "empty files"},
};

void pair_troubles_note(PairTroubles *troubles, TroubleKind kind, long count, size_t entry, long line) {
    struct Trouble *trouble = &troubles->of[kind];
    trouble->count += count;
    if (trouble->places == TROUBLE_PLACES) return;
    trouble->entry[trouble->places] = entry;
    trouble->line[trouble->places++] = line;
}

/* "train.tsv: lines 7, 19; more.tsv: line 3, ..." */
static void report_places(const StrList *entries, const struct Trouble *trouble, bool all, StrBuf *out) {
    for (int i = 0; i < trouble->places; i++) {
        bool same = i > 0 && trouble->entry[i] == trouble->entry[i - 1];
        bool more = i + 1 < trouble->places && trouble->entry[i + 1] == trouble->entry[i];
        if (!same) strbuf_format(out, "%s%s", i > 0 ? "; " : "", entries->items[trouble->entry[i]]);
        if (trouble->line[i] == 0) continue;
        strbuf_format(out, "%s%ld", same ? ", " : more ? ": lines " : ": line ", trouble->line[i]);
    }
    if (!all) strbuf_add(out, SV(", ..."));
}

/* So many ill-formed lines are text in another encoding, which a model would learn with U+FFFD in it. */
static bool is_other_encoding(const PairTroubles *troubles, long pairs) {
    enum { FEW = 10, PERCENT = 10 };
    long bad = troubles->of[BAD_UTF8].count;
    return bad >= FEW && bad * 100 > pairs * PERCENT;
}

#define ENCODING_ADVICE                                                                                      \
    "convert the file, if it is in Latin-1 with: iconv -f ISO-8859-1 -t UTF-8 FILE > NEW; iconv -l lists "   \
    "other encodings"

#define QUOTES_ADVICE                                                                                        \
    "a model learns these quotes; without: awk 'BEGIN {FS = OFS = \"\\t\"} {for (i = 1; i <= NF; i++) if "   \
    "($i ~ /^\".*\"$/) {$i = substr($i, 2, length($i) - 2); gsub(/\"\"/, \"\\\"\", $i)} print}' FILE > NEW"

void pair_troubles_report(const PairTroubles *troubles, const StrList *entries, long pairs, StrBuf *out) {
    for (int kind = 0; kind < TROUBLE_KINDS; kind++) {
        const struct Trouble *trouble = &troubles->of[kind];
        if (trouble->count == 0) continue;
        char number[32];
        strbuf_format(out, "%s %s %s (", WORDING[kind].before, str_count(trouble->count, number),
                      trouble->count == 1 ? WORDING[kind].one : WORDING[kind].many);
        report_places(entries, trouble, kind >= CARRIAGE_RETURN || trouble->count == trouble->places, out);
        strbuf_add(out, SV(")\n"));
    }
    if (troubles->of[QUOTED].count > 0) strbuf_add(out, SV(QUOTES_ADVICE "\n"));
    if (is_other_encoding(troubles, pairs))
        strbuf_add(out, SV("so many are in another encoding: " ENCODING_ADVICE "\n"));
}

Status pair_troubles_check_encoding(const PairTroubles *troubles, const StrList *entries, long pairs) {
    const struct Trouble *bad = &troubles->of[BAD_UTF8];
    if (!is_other_encoding(troubles, pairs)) return STATUS_OK;
    status_fail(STATUS_DATA, "%ld of %ld pairs are not UTF-8, the first in line %ld of '%s'", bad->count,
                pairs, bad->line[0], entries->items[bad->entry[0]]);
    return status_hint(STATUS_DATA, ENCODING_ADVICE);
}
