/* explorer_data.c - writes a trace, a beam and the alternatives of each step as compact JSON: without the
 * blanks of io/json.h, because the page holds twenty sentences. */
#include "explain/explorer_data.h"

#include <assert.h>
#include <math.h>
#include <string.h>
#include "base/hashmap.h"
#include "io/json_write.h"
#include "base/mem.h"
#include "autograd/matmul.h"
#include "postprocess/alignment.h"

enum { BEST = 10 /* tokens of a step */, COMPONENTS = 4 /* of a vector */ };

struct ExplorerData {
    const Seq2Seq *model[EXPLORER_MODELS];
    int model_count;
    HashMap *strings; /* text -> index of "strings" */
    StrBuf models, languages, sentences;
    int sentence_count;
    int run_count; /* of the last sentence */
};

ExplorerData *explorer_data_new(void) {
    ExplorerData *data = mem_alloc(1, sizeof *data);
    data->strings = hashmap_new();
    explorer_data_set_languages(data, (StrView){0}, (StrView){0});
    return data;
}

void explorer_data_free(ExplorerData *data) {
    if (!data) return;
    hashmap_free(data->strings);
    strbuf_free(&data->models);
    strbuf_free(&data->languages);
    strbuf_free(&data->sentences);
    mem_free(data);
}

/* ---- text and numbers ---- */

/* A comma, if a value precedes. */
static void separate(StrBuf *out) {
    if (out->length > 0 && !strchr("[{:", out->data[out->length - 1])) strbuf_add_char(out, ',');
}

static void write_key(StrBuf *out, const char *key) {
    separate(out);
    strbuf_format(out, "\"%s\":", key);
}

static void write_int(StrBuf *out, int value) {
    separate(out);
    strbuf_format(out, "%d", value);
}

static void put_int(StrBuf *out, const char *key, int value) {
    write_key(out, key);
    write_int(out, value);
}

static void open_array(StrBuf *out) {
    separate(out);
    strbuf_add_char(out, '[');
}

static void put_array(StrBuf *out, const char *key) {
    write_key(out, key);
    open_array(out);
}

static void open_object(StrBuf *out) {
    separate(out);
    strbuf_add_char(out, '{');
}

static void close_array(StrBuf *out) { strbuf_add_char(out, ']'); }
static void close_object(StrBuf *out) { strbuf_add_char(out, '}'); }

/* A JSON string without "<", ">" and "&", which HTML would read. */
static void write_text(StrBuf *out, StrView text) {
    StrBuf json = {0};
    json_write_string(&json, text);
    separate(out);
    for (size_t i = 0; i < json.length; i++) {
        char c = json.data[i];
        if (c == '<' || c == '>' || c == '&')
            strbuf_format(out, "\\u%04x", (unsigned)c);
        else
            strbuf_add_char(out, c);
    }
    strbuf_free(&json);
}

static void put_text(StrBuf *out, const char *key, StrView text) {
    write_key(out, key);
    write_text(out, text);
}

/* 0 for NaN and infinities. */
static int thousandths(double value) {
    return isfinite(value) ? (int)lround(fmax(-1e6, fmin(1e6, value * 1000))) : 0;
}

/* The index of the text in "strings", which gets it if it is new. */
static int string_index(ExplorerData *data, StrView text) {
    return (int)*hashmap_slot(data->strings, text, (int)hashmap_count(data->strings));
}

static int token_index(ExplorerData *data, const Tokenizer *tokenizer, int id) {
    StrBuf label = {0};
    tokenizer_label(tokenizer, id, &label);
    int index = string_index(data, strbuf_view(&label));
    strbuf_free(&label);
    return index;
}

static void write_ints(StrBuf *out, const char *name, const int *values, int count) {
    put_array(out, name);
    for (int i = 0; i < count; i++) write_int(out, values[i]);
    close_array(out);
}

/* ---- matrices ---- */

