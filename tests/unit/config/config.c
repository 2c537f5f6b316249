/* config.c - the configuration: ranges, defaults, and the files of configs/. */
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ranges),  cmocka_unit_test(test_round_trip), cmocka_unit_test(test_schedule),
        cmocka_unit_test(test_old_key), cmocka_unit_test(test_files),      cmocka_unit_test(test_dropout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
