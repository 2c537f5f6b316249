/* auto_config.c - the rule of model.size=auto. */
#include "config/auto_config.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include "base/hashmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "data/pair_blocks.h"
#include "tokenizer/reserved_tokens.h"

/* ---- the data ------------------------------------------------------------------------------------------ */

static double count_words(StrView text) {
    double words = 0, characters = 0;
    bool inside = false;
    for (size_t i = 0; i < text.length; i++) {
        bool space = char_is_space(text.data[i]);
        words += !space && !inside;
        inside = !space;
        characters += !utf8_continues(text.data[i]);
    }
    return fmax(words, characters / 5);
}

/* The next word of `text`, taken off its front; empty at its end. Characters of three bytes are mostly of
 * scripts without spaces: two of them are a word. */
static StrView next_word(StrView *text) {
    size_t start = 0, end, characters = 0;
    while (start < text->length && char_is_space(text->data[start])) start++;
    for (end = start; end < text->length && !char_is_space(text->data[end]); end++) {
        bool begins = !utf8_continues(text->data[end]);
        if (begins && characters == 2 && end - start == 6) break;
        characters += begins;
    }
    StrView word = {text->data + start, end - start};
    *text = (StrView){text->data + end, text->length - end};
    return word;
}

static void count_text(HashMap *seen, StrView text) {
    for (StrView word; (word = next_word(&text)).length > 0;) ++*hashmap_slot(seen, word, 0);
}

/* The counts of a block of pairs. Sums of whole tenths do not depend on their order. */
typedef struct {
    HashMap *seen;
    double tenths;
    long marked;
} BlockCounts;

typedef struct {
    BlockCounts counts[PAIR_SLOTS];
    HashMap *seen;
    long pairs, marked;
    double tenths;
} Survey;

static void survey_block(void *context, const PairBlock *block, int thread) {
    BlockCounts *counts = &((Survey *)context)->counts[block->slot];
    (void)thread;
    *counts = (BlockCounts){.seen = hashmap_new()};
    StrBuf texts[PAIR_SIDES] = {0};
    for (int pair = 0; pair < block->count; pair++) {
        StrView source = pair_block_source(block, pair), target = pair_block_target(block, pair);
        for (int side = 0; side < PAIR_SIDES; side++) strbuf_clear(&texts[side]);
        counts->marked += reserved_replace_pair(source, target, &texts[PAIR_SOURCE], &texts[PAIR_TARGET]);
        counts->tenths += round(5 * (count_words(source) + count_words(target)));
        count_text(counts->seen, source);
        count_text(counts->seen, target);
    }
    for (int side = 0; side < PAIR_SIDES; side++) strbuf_free(&texts[side]);
}

static Status collect_block(void *context, const PairBlock *block) {
    Survey *survey = context;
    BlockCounts *counts = &survey->counts[block->slot];
    for (size_t i = 0; i < hashmap_count(counts->seen); i++)
        *hashmap_slot(survey->seen, hashmap_key(counts->seen, i), 0) += hashmap_value(counts->seen, i);
    survey->tenths += counts->tenths;
    survey->marked += counts->marked;
    survey->pairs += block->count;
    hashmap_free(counts->seen);
    counts->seen = NULL;
    return STATUS_OK;
}

static bool begins_three_bytes(char c) { return ((unsigned char)c & 0xF0) == 0xE0; }

/* Different characters of scripts without spaces: those of words that are two characters of three bytes. */
static long count_signs(const HashMap *seen) {
    HashMap *signs = hashmap_new();
    for (size_t i = 0; i < hashmap_count(seen); i++) {
        StrView word = hashmap_key(seen, i);
        if (word.length != 6 || !begins_three_bytes(word.data[0]) || !begins_three_bytes(word.data[3]))
            continue;
        hashmap_set(signs, (StrView){word.data, 3}, 1);
        hashmap_set(signs, (StrView){word.data + 3, 3}, 1);
    }
    long count = (long)hashmap_count(signs);
    hashmap_free(signs);
    return count;
}

