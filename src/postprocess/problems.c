/* problems.c - see problems.h. */
#include "postprocess/problems.h"

#include "base/log.h"

static const struct {
    const char *name, *one, *several;
} KINDS[PROBLEM_KINDS] = {
    [PROBLEM_EMPTY] = {"empty", "is empty", "are empty"},
    [PROBLEM_REPETITION] = {"repetition", "repeats a phrase", "repeat a phrase"},
    [PROBLEM_LENGTH] = {"length_limit", "ends at the length limit", "end at the length limit"}};

const char *problem_name(int kind) { return KINDS[kind].name; }

void problems_add(Problems *problems, const Translation *translation, long line) {
    for (int kind = 0; kind < PROBLEM_KINDS; kind++) {
        if (!translation->items[0].problems[kind]) continue;
        long at = problems->count[kind]++;
        if (at < PROBLEM_FIRST_LINES) problems->lines[kind][at] = line;
    }
}

void problems_report(const Problems *problems) {
    for (int kind = 0; kind < PROBLEM_KINDS; kind++) {
        long count = problems->count[kind];
        char number[32];
        StrBuf lines = {0};
        for (long i = 0; i < count && i < PROBLEM_FIRST_LINES; i++)
            strbuf_format(&lines, "%s%ld", i ? ", " : "", problems->lines[kind][i]);
        if (count > 0)
            log_warn("%s translation%s %s (line%s %s%s)", str_count(count, number), count == 1 ? "" : "s",
                     count == 1 ? KINDS[kind].one : KINDS[kind].several, count == 1 ? "" : "s",
                     strbuf_text(&lines), count > PROBLEM_FIRST_LINES ? ", ..." : "");
        strbuf_free(&lines);
    }
}
