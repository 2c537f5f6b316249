/* greedy.c - one hypothesis per sentence: the best token at each step, or the tokens of a given
 * translation. */
#include <assert.h>
#include "base/mem.h"
#include "search/repetition.h"
#include "search/search.h"

typedef struct {
    const Tokens *target;           /* the given translation, or NULL */
    const Constraints *constraints; /* or NULL */
    ConstraintState state;
    int sentence;
    int result; /* index into the results */
    int steps, max_steps;
    int loop_limit; /* repetition.h */
    int node;       /* the last token */
    double score;
    ScoredToken *alternatives; /* [max_steps, alternatives] of a given translation, or NULL */
} GreedyRow;

typedef struct {
    Scorer *scorer;
    const SearchOptions *options;
    Backpointers tree;
    int rows;
    GreedyRow *row;         /* [rows] */
    int *tokens, *sentence; /* [rows] */
    int *growing;           /* [rows] rows that have not ended */
    RowChoice *choices;     /* [rows]; NULL: the best token */
    bool first_choices;     /* only at the first step */
    int *extra;             /* [rows] the next tokens of given translations or prefixes */
    RepeatFilter filter;
} GreedySearch;

static void add_alternatives(GreedyRow *row, const ScoredToken *best, int count, int most) {
    ScoredToken *out = row->alternatives + (size_t)row->steps * (size_t)most;
    for (int i = 0; i < most; i++) out[i] = i < count ? best[i] : (ScoredToken){-1, 0};
}

static bool row_loops(const GreedySearch *search, const GreedyRow *row) {
    int prefix = row->constraints ? (int)row->constraints->prefix.count : 0;
    if (row->target || row->steps % LOOP_EVERY != 0) return false;
    return hypothesis_loops(&search->tree, row->node, row->steps - prefix, row->loop_limit);
}

/* Returns false when row r has ended. */
static bool row_advance(GreedySearch *search, int r, const ScorerStep *step) {
    GreedyRow *row = &search->row[r];
    if (step->count[r] == 0) return false; /* no score is a number */
    const ScoredToken *best = step->tokens + (size_t)r * (size_t)step->top;
    if (row->alternatives) add_alternatives(row, best, step->count[r] - 1, search->options->alternatives);
    ScoredToken next = row->target ? best[step->count[r] - 1] : best[0];
    if (!row->target && row->steps + 1 == row->max_steps && hypothesis_forces_end(&search->options->decode))
        next = (ScoredToken){VOCAB_EOS, 0};
    size_t attention = backpointers_add_attention(&search->tree, &step->attention, r);
    row->node = backpointers_add(&search->tree, row->node, next.token, next.log_p, attention);
    row->score += next.log_p;
    row->steps++;
    if (row->constraints) row->state = constraints_advance(row->constraints, row->state, next.token, NULL);
    return next.token != VOCAB_EOS && row->steps < row->max_steps && !row_loops(search, row);
}

static void row_finish(const GreedySearch *search, const GreedyRow *row, HypothesisList *list) {
    list->items = mem_alloc(1, sizeof *list->items);
    list->items[0] = backpointers_follow(&search->tree, row->node, row->steps, row->score, search->options,
                                         list->source_length);
    list->items[0].alternatives = row->alternatives;
    list->count = 1;
}

static RowChoice row_choice(GreedySearch *search, const GreedyRow *row, int *extra) {
    int n = search->options->decode.no_repeat_ngram;
    if (!row->target) {
        RowChoice choice = {.top = 1};
        if (row->constraints) choice = constraints_choice(row->constraints, &row->state, 1, extra);
        if (n > 0) repeat_filter_ban(&search->filter, &search->tree, row->node, row->steps, n, &choice);
        if (row->steps == 0 && !row->constraints) scorer_ban_empty(&search->options->decode, &choice);
        return choice;
    }
    *extra = row->steps < row->target->length ? row->target->ids[row->steps] : VOCAB_EOS;
    return (RowChoice){.top = search->options->alternatives, .extra = extra, .extra_count = 1};
}

