/* test_models_config.c - the configuration: combinations that are refused, defaults, and the files of configs/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <glob.h>
#include <string.h>
#include "models/config.h"

static Status check_with(const char *settings) {
    Config config;
    OptionTable tables[6];
    config_init(&config);
    config_tables(&config, tables);
    StrView rest = sv(settings), item, key;
    while (sv_next(&rest, ' ', &item)) {
        sv_next(&item, '=', &key);
        assert_int_equal(options_set(tables, key, item), STATUS_OK);
    }
    Status status = config_check(&config);
    config_free(&config);
    return status;
}

static void test_combinations(void **state) {
    (void)state;
    static const struct {
        const char *settings, *message; /* message: keys that it names, NULL if it is fine */
    } CASES[] = {
        {"model.hidden=256", NULL},
        {"text.joint=false", "model.tie"},
        {"text.joint=false model.tie=target", NULL},
        {"text.joint=false model.tie=none", NULL},
        {"model.readout=linear", NULL}, /* equal sizes by default */
        {"model.readout=linear model.embedding=128", "model.embedding = 128, model.hidden = 256"},
        {"model.readout=linear model.embedding=128 model.tie=target", "model.embedding"},
        {"model.readout=linear model.embedding=128 model.tie=none", NULL},
        {"model.readout=deep model.embedding=128", NULL},
        {"model.start=final", "model.start"},
        {"model.start=final model.bidirectional=false", NULL},
        {"model.start=final model.bidirectional=false model.encoder_layers=2", "encoder 2, decoder 1"},
        {"model.start=final model.bidirectional=false model.decoder_layers=3", "model.start"},
        {"model.start=final model.bidirectional=false model.encoder_layers=3 model.decoder_layers=3", NULL},
        {"model.start=final model.encoder_layers=2 model.decoder_layers=2", "bidirectional"},
        {"model.encoder_layers=3 model.decoder_layers=2", NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        Status status = check_with(CASES[i].settings);
        if (status != (CASES[i].message ? STATUS_USAGE : STATUS_OK))
            fail_msg("%s: status %d", CASES[i].settings, (int)status);
        if (!CASES[i].message) continue;
        if (!strstr(status_message(), CASES[i].message))
            fail_msg("%s: '%s'", CASES[i].settings, status_message());
        assert_true(strlen(status_hint_text()) > 0);
    }
}

static void test_ranges(void **state) {
    (void)state;
    static const char *const WRONG[][2] = {
        {"model.hidden", "0"},
        {"model.hidden", "65537"},
        {"model.hidden", "12x"},
        {"model.hidden", ""},
        {"model.encoder_layers", "9"},
        {"model.decoder_layers", "0"},
        {"model.tie", "both"},
        {"model.dropout_output", "0.96"},
        {"model.dropout_output", "-0.1"},
        {"model.layer_norm", "si"},
        {"train.learning_rate", "nan"},
        {"train.learning_rate", "inf"},
        {"train.shards", "0"},
        {"train.shards", "257"},
        {"train.save_minutes", "0"},
        {"model.attention", "dit"},
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

/* What is written reads back the same; so does a part of it, over the defaults. */
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
    assert_int_equal(options_set(tables, SV("model.decoder"), SV("bahdanau")), STATUS_OK);
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

static void test_files(void **state) {
    (void)state;
    glob_t found;
    assert_int_equal(glob("configs/*.json", 0, NULL, &found), 0);
    assert_true(found.gl_pathc > 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        Config config;
        OptionTable tables[6];
        config_init(&config);
        config_tables(&config, tables);
        if (options_read_file(tables, found.gl_pathv[i]) != STATUS_OK || config_check(&config) != STATUS_OK)
            fail_msg("%s: %s", found.gl_pathv[i], status_message());
        assert_true(config.data.train.count > 0 && config.data.valid.count > 0);
        config_free(&config);
    }
    globfree(&found);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_combinations),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
