/* gemm.c - calls of BLAS, its startup and its self-test. */
#include "kern/gemm.h"

#include <cblas.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include "base/mem.h"
#include "base/rng.h"

void gemm(bool transpose_a, bool transpose_b, int M, int N, int K, const real *A, int lda, const real *B,
          int ldb, real beta, real *C, int ldc) {
    if (!M || !N) return;
#ifdef REAL_DOUBLE
    cblas_dgemm(
#else
    cblas_sgemm(
#endif
        CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans, M, N,
        K, 1, A, lda, B, ldb, beta, C, ldc);
}

#ifdef OPENBLAS_VERSION
const char *gemm_library(void) { return openblas_get_config(); }
const char *gemm_kernel(void) { return openblas_get_corename(); }
#else
const char *gemm_library(void) { return "BLAS"; }
const char *gemm_kernel(void) { return "unknown"; }
#endif

#ifdef OPENBLAS_VERSION
#ifdef __linux__
extern int blas_thread_shutdown_(void) __attribute__((weak));

/* OpenBLAS starts its threads while it is loaded, through a function of this name. This definition replaces
 * it and starts none: threads of OpenBLAS would compete with ours for 30 ms, and if address space is short
 * each would try for ever to map its buffer. With other ways of linking the library calls its own function;
 * gemm_startup then stops the threads. */
__attribute__((visibility("default"))) int blas_thread_init(void);
__attribute__((weak)) int blas_thread_init(void) {
    static bool called; /* the next line may call this again */
    if (called) return 0;
    called = true;
    openblas_set_num_threads(1);
    return 0;
}
#endif
#endif

void gemm_startup(void) {
#ifdef OPENBLAS_VERSION
    openblas_set_num_threads(1);
#ifdef __linux__
    if (blas_thread_shutdown_) blas_thread_shutdown_();
#endif
#endif
}

static bool shape_is_right(bool ta, bool tb, int M, int N, int K) {
    size_t a_size = (size_t)M * (size_t)K, b_size = (size_t)K * (size_t)N, c_size = (size_t)M * (size_t)N;
    real *a = mem_alloc(a_size + b_size + c_size, sizeof *a), *b = a + a_size, *c = b + b_size;
    Rng rng = rng_new(7);
    for (size_t i = 0; i < a_size + b_size; i++) a[i] = (real)(rng_uniform(&rng) - 0.5);
    gemm(ta, tb, M, N, K, a, ta ? M : K, b, tb ? K : N, 0, c, N);
    bool right = true;
    for (int i = 0; i < M && right; i += 1 + M / 7)
        for (int j = 0; j < N; j += 1 + N / 7) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)a[ta ? k * M + i : i * K + k] * (double)b[tb ? j * K + k : k * N + j];
            if (!(fabs(sum - (double)c[i * N + j]) <= 1e-4 * sqrt(K))) right = false;
        }
    mem_free(a);
    return right;
}

/* OpenBLAS maps a buffer of this size for each thread that multiplies. Releases up to 0.3.29 try for ever if
 * that fails. */
static Status probe_buffers(int threads) {
    size_t bytes = (size_t)threads * (160u << 20);
    void *probe = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (probe != MAP_FAILED) {
        munmap(probe, bytes);
        return STATUS_OK;
    }
    Status s = status_fail(STATUS_RUNTIME, "no room for the buffers of the BLAS library (%zu MB): %s",
                           bytes >> 20, strerror(errno));
    return status_hint(s, "raise the limit on address space (ulimit -v), or use fewer --threads");
}

Status gemm_self_test(int threads) {
    TRY(probe_buffers(threads));
    static const int SHAPES[][3] = {
        {1, 37, 19}, {64, 96, 64}, {33, 17, 130}, {128, 128, 96}, {104, 104, 104}};
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        for (int t = 0; t < 3; t++)
            if (!shape_is_right(t == 1, t == 2, SHAPES[i][0], SHAPES[i][1], SHAPES[i][2])) {
                Status s =
                    status_fail(STATUS_RUNTIME, "the BLAS library computes wrong products (kernel '%s', %s)",
                                gemm_kernel(), gemm_library());
                return status_hint(s, "try another kernel: OPENBLAS_CORETYPE=Haswell, or update OpenBLAS");
            }
    return STATUS_OK;
}
