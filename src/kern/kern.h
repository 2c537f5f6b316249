/* kern.h - the inner loops, compiled once for each instruction set and chosen when the program starts.
 *
 * kern_impl.c is compiled with several sets of compiler flags; each copy exports one table of functions. No
 * other code of the model depends on the instruction set, but for the BLAS library. Lengths and row counts
 * are arbitrary; memory need not be aligned. Every function treats each row by itself and in a fixed order,
 * so a row's result does not depend on the others.
 *
 * Accuracy  tanh, sigmoid and exp: 3e-7 absolute (relative for exp) in single precision; libm in double
 *           precision
 */
#ifndef KERN_KERN_H
#define KERN_KERN_H

#include <stdint.h>
#include "base/status.h"
#include "kern/tensor.h"

enum {
    KERN_MAXIMA_BLOCK = 64,    /* numbers that share one maximum of block_maxima */
    KERN_SCRATCH_MIN = 1 << 16 /* numbers that the working memory of each table has room for */
};

/* How the right-hand side of a product is kept. Results of different formats differ, the first and last by
 * rounding only. */
typedef enum {
    WEIGHT_FLOAT32, /* as many bits as the model has */
    WEIGHT_BF16,    /* 16 bits: about three significant digits; the other operand too, where an instruction
                     * multiplies them */
    WEIGHT_INT8,    /* 8 bits, one scale per column; rows of the other operand are rounded to 8 bits too */
    /* Floats in three bfloat16 parts for tile units: the fastest for many rows, in 1.5 times the memory.
     * Without such units the same as WEIGHT_FLOAT32. */
    WEIGHT_BF16X3,
    WEIGHT_FORMAT_COUNT
} WeightFormat;

#define PRECISION_CHOICES "float32|bf16|int8" /* the formats that a user may choose, in their order */
enum {
    KERN_INT8_MAX_K = 1 << 15, /* greatest K of WEIGHT_INT8 */
    KERN_PACK_COLUMNS = 64
};

/* One update of Adam with decoupled weight decay:
 * p -= rate m / (correction sqrt(v) + epsilon) + decay p, after m and v have taken in gradient_scale g. */
typedef struct {
    real gradient_scale, beta1, beta2, epsilon;
    real rate;         /* learning rate / (1 - beta1^t) */
    real correction;   /* 1 / sqrt(1 - beta2^t) */
    real decay;        /* learning rate * weight decay */
    real average_rate; /* average += average_rate (p - average) */
} AdamStep;

/* Where a row of A and one of C begin. */
typedef struct {
    const real *a;
    real *c;
} GemmRow;

/* Gradients of what the gates of a recurrent cell are made of, the projections of input and state. */
typedef struct {
    real *gx, *gh;
    bool sets_gx, sets_gh; /* instead of adding to them */
} GateGradients;

/* Queries, or what comes of them, and the keys or values that they share: vectors that lie `stride` numbers
 * apart, one vector to a row. */
typedef struct {
    int rows;          /* queries */
    const int *length; /* [rows] of the keys, from the first on, so many belong to a query */
    int size;          /* numbers of a vector */
    size_t stride;
} AttendedKeys;

/* Products with a packed right-hand side; only WEIGHT_FLOAT32 and WEIGHT_BF16X3 exist in double precision. */
typedef struct {
    size_t (*size)(int K, int N); /* bytes of a packed [K, N] matrix, to be aligned to 64 */
    /* Writes columns first .. end - 1 of B as panels into `out`. B is [K, N], or [N, K] if transposed.
     * `first` and `end` are multiples of KERN_PACK_COLUMNS, except for an end that is N. Threads may pack
     * different columns of one matrix in parallel. NULL for WEIGHT_INT8, which has pack_int8. */
    void (*pack)(int K, int N, const real *B, bool transposed, int first, int end, void *out);
    /* C [M, N] (+)= A [M, K] B. `scratch`: kern->scratch bytes aligned to 64. */
    void (*multiply)(int M, int N, int K, const real *A, int lda, const void *packed, real *C, int ldc,
                     bool accumulate, void *scratch);
    /* The same for rows [M] that lie anywhere; NULL if there is no such product. */
    void (*multiply_rows)(int M, int N, int K, const GemmRow *rows, const void *packed, bool accumulate,
                          void *scratch);
    /* For gradients of weights: C [M, N] += A [R, M]^T B [R, N], with the same precision; NULL if there is no
     * such product, or the library is faster. Row r of A begins at A[r] + a0. */
    void (*outer)(int M, int N, int R, const real *const *A, size_t a0, const real *const *B, size_t b0,
                  real *C, int ldc, void *scratch);
} WeightProduct;

