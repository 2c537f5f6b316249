/* rescore.c - see rescore.h. */
#include "search/rescore.h"

#include <string.h>
#include "base/mem.h"

struct Rescorer {
    Scorer *search, *others; /* others: NULL if there are none */
    int searching, count;    /* a model of two decoders counts in both */
    bool right_to_left;      /* what is searched */
    int *place; /* [count] of those that search, then of the others, among the models that were given */
};

bool model_is_right_to_left(const Seq2Seq *model) { return seq2seq_config(model)->model.right_to_left; }

static bool writes(const Seq2Seq *model, bool right_to_left, bool left_to_right) {
    const ModelOptions *options = &seq2seq_config(model)->model;
    return (options->decoder_bidirectional && !left_to_right) || options->right_to_left == right_to_left;
}

Status model_require_left_to_right(const Seq2Seq *model, const char *what) {
    if (!model_is_right_to_left(model)) return STATUS_OK;
    status_fail(STATUS_USAGE, "%s: the model writes translations from right to left", what);
    return status_hint(STATUS_USAGE, "use one that was trained without model.decoder.right_to_left; attn-mt "
                                     "translate may have this one as a second");
}

Rescorer *rescorer_new(const Seq2Seq *const *models, int count, bool left_to_right) {
    Rescorer *rescorer = mem_alloc(1, sizeof *rescorer);
    const Seq2Seq **sorted = mem_alloc(2 * (size_t)count, sizeof *sorted);
    *rescorer = (Rescorer){.right_to_left = model_is_right_to_left(models[0])};
    rescorer->place = mem_alloc(2 * (size_t)count, sizeof *rescorer->place);
    for (int others = 0; others < 2; others++) {
        for (int m = 0; m < count; m++) {
            if (!writes(models[m], rescorer->right_to_left != others, left_to_right)) continue;
            sorted[rescorer->count] = models[m];
            rescorer->place[rescorer->count++] = m;
        }
        if (!others) rescorer->searching = rescorer->count;
    }
    int judges = rescorer->count - rescorer->searching;
    rescorer->search = scorer_new(sorted, rescorer->searching, rescorer->right_to_left);
    if (judges > 0)
        rescorer->others = scorer_new(sorted + rescorer->searching, judges, !rescorer->right_to_left);
    mem_free(sorted);
    return rescorer;
}

void rescorer_free(Rescorer *rescorer) {
    if (!rescorer) return;
    scorer_free(rescorer->search);
    scorer_free(rescorer->others);
    mem_free(rescorer->place);
    mem_free(rescorer);
}

int rescorer_first_nonfinite(const Rescorer *rescorer) {
    int broken = scorer_first_nonfinite(rescorer->search);
    if (broken < 0 && rescorer->others && scorer_first_nonfinite(rescorer->others) >= 0)
        broken = rescorer->searching + scorer_first_nonfinite(rescorer->others);
    return broken < 0 ? broken : rescorer->place[broken];
}

/* ---- the order of tokens ---- */

/* Turn rows of so many bytes. */
static void turn_rows(void *rows, int count, size_t size, void *spare) {
    char *first = rows, *last = first + (size_t)(count > 0 ? count - 1 : 0) * size;
    for (; first < last; first += size, last -= size) {
        memcpy(spare, first, size);
        memcpy(first, last, size);
        memcpy(last, spare, size);
    }
}

/* </s> stays where it is. */
static void turn_hypotheses(HypothesisList *list, int alternatives) {
    size_t attention = (size_t)list->source_length * sizeof(float);
    size_t others = (size_t)alternatives * sizeof(ScoredToken);
    void *spare = mem_alloc(sizeof(float) + attention + others, 1);
    for (int i = 0; i < list->count; i++) {
        Hypothesis *h = &list->items[i];
        tokens_turn(h->ids, h->length);
        turn_rows(h->token_scores, h->length, sizeof *h->token_scores, spare);
        if (h->attention) turn_rows(h->attention, h->length, attention, spare);
        if (h->alternatives) turn_rows(h->alternatives, h->length, others, spare);
    }
    mem_free(spare);
}

/* The other way round; returns their new ids, which are to be released. */
static int *turn_targets(Tokens *targets, int count) {
    size_t tokens = 0;
    for (int i = 0; i < count; i++) tokens += (size_t)targets[i].length;
    int *ids = mem_alloc(tokens, sizeof *ids), *room = ids;
    for (int i = 0; i < count; i++) {
        int length = targets[i].length;
        if (length > 0) memcpy(room, targets[i].ids, (size_t)length * sizeof *ids);
        tokens_turn(room, length);
        targets[i].ids = room;
        room += length;
    }
    return ids;
}

/* ---- the vote ---- */

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

/* The mean with what others say of the same tokens, which has a share of it. A hypothesis that was cut,
 * without </s>, is judged without it. */
