/* beam.c - several hypotheses per sentence, extended together; with phrases, in banks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "search/repetition.h"
#include "search/search.h"

/* A hypothesis that has not ended: one row of the scorer. */
typedef struct {
    int sentence, node;
    double score;
    size_t attention;      /* its weights of the current step in the tree */
    ConstraintState state; /* if there are constraints */
} BeamRow;

typedef struct {
    int row, token;
    double log_p;          /* of the token */
    double score;          /* of the hypothesis with the token */
    ConstraintState state; /* after the token, if there are constraints */
} Candidate;

typedef struct {
    int node, steps, met;
    double score, attention_score, rank;
} EndedHypothesis;

typedef struct {
    int max_steps, loop_limit;
    EndedHypothesis *ended; /* [beam_size], in the order in which they ended */
    int ended_count;
} BeamSentence;

typedef struct {
    int candidates; /* in the bank */
    int slots;      /* its part of the beam */
} Bank;

typedef struct {
    Scorer *scorer;
    const SearchOptions *options;
    SearchOptions step_options;     /* the same, with attention if there are terms */
    const Constraints *constraints; /* [B], or NULL */
    Backpointers tree;
    BeamSentence *sentences; /* [B] */
    BeamRow *rows, *next;    /* [B * beam_size] rows of a sentence stand together, best first */
    int row_count, next_count, steps;
    int *parent, *tokens, *row_sentence; /* [B * beam_size] */
    Candidate *candidates;               /* [2 * beam_size + SEARCH_PRUNED] scratch */
    RepeatFilter filter;
    RowChoice *choices; /* [B * beam_size], or NULL */
    /* With constraints: */
    int *extra;      /* [B * beam_size, CONSTRAINTS_MAX] */
    Candidate *pool; /* all candidates of a sentence */
    Bank *banks;
    size_t pool_capacity, banks_capacity;
} BeamSearch;

/* The best `keep` extensions of rows first..end-1, best first. Between equal ones the lower row wins, then
 * the token that is first in the step. */
static int find_candidates(BeamSearch *search, const ScorerStep *step, int first, int end, int keep) {
    Candidate *list = search->candidates;
    int count = 0;
    for (int r = first; r < end; r++) {
        const ScoredToken *best = step->tokens + (size_t)r * (size_t)step->top;
        for (int i = 0; i < step->count[r] && i < keep; i++) {
            Candidate new = {r, best[i].token, best[i].log_p, search->rows[r].score + best[i].log_p, {0}};
            if (count == keep && !(new.score > list[keep - 1].score)) break;
            int at = count < keep ? count++ : keep - 1;
            for (; at > 0 && new.score > list[at - 1].score; at--) list[at] = list[at - 1];
            list[at] = new;
        }
    }
    return count;
}

/* ---- phrases: dynamic beam allocation ---- */

/* Best first; between equal ones the lower row, then the lower token. */
static int candidate_compare(const void *a, const void *b) {
    const Candidate *x = a, *y = b;
    double x_score = x->score + x->state.attention_score, y_score = y->score + y->state.attention_score;
    if (x_score != y_score) return x_score > y_score ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return (x->token > y->token) - (x->token < y->token);
}

/* All extensions of rows first..end-1, each token once; those that end meet all phrases. */
static int pool_candidates(BeamSearch *search, const Constraints *constraints, const ScorerStep *step,
                           int first, int end) {
    int count = 0;
    MEM_GROW(search->pool, search->pool_capacity, (size_t)(end - first) * (size_t)step->top);
    for (int r = first; r < end; r++) {
        const BeamRow *row = &search->rows[r];
        const ScoredToken *tokens = step->tokens + (size_t)r * (size_t)step->top;
        const AttentionWeights *weights = &step->attention;
        const real *attention =
            constraints_has_terms(constraints) ? weights->weights + weights->start[r] : NULL;
        for (int i = 0; i < step->count[r]; i++) {
            bool twice = false;
            for (int j = 0; j < i && !twice; j++) twice = tokens[j].token == tokens[i].token;
            Candidate new = {r, tokens[i].token, tokens[i].log_p, row->score + tokens[i].log_p,
                             constraints_advance(constraints, row->state, tokens[i].token, attention)};
            if (twice || isnan(new.score)) continue;
            if (i > 0 && constraints_breaks_word(constraints, &row->state, &new.state, tokens[0].token))
                continue;
            if (new.token == VOCAB_EOS && !constraints_all_met(constraints, &new.state)) continue;
            search->pool[count++] = new;
        }
    }
    qsort(search->pool, (size_t)count, sizeof *search->pool, candidate_compare);
    return count;
}

