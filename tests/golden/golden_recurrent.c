/* golden_recurrent.c - GRU and LSTM cells and two stacked GRU layers over sentences of different lengths,
 * with their gradients.
 *
 * PyTorch keeps weights as [gates H, inputs] and pads sequences; ours are [inputs, gates H], and rows of
 * padding do not exist.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include "base/mem.h"
#include "golden/golden_cases.h"
#include "golden/reference.h"
#include "layers/recurrent.h"

/* "w_ih" and layer number ("" for the cell). */
static const char *numbered(const char *name, const char *layer) {
    static char text[32];
    snprintf(text, sizeof text, "%s%s", name, layer);
    return text;
}

typedef struct {
    const Param *param;
    const char *field; /* of the file */
} Pair;

static void list_params(const Cell *cell, Pair pairs[4]) {
    pairs[0] = (Pair){cell->input.weight, "w_ih"};
    pairs[1] = (Pair){cell->state.weight, "w_hh"};
    pairs[2] = (Pair){cell->input.bias, "b_ih"};
    pairs[3] = (Pair){cell->state.bias, "b_hh"};
}

static void read_params(Reference *reference, ParamSet *params, const Cell *cell, const char *layer) {
    Pair pairs[4];
    list_params(cell, pairs);
    for (int i = 0; i < 4; i++) {
        const Param *p = pairs[i].param;
        Field field = reference_field(reference, "in", numbered(pairs[i].field, layer));
        if (i < 2)
            reference_copy_transposed(&field, 0, param_data(params, p), p->rows, p->columns);
        else
            reference_copy(&field, param_data(params, p), (size_t)p->columns);
    }
}

static void check_params(Reference *reference, const real *grads, const Cell *cell, const char *layer) {
    Pair pairs[4];
    list_params(cell, pairs);
    for (int i = 0; i < 4; i++) {
        const Param *p = pairs[i].param;
        Field field = reference_field(reference, "grad", numbered(pairs[i].field, layer));
        if (i < 2) field = reference_transposed(reference, &field, 0, p->rows, p->columns);
        reference_check(&field, grads + p->offset, (size_t)p->rows * (size_t)p->columns,
                        REFERENCE_NINE_DIGITS);
    }
}

static Tensor *read_tensor(Reference *reference, Tape *tape, const char *name, int rows, int columns) {
    Field field = reference_field(reference, "in", name);
    Tensor *x = tape_tensor(tape, rows, columns);
    reference_copy(&field, x->data, tensor_size(x));
    return x;
}

static void read_gradient(Reference *reference, const char *name, Tensor *y) {
    Field field = reference_field(reference, "in", name);
    reference_copy(&field, tensor_gradient(y), tensor_size(y));
}

static void check(Reference *reference, const char *section, const char *name, const real *actual,
                  size_t count) {
    Field field = reference_field(reference, section, name);
    reference_check(&field, actual, count, REFERENCE_NINE_DIGITS);
}

static void check_cell(CellKind kind, bool packed) {
    enum { ROWS = 3, INPUTS = 4, HIDDEN = 5 };
    Reference *reference = reference_open(kind == CELL_LSTM ? "lstm_cell" : "gru_cell", "cell");
    ParamSet *params = params_new();
    Cell cell = cell_new(params, "cell", kind, INPUTS, HIDDEN, false);
    params_allocate(params);
    params->packs_backward = true;
    read_params(reference, params, &cell, "");
    if (packed) params_pack_all(params);
    Tape *tape = tape_new(params, true);
    tape->grads = params_block(params);
    Tensor *x = read_tensor(reference, tape, "x", ROWS, INPUTS);
    CellState before = {.h = read_tensor(reference, tape, "h", ROWS, HIDDEN)};
    if (kind == CELL_LSTM) before.c = read_tensor(reference, tape, "c", ROWS, HIDDEN);
    CellState after = cell_step(tape, &cell, linear_apply(tape, &cell.input, x), before);
    check(reference, "out", "out", after.h->data, tensor_size(after.h));
    read_gradient(reference, "d_out", after.h);
    if (kind == CELL_LSTM) {
        check(reference, "out", "cell", after.c->data, tensor_size(after.c));
        read_gradient(reference, "d_cell", after.c);
    }
    tape_backward(tape);
    check(reference, "grad", "x", x->grad, tensor_size(x));
    check(reference, "grad", "h", before.h->grad, tensor_size(before.h));
    if (kind == CELL_LSTM) check(reference, "grad", "c", before.c->grad, tensor_size(before.c));
    check_params(reference, tape->grads, &cell, "");
    mem_free(tape->grads);
    tape_free(tape);
    params_free(params);
    reference_close(reference);
}

