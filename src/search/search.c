/* search.c - one hypothesis per sentence: the best token at every step, or those of a given translation. */
#include "search/search.h"

#include <assert.h>
#include <math.h>
#include "base/mem.h"
#include "search/backpointers.h"

void hypotheses_truncate(HypothesisList *list, int count) {
    for (; list->count > count; list->count--) {
        const Hypothesis *last = &list->items[list->count - 1];
        mem_free(last->ids);
        mem_free(last->token_scores);
        mem_free(last->attention);
        mem_free(last->alternatives);
    }
}

void hypotheses_free(HypothesisList *list) {
    hypotheses_truncate(list, 0);
    mem_free(list->items);
    *list = (HypothesisList){0};
}

bool hypothesis_is_better(const Hypothesis *a, const Hypothesis *b) {
    bool a_ended = a->steps > a->length, b_ended = b->steps > b->length;
    if (a_ended != b_ended) return a_ended;
    if (a->met != b->met) return a->met > b->met;
    if (a->met > 0) return a->score + a->placement > b->score + b->placement;
    return a->normalized > b->normalized;
}

void hypotheses_rank(HypothesisList *list) {
    for (int i = 1; i < list->count; i++) {
        Hypothesis h = list->items[i];
        int place = i;
        for (; place > 0 && hypothesis_is_better(&h, &list->items[place - 1]); place--)
            list->items[place] = list->items[place - 1];
        list->items[place] = h;
    }
}

int search_max_steps(const DecodeOptions *options, int source_length) {
    double steps = floor(options->max_length_factor * source_length + options->max_length_extra);
    return steps < 1 ? 1 : steps > 1e6 ? 1000000 : (int)steps;
}

int constraints_max_steps(const Constraints *constraints, const DecodeOptions *options, int source_length) {
    int steps = search_max_steps(options, source_length),
        prefix = constraints ? (int)constraints->prefix.count : 0;
    int least = prefix > 0 ? prefix + 1 + options->max_length_extra : 0;
    return steps > least ? steps : least;
}

double search_normalize(const DecodeOptions *options, double score, int steps) {
    return steps > 0 ? score / pow((double)steps, options->length_penalty) : score;
}

typedef struct {
    const Tokens *target;           /* the given translation, or NULL */
    const Constraints *constraints; /* or NULL */
    ConstraintState state;
    int sentence, result; /* whose results come there */
    int steps, max_steps;
    int node; /* its last token */
    double score;
    ScoredToken *alternatives; /* [max_steps, alternatives] of a given translation, or NULL */
} GreedyRow;

typedef struct {
    Scorer *scorer;
    const SearchOptions *options;
    Backpointers tree;
    GreedyRow *row; /* [rows], as the next two */
    int *tokens, *sentence;
    int *stay;          /* rows that go on */
    RowChoice *choices; /* NULL: the best token */
    int *given;         /* the tokens that follow given translations */
    int rows;
} GreedySearch;

static void keep_alternatives(GreedyRow *row, const ScoredToken *found, int count, int wanted) {
    ScoredToken *out = row->alternatives + (size_t)row->steps * (size_t)wanted;
    for (int i = 0; i < wanted; i++) out[i] = i < count ? found[i] : (ScoredToken){-1, 0};
}

/* False when the sentence of row r has ended or must stop. */
static bool row_advance(GreedySearch *search, int r, const ScorerStep *step) {
    GreedyRow *row = &search->row[r];
    if (step->count[r] == 0) return false; /* nothing is a number */
    const ScoredToken *found = step->tokens + (size_t)r * (size_t)step->top;
    if (row->alternatives) keep_alternatives(row, found, step->count[r] - 1, search->options->alternatives);
    ScoredToken next = row->target ? found[step->count[r] - 1] : found[0];
    size_t attention = backpointers_keep_attention(&search->tree, &step->attention, r);
    row->node = backpointers_add(&search->tree, row->node, next.token, next.log_p, attention);
    row->score += next.log_p;
    row->steps++;
    if (row->constraints) row->state = constraints_advance(row->constraints, row->state, next.token, NULL);
    return next.token != VOCAB_EOS && row->steps < row->max_steps;
}

