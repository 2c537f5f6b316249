/* explore.c - a trace, a beam and what else could have come, member by member. */
#include "explain/explore.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/hashmap.h"
#include "base/json.h"
#include "base/mem.h"
#include "translate/alignment.h"
#include "autograd/matmul.h"

enum { BEST = 10, COMPONENTS = 4 };

struct Explore {
    const Seq2Seq *model[EXPLORE_MODELS];
    int model_count;
    HashMap *strings; /* text -> number */
    StrBuf models, languages, sentences;
    int sentence_count, run_count; /* run_count: of the last sentence */
};

Explore *explore_new(void) {
    Explore *made = mem_alloc(1, sizeof *made);
    made->strings = hashmap_new();
    explore_set_languages(made, (StrView){0}, (StrView){0});
    return made;
}

void explore_free(Explore *explore) {
    if (!explore) return;
    hashmap_free(explore->strings);
    strbuf_free(&explore->models);
    strbuf_free(&explore->languages);
    strbuf_free(&explore->sentences);
    mem_free(explore);
}

/* ---- text and numbers ---- */

/* In quotes, without characters that HTML reads. */
static void write_text(StrBuf *out, StrView text) {
    StrBuf json = {0};
    json_write_string(&json, text);
    for (size_t i = 0; i < json.length; i++) {
        char c = json.data[i];
        if (c == '<' || c == '>' || c == '&')
            strbuf_format(out, "\\u%04x", (unsigned)c);
        else
            strbuf_add_char(out, c);
    }
    strbuf_free(&json);
}

/* 0 if it is no number. */
static int thousandths(double value) {
    return isfinite(value) ? (int)lround(fmax(-1e6, fmin(1e6, value * 1000))) : 0;
}

/* Its number. */
static int keep(Explore *explore, StrView text) {
    return (int)*hashmap_slot(explore->strings, text, (int)hashmap_count(explore->strings));
}

static int keep_token(Explore *explore, const Tokenizer *tokenizer, int id) {
    StrBuf label = {0};
    tokenizer_label(tokenizer, id, &label);
    int number = keep(explore, strbuf_view(&label));
    strbuf_free(&label);
    return number;
}

static void write_ints(StrBuf *out, const char *name, const int *values, int count) {
    strbuf_format(out, ",\"%s\":[", name);
    for (int i = 0; i < count; i++) strbuf_format(out, "%s%d", i ? "," : "", values[i]);
    strbuf_add_char(out, ']');
}

/* ---- matrices ---- */

static void write_weights(StrBuf *out, const Activation *weights, int head, const char *before) {
    strbuf_format(out, "%s[", before);
    for (int r = 0; r < weights->rows; r++)
        for (int c = 0; c < weights->columns; c++)
            strbuf_format(out, "%s%d", r + c > 0 ? "," : "",
                          thousandths((double)activation_row(weights, head, r)[c]));
    strbuf_add_char(out, ']');
}

/* A matrix whose row r begins at first + r * stride. */
typedef struct {
    const real *first;
    size_t stride;
    int rows, columns;
} Matrix;

static bool is_finite(const Matrix *m) {
    for (int r = 0; r < m->rows; r++)
        for (int c = 0; c < m->columns; c++)
            if (!isfinite((double)m->first[(size_t)r * m->stride + (size_t)c])) return false;
    return true;
}

/* As a member of that name, a list of rows; none if there is something in it that is not finite. */
static void write_matrix(StrBuf *out, const char *name, Matrix m) {
    if (!is_finite(&m)) return;
    strbuf_format(out, ",\"%s\":[", name);
    for (int r = 0; r < m.rows; r++) {
        strbuf_add(out, r ? SV(",[") : SV("["));
        for (int c = 0; c < m.columns; c++)
            strbuf_format(out, "%s%.5g", c ? "," : "", (double)m.first[(size_t)r * m.stride + (size_t)c]);
        strbuf_add_char(out, ']');
    }
    strbuf_add_char(out, ']');
}

/* The first components of one head's share. */
static Matrix head_part(const Activation *one, int heads, int head) {
    int share = one->columns / heads;
    return (Matrix){one->data + head * share, (size_t)one->stride, one->rows,
                    share < COMPONENTS ? share : COMPONENTS};
}

/* ---- the formula ---- */

static const Param *attention_param(const Seq2Seq *model, const char *part) {
    StrBuf name = {0};
    strbuf_format(&name, "decoder.attention.%s", part);
    const Param *found = params_find(seq2seq_params(model), strbuf_text(&name));
    strbuf_free(&name);
    return found;
}

