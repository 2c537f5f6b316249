/* posenc.c - adding positions to embeddings. */
#include "layers/posenc.h"

#include <math.h>
#include "layers/positions.h"

static const double LEARNED_SCALE =
    0.1; /* standard deviation of a learned table, times sqrt(size), at the beginning */

Posenc posenc_new(ParamSet *params, const char *name, PositionKind kind, int positions, int size) {
    Posenc posenc = {.kind = kind};
    if (kind == POSITIONS_LEARNED)
        posenc.table = params_add(params, param_name(name, "positions"), positions, size, INIT_NORMAL,
                                  LEARNED_SCALE, PACK_NONE);
    return posenc;
}

/* The sinusoids of the positions that occur, one row for each from the lowest to the highest; *lowest receives the first. */
static Tensor *sinusoids(Tape *tape, int size, const int *position, int rows, int *lowest) {
    int low = rows ? position[0] : 0, high = low;
    for (int r = 0; r < rows; r++) {
        if (position[r] < low) low = position[r];
        if (position[r] > high) high = position[r];
    }
    int count = high - low + 1;
    Tensor *table = tape_alloc(tape, sizeof *table);
    *table = (Tensor){.rows = count, .columns = size};
    table->data = tape_alloc(tape, tensor_size(table) * sizeof(real));
    positions_sinusoidal(low, count, size, table->data);
    *lowest = low;
    return table;
}

Tensor *posenc_add(Tape *tape, const Posenc *posenc, Tensor *x, const int *position) {
    Tensor *scaled = op_scale(tape, x, (real)sqrt((double)x->columns)), *encoding;
    if (posenc->kind != POSITIONS_SINUSOIDAL && posenc->kind != POSITIONS_LEARNED) return scaled;
    int *index = tape_alloc(tape, (size_t)x->rows * sizeof *index);
    if (posenc->kind == POSITIONS_LEARNED) {
        int last = posenc->table->rows - 1;
        for (int r = 0; r < x->rows; r++) index[r] = position[r] < last ? position[r] : last;
        encoding =
            op_scale(tape, op_embedding(tape, posenc->table, index, x->rows), (real)sqrt((double)x->columns));
    } else {
        int lowest;
        Tensor *table = sinusoids(tape, x->columns, position, x->rows, &lowest);
        for (int r = 0; r < x->rows; r++) index[r] = position[r] - lowest;
        encoding = op_gather(tape, table, index, x->rows);
    }
    return op_add(tape, scaled, encoding);
}