static void vote(Hypothesis *h, const Hypothesis *said, double share, const DecodeOptions *options) {
    h->score = 0;
    for (int t = 0; t < h->steps; t++) {
        double own = (double)h->token_scores[t], other = (double)said->token_scores[t];
        h->token_scores[t] = (float)((1 - share) * own + share * other);
        h->score += (double)h->token_scores[t];
    }
    h->normalized = search_normalize(options, h->score, h->steps);
}

/* What models of one direction found, of which the first `judged` have the votes of all. */
typedef struct {
    HypothesisList *lists; /* [B] */
    int *judged;           /* [B] */
    double share;          /* of all votes, what those have that found it */
    Scorer *judges;        /* the models of the other direction */
    const Tokens *sources; /* [models, B] of the judges */
    bool turned;           /* do they read the lists from the end? */
} Finds;

/* What both found needs no further vote, and stands in one list. */
static void vote_on_common(Finds *own, HypothesisList *others, int b, const DecodeOptions *options) {
    HypothesisList *list = &own->lists[b];
    for (int i = 0; i < list->count; i++) {
        Hypothesis h = list->items[i], *same = find_same(others, &h);
        if (!same) continue;
        vote(&h, same, 1 - own->share, options);
        list->items[i] = list->items[own->judged[b]];
        list->items[own->judged[b]++] = h;
        Hypothesis other = *same;
        *same = others->items[others->count - 1];
        others->items[others->count - 1] = other;
        hypotheses_truncate(others, others->count - 1);
    }
}

/* Nobody need be asked about what would come behind `last` if the judges were sure of it: they cannot give
 * more than that, a log p of 0. (Rounding takes less than the millionth that is given here.) */
static void drop_hopeless(Finds *finds, int b, const Hypothesis *last, const DecodeOptions *options) {
    HypothesisList *list = &finds->lists[b];
    int kept = finds->judged[b];
    for (int i = kept; i < list->count; i++) {
        Hypothesis h = list->items[i], sure = h;
        sure.score *= finds->share * 0.999999;
        sure.normalized = search_normalize(options, sure.score, sure.steps);
        if (hypothesis_is_better(last, &sure)) continue;
        list->items[i] = list->items[kept];
        list->items[kept++] = h;
    }
    hypotheses_truncate(list, kept);
}

/* The models of the other direction vote on what they have not judged. `attention`: it gets theirs. */
static void judge(Finds *finds, int B, const SearchOptions *options, bool attention) {
    size_t most = 0;
    for (int b = 0; b < B; b++) most += (size_t)finds->lists[b].count;
    HypothesisList *said = mem_alloc(most, sizeof *said);
    Tokens *targets = mem_alloc(most, sizeof *targets);
    int *sentence = mem_alloc(most, sizeof *sentence), count = 0;
    for (int b = 0; b < B; b++)
        for (int i = finds->judged[b]; i < finds->lists[b].count; i++, count++) {
            const Hypothesis *h = &finds->lists[b].items[i];
            targets[count] = (Tokens){h->ids, h->length};
            sentence[count] = b;
        }
    int *turned = finds->turned ? turn_targets(targets, count) : NULL;
    SearchOptions asking = {.decode = options->decode,
                            .shortlist = options->shortlist, /* else probabilities would be shared by more */
                            .attention = attention,
                            .choice = options->choice};
    forced_search(finds->judges, finds->sources, B, &(ForcedTargets){targets, count, sentence}, &asking,
                  said);
    for (int b = 0, next = 0; b < B; b++)
        for (int i = finds->judged[b]; i < finds->lists[b].count; i++, next++) {
            Hypothesis *h = &finds->lists[b].items[i], *judgement = said[next].items;
            if (finds->turned) turn_hypotheses(&said[next], 0);
            vote(h, judgement, 1 - finds->share, &options->decode);
            if (attention) {
                h->attention = judgement->attention;
                judgement->attention = NULL;
            }
            hypotheses_free(&said[next]);
        }
    mem_free(turned);
    mem_free(sentence);
    mem_free(targets);
    mem_free(said);
}

static void move_all(HypothesisList *from, HypothesisList *to) {
    if (from->count == 0) return;
    to->items = mem_realloc(to->items, (size_t)(to->count + from->count), sizeof *to->items);
    memcpy(to->items + to->count, from->items, (size_t)from->count * sizeof *to->items);
    to->count += from->count;
    from->count = 0;
}

/* What the others find, in the order of those that search; [B]. */
static HypothesisList *search_others(Rescorer *rescorer, const Tokens *sources, int B,
                                     const SearchOptions *options) {
    HypothesisList *lists = mem_alloc((size_t)B, sizeof *lists);
    SearchOptions theirs = *options;
    theirs.attention = false;
    theirs.tree = NULL;
    beam_search(rescorer->others, sources, NULL, B, &theirs, lists);
    for (int b = 0; b < B; b++) turn_hypotheses(&lists[b], 0);
    return lists;
}

/* The others search, too, and all vote on what either found, which `own` has in the end: the n best, and
 * others that had to be asked about to know that they are not among them. */
