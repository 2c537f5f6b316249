/* search_single.c - one hypothesis per sentence: the best token at every step, or the tokens of a given
 * translation. */
#include "base/mem.h"
#include "decode/search.h"

typedef struct {
    const Tokens *target; /* the given translation, or NULL */
    int sentence, steps, max_steps;
    int node; /* of the trail */
    double score;
} SingleRow;

typedef struct {
    Scorer *scorer;
    const SearchOptions *options;
    Trail trail;
    SingleRow *row; /* [rows], as the next two */
    int *tokens, *sentence;
    int *stay;  /* rows that go on */
    int *given; /* the tokens that follow, if they are given; else NULL */
    int rows;
} SingleSearch;

/* False when the sentence of row r has ended or must stop. */
static bool row_advance(SingleSearch *search, int r, const ScorerStep *step) {
    SingleRow *row = &search->row[r];
    if (step->count[r] == 0) return false; /* nothing is a number */
    ScoredToken next = step->tokens[r];
    size_t kept = search->options->attention ? trail_keep_attention(&search->trail, &step->attention, r) : 0;
    row->node = trail_add(&search->trail, row->node, next.token, next.log_p, kept);
    row->score += next.log_p;
    row->steps++;
    return next.token != VOCAB_EOS && row->steps < row->max_steps;
}

static void row_finish(const SingleSearch *search, const SingleRow *row, HypothesisList *list) {
    list->items = mem_alloc(1, sizeof *list->items);
    list->items[0] = trail_hypothesis(&search->trail, row->node, row->steps, row->score, search->options,
                                      list->source_length);
    list->count = 1;
}

/* Advance all rows; those that have ended leave. */
static void all_advance(SingleSearch *search, HypothesisList *results) {
    const SearchOptions *options = search->options;
    for (int r = 0; r < search->rows && search->given; r++) {
        const SingleRow *row = &search->row[r];
        search->given[r] = row->steps < row->target->length ? row->target->ids[row->steps] : VOCAB_EOS;
    }
    ScorerWish wish = {.top = 1,
                       .allow_unk = options->allow_unk,
                       .given = search->given,
                       .scores = search->given || !options->tokens_only,
                       .attention = options->attention ? &options->choice : NULL};
    ScorerStep step = scorer_step(search->scorer, search->sentence, search->tokens, search->rows, &wish);
    int left = 0;
    for (int r = 0; r < search->rows; r++) {
        SingleRow row;
        bool on = row_advance(search, r, &step);
        row = search->row[r];
        if (on) {
            search->stay[left] = r;
            search->tokens[left] = search->trail.nodes[row.node].token;
            search->sentence[left] = row.sentence;
            search->row[left++] = row;
        } else {
            row_finish(search, &row, &results[row.sentence]);
        }
    }
    if (left > 0 && left < search->rows) scorer_select(search->scorer, search->stay, left);
    search->rows = left;
}

static void single_run(Scorer *scorer, const Tokens *sources, const Tokens *targets, int B,
                       const SearchOptions *options, HypothesisList *results) {
    size_t rows = (size_t)B;
    SingleSearch search = {.scorer = scorer, .options = options, .rows = B};
    search.row = mem_alloc(rows, sizeof *search.row);
    search.tokens = mem_alloc(rows, sizeof *search.tokens);
    search.sentence = mem_alloc(rows, sizeof *search.sentence);
    search.stay = mem_alloc(rows, sizeof *search.stay);
    if (targets) search.given = mem_alloc(rows, sizeof *search.given);
    for (int b = 0; b < B; b++) {
        int max_steps = targets ? targets[b].length + 1 : search_max_steps(options, sources[b].length);
        search.row[b] = (SingleRow){
            .target = targets ? &targets[b] : NULL, .sentence = b, .max_steps = max_steps, .node = -1};
        search.tokens[b] = VOCAB_BOS;
        search.sentence[b] = b;
        results[b] = (HypothesisList){.source_length = sources[b].length + 1};
    }
    if (search.rows > 0) scorer_encode(scorer, sources, B);
    while (search.rows > 0) all_advance(&search, results);
    mem_free(search.row);
    mem_free(search.tokens);
    mem_free(search.sentence);
    mem_free(search.stay);
    mem_free(search.given);
    trail_free(&search.trail);
}

void greedy_search(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                   HypothesisList *results) {
    single_run(scorer, sources, NULL, B, options, results);
}

void forced_search(Scorer *scorer, const Tokens *sources, const Tokens *targets, int B,
                   const SearchOptions *options, HypothesisList *results) {
    single_run(scorer, sources, targets, B, options, results);
}
