/* scorer.c - see scorer.h. Each model has four tapes: one holds the encoded source, two hold the steps in
 * turn, one holds a block of logits. */
#include "search/scorer.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "kern/kern.h"
#include "search/top_tokens.h"

/* Logits are computed and searched in blocks of rows that fit into a core's own cache; with fewer rows the
 * matrix product would be slow. */
enum { BLOCK_NUMBERS = 3 << 17, BLOCK_ROWS = 48 };

/* The state before a step is on one step tape, the results of the step are on the other. */
typedef struct {
    const Seq2Seq *model;
    Tape *source, *steps[2], *output;
    int current; /* the step tape that holds `state` */
    Encoded *encoded;
    DecoderState state;
    Tensor *readout;        /* of the current step */
    OutputRows output_rows; /* for the tokens of all shortlists, in the order of their ids */
} ScorerModel;

/* The tokens of a row of scores, by id. */
typedef struct {
    const int *ids;     /* [count]; NULL: the whole vocabulary */
    const int *indices; /* [count] among the tokens of all shortlists */
    int count;
} TokenSet;

struct Scorer {
    ScorerModel *models;
    int count;
    /* Shortlists: sentence b has ids[start[b]] up to ids[start[b + 1]]; no sentences: no shortlists. */
    int *ids, *indices; /* indices[i]: the index of ids[i] among the tokens of all shortlists */
    size_t *start;
    size_t sentences, ids_capacity, indices_capacity, start_capacity;
    bool right_to_left;
    int nonfinite; /* model; -1: none */
    int V;
    IdList banned;       /* tokens that no model may write */
    real *scratch;       /* of top_tokens_find */
    int *best;           /* [top] */
    ScoredToken *tokens; /* [rows, top] */
    int *counts;         /* [rows] */
    size_t scratch_capacity, best_capacity, tokens_capacity, counts_capacity;
};

Status scorer_check(const Seq2Seq *const *models, int count) {
    const Vocab *first = tokenizer_vocab(seq2seq_target(models[0]));
    for (int m = 1; m < count; m++) {
        const Vocab *other = tokenizer_vocab(seq2seq_target(models[m]));
        int id = vocab_difference(first, other), sizes[] = {vocab_size(first), vocab_size(other)};
        if (id < 0) continue;
        if (sizes[0] != sizes[1])
            status_fail(STATUS_USAGE, "model %d has %d target tokens, model 1 has %d", m + 1, sizes[1],
                        sizes[0]);
        else
            status_fail(STATUS_USAGE, "target token %d is '%.*s' in model %d but '%.*s' in model 1", id,
                        SV_ARG(vocab_token(other, id)), m + 1, SV_ARG(vocab_token(first, id)));
        return status_hint(STATUS_USAGE, "models that translate together share one target vocabulary");
    }
    return STATUS_OK;
}

Scorer *scorer_new(const Seq2Seq *const *models, int count, bool right_to_left) {
    Scorer *scorer = mem_alloc(1, sizeof *scorer);
    scorer->models = mem_alloc((size_t)count, sizeof *scorer->models);
    scorer->count = count;
    scorer->right_to_left = right_to_left;
    scorer->nonfinite = -1;
    scorer->V = vocab_size(tokenizer_vocab(seq2seq_target(models[0])));
    for (int m = 0; m < count; m++) {
        ScorerModel *one = &scorer->models[m];
        const ParamSet *params = seq2seq_params(models[m]);
        const IdList *banned = tokenizer_role(seq2seq_target(models[m]), TOKENIZER_BANNED);
        for (size_t i = 0; i < banned->count; i++) id_list_add(&scorer->banned, banned->ids[i]);
        one->model = models[m];
        one->source = tape_new(params, false);
        one->steps[0] = tape_new(params, false);
        one->steps[1] = tape_new(params, false);
        one->output = tape_new(params, false);
    }
    return scorer;
}

int scorer_first_nonfinite(const Scorer *scorer) { return scorer->nonfinite; }

void scorer_free(Scorer *scorer) {
    if (!scorer) return;
    for (int m = 0; m < scorer->count; m++) {
        tape_free(scorer->models[m].source);
        tape_free(scorer->models[m].steps[0]);
        tape_free(scorer->models[m].steps[1]);
        tape_free(scorer->models[m].output);
        output_rows_free(&scorer->models[m].output_rows);
    }
    mem_free(scorer->models);
    id_list_free(&scorer->banned);
    mem_free(scorer->ids);
    mem_free(scorer->indices);
    mem_free(scorer->start);
    mem_free(scorer->scratch);
    mem_free(scorer->best);
    mem_free(scorer->tokens);
    mem_free(scorer->counts);
    mem_free(scorer);
}