void golden_gru_cell(void **state) {
    (void)state;
    check_cell(CELL_GRU, false);
    check_cell(CELL_GRU, true);
}
void golden_lstm_cell(void **state) {
    (void)state;
    check_cell(CELL_LSTM, false);
    check_cell(CELL_LSTM, true);
}

/* ---- two layers ---- */

enum { STEPS = 6, BATCH = 3, INPUTS = 4, HIDDEN = 5, LAYERS = 2 };

/* Copies between a padded [STEPS, BATCH, columns] field and packed rows; sentences are ranked as they are. */
static void pack_field(const Field *field, const PackedSequence *packed, real *rows, int columns) {
    for (int b = 0; b < BATCH; b++)
        for (int t = 0; t < packed->length[b]; t++)
            for (int c = 0; c < columns; c++)
                rows[packed_sequence_row(packed, b, t) * columns + c] =
                    (real)field->data[(t * BATCH + b) * columns + c];
}
static Field packed_field(Reference *reference, const char *section, const char *name,
                          const PackedSequence *packed, int columns) {
    Field padded = reference_field(reference, section, name);
    Field rows = reference_blank(reference, name, packed->rows, columns);
    assert_int_equal(padded.count, STEPS * BATCH * columns);
    for (int b = 0; b < BATCH; b++)
        for (int t = 0; t < STEPS; t++)
            for (int c = 0; c < columns; c++) {
                double number = padded.data[(t * BATCH + b) * columns + c];
                if (t < packed->length[b])
                    rows.data[packed_sequence_row(packed, b, t) * columns + c] = number;
                else
                    assert_true(number == 0); /* nothing comes out of padding, and nothing goes back */
            }
    return rows;
}

typedef struct {
    ParamSet *params;
    Cell gru[LAYERS];
    PackedSequence *packed;
    Tensor *x, *h0[LAYERS], *all[LAYERS]; /* all: states of all steps */
} Stack;

/* Both layers in one step after the other, as the decoder runs its layers. */
static void run_stack(Stack *s, Tape *tape) {
    Tensor *projected = linear_apply(tape, &s->gru[0].input, s->x);
    CellState h[LAYERS] = {{.h = s->h0[0]}, {.h = s->h0[1]}};
    tape_sequence_begin(tape, s->packed->rows);
    for (int t = 0; t < s->packed->steps; t++) {
        int first = s->packed->offset[t], rows = packed_sequence_batch_size(s->packed, t);
        for (int l = 0; l < LAYERS; l++) h[l] = cell_rows(tape, h[l], 0, rows);
        tape_step_begin(tape, first, rows);
        h[0] = cell_step(tape, &s->gru[0], tape_rows(tape, projected, first, rows), h[0]);
        h[1] = cell_step(tape, &s->gru[1], linear_apply(tape, &s->gru[1].input, h[0].h), h[1]);
        tape_step_end(tape);
    }
    for (int l = 0; l < LAYERS; l++) s->all[l] = tape_all_steps(tape, h[l].h);
    tape_sequence_end(tape);
}

