/* explorer_data.h - the JSON in the explorer page (viz/explorer_page.h): sentences with their translations.
 *
 * One JSON object without blanks, which the page compresses:
 *
 *   strings                 every token, word and text once; other members hold indices of this list
 *   models [{name, score, layers, heads}]
 *   languages               [source, target]: language codes, "" if unknown
 *   layer, head, level      the initial choice: layer and head from 1, 0 for the mean of all; "words" or
 *                           "subwords"
 *   sentences [{text, runs: [...]}]    a run is one model's analysis of one translation:
 *     model, kind           kind "own": the model's own search result; "given": the user's translation;
 *                           "same": the first model's translation
 *     text, confidence
 *     source, target        tokens with </s>; sourceWords, targetWords: words with </s>
 *     sourceWord, targetWord   the word of each token
 *     log, entropy          of each step, in thousandths: natural log p of the token; entropy of all
 *                           probabilities in bits
 *     best                  of each step, the ten best tokens: token, p in ten-thousandths, token, p, ...
 *     otherwise             of each step, [token, text, log p]: the runner-up token, and the translation that
 *                           greedy search continues from it; 0 if there is none
 *     cross                 weights [T, S] of each layer and head
 *     encoderSelf {heads, begins, maps}   self-attention of the encoder, if it has some: weights [S, S]
 *     decoderSelf           the same of the decoder: a Transformer has [T, T], with columns from <s> on; a
 *                           recurrent decoder has [T, T - 1] without <s>, and "begins" is false
 *     formula [{map, score, size, b, q, k, v, values, scores, context}]   of some heads:
 *                           "map" is the index in cross, "size" the number of components; q, k, v, values and
 *                           context are the first components, mapped as the score's formula has them
 *     beam {chosen, nodes: [step back to the parent, token, log p in hundredths, ...]}
 *                           "chosen" is the last node of the translation, -1 if the right-to-left decoder
 *                           found it; nodes are hypotheses of the beam and, with a negative step, pruned
 *                           candidates
 *     beamWeights           weights [S] of each parent, including the root, in order of appearance
 *
 * Weights  whole numbers, in thousandths, row after row in one list. Other matrices are lists of rows.
 * Escapes  the text has no "<", ">" or "&": it can stand in a script element
 */
#ifndef EXPLAIN_EXPLORER_DATA_H
#define EXPLAIN_EXPLORER_DATA_H

#include "explain/trace.h"
#include "search/backpointers.h"
#include "postprocess/translation.h"

typedef struct ExplorerData ExplorerData;

enum { EXPLORER_MODELS = 4 }; /* at most */

typedef enum { EXPLORER_OWN, EXPLORER_GIVEN, EXPLORER_SAME } ExplorerRunKind;

typedef struct {
    int model; /* index, in the order of explorer_data_add_model */
    ExplorerRunKind kind;
    const Translation *translation; /* not of an empty line */
    double confidence;
    const DecodeOptions *decode; /* for the greedy search of alternatives */
    const Backpointers *tree;    /* the search tree with attention; empty or NULL: no beam is written */
    int formula, formulas;       /* map of the first formula, and the number of formulas */
} ExplorerRun;

ExplorerData *explorer_data_new(void);
void explorer_data_free(ExplorerData *data);
/* At most EXPLORER_MODELS. The model must outlive `data`; `name` is copied. */
void explorer_data_add_model(ExplorerData *data, const Seq2Seq *model, StrView name);
/* The languages of all models; both names are copied. */
void explorer_data_set_languages(ExplorerData *data, StrView source, StrView target);
void explorer_data_add_sentence(ExplorerData *data, StrView text);
/* Analyzes the translation and adds the run to the last sentence. */
void explorer_data_add_run(ExplorerData *data, const ExplorerRun *run);
/* Appends the object to `out`. The initial `layer` and `head` count from 1; 0 is the mean of all. */
void explorer_data_write(const ExplorerData *data, int layer, int head, bool words, StrBuf *out);

#endif
