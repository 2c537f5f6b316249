/* search_beam.c - several hypotheses per sentence, extended together. */
#include <math.h>
#include "base/mem.h"
#include "decode/search.h"

/* A hypothesis that is still growing: one row of the scorer. */
typedef struct {
    int sentence, node;
    double score;
    size_t attention; /* of the step under way */
} BeamRow;

typedef struct {
    int row, token;
    double log_p, score; /* of the token; with the row's score added */
} Candidate;

typedef struct {
    int node, steps;
    double score, normalised;
} Ended;

typedef struct {
    int max_steps;
    Ended *ended; /* [beam_size], in the order they ended */
    int ended_count;
    bool done;
} BeamSentence;

typedef struct {
    Scorer *scorer;
    const SearchOptions *options;
    Trail trail;
    BeamSentence *sentences; /* [B] */
    BeamRow *rows, *next;    /* [B * beam_size]; rows of a sentence are neighbours, best first */
    int row_count, next_count, steps;
    int *parent, *tokens, *row_sentence; /* [B * beam_size] */
    Candidate *candidates;               /* [beam_size] scratch */
} BeamSearch;

/* The best `keep` extensions of rows first..end-1, best first. Between equals the lower row wins, then the
 * token that the scorer put first. */
static int find_candidates(BeamSearch *search, const ScorerStep *step, int first, int end, int keep) {
    Candidate *list = search->candidates;
    int count = 0;
    for (int r = first; r < end; r++) {
        const ScoredToken *best = step->tokens + (size_t)r * (size_t)step->top;
        for (int i = 0; i < step->count[r] && i < keep; i++) {
            Candidate new = {r, best[i].token, best[i].log_p, search->rows[r].score + best[i].log_p};
            if (count == keep && !(new.score > list[keep - 1].score)) break;
            int at = count < keep ? count++ : keep - 1;
            for (; at > 0 && new.score > list[at - 1].score; at--) list[at] = list[at - 1];
            list[at] = new;
        }
    }
    return count;
}

static void sentence_end(BeamSearch *search, BeamSentence *sentence, int node, double score) {
    double normalised = search_normalise(search->options, score, search->steps);
    sentence->ended[sentence->ended_count++] = (Ended){node, search->steps, score, normalised};
}

/* Could a growing hypothesis still rank among the n best of those that ended? `score`: of the best growing
 * one. */
static bool sentence_can_improve(const BeamSearch *search, const BeamSentence *sentence, double score) {
    int better = 0;
    double best_possible = search_normalise(search->options, score, sentence->max_steps);
    for (int i = 0; i < sentence->ended_count; i++) better += sentence->ended[i].normalised >= best_possible;
    return better < search->options->n_best;
}

/* Extend the hypotheses of one sentence, rows first..end-1; those that go on are added to `next`. */
static void sentence_advance(BeamSearch *search, const ScorerStep *step, int first, int end) {
    BeamSentence *sentence = &search->sentences[search->rows[first].sentence];
    int keep = search->options->beam_size - sentence->ended_count, start = search->next_count;
    if (search->options->attention)
        for (int r = first; r < end; r++)
            search->rows[r].attention = trail_keep_attention(&search->trail, &step->attention, r);
    int count = find_candidates(search, step, first, end, keep);
    for (int i = 0; i < count; i++) {
        Candidate at = search->candidates[i];
        BeamRow row = search->rows[at.row];
        row.node = trail_add(&search->trail, row.node, at.token, at.log_p, row.attention);
        row.score = at.score;
        if (at.token == VOCAB_EOS) {
            sentence_end(search, sentence, row.node, row.score);
            continue;
        }
        search->parent[search->next_count] = at.row;
        search->next[search->next_count++] = row;
    }
    if (search->next_count == start) return;
    const BeamRow *best = &search->next[start];
    if (search->steps < sentence->max_steps && sentence_can_improve(search, sentence, best->score)) return;
    /* Out of room: what is still growing fills the places that nothing better took. */
    for (int i = start; search->steps >= sentence->max_steps && i < search->next_count; i++)
        sentence_end(search, sentence, search->next[i].node, search->next[i].score);
    search->next_count = start;
}

