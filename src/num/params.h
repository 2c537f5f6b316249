/* params.h - all weights of a model as named views into one block.
 *
 * Gradients, Adam's moments and averages are blocks of the same layout, so that clipping, updating, saving
 * and reducing are one pass over memory. Weights of products are also kept packed for the kernels (kern.h):
 * as the forward pass wants them and, for training, as the backward pass does; params_pack renews those
 * copies after every change.
 *
 * Shapes  a weight of an affine map is stored [inputs, outputs]; an embedding table [tokens, size]
 * Owner   the ParamSet owns names, data and packed copies
 */
#ifndef NUM_PARAMS_H
#define NUM_PARAMS_H

#include <stdint.h>
#include "base/strview.h"
#include "num/kern.h"
#include "num/tensor.h"

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
    PACK_NONE,
    PACK_AFFINE, /* x * W forward, dy * W^T backward */
    PACK_OUTPUT  /* x * W^T forward, dy * W backward (the output layer) */
} Packing;

typedef struct {
    char *name; /* "decoder.gru.0.input.weight" */
    int rows, columns;
    size_t offset; /* into every block of this layout */
    Init init;
    double scale;
    Packing packing;
    void *packed;           /* [rows, columns] packed for x * W; NULL until params_pack */
    void *packed_transpose; /* packed for x * W^T */
} Param;

typedef struct {
    Param **items;
    int count;
    size_t capacity;
    StrList names; /* of params_keep_name */
    size_t size;   /* numbers in a block; each parameter starts at a multiple of 16 */
    real *data;
    WeightFormat format; /* of packed copies; the same for all, and not changed once there are some */
    bool packs_backward; /* params_pack also makes the copies that backward passes use */
} ParamSet;

ParamSet *params_new(void);
void params_free(ParamSet *params);
/* Declare a parameter. All are declared before params_allocate. `name` is copied. */
Param *params_add(ParamSet *params, const char *name, int rows, int columns, Init init, double scale,
                  Packing packing);
/* A copy of `name` that lives as long as the parameters, for what is made of several. */
const char *params_keep_name(ParamSet *params, const char *name);
void params_allocate(ParamSet *params);
/* Each parameter from its own random stream: (seed, its name). Allocates if that was not done. */
void params_initialize(ParamSet *params, uint64_t seed);
Param *params_find(const ParamSet *params, const char *name);
real *params_block(const ParamSet *params); /* a zeroed block of this layout; mem_free it */
/* Renew the packed copy of parameter `index`; safe for different parameters in parallel. */
void params_pack(ParamSet *params, int index);
void params_pack_all(ParamSet *params);
void params_repack(ParamSet *params, WeightFormat format); /* all of them in another format */
static inline real *param_data(const ParamSet *params, const Param *param) {
    return params->data + param->offset;
}

#endif
