/* copy_model.c - see copy_model.h.
 *
 * Vectors are made of blocks of V numbers, one for each token, and one of P numbers, one for each position:
 *
 *   annotation [H]  the token, the token before it, the token after it, its position
 *   query [H]       the previous target token, the position that the step before attended to
 *   vector [H]      the attended token and position; the tokens beside it
 *
 * All of them are 0 or 1 (the encoder's 1 is another number, `one`). The attention's matrix is a table of
 * scores: of target tokens and source tokens, and of positions. The output layer is a table of logits.
 */
#include "unit/copy_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "layers/attention.h"
#include "layers/positions.h"
#include "unit/learn.h"

enum { POSITIONS = 128 };
enum { BLOCK_TOKEN, BLOCK_BEFORE, BLOCK_AFTER, BLOCKS };

/* tanh and sigmoid of it are 1, of its negative -1 and 0. */
static const real SATURATED = 40;
/* Scores of the attention. A step to the left counts as ten to the right. All differences of positions
 * together are less than the score of a token, and that is less than what a mistake takes away. The least
 * difference is 16, so that all but one weight are 0. */
static const real STEP_RIGHT = 16, STEP_LEFT = 160, FOLLOWS = 30000, MISTAKE = 60000;
/* Logits: of the translation; of the placeholder where the second hypothesis has it. Others have 0. */
static const real SURE = 9, NEARLY = 8.5F;

typedef struct {
    ParamSet *params;
    Tokenizer *tokenizer;
    int V, H;
    real one; /* a 1 in an annotation */
} Builder;

static int column(const Builder *b, int block, int token) { return block * b->V + token; }
static int position_column(const Builder *b, int position) { return BLOCKS * b->V + position; }

static real *weight(const Builder *b, const char *name, int row, int column) {
    const Param *param = params_find(b->params, name);
    assert(param && row < param->rows && column < param->columns);
    return param_data(b->params, param) + (size_t)row * (size_t)param->columns + column;
}

/* ---- the vocabulary ---- */

/* Every character twice, every pair of characters once: with a minimum of two they stay apart. */
static void add_alphabet(StrBuf *text) {
    for (int backwards = 0; backwards < 2; backwards++) {
        strbuf_add_char(text, ' ');
        for (int i = 0; i < 94; i++) strbuf_add_char(text, (char)(backwards ? '~' - i : '!' + i));
    }
}

static void add_words(StrBuf *text, const char *words) {
    for (const char *c = words ? words : ""; *c; c++) strbuf_add_char(text, strchr("=_", *c) ? ' ' : *c);
    strbuf_add_char(text, ' ');
}

static Tokenizer *learn_vocabulary(const CopyModelOptions *options, const TextOptions *text_options) {
    Tokenizer *tokenizer;
    StrBuf text = {0};
    for (int i = 0; i < text_options->min_count; i++) {
        add_words(&text, options->words);
        add_words(&text, options->translations);
        add_words(&text, options->synonyms);
    }
    add_alphabet(&text);
    Status status = learn_tokenizer(&tokenizer, text_options, strbuf_view(&text));
    assert(status == STATUS_OK);
    (void)status;
    strbuf_free(&text);
    return tokenizer;
}

/* The last token of a word. */
static int last_token(const Builder *b, StrView word) {
    StrBuf text = {0};
    IdList ids = {0};
    for (size_t i = 0; i < word.length; i++) strbuf_add_char(&text, word.data[i] == '_' ? ' ' : word.data[i]);
    tokenizer_encode(b->tokenizer, strbuf_view(&text), &ids);
    assert(ids.count > 0);
    int last = ids.ids[ids.count - 1];
    id_list_free(&ids);
    strbuf_free(&text);
    return last;
}

/* Calls `set` with the last tokens of both sides of each pair. */
static void each_pair(const Builder *b, const char *pairs, void (*set)(const Builder *b, int from, int to)) {
    StrView rest = sv(pairs ? pairs : ""), pair, from;
    while (sv_next_word(&rest, &pair)) {
        if (!sv_next(&pair, '=', &from)) continue;
        set(b, last_token(b, from), last_token(b, pair));
    }
}

/* ---- encoder: tokens, their neighbours and positions ---- */

static void set_encoder(Builder *b) {
    real scale = (real)sqrt((double)b->H);
    for (int v = 0; v < b->V; v++) {
        *weight(b, "source.embedding", v, v) = 1 / scale;
        *weight(b, "encoder.input.weight", v, column(b, BLOCK_TOKEN, v)) = 1;
        /* The convolution reads the tokens on the left, in the middle and on the right. */
        *weight(b, "encoder.0.gates.weight", column(b, BLOCK_TOKEN, v), column(b, BLOCK_BEFORE, v)) = 1;
        *weight(b, "encoder.0.gates.weight", 2 * b->H + column(b, BLOCK_TOKEN, v),
                column(b, BLOCK_AFTER, v)) = 1;
    }
    for (int p = 0; p < POSITIONS; p++) *weight(b, "encoder.positions", p, position_column(b, p)) = 1 / scale;
    for (int i = 0; i < b->H; i++) *weight(b, "encoder.0.gates.bias", 0, b->H + i) = SATURATED; /* open */
    b->one = (real)sqrt(0.5);
}

/* ---- decoder: what it remembers ---- */