/* Deal out the slots of the beam: rounds from the last bank to the first, each with one slot for every bank
 * that has a candidate left. */
static void allocate_beam(Bank *banks, int bank_count, int slots) {
    for (bool more = true; more && slots > 0;) {
        more = false;
        for (int b = bank_count - 1; b >= 0 && slots > 0; b--) {
            if (banks[b].slots == banks[b].candidates) continue;
            banks[b].slots++;
            slots--;
            more = true;
        }
    }
}

/* The best candidates of each bank, best first. The best one of all always has a slot: more banks than slots
 * would otherwise end the hypothesis that has no phrases yet. */
static int find_constrained(BeamSearch *search, const Constraints *constraints, const ScorerStep *step,
                            int first, int end, int keep) {
    int pool_count = pool_candidates(search, constraints, step, first, end),
        bank_count = constraints_bank_count(constraints), count = 0;
    MEM_GROW(search->banks, search->banks_capacity, (size_t)bank_count);
    Bank *banks = search->banks;
    memset(banks, 0, (size_t)bank_count * sizeof *banks);
    for (int i = 0; i < pool_count; i++)
        banks[constraints_bank(constraints, &search->pool[i].state)].candidates++;
    if (pool_count > 0 && keep > 0) banks[constraints_bank(constraints, &search->pool[0].state)].slots++;
    allocate_beam(banks, bank_count, keep - 1);
    for (int i = 0; i < pool_count && count < keep; i++)
        if (banks[constraints_bank(constraints, &search->pool[i].state)].slots-- > 0)
            search->candidates[count++] = search->pool[i];
    return count;
}

/* ---- one step ---- */

static const Constraints *constraints_of(const BeamSearch *search, int sentence) {
    return search->constraints ? &search->constraints[sentence] : NULL;
}

/* The number that hypotheses of a sentence are compared by: see hypotheses_rank. */
static double rank_of(const BeamSearch *search, const BeamRow *row, int steps) {
    const Constraints *constraints = constraints_of(search, row->sentence);
    if (constraints && constraints->phrase_count > 0) return row->score + row->state.attention_score;
    return hypothesis_normalize(&search->options->decode, row->score, steps);
}

static void sentence_end(BeamSearch *search, BeamSentence *sentence, const BeamRow *row) {
    const Constraints *constraints = constraints_of(search, row->sentence);
    sentence->ended[sentence->ended_count++] =
        (EndedHypothesis){.node = row->node,
                          .steps = search->steps,
                          .met = constraints ? constraints_bank(constraints, &row->state) : 0,
                          .score = row->score,
                          .attention_score = row->state.attention_score,
                          .rank = rank_of(search, row, search->steps)};
}

/* The best rank that a growing hypothesis may reach. Log p and attention score only fall, with one
 * exception: a term that has begun and is not completed returns its attention score. */
static double best_possible(const BeamSearch *search, const BeamRow *row, int max_steps) {
    BeamRow best = *row;
    best.state.attention_score -= best.state.pending_score;
    return rank_of(search, &best, max_steps);
}

/* Can one of the growing hypotheses rows [count] still become one of the n best? */
static bool sentence_can_improve(const BeamSearch *search, const BeamSentence *sentence, const BeamRow *rows,
                                 int count) {
    int better = 0;
    double best = -INFINITY;
    for (int i = 0; i < count; i++) best = fmax(best, best_possible(search, &rows[i], sentence->max_steps));
    for (int i = 0; i < sentence->ended_count; i++) better += sentence->ended[i].rank >= best;
    return better < search->options->n_best;
}

