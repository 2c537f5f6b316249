/* gemm.h - matrix products with BLAS: the only user of cblas.
 *
 * Products with a packed weight use kern->weights instead, and so do weight gradients if the processor has
 * the vector units for `outer`. All other products use BLAS, on one thread: the program's workers are the
 * parallelism.
 */
#ifndef KERN_GEMM_H
#define KERN_GEMM_H

#include "base/status.h"
#include "kern/tensor.h"

/* C [M, N] = A B + beta C, where A is [M, K] (or [K, M] if transpose_a) and B is [K, N] (or [N, K]). Lines
 * begin lda, ldb and ldc numbers apart. */
void gemm(bool transpose_a, bool transpose_b, int M, int N, int K, const real *A, int lda, const real *B,
          int ldb, real beta, real *C, int ldc);

void gemm_startup(void);        /* before anything else */
const char *gemm_library(void); /* "OpenBLAS 0.3.21 ..." */
const char *gemm_kernel(void);  /* "SkylakeX" */
/* Compares a few products with plain loops, in about a millisecond. STATUS_RUNTIME if the library computes
 * wrong products, or if its buffers for `threads` threads do not fit into memory: some releases of OpenBLAS
 * then wait for ever instead of failing. */
Status gemm_self_test(int threads);

#endif