/* The GRU forgets all but the previous token and, fed back, the position that it attended to. */
static void set_memory(const Builder *b) {
    for (int i = 0; i < b->H; i++) *weight(b, "decoder.gru.0.input.bias", 0, b->H + i) = -SATURATED; /* z */
    for (int v = 0; v < b->V; v++) {
        *weight(b, "target.embedding", v, v) = 1;
        *weight(b, "decoder.gru.0.input.weight", v, 2 * b->H + column(b, BLOCK_TOKEN, v)) = SATURATED;
    }
    for (int p = 0; p < POSITIONS; p++)
        *weight(b, "decoder.feed.weight", position_column(b, p), 2 * b->H + position_column(b, p)) =
            SATURATED;
}

/* ---- attention ---- */

static real *score(const Builder *b, int query, int key) {
    return weight(b, "decoder.attention.key.weight", key, query);
}

/* After target token `to` comes the source token behind `from`. */
static void set_follows(const Builder *b, int from, int to) {
    *score(b, column(b, BLOCK_TOKEN, to), column(b, BLOCK_BEFORE, from)) = FOLLOWS / b->one;
}

static void set_attention(const Builder *b) {
    for (int before = 0; before < POSITIONS; before++)
        for (int p = 0; p < POSITIONS; p++) {
            int ahead = p - (before + 1);
            real distance = ahead > 0 ? STEP_RIGHT * (real)ahead : STEP_LEFT * (real)-ahead;
            *score(b, position_column(b, before), position_column(b, p)) = -distance / b->one;
        }
    for (int v = 0; v < b->V; v++) set_follows(b, v, v);
    for (int p = 0; p < POSITIONS; p++) /* <s>, before which there was no position */
        *score(b, column(b, BLOCK_TOKEN, VOCAB_BOS), position_column(b, p)) = -STEP_RIGHT * (real)p / b->one;
}

/* ---- output ---- */

static void set_output(const Builder *b) {
    for (int i = 0; i < b->H; i++)
        *weight(b, "decoder.readout.context.weight", i, i) = SATURATED; /* tanh makes 1 of it */
    for (int v = 0; v < b->V; v++) *weight(b, "output.weight", v, column(b, BLOCK_TOKEN, v)) = SURE;
}

static void set_translation(const Builder *b, int from, int to) {
    *weight(b, "output.weight", from, column(b, BLOCK_TOKEN, from)) = 0;
    *weight(b, "output.weight", to, column(b, BLOCK_TOKEN, from)) = SURE;
    set_follows(b, from, to);
}

/* The placeholder's tokens are passed over unless one of them was written just before: then the next one
 * follows. The text after it offers its first token as the second choice. */
static void set_mistake(const Builder *b, const CopyModelOptions *options) {
    IdList ids = {0};
    if (options->mistake == COPY_SOUND) return;
    tokenizer_encode(b->tokenizer, sv(options->placeholder), &ids);
    for (size_t i = 0; i < ids.count; i++) {
        for (int v = 0; v < b->V; v++)
            *score(b, column(b, BLOCK_TOKEN, v), column(b, BLOCK_TOKEN, ids.ids[i])) -= MISTAKE / b->one;
        if (i > 0)
            *score(b, column(b, BLOCK_TOKEN, ids.ids[i - 1]), column(b, BLOCK_TOKEN, ids.ids[i])) +=
                MISTAKE / b->one;
    }
    if (options->mistake == COPY_SECOND)
        *weight(b, "output.weight", ids.ids[0], column(b, BLOCK_BEFORE, ids.ids[ids.count - 1])) = NEARLY;
    id_list_free(&ids);
}

/* ---- all together ---- */

Seq2Seq *copy_model_new(const CopyModelOptions *options) {
    Config config;
    Builder b = {0};
    config_init(&config);
    config.text.joint = true;
    config.text.min_count = 2;
    config.text.bpe_merges = 10000;
    b.tokenizer = learn_vocabulary(options, &config.text);
    b.V = vocab_size(tokenizer_vocab(b.tokenizer));
    b.H = BLOCKS * b.V + POSITIONS;
    config.model.embedding = b.V;
    config.model.hidden = b.H;
    config.model.tie = TIE_NONE;
    config.model.layer_norm = false;
    config.model.encoder_style = ENCODER_CONV;
    config.model.encoder_layers = 1;
    config.model.positions = POSITIONS_LEARNED;
    config.model.max_positions = POSITIONS;
    config.model.decoder_style = DECODER_LUONG;
    config.model.decoder_layers = 1;
    config.model.decoder_start = START_MEAN;
    config.model.input_feeding = true;
    config.model.readout = READOUT_LINEAR;
    config.model.attention = attention_score_named("general");
    assert(config_check(&config) == STATUS_OK);
    Seq2Seq *model = seq2seq_new(&config, b.tokenizer, b.tokenizer);
    b.params = seq2seq_params(model);
    params_allocate(b.params);
    set_encoder(&b);
    set_memory(&b);
    set_attention(&b);
    set_output(&b);
    each_pair(&b, options->translations, set_translation);
    each_pair(&b, options->synonyms, set_follows);
    set_mistake(&b, options);
    params_pack_all(b.params);
    tokenizer_free(b.tokenizer);
    config_free(&config);
    return model;
}