/* One step of all rows; rows that end leave. */
static void greedy_advance(GreedySearch *search, HypothesisList *results) {
    if (search->options->decode.no_repeat_ngram > 0)
        repeat_filter_begin(&search->filter, search->rows, search->row[0].steps);
    for (int r = 0; r < search->rows; r++) {
        const GreedyRow *row = &search->row[r];
        search->tokens[r] = backpointers_token(&search->tree, row->node);
        search->sentence[r] = row->sentence;
        if (search->choices) search->choices[r] = row_choice(search, row, &search->extra[r]);
    }
    ScorerStep step = scorer_step(search->scorer, search->options, search->sentence, search->tokens,
                                  search->choices, search->rows);
    if (search->first_choices) {
        mem_free(search->choices);
        search->choices = NULL;
        search->first_choices = false;
    }
    int count = 0;
    for (int r = 0; r < search->rows; r++) {
        if (row_advance(search, r, &step)) {
            search->growing[count] = r;
            search->row[count++] = search->row[r];
        } else {
            row_finish(search, &search->row[r], &results[search->row[r].result]);
        }
    }
    if (count > 0 && count < search->rows) scorer_select(search->scorer, search->growing, count);
    search->rows = count;
}

/* One row for each given translation; without `targets`, for each sentence. `constraints` [B], or NULL. */
static void search_run(Scorer *scorer, const Tokens *sources, int B, const ForcedTargets *targets,
                       const Constraints *constraints, const SearchOptions *options,
                       HypothesisList *results) {
    int count = targets ? targets->count : B;
    size_t rows = (size_t)count;
    GreedySearch search = {.scorer = scorer, .options = options, .rows = count};
    search.row = mem_alloc(rows, sizeof *search.row);
    search.tokens = mem_alloc(rows, sizeof *search.tokens);
    search.sentence = mem_alloc(rows, sizeof *search.sentence);
    search.growing = mem_alloc(rows, sizeof *search.growing);
    bool always = targets || constraints || options->decode.no_repeat_ngram > 0;
    search.first_choices = !always && options->decode.early_stopping == STOP_CTRANSLATE2;
    if (always || search.first_choices) {
        search.choices = mem_alloc(rows, sizeof *search.choices);
        search.extra = mem_alloc(rows, sizeof *search.extra);
    }
    for (int r = 0; r < count; r++) {
        GreedyRow *row = &search.row[r];
        int b = targets ? forced_sentence(targets, r) : r;
        *row = (GreedyRow){.sentence = b, .result = r, .node = -1};
        row->target = targets ? &targets->items[r] : NULL;
        row->loop_limit = targets ? 0 : loop_limit(options, sources[b]);
        row->constraints = constraints ? &constraints[b] : NULL;
        row->max_steps = targets
                             ? row->target->length + 1
                             : constraints_max_steps(row->constraints, &options->decode, sources[b].length);
        assert(!row->constraints || row->constraints->phrase_count == 0); /* `extra` has one token a row */
        if (targets && options->alternatives > 0)
            row->alternatives =
                mem_alloc((size_t)row->max_steps * (size_t)options->alternatives, sizeof *row->alternatives);
        results[r] = (HypothesisList){.source_length = sources[b].length + 1};
    }
    if (count > 0) scorer_begin(scorer, options, sources, B, targets, constraints);
    if (count > 0 && targets && targets->sentence) scorer_select(scorer, targets->sentence, count);
    while (search.rows > 0) greedy_advance(&search, results);
    mem_free(search.row);
    mem_free(search.tokens);
    mem_free(search.sentence);
    mem_free(search.growing);
    mem_free(search.choices);
    mem_free(search.extra);
    repeat_filter_free(&search.filter);
    backpointers_finish(&search.tree, options);
}

void greedy_search(Scorer *scorer, const Tokens *sources, const Constraints *constraints, int B,
                   const SearchOptions *options, HypothesisList *results) {
    search_run(scorer, sources, B, NULL, constraints, options, results);
}

void forced_search(Scorer *scorer, const Tokens *sources, int B, const ForcedTargets *targets,
                   const SearchOptions *options, HypothesisList *results) {
    search_run(scorer, sources, B, targets, NULL, options, results);
}

void search_add_alternatives(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                             HypothesisList *results) {
    SearchOptions forcing = *options;
    Tokens *targets = mem_alloc((size_t)B, sizeof *targets);
    HypothesisList *forced = mem_alloc((size_t)B, sizeof *forced);
    forcing.attention = false;
    forcing.tree = NULL;
    for (int b = 0; b < B; b++) targets[b] = (Tokens){results[b].items[0].ids, results[b].items[0].length};
    forced_search(scorer, sources, B, &(ForcedTargets){targets, B, NULL}, &forcing, forced);
    for (int b = 0; b < B; b++) {
        results[b].items[0].alternatives = forced[b].items[0].alternatives;
        forced[b].items[0].alternatives = NULL;
        hypotheses_free(&forced[b]);
    }
    mem_free(forced);
    mem_free(targets);
}
