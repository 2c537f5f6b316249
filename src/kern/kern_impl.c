/* kern_impl.c - the inner loops of kern.h, written once for vectors of any width. */
#include <math.h>
#include <string.h>
#include "kern/kern.h"
#include "kern/kern_attention.h"
#include "kern/kern_gemm.h"
#include "kern/kern_norm.h"
#include "kern/kern_pointwise.h"
#include "kern/kern_recurrent.h"
#include "kern/kern_search.h"
#include "kern/kern_softmax.h"
#include "kern/kern_update.h"
#include "kern/kern_vector.h"

#ifdef TILE_UNITS
#include "kern/kern_tiles.h"
#elif !defined(REAL_DOUBLE)
#include "kern/kern_bf16.h"
#endif
#ifndef REAL_DOUBLE
#include "kern/kern_int8.h"
#endif
#if defined(REAL_DOUBLE)
enum { KERN_SCRATCH = KERN_SCRATCH_MIN * (int)sizeof(real) };
#elif defined(TILE_UNITS)
enum { KERN_SCRATCH = TILES_SCRATCH };
#else
enum { KERN_SCRATCH = INT8_SCRATCH };
_Static_assert((int)BF16_SCRATCH <= (int)KERN_SCRATCH, "one working memory serves all");
#endif
#ifndef REAL_DOUBLE
_Static_assert((int)OUTER_SCRATCH <= (int)KERN_SCRATCH, "one working memory serves all");
#endif
_Static_assert(KERN_SCRATCH >= KERN_SCRATCH_MIN * (int)sizeof(real),
               "room for the rows that autograd/matmul.c gathers");

/* Kernels that not every instruction set has. */
#if defined(__AVX2__) && !defined(REAL_DOUBLE)
#define FLOAT_OUTER kern_float_outer
#else
#define FLOAT_OUTER NULL
#endif
#if defined(TILE_UNITS) || defined(__AVX512BF16__)
#define BF16_MULTIPLY_ROWS kern_bf16_multiply_rows
#define BF16_OUTER         kern_bf16_outer
#else
#define BF16_MULTIPLY_ROWS NULL
#define BF16_OUTER         NULL
#endif

/* NOANALYZE(shift-count-overflow): gcc takes the lanes of a vector for the bits of its type */
#ifndef KERN_SUFFIX
#define KERN_SUFFIX base
#endif
#define KERN_JOIN2(a, b) a##b
#define KERN_JOIN(a, b)  KERN_JOIN2(a, b)
#define KERN_TEXT2(a)    #a
#define KERN_TEXT(a)     KERN_TEXT2(a)

const Kernels KERN_JOIN(KERNELS_, KERN_SUFFIX) = {
    .name = KERN_TEXT(KERN_SUFFIX),
    .weights =
        {
            [WEIGHT_FLOAT32] = {kern_float_size, kern_float_pack, kern_float_column, kern_float_multiply,
                                kern_float_multiply_rows, FLOAT_OUTER},
#ifdef TILE_UNITS
            [WEIGHT_BF16X3] = {kern_bf16x3_size, kern_bf16x3_pack, NULL, kern_bf16x3_multiply,
                               kern_bf16x3_multiply_rows, kern_bf16x3_outer},
#else
            [WEIGHT_BF16X3] = {kern_float_size, kern_float_pack, kern_float_column, kern_float_multiply,
                               kern_float_multiply_rows, FLOAT_OUTER},
#endif
#ifndef REAL_DOUBLE
            [WEIGHT_BF16] = {kern_bf16_size, kern_bf16_pack, NULL, kern_bf16_multiply, BF16_MULTIPLY_ROWS,
                             BF16_OUTER},
            [WEIGHT_INT8] = {kern_int8_size, NULL, kern_int8_column, kern_int8_multiply, NULL, NULL},
#endif
        },
#ifndef REAL_DOUBLE
    .pack_int8 = kern_int8_pack,
    .column_int8 = kern_int8_column_bytes,
    .dots_of_bytes = kern_dots_of_bytes,
#endif
    .scratch = KERN_SCRATCH,
#ifdef TILE_UNITS
    .outer_columns = OUTER_WIDTH,
#else
    .outer_columns = OUTER_COLUMNS,
#endif
    .tanh = kern_tanh,
    .tanh_backward = kern_tanh_backward,
    .relu = kern_relu,
    .relu_backward = kern_relu_backward,
    .activation = kern_activation,
    .activation_backward = kern_activation_backward,
    .glu_forward = kern_glu_forward,
    .glu_backward = kern_glu_backward,
    .add = kern_add,
    .axpy = kern_axpy,
    .dot = kern_dot,
    .scale = kern_scale,
    .scale_mask = kern_scale_mask,
    .scale_mask_add = kern_scale_mask_add,
    .column_sums = kern_column_sums,
    .softmax = kern_softmax,
    .softmax_backward = kern_softmax_backward,
    .cross_entropy = kern_cross_entropy,
    .gru_forward = kern_gru_forward,
    .gru_backward = kern_gru_backward,
    .lstm_forward = kern_lstm_forward,
    .lstm_backward = kern_lstm_backward,
    .ssru_forward = kern_ssru_forward,
    .ssru_backward = kern_ssru_backward,
    .additive_forward = kern_additive_forward,
    .additive_backward = kern_additive_backward,
    .dots = kern_dots,
    .weighted_sum = kern_weighted_sum,
    .outer_add = kern_outer_add,
    .block_maxima = kern_block_maxima,
    .log_sum_exp = kern_log_sum_exp,
    .dots_gathered = kern_dots_gathered,
    .weighted_sum_gathered = kern_weighted_sum_gathered,
    .layer_norm_forward = kern_layer_norm_forward,
    .layer_norm_backward = kern_layer_norm_backward,
    .sum_squares = kern_sum_squares,
    .adam = kern_adam,
    .dropout_mask = kern_dropout_mask,
};
