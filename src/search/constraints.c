/* constraints.c - see constraints.h. */
#include "search/constraints.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/bpe.h"
#include "text/whole_words.h"

static int vocabulary(const Constraints *constraints) {
    return vocab_size(tokenizer_vocab(constraints->target));
}

void constraints_free(Constraints *constraints) {
    id_list_free(&constraints->prefix);
    mem_free(constraints->allowed);
    for (int c = 0; c < constraints->phrase_count; c++) {
        id_list_free(&constraints->phrases[c]);
        id_list_free(&constraints->origins[c]);
    }
    *constraints = (Constraints){0};
}

static void mark_ids(const IdList *ids, bool *wanted) {
    for (size_t i = 0; i < ids->count; i++) wanted[ids->ids[i]] = true;
}

void constraints_mark_tokens(const Constraints *constraints, bool *wanted) {
    bool completes = constraints->fixed < (int)constraints->prefix.count;
    mark_ids(&constraints->prefix, wanted);
    for (int c = 0; c < constraints->phrase_count; c++) mark_ids(&constraints->phrases[c], wanted);
    for (int i = 0, V = completes ? vocabulary(constraints) : 0; completes && i < constraints->open; i++)
        for (int v = 0; v < V; v++) wanted[v] |= constraints->allowed[(size_t)i * (size_t)V + (size_t)v];
}

static bool has_unknown(const IdList *ids) {
    for (size_t i = 0; i < ids->count; i++)
        if (ids->ids[i] == VOCAB_UNK) return true;
    return false;
}

/* ---- the prefix ---- */

/* Does `token` go on in the word that `before` ends? */
static bool same_word(const Tokenizer *tokenizer, int before, int token) {
    int pair[2] = {before, token}, word[2];
    return tokenizer_words(tokenizer, pair, 2, word) == 1;
}

/* After a space: what begins a word, or ends the sentence. Where ends are marked, anything does. */
static void allow_new_words(Constraints *constraints) {
    int last = constraints->prefix.ids[constraints->prefix.count - 1], V = vocabulary(constraints);
    bool any = tokenizer_marks_ends(constraints->target);
    constraints->fixed = (int)constraints->prefix.count;
    constraints->open = 1;
    constraints->allowed = mem_alloc((size_t)V, sizeof *constraints->allowed);
    for (int v = VOCAB_UNK; v < V; v++)
        constraints->allowed[v] = any || !same_word(constraints->target, last, v);
}

static size_t longest_token(const Vocab *vocab) {
    size_t longest = 0;
    for (int v = VOCAB_SPECIALS; v < vocab_size(vocab); v++)
        if (vocab_token(vocab, v).length > longest) longest = vocab_token(vocab, v).length;
    return longest;
}

/* The last word: at each of its tokens this one, or one that begins with the rest of the word. Where the rest
 * is longer than any token, this one is fixed: time grows with the word's length, not with its square. */
static void allow_completions(Constraints *constraints, int fixed) {
    const Vocab *vocab = tokenizer_vocab(constraints->target);
    size_t V = (size_t)vocabulary(constraints), left = longest_token(vocab) + sizeof BPE_WORD_END, bytes = 0;
    StrBuf rest = {0};
    int first = (int)constraints->prefix.count - 1;
    while (first > fixed && (bytes += vocab_token(vocab, constraints->prefix.ids[first]).length) <= left)
        first--;
    fixed = first;
    constraints->fixed = fixed;
    constraints->open = (int)constraints->prefix.count - fixed;
    constraints->allowed = mem_alloc((size_t)constraints->open * V, sizeof *constraints->allowed);
    for (int i = 0; i < constraints->open; i++) {
        bool *allowed = constraints->allowed + (size_t)i * V;
        strbuf_clear(&rest);
        for (size_t t = (size_t)(fixed + i); t < constraints->prefix.count; t++)
            strbuf_add(&rest, vocab_token(vocab, constraints->prefix.ids[t]));
        if (sv_ends(strbuf_view(&rest), SV(BPE_WORD_END)))
            strbuf_cut(&rest, rest.length - sizeof BPE_WORD_END + 1);
        for (size_t v = VOCAB_SPECIALS; v < V; v++)
            allowed[v] = sv_starts(vocab_token(vocab, (int)v), strbuf_view(&rest));
        allowed[constraints->prefix.ids[fixed + i]] = true;
    }
    strbuf_free(&rest);
}

