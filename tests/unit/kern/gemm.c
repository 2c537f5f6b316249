/* gemm.c - products of matrices: packed and through the library, against plain loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <string.h>
#include "base/mem.h"
#include "unit/kern_tables.h"
#include "autograd/quantize.h"
#include "kern/gemm.h"

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

/* Weights in 8 bits are rounded before packing. */
static void pack_int8(int K, int N, const Line *B, bool transposed, void *out) {
    Param p = {.rows = transposed ? N : K,
               .columns = transposed ? K : N,
               .panel_use = transposed ? PANELS_OUTPUT : PANELS_AFFINE};
    int8_t *q = mem_alloc(param_size(&p), 1);
    real *scales = mem_alloc(quantize_scales(&p), sizeof *scales);
    quantize_int8(&p, B->at, q, scales);
    for (int first = (N - 1) / KERN_PACK_COLUMNS * KERN_PACK_COLUMNS, end = N; end;
         end = first, first -= KERN_PACK_COLUMNS)
        kern->pack_int8(K, N, q + (transposed ? (size_t)first * (size_t)K : 0), scales + first, transposed,
                        first, end, out);
    mem_free(q), mem_free(scales);
}

static void *packed(WeightFormat format, int K, int N, const Line *B, bool transposed) {
    size_t size = kern->weights[format].size(K, N);
    void *out = mem_aligned(size, 1);
    memset(out, 0x5a, size);
    if (format == WEIGHT_INT8) {
        pack_int8(K, N, B, transposed, out);
        return out;
    }
    for (int first = (N - 1) / KERN_PACK_COLUMNS * KERN_PACK_COLUMNS, end = N; end;
         end = first, first -= KERN_PACK_COLUMNS)
        kern->weights[format].pack(K, N, B->at + (transposed ? (size_t)first * (size_t)K : 0), transposed,
                                   first, end, out);
    return out;
}

static void *scratch(void) { return mem_aligned(kern->scratch ? kern->scratch : 1, 1); }

/* Columns of a panel. */
static int panel(void) { return (int)(kern->weights[WEIGHT_FLOAT32].size(1, 1) / sizeof(real)); }

static const char *const FORMAT_NAME[WEIGHT_FORMAT_COUNT] = {"float32", "bf16", "int8", "bf16x3"};
/* Error bound of a sum of K products of numbers up to 1: rounding of the sum and of both factors. */
static double tolerance_of(WeightFormat format, int K) {
    static const double FACTORS[WEIGHT_FORMAT_COUNT] = {0, 1.0 / 256, 1.0 / 127, 0};
    return (5e-6 + FACTORS[format] * 1.5) * sqrt(K) + 1e-6;
}

/* Rows at arbitrary addresses, here in reverse order, give the same bits as in a matrix. */
static void check_scattered(WeightFormat format, int M, int N, int K, const Line *A, int lda, const void *P,
                            const Line *C, const Line *before, int ldc) {
    Line D = line_copy(before);
    GemmRow *rows = mem_alloc((size_t)M, sizeof *rows);
    void *work = scratch();
    for (int m = 0; m < M; m++) rows[m] = (GemmRow){A->at + (M - 1 - m) * lda, D.at + (M - 1 - m) * ldc};
    for (int pass = 0; pass < 2; pass++)
        kern->weights[format].multiply_rows(M, N, K, rows, P, pass > 0, work);
    for (int i = 0; i < M * ldc; i++)
        if (memcmp(&D.at[i], &C->at[i], sizeof *D.at) != 0)
            fail_msg("%s, rows: %dx%dx%d: C[%d, %d] is %.9g, not %.9g", kern->name, M, N, K, i / ldc, i % ldc,
                     (double)D.at[i], (double)C->at[i]);
    mem_free(rows), mem_free(work);
    line_free(&D);
}

