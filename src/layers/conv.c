/* conv.c - a convolution as a linear map of rows, each of which holds the neighbourhood of a token. */
#include "layers/conv.h"

#include <math.h>

Conv conv_new(ParamSet *params, const char *name, int size, int width, bool layer_norm) {
    return (Conv){.size = size,
                  .width = width,
                  .gates = linear_new(params, param_name(name, "gates"), width * size, 2 * size, true),
                  .norm = norm_new(params, param_name(name, "norm"), size, layer_norm, NORM_EPSILON)};
}

/* [rows, width D]: the neighbours of each token, from left to right. */
static Tensor *neighbourhoods(Tape *tape, const Conv *conv, Tensor *x, const Sequences *s) {
    int *index = tape_alloc(tape, (size_t)s->rows * (size_t)conv->width * sizeof *index), *next = index;
    for (int r = 0; r < s->rows; r++)
        for (int i = 0; i < conv->width; i++) {
            int at = s->position[r] + i - (conv->width - 1) / 2;
            bool inside = at >= 0 && at < s->length[s->sentence[r]];
            *next++ = inside ? s->start[s->sentence[r]] + at : -1;
        }
    Tensor *rows = op_gather(tape, x, index, s->rows * conv->width);
    return tape_reshape(tape, rows, s->rows, conv->width * conv->size);
}

Tensor *conv_run(Tape *tape, const Conv *conv, Tensor *x, const Sequences *sequences, double dropout,
                 uint32_t stream) {
    Tensor *h = op_dropout(tape, norm_apply(tape, &conv->norm, x), dropout, stream, sequences->row_keys);
    h = op_glu(tape, linear_apply(tape, &conv->gates, neighbourhoods(tape, conv, h, sequences)));
    return op_scale(tape, op_add(tape, x, h), (real)sqrt(0.5)); /* keeps the variance */
}