Status auto_config_measure(const Config *config, Workers *workers, DataSize *size) {
    PairReader *reader;
    *size = (DataSize){0};
    TRY(pair_reader_open(&reader, &config->data.train, &config->data));
    pair_reader_set_range(reader, PAIRS_ALL, config->data.limit);
    Survey *survey = mem_alloc(1, sizeof *survey);
    survey->seen = hashmap_new();
    PairWork work = {.doing = "measuring", .context = survey, .work = survey_block, .collect = collect_block};
    Status status = pair_blocks_run(reader, workers, &work);
    *size = (DataSize){.pairs = survey->pairs, .marked = survey->marked, .words = survey->tenths / 10};
    for (size_t i = 0; i < hashmap_count(survey->seen); i++)
        size->repeated += hashmap_value(survey->seen, i) >= 2;
    size->signs = count_signs(survey->seen);
    for (int slot = 0; slot < PAIR_SLOTS; slot++) hashmap_free(survey->counts[slot].seen);
    hashmap_free(survey->seen);
    mem_free(survey);
    pair_reader_close(reader);
    return status;
}

double auto_config_held_out_fraction(long pairs) {
    double n = (double)pairs, fraction = n < 200 ? 20 / n : n > 10000 ? 1000 / n : 0.1;
    fraction = fmin(fraction, 0.5);
    double unit = pow(10, floor(log10(fraction)) - 1); /* two digits */
    return fmin(round(fraction / unit) * unit, 0.5);
}

/* ---- the rule ------------------------------------------------------------------------------------------ */

typedef struct {
    Config *config;
    OptionTable tables[6];
    const UserOptions *user_options;
    StrBuf line; /* the keys set since the last reason */
} Rule;

/* Sets the key unless the user did. */
static void set_text(Rule *rule, const char *key, const char *text) {
    if (option_is_given(rule->user_options, key)) return;
    if (options_set(rule->tables, sv(key), sv(text)) != STATUS_OK)
        return; /* cannot happen: the values are in range */
    strbuf_format(&rule->line, " %s=%s", key, text);
}

static void set(Rule *rule, const char *key, double value) {
    char text[32];
    snprintf(text, sizeof text, "%.10g", value);
    set_text(rule, key, text);
}

/* Logs the keys that were set, and the reason. */
__attribute__((format(printf, 2, 3))) static void explain(Rule *rule, const char *format, ...) {
    char reason[128];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (rule->line.length > 0) log_info("sizes    %s:%s", reason, strbuf_text(&rule->line));
    strbuf_clear(&rule->line);
}

/* Rounds to two digits: more digits would look exact. */
static double two_digits(double x) {
    double unit = pow(10, floor(log10(x)) - 1);
    return unit > 1 ? round(x / unit) * unit : round(x);
}

static bool cuts_words(const Rule *rule) {
    const TextOptions *text = &rule->config->text;
    return text->tokenizer == TOKENIZER_UNIGRAM || (text->tokenizer == TOKENIZER_BPE && text->bpe_merges > 0);
}

/* A subword is worth learning if it is a word that occurs again. Numbers do not, and are best spelt. A
 * character of a script without spaces is such a subword already. */
static void choose_text(Rule *rule, DataSize size) {
    char words[32], repeated[32];
    if (!cuts_words(rule)) return;
    double merges = 2000 * pow(size.words / 1e5, size.words < 1e5 ? 0.4 : 0.6);
    merges = fmin(merges, (double)size.repeated);
    merges = fmax(merges - (double)size.signs, merges / 2); /* the other side may be written in letters */
    merges = fmin(fmax(merges, 100), 32000);
    if (rule->config->text.tokenizer == TOKENIZER_UNIGRAM)
        set(rule, "text.unigram_pieces", two_digits(merges + (double)size.signs));
    else
        set(rule, "text.bpe_merges", two_digits(merges));
    explain(rule, "%s words a side, %s different ones come back", str_count((long long)size.words, words),
            str_count(size.repeated, repeated));
}

/* Regularization against overfitting on few pairs (docs/quality.md), for new weights only: a trained model
 * has its subwords already. */