/* All rows under the map, computed as the model does it; the caller releases them. */
static real *map_rows(const Seq2Seq *model, const Activation *rows, const Param *map) {
    Tape *tape = tape_new(seq2seq_params(model), false);
    real *out = mem_alloc((size_t)rows->rows * (size_t)map->columns, sizeof *out);
    matmul_weight(tape, map, false,
                  &(MatmulRows){rows->rows, activation_row(rows, 0, 0), rows->stride, out, map->columns},
                  false);
    tape_free(tape);
    return out;
}

/* The first components of the query as the score's formula has it: under the map W, or of unit length; the
 * caller releases them. */
static real *formula_query(const Seq2Seq *model, const Activation *query, bool unit, int *columns) {
    const Param *map = attention_param(model, "query.weight");
    int all = map ? map->columns : query->columns;
    *columns = all < COMPONENTS ? all : COMPONENTS;
    real *out = mem_alloc((size_t)query->rows * (size_t)*columns, sizeof *out);
    real *mapped = map ? map_rows(model, query, map) : NULL;
    for (int t = 0; t < query->rows; t++) {
        const real *q = activation_row(query, 0, t);
        real *row = out + (size_t)t * (size_t)*columns;
        double square = 0;
        for (int i = 0; i < query->columns; i++) square += (double)q[i] * (double)q[i];
        for (int c = 0; c < *columns; c++) row[c] = unit ? (real)((double)q[c] / sqrt(square)) : q[c];
        if (map) memcpy(row, mapped + (size_t)t * (size_t)all, (size_t)*columns * sizeof *row);
    }
    mem_free(mapped);
    return out;
}

/* What only the scores of recurrent decoders have. */
static void write_recurrent_part(const Seq2Seq *model, const TraceAttention *a, const char *score,
                                 StrBuf *out) {
    const Param *v = attention_param(model, "v"), *sharpness = attention_param(model, "sharpness");
    const ParamSet *params = seq2seq_params(model);
    int columns;
    real *query = formula_query(model, a->query, strstr(score, "cosine") != NULL, &columns);
    write_matrix(out, "q", (Matrix){query, (size_t)columns, a->query->rows, columns});
    if (v) write_matrix(out, "v", (Matrix){param_data(params, v), (size_t)columns, 1, columns});
    if (sharpness) strbuf_format(out, ",\"b\":%.7g", (double)param_data(params, sharpness)[0]);
    mem_free(query);
}

/* Of one head. */
static void write_head_formula(const Seq2Seq *model, const TraceAttention *a, int layer, int head,
                               StrBuf *out) {
    const ModelOptions *options = &seq2seq_config(model)->model;
    bool transformer = options->decoder_style == DECODER_TRANSFORMER;
    const char *score = transformer ? "scaled_dot" : ATTENTION_SCORES[options->attention].name;
    strbuf_format(out, "{\"map\":%d,\"score\":\"%s\",\"size\":%d", layer * a->heads + head, score,
                  (a->keys ? a->keys->columns : a->query->columns) / a->heads);
    write_matrix(out, "scores",
                 (Matrix){activation_row(a->scores, head, 0), (size_t)a->scores->stride, a->scores->rows,
                          a->scores->columns});
    if (transformer)
        write_matrix(out, "q", head_part(a->query, a->heads, head));
    else
        write_recurrent_part(model, a, score, out);
    if (a->keys) write_matrix(out, "k", head_part(a->keys, a->heads, head));
    if (a->values) write_matrix(out, "values", head_part(a->values, a->heads, head));
    if (a->context) write_matrix(out, "context", head_part(a->context, a->heads, head));
    strbuf_add_char(out, '}');
}

/* Of so many heads, from the one that is shown at first on, round to the first of all. */
static void write_formulas(const Seq2Seq *model, const Trace *trace, int first, int count, StrBuf *out) {
    int layers, heads;
    TraceAttention a;
    seq2seq_attentions(model, &layers, &heads);
    bool any = false;
    strbuf_add(out, SV(",\"formula\":["));
    for (int i = 0; i < count && i < layers * heads; i++) {
        int map = (first + i) % (layers * heads);
        if (!trace_attention(trace, map / heads, &a) || !a.query || !a.scores) continue;
        if (any) strbuf_add_char(out, ',');
        any = true;
        write_head_formula(model, &a, map / heads, map % heads, out);
    }
    strbuf_add_char(out, ']');
}

