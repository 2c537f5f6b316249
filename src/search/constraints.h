/* constraints.h - lexical constraints: how a translation begins, and which phrases it contains.
 *
 * Prefix   The translation begins with this text. If the text ends with a space, a new word follows. If not,
 *          its last word may be completed: each token of that word may be replaced by a token that begins
 *          with the rest of the word. Unknown characters in the prefix become <unk>.
 * Phrases  Tokens that must follow each other somewhere in the translation; several phrases in any order, not
 *          overlapping. A phrase is met when its last token is there and the next token adds no letters to
 *          it. A hypothesis cannot end until all phrases are met. Candidates are put into banks by the number
 *          of phrase tokens that they have, and each bank gets its part of the beam (Post and Vilar 2018);
 *          phrases with the same beginning are followed together (Hu et al. 2019). Hypotheses are compared by
 *          log p without length normalization: otherwise many likely tokens would make up for phrases in
 *          unlikely positions. In scripts without spaces between words a phrase has two variants, with a
 *          space before it and without; meeting one variant meets both.
 * Terms    Phrases that translate words of the source. They begin where the decoder attends to these words
 *          (after Chatterjee et al. 2017): the attention score adds to log p twice the logarithm of the
 *          attention on the source words at the step where the phrase begins. Without it a phrase that is
 *          unlikely everywhere would appear beside the words that it should replace. The phrase has a variant
 *          without a space before it, which begins only after a mark, as in "(Nepal)".
 * Words    A phrase does not begin inside of a word: where the token that the model finds best adds letters
 *          to the word before.
 *
 * Owner    a zeroed Constraints has none; constraints_free releases what was added
 */
#ifndef SEARCH_CONSTRAINTS_H
#define SEARCH_CONSTRAINTS_H

#include <stdint.h>
#include "config/config.h"
#include "kern/tensor.h"
#include "tokenizer/tokenizer.h"

enum { CONSTRAINTS_MAX = 64 };

typedef struct {
    IdList ids;              /* target tokens */
    IdList source_positions; /* of a term: source tokens that it translates */
    uint64_t variants;       /* bits of the phrases that are met with this one */
    bool after_mark;         /* begins only after a token that ends with punctuation or a symbol */
} ConstraintPhrase;

typedef struct {
    const Tokenizer *target; /* set by the functions that add */
    IdList prefix;
    int fixed;     /* the first `fixed` tokens of the prefix are forced */
    int open;      /* at the next `open` steps, while the prefix is followed, */
    bool *allowed; /* [open, V] only these tokens may be chosen */
    ConstraintPhrase *phrases;
    int phrase_count; /* at most CONSTRAINTS_MAX */
    size_t phrase_capacity;
} Constraints;

/* Returns false if the model does not know all of the text; the unknown parts become <unk> and are added to
 * `unknown`. */
bool constraints_add_prefix(Constraints *constraints, Tokenizer *target, StrView text, StrList *unknown);
/* Does the model have tokens for all of the text? */
bool constraints_knows(Tokenizer *target, StrView text);
/* Returns false if the model does not know all of the text, or there are CONSTRAINTS_MAX phrases. */
bool constraints_add_phrase(Constraints *constraints, Tokenizer *target, StrView text);
/* Adds phrases of which one must occur, each with a space before it or without; those that the model does not
 * know are left out. They translate the source tokens `from` to `to` - 1, if there are any. Returns false if
 * nothing is left. */
bool constraints_add_alternatives(Constraints *constraints, Tokenizer *target, const StrView *texts,
                                  int count, int from, int to);
/* Adds the translation of `term`, which is in normal form, for all places of the sentence that write it, or
 * else forms of its words. Returns as constraints_add_phrase. */
bool constraints_add_term(Constraints *constraints, Tokenizer *target, StrView text, const Tokenizer *source,
                          StrView term, Tokens sentence);
/* Removes the phrases from number `count` on. */
void constraints_cut_phrases(Constraints *constraints, int count);
bool constraints_has_terms(const Constraints *constraints);
void constraints_free(Constraints *constraints);
/* Sets marked[v] for the tokens of prefix and phrases, and for those that may complete the prefix's last
 * word. */
void constraints_mark_tokens(const Constraints *constraints, bool *marked);
/* Most target tokens: those of hypothesis_max_steps, or the prefix and max_length_extra tokens if that is
 * more. `constraints` may be NULL. */
int constraints_max_steps(const Constraints *constraints, const DecodeOptions *options, int source_length);

/* The progress of a hypothesis. A zeroed one is at the start. */
typedef struct {
    int steps;
    bool diverged; /* it completed a word of the prefix in another way */
    uint64_t met;  /* a bit per phrase */
    int current;   /* the phrase whose first `matched` tokens end the hypothesis; one of several that begin
                      with them */
    int matched;
    int last_met;           /* the phrase that the last token completed, or -1; unused at the start */
    int last_token;         /* of any kind */
    double attention_score; /* added to log p for its terms */
    double pending_score;   /* the part of attention_score that may still be taken back */
} ConstraintState;

/* `attention`: weights of the source tokens at this step; NULL if there are no terms. */
ConstraintState constraints_advance(const Constraints *constraints, ConstraintState state, int token,
                                    const real *attention);
/* Does a phrase begin with the last token of `after`, inside of a word of the hypothesis `before`? The word
 * goes on if the phrase adds letters to it, or if the token that the model finds best does. */
bool constraints_breaks_word(const Constraints *constraints, const ConstraintState *before,
                             const ConstraintState *after, int best);
bool constraints_all_met(const Constraints *constraints, const ConstraintState *state);
/* The number of the hypothesis's bank: tokens of phrases that are met or under way. */
int constraints_bank(const Constraints *constraints, const ConstraintState *state);
int constraints_bank_count(const Constraints *constraints);

/* The tokens of one row of scores that the search considers: the best `top` tokens among the allowed ones,
 * and then the extra ones, whether they are allowed or not. */
typedef struct {
    int top;
    const bool *allowed; /* [V]; NULL: all. There are no extra tokens unless it is NULL */
    const int *extra;
    int extra_count;
    const int *banned; /* not chosen, unless they are extra ones */
    int banned_count;
} RowChoice;

/* The tokens that may come next. `top`: as in RowChoice, for a row that no prefix restricts. `extra`
 * [CONSTRAINTS_MAX] receives the next tokens of phrases. */
RowChoice constraints_choice(const Constraints *constraints, const ConstraintState *state, int top,
                             int *extra);

#endif
