/* guide.c - see guide.h. */
#include "decode/guide.h"

#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "text/bpe.h"
#include "text/whole_words.h"

static int vocabulary(const Guide *guide) { return vocab_size(segmenter_vocab(guide->target)); }

void guide_free(Guide *guide) {
    id_list_free(&guide->prefix);
    mem_free(guide->allowed);
    for (int c = 0; c < guide->constraint_count; c++) {
        id_list_free(&guide->constraints[c]);
        id_list_free(&guide->origins[c]);
    }
    *guide = (Guide){0};
}

static void mark_ids(const IdList *ids, bool *wanted) {
    for (size_t i = 0; i < ids->count; i++) wanted[ids->ids[i]] = true;
}

void guide_mark(const Guide *guide, bool *wanted) {
    bool completes = guide->fixed < (int)guide->prefix.count;
    mark_ids(&guide->prefix, wanted);
    for (int c = 0; c < guide->constraint_count; c++) mark_ids(&guide->constraints[c], wanted);
    for (int i = 0, V = completes ? vocabulary(guide) : 0; completes && i < guide->open; i++)
        for (int v = 0; v < V; v++) wanted[v] |= guide->allowed[(size_t)i * (size_t)V + (size_t)v];
}

static bool has_unknown(const IdList *ids) {
    for (size_t i = 0; i < ids->count; i++)
        if (ids->ids[i] == VOCAB_UNK) return true;
    return false;
}

/* ---- the prefix ---- */

/* Does `token` go on in the word that `before` ends? */
static bool same_word(const Segmenter *segmenter, int before, int token) {
    int pair[2] = {before, token}, word[2];
    return segmenter_words(segmenter, pair, 2, word) == 1;
}

/* After a space: what begins a word, or ends the sentence. Where ends are marked, anything does. */
static void allow_new_words(Guide *guide) {
    int last = guide->prefix.ids[guide->prefix.count - 1], V = vocabulary(guide);
    bool any = segmenter_marks_ends(guide->target);
    guide->fixed = (int)guide->prefix.count;
    guide->open = 1;
    guide->allowed = mem_alloc((size_t)V, sizeof *guide->allowed);
    for (int v = VOCAB_UNK; v < V; v++) guide->allowed[v] = any || !same_word(guide->target, last, v);
}

static size_t longest_token(const Vocab *vocab) {
    size_t longest = 0;
    for (int v = VOCAB_SPECIALS; v < vocab_size(vocab); v++)
        if (vocab_token(vocab, v).length > longest) longest = vocab_token(vocab, v).length;
    return longest;
}

/* The last word: at each of its tokens this one, or one that begins with the rest of the word. Where the rest
 * is longer than any token, this one is fixed: time grows with the word's length, not with its square. */
static void allow_completions(Guide *guide, int fixed) {
    const Vocab *vocab = segmenter_vocab(guide->target);
    size_t V = (size_t)vocabulary(guide), left = longest_token(vocab) + sizeof BPE_WORD_END, bytes = 0;
    StrBuf rest = {0};
    int first = (int)guide->prefix.count - 1;
    while (first > fixed && (bytes += vocab_token(vocab, guide->prefix.ids[first]).length) <= left) first--;
    fixed = first;
    guide->fixed = fixed;
    guide->open = (int)guide->prefix.count - fixed;
    guide->allowed = mem_alloc((size_t)guide->open * V, sizeof *guide->allowed);
    for (int i = 0; i < guide->open; i++) {
        bool *allowed = guide->allowed + (size_t)i * V;
        strbuf_clear(&rest);
        for (size_t t = (size_t)(fixed + i); t < guide->prefix.count; t++)
            strbuf_add(&rest, vocab_token(vocab, guide->prefix.ids[t]));
        if (sv_ends(strbuf_view(&rest), SV(BPE_WORD_END)))
            strbuf_cut(&rest, rest.length - sizeof BPE_WORD_END + 1);
        for (size_t v = VOCAB_SPECIALS; v < V; v++)
            allowed[v] = sv_starts(vocab_token(vocab, (int)v), strbuf_view(&rest));
        allowed[guide->prefix.ids[fixed + i]] = true;
    }
    strbuf_free(&rest);
}

