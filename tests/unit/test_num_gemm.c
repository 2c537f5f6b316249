/* test_num_gemm.c - products of matrices: packed and through the library, against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "kern_tables.h"
#include "num/gemm.h"

/* want[M, N] = A B, in double precision. */
static void multiply(int M, int N, int K, const real *A, int lda, const real *B, bool transposed,
                     double *want) {
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)A[m * lda + k] * (double)(transposed ? B[n * K + k] : B[k * N + n]);
            want[m * N + n] = sum;
        }
}

static real *packed(int K, int N, const Line *B, bool transposed) {
    real *out = mem_aligned(gemm_packed_size(K, N), sizeof(real));
    kern->gemm_pack(K, N, B->at, transposed, out);
    return out;
}

/* Rows of A and C lie further apart than they are long; what lies between rows of C must not change. */
static void check_packed(int M, int N, int K, bool transposed) {
    int lda = K + 3, ldc = N + 2;
    Line A = line_new((size_t)M * (size_t)lda, 1, 1), B = line_new((size_t)K * (size_t)N, 2, 1);
    Line C = line_new((size_t)M * (size_t)ldc, 3, 1), before = line_copy(&C);
    double *want = mem_alloc((size_t)M * (size_t)N, sizeof *want), tolerance = 5e-6 * sqrt(K) + 1e-6;
    real *P = packed(K, N, &B, transposed);
    multiply(M, N, K, A.at, lda, B.at, transposed, want);
    for (int pass = 0; pass < 2; pass++) { /* the second one adds to the first */
        kern->gemm_packed(M, N, K, A.at, lda, P, C.at, ldc, pass > 0);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < ldc; n++) {
                double c = (double)C.at[m * ldc + n];
                double expected = n < N ? (pass + 1) * want[m * N + n] : (double)before.at[m * ldc + n];
                if (!(fabs(c - expected) <= (n < N ? tolerance : 0)))
                    fail_msg("%s: %dx%dx%d, pass %d: C[%d, %d] is %.9g, expected %.9g", kern->name, M, N, K,
                             pass, m, n, c, expected);
            }
    }
    mem_free(P);
    mem_free(want);
    line_free(&A), line_free(&B), line_free(&C), line_free(&before);
}

static void test_packed_shapes(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        int P = kern->panel, widths[] = {1, 2, P - 1, P, P + 1, 2 * P - 1, 2 * P, 2 * P + 5};
        for (int M = 1; M <= 20; M++)
            for (int w = 0; w < 8; w++) check_packed(M, widths[w], 9, w % 2);
        static const int DEPTHS[] = {1, 2, 511, 512, 513, 1024, 1031};
        static const int HEIGHTS[] = {1, 5, 6, 13};
        for (int d = 0; d < 7; d++)
            for (int h = 0; h < 4; h++) {
                check_packed(HEIGHTS[h], P + 1, DEPTHS[d], false);
                check_packed(HEIGHTS[h], P - 1, DEPTHS[d], true);
            }
    }
    kern_select();
}

/* A row's result has the same bits whatever stands beside it: what a translation does not depend on its batch for. */
static void test_rows_are_independent(void **state) {
    (void)state;
    enum { ROWS = 20, K = 530 };
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        int N = 2 * kern->panel + 3;
        size_t row_bytes = (size_t)N * sizeof(real);
        Line A = line_new(ROWS * K, 1, 1), B = line_new(K * (size_t)N, 2, 1);
        Line all = line_new(ROWS * (size_t)N, 3, 1), part = line_new(ROWS * (size_t)N, 4, 1),
             start = line_copy(&all);
        real *P = packed(K, N, &B, false);
        for (int accumulate = 0; accumulate < 2; accumulate++) {
            memcpy(all.at, start.at, ROWS * row_bytes);
            kern->gemm_packed(ROWS, N, K, A.at, K, P, all.at, N, accumulate);
            for (int M = 1; M <= ROWS; M++)
                for (int first = 0; first + M <= ROWS; first += M < 7 ? 1 : 5) {
                    memcpy(part.at, start.at + first * N, (size_t)M * row_bytes);
                    kern->gemm_packed(M, N, K, A.at + first * K, K, P, part.at, N, accumulate);
                    assert_memory_equal(part.at, all.at + first * N, (size_t)M * row_bytes);
                }
        }
        mem_free(P);
        line_free(&A), line_free(&B), line_free(&all), line_free(&part), line_free(&start);
    }
    kern_select();
}

static void check_library(bool ta, bool tb, int M, int N, int K, real beta) {
    Line A = line_new((size_t)M * (size_t)K, 1, 1), B = line_new((size_t)K * (size_t)N, 2, 1);
    Line C = line_new((size_t)M * (size_t)N, 3, 1), a = line_copy(&A);
    double *want = mem_alloc((size_t)M * (size_t)N, sizeof *want);
    if (ta) /* the plain loops want A as it is meant */
        for (int m = 0; m < M; m++)
            for (int k = 0; k < K; k++) a.at[m * K + k] = A.at[k * M + m];
    multiply(M, N, K, a.at, K, B.at, tb, want);
    for (size_t i = 0; i < C.n; i++) want[i] += (double)beta * (double)C.at[i];
    gemm(ta, tb, M, N, K, A.at, B.at, beta, C.at);
    line_check("gemm", &C, want, 1e-5);
    mem_free(want);
    line_free(&A), line_free(&B), line_free(&C), line_free(&a);
}

static void test_library(void **state) {
    (void)state;
    for (int t = 0; t < 4; t++) {
        check_library(t & 1, t & 2, 1, 1, 1, 0);
        check_library(t & 1, t & 2, 7, 13, 5, 1);
        check_library(t & 1, t & 2, 65, 33, 129, (real)-0.5);
        check_library(t & 1, t & 2, 1, 40, 17, 0);
    }
    gemm(false, false, 0, 3, 2, NULL, NULL, 0, NULL); /* nothing to do */
}

static void test_self_test(void **state) {
    (void)state;
    assert_int_equal(gemm_self_test(2), STATUS_OK);
    assert_true(strlen(gemm_library()) > 0 && strlen(gemm_kernel()) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed_shapes),
        cmocka_unit_test(test_rows_are_independent),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_self_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
