/* rescore.c - see rescore.h. */
#include "search/rescore.h"

#include <string.h>
#include "base/mem.h"

struct Rescorer {
    Scorer *forward, *backward; /* backward: of the direction that the first model does not have, or NULL */
    int forward_count, count;   /* models; one with two decoders counts in both directions */
    bool right_to_left;         /* the forward models' direction */
    int *position;              /* [count] of the forward models, then of the backward ones, among the models
                                    of the caller */
};

bool model_is_right_to_left(const Seq2Seq *model) { return seq2seq_config(model)->model.right_to_left; }

static bool has_direction(const Seq2Seq *model, bool right_to_left, bool left_to_right_only) {
    const ModelOptions *options = &seq2seq_config(model)->model;
    return (options->decoder_bidirectional && !left_to_right_only) || options->right_to_left == right_to_left;
}

Status model_require_left_to_right(const Seq2Seq *model, const char *what) {
    if (!model_is_right_to_left(model)) return STATUS_OK;
    status_fail(STATUS_USAGE, "%s: the model writes translations from right to left", what);
    return status_hint(STATUS_USAGE, "use a model that was trained without model.decoder.right_to_left; "
                                     "attn-mt translate can use this one as the second model");
}

Rescorer *rescorer_new(const Seq2Seq *const *models, int count, bool left_to_right) {
    Rescorer *rescorer = mem_alloc(1, sizeof *rescorer);
    const Seq2Seq **sorted = mem_alloc(2 * (size_t)count, sizeof *sorted);
    *rescorer = (Rescorer){.right_to_left = model_is_right_to_left(models[0])};
    rescorer->position = mem_alloc(2 * (size_t)count, sizeof *rescorer->position);
    for (int backward = 0; backward < 2; backward++) {
        for (int m = 0; m < count; m++) {
            if (!has_direction(models[m], rescorer->right_to_left != backward, left_to_right)) continue;
            sorted[rescorer->count] = models[m];
            rescorer->position[rescorer->count++] = m;
        }
        if (!backward) rescorer->forward_count = rescorer->count;
    }
    int backward_count = rescorer->count - rescorer->forward_count;
    rescorer->forward = scorer_new(sorted, rescorer->forward_count, rescorer->right_to_left);
    if (backward_count > 0)
        rescorer->backward =
            scorer_new(sorted + rescorer->forward_count, backward_count, !rescorer->right_to_left);
    mem_free(sorted);
    return rescorer;
}

void rescorer_free(Rescorer *rescorer) {
    if (!rescorer) return;
    scorer_free(rescorer->forward);
    scorer_free(rescorer->backward);
    mem_free(rescorer->position);
    mem_free(rescorer);
}

Scorer *rescorer_only_scorer(Rescorer *rescorer) {
    return rescorer->backward || rescorer->right_to_left ? NULL : rescorer->forward;
}

int rescorer_first_nonfinite(const Rescorer *rescorer) {
    int model = scorer_first_nonfinite(rescorer->forward);
    if (model < 0 && rescorer->backward && scorer_first_nonfinite(rescorer->backward) >= 0)
        model = rescorer->forward_count + scorer_first_nonfinite(rescorer->backward);
    return model < 0 ? model : rescorer->position[model];
}

/* ---- the order of tokens ---- */

/* Reverse rows of `size` bytes; `spare` holds one of them. */
static void reverse_rows(void *rows, int count, size_t size, void *spare) {
    char *first = rows, *last = first + (size_t)(count > 0 ? count - 1 : 0) * size;
    for (; first < last; first += size, last -= size) {
        memcpy(spare, first, size);
        memcpy(first, last, size);
        memcpy(last, spare, size);
    }
}