static void search_and_vote(Rescorer *rescorer, Finds *own, int B, const SearchOptions *options, int n_best,
                            const Tokens *sources) {
    const DecodeOptions *decode = &options->decode;
    Finds theirs = {.lists = search_others(rescorer, own->sources, B, options),
                    .judged = mem_alloc((size_t)B, sizeof *theirs.judged),
                    .share = 1 - own->share,
                    .judges = rescorer->search,
                    .sources = sources};
    for (int b = 0; b < B; b++) {
        vote_on_common(own, &theirs.lists[b], b, decode);
        HypothesisList common = {.items = own->lists[b].items, .count = own->judged[b]};
        if (common.count < n_best) continue;
        hypotheses_rank(&common);
        const Hypothesis last = common.items[n_best - 1];
        drop_hopeless(own, b, &last, decode);
        drop_hopeless(&theirs, b, &last, decode);
    }
    judge(own, B, options, false);
    judge(&theirs, B, options, options->attention);
    for (int b = 0; b < B; b++) {
        move_all(&theirs.lists[b], &own->lists[b]);
        hypotheses_free(&theirs.lists[b]);
    }
    mem_free(theirs.judged);
    mem_free(theirs.lists);
}

/* The best of `found` in the opinion of all. */
static void agree(Rescorer *rescorer, const Tokens *sources, const SearchInput *s,
                  const SearchOptions *options, int n_best, HypothesisList *found) {
    Finds own = {.lists = found,
                 .judged = mem_alloc((size_t)s->B, sizeof *own.judged),
                 .share = (double)rescorer->searching / rescorer->count,
                 .judges = rescorer->others,
                 .sources = sources + (size_t)rescorer->searching * (size_t)s->B,
                 .turned = true};
    if (s->targets || s->constraints || options->decode.beam_size == 1)
        judge(&own, s->B, options, false);
    else
        search_and_vote(rescorer, &own, s->B, options, n_best, sources);
    for (int b = 0; b < s->B; b++) hypotheses_rank(&found[b]);
    mem_free(own.judged);
}

/* ---- searching ---- */

/* Follow what was found once more, and add what else could have come at each step. */
static void add_alternatives(Scorer *scorer, const Tokens *sources, int B, SearchOptions options,
                             HypothesisList *results) {
    Tokens *targets = mem_alloc((size_t)B, sizeof *targets);
    HypothesisList *forced = mem_alloc((size_t)B, sizeof *forced);
    options.attention = false;
    options.tree = NULL;
    for (int b = 0; b < B; b++) targets[b] = (Tokens){results[b].items[0].ids, results[b].items[0].length};
    forced_search(scorer, sources, B, &(ForcedTargets){targets, B, NULL}, &options, forced);
    for (int b = 0; b < B; b++) {
        results[b].items[0].alternatives = forced[b].items[0].alternatives;
        forced[b].items[0].alternatives = NULL;
        hypotheses_free(&forced[b]);
    }
    mem_free(forced);
    mem_free(targets);
}

/* Score given translations, in the order of writing. */
static void force(const Rescorer *rescorer, const Tokens *sources, const SearchInput *s,
                  const SearchOptions *options, HypothesisList *results) {
    size_t B = (size_t)s->B;
    Tokens *targets = mem_alloc(B, sizeof *targets);
    if (B > 0) memcpy(targets, s->targets, B * sizeof *targets);
    int *ids = rescorer->right_to_left ? turn_targets(targets, s->B) : NULL;
    forced_search(rescorer->search, sources, s->B, &(ForcedTargets){targets, s->B, NULL}, options, results);
    mem_free(targets);
    mem_free(ids);
}

void rescorer_search(Rescorer *rescorer, const SearchInput *s, const SearchOptions *options,
                     HypothesisList *results) {
    size_t B = (size_t)s->B;
    SearchOptions own = *options;
    bool judged = rescorer->others && !(options->tokens_only && options->decode.beam_size == 1);
    if (judged) own.n_best = own.decode.beam_size;
    Tokens *sources = mem_alloc((size_t)rescorer->count * B, sizeof *sources);
    for (int m = 0; m < rescorer->count && B > 0; m++)
        memcpy(sources + (size_t)m * B, s->sources + (size_t)rescorer->place[m] * B, B * sizeof *sources);
    if (s->targets)
        force(rescorer, sources, s, &own, results);
    else if (own.decode.beam_size == 1)
        greedy_search(rescorer->search, sources, s->constraints, s->B, &own, results);
    else
        beam_search(rescorer->search, sources, s->constraints, s->B, &own, results);
    if (judged) agree(rescorer, sources, s, &own, options->n_best, results);
    for (int b = 0; b < s->B; b++) hypotheses_truncate(&results[b], options->n_best);
    if (options->alternatives > 0 && !s->targets)
        add_alternatives(rescorer->search, sources, s->B, own, results);
    for (int b = 0; b < s->B && rescorer->right_to_left; b++)
        turn_hypotheses(&results[b], options->alternatives);
    mem_free(sources);
}