/* One step of all sentences. */
static void all_advance(BeamSearch *search) {
    for (int r = 0; r < search->row_count; r++) {
        const BeamRow *row = &search->rows[r];
        search->tokens[r] = row->node < 0 ? VOCAB_BOS : search->trail.nodes[row->node].token;
        search->row_sentence[r] = row->sentence;
    }
    const SearchOptions *options = search->options;
    ScorerWish wish = {.top = options->beam_size,
                       .allow_unk = options->allow_unk,
                       .scores = true,
                       .attention = options->attention ? &options->choice : NULL};
    ScorerStep step =
        scorer_step(search->scorer, search->row_sentence, search->tokens, search->row_count, &wish);
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

/* Does a rank before b? Those that were cut come last. */
static bool ranks_before(const Trail *trail, const Ended *a, const Ended *b) {
    bool a_cut = a->node < 0 || trail->nodes[a->node].token != VOCAB_EOS;
    bool b_cut = b->node < 0 || trail->nodes[b->node].token != VOCAB_EOS;
    return a_cut != b_cut ? b_cut : a->normalised > b->normalised;
}

static void sentence_result(const BeamSearch *search, BeamSentence *sentence, HypothesisList *list) {
    Ended *ended = sentence->ended;
    if (sentence->ended_count == 0)
        ended[sentence->ended_count++] = (Ended){.node = -1}; /* only if nothing is a number */
    for (int i = 1; i < sentence->ended_count; i++) {
        Ended moving = ended[i];
        int at = i;
        for (; at > 0 && ranks_before(&search->trail, &moving, &ended[at - 1]); at--)
            ended[at] = ended[at - 1];
        ended[at] = moving;
    }
    int n = search->options->n_best < sentence->ended_count ? search->options->n_best : sentence->ended_count;
    list->items = mem_alloc((size_t)n + 1, sizeof *list->items);
    for (int i = 0; i < n; i++)
        list->items[i] = trail_hypothesis(&search->trail, ended[i].node, ended[i].steps, ended[i].score,
                                          search->options, list->source_length);
    list->count = n;
}

void beam_search(Scorer *scorer, const Tokens *sources, int B, const SearchOptions *options,
                 HypothesisList *results) {
    size_t beam = (size_t)options->beam_size, most = (size_t)B * beam;
    BeamSearch search = {.scorer = scorer, .options = options, .row_count = B};
    search.sentences = mem_alloc((size_t)B, sizeof *search.sentences);
    search.rows = mem_alloc(most, sizeof *search.rows);
    search.next = mem_alloc(most, sizeof *search.next);
    search.parent = mem_alloc(most, sizeof *search.parent);
    search.tokens = mem_alloc(most, sizeof *search.tokens);
    search.row_sentence = mem_alloc(most, sizeof *search.row_sentence);
    search.candidates = mem_alloc(beam, sizeof *search.candidates);
    Ended *ended = mem_alloc(most, sizeof *ended);
    for (int b = 0; b < B; b++) {
        search.sentences[b].ended = ended + (size_t)b * beam;
        search.sentences[b].max_steps = search_max_steps(options, sources[b].length);
        search.rows[b] = (BeamRow){.sentence = b, .node = -1};
        results[b] = (HypothesisList){.source_length = sources[b].length + 1};
    }
    if (B > 0) scorer_encode(scorer, sources, B);
    while (search.row_count > 0) all_advance(&search);
    for (int b = 0; b < B; b++) sentence_result(&search, &search.sentences[b], &results[b]);

    mem_free(search.sentences);
    mem_free(search.rows);
    mem_free(search.next);
    mem_free(search.parent);
    mem_free(search.tokens);
    mem_free(search.row_sentence);
    mem_free(search.candidates);
    mem_free(ended);
    trail_free(&search.trail);
}
