/* config_check.c - combinations of settings that are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
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

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_combinations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
