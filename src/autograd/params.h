/* params.h - all weights of a model as named views into one block.
 *
 * Gradients, Adam's moments and averages are blocks of the same layout, so that clipping, updating, saving
 * and reducing are one pass over memory. Weights of products also have copies packed into panels for the
 * kernels (kern.h): one in the orientation of the forward pass and, for training, one in that of the
 * backward pass. params_pack_parallel renews the copies after every change. A model that only translates has
 * only the packed copies (params_allocate_packed); rows of its embedding tables are taken from there
 * (params_row).
 *
 * Shapes  a weight of an affine map is stored [inputs, outputs]; an embedding table [tokens, size]
 * Owner   the ParamSet owns names, data and packed copies
 */
#ifndef AUTOGRAD_PARAMS_H
#define AUTOGRAD_PARAMS_H

#include <assert.h>
#include <stdint.h>
#include "base/strview.h"
#include "base/workers.h"
#include "kern/kern.h"
#include "kern/tensor.h"

typedef enum {
    INIT_ZERO,
    INIT_ONE,
    INIT_GLOROT,   /* uniform in +-sqrt(6 / (inputs + outputs)); Glorot and Bengio 2010 */
    INIT_NORMAL,   /* standard deviation in `scale` */
    INIT_UNIFORM,  /* +-scale */
    INIT_CONSTANT, /* `scale` everywhere */
    INIT_FORGET    /* bias of LSTM gates: 1 for the forget gate, the second quarter of the columns, else 0;
                    * Jozefowicz et al. 2015 */
} Init;

/* The forward product that uses a copy of the weight packed into panels. Backward passes need the other
 * orientation, too. */
typedef enum {
    PANELS_NONE,   /* no product */
    PANELS_AFFINE, /* x * W forward, dy * W^T backward */
    PANELS_OUTPUT  /* x * W^T forward, dy * W backward (the output layer) */
} PanelUse;

typedef struct {
    char *name; /* "decoder.gru.0.input.weight" */
    int rows, columns;
    int index;     /* among all parameters */
    size_t offset; /* into every block of this layout, or PARAM_ONLY_PACKED */
    Init init;
    double scale;
    PanelUse panel_use;
    bool looked_up;         /* a table whose rows are looked up; it may be the output layer, too */
    void *packed;           /* [rows, columns] packed for x * W; NULL until it is packed */
    void *packed_transpose; /* packed for x * W^T; tables without a product may have it, too */
} Param;

#define PARAM_ONLY_PACKED SIZE_MAX

typedef struct {
    Param **items;
    int count;
    size_t capacity;
    StrList names;  /* of params_keep_name */
    real **numbers; /* of params_keep_numbers */
    size_t numbers_count, numbers_capacity;
    size_t size; /* numbers in a block; each parameter starts at a multiple of 16 */
    real *data;
    void *packed;        /* owns all packed copies, after params_allocate_packed */
    WeightFormat format; /* of all packed copies; it does not change once there are any */
    bool packs_backward; /* copies for backward passes exist, too */
} ParamSet;

ParamSet *params_new(void);
void params_free(ParamSet *params);
/* Declare a parameter. All are declared before params_allocate. `name` is copied. */
Param *params_add(ParamSet *params, const char *name, int rows, int columns, Init init, double scale,
                  PanelUse panel_use);
/* A copy of `name` that lives as long as the parameters, for layers of several parameters. */
const char *params_keep_name(ParamSet *params, const char *name);
/* Memory for constants of the model; it lives as long as the parameters. */
real *params_keep_numbers(ParamSet *params, size_t count);
void params_allocate(ParamSet *params);
/* Memory for translation alone: packed copies of all weights of products, which the caller fills, and a block
 * of the other parameters. A weight of products exists only as its packed copy, and so does an embedding
 * table of 8 bits. In formats whose copies do not give back their rows, tables are in the block, too. */
void params_allocate_packed(ParamSet *params, WeightFormat format);
/* Each parameter from its own random stream: (seed, its name). Allocates the block if necessary. */
void params_initialize(ParamSet *params, uint64_t seed);
Param *params_find(const ParamSet *params, const char *name);
real *params_block(const ParamSet *params); /* a zeroed block of this layout; mem_free it */
/* The block, which the caller owns from now on; the parameters have none any more. */
real *params_take_block(ParamSet *params);
/* Renew the packed copies, in any format except WEIGHT_INT8. */
void params_pack_all(ParamSet *params);
void params_pack_parallel(ParamSet *params, Workers *workers); /* on these threads */
/* Is the forward pass's copy a table [rows, columns] of which slices of rows can be packed alone? */
bool params_can_pack_rows(const Param *param);
/* Fill the forward pass's copy of a weight from numbers outside the block, which are those of `rows` rows
 * [rows, columns] from `first` on: of all rows, or, if params_can_pack_rows, of a slice that begins and ends
 * at a multiple of KERN_PACK_COLUMNS or ends with the last row. In WEIGHT_INT8 params_pack_int8 does it, from
 * the result of quantize_int8 for these rows. Safe for different slices in parallel. A parameter without a
 * copy: nothing happens. */
void params_pack_rows(const ParamSet *params, Param *param, const real *numbers, int first, int rows);
void params_pack_int8(const ParamSet *params, Param *param, const int8_t *numbers, const real *scales,
                      int first, int rows);
/* out [columns] = a row of a weight of the output layer or of an embedding table, wherever it is. */
void params_row(const ParamSet *params, const Param *param, int row, real *out);
/* Does the weight exist only as a packed copy of 8 bits? Then `out` are its bytes as kern->column_int8
 * gives them, and the result is their scale. */
bool params_has_bytes(const ParamSet *params, const Param *param);
real params_row_bytes(const Param *param, int row, int8_t *out);
static inline size_t param_size(const Param *param) { return (size_t)param->rows * (size_t)param->columns; }
static inline real *param_data(const ParamSet *params, const Param *param) {
    assert(param->offset != PARAM_ONLY_PACKED);
    return params->data + param->offset;
}

#endif