/* Columns come out of the copy as they went into it: for 8 bits, the rounded numbers times their scale. */
static void check_columns(WeightFormat format, int N, int K, const Line *B, bool transposed, const void *P) {
    Param p = {.rows = transposed ? N : K,
               .columns = transposed ? K : N,
               .panel_use = transposed ? PANELS_OUTPUT : PANELS_AFFINE};
    int8_t *q = mem_alloc(param_size(&p), 1);
    real *scales = mem_alloc(quantize_scales(&p), sizeof *scales);
    Line want = line_copy(B), column = line_new((size_t)K, 5, 1);
    if (format == WEIGHT_INT8) {
        quantize_int8(&p, B->at, q, scales);
        dequantize_int8(&p, q, scales, want.at);
    }
    for (int n = 0; n < N; n++) {
        kern->weights[format].column(K, N, P, n, column.at);
        for (int k = 0; k < K; k++)
            if (column.at[k] != want.at[transposed ? n * K + k : k * N + n])
                fail_msg("%s %s: %dx%d, line %d of column %d", kern->name, FORMAT_NAME[format], K, N, k, n);
    }
    mem_free(q), mem_free(scales);
    line_free(&want), line_free(&column);
}

/* The stride of A and C is larger than a row; the memory between rows of C must not change. */
static void check_packed(WeightFormat format, int M, int N, int K, bool transposed) {
    int lda = K + 3, ldc = N + 2;
    Line A = line_new((size_t)M * (size_t)lda, 1, 1), B = line_new((size_t)K * (size_t)N, 2, 1);
    Line C = line_new((size_t)M * (size_t)ldc, 3, 1), before = line_copy(&C);
    double *want = mem_alloc((size_t)M * (size_t)N, sizeof *want), tolerance = tolerance_of(format, K);
    void *P = packed(format, K, N, &B, transposed), *work = scratch();
    multiply(M, N, K, A.at, lda, B.at, transposed, want);
    for (int pass = 0; pass < 2; pass++) { /* the second one adds to the first */
        kern->weights[format].multiply(M, N, K, A.at, lda, P, C.at, ldc, pass > 0, work);
        for (int m = 0; m < M; m++)
            for (int n = 0; n < ldc; n++) {
                double c = (double)C.at[m * ldc + n];
                double expected = n < N ? (pass + 1) * want[m * N + n] : (double)before.at[m * ldc + n];
                if (!(fabs(c - expected) <= (n < N ? (pass + 1) * tolerance : 0)))
                    fail_msg("%s %s: %dx%dx%d, pass %d: C[%d, %d] is %.9g, expected %.9g", kern->name,
                             FORMAT_NAME[format], M, N, K, pass, m, n, c, expected);
            }
    }
    if (kern->weights[format].column) check_columns(format, N, K, &B, transposed, P);
    if (kern->weights[format].multiply_rows) check_scattered(format, M, N, K, &A, lda, P, &C, &before, ldc);
    mem_free(P);
    mem_free(work);
    mem_free(want);
    line_free(&A), line_free(&B), line_free(&C), line_free(&before);
}

static void test_packed_shapes(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        for (WeightFormat f = 0; f < WEIGHT_FORMAT_COUNT; f++) {
            int P = panel(), widths[] = {1, 2, P - 1, P, P + 1, 2 * P - 1, 2 * P, 2 * P + 5};
            for (int M = 1; M <= 20; M++)
                for (int w = 0; w < 8; w++) check_packed(f, M, widths[w], 9, w % 2);
            static const int DEPTHS[] = {1, 2, 31, 32, 33, 64, 65, 511, 512, 513, 1024, 1031};
            static const int HEIGHTS[] = {1, 5, 6, 13, 16, 17, 32, 33};
            for (int d = 0; d < 12; d++)
                for (int h = 0; h < 8; h++) {
                    check_packed(f, HEIGHTS[h], P + 1, DEPTHS[d], false);
                    check_packed(f, HEIGHTS[h], P - 1, DEPTHS[d], true);
                }
            check_packed(f, 300, P + 1, 70, false); /* more rows than are prepared at a time */
            check_packed(f, 140, P + 1, 513, false);
        }
    }
    kern_select();
}

