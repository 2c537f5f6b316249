/* scorer.c - one set of tapes per model: the encoded source on one, steps on two others in turn, a block of
 * logits on a fourth. */
#include "decode/scorer.h"

#include <float.h>
#include <math.h>
#include "base/mem.h"
#include "decode/top_tokens.h"
#include "num/kern.h"

/* Logits are made and searched in blocks of rows that the core's own cache holds; fewer rows would not be
 * worth a product. */
enum { BLOCK_NUMBERS = 3 << 17, BLOCK_ROWS = 48 };

/* The state that goes into a step lives on one step tape while the step's results are made on the other. */
typedef struct {
    const Seq2Seq *model;
    Tape *source, *steps[2], *output;
    int current; /* the step tape that holds `state` */
    Encoded *encoded;
    DecoderState state;
    Tensor *readout; /* of the step under way */
} ScorerModel;

struct Scorer {
    ScorerModel *models;
    int count;
    int broken; /* model; -1: none */
    int V;
    real *scratch; /* of top_tokens_find */
    int *best;     /* [top] */
    ScoredToken *tokens;
    int *found;
    size_t scratch_capacity, best_capacity, tokens_capacity, found_capacity;
};

Status scorer_check(const Seq2Seq *const *models, int count) {
    const Vocab *first = segmenter_vocab(seq2seq_target(models[0]));
    for (int m = 1; m < count; m++) {
        const Vocab *other = segmenter_vocab(seq2seq_target(models[m]));
        if (vocab_size(other) != vocab_size(first)) {
            status_fail(STATUS_USAGE, "model %d has %d target tokens, model 1 has %d", m + 1,
                        vocab_size(other), vocab_size(first));
            return status_hint(STATUS_USAGE, "models that translate together share one target vocabulary");
        }
        for (int id = 0; id < vocab_size(first); id++) {
            StrView a = vocab_token(first, id), b = vocab_token(other, id);
            if (sv_equal(a, b)) continue;
            status_fail(STATUS_USAGE, "target token %d is '%.*s' in model %d but '%.*s' in model 1", id,
                        SV_ARG(b), m + 1, SV_ARG(a));
            return status_hint(STATUS_USAGE, "models that translate together share one target vocabulary");
        }
    }
    return STATUS_OK;
}

Scorer *scorer_new(const Seq2Seq *const *models, int count) {
    Scorer *scorer = mem_alloc(1, sizeof *scorer);
    scorer->models = mem_alloc((size_t)count, sizeof *scorer->models);
    scorer->count = count;
    scorer->broken = -1;
    scorer->V = vocab_size(segmenter_vocab(seq2seq_target(models[0])));
    for (int m = 0; m < count; m++) {
        ScorerModel *one = &scorer->models[m];
        const ParamSet *params = seq2seq_params(models[m]);
        one->model = models[m];
        one->source = tape_new(params, false);
        one->steps[0] = tape_new(params, false);
        one->steps[1] = tape_new(params, false);
        one->output = tape_new(params, false);
    }
    return scorer;
}

int scorer_broken(const Scorer *scorer) { return scorer->broken; }

void scorer_free(Scorer *scorer) {
    if (!scorer) return;
    for (int m = 0; m < scorer->count; m++) {
        tape_free(scorer->models[m].source);
        tape_free(scorer->models[m].steps[0]);
        tape_free(scorer->models[m].steps[1]);
        tape_free(scorer->models[m].output);
    }
    mem_free(scorer->models);
    mem_free(scorer->scratch);
    mem_free(scorer->best);
    mem_free(scorer->tokens);
    mem_free(scorer->found);
    mem_free(scorer);
}

void scorer_encode(Scorer *scorer, const Tokens *sources, int B) {
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        tape_reset(one->source);
        tape_reset(one->steps[0]);
        tape_reset(one->steps[1]);
        one->encoded = seq2seq_encode_in_parts(one->model, one->source, one->steps[0],
                                               sources + (size_t)m * (size_t)B, B);
        one->current = 0;
        one->state = seq2seq_start(one->encoded);
    }
}

/* Logits of rows first..first+rows-1, [rows, V]. */
static Tensor *model_scores(ScorerModel *one, int first, int rows) {
    tape_reset(one->output);
    return seq2seq_logits(one->model, one->output, tape_rows(one->output, one->readout, first, rows));
}

/* Scores of rows first..first+rows-1, [rows, V]: one model's logits, or the sums of several models'
 * probabilities. */
