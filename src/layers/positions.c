/* positions.c - positions added to embeddings. */
#include "layers/positions.h"

#include <math.h>

/* Initial standard deviation of a learned table, times sqrt(size). */
static const double LEARNED_SCALE = 0.1;

/* Sinusoids computed once: enough positions for nearly all sentences, unless the layers are very wide. */
enum { MOST_FIRST = 128, FIRST_NUMBERS = 128 << 10 };

static Tensor first_sinusoids(ParamSet *params, int size) {
    int rows = FIRST_NUMBERS / size < MOST_FIRST ? FIRST_NUMBERS / size : MOST_FIRST;
    Tensor first = {.rows = rows, .columns = size};
    first.data = params_keep_numbers(params, tensor_size(&first));
    positions_sinusoidal(0, rows, size, first.data);
    return first;
}

PositionalEncoding positions_new(ParamSet *params, const char *name, PositionKind kind, int positions,
                                 int inputs, int size) {
    PositionalEncoding encoding = {.kind = kind};
    if (inputs != size) encoding.input = linear_new(params, param_name(name, "input"), inputs, size, false);
    if (kind == POSITIONS_LEARNED)
        encoding.table = params_add(params, param_name(name, "positions"), positions, size, INIT_NORMAL,
                                    LEARNED_SCALE, PANELS_NONE);
    if (kind == POSITIONS_SINUSOIDAL) encoding.first = first_sinusoids(params, size);
    return encoding;
}

/* Eq. 11.6.2, computed in double precision: angles may be large. */
void positions_sinusoidal(int first, int count, int size, real *out) {
    for (int column = 0; column < size; column += 2) {
        double frequency = pow(10000, -(double)column / size);
        for (int r = 0; r < count; r++) {
            double angle = ((double)first + r) * frequency;
            real *pair = out + (size_t)r * (size_t)size + column;
            pair[0] = (real)sin(angle);
            if (column + 1 < size) pair[1] = (real)cos(angle);
        }
    }
}

/* If a position is beyond the table, computes a table from the lowest to the highest position. */
static Tensor *sinusoidal(Tape *tape, const PositionalEncoding *e, const int *position, int rows) {
    int low = rows ? position[0] : 0, high = low;
    for (int r = 0; r < rows; r++) {
        if (position[r] < low) low = position[r];
        if (position[r] > high) high = position[r];
    }
    Tensor *table = tape_alloc(tape, sizeof *table);
    *table = e->first;
    if (high < table->rows) return op_gather(tape, table, position, rows);
    table->rows = high - low + 1;
    table->data = tape_alloc(tape, tensor_size(table) * sizeof(real));
    positions_sinusoidal(low, table->rows, table->columns, table->data);
    int *index = tape_alloc(tape, (size_t)rows * sizeof *index);
    for (int r = 0; r < rows; r++) index[r] = position[r] - low;
    return op_gather(tape, table, index, rows);
}

static Tensor *learned(Tape *tape, const Param *table, const int *position, int rows) {
    int *index = tape_alloc(tape, (size_t)rows * sizeof *index), last = table->rows - 1;
    for (int r = 0; r < rows; r++) index[r] = position[r] < last ? position[r] : last;
    return op_scale(tape, op_embedding(tape, table, index, rows), (real)sqrt((double)table->columns));
}

Tensor *positions_add(Tape *tape, const PositionalEncoding *e, Tensor *x, const int *position) {
    if (e->input.weight) x = linear_apply(tape, &e->input, x);
    x = op_scale(tape, x, (real)sqrt((double)x->columns));
    if (e->kind == POSITIONS_SINUSOIDAL) return op_add(tape, x, sinusoidal(tape, e, position, x->rows));
    if (e->kind == POSITIONS_LEARNED) return op_add(tape, x, learned(tape, e->table, position, x->rows));
    return x;
}
