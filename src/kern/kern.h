/* kern.h - the inner loops, compiled once for each instruction set and chosen when the program starts.
 *
 * kern_impl.c is compiled with several sets of compiler flags; each copy exports one table of functions. No
 * other code of the model depends on the instruction set, except the BLAS library. Lengths and row counts are
 * arbitrary; memory does not have to be aligned. Every function computes each row by itself and in a fixed
 * order, so the result of a row does not depend on the other rows.
 *
 * Packing   A weight is the right-hand side of many products. Packing rearranges it once, into panels: blocks
 *           of columns in the order in which the inner loop reads them. kern_gemm.h, kern_bf16.h,
 *           kern_tiles.h and kern_int8.h show the layout of each format; formats of tiles call a panel a
 *           stripe.
 *
 * Accuracy  tanh, sigmoid and exp: 3e-7 absolute (relative for exp) in single precision; libm in double
 *           precision
 */
#ifndef KERN_KERN_H
#define KERN_KERN_H

#include <stdint.h>
#include "base/status.h"
#include "kern/tensor.h"

/* A class with a logit below this has no probability, and gets none from label smoothing. */
#define KERN_NO_LOGIT ((real)-1e8)

enum {
    KERN_MAXIMA_BLOCK = 64,    /* numbers per block of block_maxima */
    KERN_SCRATCH_MIN = 1 << 16 /* numbers that fit into the scratch memory of every table */
};

/* The formats of packed weights. Results of WEIGHT_FLOAT32 and WEIGHT_BF16X3 differ by rounding only. */
typedef enum {
    WEIGHT_FLOAT32, /* the precision of `real` */
    /* 16 bits: about three significant digits. The other operand too, if the processor has an instruction
     * that multiplies bfloat16. */
    WEIGHT_BF16,
    WEIGHT_INT8, /* 8 bits, one scale per column; rows of the other operand are rounded to 8 bits too */
    /* Each float as the sum of three bfloat16, for tile units: the fastest for many rows, in 1.5 times the
     * memory. Without tile units the same as WEIGHT_FLOAT32. */
    WEIGHT_BF16X3,
    WEIGHT_FORMAT_COUNT
} WeightFormat;

#define PRECISION_CHOICES "float32|bf16|int8" /* the formats for users, in the order of the enum */
enum {
    KERN_INT8_MAX_K = 1 << 15, /* greatest K of WEIGHT_INT8 */
    KERN_PACK_COLUMNS = 64,    /* columns that a thread can pack alone, or a multiple */
    KERN_BYTES = 64            /* the size of a key of 8 bits is a multiple of it */
};

/* The nonlinearity of a feed-forward network. */
typedef enum {
    ACTIVATION_RELU,        /* max(x, 0) */
    ACTIVATION_SWISH,       /* x sigmoid(x), also called SiLU: Ramachandran et al. 2017 */
    ACTIVATION_GELU,        /* x (1 + erf(x / sqrt(2))) / 2: Hendrycks and Gimpel 2016 */
    ACTIVATION_GELU_TANH,   /* its approximation x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) / 2 */
    ACTIVATION_GELU_SIGMOID /* its approximation x sigmoid(1.702 x) */
} ActivationFunction;
#define ACTIVATION_CHOICES "relu|swish|gelu|gelu_tanh|gelu_sigmoid" /* in the order of the enum */

/* One update of Adam with decoupled weight decay:
 * p -= rate m / (correction sqrt(v) + epsilon) + decay p, after m and v are updated with gradient_scale g. */
typedef struct {
    real gradient_scale, beta1, beta2, epsilon;
    real rate;         /* learning rate / (1 - beta1^t) */
    real correction;   /* 1 / sqrt(1 - beta2^t) */
    real decay;        /* learning rate * weight decay */
    real average_rate; /* average += average_rate (p - average) */
} AdamStep;

/* The first numbers of a row of A and of the same row of C. */
typedef struct {
    const real *a;
    real *c;
} GemmRow;

/* Gradients of the projections of input and state, whose sums are the gates of a recurrent cell. */
typedef struct {
    real *gx, *gh;
    bool sets_gx, sets_gh; /* the kernel sets the gradient; otherwise it adds to it */
} GateGradients;

/* Queries (or contexts) and the keys (or values) that they share. Each is a vector in a row of its own; rows
 * begin `stride` numbers apart. */
typedef struct {
    int rows;          /* queries */
    const int *length; /* [rows] a query attends to the first length[r] keys */
    int size;          /* of a vector */
    size_t stride;
} AttendedKeys;