bool guide_add_prefix(Guide *guide, Segmenter *target, StrView text, StrList *unknown) {
    guide->target = target;
    segmenter_encode_spelled(target, text, &guide->prefix, unknown);
    size_t count = guide->prefix.count;
    bool known = !has_unknown(&guide->prefix);
    if (count == 0) return true;
    StrView trimmed = sv_trim(text);
    if (trimmed.data + trimmed.length < text.data + text.length) {
        allow_new_words(guide);
    } else if (!known) {
        guide->fixed = (int)count;
    } else {
        int *word = mem_alloc(count, sizeof *word), fixed = (int)count - 1;
        segmenter_words(target, guide->prefix.ids, count, word);
        while (fixed > 0 && word[fixed - 1] == word[count - 1]) fixed--;
        mem_free(word);
        allow_completions(guide, fixed);
    }
    return known;
}

/* ---- constraints ---- */

static uint64_t bit_of(int c) { return (uint64_t)1 << c; }

/* Tokens of the text, whose own are `ids`, behind a word that no space separates from it; none where scripts
 * have spaces between words, or the model has no such tokens. */
static void encode_joined(Segmenter *target, StrView text, const IdList *ids, IdList *joined) {
    size_t position = 0;
    text = sv_trim(text);
    int c = utf8_next(text, &position);
    if (!text_is_unspaced(c) || unicode_class(c) != CHAR_LETTER ||
        !sv_starts(vocab_token(segmenter_vocab(target), ids->ids[0]), SV(BPE_SPACE)))
        return;
    IdList before = {0};
    StrBuf both = {0};
    strbuf_add_char(&both, '.'); /* ends where letters begin, known or not */
    segmenter_encode(target, strbuf_view(&both), &before);
    strbuf_add(&both, text);
    segmenter_encode(target, strbuf_view(&both), joined);
    joined->count -= before.count;
    memmove(joined->ids, joined->ids + before.count, joined->count * sizeof *joined->ids);
    if (has_unknown(joined)) id_list_free(joined);
    id_list_free(&before);
    strbuf_free(&both);
}

bool guide_knows(Segmenter *target, StrView text) {
    IdList ids = {0};
    segmenter_encode(target, text, &ids);
    bool knows = ids.count > 0 && !has_unknown(&ids);
    id_list_free(&ids);
    return knows;
}

bool guide_add_constraint(Guide *guide, Segmenter *target, StrView text) {
    int at = guide->constraint_count;
    guide->target = target;
    if (at == GUIDE_MOST_CONSTRAINTS) return false;
    IdList *ids = &guide->constraints[at];
    segmenter_encode(target, text, ids);
    if (ids->count == 0 || has_unknown(ids)) {
        id_list_free(ids);
        return false;
    }
    guide->constraint_count++;
    if (guide->constraint_count == GUIDE_MOST_CONSTRAINTS) return true;
    encode_joined(target, text, ids, ids + 1);
    if (ids[1].count == 0) return true;
    guide->forms[at] = bit_of(at + 1);
    guide->forms[at + 1] = bit_of(at);
    guide->constraint_count++;
    return true;
}

bool guide_add_term(Guide *guide, Segmenter *target, StrView text, Segmenter *source, StrView term,
                    Tokens sentence) {
    IdList ids = {0};
    int first = guide->constraint_count;
    if (!guide_add_constraint(guide, target, text)) return false;
    segmenter_encode(source, term, &ids);
    int length = (int)ids.count, end = 0; /* of what was found: "no no" is twice in "no no no" */
    for (int s = 0; length > 0 && s + length <= sentence.length; s++) {
        if (memcmp(sentence.ids + s, ids.ids, ids.count * sizeof *ids.ids) != 0) continue;
        for (int c = first; c < guide->constraint_count; c++)
            for (int at = s > end ? s : end; at < s + length; at++) id_list_add(&guide->origins[c], at);
        end = s + length;
    }
    id_list_free(&ids);
    return true;
}

bool guide_has_terms(const Guide *guide) {
    for (int c = 0; c < guide->constraint_count; c++)
        if (guide->origins[c].count > 0) return true;
    return false;
}

static bool is_met(const GuideState *state, int c) { return state->met & bit_of(c); }

/* Does constraint c, which is not met yet, begin with what is matched, but for its first `skip` tokens? */
static bool begins_alike(const Guide *guide, const GuideState *state, int c, int skip) {
    const IdList *ids = &guide->constraints[c], *current = &guide->constraints[state->current];
    int length = state->matched - skip;
    if (is_met(state, c) || (int)ids->count <= length) return false;
    for (int i = 0; i < length; i++)
        if (ids->ids[i] != current->ids[skip + i]) return false;
    return true;
}