/* The result of a row has the same bits for any other rows, so a translation does not depend on its batch. */
static void check_rows(WeightFormat format) {
    enum { ROWS = 40, K = 530 };
    int N = 2 * panel() + 3;
    size_t row_bytes = (size_t)N * sizeof(real);
    Line A = line_new(ROWS * K, 1, 1), B = line_new(K * (size_t)N, 2, 1);
    Line all = line_new(ROWS * (size_t)N, 3, 1), part = line_new(ROWS * (size_t)N, 4, 1),
         start = line_copy(&all);
    void *P = packed(format, K, N, &B, false), *work = scratch();
    for (int accumulate = 0; accumulate < 2; accumulate++) {
        memcpy(all.at, start.at, ROWS * row_bytes);
        kern->weights[format].multiply(ROWS, N, K, A.at, K, P, all.at, N, accumulate, work);
        for (int M = 1; M <= ROWS; M++)
            for (int first = 0; first + M <= ROWS; first += M < 7 ? 1 : 5) {
                memcpy(part.at, start.at + first * N, (size_t)M * row_bytes);
                kern->weights[format].multiply(M, N, K, A.at + first * K, K, P, part.at, N, accumulate, work);
                if (memcmp(part.at, all.at + first * N, (size_t)M * row_bytes))
                    fail_msg("%s %s: rows %d to %d, %s", kern->name, FORMAT_NAME[format], first, first + M,
                             accumulate ? "added" : "set");
            }
    }
    mem_free(P);
    mem_free(work);
    line_free(&A), line_free(&B), line_free(&all), line_free(&part), line_free(&start);
}

static void test_rows_are_independent(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        for (WeightFormat f = 0; f < WEIGHT_FORMAT_COUNT; f++) check_rows(f);
    }
    kern_select();
}

/* Integers up to 127 are kept as they are by 8 bits, and so are the sums of their products: every instruction
 * set gives them exactly, also where 16 bits would not hold the sum of two. */
static void check_int8_sums(int M, int N, int K, int kind) {
    Line A = line_new((size_t)M * (size_t)K, 1, 127), B = line_new((size_t)K * (size_t)N, 2, 127);
    Line C = line_new((size_t)M * (size_t)N, 3, 1);
    double *want = mem_alloc((size_t)M * (size_t)N, sizeof *want);
    real sign = kind == 2 ? -127 : 127;
    for (size_t i = 0; i < A.n; i++)
        A.at[i] = kind || i % (size_t)K == 0 ? sign : (real)rint((double)A.at[i]);
    for (size_t i = 0; i < B.n; i++) B.at[i] = kind || i < (size_t)N ? 127 : (real)rint((double)B.at[i]);
    void *P = packed(WEIGHT_INT8, K, N, &B, false), *work = scratch();
    multiply(M, N, K, A.at, K, B.at, false, want);
    kern->weights[WEIGHT_INT8].multiply(M, N, K, A.at, K, P, C.at, N, false, work);
    for (size_t i = 0; i < C.n; i++)
        if (C.at[i] != (real)want[i])
            fail_msg("%s: %d x %d x %d, kind %d: [%zu] is %.9g, expected %.9g", kern->name, M, N, K, kind, i,
                     (double)C.at[i], want[i]);
    mem_free(P), mem_free(work), mem_free(want);
    line_free(&A), line_free(&B), line_free(&C);
}

static void test_int8_sums_are_exact(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        for (int kind = 0; kind < 3; kind++) {
            for (int K = 1; K < 200; K += 1 + K / 5)
                for (int M = 1; M < 30; M += 1 + M / 8) check_int8_sums(M, 70, K, kind);
            check_int8_sums(13, 33, 1000, kind);
        }
        check_int8_sums(7, 3, KERN_INT8_MAX_K, 1);
        check_int8_sums(7, 3, KERN_INT8_MAX_K, 2);
    }
    kern_select();
}