/* A hypothesis that still has phrases to meet may loop until its bank has no slot for it. */
static bool row_loops(const BeamSearch *search, const BeamSentence *sentence, const BeamRow *row) {
    const Constraints *constraints = constraints_of(search, row->sentence);
    if (constraints && !constraints_all_met(constraints, &row->state)) return false;
    int prefix = constraints ? (int)constraints->prefix.count : 0;
    return hypothesis_loops(&search->tree, row->node, search->steps - prefix, sentence->loop_limit);
}

/* End the growing hypotheses next[start..] that loop. No rank counts for them: they have no </s>. */
static void end_loops(BeamSearch *search, BeamSentence *sentence, int start) {
    int count = start;
    if (search->steps % LOOP_EVERY != 0) return;
    for (int i = start; i < search->next_count; i++) {
        if (row_loops(search, sentence, &search->next[i])) {
            if (sentence->ended_count == search->options->decode.beam_size) continue;
            sentence_end(search, sentence, &search->next[i]);
            sentence->ended[sentence->ended_count - 1].rank = -INFINITY;
            continue;
        }
        search->parent[count] = search->parent[i];
        search->next[count++] = search->next[i];
    }
    search->next_count = count;
}

/* ---- a beam that keeps its width ---- */

static bool keeps_width(const BeamSearch *search) {
    return search->options->decode.early_stopping >= STOP_TRANSFORMERS && !search->constraints;
}

/* Of more than `beam_size` hypotheses that ended the worst one goes. */
static void keep_best_ended(BeamSearch *search, BeamSentence *sentence, const BeamRow *row) {
    if (sentence->ended_count < search->options->decode.beam_size) {
        sentence_end(search, sentence, row);
        return;
    }
    EndedHypothesis *worst = &sentence->ended[0];
    for (int i = 1; i < sentence->ended_count; i++)
        if (sentence->ended[i].rank <= worst->rank) worst = &sentence->ended[i];
    if (!(rank_of(search, row, search->steps) > worst->rank)) return;
    for (; worst < &sentence->ended[sentence->ended_count - 1]; worst++) *worst = worst[1];
    sentence->ended_count--;
    sentence_end(search, sentence, row);
}

/* `best`: the growing hypothesis with the highest score. */
static bool sentence_has_ended(const BeamSearch *search, const BeamSentence *sentence, const BeamRow *best) {
    if (sentence->ended_count < search->options->decode.beam_size) return false;
    if (search->options->decode.early_stopping == STOP_CTRANSLATE2) return true;
    double worst = INFINITY;
    for (int i = 0; i < sentence->ended_count; i++) worst = fmin(worst, sentence->ended[i].rank);
    return !(rank_of(search, best, search->steps) > worst);
}

/* The candidates of a last step that is </s> whatever the model says. */
static int end_all(BeamSearch *search, int first, int end) {
    for (int r = first; r < end; r++)
        search->candidates[r - first] = (Candidate){r, VOCAB_EOS, 0, search->rows[r].score, {0}};
    return end - first;
}

/* The same as sentence_advance, of `count` candidates. The tree receives `pruned` candidates. */
static void sentence_advance_wide(BeamSearch *search, BeamSentence *sentence, int count, int first, int end,
                                  int pruned) {
    int beam = search->options->decode.beam_size, start = search->next_count;
    bool can_grow = search->steps < sentence->max_steps;
    if (!can_grow && hypothesis_forces_end(&search->options->decode)) count = end_all(search, first, end);
    for (int i = 0; i < count; i++) {
        Candidate at = search->candidates[i];
        BeamRow row = search->rows[at.row];
        bool is_end = at.token == VOCAB_EOS, ends = (is_end || !can_grow) && i < beam;
        bool grows = !is_end && can_grow && search->next_count - start < beam;
        if (!ends && !grows && pruned-- <= 0) continue;
        row.node = backpointers_add(&search->tree, row.node, at.token, at.log_p, row.attention);
        search->tree.nodes[row.node].pruned = !ends && !grows;
        row.score = at.score;
        if (ends) keep_best_ended(search, sentence, &row);
        if (!grows) continue;
        search->parent[search->next_count] = at.row;
        search->next[search->next_count++] = row;
    }
    if (can_grow) end_loops(search, sentence, start);
    if (search->next_count > start && sentence_has_ended(search, sentence, &search->next[start]))
        search->next_count = start;
}