int forced_sentence(const ForcedTargets *targets, int i) {
    return targets->sentence ? targets->sentence[i] : i;
}

/* Mark the tokens that the models' shortlists have for sentence b. */
static void mark_shortlists(const Scorer *scorer, int most, const Tokens *sources, int B, int b,
                            bool *marked) {
    for (int v = 0; v < VOCAB_SPECIALS; v++) marked[v] = true;
    for (int m = 0; m < scorer->count; m++) {
        const Seq2Seq *model = scorer->models[m].model;
        Tokens source = sources[(size_t)m * (size_t)B + (size_t)b];
        bool joint = seq2seq_shares_vocabulary(model);
        shortlist_mark(seq2seq_shortlist(model), most, source, marked);
        for (int i = 0; joint && i < source.length; i++) marked[source.ids[i]] = true; /* words to copy */
    }
}

/* Add the next sentence with the marked tokens. */
static void add_shortlist(Scorer *scorer, const bool *marked) {
    size_t b = scorer->sentences++;
    MEM_GROW(scorer->start, scorer->start_capacity, b + 2);
    if (b == 0) scorer->start[0] = 0;
    size_t count = scorer->start[b];
    MEM_GROW(scorer->ids, scorer->ids_capacity, count + (size_t)scorer->V);
    for (int v = 0; v < scorer->V; v++) {
        scorer->ids[count] = v;
        count += marked[v];
    }
    scorer->start[b + 1] = count;
}

/* Take the rows of the output layer of all listed tokens out of the models, once for all steps. */
static void gather_output_rows(Scorer *scorer) {
    size_t total = scorer->start[scorer->sentences], count = 0;
    int *index_of =
            mem_alloc((size_t)scorer->V, sizeof *index_of),     /* by token: 1 if it is listed, then that */
        *tokens = mem_alloc((size_t)scorer->V, sizeof *tokens); /* by index */
    for (size_t i = 0; i < total; i++) index_of[scorer->ids[i]] = 1;
    for (int v = 0; v < scorer->V; v++) {
        if (!index_of[v]) continue;
        tokens[count] = v;
        index_of[v] = (int)count++;
    }
    MEM_GROW(scorer->indices, scorer->indices_capacity, total);
    for (size_t i = 0; i < total; i++) scorer->indices[i] = index_of[scorer->ids[i]];
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        seq2seq_output_rows(one->model, tokens, (int)count, &one->output_rows);
    }
    mem_free(index_of);
    mem_free(tokens);
}

static void begin_shortlists(Scorer *scorer, int most, const Tokens *sources, int B,
                             const ForcedTargets *targets, const Constraints *constraints) {
    size_t V = (size_t)scorer->V;
    bool *marked = mem_alloc(V, sizeof *marked);
    for (int b = 0, next = 0; b < B; b++) {
        memset(marked, 0, V * sizeof *marked);
        mark_shortlists(scorer, most, sources, B, b, marked);
        for (; targets && next < targets->count && forced_sentence(targets, next) == b; next++)
            for (int i = 0; i < targets->items[next].length; i++) marked[targets->items[next].ids[i]] = true;
        if (constraints) constraints_mark_tokens(&constraints[b], marked);
        add_shortlist(scorer, marked);
    }
    mem_free(marked);
    gather_output_rows(scorer);
}

void scorer_begin(Scorer *scorer, const SearchOptions *options, const Tokens *sources, int B,
                  const ForcedTargets *targets, const Constraints *constraints) {
    scorer->sentences = 0;
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        tape_reset(one->source);
        tape_reset(one->steps[0]);
        tape_reset(one->steps[1]);
        one->encoded = seq2seq_encode(one->model, one->source, one->steps[0], sources + (size_t)m * (size_t)B,
                                      B, scorer->right_to_left);
        one->current = 0;
        one->state = seq2seq_start(one->encoded);
    }
    if (options->shortlist > 0)
        begin_shortlists(scorer, options->shortlist, sources, B, targets, constraints);
}