/* ---- attention ---- */

static void write_cross(const Trace *trace, StrBuf *out) {
    TraceAttention a;
    bool any = false;
    strbuf_add(out, SV(",\"cross\":["));
    for (int layer = 0; trace_attention(trace, layer, &a); layer++)
        for (int h = 0; h < a.heads; h++, any = true) write_weights(out, a.weights, h, any ? "," : "");
    strbuf_add_char(out, ']');
}

static void write_self(const Trace *trace, bool encoder, StrBuf *out) {
    const Activation *weights = trace_self_attention(trace, encoder, 0);
    if (!weights || weights->columns == 0) return;
    strbuf_format(out, ",\"%s\":{\"heads\":%d,\"begins\":%s,\"maps\":[",
                  encoder ? "encoderSelf" : "decoderSelf", weights->heads,
                  weights->columns == weights->rows ? "true" : "false");
    for (int layer = 0; (weights = trace_self_attention(trace, encoder, layer)); layer++)
        for (int h = 0; h < weights->heads; h++) write_weights(out, weights, h, layer + h > 0 ? "," : "");
    strbuf_add(out, SV("]}"));
}

/* The weights that each node was extended with, in the order in which nodes were. */
static void write_beam_weights(const Backpointers *tree, int columns, StrBuf *out) {
    bool *seen = mem_alloc((size_t)tree->count + 1, sizeof *seen), any = false;
    strbuf_add(out, SV(",\"beamWeights\":["));
    for (int i = 0; i < tree->count; i++) {
        const Backpointer *node = &tree->nodes[i];
        if (seen[node->parent + 1]) continue;
        seen[node->parent + 1] = true;
        for (int s = 0; s < columns; s++, any = true)
            strbuf_format(out, "%s%d", any ? "," : "",
                          thousandths((double)tree->weights[node->attention + (size_t)s]));
    }
    strbuf_add_char(out, ']');
    mem_free(seen);
}

/* ---- steps ---- */

static void write_steps(Explore *explore, const Trace *trace, const Tokenizer *target, StrBuf *out) {
    int T = trace->target_length;
    int *numbers = mem_alloc((size_t)T, sizeof *numbers);
    for (int t = 0; t < T; t++) numbers[t] = thousandths(trace->said[t].log_p);
    write_ints(out, "log", numbers, T);
    for (int t = 0; t < T; t++) numbers[t] = thousandths(trace->entropy[t]);
    write_ints(out, "entropy", numbers, T);
    mem_free(numbers);
    strbuf_add(out, SV(",\"best\":["));
    for (int t = 0; t < T; t++) {
        strbuf_add(out, t ? SV(",[") : SV("["));
        for (int i = 0; i < trace->top; i++) {
            const TraceToken *one = &trace->best[t * trace->top + i];
            strbuf_format(out, "%s%d,%d", i ? "," : "", keep_token(explore, target, one->token),
                          thousandths(exp(one->log_p) * 10));
        }
        strbuf_add_char(out, ']');
    }
    strbuf_add_char(out, ']');
}

/* The best token of a step but the one that was said; -1: there is none. */
static int other_token(const Trace *trace, int t) {
    for (int i = 0; i < trace->top; i++) {
        int token = trace->best[t * trace->top + i].token;
        bool special = token == VOCAB_PAD || token == VOCAB_UNK || token == VOCAB_BOS;
        if (!special && token != trace->target[t]) return token;
    }
    return -1;
}

static void write_continuation(Explore *explore, const Tokenizer *tokenizer, int token,
                               const Hypothesis *found, StrBuf *out) {
    StrBuf text = {0};
    tokenizer_decode(tokenizer, found->ids, (size_t)found->length, &text);
    strbuf_format(out, "[%d,%d,%d]", keep_token(explore, tokenizer, token), keep(explore, strbuf_view(&text)),
                  thousandths(found->score));
    strbuf_free(&text);
}

/* Searches from so many steps at a time: each holds the whole source. */
enum { STEPS_AT_A_TIME = 32 };

/* Greedy search from each of the steps first..first+count-1 with another token there: as many sentences, each
 * with its own prefix. */