/* States after each sentence's last step: compared, and their gradients added. */
static void check_states(Reference *reference, const Stack *s) {
    Field state = reference_field(reference, "out", "state"),
          d_state = reference_field(reference, "in", "d_state");
    real last[LAYERS * BATCH * HIDDEN], *to = last;
    const double *d = d_state.data;
    assert_int_equal(d_state.count, LAYERS * BATCH * HIDDEN);
    for (int l = 0; l < LAYERS; l++)
        for (int b = 0; b < BATCH; b++) {
            int row = packed_sequence_row(s->packed, b, s->packed->length[b] - 1);
            for (int c = 0; c < HIDDEN; c++) {
                *to++ = tensor_row(s->all[l], row)[c];
                tensor_gradient(s->all[l])[row * HIDDEN + c] += (real)*d++;
            }
        }
    reference_check(&state, last, LAYERS * BATCH * HIDDEN, REFERENCE_NINE_DIGITS);
}

static void read_stack(Reference *reference, Stack *s, Tape *tape) {
    int lengths[BATCH] = {STEPS, STEPS, STEPS};
    if (reference_has(reference, "in", "lens")) {
        Field lens = reference_field(reference, "in", "lens");
        for (int b = 0; b < BATCH; b++) lengths[b] = (int)lens.data[b];
    }
    s->packed = packed_sequence_new(tape, lengths, BATCH);
    for (int b = 0; b < BATCH; b++) assert_int_equal(s->packed->rank[b], b); /* longest first already */
    Field x = reference_field(reference, "in", "x"), h0 = reference_field(reference, "in", "h0");
    s->x = tape_tensor(tape, s->packed->rows, INPUTS);
    pack_field(&x, s->packed, s->x->data, INPUTS);
    for (int l = 0; l < LAYERS; l++) {
        s->h0[l] = tape_tensor(tape, BATCH, HIDDEN);
        for (int i = 0; i < BATCH * HIDDEN; i++) s->h0[l]->data[i] = (real)h0.data[l * BATCH * HIDDEN + i];
    }
}

static void check_layers(const char *name, bool packed) {
    Reference *reference = reference_open("gru_two_layers", name);
    Stack s = {.params = params_new()};
    for (int l = 0; l < LAYERS; l++)
        s.gru[l] = cell_new(s.params, l ? "gru.1" : "gru.0", CELL_GRU, l ? HIDDEN : INPUTS, HIDDEN, false);
    params_allocate(s.params);
    s.params->packs_backward = true;
    for (int l = 0; l < LAYERS; l++) read_params(reference, s.params, &s.gru[l], l ? "1" : "0");
    if (packed) params_pack_all(s.params);
    Tape *tape = tape_new(s.params, true);
    tape->grads = params_block(s.params);
    read_stack(reference, &s, tape);
    run_stack(&s, tape);

    Field out = packed_field(reference, "out", "out", s.packed, HIDDEN);
    reference_check(&out, s.all[1]->data, tensor_size(s.all[1]), REFERENCE_NINE_DIGITS);
    Field d_out = reference_field(reference, "in", "d_out");
    pack_field(&d_out, s.packed, tensor_gradient(s.all[1]), HIDDEN);
    check_states(reference, &s);
    tape_backward(tape);

    Field dx = packed_field(reference, "grad", "x", s.packed, INPUTS),
          dh0 = reference_field(reference, "grad", "h0");
    reference_check(&dx, s.x->grad, tensor_size(s.x), REFERENCE_NINE_DIGITS);
    real both[LAYERS * BATCH * HIDDEN];
    for (int i = 0; i < LAYERS * BATCH * HIDDEN; i++)
        both[i] = s.h0[i / (BATCH * HIDDEN)]->grad[i % (BATCH * HIDDEN)];
    reference_check(&dh0, both, LAYERS * BATCH * HIDDEN, REFERENCE_NINE_DIGITS);
    for (int l = 0; l < LAYERS; l++) check_params(reference, tape->grads, &s.gru[l], l ? "1" : "0");
    mem_free(tape->grads);
    tape_free(tape);
    params_free(s.params);
    reference_close(reference);
}

void golden_gru_layers(void **state) {
    (void)state;
    check_layers("masked", false);
    check_layers("masked", true);
    check_layers("unmasked", false);
}