static TokenSet tokens_of(const Scorer *scorer, int sentence) {
    if (scorer->sentences == 0) return (TokenSet){NULL, NULL, scorer->V};
    const size_t *start = scorer->start + sentence;
    return (TokenSet){scorer->ids + start[0], scorer->indices + start[0], (int)(start[1] - start[0])};
}

static int token_at(const TokenSet *set, int column) { return set->ids ? set->ids[column] : column; }

/* The column of a token; -1 if the set does not have it. */
static int find_column(const TokenSet *set, int token) {
    int low = 0, high = set->count - 1;
    if (!set->ids) return token;
    while (low < high) {
        int middle = (low + high) / 2;
        if (set->ids[middle] < token)
            low = middle + 1;
        else
            high = middle;
    }
    return set->ids[low] == token ? low : -1;
}

static int column_of(const TokenSet *set, int token) {
    int column = find_column(set, token);
    assert(column >= 0);
    return column;
}

/* Logits of rows first..first+rows-1, [rows, set->count]. */
static Tensor *model_scores(ScorerModel *one, const TokenSet *set, int first, int rows) {
    tape_reset(one->output);
    if (!set->ids)
        return seq2seq_logits(one->model, one->output, tape_rows(one->output, one->readout, first, rows));
    Tensor *logits = tape_tensor(one->output, rows, set->count);
    const TokenSubset tokens = {set->ids, set->indices, &one->output_rows, set->count};
    seq2seq_subset_logits(one->model, one->readout, first, rows, &tokens, logits->data);
    return logits;
}

/* Scores of rows first..first+rows-1, [rows, set->count]: one model's logits, or the sums of several models'
 * probabilities. */
static const Tensor *block_scores(Scorer *scorer, const TokenSet *set, int first, int rows) {
    Tensor *sum = model_scores(&scorer->models[0], set, first, rows);
    if (scorer->count == 1) return sum;
    for (int m = 0; m < scorer->count; m++) {
        Tensor *scores = m == 0 ? sum : model_scores(&scorer->models[m], set, first, rows);
        for (int r = 0; r < rows; r++) {
            real *row = tensor_row(scores, r);
            kern->softmax((size_t)set->count, row);
            /* If one score is not finite, no probability is. */
            if (!isfinite((double)row[0]) && scorer->nonfinite < 0) scorer->nonfinite = m;
        }
        if (m > 0) kern->add(tensor_size(sum), scores->data, sum->data);
    }
    return sum;
}

/* log p of a token with that score. `log_sum`: logarithm of the sum of the exponentials of the row, if there
 * is one model. */
static double log_p(const Scorer *scorer, double score, double log_sum) {
    if (scorer->count == 1) return score - log_sum;
    /* Floats below FLT_MIN lose precision, down to 0. */
    return log((score > FLT_MIN ? score : FLT_MIN) / scorer->count);
}

static bool is_extra(const RowChoice *choice, int token) {
    for (int i = 0; i < choice->extra_count; i++)
        if (choice->extra[i] == token) return true;
    return false;
}

/* Overwrite the scores of the tokens that may not be chosen. */
static void restrict_row(const Scorer *scorer, const TokenSet *set, const RowChoice *choice, real *row) {
    for (int v = 0; choice->allowed && v < set->count; v++)
        if (!choice->allowed[token_at(set, v)]) row[v] = (real)-INFINITY;
    for (size_t i = 0; i < scorer->banned.count; i++) {
        int token = scorer->banned.ids[i], column = find_column(set, token);
        if (column >= 0 && !is_extra(choice, token)) row[column] = (real)-INFINITY;
    }
    for (int i = 0; i < choice->banned_count; i++)
        if (!is_extra(choice, choice->banned[i])) row[column_of(set, choice->banned[i])] = (real)-INFINITY;
}

