/* scorer.h - probabilities of the next token, from one model or from an ensemble: a step of the decoders.
 *
 * The search sees the models only through a Scorer, as in Marian (translator/scorers.h). `attn-mt score`
 * (cli/cmd_score.c) is something else: it scores given translations, and uses a Scorer for that, too.
 *
 * An ensemble's probability is the mean of its models' probabilities (as in Sutskever et al. 2014, section
 * 3.6). Its models may cut the source text into different tokens, but they share one target vocabulary.
 * Attention is the first model's.
 *
 *     scorer_begin(scorer, options, sources, B, NULL, NULL);
 *     ScorerStep step = scorer_step(scorer, options, row_sentence, tokens, NULL, rows);
 *     scorer_select(scorer, index, rows);
 *
 * There is a step for each target token; scorer_select follows if rows move or end.
 *
 * Shapes  rows are hypotheses, each of one sentence; after scorer_begin row b is sentence b
 * Owner   the result of scorer_step is valid until the next call of scorer_step or scorer_begin
 * Threads one scorer per thread; the models are read-only and shared
 */
#ifndef SEARCH_SCORER_H
#define SEARCH_SCORER_H

#include "base/status.h"
#include "models/seq2seq.h"
#include "search/constraints.h"
#include "search/hypothesis.h"

typedef struct Backpointers Backpointers; /* search/backpointers.h */

/* The decoding options of the configuration, and the results that the caller needs. */
typedef struct {
    DecodeOptions decode;
    int n_best;             /* hypotheses returned per sentence, at most decode.beam_size */
    int shortlist;          /* tokens taken from the list of each source token; 0: all tokens */
    int alternatives;       /* best next tokens returned for each step of given translations; 0: none */
    bool tokens_only;       /* greedy search computes no scores: they are 0 */
    bool keep_loops;        /* hypotheses may repeat themselves (repetition.h) */
    bool attention;         /* return attention weights ... */
    AttentionChoice choice; /* ... of these heads */
    Backpointers *tree;     /* NULL, or an empty tree, which receives all nodes of the search of one sentence,
                               and the best SEARCH_PRUNED candidates that each step of a beam pruned */
} SearchOptions;

enum { SEARCH_PRUNED = 3 };

/* Given translations of B sentences: one of each, or as many as `sentence` says. */
typedef struct {
    const Tokens *items;
    int count;
    const int *sentence; /* [count] the sentence of each, in ascending order; NULL: item i is of sentence i */
} ForcedTargets;

int forced_sentence(const ForcedTargets *targets, int i); /* the sentence of item i */

typedef struct {
    int rows, top;
    const ScoredToken *tokens;  /* [rows, top] best first; equal ones by id, <unk> and </s> before words */
    const int *count;           /* [rows] tokens; less than asked for only if other scores are not numbers */
    AttentionWeights attention; /* if options->attention */
} ScorerStep;

typedef struct Scorer Scorer;

/* STATUS_USAGE if the target vocabularies of the models differ. */
Status scorer_check(const Seq2Seq *const *models, int count);
/* `right_to_left`: the models write in this direction. */
Scorer *scorer_new(const Seq2Seq *const *models, int count, bool right_to_left);
void scorer_free(Scorer *scorer);
/* Encodes sources [models, B]: the same sentences as tokens of each model. With options->shortlist each
 * sentence gets the target tokens that the models' shortlists have for it; translations contain no others,
 * and the probabilities of these tokens sum to 1. Tokens of `targets` and of `constraints` [B], which may be
 * NULL, are added. */
void scorer_begin(Scorer *scorer, const SearchOptions *options, const Tokens *sources, int B,
                  const ForcedTargets *targets, const Constraints *constraints);
/* tokens[r]: the last token of row r, VOCAB_BOS at first. `choices` [rows]; NULL: the best beam_size tokens
 * of each row, and those pruned ones that a tree receives. */
ScorerStep scorer_step(Scorer *scorer, const SearchOptions *options, const int *row_sentence,
                       const int *tokens, const RowChoice *choices, int rows);
/* Bans </s> as the first token, if the search is that of CTranslate2 (its min_decoding_length is 1). */
void scorer_ban_empty(const DecodeOptions *options, RowChoice *choice);
/* Row i of the state becomes row index[i] of the state before. */
void scorer_select(Scorer *scorer, const int *index, int rows);
/* The first model with a score that was not finite since scorer_new; -1: none. Hypotheses with such scores
 * are meaningless. */
int scorer_first_nonfinite(const Scorer *scorer);

#endif
