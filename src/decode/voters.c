/* voters.c - see voters.h. */
#include "decode/voters.h"

#include <string.h>
#include "base/mem.h"

struct Voters {
    Scorer *search, *others; /* others: NULL if there are none */
    int searching, count;    /* a model of two decoders counts in both */
    bool backwards;          /* what is searched */
    int *place; /* [count] of those that search, then of the others, among the models that were given */
};

bool model_writes_backwards(const Seq2Seq *model) { return seq2seq_config(model)->model.right_to_left; }

static bool writes(const Seq2Seq *model, bool backwards, bool left_to_right) {
    const ModelOptions *options = &seq2seq_config(model)->model;
    return (options->decoder_bidirectional && !left_to_right) || options->right_to_left == backwards;
}

Status model_check_forwards(const Seq2Seq *model, const char *what) {
    if (!model_writes_backwards(model)) return STATUS_OK;
    status_fail(STATUS_USAGE, "%s: the model writes translations from right to left", what);
    return status_hint(STATUS_USAGE, "use one that was trained without model.decoder.right_to_left; attn-mt "
                                     "translate may have this one as a second");
}

Voters *voters_new(const Seq2Seq *const *models, int count, bool left_to_right) {
    Voters *voters = mem_alloc(1, sizeof *voters);
    const Seq2Seq **sorted = mem_alloc(2 * (size_t)count, sizeof *sorted);
    *voters = (Voters){.backwards = model_writes_backwards(models[0])};
    voters->place = mem_alloc(2 * (size_t)count, sizeof *voters->place);
    for (int others = 0; others < 2; others++) {
        for (int m = 0; m < count; m++) {
            if (!writes(models[m], voters->backwards != others, left_to_right)) continue;
            sorted[voters->count] = models[m];
            voters->place[voters->count++] = m;
        }
        if (!others) voters->searching = voters->count;
    }
    int judges = voters->count - voters->searching;
    voters->search = scorer_new(sorted, voters->searching, voters->backwards);
    if (judges > 0) voters->others = scorer_new(sorted + voters->searching, judges, !voters->backwards);
    mem_free(sorted);
    return voters;
}

void voters_free(Voters *voters) {
    if (!voters) return;
    scorer_free(voters->search);
    scorer_free(voters->others);
    mem_free(voters->place);
    mem_free(voters);
}

