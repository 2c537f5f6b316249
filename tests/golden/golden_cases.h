/* golden_cases.h - tests against PyTorch that are run in single and in double precision. */
#ifndef GOLDEN_CASES_H
#define GOLDEN_CASES_H

void golden_masked_softmax(void **state);
void golden_scores(void **state);
void golden_multihead(void **state);
void golden_intra(void **state);
void golden_gru_cell(void **state);
void golden_gru_layers(void **state);
void golden_lstm_cell(void **state);
void golden_cross_entropy(void **state);
void golden_seq2seq_loss(void **state);
void golden_seq2seq_steps(void **state);
void golden_fixed_context(void **state);
void golden_positional_encoding(void **state);

#define GOLDEN_CASES                                                                                         \
    cmocka_unit_test(golden_masked_softmax), cmocka_unit_test(golden_scores),                                \
        cmocka_unit_test(golden_multihead), cmocka_unit_test(golden_intra),                                  \
        cmocka_unit_test(golden_gru_cell), cmocka_unit_test(golden_gru_layers),                              \
        cmocka_unit_test(golden_lstm_cell), cmocka_unit_test(golden_cross_entropy),                          \
        cmocka_unit_test(golden_seq2seq_loss), cmocka_unit_test(golden_seq2seq_steps),                       \
        cmocka_unit_test(golden_fixed_context), cmocka_unit_test(golden_positional_encoding)

#endif