/* Products with a packed weight. Only WEIGHT_FLOAT32 and WEIGHT_BF16X3 exist in double precision. */
typedef struct {
    size_t (*size)(int K, int N); /* bytes of a packed [K, N] matrix; it must be aligned to 64 bytes */
    /* Writes columns first .. end - 1 of B [K, N] as panels into `out`. If transposed, B is given as
     * [N, K], of which only rows first .. end - 1 are there.
     * `first` and `end` are multiples of KERN_PACK_COLUMNS, except for an end that is N. Threads may pack
     * different columns of one matrix in parallel. NULL for WEIGHT_INT8, which has pack_int8. */
    void (*pack)(int K, int N, const real *B, bool transposed, int first, int end, void *out);
    /* out [K] = column n of B, exactly as it was packed. NULL if the format cannot give it. */
    void (*column)(int K, int N, const void *packed, int n, real *out);
    /* C [M, N] (+)= A [M, K] B. `scratch`: kern->scratch bytes, aligned to 64 bytes. */
    void (*multiply)(int M, int N, int K, const real *A, int lda, const void *packed, real *C, int ldc,
                     bool accumulate, void *scratch);
    /* The same for rows [M] at any addresses; NULL if the format has no such product. */
    void (*multiply_rows)(int M, int N, int K, const GemmRow *rows, const void *packed, bool accumulate,
                          void *scratch);
    /* Gradients of weights: C [M, N] += A [R, M]^T B [R, N], with the precision of the format. Row r of A
     * begins at A[r] + a0, row r of B at B[r] + b0. NULL if there is no such product, or BLAS is faster. */
    void (*outer)(int M, int N, int R, const real *const *A, size_t a0, const real *const *B, size_t b0,
                  real *C, int ldc, void *scratch);
} WeightProduct;