static void choose_for_few(Rule *rule, long pairs) {
    enum { FEW_PAIRS = 8000, VERY_FEW_PAIRS = 5000 };
    const Config *config = rule->config;
    if (pairs < FEW_PAIRS && config->text.tokenizer == TOKENIZER_BPE && cuts_words(rule)) {
        set(rule, "train.bpe_dropout_source", 0.05);
        set(rule, "train.bpe_dropout_target", 0.05);
    }
    explain(rule, "few pairs, cut in more than one way");
    if (pairs >= VERY_FEW_PAIRS) return;
    if (config->model.decoder_style != DECODER_TRANSFORMER) set(rule, "model.dropout_state", 0.2);
    explain(rule, "very few, read less exactly");
    /* A run that the clock may stop before that share is over would write both languages. */
    bool reaches_end = config_has_end(&config->train) && config->train.max_minutes <= 0;
    if (config->text.joint && reaches_end) set(rule, "train.both_directions", 0.33);
    explain(rule, "very few, at first in both directions");
    if (!config->model.right_to_left) set_text(rule, "model.decoder.bidirectional", "true");
    explain(rule, "soon trained, even two decoders that shall agree");
}

static void choose_model(Rule *rule, long pairs) {
    char count[32];
    double width = pairs < 500000 ? 256 : 512;
    if (option_is_given(rule->user_options, "model.hidden")) width = rule->config->model.hidden;
    set(rule, "model.hidden", width);
    set(rule, "model.embedding", width);
    explain(rule, "for %s pairs", str_count(pairs, count));
    double dropout = pairs < 200000 ? 0.3 : pairs < 1000000 ? 0.2 : 0.1;
    static const char *const PLACES[] = {"model.dropout_embedding", "model.dropout_layers",
                                         "model.dropout_encoder", "model.dropout_output"};
    for (int i = 0; i < 4; i++) set(rule, PLACES[i], dropout);
    explain(rule, "%s", pairs < 200000 ? "little data is soon known by heart" : "much data needs less");
}

/* Sentences of a batch. */
static double batch_sentences(const TrainOptions *o, DataSize size) {
    if (o->batch_unit == BATCH_SENTENCES) return o->batch_size;
    return fmax(1, o->batch_size / (1.3 * size.words / (double)size.pairs + 1));
}

static void choose_training(Rule *rule, DataSize size, bool fine_tune) {
    char count[32];
    TrainOptions *o = &rule->config->train;
    double pairs = (double)size.pairs;
    double batch = pairs < 2000 ? 16 : pairs < 20000 ? 32 : pairs < 500000 ? 64 : 128;
    double target_updates = fmin(2000 * pow(pairs / 500, 0.45), 60000) / (fine_tune ? 4 : 1);
    if (o->batch_unit == BATCH_SENTENCES) set(rule, "train.batch_size", batch);
    batch = batch_sentences(o, size) * o->accumulate;
    /* Public models: two epochs of 5,000 pairs, six of 500, one of 20,000 and more. */
    bool transformer = fine_tune && rule->config->model.decoder_style == DECODER_TRANSFORMER;
    if (transformer) target_updates = 2 * sqrt(5000 * pairs) / batch;
    double trained = pairs * (1 - rule->config->data.held_out);
    if (!o->max_updates)
        set(rule, "train.epochs",
            fmin(fmax(round(target_updates * batch / pairs), transformer ? 1 : 2), 100));
    else if (o->max_updates > o->epochs * floor(trained / batch))
        set(rule, "train.epochs", 0); /* the default number of epochs would end training before max_updates */
    double updates = o->epochs * ceil(pairs / batch);
    if (o->max_updates && (!o->epochs || o->max_updates < updates)) updates = o->max_updates;
    if (updates <= 0) updates = target_updates; /* only the time limit ends it */
    set(rule, "train.warmup", fmin(400, two_digits(fmax(updates / 10, 1))));
    if (updates < 10000) set(rule, "train.average", fmin(fmax(round(1e4 / updates) / 1e3, 0.001), 0.01));
    if (fmax(o->epochs, updates / ceil(pairs / batch)) > 20)
        set(rule, "train.valid_every", two_digits(fmax(updates / 20, 1)));
    if (!fine_tune) set(rule, "train.learning_rate", pairs < 20000 ? 0.003 : 0.002);
    explain(rule, "small batches, about %s updates", str_count((long long)updates, count));
    if (fine_tune) set(rule, "train.learning_rate", transformer ? 0.0003 : 0.0005);
    explain(rule, "gently from a trained model");
    if (fine_tune) set_text(rule, "train.interpolate", "true");
    explain(rule, "forgets less, averaged with the model it begins with");
}