bool constraints_add_prefix(Constraints *constraints, Tokenizer *target, StrView text, StrList *unknown) {
    constraints->target = target;
    tokenizer_encode_spelled(target, text, &constraints->prefix, unknown);
    size_t count = constraints->prefix.count;
    bool known = !has_unknown(&constraints->prefix);
    if (count == 0) return true;
    StrView trimmed = sv_trim(text);
    if (trimmed.data + trimmed.length < text.data + text.length) {
        allow_new_words(constraints);
    } else if (!known) {
        constraints->fixed = (int)count;
    } else {
        int *word = mem_alloc(count, sizeof *word), fixed = (int)count - 1;
        tokenizer_words(target, constraints->prefix.ids, count, word);
        while (fixed > 0 && word[fixed - 1] == word[count - 1]) fixed--;
        mem_free(word);
        allow_completions(constraints, fixed);
    }
    return known;
}

/* ---- constraints ---- */

static uint64_t bit_of(int c) { return (uint64_t)1 << c; }

/* Tokens of the text, whose own are `ids`, behind a word that no space separates from it; none where scripts
 * have spaces between words, or the model has no such tokens. */
static void encode_joined(Tokenizer *target, StrView text, const IdList *ids, IdList *joined) {
    size_t position = 0;
    text = sv_trim(text);
    int c = utf8_next(text, &position);
    if (!text_is_unspaced(c) || unicode_class(c) != CHAR_LETTER ||
        !sv_starts(vocab_token(tokenizer_vocab(target), ids->ids[0]), SV(BPE_SPACE)))
        return;
    IdList before = {0};
    StrBuf both = {0};
    strbuf_add_char(&both, '.'); /* ends where letters begin, known or not */
    tokenizer_encode(target, strbuf_view(&both), &before);
    strbuf_add(&both, text);
    tokenizer_encode(target, strbuf_view(&both), joined);
    joined->count -= before.count;
    memmove(joined->ids, joined->ids + before.count, joined->count * sizeof *joined->ids);
    if (has_unknown(joined)) id_list_free(joined);
    id_list_free(&before);
    strbuf_free(&both);
}

bool constraints_knows(Tokenizer *target, StrView text) {
    IdList ids = {0};
    tokenizer_encode(target, text, &ids);
    bool knows = ids.count > 0 && !has_unknown(&ids);
    id_list_free(&ids);
    return knows;
}

bool constraints_add_phrase(Constraints *constraints, Tokenizer *target, StrView text) {
    int at = constraints->phrase_count;
    constraints->target = target;
    if (at == CONSTRAINTS_MAX) return false;
    IdList *ids = &constraints->phrases[at];
    tokenizer_encode(target, text, ids);
    if (ids->count == 0 || has_unknown(ids)) {
        id_list_free(ids);
        return false;
    }
    constraints->phrase_count++;
    if (constraints->phrase_count == CONSTRAINTS_MAX) return true;
    encode_joined(target, text, ids, ids + 1);
    if (ids[1].count == 0) return true;
    constraints->forms[at] = bit_of(at + 1);
    constraints->forms[at + 1] = bit_of(at);
    constraints->phrase_count++;
    return true;
}

bool constraints_add_term(Constraints *constraints, Tokenizer *target, StrView text, Tokenizer *source,
                          StrView term, Tokens sentence) {
    IdList ids = {0};
    int first = constraints->phrase_count;
    if (!constraints_add_phrase(constraints, target, text)) return false;
    tokenizer_encode(source, term, &ids);
    int length = (int)ids.count, end = 0; /* of what was found: "no no" is twice in "no no no" */
    for (int s = 0; length > 0 && s + length <= sentence.length; s++) {
        if (memcmp(sentence.ids + s, ids.ids, ids.count * sizeof *ids.ids) != 0) continue;
        for (int c = first; c < constraints->phrase_count; c++)
            for (int at = s > end ? s : end; at < s + length; at++) id_list_add(&constraints->origins[c], at);
        end = s + length;
    }
    id_list_free(&ids);
    return true;
}

bool constraints_has_terms(const Constraints *constraints) {
    for (int c = 0; c < constraints->phrase_count; c++)
        if (constraints->origins[c].count > 0) return true;
    return false;
}

static bool is_met(const ConstraintState *state, int c) { return state->met & bit_of(c); }

/* Does constraint c, which is not met yet, begin with what is matched, but for its first `skip` tokens? */
static bool begins_alike(const Constraints *constraints, const ConstraintState *state, int c, int skip) {
    const IdList *ids = &constraints->phrases[c], *current = &constraints->phrases[state->current];
    int length = state->matched - skip;
    if (is_met(state, c) || (int)ids->count <= length) return false;
    for (int i = 0; i < length; i++)
        if (ids->ids[i] != current->ids[skip + i]) return false;
    return true;
}

