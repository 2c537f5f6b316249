/* constraints.c - see constraints.h. */
#include "search/constraints.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "search/hypothesis.h"
#include "tokenizer/bpe.h"
#include "text/whole_words.h"

static int vocabulary(const Constraints *constraints) {
    return vocab_size(tokenizer_vocab(constraints->target));
}

void constraints_cut_phrases(Constraints *constraints, int count) {
    for (; constraints->phrase_count > count; constraints->phrase_count--) {
        ConstraintPhrase *last = &constraints->phrases[constraints->phrase_count - 1];
        id_list_free(&last->ids);
        id_list_free(&last->source_positions);
    }
}

void constraints_free(Constraints *constraints) {
    id_list_free(&constraints->prefix);
    mem_free(constraints->allowed);
    constraints_cut_phrases(constraints, 0);
    mem_free(constraints->phrases);
    *constraints = (Constraints){0};
}

static void mark_ids(const IdList *ids, bool *marked) {
    for (size_t i = 0; i < ids->count; i++) marked[ids->ids[i]] = true;
}

void constraints_mark_tokens(const Constraints *constraints, bool *marked) {
    bool completes = constraints->fixed < (int)constraints->prefix.count;
    mark_ids(&constraints->prefix, marked);
    for (int c = 0; c < constraints->phrase_count; c++) mark_ids(&constraints->phrases[c].ids, marked);
    for (int i = 0, V = completes ? vocabulary(constraints) : 0; completes && i < constraints->open; i++)
        for (int v = 0; v < V; v++) marked[v] |= constraints->allowed[(size_t)i * (size_t)V + (size_t)v];
}

int constraints_max_steps(const Constraints *constraints, const DecodeOptions *options, int source_length) {
    int steps = hypothesis_max_steps(options, source_length),
        prefix = constraints ? (int)constraints->prefix.count : 0;
    int least = prefix > 0 ? prefix + 1 + options->max_length_extra : 0;
    return steps > least ? steps : least;
}

static bool has_unknown(const IdList *ids) {
    for (size_t i = 0; i < ids->count; i++)
        if (ids->ids[i] == VOCAB_UNK) return true;
    return false;
}

/* ---- the prefix ---- */

/* Does `token` continue the word that `before` ends? */
static bool same_word(const Tokenizer *tokenizer, int before, int token) {
    int pair[2] = {before, token}, word[2];
    return tokenizer_words(tokenizer, pair, 2, word) == 1;
}

/* After a space: tokens that begin a word, or </s>. If the tokenizer marks the ends of words, any token may
 * follow. */
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

/* The last word: each of its tokens may be replaced by a token that begins with the rest of the word. If the
 * rest is longer than any token, the token is fixed: time grows with the word's length, not with its
 * square. */