/* Extend the hypotheses of one sentence, rows first..end-1; those that have not ended are added to `next`. */
static void sentence_advance(BeamSearch *search, const ScorerStep *step, int first, int end) {
    BeamSentence *sentence = &search->sentences[search->rows[first].sentence];
    bool wide = keeps_width(search);
    int beam = search->options->decode.beam_size;
    int keep = wide ? 2 * beam : beam - sentence->ended_count, start = search->next_count;
    int pruned = search->options->tree ? SEARCH_PRUNED : 0;
    for (int r = first; r < end; r++)
        if (search->options->attention)
            search->rows[r].attention = backpointers_add_attention(&search->tree, &step->attention, r);
    const Constraints *constraints = constraints_of(search, search->rows[first].sentence);
    int count = constraints ? find_constrained(search, constraints, step, first, end, keep)
                            : find_candidates(search, step, first, end, keep + pruned);
    if (wide) {
        sentence_advance_wide(search, sentence, count, first, end, pruned);
        return;
    }
    for (int i = 0; i < count; i++) {
        Candidate at = search->candidates[i];
        BeamRow row = search->rows[at.row];
        row.node = backpointers_add(&search->tree, row.node, at.token, at.log_p, row.attention);
        search->tree.nodes[row.node].pruned = i >= keep;
        if (i >= keep) continue;
        row.score = at.score;
        row.state = at.state;
        if (at.token == VOCAB_EOS) {
            sentence_end(search, sentence, &row);
            continue;
        }
        search->parent[search->next_count] = at.row;
        search->next[search->next_count++] = row;
    }
    bool can_grow = search->steps < sentence->max_steps;
    if (can_grow) end_loops(search, sentence, start);
    if (search->next_count == start) return;
    const BeamRow *growing = &search->next[start];
    if (can_grow && sentence_can_improve(search, sentence, growing, search->next_count - start)) return;
    /* At the maximal length: the growing hypotheses fill the slots that no ended one took. */
    for (int i = start; !can_grow && i < search->next_count; i++)
        sentence_end(search, sentence, &search->next[i]);
    search->next_count = start;
}

static RowChoice row_choice(BeamSearch *search, int r) {
    const BeamRow *row = &search->rows[r];
    const DecodeOptions *decode = &search->options->decode;
    RowChoice choice = {.top = decode->beam_size + keeps_width(search) +
                               (search->options->tree ? SEARCH_PRUNED : 0)};
    if (search->constraints)
        choice = constraints_choice(&search->constraints[row->sentence], &row->state, decode->beam_size,
                                    search->extra + (size_t)r * CONSTRAINTS_MAX);
    if (decode->no_repeat_ngram > 0)
        repeat_filter_ban(&search->filter, &search->tree, row->node, search->steps, decode->no_repeat_ngram,
                          &choice);
    if (search->steps == 0 && !search->constraints) scorer_ban_empty(decode, &choice);
    return choice;
}

/* One step of all sentences. */
static void beam_advance(BeamSearch *search) {
    if (search->options->decode.no_repeat_ngram > 0)
        repeat_filter_begin(&search->filter, search->row_count, search->steps);
    for (int r = 0; r < search->row_count; r++) {
        const BeamRow *row = &search->rows[r];
        search->tokens[r] = backpointers_token(&search->tree, row->node);
        search->row_sentence[r] = row->sentence;
        if (search->choices) search->choices[r] = row_choice(search, r);
    }
    ScorerStep step = scorer_step(search->scorer, &search->step_options, search->row_sentence, search->tokens,
                                  search->choices, search->row_count);
    search->steps++;
    search->next_count = 0;
    for (int first = 0, end; first < search->row_count; first = end) {
        for (end = first + 1;
             end < search->row_count && search->rows[end].sentence == search->rows[first].sentence;)
            end++;
        sentence_advance(search, &step, first, end);
    }
    bool same = search->next_count == search->row_count;
    for (int i = 0; i < search->next_count; i++) same &= search->parent[i] == i;
    if (!same && search->next_count > 0) scorer_select(search->scorer, search->parent, search->next_count);
    BeamRow *swap = search->rows;
    search->rows = search->next;
    search->next = swap;
    search->row_count = search->next_count;
}

