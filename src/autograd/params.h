/* params.h - all weights of a model as named views into one block.
 *
 * Gradients, Adam's moments and averages are blocks of the same layout, so that clipping, updating, saving
 * and reducing are one pass over memory. Weights of products are also kept packed for the kernels (kern.h):
 * as the forward pass wants them and, for training, as the backward pass does; params_pack_by renews those
 * copies after every change. A model that only translates has the packed ones alone (params_allocate_packed).
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

/* Which products of a weight use a packed copy. Backward passes need the other orientation too. */
typedef enum {
    PANELS_NONE,
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
    bool looked_up;         /* a table whose rows are taken, whether or not it is the output layer too */
    void *packed;           /* [rows, columns] packed for x * W; NULL until it is packed */
    void *packed_transpose; /* packed for x * W^T */
} Param;

#define PARAM_ONLY_PACKED SIZE_MAX

typedef struct {
    Param **items;
    int count;
    size_t capacity;
    StrList names; /* of params_keep_name */
    real **kept;   /* of params_keep_numbers */
    size_t kept_count, kept_capacity;
    size_t size; /* numbers in a block; each parameter starts at a multiple of 16 */
    real *data;
    void *packed;        /* owns all packed copies, after params_allocate_packed */
    WeightFormat format; /* of packed copies; the same for all, and not changed once there are some */
    bool packs_backward; /* there are also the copies that backward passes use */
} ParamSet;

ParamSet *params_new(void);
void params_free(ParamSet *params);
/* Declare a parameter. All are declared before params_allocate. `name` is copied. */
Param *params_add(ParamSet *params, const char *name, int rows, int columns, Init init, double scale,
                  PanelUse panel_use);
/* A copy of `name` that lives as long as the parameters, for what is made of several. */
const char *params_keep_name(ParamSet *params, const char *name);
/* Numbers that are made once and never learned; they live as long as the parameters. */
real *params_keep_numbers(ParamSet *params, size_t count);
void params_allocate(ParamSet *params);
/* Memory for translation alone: packed copies, still to be filled, of all weights of products, and a block of
 * the others and of tables that are looked up. The kernels' layout of a weight is all that there is of it. */
void params_allocate_packed(ParamSet *params, WeightFormat format);
/* Each parameter from its own random stream: (seed, its name). Allocates if that was not done. */
void params_initialize(ParamSet *params, uint64_t seed);
Param *params_find(const ParamSet *params, const char *name);
real *params_block(const ParamSet *params); /* a zeroed block of this layout; mem_free it */
/* Renew the packed copies, which are not of FORMAT_INT8. */
void params_pack_all(ParamSet *params);
void params_pack_by(ParamSet *params, Workers *workers); /* with the help of these */
/* Fill the forward pass's copy of a weight from numbers that are kept elsewhere [rows, columns]; in
 * FORMAT_INT8 the second does it, from what quantize_int8 makes. Safe for different parameters in parallel.
 * */
void params_pack_from(const ParamSet *params, Param *param, const real *numbers);
void params_pack_int8(const ParamSet *params, Param *param, const int8_t *numbers, const real *scales);
static inline size_t param_size(const Param *param) { return (size_t)param->rows * (size_t)param->columns; }
static inline real *param_data(const ParamSet *params, const Param *param) {
    assert(param->offset != PARAM_ONLY_PACKED);
    return params->data + param->offset;
}

#endif