static void write_weights(StrBuf *out, const Activation *weights, int head) {
    open_array(out);
    for (int r = 0; r < weights->rows; r++)
        for (int c = 0; c < weights->columns; c++)
            write_int(out, thousandths((double)activation_row(weights, head, r)[c]));
    close_array(out);
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

/* A member, a list of rows; omitted if an element is not finite. */
static void write_matrix(StrBuf *out, const char *name, Matrix m) {
    if (!is_finite(&m)) return;
    put_array(out, name);
    for (int r = 0; r < m.rows; r++) {
        open_array(out);
        for (int c = 0; c < m.columns; c++) {
            separate(out);
            strbuf_format(out, "%.5g", (double)m.first[(size_t)r * m.stride + (size_t)c]);
        }
        close_array(out);
    }
    close_array(out);
}

/* The first components of one head. */
static Matrix head_columns(const Activation *activation, int heads, int head) {
    int size = activation->columns / heads;
    return (Matrix){activation->data + head * size, (size_t)activation->stride, activation->rows,
                    size < COMPONENTS ? size : COMPONENTS};
}

/* ---- the formula ---- */

static const Param *attention_param(const Seq2Seq *model, const char *suffix) {
    StrBuf name = {0};
    strbuf_format(&name, "decoder.attention.%s", suffix);
    const Param *param = params_find(seq2seq_params(model), strbuf_text(&name));
    strbuf_free(&name);
    return param;
}

/* rows times map, with the model's own kernels. The caller frees the result. */
static real *map_rows(const Seq2Seq *model, const Activation *rows, const Param *map) {
    Tape *tape = tape_new(seq2seq_params(model), false);
    real *out = mem_alloc((size_t)rows->rows * (size_t)map->columns, sizeof *out);
    matmul_weight(tape, map, false,
                  &(MatmulRows){rows->rows, activation_row(rows, 0, 0), rows->stride, out, map->columns},
                  false);
    tape_free(tape);
    return out;
}

/* The first components of the query as the score's formula has it: mapped by W, or of unit length. The caller
 * frees them. */
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

/* The members that only scores of recurrent decoders have: q, v and b. */
static void write_recurrent_formula(const Seq2Seq *model, const TraceAttention *a, const char *score,
                                    StrBuf *out) {
    const Param *v = attention_param(model, "v"), *sharpness = attention_param(model, "sharpness");
    const ParamSet *params = seq2seq_params(model);
    int columns;
    real *query = formula_query(model, a->query, strstr(score, "cosine") != NULL, &columns);
    write_matrix(out, "q", (Matrix){query, (size_t)columns, a->query->rows, columns});
    if (v) write_matrix(out, "v", (Matrix){param_data(params, v), (size_t)columns, 1, columns});
    if (sharpness) {
        write_key(out, "b");
        strbuf_format(out, "%.7g", (double)param_data(params, sharpness)[0]);
    }
    mem_free(query);
}

static const char *score_name(const ModelOptions *options) {
    return options->decoder_style == DECODER_TRANSFORMER ? "scaled_dot"
                                                         : ATTENTION_SCORES[options->attention].name;
}

/* The formula of one head. */
static void write_head_formula(const Seq2Seq *model, const TraceAttention *a, int layer, int head,
                               StrBuf *out) {
    const ModelOptions *options = &seq2seq_config(model)->model;
    bool transformer = options->decoder_style == DECODER_TRANSFORMER;
    const char *score = score_name(options);
    open_object(out);
    put_int(out, "map", layer * a->heads + head);
    put_text(out, "score", sv(score));
    put_int(out, "size", (a->keys ? a->keys->columns : a->query->columns) / a->heads);
    write_matrix(out, "scores", /* of the keys that are attended to */
                 (Matrix){activation_row(a->scores, head, 0), (size_t)a->scores->stride, a->scores->rows,
                          model_attended_rows(options, a->scores->columns)});
    if (transformer)
        write_matrix(out, "q", head_columns(a->query, a->heads, head));
    else
        write_recurrent_formula(model, a, score, out);
    if (a->keys) write_matrix(out, "k", head_columns(a->keys, a->heads, head));
    if (a->values) write_matrix(out, "values", head_columns(a->values, a->heads, head));
    if (a->context) write_matrix(out, "context", head_columns(a->context, a->heads, head));
    close_object(out);
}

/* The formulas of `count` heads, beginning with map `first` and wrapping around. */
static void write_formulas(const Seq2Seq *model, const Trace *trace, int first, int count, StrBuf *out) {
    int layers, heads;
    TraceAttention a;
    seq2seq_attentions(model, &layers, &heads);
    put_array(out, "formula");
    for (int i = 0; i < count && i < layers * heads; i++) {
        int map = (first + i) % (layers * heads);
        if (!trace_attention(trace, map / heads, &a) || !a.query || !a.scores) continue;
        write_head_formula(model, &a, map / heads, map % heads, out);
    }
    close_array(out);
}

/* ---- attention ---- */

static void write_cross(const Trace *trace, StrBuf *out) {
    TraceAttention a;
    put_array(out, "cross");
    for (int layer = 0; trace_attention(trace, layer, &a); layer++)
        for (int h = 0; h < a.heads; h++) write_weights(out, a.weights, h);
    close_array(out);
}

static void write_self(const Trace *trace, bool encoder, StrBuf *out) {
    const Activation *weights = trace_self_attention(trace, encoder, 0);
    if (!weights || weights->columns == 0) return;
    write_key(out, encoder ? "encoderSelf" : "decoderSelf");
    open_object(out);
    put_int(out, "heads", weights->heads);
    write_key(out, "begins");
    strbuf_add(out, weights->columns == weights->rows ? SV("true") : SV("false"));
    put_array(out, "maps");
    for (int layer = 0; (weights = trace_self_attention(trace, encoder, layer)); layer++)
        for (int h = 0; h < weights->heads; h++) write_weights(out, weights, h);
    close_array(out);
    close_object(out);
}

/* The attention weights of the step after each parent, in the order of the first child. */
static void write_beam_weights(const Backpointers *tree, int columns, StrBuf *out) {
    bool *seen = mem_alloc((size_t)tree->count + 1, sizeof *seen); /* of node - 1: the root too */
    put_array(out, "beamWeights");
    for (int i = 0; i < tree->count; i++) {
        const Backpointer *node = &tree->nodes[i];
        if (seen[node->parent + 1]) continue;
        seen[node->parent + 1] = true;
        for (int s = 0; s < columns; s++)
            write_int(out, thousandths((double)tree->weights[node->attention + (size_t)s]));
    }
    close_array(out);
    mem_free(seen);
}

/* ---- steps ---- */

static void write_steps(ExplorerData *data, const Trace *trace, const Tokenizer *target, StrBuf *out) {
    int T = trace->target_length;
    int *numbers = mem_alloc((size_t)T, sizeof *numbers);
    for (int t = 0; t < T; t++) numbers[t] = thousandths(trace->scores[t].log_p);
    write_ints(out, "log", numbers, T);
    for (int t = 0; t < T; t++) numbers[t] = thousandths(trace->entropy[t]);
    write_ints(out, "entropy", numbers, T);
    mem_free(numbers);
    put_array(out, "best");
    for (int t = 0; t < T; t++) {
        open_array(out);
        for (int i = 0; i < trace->top; i++) {
            const TraceToken *token = &trace->best[t * trace->top + i];
            write_int(out, token_index(data, target, token->token));
            write_int(out, thousandths(exp(token->log_p) * 10));
        }
        close_array(out);
    }
    close_array(out);
}

/* The best token of step t other than the target token; -1: there is none. */
static int runner_up(const Trace *trace, int t) {
    for (int i = 0; i < trace->top; i++) {
        int token = trace->best[t * trace->top + i].token;
        bool special = token == VOCAB_PAD || token == VOCAB_UNK || token == VOCAB_BOS;
        if (!special && token != trace->target[t]) return token;
    }
    return -1;
}

static void write_continuation(ExplorerData *data, const Tokenizer *tokenizer, int token,
                               const Hypothesis *hypothesis, StrBuf *out) {
    StrBuf text = {0};
    tokenizer_decode(tokenizer, hypothesis->ids, (size_t)hypothesis->length, &text);
    open_array(out);
    write_int(out, token_index(data, tokenizer, token));
    write_int(out, string_index(data, strbuf_view(&text)));
    write_int(out, thousandths(hypothesis->score));
    close_array(out);
    strbuf_free(&text);
}

/* Steps whose continuations are searched together: each needs a copy of the encoded source. */
enum { STEPS_PER_BATCH = 32 };

/* Steps first..first+count-1: greedy search from the prefix that ends in the runner-up of the step. Each step
 * is a sentence of the batch. */
static void write_continuations(ExplorerData *data, const Seq2Seq *model, const Trace *trace, int first,
                                int count, Scorer *scorer, const SearchOptions *options, StrBuf *out) {
    Tokens sources[STEPS_PER_BATCH] = {{0}};
    Constraints constraints[STEPS_PER_BATCH] = {{0}};
    HypothesisList hypotheses[STEPS_PER_BATCH] = {{0}};
    for (int i = 0; i < count; i++) {
        int t = first + i, other = runner_up(trace, t);
        sources[i] = (Tokens){trace->source, trace->source_length - 1};
        constraints[i].target = seq2seq_target(model);
        for (int before = 0; before < t; before++) id_list_add(&constraints[i].prefix, trace->target[before]);
        id_list_add(&constraints[i].prefix, other < 0 ? trace->target[t] : other);
        constraints[i].fixed = (int)constraints[i].prefix.count;
    }
    greedy_search(scorer, sources, constraints, count, options, hypotheses);
    for (int i = 0; i < count; i++) {
        int t = first + i;
        if (runner_up(trace, t) < 0 || hypotheses[i].count == 0)
            write_int(out, 0);
        else
            write_continuation(data, seq2seq_target(model), constraints[i].prefix.ids[t],
                               &hypotheses[i].items[0], out);
        hypotheses_free(&hypotheses[i]);
        constraints_free(&constraints[i]);
    }
}

static void write_alternatives(ExplorerData *data, const Seq2Seq *model, const Trace *trace,
                               const DecodeOptions *decode, StrBuf *out) {
    SearchOptions options = {.decode = *decode, .n_best = 1};
    options.decode.beam_size = 1;
    Scorer *scorer = scorer_new(&model, 1, false);
    put_array(out, "otherwise");
    for (int t = 0; t < trace->target_length; t += STEPS_PER_BATCH) {
        int remaining = trace->target_length - t;
        write_continuations(data, model, trace, t, remaining < STEPS_PER_BATCH ? remaining : STEPS_PER_BATCH,
                            scorer, &options, out);
    }
    close_array(out);
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

static void write_beam(ExplorerData *data, const ExplorerRun *run, const Trace *trace,
                       const Tokenizer *target, StrBuf *out) {
    const Backpointers *tree = run->tree;
    int last = tree->count - 1;
    while (last >= 0 && !is_translation(tree, last, trace, run->translation->items[0].steps)) last--;
    write_key(out, "beam");
    open_object(out);
    put_int(out, "chosen", last);
    put_array(out, "nodes");
    for (int i = 0; i < tree->count; i++) {
        const Backpointer *node = &tree->nodes[i];
        int back = i - node->parent;
        write_int(out, node->pruned ? -back : back);
        write_int(out, token_index(data, target, node->token));
        write_int(out, thousandths((double)node->score / 10));
    }
    close_array(out);
    close_object(out);
}

/* ---- tokens and words ---- */

/* Labels [count] and </s>, as indices of "strings". */
static void write_labels(ExplorerData *data, const char *name, char *const *labels, int count, StrBuf *out) {
    int *numbers = mem_alloc((size_t)count + 1, sizeof *numbers);
    for (int i = 0; i < count; i++) numbers[i] = string_index(data, sv(labels[i]));
    numbers[count] = string_index(data, SV("</s>"));
    write_ints(out, name, numbers, count + 1);
    mem_free(numbers);
}

/* The word of each token and of </s>. */
static void write_word_numbers(const char *name, const int *word, int count, int words, StrBuf *out) {
    int *numbers = mem_alloc((size_t)count + 1, sizeof *numbers);
    if (count > 0) memcpy(numbers, word, (size_t)count * sizeof *numbers);
    numbers[count] = words;
    write_ints(out, name, numbers, count + 1);
    mem_free(numbers);
}

static void write_units(ExplorerData *data, const Seq2Seq *model, const Translation *translation,
                        StrBuf *out) {
    const TranslationItem *item = &translation->items[0];
    Tokenizer *source = seq2seq_source(model), *target = seq2seq_target(model);
    Alignment tokens, words;
    alignment_make(&tokens, translation, 0, ALIGNMENT_SUBWORD, source, target);
    alignment_make(&words, translation, 0, ALIGNMENT_WORD, source, target);
    write_labels(data, "source", tokens.column_labels, tokens.source_count, out);
    write_labels(data, "target", tokens.row_labels, tokens.target_count, out);
    write_labels(data, "sourceWords", words.column_labels, words.source_count, out);
    write_labels(data, "targetWords", words.row_labels, words.target_count, out);
    write_word_numbers("sourceWord", translation->source_word, translation->source_length,
                       translation->source_words, out);
    write_word_numbers("targetWord", item->word, item->length, item->words, out);
    alignment_free(&tokens);
    alignment_free(&words);
}

/* ---- the object ---- */

void explorer_data_add_model(ExplorerData *data, const Seq2Seq *model, StrView name) {
    StrBuf *out = &data->models;
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    assert(data->model_count < EXPLORER_MODELS);
    data->model[data->model_count++] = model;
    open_object(out);
    put_text(out, "name", name);
    put_text(out, "score", sv(score_name(&seq2seq_config(model)->model)));
    put_int(out, "layers", layers);
    put_int(out, "heads", heads);
    close_object(out);
}

void explorer_data_set_languages(ExplorerData *data, StrView source, StrView target) {
    strbuf_clear(&data->languages);
    write_text(&data->languages, source);
    write_text(&data->languages, target);
}

void explorer_data_add_sentence(ExplorerData *data, StrView text) {
    strbuf_add(&data->sentences, data->sentence_count++ ? SV("]},\n{") : SV("{"));
    put_text(&data->sentences, "text", text);
    put_array(&data->sentences, "runs");
    data->run_count = 0;
}

void explorer_data_add_run(ExplorerData *data, const ExplorerRun *run) {
    static const char *const kinds[] = {
        [EXPLORER_OWN] = "own", [EXPLORER_GIVEN] = "given", [EXPLORER_SAME] = "same"};
    const Seq2Seq *model = data->model[run->model];
    const Translation *translation = run->translation;
    const TranslationItem *item = &translation->items[0];
    Tokenizer *target = seq2seq_target(model);
    int V = vocab_size(tokenizer_vocab(target));
    const Backpointers *tree = run->tree && run->tree->count > 0 ? run->tree : NULL;
    StrBuf *out = &data->sentences;
    Trace trace;
    trace_run(&trace, model, (Tokens){translation->source, translation->source_length},
              (Tokens){item->ids, item->length}, V < BEST ? V : BEST);
    strbuf_add(out, data->run_count++ ? SV(",\n{") : SV("\n{"));
    put_int(out, "model", run->model);
    put_text(out, "kind", sv(kinds[run->kind]));
    put_text(out, "text", strbuf_view(&item->text));
    write_key(out, "confidence");
    strbuf_format(out, "%.4f", isfinite(run->confidence) ? run->confidence : 0);
    write_units(data, model, translation, out);
    write_steps(data, &trace, target, out);
    write_alternatives(data, model, &trace, run->decode, out);
    write_cross(&trace, out);
    write_self(&trace, true, out);
    write_self(&trace, false, out);
    if (tree) write_beam_weights(tree, trace.source_length, out);
    write_formulas(model, &trace, run->formula, run->formulas, out);
    if (tree) write_beam(data, run, &trace, target, out);
    close_object(out);
    trace_free(&trace);
}

void explorer_data_write(const ExplorerData *data, int layer, int head, bool words, StrBuf *out) {
    strbuf_format(out, "{\"layer\":%d,\"head\":%d,\"level\":\"%s\",\n\"strings\":[", layer, head,
                  words ? "words" : "subwords");
    for (size_t i = 0; i < hashmap_count(data->strings); i++) write_text(out, hashmap_key(data->strings, i));
    strbuf_add(out, SV("],\n\"models\":["));
    strbuf_add(out, strbuf_view(&data->models));
    strbuf_add(out, SV("],\n\"languages\":["));
    strbuf_add(out, strbuf_view(&data->languages));
    strbuf_add(out, SV("],\n\"sentences\":["));
    strbuf_add(out, strbuf_view(&data->sentences));
    strbuf_add(out, data->sentence_count ? SV("]}]}") : SV("]}"));
}
