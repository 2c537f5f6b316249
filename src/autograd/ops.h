/* ops.h - the vocabulary of the models: each function runs one op and, on a recording tape, remembers it.
 *
 * An op is a row {name, forward, backward} of OP_TABLE (op_table.h); its forward and its hand-derived
 * backward stand side by side in one file, op_*.c. Backward adds to the gradients of the inputs that have
 * one. Most ops save nothing but their inputs and output.
 *
 * Example: y = tanh(x W + b) for 4 rows, and dW and db for a gradient of y that is all ones.
 *
 *     kern_select();                                          kernels of this processor (kern.h)
 *     ParamSet *params = params_new();
 *     const Param *W = params_add(params, "W", 3, 2, INIT_GLOROT, 0, PANELS_AFFINE);
 *     const Param *b = params_add(params, "b", 1, 2, INIT_ZERO, 0, PANELS_NONE);
 *     params_initialize(params, 1);                           the seed
 *     Tape *tape = tape_new(params, true);                    true: record, to run it backwards later
 *     tape->grads = mem_alloc(params->size, sizeof(real));    receives the gradients
 *     Tensor *x = tape_tensor_filled(tape, 4, 3, 0.5);        [4, 3]
 *     Tensor *y = op_tanh(tape, op_affine(tape, x, W, b, NULL, false));
 *     for (size_t i = 0; i < tensor_size(y); i++) tensor_gradient(y)[i] = 1;
 *     tape_backward(tape);                                    dW [3, 2] begins at grads + W->offset
 *
 * The unit test of the ops runs these lines.
 *
 * Shapes  n rows each; an index of -1 stands for a row of zeros
 * Owner   results live on the tape; ids, indices, keys of rows, origins and spans are read again by backward,
 *         so they must live as long
 * Fails   never at run time; wrong shapes are a bug and assert
 */
#ifndef AUTOGRAD_OPS_H
#define AUTOGRAD_OPS_H

#include "autograd/tape.h"
#include "kern/kern.h"

/* y [n, N] = x [n, K] W (+ b) (+ base); W is [K, N], or [N, K] if transposed. b and base may be NULL. The
 * result replaces the base and shares its gradient: no other op may read the base afterwards, or need its
 * numbers in the backward pass. */
Tensor *op_affine(Tape *tape, Tensor *x, const Param *weight, const Param *bias, Tensor *base,
                  bool transposed);
Tensor *op_add(Tape *tape, Tensor *a, Tensor *b);
Tensor *op_tanh(Tape *tape, Tensor *x);
Tensor *op_scale(Tape *tape, Tensor *x, real factor);
/* [n, 2N] -> [n, N]: left half times sigmoid(right half); Dauphin et al. 2017 */
Tensor *op_glu(Tape *tape, Tensor *x);
/* Zero each number with probability p and scale the rest by 1 / (1 - p) when the tape is training; else x
 * itself. The mask is a function of the tape's key, `stream` (a dropout of the model) and row_keys[row]. */
Tensor *op_dropout(Tape *tape, Tensor *x, double p, uint32_t stream, const uint32_t *row_keys);
/* dropout(max(x, 0)); the derivative at 0 is 0. The result replaces x and shares its gradient: no other op
 * may read x, or need its numbers in the backward pass. */
Tensor *op_relu(Tape *tape, Tensor *x, double p, uint32_t stream, const uint32_t *row_keys);
/* dropout(f(x)). The result may replace x: no other op may read x. */
Tensor *op_activation(Tape *tape, Tensor *x, ActivationFunction f, double p, uint32_t stream,
                      const uint32_t *row_keys);
/* x + dropout(sublayer). The result shares the gradient of x: only earlier ops may have read x. */
Tensor *op_residual(Tape *tape, Tensor *x, Tensor *sublayer, double p, uint32_t stream,
                    const uint32_t *row_keys);
/* Ba, Kiros and Hinton 2016; gain and bias [1, columns]; `epsilon` is added to the variance */
Tensor *op_layer_norm(Tape *tape, Tensor *x, const Param *gain, const Param *bias, double epsilon);
/* Each row divided by its Euclidean length. A row of zeros (or so short that its square is zero) becomes
 * zeros and gets no gradient. */
Tensor *op_unit_rows(Tape *tape, Tensor *x);
Tensor *op_half_square(Tape *tape, Tensor *x);       /* [n, K] -> [n, 1]: -|x|^2 / 2 */
Tensor *op_concat(Tape *tape, Tensor *a, Tensor *b); /* side by side */
Tensor *op_gather(Tape *tape, Tensor *x, const int *index, int rows);
Tensor *op_embedding(Tape *tape, const Param *table, const int *ids, int rows);
/* out row b = mean of rows start[b] .. start[b + 1] - 1 */
Tensor *op_segment_mean(Tape *tape, Tensor *x, const int *start, int segments);

/* Gates of a GRU step, reset gate applied to the projected state: Cho et al. 2014 as in cuDNN and PyTorch.
 * gx, gh [n, 3H] with gates in the order r, z, n; h [n, H] -> [n, H] */
Tensor *op_gru(Tape *tape, Tensor *gx, Tensor *gh, Tensor *h);