/* The constraint that `token` takes one token further, or -1. */
static int find_next(const Constraints *constraints, const ConstraintState *state, int token) {
    for (int c = 0; c < constraints->phrase_count; c++)
        if (begins_alike(constraints, state, c, 0) && constraints->phrases[c].ids[state->matched] == token)
            return c;
    return -1;
}

/* What has begun at a place is no term after all. */
static void take_back(ConstraintState *state) {
    state->placement -= state->begun;
    state->begun = 0;
}

/* What is matched ends here: go on with the longest end of it that a constraint begins with. */
static void fall_back(const Constraints *constraints, ConstraintState *state) {
    take_back(state);
    for (int skip = 1; skip < state->matched; skip++)
        for (int c = 0; c < constraints->phrase_count; c++)
            if (begins_alike(constraints, state, c, skip)) {
                state->current = c;
                state->matched -= skip;
                return;
            }
    state->matched = 0;
}

/* Does the token put letters behind a word that is complete? */
static bool lengthens(const Tokenizer *tokenizer, int before, int token) {
    StrView text = vocab_token(tokenizer_vocab(tokenizer), token);
    size_t position = 0;
    if (token < VOCAB_SPECIALS || !same_word(tokenizer, before, token)) return false;
    int c = utf8_next(text, &position);
    CharClass class = unicode_class(c);
    return class == CHAR_MARK || ((class == CHAR_LETTER || class == CHAR_DIGIT) && !text_is_unspaced(c));
}

/* What it is worth that constraint c begins at this step. */
static double place_worth(const Constraints *constraints, int c, const real *attention) {
    static const double WEIGHT = 2, LEAST = 1e-9;
    const IdList *origin = &constraints->origins[c];
    double share = 0;
    if (origin->count == 0) return 0;
    for (size_t i = 0; i < origin->count; i++) share += (double)attention[origin->ids[i]];
    return WEIGHT * log(fmin(fmax(share, LEAST), 1)); /* scores only fall */
}

ConstraintState constraints_advance(const Constraints *constraints, ConstraintState state, int token,
                                    const real *attention) {
    int step = state.steps++;
    state.left |= step < (int)constraints->prefix.count && token != constraints->prefix.ids[step];
    if (constraints->phrase_count == 0) return state;
    if (state.last_met >= 0 && lengthens(constraints->target, state.last_token, token)) {
        state.met &= ~(bit_of(state.last_met) | constraints->forms[state.last_met]);
        take_back(&state);
    }
    if (state.matched == 0) state.begun = 0; /* what was completed stands */
    state.last_met = -1;
    state.last_token = token;
    int next = find_next(constraints, &state, token);
    while (next < 0 && state.matched > 0) {
        fall_back(constraints, &state);
        next = find_next(constraints, &state, token);
    }
    if (next < 0) return state;
    if (state.matched == 0) {
        state.begun = place_worth(constraints, next, attention);
        state.placement += state.begun;
    }
    state.current = next;
    if (++state.matched < (int)constraints->phrases[next].count) return state;
    state.met |= bit_of(next) | constraints->forms[next];
    state.last_met = next;
    state.matched = 0;
    return state;
}

bool constraints_all_met(const Constraints *constraints, const ConstraintState *state) {
    for (int c = 0; c < constraints->phrase_count; c++)
        if (!is_met(state, c)) return false;
    return true;
}

int constraints_bank(const Constraints *constraints, const ConstraintState *state) {
    int tokens = state->matched;
    for (int c = 0; c < constraints->phrase_count; c++)
        if (is_met(state, c)) tokens += (int)constraints->phrases[c].count;
    return tokens;
}

int constraints_bank_count(const Constraints *constraints) {
    int tokens = 1;
    for (int c = 0; c < constraints->phrase_count; c++) tokens += (int)constraints->phrases[c].count;
    return tokens;
}

RowChoice constraints_choice(const Constraints *constraints, const ConstraintState *state, int top,
                             int *given) {
    RowChoice choice = {.top = top, .given = given};
    if (state->steps < constraints->fixed)
        return (RowChoice){.given = &constraints->prefix.ids[state->steps], .given_count = 1};
    if (!state->left && state->steps < constraints->fixed + constraints->open) {
        choice.allowed = constraints->allowed +
                         (size_t)(state->steps - constraints->fixed) * (size_t)vocabulary(constraints);
        return choice;
    }
    for (int c = 0; c < constraints->phrase_count; c++)
        if (begins_alike(constraints, state, c, 0))
            given[choice.given_count++] = constraints->phrases[c].ids[state->matched];
    return choice;
}
