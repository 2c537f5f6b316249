/* constraints.h - what a translation must be like: how it begins, and which words it contains.
 *
 * Prefix       The translation begins with this text and goes on. If the text ends with a space, a new
 *              word follows; if not, its last word may be completed: each of that word's tokens may give way
 *              to one that begins with all that is left of the word. Text with unknown characters is
 *              followed as it is read, with <unk>s.
 * Constraints  Tokens that must follow each other somewhere; several constraints in any order, not
 *              overlapping. One is met when its last token is there and no letters are added to it. Until
 *              all are met the hypothesis does not end. Candidates are put into banks by how many tokens of
 *              constraints they have, and each bank gets its share of the beam (Post and Vilar 2018);
 *              constraints that begin alike are followed together (Hu et al. 2019). Hypotheses are compared
 *              by log p, not by length: many likely tokens would make up for words in an unlikely place.
 *              In scripts without spaces between words a constraint has two forms, with a space before it
 *              and without; each meets both.
 * Terms        Constraints that translate words of the source. They begin where the decoder looks at these
 *              (after Chatterjee et al. 2017): to log p is added twice the logarithm of the attention that
 *              they have at that step, as the search chooses it. Elsewhere a constraint that the model
 *              finds unlikely anywhere stands beside what it should replace.
 *
 * Owner   a zeroed Constraints asks for nothing; constraints_free releases what was added
 */
#ifndef SEARCH_CONSTRAINTS_H
#define SEARCH_CONSTRAINTS_H

#include <stdint.h>
#include "search/scorer.h"

enum { CONSTRAINTS_MAX = 64 };

typedef struct {
    const Tokenizer *target; /* set by what is added */
    IdList prefix;
    int fixed;     /* the first tokens of the prefix stand as they are ... */
    int open;      /* ... and at so many steps after them, while the prefix is followed, */
    bool *allowed; /* [open, V] these tokens may be chosen */
    IdList phrases[CONSTRAINTS_MAX];
    IdList origins[CONSTRAINTS_MAX]; /* of terms: the source tokens that each translates */
    uint64_t forms[CONSTRAINTS_MAX]; /* bits of other constraints that are met with it */
    int phrase_count;
} Constraints;

/* False if the text has what the model does not know, which becomes <unk> and is added to `unknown`. */
bool constraints_add_prefix(Constraints *constraints, Tokenizer *target, StrView text, StrList *unknown);
/* Has the model tokens for all of it? */
bool constraints_knows(Tokenizer *target, StrView text);
/* False if the model does not know it, or there are too many. */
bool constraints_add_phrase(Constraints *constraints, Tokenizer *target, StrView text);
/* The same for the translation of `term`, wherever its tokens are in the sentence. */
bool constraints_add_term(Constraints *constraints, Tokenizer *target, StrView text, Tokenizer *source,
                          StrView term, Tokens sentence);
bool constraints_has_terms(const Constraints *constraints);
void constraints_free(Constraints *constraints);
/* Set wanted[v] for the tokens of prefix and constraints, and for those that may complete the prefix's last
 * word. */
void constraints_mark_tokens(const Constraints *constraints, bool *wanted);

/* How far a hypothesis is. A zeroed one is at the start. */
typedef struct {
    int steps;
    bool left;    /* it has left the prefix: completed a word in its own way */
    uint64_t met; /* a bit per constraint */
    int current;  /* the constraint that its last `matched` tokens begin; one of those that begin so */
    int matched;
    int last_met;   /* the constraint that its last token completed, or -1 (at the start: of no meaning) */
    int last_token; /* of any kind */
    double placement, begun; /* what its terms add to log p; what of it may still be taken back */
} ConstraintState;

/* `attention`: of the source tokens at this step; NULL if there are no terms. */
ConstraintState constraints_advance(const Constraints *constraints, ConstraintState state, int token,
                                    const real *attention);
bool constraints_all_met(const Constraints *constraints, const ConstraintState *state);
/* Tokens of constraints met or under way: the number of the bank. */
int constraints_bank(const Constraints *constraints, const ConstraintState *state);
int constraints_bank_count(const Constraints *constraints);
/* What may come next. `top`: how many where nothing is asked for; `given` [CONSTRAINTS_MAX] is where
 * the tokens of constraints are put. */
RowChoice constraints_choice(const Constraints *constraints, const ConstraintState *state, int top,
                             int *given);

#endif