/* Reverse the tokens of hypotheses; </s> stays last. */
static void reverse_hypotheses(HypothesisList *list, int alternatives) {
    size_t attention_size = (size_t)list->source_length * sizeof(float);
    size_t alternatives_size = (size_t)alternatives * sizeof(ScoredToken);
    void *spare = mem_alloc(sizeof(float) + attention_size + alternatives_size, 1);
    for (int i = 0; i < list->count; i++) {
        Hypothesis *h = &list->items[i];
        tokens_reverse(h->ids, h->length);
        reverse_rows(h->token_scores, h->length, sizeof *h->token_scores, spare);
        if (h->attention) reverse_rows(h->attention, h->length, attention_size, spare);
        if (h->alternatives) reverse_rows(h->alternatives, h->length, alternatives_size, spare);
    }
    mem_free(spare);
}

/* Reverse targets; returns their new ids, which the caller releases. */
static int *reverse_targets(Tokens *targets, int count) {
    size_t tokens = 0;
    for (int i = 0; i < count; i++) tokens += (size_t)targets[i].length;
    int *ids = mem_alloc(tokens, sizeof *ids), *next = ids;
    for (int i = 0; i < count; i++) {
        int length = targets[i].length;
        if (length > 0) memcpy(next, targets[i].ids, (size_t)length * sizeof *ids);
        tokens_reverse(next, length);
        targets[i].ids = next;
        next += length;
    }
    return ids;
}

/* ---- rescoring ---- */

/* The hypotheses of one direction's beam. The first `rescored` of each list have the scores of all models. */
typedef struct {
    HypothesisList *lists; /* [B] */
    int *rescored;         /* [B] */
    double weight;         /* of the models that found them, in the mean over all models */
    Scorer *rescorer;      /* the models of the other direction */
    const Tokens *sources; /* [models, B] of these models */
    bool reversed;         /* do these models write the tokens in the opposite order? */
} Candidates;

/* The same translation in a list of the same order of tokens, or NULL. */
static Hypothesis *find_same(const HypothesisList *list, const Hypothesis *h) {
    for (int i = 0; i < list->count; i++) {
        Hypothesis *other = &list->items[i];
        if (other->length != h->length || other->steps != h->steps) continue;
        if (h->length == 0 || memcmp(other->ids, h->ids, (size_t)h->length * sizeof *h->ids) == 0)
            return other;
    }
    return NULL;
}

/* Replace token scores by the mean with those of `other`, which has that weight. The score of a hypothesis
 * that was cut, without </s>, does not include the </s> of `other`. */
static void mix_scores(Hypothesis *h, const Hypothesis *other, double weight, const DecodeOptions *options) {
    h->score = 0;
    for (int t = 0; t < h->steps; t++) {
        double own_score = (double)h->token_scores[t], other_score = (double)other->token_scores[t];
        h->token_scores[t] = (float)((1 - weight) * own_score + weight * other_score);
        h->score += (double)h->token_scores[t];
    }
    h->normalized = hypothesis_normalize(options, h->score, h->steps);
}

/* Hypotheses that both directions found have all scores already; they move to the front of the own list. */
static void mix_common(Candidates *own, HypothesisList *others, int b, const DecodeOptions *options) {
    HypothesisList *list = &own->lists[b];
    for (int i = 0; i < list->count; i++) {
        Hypothesis h = list->items[i], *same = find_same(others, &h);
        if (!same) continue;
        mix_scores(&h, same, 1 - own->weight, options);
        list->items[i] = list->items[own->rescored[b]];
        list->items[own->rescored[b]++] = h;
        Hypothesis other = *same;
        *same = others->items[others->count - 1];
        others->items[others->count - 1] = other;
        hypotheses_truncate(others, others->count - 1);
    }
}

/* Drop candidates that cannot come before `last`: the other models give at most log p = 0. (A millionth of
 * slack covers rounding.) */