static void write_others(Explore *explore, const Seq2Seq *model, const Trace *trace, int first, int count,
                         Scorer *scorer, const SearchOptions *options, StrBuf *out) {
    Tokens sources[STEPS_AT_A_TIME] = {{0}};
    Constraints constraints[STEPS_AT_A_TIME] = {{0}};
    HypothesisList found[STEPS_AT_A_TIME] = {{0}};
    for (int i = 0; i < count; i++) {
        int t = first + i, other = other_token(trace, t);
        sources[i] = (Tokens){trace->source, trace->source_length - 1};
        constraints[i].target = seq2seq_target(model);
        for (int before = 0; before < t; before++) id_list_add(&constraints[i].prefix, trace->target[before]);
        id_list_add(&constraints[i].prefix, other < 0 ? trace->target[t] : other);
        constraints[i].fixed = (int)constraints[i].prefix.count;
    }
    greedy_search(scorer, sources, constraints, count, options, found);
    for (int i = 0; i < count; i++) {
        int t = first + i;
        if (t > 0) strbuf_add_char(out, ',');
        if (other_token(trace, t) < 0 || found[i].count == 0)
            strbuf_add_char(out, '0');
        else
            write_continuation(explore, seq2seq_target(model), constraints[i].prefix.ids[t],
                               &found[i].items[0], out);
        hypotheses_free(&found[i]);
        constraints_free(&constraints[i]);
    }
}

static void write_otherwise(Explore *explore, const Seq2Seq *model, const Trace *trace,
                            const DecodeOptions *decode, StrBuf *out) {
    SearchOptions options = {.decode = *decode, .n_best = 1};
    options.decode.beam_size = 1;
    Scorer *scorer = scorer_new(&model, 1, false);
    strbuf_add(out, SV(",\"otherwise\":["));
    for (int t = 0; t < trace->target_length; t += STEPS_AT_A_TIME) {
        int left = trace->target_length - t;
        write_others(explore, model, trace, t, left < STEPS_AT_A_TIME ? left : STEPS_AT_A_TIME, scorer,
                     &options, out);
    }
    strbuf_add_char(out, ']');
    scorer_free(scorer);
}

/* ---- the beam ---- */

/* Is the hypothesis that ends at `node` the translation? */
static bool is_translation(const Backpointers *tree, int node, const Trace *trace, int steps) {
    int t = steps - 1;
    for (; node >= 0 && t >= 0; node = tree->nodes[node].parent, t--)
        if (tree->nodes[node].token != trace->target[t]) return false;
    return node < 0 && t < 0;
}

static void write_beam(Explore *explore, const ExploreRun *run, const Trace *trace, const Tokenizer *target,
                       StrBuf *out) {
    const Backpointers *tree = run->tree;
    int chosen = tree->count - 1;
    while (chosen >= 0 && !is_translation(tree, chosen, trace, run->translation->items[0].steps)) chosen--;
    strbuf_format(out, ",\"beam\":{\"chosen\":%d,\"nodes\":[", chosen);
    for (int i = 0; i < tree->count; i++) {
        const Backpointer *node = &tree->nodes[i];
        int back = i - node->parent;
        strbuf_format(out, "%s%d,%d,%d", i ? "," : "", node->pruned ? -back : back,
                      keep_token(explore, target, node->token), thousandths((double)node->score / 10));
    }
    strbuf_add(out, SV("]}"));
}

/* ---- tokens and words ---- */

/* Labels [count] as numbers of strings, and </s> behind them. */
static void write_labels(Explore *explore, const char *name, char *const *labels, int count, StrBuf *out) {
    int *numbers = mem_alloc((size_t)count + 1, sizeof *numbers);
    for (int i = 0; i < count; i++) numbers[i] = keep(explore, sv(labels[i]));
    numbers[count] = keep(explore, SV("</s>"));
    write_ints(out, name, numbers, count + 1);
    mem_free(numbers);
}

/* The word of each token, and of </s> behind them. */
static void write_word_numbers(const char *name, const int *word, int count, int words, StrBuf *out) {
    int *numbers = mem_alloc((size_t)count + 1, sizeof *numbers);
    if (count > 0) memcpy(numbers, word, (size_t)count * sizeof *numbers);
    numbers[count] = words;
    write_ints(out, name, numbers, count + 1);
    mem_free(numbers);
}

static void write_units(Explore *explore, const Seq2Seq *model, const Translation *translation, StrBuf *out) {
    const TranslationItem *item = &translation->items[0];
    Tokenizer *source = seq2seq_source(model), *target = seq2seq_target(model);
    Alignment tokens, words;
    alignment_make(&tokens, translation, 0, ALIGNMENT_SUBWORD, source, target);
    alignment_make(&words, translation, 0, ALIGNMENT_WORD, source, target);
    write_labels(explore, "source", tokens.column_labels, tokens.source_count, out);
    write_labels(explore, "target", tokens.row_labels, tokens.target_count, out);
    write_labels(explore, "sourceWords", words.column_labels, words.source_count, out);
    write_labels(explore, "targetWords", words.row_labels, words.target_count, out);
    write_word_numbers("sourceWord", translation->source_word, translation->source_length,
                       translation->source_words, out);
    write_word_numbers("targetWord", item->word, item->length, item->words, out);
    alignment_free(&tokens);
    alignment_free(&words);
}

