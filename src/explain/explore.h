/* explore.h - what the explorer page (viz/explorer_page.h) shows of sentences and their translations.
 *
 * One JSON object, small enough that twenty sentences fit into a page, which compresses it:
 *
 *   strings                 every token, word and text, once; elsewhere their numbers in this list
 *   models [{name, score, layers, heads}]
 *   languages               codes of the source's and of the target's; "" where they are not known
 *   layer, head, level      what is shown at first: from 1, 0 for the mean of all; "words" or "subwords"
 *   sentences [{text, runs: [...]}]    a run is one model's look at one translation:
 *     model, kind           kind "own": it found it; "given"; "same": the first model found it
 *     text, confidence
 *     source, target        tokens with </s>; sourceWords, targetWords: words with </s>;
 *     sourceWord, targetWord   the word of each token
 *     log, entropy          of each step, in thousandths: log p, natural; bits of all probabilities
 *     best                  of each step, the ten best tokens: token, p in ten-thousandths, token, p, ...
 *     otherwise             of each step, [token, text, log p]: the best other token, the translation with
 *                           it in its place, found greedily from there
 *     cross                 of each layer and head, weights [T, S]
 *     encoderSelf {heads, begins, maps}   self-attention where there is some: the same [S, S]; decoderSelf:
 *                           [T, T] of <s> and all tokens but </s>; of a recurrent decoder [T, T - 1], without
 *                           <s>, and "begins" is false
 *     formula [{map, score, size, b, q, k, v, values, scores, context}]   of some heads: the map they belong
 *                           to (from 0, as in cross), components in all, the first of them of W q, U k and
 *                           so on as the score's formula has them, and all scores
 *     beam {chosen, nodes: [step back to the parent, token, log p in hundredths, ...]}
 *                           the last node of the translation, -1 where the decoder of the other direction
 *                           found it; what the search kept and, with the step negative, the best candidates
 *                           that it did not
 *     beamWeights           weights [S] of each parent, the root too, in order of appearance
 *
 * Weights  whole numbers, in thousandths, row after row in one list. Other matrices are lists of rows.
 * Escapes  no "<", ">" or "&" is in the text: it can stand in a script element
 */
#ifndef EXPLAIN_EXPLORE_H
#define EXPLAIN_EXPLORE_H

#include "search/backpointers.h"
#include "explain/trace.h"
#include "translate/translation.h"

typedef struct Explore Explore;

enum { EXPLORE_MODELS = 4 }; /* at most */

typedef enum { EXPLORE_OWN, EXPLORE_GIVEN, EXPLORE_SAME } ExploreKind;

typedef struct {
    int model; /* number, as added */
    ExploreKind kind;
    const Translation *translation; /* of at least one piece */
    double confidence;
    const DecodeOptions *decode; /* how it is searched for other translations, greedily */
    const Backpointers *tree;    /* what the search kept, with attention; empty or NULL: no beam to show */
    int formula, formulas;       /* map whose formula is shown at first, and of how many there is one */
} ExploreRun;

Explore *explore_new(void);
void explore_free(Explore *explore);
/* One of at most EXPLORE_MODELS. The model must outlive the Explore; `name` is copied. */
void explore_add_model(Explore *explore, const Seq2Seq *model, StrView name);
/* Of all models; the names are copied. */
void explore_set_languages(Explore *explore, StrView source, StrView target);
void explore_add_sentence(Explore *explore, StrView text);
/* To the last sentence. */
void explore_add_run(Explore *explore, const ExploreRun *run);
/* `layer` and `head` to begin with, from 1, or 0 for the mean of all. */
void explore_write(const Explore *explore, int layer, int head, bool words, StrBuf *out);

#endif