/* The constraint that `token` takes one token further, or -1. */
static int find_next(const Guide *guide, const GuideState *state, int token) {
    for (int c = 0; c < guide->constraint_count; c++)
        if (begins_alike(guide, state, c, 0) && guide->constraints[c].ids[state->matched] == token) return c;
    return -1;
}

/* What has begun at a place is no term after all. */
static void take_back(GuideState *state) {
    state->placement -= state->begun;
    state->begun = 0;
}

/* What is matched ends here: go on with the longest end of it that a constraint begins with. */
static void fall_back(const Guide *guide, GuideState *state) {
    take_back(state);
    for (int skip = 1; skip < state->matched; skip++)
        for (int c = 0; c < guide->constraint_count; c++)
            if (begins_alike(guide, state, c, skip)) {
                state->current = c;
                state->matched -= skip;
                return;
            }
    state->matched = 0;
}

/* Does the token put letters behind a word that is complete? */
static bool lengthens(const Segmenter *segmenter, int before, int token) {
    StrView text = vocab_token(segmenter_vocab(segmenter), token);
    size_t position = 0;
    if (token < VOCAB_SPECIALS || !same_word(segmenter, before, token)) return false;
    int c = utf8_next(text, &position);
    CharClass class = unicode_class(c);
    return class == CHAR_MARK || ((class == CHAR_LETTER || class == CHAR_DIGIT) && !text_is_unspaced(c));
}

/* What it is worth that constraint c begins at this step. */
static double place_worth(const Guide *guide, int c, const real *attention) {
    static const double WEIGHT = 2, LEAST = 1e-9;
    const IdList *origin = &guide->origins[c];
    double share = 0;
    if (origin->count == 0) return 0;
    for (size_t i = 0; i < origin->count; i++) share += (double)attention[origin->ids[i]];
    return WEIGHT * log(fmin(fmax(share, LEAST), 1)); /* scores only fall */
}

GuideState guide_follow(const Guide *guide, GuideState state, int token, const real *attention) {
    int step = state.steps++;
    state.left |= step < (int)guide->prefix.count && token != guide->prefix.ids[step];
    if (guide->constraint_count == 0) return state;
    if (state.last_met >= 0 && lengthens(guide->target, state.last_token, token)) {
        state.met &= ~(bit_of(state.last_met) | guide->forms[state.last_met]);
        take_back(&state);
    }
    if (state.matched == 0) state.begun = 0; /* what was completed stands */
    state.last_met = -1;
    state.last_token = token;
    int next = find_next(guide, &state, token);
    while (next < 0 && state.matched > 0) {
        fall_back(guide, &state);
        next = find_next(guide, &state, token);
    }
    if (next < 0) return state;
    if (state.matched == 0) {
        state.begun = place_worth(guide, next, attention);
        state.placement += state.begun;
    }
    state.current = next;
    if (++state.matched < (int)guide->constraints[next].count) return state;
    state.met |= bit_of(next) | guide->forms[next];
    state.last_met = next;
    state.matched = 0;
    return state;
}

bool guide_all_met(const Guide *guide, const GuideState *state) {
    for (int c = 0; c < guide->constraint_count; c++)
        if (!is_met(state, c)) return false;
    return true;
}

int guide_bank(const Guide *guide, const GuideState *state) {
    int tokens = state->matched;
    for (int c = 0; c < guide->constraint_count; c++)
        if (is_met(state, c)) tokens += (int)guide->constraints[c].count;
    return tokens;
}

int guide_bank_count(const Guide *guide) {
    int tokens = 1;
    for (int c = 0; c < guide->constraint_count; c++) tokens += (int)guide->constraints[c].count;
    return tokens;
}

RowChoice guide_choice(const Guide *guide, const GuideState *state, int top, int *given) {
    RowChoice choice = {.top = top, .given = given};
    if (state->steps < guide->fixed)
        return (RowChoice){.given = &guide->prefix.ids[state->steps], .given_count = 1};
    if (!state->left && state->steps < guide->fixed + guide->open) {
        choice.allowed = guide->allowed + (size_t)(state->steps - guide->fixed) * (size_t)vocabulary(guide);
        return choice;
    }
    for (int c = 0; c < guide->constraint_count; c++)
        if (begins_alike(guide, state, c, 0))
            given[choice.given_count++] = guide->constraints[c].ids[state->matched];
    return choice;
}
