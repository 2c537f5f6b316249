/* config.c - the configuration: combinations that are refused, defaults, and the files of
 * configs/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include "io/fileio.h"
#include "config/config.h"

static Status check_with(const char *settings) {
    Config config;
    OptionTable tables[6];
    config_init(&config);
    config_tables(&config, tables);
    StrView rest = sv(settings), item, key;
    while (sv_next(&rest, ' ', &item)) {
        if (!item.length) continue;
        sv_next(&item, '=', &key);
        assert_int_equal(options_set(tables, key, item), STATUS_OK);
    }
    Status status = config_check(&config);
    config_free(&config);
    return status;
}

#define TRANSFORMER "model.decoder.style=transformer model.attention=scaled_dot "
#define FINAL       "model.decoder.start=final model.encoder.bidirectional=false "

/* Each error with a part of its message and of its hint, next to a similar configuration that is accepted. */
static void test_combinations(void **state) {
    (void)state;
    static const struct {
        const char *settings, *message, *hint; /* NULL if accepted */
    } CASES[] = {
        {"model.hidden=256", NULL, NULL},
        {"text.joint=false", "model.tie = \"all\"", "text.joint = true"},
        {"text.joint=false model.tie=target", NULL, NULL},
        {"text.joint=false model.tie=none", NULL, NULL},

        {"model.decoder.readout=linear", NULL, NULL}, /* equal sizes by default */
        {"model.decoder.readout=linear model.embedding=128",
         "a tied linear readout needs equal sizes: model.embedding = 128, model.hidden = 256",
         "model.decoder.readout = \"deep\""},
        {"model.decoder.readout=linear model.embedding=128 model.tie=target", "model.embedding",
         "model.tie = \"none\""},
        {"model.decoder.readout=linear model.embedding=128 model.tie=none", NULL, NULL},
        {"model.decoder.readout=deep model.embedding=128", NULL, NULL},
        {"model.decoder.style=luong model.decoder.readout=linear model.hidden=128",
         "model.embedding = 256, model.hidden = 128", "make them equal"},
        {"model.decoder.style=luong model.hidden=128", NULL, NULL},
        {TRANSFORMER "model.embedding=128",
         "a tied Transformer decoder needs equal sizes: model.embedding = 128, model.hidden = 256",
         "set model.tie = \"none\""},
        {TRANSFORMER "model.embedding=128 model.tie=target", "a tied Transformer decoder", "make them equal"},
        {TRANSFORMER "model.embedding=128 model.tie=none", NULL, NULL},
        {TRANSFORMER "model.embedding=128 model.tie=none model.decoder.readout=linear", NULL, NULL},
        {TRANSFORMER "model.embedding=128 model.hidden=128", NULL, NULL},

        {TRANSFORMER "model.heads=3", "model.heads = 3 does not divide model.hidden = 256", "equal part"},
        {"model.encoder.style=self_attention model.heads=5", "model.heads = 5 does not divide", "equal part"},
        {"model.encoder.style=self_attention model.heads=512", "model.heads = 512 does not", "equal part"},
        {"model.encoder.style=self_attention model.heads=256", NULL, NULL},
        {"model.encoder.style=conv model.heads=3", NULL, NULL}, /* there are no heads */
        {"model.heads=3", NULL, NULL},

        {"model.decoder.start=final", "encoder 1, bidirectional, decoder 1", "bidirectional = false"},
        {FINAL, NULL, NULL},
        {FINAL "model.encoder.layers=2", "encoder 2, decoder 1", "equal layers"},
        {FINAL "model.decoder.layers=3", "model.decoder.start", "model.decoder.start = \"mean\""},
        {FINAL "model.encoder.layers=3 model.decoder.layers=3", NULL, NULL},
        {"model.decoder.start=final model.encoder.layers=2 model.decoder.layers=2", "bidirectional",
         "model.decoder.start = \"mean\""},
        {"model.encoder.layers=3 model.decoder.layers=2", NULL, NULL},
        {FINAL "model.cell=lstm model.decoder.style=luong", NULL, NULL},
        {FINAL "model.encoder.style=self_attention",
         "model.decoder.start = \"final\" needs the states of a recurrent encoder",
         "model.encoder.style = \"rnn\""},
        {FINAL "model.encoder.style=conv", "the states of a recurrent encoder", "\"mean\""},
        {"model.encoder.style=conv", NULL, NULL},
        {TRANSFORMER "model.decoder.start=final", NULL, NULL}, /* it has no state to start from */

        {"model.decoder.input_feeding=true", "model.decoder.input_feeding feeds", "style = \"luong\""},
        {"model.decoder.input_feeding=true model.decoder.style=bahdanau", "model.decoder.input_feeding",
         "luong"},
        {TRANSFORMER "model.decoder.input_feeding=true", "model.decoder.input_feeding", "luong"},
        {"model.decoder.input_feeding=true model.decoder.style=luong", NULL, NULL},

        {"model.decoder.self_attention=true", NULL, NULL},
        {TRANSFORMER "model.decoder.self_attention=true", "a Transformer has its own", "leave it off"},
        {"model.decoder.self_attention=true model.decoder.readout=linear", "has no reader",
         "model.decoder.readout = \"deep\""},
        {"model.decoder.self_attention=true model.decoder.readout=linear model.decoder.style=luong", NULL,
         NULL},
        {"model.decoder.self_attention=true model.decoder.input_feeding=true model.decoder.style=luong",
         "exclude each other", "choose one"},

        {"model.encoder.style=conv model.positions=relative", "model.positions = \"relative\"",
         "sinusoidal, learned or none"},
        {TRANSFORMER "model.encoder.style=conv model.positions=relative", "convolutions have none",
         "sinusoidal"},
        {"model.encoder.style=conv model.positions=learned", NULL, NULL},
        {"model.encoder.style=self_attention model.positions=relative", NULL, NULL},
        {TRANSFORMER "model.positions=relative", NULL, NULL},
        {"model.positions=relative", NULL, NULL}, /* without effect */

        {"model.decoder.style=transformer", "not by model.attention = \"additive\"",
         "set model.attention = \"scaled_dot\""},
        {"model.decoder.style=transformer model.attention=dot", "model.attention = \"dot\"", "scaled_dot"},
        {TRANSFORMER, NULL, NULL},
        {"train.bpe_dropout_source=0.1 text.tokenizer=word", "train.bpe_dropout_source passes over merges",
         "text.tokenizer = \"bpe\""},
        {"train.bpe_dropout_target=0.1 text.tokenizer=word", "train.bpe_dropout_target passes over merges",
         "text.tokenizer = \"bpe\""},
        {"data.placeholders=true text.tokenizer=word", "data.placeholders makes tokens of placeholders",
         "text.tokenizer = \"bpe\""},
        {"model.attention=location model.max_positions=1", NULL, NULL},
        {"model.attention=none model.encoder.style=conv", NULL, NULL},
        {"model.decoder.style=transformer model.attention=none", "not by model.attention = \"none\"",
         "scaled_dot"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Status status = check_with(CASES[i].settings);
        if (status != (CASES[i].message ? STATUS_USAGE : STATUS_OK))
            fail_msg("%s: status %d", CASES[i].settings, (int)status);
        if (!CASES[i].message) continue;
        if (!strstr(status_message(), CASES[i].message))
            fail_msg("%s: '%s'", CASES[i].settings, status_message());
        if (!strstr(status_hint_text(), CASES[i].hint))
            fail_msg("%s: hint '%s'", CASES[i].settings, status_hint_text());
    }
}

static void test_ranges(void **state) {
    (void)state;
    static const char *const WRONG[][2] = {
        {"model.hidden", "0"},
        {"model.hidden", "65537"},
        {"model.hidden", "12x"},
        {"model.hidden", ""},
        {"model.encoder.layers", "33"},
        {"model.decoder.layers", "0"},
        {"model.tie", "both"},
        {"model.dropout_output", "0.96"},
        {"model.dropout_output", "-0.1"},
        {"model.layer_norm", "si"},
        {"train.learning_rate", "nan"},
        {"train.learning_rate", "inf"},
        {"train.save_minutes", "0"},
        {"model.attention", "dit"},
        {"model.attention", ""},
        {"model.cell", "rnn"},
        {"model.encoder.style", "transformer"},
        {"model.decoder.style", "self_attention"},
        {"model.encoder.width", "0"},
        {"model.heads", "0"},
        {"model.feed_forward", "-1"},
        {"model.norm", "both"},
        {"model.positions", "absolute"},
        {"model.max_positions", "0"},
        {"model.max_relative_position", "0"},
        {"model.dropout_attention", "0.96"},
        {"model.encoder", "rnn"},
        {"model.encoder.leyers", "2"},
        {"model.hiden", "64"},
        {"train.seed", "-1"},
    };
    Config config;
    OptionTable tables[6];
    config_init(&config);
    config_tables(&config, tables);
    for (size_t i = 0; i < sizeof WRONG / sizeof *WRONG; i++) {
        Status status = options_set(tables, sv(WRONG[i][0]), sv(WRONG[i][1]));
        if (status != STATUS_USAGE) fail_msg("%s = '%s' is accepted", WRONG[i][0], WRONG[i][1]);
        if (!strstr(status_message(), WRONG[i][0]))
            fail_msg("'%s' does not name %s", status_message(), WRONG[i][0]);
    }
    config_free(&config);
}

/* A configuration is the same after writing and reading; so is a part of it over the defaults. */
static void test_round_trip(void **state) {
    (void)state;
    Config config, again;
    OptionTable tables[6], tables_again[6];
    config_init(&config);
    config_init(&again);
    config_tables(&config, tables);
    config_tables(&again, tables_again);
    assert_int_equal(options_set(tables, SV("train.learning_rate"), SV("0.1234567890123456789")), STATUS_OK);
    assert_int_equal(options_set(tables, SV("train.seed"), SV("8999999999999999")), STATUS_OK);
    assert_int_equal(options_set(tables, SV("data.train"), SV("a.tsv,b \"c\".{}.gz")), STATUS_OK);
    assert_int_equal(options_set(tables, SV("model.decoder.style"), SV("bahdanau")), STATUS_OK);
    for (int minimal = 0; minimal < 2; minimal++) {
        StrBuf text = {0}, text_again = {0};
        options_write_json(tables, minimal, &text);
        assert_int_equal(config_read_json(&again, strbuf_view(&text)), STATUS_OK);
        options_write_json(tables_again, minimal, &text_again);
        assert_string_equal(strbuf_text(&text), strbuf_text(&text_again));
        strbuf_free(&text);
        strbuf_free(&text_again);
    }
    assert_true(again.train.seed == 8999999999999999ll);
    assert_true(again.train.learning_rate == config.train.learning_rate);
    assert_int_equal(config_read_json(&again, SV("{\"model\": {\"hidden\": 0}}")), STATUS_USAGE);
    assert_int_equal(config_read_json(&again, SV("{\"model\": {\"hiden\": 4}}")), STATUS_USAGE);
    assert_int_equal(config_read_json(&again, SV("{\"text\": {\"joint\": false}}")), STATUS_USAGE);
    assert_int_not_equal(config_read_json(&again, SV("{")), STATUS_OK);
    assert_int_not_equal(config_read_json(&again, SV("[]")), STATUS_OK);
    config_free(&config);
    config_free(&again);
}

/* The default of train.schedule. */
static void test_schedule(void **state) {
    (void)state;
    assert_int_equal(config_schedule(&(TrainOptions){.epochs = 3}), SCHEDULE_LINEAR);
    assert_int_equal(config_schedule(&(TrainOptions){.max_updates = 3}), SCHEDULE_LINEAR);
    assert_int_equal(config_schedule(&(TrainOptions){.max_minutes = 3}), SCHEDULE_INVERSE_SQRT);
    assert_int_equal(config_schedule(&(TrainOptions){.epochs = 3, .schedule = SCHEDULE_CONSTANT}),
                     SCHEDULE_CONSTANT);
}

/* The old name of a key is still read; the new name is written. */
static void test_old_key(void **state) {
    (void)state;
    Config config;
    OptionTable tables[6];
    StrBuf text = {0};
    config_init(&config);
    assert_int_equal(config_read_json(&config, SV("{\"model\": {\"relative_reach\": 5}}")), STATUS_OK);
    assert_int_equal(config.model.max_relative_position, 5);
    config_tables(&config, tables);
    options_write_json(tables, true, &text);
    assert_non_null(strstr(strbuf_text(&text), "\"max_relative_position\": 5"));
    assert_null(strstr(strbuf_text(&text), "relative_reach"));
    strbuf_free(&text);
    config_free(&config);
}

/* Each dropout option is a probability. */
static void test_dropout(void **state) {
    (void)state;
    const ModelOptions none = {0};
    assert_false(config_has_dropout(&none));
    for (int i = 0; i < 7; i++) {
        ModelOptions m = none;
        double *const rates[] = {&m.dropout_embedding, &m.dropout_layers,    &m.dropout_encoder,
                                 &m.dropout_output,    &m.dropout_attention, &m.dropout_state,
                                 &m.word_dropout};
        *rates[i] = 0.1;
        assert_true(config_has_dropout(&m));
    }
}

/* A configuration without data is an overlay of another one, which its comment names: "an overlay of
 * multi30k.json". */
static Status read_below(const OptionTable *tables, const char *path) {
    StrBuf text = {0}, base = {0};
    assert_int_equal(file_read(path, 0, &text), STATUS_OK);
    const char *name = strstr(strbuf_text(&text), "an overlay of ");
    if (!name) fail_msg("%s has no data and does not say what it is an overlay of", path);
    name += strlen("an overlay of ");
    strbuf_format(&base, "configs/%.*s", (int)strcspn(name, ", "), name);
    Status status = options_read_file(tables, strbuf_text(&base), NULL);
    strbuf_free(&text);
    strbuf_free(&base);
    return status;
}

static void test_files(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob("configs/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i];
        Config config;
        OptionTable tables[6];
        config_init(&config);
        config_tables(&config, tables);
        Status status = options_read_file(tables, path, NULL);
        if (status == STATUS_OK && !config.data.train.count) {
            status = read_below(tables, path);
            if (status == STATUS_OK) status = options_read_file(tables, path, NULL);
        }
        if (status == STATUS_OK) status = config_check(&config);
        if (status != STATUS_OK) fail_msg("%s: %s", path, status_message());
        assert_true(config.data.train.count > 0 && config.data.valid.count > 0);
        config_free(&config);
    }
    globfree(&found);
}

/* Options that models have, and options that they lack. */
static void test_applies(void **state) {
    (void)state;
    static const struct {
        const char *settings, *has, *lacks; /* keys */
    } CASES[] = {
        {"",
         "text.bpe_merges text.bpe_marker text.joint model.cell model.encoder.bidirectional "
         "model.decoder.start model.attention model.attention_size model.dropout_state model.tie "
         "decode.beam_size",
         "text.unigram_pieces model.encoder.width model.decoder.input_feeding model.decoder.autoreg "
         "model.heads model.norm model.positions model.max_positions model.max_relative_position "
         "decode.left_to_right"},
        {TRANSFORMER "model.encoder.style=self_attention text.tokenizer=unigram model.positions=learned",
         "text.unigram_pieces model.heads model.norm_epsilon model.positions model.max_positions "
         "model.decoder.autoreg model.embedding_multiplier model.add_source_eos model.attention",
         "text.bpe_merges text.bpe_marker text.bpe_codes model.cell model.layer_norm model.residual "
         "model.encoder.bidirectional model.encoder.width model.decoder.start model.decoder.readout "
         "model.attention_size model.max_relative_position model.dropout_state"},
        {TRANSFORMER, "model.cell model.encoder.bidirectional model.heads model.decoder.feed_forward",
         "model.decoder.start model.decoder.readout"},
        {"model.encoder.style=conv model.decoder.style=luong model.attention=location",
         "model.encoder.width model.layer_norm model.positions model.decoder.input_feeding model.cell "
         "model.max_positions model.embedding_multiplier",
         "model.encoder.bidirectional model.heads model.attention_size model.add_source_eos"},
        {"text.tokenizer=sentencepiece", "text.tokenizer model.cell",
         "text.normalize text.lowercase text.joint text.min_count text.bpe_merges text.unigram_pieces "
         "model.size model.embedding_scale"},
        {"text.bpe_codes=x", "text.bpe_codes text.bpe_marker", "text.bpe_merges"},
        {"model.decoder.bidirectional=true", "decode.left_to_right", "model.heads"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Config config;
        OptionTable tables[6];
        config_init(&config);
        config_tables(&config, tables);
        StrView rest = sv(CASES[i].settings), item, key;
        while (sv_next_word(&rest, &item)) {
            sv_next(&item, '=', &key);
            assert_int_equal(options_set(tables, key, item), STATUS_OK);
        }
        for (int has = 0; has < 2; has++) {
            rest = sv(has ? CASES[i].has : CASES[i].lacks);
            while (sv_next_word(&rest, &key)) {
                char *name = strndup(key.data, key.length);
                if (config_applies(&config, name) != has) fail_msg("'%s': %s", CASES[i].settings, name);
                free(name);
            }
        }
        config_free(&config);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combinations), cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_round_trip),   cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_old_key),      cmocka_unit_test(test_files),
        cmocka_unit_test(test_dropout),      cmocka_unit_test(test_applies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
