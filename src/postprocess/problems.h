/* problems.h - translations that are probably wrong: counted, and reported once.
 *
 *   empty         the source has text, the translation none
 *   repetition    a phrase follows itself more than PROBLEM_REPEATS times, and more often than in the source
 *   length_limit  the translation has no end: it reached the maximal length
 */
#ifndef POSTPROCESS_PROBLEMS_H
#define POSTPROCESS_PROBLEMS_H

#include "postprocess/translation.h"

enum { PROBLEM_FIRST_LINES = 5 };

typedef struct {
    long count[PROBLEM_KINDS], lines[PROBLEM_KINDS][PROBLEM_FIRST_LINES];
} Problems;

const char *problem_name(int kind); /* as above, for JSON */
/* Counts those of the best item. */
void problems_add(Problems *problems, const Translation *translation, long line);
/* Warns if there are any. */
void problems_report(const Problems *problems);

#endif