typedef struct {
    const char *name; /* "amx", "bf16", "vnni", "avx512", "avx2", "base" */
    WeightProduct weights[WEIGHT_FORMAT_COUNT];
    /* All of WEIGHT_INT8, from numbers that are rounded already (quantize.h), -127 to 127, each column of the
     * product in units of scales [N]; NULL in double precision. */
    void (*pack_int8)(int K, int N, const int8_t *B, const real *scales, bool transposed, void *out);
    size_t scratch;    /* bytes of working memory that products want */
    int outer_columns; /* of C that `outer` likes best, if there are so many */

    /* y = f(x) */
    void (*tanh)(size_t n, const real *x, real *y);
    /* dx += dy * f'(x), given y = f(x) */
    void (*tanh_backward)(size_t n, const real *y, const real *dy, real *dx);
    void (*relu)(size_t n, const real *x, real *y);
    void (*relu_backward)(size_t n, const real *y, real factor, real *dy); /* dy = y > 0 ? factor dy : 0 */
    /* x [rows, 2N] -> [rows, N]: left half times sigmoid(right half); backward recomputes. */
    void (*glu_forward)(int rows, int N, const real *x, real *y);
    void (*glu_backward)(int rows, int N, const real *x, const real *dy, real *dx);
    void (*add)(size_t n, const real *x, real *y);          /* y += x */
    void (*axpy)(size_t n, real a, const real *x, real *y); /* y += a x */
    real (*dot)(size_t n, const real *x, const real *y);
    void (*scale)(size_t n, real a, const real *x, real *y);                /* y = a x */
    void (*scale_mask)(size_t n, const real *mask, const real *x, real *y); /* y = mask x */
    void (*scale_mask_add)(size_t n, const real *mask, const real *x, const real *base,
                           real *y);                                       /* y = base + mask x */
    void (*column_sums)(int rows, int columns, const real *x, real *sums); /* sums += columns of x */

    /* x becomes softmax(x); returns log sum exp of the input. n >= 1 */
    real (*softmax)(size_t n, real *x);
    /* dx += dy through the softmax whose result y is */
    void (*softmax_backward)(size_t n, const real *y, const real *dy, real *dx);
    /* Logits become scale * d loss / d logits; the loss is returned, -log p(target) stored in *nll. Smoothing
     * spreads its mass over all n classes. */
    double (*cross_entropy)(size_t n, real *logits, int target, real smoothing, real scale, double *nll);

    /* GRU gates, gate order r, z, n. gx, gh [rows, 3H] are the projections of input and state with their
     * biases; out = (1 - z) n + z h, n = tanh(gx_n + r gh_n). saved [rows, 3H] receives r, z, n (NULL: not
     * wanted). */
    void (*gru_forward)(int rows, int H, const real *gx, const real *gh, const real *h, real *out,
                        real *saved);
    void (*gru_backward)(int rows, int H, const real *gh, const real *h, const real *saved, const real *dout,
                         const GateGradients *gates, real *dh);

    /* LSTM gates, gate order i, f, g, o; c, next, out [rows, H], the rest [rows, 4H]. saved receives the
     * gates (NULL: not wanted). Both gradients of gates get the same; they and dc may be NULL. */
    void (*lstm_forward)(int rows, int H, const real *gx, const real *gh, const real *c, real *out,
                         real *next, real *saved);
    void (*lstm_backward)(int rows, int H, const real *c, const real *next, const real *saved,
                          const real *dout, const real *dnext, const GateGradients *gates, real *dc);

    /* Additive attention for one query q [A] and keys [S, A]: scores[s] = v . tanh(q + keys[s]); backward
     * recomputes. */
    void (*additive_forward)(int S, int A, const real *q, const real *keys, const real *v, real *scores);
    void (*additive_backward)(int S, int A, const real *q, const real *keys, const real *v,
                              const real *dscores, real *dq, real *dkeys, real *dv);

    /* `out` and `w`: the scores or weights of each query's keys, one query after the other. What a key gives
     * to a query does not depend on their places among the others. */
    void (*dots)(const AttendedKeys *at, const real *q, const real *keys, real scale,
                 real *out); /* out[r][s] += scale (q[r] . keys[s]) */
    void (*weighted_sum)(const AttendedKeys *at, const real *w, const real *values,
                         real *y); /* y[r] += sum over s of w[r][s] values[s] */
    void (*outer_add)(const AttendedKeys *at, const real *w, const real *y,
                      real *rows); /* rows[s] += sum over r of w[r][s] y[r] */

    /* The same numbers, set instead of added, for rows that lie anywhere: row s is the d numbers at rows[s] +
     * offset; dots have a scale of 1. */
    void (*dots_gathered)(int S, int d, const real *q, const real *const *keys, size_t offset, real *out);
    void (*weighted_sum_gathered)(int S, int d, const real *w, const real *const *values, size_t offset,
                                  real *y);

    /* Searching a row of scores. maxima[i]: of numbers i * KERN_MAXIMA_BLOCK and up to as many; what is not a
     * number counts as minus infinity. Returns the greatest of all. */
    real (*block_maxima)(size_t n, const real *x, real *maxima);
    real (*log_sum_exp)(size_t n, const real *x, real max); /* what softmax returns, given the maximum of x */

    /* Layer normalization of each row; stats [rows, 2] keeps mean and 1 / deviation. */
    void (*layer_norm_forward)(int rows, int columns, const real *x, const real *gain, const real *bias,
                               real *y, real *stats);
    void (*layer_norm_backward)(int rows, int columns, const real *x, const real *gain, const real *stats,
                                const real *dy, real *dx, real *dgain, real *dbias);

    double (*sum_squares)(size_t n, const real *x);
    /* `average` may be NULL. */
    void (*adam)(size_t n, real *p, const real *g, real *m, real *v, real *average, AdamStep step);
    /* mask[i] = 0 with probability p, else 1 / (1 - p): a function of (key, row key, i) only. */
    void (*dropout_mask)(size_t n, uint64_t key, uint32_t row, double p, real *mask);
} Kernels;

extern const Kernels *kern; /* the table in use: the best for this processor after kern_select */

/* Choose by what the processor can do; the environment variable ATTN_MT_SIMD (one of the names) can ask for
 * less. STATUS_USAGE for another name, or one that cannot be had here: the best is chosen then. */
Status kern_select(void);
const Kernels *kern_table(int i); /* the i-th best table that this processor can run; NULL after the last */

#endif
