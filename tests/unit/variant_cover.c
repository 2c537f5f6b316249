/* variant_cover.c - see variant_cover.h. */
#include "unit/variant_cover.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"

/* ---- factors ---- */

static bool always(const ModelOptions *m) { return m != NULL; }
static bool reads_rnn(const ModelOptions *m) { return m->encoder_style == ENCODER_RNN; }
static bool reads_conv(const ModelOptions *m) { return m->encoder_style == ENCODER_CONV; }
static bool writes_recurrent(const ModelOptions *m) { return m->decoder_style != DECODER_TRANSFORMER; }
static bool writes_luong(const ModelOptions *m) { return m->decoder_style == DECODER_LUONG; }
static bool has_cells(const ModelOptions *m) { return reads_rnn(m) || writes_recurrent(m); }
static bool has_blocks(const ModelOptions *m) {
    return m->encoder_style == ENCODER_SELF_ATTENTION || !writes_recurrent(m);
}
static bool has_norms(const ModelOptions *m) { return has_cells(m) || reads_conv(m); }
static bool has_upper_cells(const ModelOptions *m) {
    return (reads_rnn(m) && m->encoder_layers > 1) || (writes_recurrent(m) && m->decoder_layers > 1);
}
static bool has_positions(const ModelOptions *m) { return !reads_rnn(m) || !writes_recurrent(m); }
/* Luong's readout is always the attentional vector; only its size changes. */
static bool has_readouts(const ModelOptions *m) {
    return writes_recurrent(m) && (!writes_luong(m) || m->embedding != m->hidden);
}

static const struct {
    const char *key, *values; /* values NULL: all that the option table has */
    bool (*matters)(const ModelOptions *options);
} FACTORS[COVER_FACTORS] = {
    {"model.attention", NULL, always}, /* a Transformer decoder allows only one value */
    {"model.encoder.style", NULL, always},
    {"model.decoder.style", NULL, always},
    {"model.encoder.layers", "1|2|3", always},
    {"model.decoder.layers", "1|2", always},
    {"model.hidden", "4|6", always}, /* as the embeddings, and not */
    {"model.tie", NULL, always},
    {"model.cell", NULL, has_cells},
    {"model.layer_norm", NULL, has_norms},
    {"model.residual", NULL, has_upper_cells},
    {"model.encoder.bidirectional", NULL, reads_rnn},
    {"model.encoder.width", "2|3|5", reads_conv},
    {"model.decoder.start", NULL, writes_recurrent},
    {"model.decoder.input_feeding", NULL, writes_luong},
    {"model.decoder.self_attention", NULL, writes_recurrent},
    {"model.decoder.readout", NULL, has_readouts},
    {"model.norm", NULL, has_blocks},
    {"model.heads", "1|2", has_blocks},
    {"model.positions", NULL, has_positions},
};

enum { MOST_VALUES = 64 };
typedef struct {
    const Option *row;
    StrView text[MOST_VALUES]; /* of each value */
    int count, first;          /* numbered through all factors, its values are first .. first + count - 1 */
} Factor;

static Factor factors[COVER_FACTORS];
static Config defaults; /* of all variants */
static int value_count;

static void read_factor(Factor *f, int number) {
    StrView key = sv(FACTORS[number].key), rest;
    for (const Option *row = MODEL_OPTIONS; row->key; row++)
        if (sv_equal(sv(row->key), key)) f->row = row;
    assert(f->row);
    rest = sv(FACTORS[number].values     ? FACTORS[number].values
              : f->row->type == OPT_BOOL ? "false|true"
                                         : f->row->choices);
    while (sv_next(&rest, '|', &f->text[f->count])) {
        f->count++;
        assert(f->count < MOST_VALUES);
    }
    f->first = value_count;
    value_count += f->count;
}

static void prepare(void) {
    if (value_count) return;
    config_init(&defaults);
    config_free(&defaults); /* of its texts nothing is needed */
    memset(&defaults.data, 0, sizeof defaults.data);
    variant_sizes(&defaults.model);
    for (int f = 0; f < COVER_FACTORS; f++) read_factor(&factors[f], f);
}

const char *cover_key(int factor) { return FACTORS[factor].key; }
int cover_values(int factor) {
    prepare();
    return factors[factor].count;
}

void cover_setting(int factor, int value, StrBuf *setting) {
    prepare();
    StrView text = factors[factor].text[value];
    strbuf_format(setting, "%s=%.*s", FACTORS[factor].key, (int)text.length, text.data);
}

void cover_settings(const Choice *choice, StrBuf *settings) {
    for (int f = 0; f < COVER_FACTORS; f++) {
        if (choice->value[f] == COVER_ABSENT) continue;
        if (f) strbuf_format(settings, " ");
        cover_setting(f, choice->value[f], settings);
    }
}

/* ---- choices ---- */

