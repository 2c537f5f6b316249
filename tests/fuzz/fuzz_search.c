/* fuzz_search.c - small random models translate random bytes: one line out per line in, valid UTF-8, finite
 * scores, and the same result for a line alone and in a batch.
 *
 * Input: a byte each for the model, the beam and the options, then up to 4 lines.
 */
#include <math.h>
#include "base/mem.h"
#include "base/utf8.h"
#include "translate/translator.h"
#include "fuzz/small_model.h"

enum { MODELS = 4, MAX_LINES = 4 };

static const Seq2Seq *model(int number) {
    static Seq2Seq *models[MODELS];
    static const int STYLES[MODELS][2] = {{ENCODER_RNN, DECODER_BAHDANAU},
                                          {ENCODER_RNN, DECODER_CONDITIONAL},
                                          {ENCODER_CONV, DECODER_LUONG},
                                          {ENCODER_SELF_ATTENTION, DECODER_TRANSFORMER}};
    if (models[number]) return models[number];
    Config config;
    config_init(&config);
    config.model.encoder_style = STYLES[number][0];
    config.model.decoder_style = STYLES[number][1];
    models[number] = small_model_new(&config);
    config_free(&config);
    return models[number];
}

static TranslatorOptions read_options(const uint8_t *bytes, const Seq2Seq *model) {
    TranslatorOptions options = {.search = {.decode = seq2seq_config(model)->decode}, .quiet = true};
    DecodeOptions *decode = &options.search.decode;
    decode->beam_size = 1 + bytes[1] % 5;
    decode->length_penalty = bytes[1] / 5 % 3;
    decode->max_length_factor = 1;
    decode->max_length_extra = 4;
    decode->max_input_length = 1 + bytes[2] / 16;
    decode->allow_unk = bytes[2] & 1;
    options.crop = bytes[2] & 2;
    options.split = bytes[2] & 4;
    options.search.attention = bytes[2] & 8;
    options.search.n_best = 1 + bytes[1] / 16 % decode->beam_size;
    return options;
}

static void check(const Translation *translation, int most) {
    require(translation->count >= 1 && translation->count <= most);
    for (int i = 0; i < translation->count; i++) {
        const TranslationItem *item = &translation->items[i];
        require(utf8_valid(strbuf_view(&item->text)) && isfinite(item->score) && item->score <= 0);
        require(!memchr(strbuf_text(&item->text), '\n', item->text.length));
        for (int s = 0; s < item->steps; s++) require(item->token_scores[s] <= 0);
    }
}

static void check_same(const Translation *a, const Translation *b) {
    require(a->count == b->count && a->items[0].score == b->items[0].score);
    require(strcmp(strbuf_text(&a->items[0].text), strbuf_text(&b->items[0].text)) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static Workers *workers;
    if (!workers) workers = workers_new(1);
    if (size < 3 || size > 1000) return 0;
    StrView rest = {(const char *)data + 3, size - 3}, lines[MAX_LINES];
    int count = 0;
    while (count < MAX_LINES && sv_next(&rest, '\n', &lines[count])) count++;
    const Seq2Seq *chosen = model(data[0] % MODELS);
    TranslatorOptions options = read_options(data, chosen);
    Translation together[MAX_LINES] = {0};
    Translator *translator;
    require(translator_new(&translator, &chosen, 1, &options, workers) == STATUS_OK);
    translator_run(translator, lines, NULL, count, 1, together);
    for (int i = 0; i < count; i++) {
        Translation alone = {0};
        check(&together[i], options.search.n_best);
        translator_run(translator, &lines[i], NULL, 1, 1 + i, &alone);
        check_same(&alone, &together[i]);
        translation_free(&alone);
        translation_free(&together[i]);
    }
    require(translator_first_nonfinite(translator) < 0);
    translator_free(translator);
    return 0;
}