static const Tensor *block_scores(Scorer *scorer, int first, int rows) {
    Tensor *sum = model_scores(&scorer->models[0], first, rows);
    if (scorer->count == 1) return sum;
    for (int m = 0; m < scorer->count; m++) {
        Tensor *scores = m == 0 ? sum : model_scores(&scorer->models[m], first, rows);
        for (int r = 0; r < rows; r++) {
            real *row = tensor_row(scores, r);
            kern->softmax((size_t)scorer->V, row);
            if (!isfinite((double)row[0]) && scorer->broken < 0) scorer->broken = m; /* then all are not */
        }
        if (m > 0) kern->add(tensor_size(sum), scores->data, sum->data);
    }
    return sum;
}

/* log p of a token. `log_sum`: logarithm of the sum of the exponentials of one model's scores. */
static double log_p(const Scorer *scorer, double score, double log_sum) {
    if (scorer->count == 1) return score - log_sum;
    return log((score > FLT_MIN ? score : FLT_MIN) /
               scorer->count); /* a float cannot tell less from nothing */
}

/* Look at the scores of one row, which a choice among some tokens overwrites. Returns how many tokens. */
static int row_tokens(Scorer *scorer, const SearchOptions *options, real *row, const RowChoice *choice,
                      ScoredToken *out) {
    bool scores = choice->given_count > 0 || choice->top > 1 || !options->tokens_only;
    real greatest, greatest_allowed;
    double log_sum = 0;
    int count = top_tokens_find(row, scorer->V, choice->allowed ? 0 : choice->top, options->decode.allow_unk,
                                scorer->scratch, scorer->best, &greatest);
    for (int i = 0; i < choice->given_count; i++) scorer->best[count++] = choice->given[i];
    if (scores && scorer->count == 1) log_sum = (double)kern->log_sum_exp((size_t)scorer->V, row, greatest);
    if ((!isfinite((double)greatest) || !isfinite(log_sum)) && scorer->broken < 0) scorer->broken = 0;
    if (choice->allowed) {
        for (int v = 0; v < scorer->V; v++)
            if (!choice->allowed[v]) row[v] = (real)-INFINITY;
        count = top_tokens_find(row, scorer->V, choice->top, options->decode.allow_unk, scorer->scratch,
                                scorer->best, &greatest_allowed);
        while (count > 0 && !choice->allowed[scorer->best[count - 1]]) count--;
    }
    for (int i = 0; i < count; i++) {
        int token = scorer->best[i];
        out[i] = (ScoredToken){token, scores ? log_p(scorer, (double)row[token], log_sum) : 0};
    }
    return count;
}

/* Rows that are searched together. */
static int block_rows(const Scorer *scorer) {
    int fit = BLOCK_NUMBERS / scorer->V;
    return fit > BLOCK_ROWS ? fit : BLOCK_ROWS;
}

/* Returns the room for tokens in a row. */
static int all_tokens(Scorer *scorer, const SearchOptions *options, const RowChoice *choices, int rows) {
    const RowChoice best = {.top = options->decode.beam_size + (options->tree ? SEARCH_DROPPED : 0)};
    int block = block_rows(scorer), top = choices ? 0 : best.top, most = top;
    for (int r = 0; r < rows && choices; r++) {
        if (choices[r].top > top) top = choices[r].top;
        if (choices[r].top + choices[r].given_count > most) most = choices[r].top + choices[r].given_count;
    }
    size_t width = (size_t)most;
    MEM_GROW(scorer->scratch, scorer->scratch_capacity, top_tokens_scratch(scorer->V, top));
    MEM_GROW(scorer->best, scorer->best_capacity, width);
    MEM_GROW(scorer->tokens, scorer->tokens_capacity, (size_t)rows * width);
    MEM_GROW(scorer->found, scorer->found_capacity, (size_t)rows);
    for (int first = 0; first < rows; first += block) {
        int size = rows - first < block ? rows - first : block;
        const Tensor *scores = block_scores(scorer, first, size);
        for (int i = 0, r = first; i < size; i++, r++)
            scorer->found[r] = row_tokens(scorer, options, tensor_row(scores, i),
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
        one->readout = seq2seq_readout(one->model, tape, one->encoded, row_sentence, tokens, rows,
                                       &one->state, options->attention && m == 0 ? &step.attention : NULL);
    }
    step.top = all_tokens(scorer, options, choices, rows);
    step.tokens = scorer->tokens;
    step.count = scorer->found;
    return step;
}

void scorer_select(Scorer *scorer, const int *index, int rows) {
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        one->state = seq2seq_select(one->steps[one->current], &one->state, index, rows);
    }
}