static void allow_completions(Constraints *constraints, int fixed) {
    const Vocab *vocab = tokenizer_vocab(constraints->target);
    size_t V = (size_t)vocabulary(constraints), most = longest_token(vocab) + sizeof BPE_WORD_END, bytes = 0;
    StrBuf rest = {0};
    int first = (int)constraints->prefix.count - 1;
    while (first > fixed && (bytes += vocab_token(vocab, constraints->prefix.ids[first]).length) <= most)
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

/* ---- phrases ---- */

static uint64_t bit_of(int c) { return (uint64_t)1 << c; }

bool constraints_knows(Tokenizer *target, StrView text) {
    IdList ids = {0};
    tokenizer_encode(target, text, &ids);
    bool knows = ids.count > 0 && !has_unknown(&ids);
    id_list_free(&ids);
    return knows;
}

/* Takes the ids. */
static void add_ids(Constraints *constraints, IdList ids) {
    MEM_GROW(constraints->phrases, constraints->phrase_capacity, (size_t)constraints->phrase_count + 1);
    constraints->phrases[constraints->phrase_count++] = (ConstraintPhrase){.ids = ids};
}

/* Adds a variant of the last phrase: its tokens directly after other characters. Returns false if they are
 * the same, the model does not know them, or there is no room. */
static bool add_behind(Constraints *constraints, Tokenizer *target, StrView text) {
    int last = constraints->phrase_count - 1;
    const IdList *plain = &constraints->phrases[last].ids;
    IdList ids = {0};
    tokenizer_encode_after_text(target, text, &ids);
    bool same = ids.count == plain->count && memcmp(ids.ids, plain->ids, ids.count * sizeof *ids.ids) == 0;
    if (same || ids.count == 0 || has_unknown(&ids) || constraints->phrase_count == CONSTRAINTS_MAX) {
        id_list_free(&ids);
        return false;
    }
    add_ids(constraints, ids);
    constraints->phrases[last].variants = bit_of(last + 1);
    constraints->phrases[last + 1].variants = bit_of(last);
    return true;
}

/* Is the text, whose first token elsewhere is `first`, of a script without spaces between words? */
static bool is_unspaced(const Tokenizer *target, StrView text, int first) {
    size_t position = 0;
    int c = utf8_next(text, &position);
    return text_is_unspaced(c) && unicode_class(c) == CHAR_LETTER &&
           sv_starts(vocab_token(tokenizer_vocab(target), first), SV(BPE_SPACE));
}

bool constraints_add_phrase(Constraints *constraints, Tokenizer *target, StrView text) {
    IdList ids = {0};
    constraints->target = target;
    if (constraints->phrase_count == CONSTRAINTS_MAX) return false;
    tokenizer_encode(target, text, &ids);
    if (ids.count == 0 || has_unknown(&ids)) {
        id_list_free(&ids);
        return false;
    }
    add_ids(constraints, ids);
    text = sv_trim(text);
    if (is_unspaced(target, text, ids.ids[0])) add_behind(constraints, target, text);
    return true;
}

/* Takes the ids of a phrase that is met with those from `first` on, unless it is there already. */
static void add_alternative(Constraints *constraints, int first, IdList ids) {
    bool there = ids.count == 0 || has_unknown(&ids) || constraints->phrase_count == CONSTRAINTS_MAX;
    for (int c = first; c < constraints->phrase_count && !there; c++) {
        const IdList *other = &constraints->phrases[c].ids;
        there = other->count == ids.count && memcmp(other->ids, ids.ids, ids.count * sizeof *ids.ids) == 0;
    }
    if (there)
        id_list_free(&ids);
    else
        add_ids(constraints, ids);
}

bool constraints_add_alternatives(Constraints *constraints, Tokenizer *target, const StrView *texts,
                                  int count, int from, int to) {
    int first = constraints->phrase_count;
    constraints->target = target;
    for (int i = 0; i < count; i++) {
        IdList ids = {0}, behind = {0};
        tokenizer_encode(target, texts[i], &ids);
        tokenizer_encode_after_text(target, texts[i], &behind);
        add_alternative(constraints, first, ids);
        add_alternative(constraints, first, behind);
    }
    for (int c = first; c < constraints->phrase_count; c++) {
        for (int at = from; at < to; at++) id_list_add(&constraints->phrases[c].source_positions, at);
        for (int other = first; other < constraints->phrase_count; other++)
            if (other != c) constraints->phrases[c].variants |= bit_of(other);
    }
    return constraints->phrase_count > first;
}

/* Does the token end with punctuation or a symbol? The white space of SentencePiece is none. */
static bool ends_with_mark(const Tokenizer *tokenizer, int token) {
    StrView text = vocab_token(tokenizer_vocab(tokenizer), token);
    if (token < VOCAB_SPECIALS || text.length == 0 || sv_ends(text, SV(BPE_SPACE))) return false;
    size_t position = utf8_before(text, text.length);
    UnicodeKind kind = unicode_kind(utf8_next(text, &position));
    return kind == UNICODE_PUNCTUATION || kind == UNICODE_SYMBOL;
}

/* Does the token add letters to the word that `before` ends? */
static bool lengthens(const Tokenizer *tokenizer, int before, int token) {
    StrView text = vocab_token(tokenizer_vocab(tokenizer), token);
    size_t position = 0;
    if (token < VOCAB_SPECIALS || !same_word(tokenizer, before, token)) return false;
    int c = utf8_next(text, &position);
    CharClass class = unicode_class(c);
    return class == CHAR_MARK || ((class == CHAR_LETTER || class == CHAR_DIGIT) && !text_is_unspaced(c));
}

/* Appends the text of the tokens, with spaces for markers; ends [length] receives where each of them ends. */
static void add_tokens(const Tokenizer *tokenizer, Tokens tokens, StrBuf *text, size_t *ends) {
    StrView space = SV(BPE_SPACE), end = SV(BPE_WORD_END);
    bool marks_ends = tokenizer_marks_ends(tokenizer);
    for (int i = 0; i < tokens.length; i++) {
        StrView token = vocab_token(tokenizer_vocab(tokenizer), tokens.ids[i]);
        if (i > 0 && !same_word(tokenizer, tokens.ids[i - 1], tokens.ids[i])) strbuf_add_char(text, ' ');
        if (marks_ends && sv_ends(token, end)) token.length -= end.length;
        if (marks_ends && sv_ends(token, space)) token.length -= space.length;
        if (sv_starts(token, space))
            token = (StrView){token.data + space.length, token.length - space.length};
        strbuf_add(text, token);
        ends[i] = text->length;
    }
}

static bool token_is(const Tokenizer *tokenizer, int token, const char *text) {
    return sv_equal(vocab_token(tokenizer_vocab(tokenizer), token), sv(text));
}

/* Adds to `positions` those of the tokens in the sentence that write the term, or else forms of its words. */
static void find_term(const Tokenizer *source, StrView term, Tokens sentence, IdList *positions) {
    StrBuf buffer = {0};
    size_t *ends = mem_alloc((size_t)sentence.length, sizeof *ends);
    add_tokens(source, sentence, &buffer, ends);
    StrView text = strbuf_view(&buffer);
    for (int forms = 0; forms < 2 && positions->count == 0; forms++) {
        int token = 0;
        for (size_t at = 0, length; at < text.length; utf8_next(text, &at)) {
            length = forms ? text_match_word_forms(text, at, term) : text_match_words(text, at, term);
            for (; length > 0 && token < sentence.length; token++) {
                size_t start = token > 0 ? ends[token - 1] : 0;
                if (start >= at + length) break;
                bool marker = ends[token] == at && token_is(source, sentence.ids[token], BPE_SPACE);
                if (marker || ends[token] > at) id_list_add(positions, token);
            }
        }
    }
    mem_free(ends);
    strbuf_free(&buffer);
}

bool constraints_add_term(Constraints *constraints, Tokenizer *target, StrView text, const Tokenizer *source,
                          StrView term, Tokens sentence) {
    IdList positions = {0};
    int first = constraints->phrase_count;
    if (!constraints_add_phrase(constraints, target, text)) return false;
    find_term(source, term, sentence, &positions);
    /* Many terms need the room. */
    if (constraints->phrase_count == first + 1 && first < CONSTRAINTS_MAX / 2 &&
        add_behind(constraints, target, text))
        constraints->phrases[first + 1].after_mark = true;
    for (int c = first; c < constraints->phrase_count; c++)
        for (size_t i = 0; i < positions.count; i++)
            id_list_add(&constraints->phrases[c].source_positions, positions.ids[i]);
    id_list_free(&positions);
    return true;
}

bool constraints_has_terms(const Constraints *constraints) {
    for (int c = 0; c < constraints->phrase_count; c++)
        if (constraints->phrases[c].source_positions.count > 0) return true;
    return false;
}

static bool is_met(const ConstraintState *state, int c) { return state->met & bit_of(c); }

/* Is phrase c unmet, and does it begin with the matched tokens without the first `skip` of them? */
static bool begins_alike(const Constraints *constraints, const ConstraintState *state, int c, int skip) {
    const IdList *ids = &constraints->phrases[c].ids, *current = &constraints->phrases[state->current].ids;
    int length = state->matched - skip;
    if (is_met(state, c) || (int)ids->count <= length) return false;
    for (int i = 0; i < length; i++)
        if (ids->ids[i] != current->ids[skip + i]) return false;
    return true;
}

static bool may_begin(const Constraints *constraints, int c, int before) {
    return !constraints->phrases[c].after_mark || ends_with_mark(constraints->target, before);
}

/* Can phrase c be the one under way, or begin after the token `before` if none is? */
static bool may_continue(const Constraints *constraints, const ConstraintState *state, int c, int before) {
    return begins_alike(constraints, state, c, 0) &&
           (state->matched > 0 || may_begin(constraints, c, before));
}

/* A phrase whose next token is `token`, or -1. */
static int find_next(const Constraints *constraints, const ConstraintState *state, int token, int before) {
    for (int c = 0; c < constraints->phrase_count; c++)
        if (may_continue(constraints, state, c, before) &&
            constraints->phrases[c].ids.ids[state->matched] == token)
            return c;
    return -1;
}

/* The term under way is not completed: its attention score goes. */
static void rollback_score(ConstraintState *state) {
    state->attention_score -= state->pending_score;
    state->pending_score = 0;
}

/* The matched tokens do not continue: fall back to their longest end that a phrase begins with. */
static void fall_back(const Constraints *constraints, ConstraintState *state) {
    rollback_score(state);
    const int *tokens = constraints->phrases[state->current].ids.ids;
    for (int skip = 1; skip < state->matched; skip++)
        for (int c = 0; c < constraints->phrase_count; c++)
            if (begins_alike(constraints, state, c, skip) && may_begin(constraints, c, tokens[skip - 1])) {
                state->current = c;
                state->matched -= skip;
                return;
            }
    state->matched = 0;
}

/* The attention score of phrase c if it begins at this step. */
static double start_score(const Constraints *constraints, int c, const real *attention) {
    static const double WEIGHT = 2, LEAST = 1e-9;
    const IdList *positions = &constraints->phrases[c].source_positions;
    double sum = 0;
    if (positions->count == 0) return 0;
    for (size_t i = 0; i < positions->count; i++) sum += (double)attention[positions->ids[i]];
    return WEIGHT * log(fmin(fmax(sum, LEAST), 1)); /* never above 0: the search relies on it */
}

ConstraintState constraints_advance(const Constraints *constraints, ConstraintState state, int token,
                                    const real *attention) {
    int step = state.steps++, before = state.last_token;
    state.diverged |= step < (int)constraints->prefix.count && token != constraints->prefix.ids[step];
    if (constraints->phrase_count == 0) return state;
    if (state.last_met >= 0 && lengthens(constraints->target, state.last_token, token)) {
        state.met &= ~(bit_of(state.last_met) | constraints->phrases[state.last_met].variants);
        rollback_score(&state);
    }
    if (state.matched == 0) state.pending_score = 0; /* the completed phrase keeps its score */
    state.last_met = -1;
    state.last_token = token;
    int next = find_next(constraints, &state, token, before);
    while (next < 0 && state.matched > 0) {
        fall_back(constraints, &state);
        next = find_next(constraints, &state, token, before);
    }
    if (next < 0) return state;
    if (state.matched == 0) {
        state.pending_score = start_score(constraints, next, attention);
        state.attention_score += state.pending_score;
    }
    state.current = next;
    if (++state.matched < (int)constraints->phrases[next].ids.count) return state;
    state.met |= bit_of(next) | constraints->phrases[next].variants;
    state.last_met = next;
    state.matched = 0;
    return state;
}

/* The phrase that the last token of the hypothesis begins, or -1. */
static int find_begun(const Constraints *constraints, const ConstraintState *state) {
    if (state->last_met >= 0)
        return constraints->phrases[state->last_met].ids.count == 1 ? state->last_met : -1;
    return state->matched == 1 ? state->current : -1;
}

bool constraints_breaks_word(const Constraints *constraints, const ConstraintState *before,
                             const ConstraintState *after, int best) {
    int last = before->last_token, token = after->last_token;
    const Tokenizer *target = constraints->target;
    if (before->steps == 0 || constraints->phrase_count == 0 || find_begun(constraints, after) < 0)
        return false;
    bool goes_on = lengthens(target, last, best);
    if (!same_word(target, last, token)) return goes_on;
    return lengthens(target, last, token) && (!goes_on || !ends_with_mark(target, last));
}

bool constraints_all_met(const Constraints *constraints, const ConstraintState *state) {
    for (int c = 0; c < constraints->phrase_count; c++)
        if (!is_met(state, c)) return false;
    return true;
}

int constraints_bank(const Constraints *constraints, const ConstraintState *state) {
    int tokens = state->matched;
    for (int c = 0; c < constraints->phrase_count; c++)
        if (is_met(state, c)) tokens += (int)constraints->phrases[c].ids.count;
    return tokens;
}

int constraints_bank_count(const Constraints *constraints) {
    int tokens = 1;
    for (int c = 0; c < constraints->phrase_count; c++) tokens += (int)constraints->phrases[c].ids.count;
    return tokens;
}

RowChoice constraints_choice(const Constraints *constraints, const ConstraintState *state, int top,
                             int *extra) {
    RowChoice choice = {.top = top, .extra = extra};
    if (state->steps < constraints->fixed)
        return (RowChoice){.extra = &constraints->prefix.ids[state->steps], .extra_count = 1};
    if (!state->diverged && state->steps < constraints->fixed + constraints->open) {
        choice.allowed = constraints->allowed +
                         (size_t)(state->steps - constraints->fixed) * (size_t)vocabulary(constraints);
        return choice;
    }
    for (int c = 0; c < constraints->phrase_count; c++)
        if (may_continue(constraints, state, c, state->last_token))
            extra[choice.extra_count++] = constraints->phrases[c].ids.ids[state->matched];
    return choice;
}
