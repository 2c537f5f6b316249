/* copy_cases.h - cases of translations by the model of copy_model.h: words, translations and synonyms of a
 * section are its options, terms are a glossary ("forms yes": of forms, too), "phrase" must occur, prefix
 * begins every translation, "tags yes" protects placeholders and markup. Call kern_select first. */
#ifndef UNIT_COPY_CASES_H
#define UNIT_COPY_CASES_H

#include "unit/cases.h"

#define COPY_CASE_KEYS "words translations synonyms mistake placeholder terms forms phrase prefix tags"

/* A CaseFunction. */
void copy_case_run(const CaseSection *section, StrView input, StrBuf *got);

#endif