static void prune(Candidates *candidates, int b, const Hypothesis *last, const DecodeOptions *options) {
    HypothesisList *list = &candidates->lists[b];
    int count = candidates->rescored[b];
    for (int i = count; i < list->count; i++) {
        Hypothesis h = list->items[i], bound = h;
        bound.score *= candidates->weight * 0.999999;
        bound.normalized = hypothesis_normalize(options, bound.score, bound.steps);
        if (hypothesis_is_better(last, &bound)) continue;
        list->items[i] = list->items[count];
        list->items[count++] = h;
    }
    hypotheses_truncate(list, count);
}

/* Add the scores of the other direction to all candidates that lack them. `attention`: replace their
 * attention weights by those of the other direction. */
static void rescore(Candidates *candidates, int B, const SearchOptions *options, bool attention) {
    size_t most = 0;
    for (int b = 0; b < B; b++) most += (size_t)candidates->lists[b].count;
    HypothesisList *forced = mem_alloc(most, sizeof *forced);
    Tokens *targets = mem_alloc(most, sizeof *targets);
    int *sentence = mem_alloc(most, sizeof *sentence), count = 0;
    for (int b = 0; b < B; b++)
        for (int i = candidates->rescored[b]; i < candidates->lists[b].count; i++, count++) {
            const Hypothesis *h = &candidates->lists[b].items[i];
            targets[count] = (Tokens){h->ids, h->length};
            sentence[count] = b;
        }
    int *reversed = candidates->reversed ? reverse_targets(targets, count) : NULL;
    SearchOptions forcing = {
        .decode = options->decode,
        .shortlist = options->shortlist, /* the same: probabilities are distributed over as many tokens */
        .attention = attention,
        .choice = options->choice};
    forced_search(candidates->rescorer, candidates->sources, B, &(ForcedTargets){targets, count, sentence},
                  &forcing, forced);
    for (int b = 0, next = 0; b < B; b++)
        for (int i = candidates->rescored[b]; i < candidates->lists[b].count; i++, next++) {
            Hypothesis *h = &candidates->lists[b].items[i], *other = forced[next].items;
            if (candidates->reversed) reverse_hypotheses(&forced[next], 0);
            mix_scores(h, other, 1 - candidates->weight, &options->decode);
            if (attention) {
                h->attention = other->attention;
                other->attention = NULL;
            }
            hypotheses_free(&forced[next]);
        }
    mem_free(reversed);
    mem_free(sentence);
    mem_free(targets);
    mem_free(forced);
}

static void hypotheses_move(HypothesisList *from, HypothesisList *to) {
    if (from->count == 0) return;
    to->items = mem_realloc(to->items, (size_t)(to->count + from->count), sizeof *to->items);
    memcpy(to->items + to->count, from->items, (size_t)from->count * sizeof *to->items);
    to->count += from->count;
    from->count = 0;
}

/* Beam search of the backward models; returns lists [B] in the order of the forward models' tokens. */
static HypothesisList *search_backward(Rescorer *rescorer, const Tokens *sources, int B,
                                       const SearchOptions *options) {
    HypothesisList *lists = mem_alloc((size_t)B, sizeof *lists);
    SearchOptions backward = *options;
    backward.attention = false;
    backward.tree = NULL;
    beam_search(rescorer->backward, sources, NULL, B, &backward, lists);
    for (int b = 0; b < B; b++) reverse_hypotheses(&lists[b], 0);
    return lists;
}

/* The backward models search, too, and each direction rescores the candidates of the other. `forward` ends
 * with all candidates: the n best, and those that had to be rescored to see that they are not among them. */
