/* translator.h - the translation service: lines of raw text in, lines of raw text out.
 *
 * A line is cut into pieces if it is too long; pieces are cut into tokens, searched, and joined again. They
 * are sorted by length and searched in groups on all threads; neither the grouping nor the number of threads
 * changes any result. A line of white space gives an empty line.
 *
 *   Paragraphs  if so asked, lines are cut into sentences (sentences.h), and the white space between and
 *               around them stays what it was, but that single spaces come and go with the script
 *               (translation.h); n-best lists hold the k-th translation of every sentence.
 *   Long lines  over max_input_length tokens: cut at the end of a sentence if there is one in the last three
 *               quarters of the piece, else at a comma or semicolon, else between words, else anywhere; the
 *               translations are joined likewise. Or cropped, if so asked. Both with a warning that names
 *               the line.
 *   Threads     one call at a time
 */
#ifndef TRANSLATE_TRANSLATOR_H
#define TRANSLATE_TRANSLATOR_H

#include "base/workers.h"
#include "translate/glossary.h"
#include "translate/translation.h"

typedef struct {
    SearchOptions search;
    bool crop;                /* crop long lines instead of splitting them */
    bool split;               /* lines are paragraphs */
    bool wrapped;             /* a line end in a paragraph is a blank, as in HTML */
    bool quiet;               /* no warnings about long lines */
    const Glossary *glossary; /* for every sentence or piece of a line by itself; or NULL */
    /* Told after each group which share of its source tokens is done, by one thread at a
     * time; or NULL. */
    void (*progress)(void *context, double share);
    void *progress_context;
} TranslatorOptions;

typedef struct Translator Translator;

/* STATUS_USAGE if the models cannot work together, or attention is wanted that the first one does not have.
 * `models` (one or more) and `workers` must outlive the translator. */
Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers);
void translator_free(Translator *translator);
/* Translate `count` lines; `first_number` is the number of the first one, for warnings. */
void translator_run(Translator *translator, const StrView *lines, int count, long first_number,
                    Translation *out);
/* What the translation of a line must be like; see constraints.h. If a line is cut into sentences or chunks,
 * the first one gets the prefix and the constraints. */
typedef struct {
    StrView prefix;
    const StrView *phrases; /* words that it must contain */
    int phrase_count;
} LineConstraints;

/* The narrowest beam of lines with constraints. */
enum { CONSTRAINTS_BEAM = 5 };

/* The same for translations as `guides` [count], which may be NULL, ask for. Which constraints are met, those
 * of the glossary too, is in the Translation; those that are not, in every sentence that asks for them, cause
 * a warning. A blank line meets none. */
void translator_run_constrained(Translator *translator, const StrView *lines,
                                const LineConstraints *constraints, int count, long first_number,
                                Translation *out);
/* Score given translations instead: one item each. Long lines are taken whole. */
void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out);
/* The first model some of whose scores were not finite so far, so that the translations mean nothing; -1:
 * there is none. */
int translator_first_nonfinite(const Translator *translator);
/* STATUS_DATA, with its path among those of the models, if there is one. */
Status translator_check_finite(const Translator *translator, const StrList *paths);
/* Target tokens made so far. */
long translator_tokens(const Translator *translator);

/* Greedy translation of tokens, for validation in training: results [count], one hypothesis each, with
 * scores; release each with hypotheses_free. `progress` is told the share as in TranslatorOptions. */
void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, void (*progress)(void *context, double share), void *context,
                       HypothesisList *results);

#endif
