/* gemm_wrong.c - a BLAS library with wrong results is detected; this file replaces it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <cblas.h>
#include <math.h>
#include <string.h>
#include "kern/gemm.h"

static enum { RIGHT, ONE_NUMBER, SIGN, UNDEFINED, NOTHING, IGNORES_TRANSPOSE } mistake;

/* Replaces the library's function. */
void cblas_sgemm(const enum CBLAS_ORDER order, const enum CBLAS_TRANSPOSE ta, const enum CBLAS_TRANSPOSE tb,
                 const blasint M, const blasint N, const blasint K, const float alpha, const float *A,
                 const blasint lda, const float *B, const blasint ldb, const float beta, float *C,
                 const blasint ldc) {
    assert_int_equal(order, CblasRowMajor);
    bool a_turned = ta == CblasTrans && mistake != IGNORES_TRANSPOSE, b_turned = tb == CblasTrans;
    if (mistake == NOTHING) return;
    for (int m = 0; m < M; m++)
        for (int n = 0; n < N; n++) {
            double sum = 0;
            for (int k = 0; k < K; k++)
                sum += (double)A[a_turned ? k * lda + m : (m * lda + k) % (M * K)] *
                       (double)B[b_turned ? n * ldb + k : k * ldb + n];
            if (mistake == SIGN) sum = -sum;
            if (mistake == UNDEFINED && m == 0) sum = NAN;
            if (mistake == ONE_NUMBER && m == 0 && n == 0 && M > 100) sum += 0.1;
            C[m * ldc + n] = (float)((double)alpha * sum + (double)(beta != 0 ? beta * C[m * ldc + n] : 0));
        }
}

static void test_wrong_library(void **state) {
    (void)state;
    mistake = RIGHT;
    assert_int_equal(gemm_self_test(2), STATUS_OK);
    for (mistake = ONE_NUMBER; mistake <= IGNORES_TRANSPOSE; mistake++) {
        assert_int_equal(gemm_self_test(2), STATUS_RUNTIME);
        assert_non_null(strstr(status_message(), "wrong products"));
        assert_true(strlen(status_hint_text()) > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrong_library)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