int voters_broken(const Voters *voters) {
    int broken = scorer_broken(voters->search);
    if (broken < 0 && voters->others && scorer_broken(voters->others) >= 0)
        broken = voters->searching + scorer_broken(voters->others);
    return broken < 0 ? broken : voters->place[broken];
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
static const Hypothesis *find_same(const HypothesisList *list, const Hypothesis *h) {
    for (int i = 0; i < list->count; i++) {
        const Hypothesis *other = &list->items[i];
        if (other->length != h->length || other->steps != h->steps) continue;
        if (h->length == 0 || memcmp(other->ids, h->ids, (size_t)h->length * sizeof *h->ids) == 0)
            return other;
    }
    return NULL;
}

/* What models of one direction say of what those of the other found. */
typedef struct {
    HypothesisList *said; /* [count] of the hypotheses, in the order in which those write who say it */
    Tokens *targets;      /* [count] */
    int *sentence;
    int count;
} Opinion;

/* `except` [B]: lists of hypotheses that nobody needs to be asked about; or NULL. */
static Opinion list_hypotheses(const HypothesisList *found, const HypothesisList *except, int B) {
    Opinion o = {0};
    size_t count = 0;
    for (int b = 0; b < B; b++) count += (size_t)found[b].count;
    o.said = mem_alloc(count, sizeof *o.said);
    o.targets = mem_alloc(count, sizeof *o.targets);
    o.sentence = mem_alloc(count, sizeof *o.sentence);
    for (int b = 0; b < B; b++)
        for (int i = 0; i < found[b].count; i++) {
            const Hypothesis *h = &found[b].items[i];
            if (except && find_same(&except[b], h)) continue;
            o.sentence[o.count] = b;
            o.targets[o.count++] = (Tokens){h->ids, h->length};
        }
    return o;
}

/* Ask about all of the list. `attention`: is theirs wanted? */
static void ask(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options, bool attention,
                Opinion *o) {
    SearchOptions asking = {.decode = options->decode, .attention = attention, .choice = options->choice};
    forced_search_each(scorer, sources, B, o->targets, o->sentence, o->count, &asking, o->said);
}

static void opinion_free(Opinion *o) {
    for (int i = 0; i < o->count; i++) hypotheses_free(&o->said[i]);
    mem_free(o->said);
    mem_free(o->targets);
    mem_free(o->sentence);
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

/* The others vote on what was found. `finds`: what their own search found, in the same order, if it did. */
static void judge(Voters *voters, const Tokens *sources, int B, const SearchOptions *options,
                  const HypothesisList *finds, HypothesisList *found) {
    Opinion o = list_hypotheses(found, finds, B);
    int *turned = turn_targets(o.targets, o.count);
    double share = 1 - (double)voters->searching / voters->count;
    ask(voters->others, sources, B, options, false, &o);
    for (int b = 0, next = 0; b < B; b++)
        for (int i = 0; i < found[b].count; i++) {
            Hypothesis *h = &found[b].items[i];
            const Hypothesis *said = finds ? find_same(&finds[b], h) : NULL;
            if (!said) {
                turn_hypotheses(&o.said[next], 0);
                said = o.said[next++].items;
            }
            vote(h, said, share, &options->decode);
        }
    opinion_free(&o);
    mem_free(turned);
}

static void keep_unknown(const HypothesisList *list, HypothesisList *more) {
    int kept = 0;
    for (int i = 0; i < more->count; i++) {
        if (find_same(list, &more->items[i])) continue;
        Hypothesis new = more->items[i];
        more->items[i] = more->items[kept];
        more->items[kept++] = new;
    }
    hypotheses_keep(more, kept);
}

static void move_all(HypothesisList *from, HypothesisList *to) {
    if (from->count == 0) return;
    to->items = mem_realloc(to->items, (size_t)(to->count + from->count), sizeof *to->items);
    memcpy(to->items + to->count, from->items, (size_t)from->count * sizeof *to->items);
    to->count += from->count;
    from->count = 0;
}

/* What the others find, in the order of those that search; [B]. */
static HypothesisList *search_others(Voters *voters, const Tokens *sources, int B,
                                     const SearchOptions *options) {
    HypothesisList *finds = mem_alloc((size_t)B, sizeof *finds);
    SearchOptions theirs = *options;
    theirs.attention = false;
    theirs.tree = NULL;
    beam_search(voters->others, sources, NULL, B, &theirs, finds);
    for (int b = 0; b < B; b++) turn_hypotheses(&finds[b], 0);
    return finds;
}

/* Those that search vote on what only the others found, which then is found, too. */
static void add_finds(Voters *voters, const Tokens *sources, int B, const SearchOptions *options,
                      HypothesisList *finds, HypothesisList *found) {
    double share = (double)voters->searching / voters->count;
    for (int b = 0; b < B; b++) keep_unknown(&found[b], &finds[b]);
    Opinion o = list_hypotheses(finds, NULL, B);
    ask(voters->search, sources, B, options, options->attention, &o);
    for (int b = 0, next = 0; b < B; b++) {
        for (int i = 0; i < finds[b].count; i++, next++) {
            Hypothesis *h = &finds[b].items[i], *said = o.said[next].items;
            vote(h, said, share, &options->decode);
            h->attention = said->attention;
            said->attention = NULL;
        }
        move_all(&finds[b], &found[b]);
        hypotheses_free(&finds[b]);
    }
    opinion_free(&o);
    mem_free(finds);
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
    forced_search(scorer, sources, targets, B, &options, forced);
    for (int b = 0; b < B; b++) {
        results[b].items[0].alternatives = forced[b].items[0].alternatives;
        forced[b].items[0].alternatives = NULL;
        hypotheses_free(&forced[b]);
    }
    mem_free(forced);
    mem_free(targets);
}

/* Score given translations, in the order of writing. */
static void force(const Voters *voters, const Tokens *sources, const VoterSentences *s,
                  const SearchOptions *options, HypothesisList *results) {
    size_t B = (size_t)s->B;
    Tokens *targets = mem_alloc(B, sizeof *targets);
    if (B > 0) memcpy(targets, s->targets, B * sizeof *targets);
    int *ids = voters->backwards ? turn_targets(targets, s->B) : NULL;
    forced_search(voters->search, sources, targets, s->B, options, results);
    mem_free(targets);
    mem_free(ids);
}

void voters_search(Voters *voters, const VoterSentences *s, const SearchOptions *options,
                   HypothesisList *results) {
    size_t B = (size_t)s->B;
    SearchOptions own = *options;
    bool judged = voters->others && !(options->tokens_only && options->decode.beam_size == 1);
    if (judged) own.n_best = own.decode.beam_size;
    Tokens *sources = mem_alloc((size_t)voters->count * B, sizeof *sources);
    for (int m = 0; m < voters->count && B > 0; m++)
        memcpy(sources + (size_t)m * B, s->sources + (size_t)voters->place[m] * B, B * sizeof *sources);
    if (s->targets)
        force(voters, sources, s, &own, results);
    else if (own.decode.beam_size == 1)
        greedy_search(voters->search, sources, s->guides, s->B, &own, results);
    else
        beam_search(voters->search, sources, s->guides, s->B, &own, results);
    if (judged) {
        const Tokens *theirs = sources + (size_t)voters->searching * B;
        bool find = !s->targets && !s->guides && own.decode.beam_size > 1;
        HypothesisList *finds = find ? search_others(voters, theirs, s->B, &own) : NULL;
        judge(voters, theirs, s->B, &own, finds, results);
        if (finds) add_finds(voters, sources, s->B, &own, finds, results);
        for (int b = 0; b < s->B; b++) hypotheses_rank(&results[b]);
    }
    for (int b = 0; b < s->B; b++) hypotheses_keep(&results[b], options->n_best);
    if (options->alternatives > 0 && !s->targets)
        add_alternatives(voters->search, sources, s->B, own, results);
    for (int b = 0; b < s->B && voters->backwards; b++) turn_hypotheses(&results[b], options->alternatives);
    mem_free(sources);
}
