/* gemm.h - products of matrices: the only user of cblas.
 *
 * Products with a weight go to kern->weights, which pack it once instead of at every call, and weight
 * gradients to kern->outer where the processor has vector units for it; the others, and what there is no
 * packed copy of, go to OpenBLAS on one thread (the program's own workers are the parallelism).
 */
#ifndef KERN_GEMM_H
#define KERN_GEMM_H

#include "base/status.h"
#include "kern/tensor.h"

/* C [M, N] = A B + beta C, where A is [M, K] (or [K, M] if transpose_a) and B is [K, N] (or [N, K]). Lines
 * lie lda, ldb and ldc numbers apart. */
void gemm(bool transpose_a, bool transpose_b, int M, int N, int K, const real *A, int lda, const real *B,
          int ldb, real beta, real *C, int ldc);

void gemm_startup(void);        /* before anything else */
const char *gemm_library(void); /* "OpenBLAS 0.3.21 ..." */
const char *gemm_kernel(void);  /* "SkylakeX" */
/* A few shapes against plain loops, in about a millisecond: STATUS_RUNTIME if the library computes nonsense,
 * or if there is no room for the buffers that it will want for `threads` threads (some releases wait for ever
 * instead of failing). */
Status gemm_self_test(int threads);

#endif