/* Best first, whether they ended with </s> or at the maximal length. */
static void sort_ended(BeamSentence *sentence) {
    for (int i = 1; i < sentence->ended_count; i++) {
        EndedHypothesis end = sentence->ended[i];
        int to = i;
        for (; to > 0 && end.rank > sentence->ended[to - 1].rank; to--)
            sentence->ended[to] = sentence->ended[to - 1];
        sentence->ended[to] = end;
    }
}

static void sentence_result(const BeamSearch *search, BeamSentence *sentence, HypothesisList *list) {
    EndedHypothesis *ended = sentence->ended;
    bool by_rank = search->options->decode.early_stopping != STOP_NARROW && !search->constraints;
    if (sentence->ended_count == 0)
        ended[sentence->ended_count++] = (EndedHypothesis){.node = -1}; /* only if no score is a number */
    if (by_rank) sort_ended(sentence);
    list->items = mem_alloc((size_t)sentence->ended_count, sizeof *list->items);
    for (; list->count < sentence->ended_count; list->count++) {
        const EndedHypothesis *end = &ended[list->count];
        Hypothesis *hypothesis = &list->items[list->count];
        *hypothesis = backpointers_follow(&search->tree, end->node, end->steps, end->score, search->options,
                                          list->source_length);
        hypothesis->met = end->met;
        hypothesis->attention_score = end->attention_score;
    }
    if (!by_rank) hypotheses_rank(list);
    hypotheses_truncate(list, search->options->n_best);
}

void beam_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                 const SearchOptions *options, HypothesisList *results) {
    size_t beam = (size_t)options->decode.beam_size, most = (size_t)B * beam;
    BeamSearch search = {.scorer = scorer,
                         .options = options,
                         .step_options = *options,
                         .constraints = constraints,
                         .row_count = B};
    search.sentences = mem_alloc((size_t)B, sizeof *search.sentences);
    search.rows = mem_alloc(most, sizeof *search.rows);
    search.next = mem_alloc(most, sizeof *search.next);
    search.parent = mem_alloc(most, sizeof *search.parent);
    search.tokens = mem_alloc(most, sizeof *search.tokens);
    search.row_sentence = mem_alloc(most, sizeof *search.row_sentence);
    search.candidates = mem_alloc(2 * beam + SEARCH_PRUNED, sizeof *search.candidates);
    if (constraints || options->decode.no_repeat_ngram > 0 || keeps_width(&search))
        search.choices = mem_alloc(most, sizeof *search.choices);
    if (constraints) search.extra = mem_alloc(most * CONSTRAINTS_MAX, sizeof *search.extra);
    EndedHypothesis *ended = mem_alloc(most, sizeof *ended);
    for (int b = 0; b < B; b++) {
        search.sentences[b].ended = ended + (size_t)b * beam;
        search.sentences[b].loop_limit = loop_limit(options, sources[b]);
        search.sentences[b].max_steps =
            constraints_max_steps(constraints ? &constraints[b] : NULL, &options->decode, sources[b].length);
        if (constraints && constraints_has_terms(&constraints[b])) search.step_options.attention = true;
        search.rows[b] = (BeamRow){.sentence = b, .node = -1};
        results[b] = (HypothesisList){.source_length = sources[b].length + 1};
    }
    if (B > 0) scorer_begin(scorer, options, sources, B, NULL, constraints);
    while (search.row_count > 0) beam_advance(&search);
    for (int b = 0; b < B; b++) sentence_result(&search, &search.sentences[b], &results[b]);

    mem_free(search.sentences);
    mem_free(search.rows);
    mem_free(search.next);
    mem_free(search.parent);
    mem_free(search.tokens);
    mem_free(search.row_sentence);
    mem_free(search.candidates);
    mem_free(search.choices);
    mem_free(search.extra);
    repeat_filter_free(&search.filter);
    mem_free(search.pool);
    mem_free(search.banks);
    mem_free(ended);
    backpointers_finish(&search.tree, options);
}
