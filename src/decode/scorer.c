/* scorer.c - one set of tapes per model: the encoded source on one, steps on two others in turn. */
#include "decode/scorer.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "num/kern.h"

/* The state that goes into a step lives on one step tape while the step's results are made on the other. */
typedef struct {
    const Seq2Seq *model;
    Tape *source, *steps[2];
    int current; /* the step tape that holds `state` */
    Encoded *encoded;
    DecoderState state;
} ScorerModel;

struct Scorer {
    ScorerModel *models;
    int count;
    int V;
    real *scratch;         /* [V] */
    real *log_sum, *mixed; /* [rows] and, for ensembles, [rows, V] */
    size_t log_sum_capacity, mixed_capacity;
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
    scorer->V = vocab_size(segmenter_vocab(seq2seq_target(models[0])));
    scorer->scratch = mem_aligned((size_t)scorer->V, sizeof(real));
    for (int m = 0; m < count; m++) {
        ScorerModel *one = &scorer->models[m];
        const ParamSet *params = seq2seq_params(models[m]);
        one->model = models[m];
        one->source = tape_new(params, false);
        one->steps[0] = tape_new(params, false);
        one->steps[1] = tape_new(params, false);
    }
    return scorer;
}

void scorer_free(Scorer *scorer) {
    if (!scorer) return;
    for (int m = 0; m < scorer->count; m++) {
        tape_free(scorer->models[m].source);
        tape_free(scorer->models[m].steps[0]);
        tape_free(scorer->models[m].steps[1]);
    }
    mem_free(scorer->models);
    mem_free(scorer->scratch);
    mem_free(scorer->log_sum);
    mem_free(scorer->mixed);
    mem_free(scorer);
}

void scorer_encode(Scorer *scorer, const SourceBatch *sources) {
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        assert(sources[m].B == sources[0].B);
        tape_reset(one->source);
        tape_reset(one->steps[0]);
        tape_reset(one->steps[1]);
        one->encoded =
            seq2seq_encode(one->model, one->source, sources[m].ids, sources[m].lengths, sources[m].B);
        one->current = 0;
        one->state = seq2seq_start(one->encoded);
    }
}

/* Scores of one model: its logits, and what makes them logarithms of probabilities. */
static void score_single(Scorer *scorer, const Tensor *logits, ScorerStep *step) {
    size_t V = (size_t)scorer->V;
    for (int r = 0; r < logits->rows; r++) {
        memcpy(scorer->scratch, tensor_row(logits, r), V * sizeof(real));
        scorer->log_sum[r] = kern->softmax(V, scorer->scratch);
    }
    step->scores = logits->data;
    step->log_sum = scorer->log_sum;
}

/* Scores of several models: the sum of their probabilities. */
static void score_mixed(Scorer *scorer, const Tensor *logits, bool first) {
    size_t V = (size_t)scorer->V;
    for (int r = 0; r < logits->rows; r++) {
        real *sum = scorer->mixed + (size_t)r * V, *p = first ? sum : scorer->scratch;
        memcpy(p, tensor_row(logits, r), V * sizeof(real));
        kern->softmax(V, p);
        if (!first) kern->add(V, p, sum);
    }
}

ScorerStep scorer_step(Scorer *scorer, const int *row_sentence, const int *tokens, int rows,
                       const AttentionChoice *attention) {
    ScorerStep step = {.rows = rows, .V = scorer->V, .models = scorer->count};
    if (attention) step.attention.choice = *attention;
    MEM_GROW(scorer->log_sum, scorer->log_sum_capacity, (size_t)rows);
    if (scorer->count > 1) {
        MEM_GROW(scorer->mixed, scorer->mixed_capacity, (size_t)rows * (size_t)scorer->V);
        step.scores = scorer->mixed;
    }
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        one->current = 1 - one->current;
        Tape *tape = one->steps[one->current];
        tape_reset(tape);
        Tensor *logits = seq2seq_step(one->model, tape, one->encoded, row_sentence, tokens, rows, &one->state,
                                      attention && m == 0 ? &step.attention : NULL);
        assert(logits->rows == rows && logits->columns == scorer->V);
        if (scorer->count == 1)
            score_single(scorer, logits, &step);
        else
            score_mixed(scorer, logits, m == 0);
    }
    return step;
}

double scorer_log_p(const ScorerStep *step, int row, int token) {
    double score = (double)step->scores[(size_t)row * (size_t)step->V + (size_t)token];
    if (step->log_sum) return score - (double)step->log_sum[row];
    return log((score > FLT_MIN ? score : FLT_MIN) /
               step->models); /* a float cannot tell less from nothing */
}

void scorer_select(Scorer *scorer, const int *index, int rows) {
    for (int m = 0; m < scorer->count; m++) {
        ScorerModel *one = &scorer->models[m];
        one->state = seq2seq_select(one->steps[one->current], &one->state, index, rows);
    }
}