static void row_finish(const GreedySearch *search, const GreedyRow *row, HypothesisList *list) {
    list->items = mem_alloc(1, sizeof *list->items);
    list->items[0] = backpointers_follow(&search->tree, row->node, row->steps, row->score, search->options,
                                         list->source_length);
    list->items[0].alternatives = row->alternatives;
    list->count = 1;
}

static RowChoice row_choice(const GreedyRow *row, int alternatives, int *given) {
    if (row->constraints) return constraints_choice(row->constraints, &row->state, 1, given);
    *given = row->steps < row->target->length ? row->target->ids[row->steps] : VOCAB_EOS;
    return (RowChoice){.top = alternatives, .given = given, .given_count = 1};
}

/* Advance all rows; those that have ended leave. */
static void all_advance(GreedySearch *search, HypothesisList *results) {
    for (int r = 0; r < search->rows; r++) {
        const GreedyRow *row = &search->row[r];
        search->tokens[r] = backpointers_token(&search->tree, row->node);
        search->sentence[r] = row->sentence;
        if (search->choices)
            search->choices[r] = row_choice(row, search->options->alternatives, &search->given[r]);
    }
    ScorerStep step = scorer_step(search->scorer, search->options, search->sentence, search->tokens,
                                  search->choices, search->rows);
    int left = 0;
    for (int r = 0; r < search->rows; r++) {
        if (row_advance(search, r, &step)) {
            search->stay[left] = r;
            search->row[left++] = search->row[r];
        } else {
            row_finish(search, &search->row[r], &results[search->row[r].result]);
        }
    }
    if (left > 0 && left < search->rows) scorer_select(search->scorer, search->stay, left);
    search->rows = left;
}

/* One row for each of the given translations, or else of the sentences, with the best tokens or what `guides`
 * [B] want. */
static void search_run(Scorer *scorer, const Tokens *sources, int B, const ForcedTargets *targets,
                       const Constraints *constraints, const SearchOptions *options,
                       HypothesisList *results) {
    int count = targets ? targets->count : B;
    size_t rows = (size_t)count;
    GreedySearch search = {.scorer = scorer, .options = options, .rows = count};
    search.row = mem_alloc(rows, sizeof *search.row);
    search.tokens = mem_alloc(rows, sizeof *search.tokens);
    search.sentence = mem_alloc(rows, sizeof *search.sentence);
    search.stay = mem_alloc(rows, sizeof *search.stay);
    if (targets || constraints) {
        search.choices = mem_alloc(rows, sizeof *search.choices);
        search.given = mem_alloc(rows, sizeof *search.given);
    }
    for (int r = 0; r < count; r++) {
        GreedyRow *row = &search.row[r];
        int b = targets ? forced_sentence(targets, r) : r;
        *row = (GreedyRow){.sentence = b, .result = r, .node = -1};
        row->target = targets ? &targets->items[r] : NULL;
        row->constraints = constraints ? &constraints[b] : NULL;
        row->max_steps = targets
                             ? row->target->length + 1
                             : constraints_max_steps(row->constraints, &options->decode, sources[b].length);
        assert(!row->constraints ||
               row->constraints->phrase_count == 0); /* they would be more than `given` holds */
        if (targets && options->alternatives > 0)
            row->alternatives =
                mem_alloc((size_t)row->max_steps * (size_t)options->alternatives, sizeof *row->alternatives);
        results[r] = (HypothesisList){.source_length = sources[b].length + 1};
    }
    if (count > 0) search_begin(scorer, options, sources, B, targets, constraints);
    if (count > 0 && targets && targets->sentence) scorer_select(scorer, targets->sentence, count);
    while (search.rows > 0) all_advance(&search, results);
    mem_free(search.row);
    mem_free(search.tokens);
    mem_free(search.sentence);
    mem_free(search.stay);
    mem_free(search.choices);
    mem_free(search.given);
    backpointers_leave(&search.tree, options);
}

void greedy_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                   const SearchOptions *options, HypothesisList *results) {
    search_run(scorer, sources, B, NULL, constraints, options, results);
}

void forced_search(Scorer *scorer, const Tokens *sources, int B, const ForcedTargets *targets,
                   const SearchOptions *options, HypothesisList *results) {
    search_run(scorer, sources, B, targets, NULL, options, results);
}