/* ---- all of it ---- */

void explore_add_model(Explore *explore, const Seq2Seq *model, StrView name) {
    const ModelOptions *options = &seq2seq_config(model)->model;
    bool transformer = options->decoder_style == DECODER_TRANSFORMER;
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    assert(explore->model_count < EXPLORE_MODELS);
    explore->model[explore->model_count] = model;
    strbuf_add(&explore->models, explore->model_count++ ? SV(",{\"name\":") : SV("{\"name\":"));
    write_text(&explore->models, name);
    strbuf_format(&explore->models, ",\"score\":\"%s\",\"layers\":%d,\"heads\":%d}",
                  transformer ? "scaled_dot" : ATTENTION_SCORES[options->attention].name, layers, heads);
}

void explore_set_languages(Explore *explore, StrView source, StrView target) {
    strbuf_clear(&explore->languages);
    write_text(&explore->languages, source);
    strbuf_add_char(&explore->languages, ',');
    write_text(&explore->languages, target);
}

void explore_add_sentence(Explore *explore, StrView text) {
    strbuf_add(&explore->sentences, explore->sentence_count++ ? SV("]},\n{\"text\":") : SV("{\"text\":"));
    write_text(&explore->sentences, text);
    strbuf_add(&explore->sentences, SV(",\"runs\":["));
    explore->run_count = 0;
}

void explore_add_run(Explore *explore, const ExploreRun *run) {
    static const char *const kinds[] = {
        [EXPLORE_OWN] = "own", [EXPLORE_GIVEN] = "given", [EXPLORE_SAME] = "same"};
    const Seq2Seq *model = explore->model[run->model];
    const Translation *translation = run->translation;
    const TranslationItem *item = &translation->items[0];
    Tokenizer *target = seq2seq_target(model);
    int V = vocab_size(tokenizer_vocab(target));
    const Backpointers *tree = run->tree && run->tree->count > 0 ? run->tree : NULL;
    StrBuf *out = &explore->sentences;
    Trace trace;
    trace_run(&trace, model, (Tokens){translation->source, translation->source_length},
              (Tokens){item->ids, item->length}, V < BEST ? V : BEST);
    strbuf_format(out, "%s\n{\"model\":%d,\"kind\":\"%s\",\"text\":", explore->run_count++ ? "," : "",
                  run->model, kinds[run->kind]);
    write_text(out, strbuf_view(&item->text));
    strbuf_format(out, ",\"confidence\":%.4f", isfinite(run->confidence) ? run->confidence : 0);
    write_units(explore, model, translation, out);
    write_steps(explore, &trace, target, out);
    write_otherwise(explore, model, &trace, run->decode, out);
    write_cross(&trace, out);
    write_self(&trace, true, out);
    write_self(&trace, false, out);
    if (tree) write_beam_weights(tree, trace.source_length, out);
    write_formulas(model, &trace, run->formula, run->formulas, out);
    if (tree) write_beam(explore, run, &trace, target, out);
    strbuf_add_char(out, '}');
    trace_free(&trace);
}

void explore_write(const Explore *explore, int layer, int head, bool words, StrBuf *out) {
    strbuf_format(out, "{\"layer\":%d,\"head\":%d,\"level\":\"%s\",\n\"strings\":[", layer, head,
                  words ? "words" : "subwords");
    for (size_t i = 0; i < hashmap_count(explore->strings); i++) {
        if (i > 0) strbuf_add_char(out, ',');
        write_text(out, hashmap_key(explore->strings, i));
    }
    strbuf_add(out, SV("],\n\"models\":["));
    strbuf_add(out, strbuf_view(&explore->models));
    strbuf_add(out, SV("],\n\"languages\":["));
    strbuf_add(out, strbuf_view(&explore->languages));
    strbuf_add(out, SV("],\n\"sentences\":["));
    strbuf_add(out, strbuf_view(&explore->sentences));
    strbuf_add(out, explore->sentence_count ? SV("]}]}") : SV("]}"));
}