static void set_option(ModelOptions *options, const Factor *f, int value) {
    char *field = (char *)options + f->row->offset;
    if (f->row->type == OPT_BOOL)
        *(bool *)field = value != 0;
    else if (f->row->type == OPT_CHOICE)
        *(int *)(void *)field = value;
    else
        *(int *)(void *)field = (int)strtol(f->text[value].data, NULL, 10);
}

/* Put the choice into a configuration, without the factors that have no effect in it. */
static bool is_allowed(Choice *choice) {
    Config config = defaults;
    for (int f = 0; f < COVER_FACTORS; f++) set_option(&config.model, &factors[f], choice->value[f]);
    ModelOptions all = config.model;
    config.model = defaults.model;
    for (int f = 0; f < COVER_FACTORS; f++)
        if (FACTORS[f].matters(&all))
            set_option(&config.model, &factors[f], choice->value[f]);
        else
            choice->value[f] = COVER_ABSENT;
    config.text.joint = config.model.tie == TIE_ALL;
    return config_check(&config) == STATUS_OK;
}

bool cover_draw(Rng *rng, const Choice *fixed, Choice *choice) {
    prepare();
    for (int f = 0; f < COVER_FACTORS; f++) {
        int value = (int)rng_below(rng, (uint32_t)factors[f].count);
        choice->value[f] = fixed && fixed->value[f] != COVER_ABSENT ? fixed->value[f] : value;
    }
    if (!is_allowed(choice)) return false;
    for (int f = 0; fixed && f < COVER_FACTORS; f++)
        if (fixed->value[f] != COVER_ABSENT && choice->value[f] == COVER_ABSENT) return false;
    return true;
}

/* ---- covering all pairs, greedily ---- */

/* Which pairs of values, numbered through all factors, are still to be covered. */
typedef struct {
    bool open[MOST_VALUES][MOST_VALUES];
} Pairs;

/* How many open pairs the choice has; opens or closes them on request. */
static int count_open(const Choice *choice, Pairs *pairs, const bool *set) {
    int count = 0;
    for (int f = 0; f < COVER_FACTORS; f++)
        for (int g = f + 1; g < COVER_FACTORS; g++) {
            if (choice->value[f] == COVER_ABSENT || choice->value[g] == COVER_ABSENT) continue;
            bool *pair =
                &pairs->open[factors[f].first + choice->value[f]][factors[g].first + choice->value[g]];
            count += *pair;
            if (set) *pair = *set;
        }
    return count;
}

/* The first open pair as the only factors of `choice`; false if there is none. */
static bool first_open(const Pairs *pairs, Choice *choice) {
    for (int f = 0; f < COVER_FACTORS; f++) choice->value[f] = COVER_ABSENT;
    for (int f = 0; f < COVER_FACTORS; f++)
        for (int g = f + 1; g < COVER_FACTORS; g++)
            for (int v = 0; v < factors[f].count; v++)
                for (int w = 0; w < factors[g].count; w++)
                    if (pairs->open[factors[f].first + v][factors[g].first + w]) {
                        choice->value[f] = v;
                        choice->value[g] = w;
                        return true;
                    }
    return false;
}

/* Of some choices with the fixed factors the one that covers most. */
static Choice best_with(Rng *rng, const Choice *fixed, Pairs *pairs) {
    enum { CANDIDATES = 20 };
    Choice best = {{0}}, choice;
    for (int found = 0, most = 0; found < CANDIDATES;) {
        if (!cover_draw(rng, fixed, &choice)) continue; /* it was seen once, so it is found again */
        int covers = count_open(&choice, pairs, NULL);
        if (covers > most) best = choice, most = covers;
        found++;
    }
    return best;
}

enum { MOST_CHOICES = 200, DRAWS = 20000 };

const Choice *cover_choices(int *count) {
    static const bool OPEN = true, CLOSED = false;
    static Choice choices[MOST_CHOICES], choice;
    static int made;
    if (!made) {
        Pairs pairs = {{{false}}};
        Rng rng = rng_new(21);
        prepare();
        assert(value_count <= MOST_VALUES);
        for (int i = 0; i < DRAWS; i++)
            if (cover_draw(&rng, NULL, &choice)) count_open(&choice, &pairs, &OPEN);
        for (; first_open(&pairs, &choice) && made < MOST_CHOICES; made++) {
            choices[made] = best_with(&rng, &choice, &pairs);
            count_open(&choices[made], &pairs, &CLOSED);
        }
    }
    *count = made;
    return choices;
}

const ModelVariant *cover_variants(void) {
    static ModelVariant *variants;
    static StrBuf texts[MOST_CHOICES];
    if (variants) return variants;
    int named = 0, count;
    const Choice *choices = cover_choices(&count);
    while (MODEL_VARIANTS[named].name) named++;
    variants = mem_alloc((size_t)(named + count) + 1, sizeof *variants);
    memcpy(variants, MODEL_VARIANTS, (size_t)named * sizeof *variants);
    for (int i = 0; i < count; i++) {
        cover_settings(&choices[i], &texts[i]);
        variants[named + i].name = variants[named + i].settings = strbuf_text(&texts[i]);
    }
    return variants;
}