typedef struct {
    const char *name; /* "amx", "bf16", "vnni", "avx512", "avx2", "base" */
    WeightProduct weights[WEIGHT_FORMAT_COUNT];
    /* The same for WEIGHT_INT8, from rounded numbers, -127 to 127 (quantize.h); the scale of column n is
     * scales[n - first]. NULL in double precision. */
    void (*pack_int8)(int K, int N, const int8_t *B, const real *scales, bool transposed, int first, int end,
                      void *out);
    /* out = the K numbers of column n of a packed WEIGHT_INT8 in the order of dots_of_bytes. Returns the
     * column's scale. NULL in double precision. */
    real (*column_int8)(int K, int N, const void *packed, int n, int8_t *out);
    size_t scratch;    /* bytes of scratch memory for products */
    int outer_columns; /* preferred column block of `outer` */

    /* y = f(x) */
    void (*tanh)(size_t n, const real *x, real *y);
    /* dx += dy * f'(x), given y = f(x) */
    void (*tanh_backward)(size_t n, const real *y, const real *dy, real *dx);
    void (*relu)(size_t n, const real *x, real *y);
    void (*relu_backward)(size_t n, const real *y, real factor, real *dy); /* dy = y > 0 ? factor dy : 0 */
    void (*activation)(ActivationFunction f, size_t n, const real *x, real *y); /* y = f(x); y may be x */
    /* dx += dy f'(x); not for ACTIVATION_RELU, which has relu_backward. */
    void (*activation_backward)(ActivationFunction f, size_t n, const real *x, const real *dy, real *dx);
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
    /* Logits become scale * d loss / d logits. Returns the loss; *nll is -log p(target). Label smoothing
     * spreads its mass over all classes but those whose logit is below KERN_NO_LOGIT. */
    double (*cross_entropy)(size_t n, real *logits, int target, real smoothing, real scale, double *nll);

    /* GRU gates, gate order r, z, n. gx, gh [rows, 3H] are the projections of input and state with their
     * biases; out = (1 - z) n + z h, n = tanh(gx_n + r gh_n). saved [rows, 3H] becomes r, z, n, unless
     * it is NULL. */
    void (*gru_forward)(int rows, int H, const real *gx, const real *gh, const real *h, real *out,
                        real *saved);
    void (*gru_backward)(int rows, int H, const real *gh, const real *h, const real *saved, const real *dout,
                         const GateGradients *gates, real *dh);

    /* LSTM gates, gate order i, f, g, o; c, next, out [rows, H], the rest [rows, 4H]. saved becomes the
     * gates, unless it is NULL. Both gradients in `gates` are the same; they and dc may be NULL. */
    void (*lstm_forward)(int rows, int H, const real *gx, const real *gh, const real *c, real *out,
                         real *next, real *saved);
    void (*lstm_backward)(int rows, int H, const real *c, const real *next, const real *saved,
                          const real *dout, const real *dnext, const GateGradients *gates, real *dc);

    /* SSRU, one row of n numbers: c = f before + (1 - f) x, with f = sigmoid(gate); out = max(c, 0). `before`
     * may be NULL: zeros. Backward adds to dgate, dx; *dc [n] is the gradient of c that comes from the next
     * step, and becomes that of `before`. */
    void (*ssru_forward)(size_t n, const real *gate, const real *x, const real *before, real *c, real *out);
    void (*ssru_backward)(size_t n, const real *gate, const real *x, const real *before, const real *c,
                          const real *dout, real *dc, real *dgate, real *dx);

    /* Additive attention for one query q [A] and keys [S, A]: scores[s] = v . tanh(q + keys[s]); backward
     * recomputes. */
    void (*additive_forward)(int S, int A, const real *q, const real *keys, const real *v, real *scores);
    void (*additive_backward)(int S, int A, const real *q, const real *keys, const real *v,
                              const real *dscores, real *dq, real *dkeys, real *dv);

    /* `out` and `w`: scores or weights of the keys of each query, query after query. The score of a key does
     * not depend on the other queries and keys. */
    void (*dots)(const AttendedKeys *at, const real *q, const real *keys, real scale,
                 real *out); /* out[r][s] += scale (q[r] . keys[s]) */
    void (*weighted_sum)(const AttendedKeys *at, const real *w, const real *values,
                         real *y); /* y[r] += sum over s of w[r][s] values[s] */
    void (*outer_add)(const AttendedKeys *at, const real *w, const real *y,
                      real *rows); /* rows[s] += sum over r of w[r][s] y[r] */

    /* The same numbers for rows at any addresses, set instead of added: key or value s is the d numbers at
     * keys[s] + offset or values[s] + offset. The scale is 1. */
    void (*dots_gathered)(int S, int d, const real *q, const real *const *keys, size_t offset, real *out);
    /* The same for keys of column_int8 with their scales: out[s] = scales[s] (q . keys[s]). A key fills a
     * multiple of KERN_BYTES; what comes after its numbers does not count. NULL in double precision. */
    void (*dots_of_bytes)(int S, int d, const real *q, const int8_t *const *keys, const real *scales,
                          real *out);
    void (*weighted_sum_gathered)(int S, int d, const real *w, const real *const *values, size_t offset,
                                  real *y);

    /* For the best scores of a row: maxima[i] is the maximum of block i of KERN_MAXIMA_BLOCK numbers. NaN
     * counts as minus infinity. Returns the greatest number. */
    real (*block_maxima)(size_t n, const real *x, real *maxima);
    real (*log_sum_exp)(size_t n, const real *x, real max); /* the result of softmax, from the maximum of x */

    /* Layer normalization of each row; `epsilon` is added to the variance; stats [rows, 2] becomes mean and
     * 1 / standard deviation. */
    void (*layer_norm_forward)(int rows, int columns, const real *x, const real *gain, const real *bias,
                               double epsilon, real *y, real *stats);
    void (*layer_norm_backward)(int rows, int columns, const real *x, const real *gain, const real *stats,
                                const real *dy, real *dx, real *dgain, real *dbias);

    double (*sum_squares)(size_t n, const real *x);
    /* `average` may be NULL. */
    void (*adam)(size_t n, real *p, const real *g, real *m, real *v, real *average, AdamStep step);
    /* mask[i] = 0 with probability p, else 1 / (1 - p): a function of (key, row, i) only. */
    void (*dropout_mask)(size_t n, uint64_t key, uint32_t row, double p, real *mask);
} Kernels;

extern const Kernels *kern; /* the table in use: the best for this processor after kern_select */

/* Selects the best table for the processor, or the one that the environment variable ATTN_MT_SIMD names.
 * STATUS_USAGE, and the best table, if the name is unknown or the processor cannot run that table. */
Status kern_select(void);
/* Are products of WEIGHT_BF16 slower than those of floats with the table in use? They are on Intel's
 * processors without tile units (build/bench gemm). */
bool kern_bf16_is_slow(void);
const Kernels *kern_table(int i); /* the i-th best table that this processor can run; NULL after the last */

#endif
