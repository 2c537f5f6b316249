/* recurrent_dropout.c - a sentence has one mask of the state for all its steps, in both directions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>
#include "layers/recurrent.h"
#include "kern/kern.h"

enum { INPUTS = 3, HIDDEN = 8, SENTENCES = 3, ROWS = 4 + 1 + 3, STREAM = 9 };
static const int LENGTHS[SENTENCES] = {1, 4, 3};
static const uint32_t NUMBERS[SENTENCES] = {5, 6, 7};

/* The expected result of rnn_run: sentence by sentence, step by step, with the mask applied here. An LSTM
 * uses h only in its gates. */
static void check(Tape *tape, Cell *cell, Tensor *x, const Sequences *sequences, bool reverse) {
    SequenceSteps steps = sequences_steps(tape, sequences);
    cell_drop_state(cell, 0.4, STREAM);
    Tensor *got = rnn_run(tape, cell, op_gather(tape, x, steps.from_packed, ROWS), steps.packed, reverse).h;
    cell_drop_state(cell, 0, 0);
    for (int b = 0; b < SENTENCES; b++) {
        CellState state = {tape_tensor_zeroed(tape, 1, HIDDEN), tape_tensor_zeroed(tape, 1, HIDDEN), NULL};
        for (int i = 0; i < LENGTHS[b]; i++) {
            int row = sequences->start[b] + (reverse ? LENGTHS[b] - 1 - i : i);
            state.h = op_dropout(tape, state.h, 0.4, STREAM, &sequences->row_keys[sequences->start[b]]);
            Tensor *projection = linear_apply(tape, &cell->input, tape_rows(tape, x, row, 1));
            state = cell_step(tape, cell, projection, state);
            assert_memory_equal(state.h->data, tensor_row(got, steps.to_packed[row]), HIDDEN * sizeof(real));
        }
    }
}

static void test_one_mask(void **state) {
    (void)state;
    ParamSet *params = params_new();
    Cell cell = cell_new(params, "cell", CELL_LSTM, INPUTS, HIDDEN, false);
    params_initialize(params, 4);
    params_pack_all(params);
    Tape *tape = tape_new(params, false);
    tape->training = true;
    tape->dropout_key = 11;
    const Sequences *sequences = sequences_new(tape, LENGTHS, SENTENCES, NUMBERS, 0);
    Tensor *x = tape_tensor(tape, ROWS, INPUTS);
    for (int i = 0; i < ROWS * INPUTS; i++) x->data[i] = (real)(i % 7 - 3);
    check(tape, &cell, x, sequences, false);
    check(tape, &cell, x, sequences, true);
    tape_free(tape);
    params_free(params);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_mask)};
    kern_select();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