/* Large and small numbers, NaN and infinity give the same results as plain arithmetic. */
static void check_extremes(WeightFormat format, bool nan, bool infinity) {
    real A[4] = {(real)1e-20, (real)3e18, -1, 0}, B[4] = {(real)1e-12, (real)-2e18, (real)1e-30, 7}, C = 0;
    uint32_t bits = 0xFFFFFFFF; /* a NaN whose every bit is set */
    if (nan) memcpy(&A[3], &bits, sizeof bits);
    if (infinity) A[3] = (real)INFINITY;
    Line b = line_new(4, 1, 1);
    memcpy(b.at, B, sizeof B);
    void *P = packed(format, 4, 1, &b, false), *work = scratch();
    kern->weights[format].multiply(1, 1, 4, A, 4, P, &C, 1, false, work);
    if (nan || infinity)
        assert_false(0 != isfinite((double)C));
    else
        assert_true(fabs((double)C / -6e36 - 1) < 1e-6);
    mem_free(P), mem_free(work);
    line_free(&b);
}

static void test_extreme_numbers(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        for (int i = 0; i < 6; i++)
            check_extremes(i % 2 ? WEIGHT_BF16X3 : WEIGHT_FLOAT32, i / 2 == 1, i / 2 == 2);
    }
    kern_select();
}

static void check_outer(WeightFormat format, int M, int N, int R) {
    int lda = M + 2, ldb = N + 1, ldc = N + 2;
    const real **a_rows = mem_alloc(2 * (size_t)R, sizeof *a_rows), **b_rows = a_rows + R;
    Line A = line_new((size_t)R * (size_t)lda, 1, 1), B = line_new((size_t)R * (size_t)ldb, 2, 1);
    Line C = line_new((size_t)M * (size_t)ldc, 3, 1), a = line_copy(&A), b = line_copy(&B);
    double *product = mem_alloc((size_t)M * (size_t)N, sizeof *product);
    double *want = mem_alloc((size_t)M * (size_t)ldc, sizeof *want);
    void *work = scratch();
    for (int r = 0; r < R; r++) { /* the rows of one matrix are in reverse order */
        a_rows[r] = A.at + (R - 1 - r) * lda, b_rows[r] = B.at + r * ldb;
        for (int m = 0; m < M; m++) a.at[m * R + r] = a_rows[r][2 + m];
        for (int n = 0; n < N; n++) b.at[r * N + n] = b_rows[r][1 + n];
    }
    multiply(M, N, R, a.at, R, b.at, false, product);
    for (size_t i = 0; i < C.n; i++) { /* the memory between rows does not change */
        int m = (int)i / ldc, n = (int)i % ldc;
        want[i] = (double)C.at[i] + (n < N ? product[m * N + n] : 0);
    }
    kern->weights[format].outer(M, N, R, a_rows, 2, b_rows, 1, C.at, ldc, work);
    line_check(kern->name, &C, want, tolerance_of(format, R));
    mem_free(product), mem_free(want), mem_free(work), mem_free(a_rows);
    line_free(&A), line_free(&B), line_free(&C), line_free(&a), line_free(&b);
}

static void test_outer(void **state) {
    (void)state;
    for (const Kernels *const *k = kern_tables(); *k; k++) {
        kern = *k;
        static const int SHAPES[][3] = {{1, 1, 1},      {16, 16, 32},   {17, 33, 31},  {33, 15, 33},
                                        {40, 64, 70},   {31, 800, 257}, {70, 20, 600}, {3, 7, 256},
                                        {203, 40, 300}, {97, 130, 1025}};
        for (WeightFormat f = 0; f < WEIGHT_FORMAT_COUNT; f++)
            for (int i = 0; i < 10 && kern->weights[f].outer; i++)
                check_outer(f, SHAPES[i][0], SHAPES[i][1], SHAPES[i][2]);
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
    gemm(ta, tb, M, N, K, A.at, ta ? M : K, B.at, tb ? K : N, beta, C.at, N);
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
    gemm(false, false, 0, 3, 2, NULL, 2, NULL, 3, 0, NULL, 3); /* nothing to do */
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
        cmocka_unit_test(test_int8_sums_are_exact),
        cmocka_unit_test(test_extreme_numbers),
        cmocka_unit_test(test_outer),
        cmocka_unit_test(test_library),
        cmocka_unit_test(test_self_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