static void search_and_rescore(Rescorer *rescorer, Candidates *forward, int B, const SearchOptions *options,
                               int n_best, const Tokens *sources) {
    const DecodeOptions *decode = &options->decode;
    Candidates backward = {.lists = search_backward(rescorer, forward->sources, B, options),
                           .rescored = mem_alloc((size_t)B, sizeof *backward.rescored),
                           .weight = 1 - forward->weight,
                           .rescorer = rescorer->forward,
                           .sources = sources};
    for (int b = 0; b < B; b++) {
        mix_common(forward, &backward.lists[b], b, decode);
        HypothesisList common = {.items = forward->lists[b].items, .count = forward->rescored[b]};
        if (common.count < n_best) continue;
        hypotheses_rank(&common);
        const Hypothesis last = common.items[n_best - 1];
        prune(forward, b, &last, decode);
        prune(&backward, b, &last, decode);
    }
    rescore(forward, B, options, false);
    rescore(&backward, B, options, options->attention);
    for (int b = 0; b < B; b++) {
        hypotheses_move(&backward.lists[b], &forward->lists[b]);
        hypotheses_free(&backward.lists[b]);
    }
    mem_free(backward.rescored);
    mem_free(backward.lists);
}

/* Rank the forward models' hypotheses, and those of the backward models if they search, by the scores of
 * all. */
static void rescore_and_rank(Rescorer *rescorer, const Tokens *sources, const SearchInput *input,
                             const SearchOptions *options, int n_best, HypothesisList *hypotheses) {
    int B = input->B;
    Candidates forward = {.lists = hypotheses,
                          .rescored = mem_alloc((size_t)B, sizeof *forward.rescored),
                          .weight = (double)rescorer->forward_count / rescorer->count,
                          .rescorer = rescorer->backward,
                          .sources = sources + (size_t)rescorer->forward_count * (size_t)B,
                          .reversed = true};
    if (input->targets || input->constraints || options->decode.beam_size == 1)
        rescore(&forward, B, options, false);
    else
        search_and_rescore(rescorer, &forward, B, options, n_best, sources);
    for (int b = 0; b < B; b++) hypotheses_rank(&hypotheses[b]);
    mem_free(forward.rescored);
}

/* ---- searching ---- */

/* Score given translations; the results have the forward models' order of tokens. */
static void score_targets(const Rescorer *rescorer, const Tokens *sources, const SearchInput *input,
                          const SearchOptions *options, HypothesisList *results) {
    size_t B = (size_t)input->B;
    Tokens *targets = mem_alloc(B, sizeof *targets);
    if (B > 0) memcpy(targets, input->targets, B * sizeof *targets);
    int *ids = rescorer->right_to_left ? reverse_targets(targets, input->B) : NULL;
    forced_search(rescorer->forward, sources, input->B, &(ForcedTargets){targets, input->B, NULL}, options,
                  results);
    mem_free(targets);
    mem_free(ids);
}

void rescorer_search(Rescorer *rescorer, const SearchInput *input, const SearchOptions *options,
                     HypothesisList *results) {
    int B = input->B;
    SearchOptions own = *options;
    bool rescored = rescorer->backward && !(options->tokens_only && options->decode.beam_size == 1);
    if (rescored) own.n_best = own.decode.beam_size;
    Tokens *sources = mem_alloc((size_t)rescorer->count * (size_t)B, sizeof *sources); /* [models, B] */
    for (int m = 0; m < rescorer->count && B > 0; m++)
        memcpy(sources + (size_t)m * (size_t)B, input->sources + (size_t)rescorer->position[m] * (size_t)B,
               (size_t)B * sizeof *sources);
    if (input->targets)
        score_targets(rescorer, sources, input, &own, results);
    else if (own.decode.beam_size == 1)
        greedy_search(rescorer->forward, sources, input->constraints, B, &own, results);
    else
        beam_search(rescorer->forward, sources, input->constraints, B, &own, results);
    if (rescored) rescore_and_rank(rescorer, sources, input, &own, options->n_best, results);
    for (int b = 0; b < B; b++) hypotheses_truncate(&results[b], options->n_best);
    if (options->alternatives > 0 && !input->targets)
        search_add_alternatives(rescorer->forward, sources, B, &own, results);
    for (int b = 0; b < B && rescorer->right_to_left; b++)
        reverse_hypotheses(&results[b], options->alternatives);
    mem_free(sources);
}