static void choose_score(Rule *rule) {
    set_text(rule, "train.stop_on", "chrf");
    explain(rule, "tells short targets apart too");
}

/* They cost a little quality where all kinds are known, so they are not chosen. */
static void hint_placeholders(const Rule *rule, DataSize size) {
    enum { MIN_PERCENT = 3 };
    double percent = 100.0 * (double)size.marked / (double)size.pairs;
    if (percent <= MIN_PERCENT || rule->config->text.tokenizer != TOKENIZER_BPE) return;
    if (option_is_given(rule->user_options, "data.placeholders")) return;
    log_info(
        "hint     %.0f %% of the pairs have placeholders; data.placeholders=true is better for ones that no "
        "pair has, and a little worse for the others",
        percent);
}

void auto_config_choose(Config *config, const UserOptions *user_options, DataSize size, bool fine_tune) {
    Rule rule = {.config = config, .user_options = user_options};
    config_tables(config, rule.tables);
    choose_text(&rule, size);
    choose_model(&rule, size.pairs);
    choose_training(&rule, size, fine_tune);
    choose_score(&rule);
    if (!fine_tune) hint_placeholders(&rule, size);
    if (!fine_tune) choose_for_few(&rule, size.pairs);
    strbuf_free(&rule.line);
}

/* ---- the length of translations ---------------------------------------------------------------------- */

/* Factors are counted, and chosen, in halves. */
enum { MAX_HALVES = 2 * DECODE_MAX_FACTOR };

bool auto_config_length_is_default(const DecodeOptions *decode) {
    Config defaults;
    config_init(&defaults);
    bool is_default = decode->max_length_factor == defaults.decode.max_length_factor;
    config_free(&defaults);
    return is_default;
}

/* needing_more[h]: the number of pairs whose target is longer than a factor of h / 2 allows. */
static void count_pairs(const DecodeOptions *decode, const Corpus *pairs, long needing_more[MAX_HALVES + 1]) {
    for (int pair = 0; pair < pairs->count; pair++) {
        double source = fmax(corpus_source_length(pairs, pair), 1);
        double halves = ceil(2 * (corpus_target_length(pairs, pair) - decode->max_length_extra) / source);
        for (int h = 0; h <= MAX_HALVES && h < halves; h++) needing_more[h]++;
    }
}

void auto_config_fit_length(DecodeOptions *decode, const Corpus *pairs) {
    if (!auto_config_length_is_default(decode)) return;
    long needing_more[MAX_HALVES + 1] = {0}, most = pairs->count / 1000;
    count_pairs(decode, pairs, needing_more);
    double before = decode->max_length_factor, percent = 100.0 / pairs->count;
    int halves = (int)(2 * before);
    long cut = needing_more[halves];
    if (cut <= most) return;
    while (halves < MAX_HALVES && needing_more[halves] > most) halves++;
    decode->max_length_factor = fmin(ceil(1.25 * halves) / 2, DECODE_MAX_FACTOR);
    log_info("lengths  %.3g %% of the targets have more than %g tokens a source token and %d: "
             "decode.max_length_factor=%g",
             percent * (double)cut, before, decode->max_length_extra, decode->max_length_factor);
    if (needing_more[MAX_HALVES] > most)
        log_warn("%.3g %% have more than %d and %d: translate --max-length-factor lets them be as long",
                 percent * (double)needing_more[MAX_HALVES], DECODE_MAX_FACTOR, decode->max_length_extra);
}
