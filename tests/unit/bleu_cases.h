/* bleu_cases.h - tests/golden/bleu/cases.json for the tests of src/bleu: outputs of sacreBLEU. */
#ifndef UNIT_BLEU_CASES_H
#define UNIT_BLEU_CASES_H

#include "io/json.h"
#include "base/strview.h"
#include "bleu/metric.h"

/* The list of cases of one kind. Fails the test if there are fewer than `least`. Owner: bleu_cases_free,
 * which cmocka takes as the end of a group of tests. */
const Json *bleu_cases(const char *kind, size_t least);
int bleu_cases_free(void **state);

StrView case_text(const Json *object, const char *key);
double case_number(const Json *object, const char *key);
bool case_flag(const Json *object, const char *key);
/* The texts or numbers of a list; fails the test if there are more than `most`. Returns their number. */
size_t case_texts(const Json *object, const char *key, StrView *texts, size_t most);
size_t case_numbers(const Json *object, const char *key, double *numbers, size_t most);

/* Index of `text` in "a|b|c"; fails the test if it is not there. */
int case_choice(StrView text, const char *choices);

/* Statistics of one segment. */
void case_count(ConfiguredMetric metric, StrView hypothesis, const StrView *references, size_t count,
                double *row);
/* Does a case's "hypothesis" with its "references" give its "row" and its "score"? Fails the test, with the
 * number of the case, if not. */
void case_segment_agrees(ConfiguredMetric metric, const Json *c, int number);
/* Do the segments of cases of one kind give the same rows counted together and one by one? */
void case_counts_alike(ConfiguredMetric metric, const char *kind, size_t least);

/* Do two numbers agree to a relative error of 1e-9? False if one of them is NaN. */
bool case_agrees(double expected, double actual);

/* Lines of a file of tests/golden/bleu/corpus, without white space at their ends; an array for mem_free. */
StrView *case_lines(const char *name, size_t *count, StrBuf *content);

#endif
