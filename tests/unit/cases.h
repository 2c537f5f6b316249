/* cases.h - runs the lines of tests/cases/FILE.case that are one input and one output each. tests/README.md
 * has the format. */
#ifndef UNIT_CASES_H
#define UNIT_CASES_H

#include "unit/text_fixture.h"

/* The options of the section: a line "key value" each. */
typedef struct {
    StrView title;
    StrView options[7];
    int count;
} CaseSection;

/* The value of an option; empty if the section does not have it. */
StrView case_option(const CaseSection *section, const char *key);

/* Appends what comes out for `input`. */
typedef void (*CaseFunction)(const CaseSection *section, StrView input, StrBuf *got);
/* Runs all cases, prints each that fails with file, line, name, input, expected and actual output, and then
 * fails the test. `keys`: the options that sections may have, with spaces between them. */
void cases_run(const char *path, const char *keys, CaseFunction run);

#endif