/* The chosen tokens of one row of scores; returns their number. Restrictions overwrite the row. */
static int row_tokens(Scorer *scorer, const SearchOptions *options, const TokenSet *set, real *row,
                      const RowChoice *choice, ScoredToken *out) {
    bool scores = choice->extra_count > 0 || choice->top > 1 || !options->tokens_only;
    bool restricted =
        choice->allowed || choice->banned_count > 0 || (scorer->banned.count > 0 && choice->top > 0);
    real greatest, greatest_allowed;
    double log_sum = 0;
    int count = top_tokens_find(row, set->count, restricted ? 0 : choice->top, options->decode.allow_unk,
                                scorer->scratch, scorer->best, &greatest);
    if (scores && scorer->count == 1) log_sum = (double)kern->log_sum_exp((size_t)set->count, row, greatest);
    if ((!isfinite((double)greatest) || !isfinite(log_sum)) && scorer->nonfinite < 0) scorer->nonfinite = 0;
    if (restricted) {
        restrict_row(scorer, set, choice, row);
        count = top_tokens_find(row, set->count, choice->top, options->decode.allow_unk, scorer->scratch,
                                scorer->best, &greatest_allowed);
        while (count > 0 && row[scorer->best[count - 1]] == (real)-INFINITY) count--;
    }
    for (int i = 0; i < choice->extra_count; i++) scorer->best[count++] = column_of(set, choice->extra[i]);
    for (int i = 0; i < count; i++) {
        int column = scorer->best[i];
        double score = scores ? log_p(scorer, (double)row[column], log_sum) : 0;
        out[i] = (ScoredToken){token_at(set, column), score};
    }
    return count;
}

/* The number of rows from `first` on that are scored together: rows of one sentence if there are
 * shortlists. */
static int block_rows(const Scorer *scorer, const int *row_sentence, int first, int rows) {
    int fit = BLOCK_NUMBERS / scorer->V, end = first + (fit > BLOCK_ROWS ? fit : BLOCK_ROWS);
    if (scorer->sentences == 0) return (end < rows ? end : rows) - first;
    for (end = first + 1; end < rows && row_sentence[end] == row_sentence[first];) end++;
    return end - first;
}

/* The tokens of all rows; returns the number of columns of scorer->tokens. */
static int all_tokens(Scorer *scorer, const SearchOptions *options, const int *row_sentence,
                      const RowChoice *choices, int rows) {
    const RowChoice best = {.top = options->decode.beam_size + (options->tree ? SEARCH_PRUNED : 0)};
    int top = choices ? 0 : best.top, most = top;
    for (int r = 0; r < rows && choices; r++) {
        if (choices[r].top > top) top = choices[r].top;
        if (choices[r].top + choices[r].extra_count > most) most = choices[r].top + choices[r].extra_count;
    }
    size_t width = (size_t)most;
    MEM_GROW(scorer->scratch, scorer->scratch_capacity, top_tokens_scratch(scorer->V, top));
    MEM_GROW(scorer->best, scorer->best_capacity, width);
    MEM_GROW(scorer->tokens, scorer->tokens_capacity, (size_t)rows * width);
    MEM_GROW(scorer->counts, scorer->counts_capacity, (size_t)rows);
    for (int first = 0, size; first < rows; first += size) {
        TokenSet set = tokens_of(scorer, row_sentence[first]);
        size = block_rows(scorer, row_sentence, first, rows);
        const Tensor *scores = block_scores(scorer, &set, first, size);
        for (int i = 0, r = first; i < size; i++, r++)
            scorer->counts[r] = row_tokens(scorer, options, &set, tensor_row(scores, i),
                                           choices ? &choices[r] : &best, scorer->tokens + (size_t)r * width);
    }
    return most;
}

ScorerStep scorer_step(Scorer *scorer, const SearchOptions *options, const int *row_sentence,
                       const int *tokens, const RowChoice *choices, int rows) {
    ScorerStep step = {.rows = rows};
    step.attention.choice = options->choice;
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        one->current = 1 - one->current;
        Tape *tape = one->steps[one->current];
        tape_reset(tape);
        StepContext context = {.tape = tape,
                               .encoded = one->encoded,
                               .rows = rows,
                               .row_sentence = row_sentence,
                               .state = &one->state,
                               .attention = options->attention && m == 0 ? &step.attention : NULL};
        one->readout = seq2seq_readout(one->model, &context, tokens);
    }
    step.top = all_tokens(scorer, options, row_sentence, choices, rows);
    step.tokens = scorer->tokens;
    step.count = scorer->counts;
    return step;
}

void scorer_ban_empty(const DecodeOptions *options, RowChoice *choice) {
    static const int end = VOCAB_EOS;
    if (options->early_stopping != STOP_CTRANSLATE2) return;
    choice->banned = &end;
    choice->banned_count = 1;
}

void scorer_select(Scorer *scorer, const int *index, int rows) {
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        one->state = seq2seq_select(one->steps[one->current], &one->state, index, rows);
    }
}
