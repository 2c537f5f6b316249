/* config_applies.c - options that models have, and options that they lack. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include "config/config.h"

#define TRANSFORMER "model.decoder.style=transformer model.attention=scaled_dot "

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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_applies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