/* LSTM step, gate order i, f, g, o as in PyTorch: c' = f c + i g; h' = o tanh(c'). gx, gh [n, 4H], c [n, H];
 * returns h' and puts c' into *next. Both may receive gradients. Hochreiter and Schmidhuber 1997, Gers et al.
 * 2000 */
Tensor *op_lstm(Tape *tape, Tensor *gx, Tensor *gh, Tensor *c, Tensor **next);

/* SSRU over whole sequences, Kim et al. 2019, section 3.1: c_t = f_t c_{t-1} + (1 - f_t) x_t with f_t =
 * sigmoid(gate_t) and c_{-1} = 0. gate, x [n, H]; returns max(c, 0) [n, H]. Row r follows row r - 1 unless
 * position[r] is 0. */
Tensor *op_ssru(Tape *tape, Tensor *gate, Tensor *x, const int *position);
/* One step of it, from c_{t-1} = `before`; *c is c_t. Only for tapes that do not record. */
Tensor *op_ssru_step(Tape *tape, const Tensor *gate, const Tensor *x, const Tensor *before, Tensor **c);

/* The keys that a row of queries attends to: rows first[r] .. first[r] + length[r] - 1 of the keys. Its
 * scores and weights are the numbers start[r] .. start[r] + length[r] - 1 of each row of an [N, total]
 * tensor, where N is the number of heads. Keys outside the span have no score. */
typedef struct {
    int rows, total;
    const int *first, *length, *start;
} Spans;
Spans *spans_new(Tape *tape, const int *first, const int *length, int rows); /* copies */
/* The spans of the first `rows` rows; shares the arrays of `spans`. */
Spans *spans_prefix(Tape *tape, const Spans *spans, int rows);

/* Bahdanau et al. 2015, A.1.2: v . tanh(query + key); query [n, A], keys [m, A], v [1, A] -> [1, total] */
Tensor *op_score_additive(Tape *tape, Tensor *query, Tensor *keys, const Param *v, const Spans *spans);

/* Scores that are a dot product; query [n, N d], keys [m, N d], head h in columns h d .. (h + 1) d - 1 -> [N,
 * total]:
 *
 *     S[h, start[r] + i] = scale * sharpness * (q_h . k_h) + query_bias[r] + key_bias[first[r] + i]
 */
typedef struct {
    int heads;
    real scale;
    const Param *sharpness;        /* [1, 1], or NULL: 1 */
    Tensor *query_bias, *key_bias; /* [n, 1] and [m, 1], or NULL: 0 */
} DotScore;
Tensor *op_score_dot(Tape *tape, Tensor *query, Tensor *keys, const DotScore *form, const Spans *spans);

/* Scores that depend on the key's position: table [n N, W], row r N + h for head h of row r -> [N, total].
 * Key i of row r takes column i - origin[r], or the first or last column if that is outside; origin NULL:
 * all 0. Luong et al. 2015 (location), Shaw et al. 2018 (relative positions) */
Tensor *op_score_position(Tape *tape, Tensor *table, int heads, const int *origin, const Spans *spans);

/* Softmax of each row over its span [N, total]. It does the work of the masked softmax of Dive into Deep
 * Learning (section 11.3.2.1): keys outside the span do not exist, so no score needs a mask. */
Tensor *op_masked_softmax(Tape *tape, Tensor *scores, const Spans *spans);
/* op_dropout for weights [N, total]: the mask is a function of the tape's key, `stream`, the head,
 * row_keys[row] and the key's position in the span. */
Tensor *op_dropout_weights(Tape *tape, Tensor *weights, double p, uint32_t stream, const uint32_t *row_keys,
                           const Spans *spans);
/* weights [N, total], values [m, N d] -> [n, N d]; values of head h are in columns h d .. (h + 1) d - 1 */
Tensor *op_context(Tape *tape, Tensor *weights, Tensor *values, const Spans *spans);

/* op_score_dot (with a scale of 1) and op_context for rows anywhere in memory: key i of row r begins at
 * keys[start[r] + i]. Only for tapes that do not record. */
Tensor *op_score_gathered(Tape *tape, Tensor *query, const real *const *keys, int heads, const Spans *spans);
Tensor *op_context_gathered(Tape *tape, Tensor *weights, const real *const *values, int columns,
                            const Spans *spans);

typedef struct {
    const Param *weight, *bias; /* of the output layer: [V, E]; [1, V] or NULL */
    double label_smoothing;     /* probability spread over all V classes: Szegedy et al. 2016 */
    double scale;               /* of the result and of the gradients */
} LossOptions;
/* Sums over the rows. The op adds to them. */
typedef struct {
    double loss, likelihood; /* smoothed loss; -log p(target), not smoothed */
} CrossEntropy;
/* Output layer and loss in one: logits = x W^T + b in blocks of rows, so that not all logits are in memory at
 * once (on a recording tape without a gradient block their gradients are: matmul.h);
 * x [n, E], targets [n] -> [1, 1] scale * the sum of losses. The loss is the end of the model, so the forward
 * pass computes the gradients, too. `options` is copied. */
Tensor *op_cross_entropy(Tape *tape, Tensor *x, const int *targets, const LossOptions *options,
                         CrossEntropy *result);

#endif
