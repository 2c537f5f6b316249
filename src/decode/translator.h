/* translator.h - the translation service: lines of raw text in, lines of raw text out.
 *
 * A line is segmented, cut into pieces if it is too long, translated and joined again. Pieces are sorted by
 * length and searched in groups on all threads; neither the grouping nor the number of threads changes any
 * result. A line of white space gives an empty line.
 *
 *   Long lines  over max_input_length tokens: cut at the end of a sentence if there is one in the last three
 *               quarters of the piece, else at a comma or semicolon, else between words, else anywhere; the
 *               translations are joined with spaces. Or cropped, if so asked. Both with a warning that names
 *               the line.
 *   Owner       the caller gives zeroed Translations and releases each with translation_free
 *   Threads     one call at a time
 */
#ifndef DECODE_TRANSLATOR_H
#define DECODE_TRANSLATOR_H

#include "base/workers.h"
#include "decode/search.h"

typedef struct {
    DecodeOptions decode;
    int n_best;             /* at most decode.beam_size */
    bool tokens_only;       /* no scores are wanted, as in search.h */
    bool attention;         /* keep attention weights ... */
    AttentionChoice choice; /* ... these of them */
    bool crop;              /* crop long lines instead of splitting them */
    bool quiet;             /* no warnings about long lines */
} TranslatorOptions;

/* One candidate translation of a line. Where a line was cut, its pieces are joined: tokens one after the
 * other, the </s> of all but the last left out, attention in blocks along the diagonal. */
typedef struct {
    StrBuf text;
    int *ids; /* [length] */
    int length;
    int steps; /* length + 1 if the last piece ended with </s>, else length: rows of token_scores and attention */
    double score, normalised; /* as in search.h, over all pieces */
    float *token_scores;      /* [steps] */
    float *attention;         /* [steps, source_length + 1]; NULL unless asked for */
    int *word;                /* [length] number of the word that the token belongs to */
    int words;
} TranslationItem;

typedef struct {
    int *source; /* [source_length] ids of the first model, without </s> */
    int source_length;
    int *source_word; /* [source_length] number of the word that the token belongs to */
    int source_words;
    int pieces;             /* 0: nothing to translate */
    TranslationItem *items; /* best first, at least one */
    int count;
} Translation;

void translation_free(Translation *translation);

typedef struct Translator Translator;

/* STATUS_USAGE if the models cannot work together. `models` (one or more) and `workers` must outlive the
 * translator. */
Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers);
void translator_free(Translator *translator);
/* Translate `count` lines; `first_number` is the number of the first one, for warnings. */
void translator_run(Translator *translator, const StrView *lines, int count, long first_number,
                    Translation *out);
/* Score given translations instead: one item each. Long lines are taken whole. */
void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out);
/* Lines that were split or cropped so far, and target tokens made. */
long translator_long_lines(const Translator *translator);
long translator_tokens(const Translator *translator);

/* Greedy translation of tokens, for validation in training: results [count], zeroed, one hypothesis each
 * without scores; release each with hypotheses_free. */
void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, HypothesisList *results);

#endif
