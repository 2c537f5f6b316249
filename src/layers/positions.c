/* positions.c - positions added to embeddings. */
#include "layers/positions.h"

#include <math.h>

/* Initial standard deviation of a learned table, times sqrt(size). */
static const double LEARNED_SCALE = 0.1;

/* Sinusoids computed once: enough positions for nearly all sentences, unless the layers are very wide. */
enum { MAX_FIRST = 128, FIRST_NUMBERS = 128 << 10 };

static bool is_sinusoidal(PositionKind kind) {
    return kind == POSITIONS_SINUSOIDAL || kind == POSITIONS_SINUSOIDAL_HALVES || kind == POSITIONS_MARIAN;
}

static Tensor first_sinusoids(ParamSet *params, PositionKind kind, int size) {
    int rows = FIRST_NUMBERS / size < MAX_FIRST ? FIRST_NUMBERS / size : MAX_FIRST;
    Tensor first = {.rows = rows, .columns = size};
    first.data = params_keep_numbers(params, tensor_size(&first));
    positions_table(kind, 0, rows, size, first.data);
    return first;
}

PositionalEncoding positions_new(ParamSet *params, const char *name, const PositionForm *f) {
    PositionalEncoding encoding = {.kind = f->kind};
    encoding.multiplier = (real)(f->multiplier > 0 ? f->multiplier : sqrt((double)f->size));
    if (f->inputs != f->size)
        encoding.input = linear_new(params, param_name(name, "input"), f->inputs, f->size, false);
    if (f->kind == POSITIONS_LEARNED)
        encoding.table = params_add(params, param_name(name, "positions"), f->positions, f->size, INIT_NORMAL,
                                    LEARNED_SCALE, PANELS_NONE);
    if (is_sinusoidal(f->kind)) encoding.first = first_sinusoids(params, f->kind, f->size);
    return encoding;
}

/* The columns of a sine and of its cosine, which may be beyond the last. */
static void pair_columns(PositionKind kind, int size, int pair, int *sine, int *cosine) {
    bool halves = kind != POSITIONS_SINUSOIDAL;
    *sine = halves ? pair : 2 * pair;
    *cosine = halves ? (size + 1) / 2 + pair : 2 * pair + 1;
}

static double pair_frequency(PositionKind kind, int size, int pair) {
    if (kind != POSITIONS_MARIAN) return pow(10000, -(double)(2 * pair) / size);
    return pair ? pow(10000, -(double)pair / (size / 2.0 - 1)) : 1;
}

/* Eq. 11.6.2, computed in double precision: angles may be large. */
void positions_table(PositionKind kind, int first, int count, int size, real *out) {
    for (int pair = 0; 2 * pair < size; pair++) {
        double frequency = pair_frequency(kind, size, pair);
        int sine, cosine;
        pair_columns(kind, size, pair, &sine, &cosine);
        for (int r = 0; r < count; r++) {
            double angle = ((double)first + r) * frequency;
            real *row = out + (size_t)r * (size_t)size;
            row[sine] = (real)sin(angle);
            if (cosine < size) row[cosine] = (real)cos(angle);
        }
    }
}

void positions_sinusoidal(int first, int count, int size, real *out) {
    positions_table(POSITIONS_SINUSOIDAL, first, count, size, out);
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
    positions_table(e->kind, low, table->rows, table->columns, table->data);
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
    x = op_scale(tape, x, e->multiplier);
    if (is_sinusoidal(e->kind)) return op_add(tape, x, sinusoidal(tape, e, position, x->rows));
    if (e->kind == POSITIONS_LEARNED) return op_add(tape, x, learned(tape, e->table, position, x->rows));
    return x;
}
