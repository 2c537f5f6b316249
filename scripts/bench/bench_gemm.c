/* bench_gemm.c - products of matrices at the model's own shapes; the greatest speed is the GEMM peak.
 *
 * With several threads each has a product of its own, as in training: the weight is shared, inputs and results are not.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench.h"
#include "layers/recurrent.h"
#include "measure/measure.h"
#include "models/decoder.h"
#include "models/encoder.h"
#include "num/gemm.h"
#include "num/kern.h"

/* C [M, N] = A B; A is [M, K], or [K, M] if transposed, B is [K, N] or [N, K]. */
typedef struct {
    const char *what;
    int M, N, K;
    bool transpose_a, transpose_b;
} Product;

/* One way to multiply: another one is another row of FORMATS. */
typedef struct {
    const char *name;
    double tolerance; /* of an element, times the root of K, for normal numbers */
    enum { LIBRARY, WEIGHT, OUTER } how;
    WeightFormat format; /* of a WEIGHT */
} Format;

/* What keeps all bits comes first. */
static const Format FORMATS[] = {
    {"BLAS", 2e-5, LIBRARY, 0},
    {"float32", 2e-5, WEIGHT, FORMAT_FLOAT32},
    {"bf16x3", 2e-5, WEIGHT, FORMAT_BF16X3},
    {"outer", 2e-5, OUTER, 0},
    {"bf16", 0.02, WEIGHT, FORMAT_BF16},
    {"int8", 0.1, WEIGHT, FORMAT_INT8},
};
enum { FORMAT_COUNT = sizeof FORMATS / sizeof *FORMATS, PRODUCTS_MOST = 12 };

/* Weights are kept packed; products that make gradients of weights are X^T dY. */
static bool can(const Format *f, const Product *p) {
    if (f->how == WEIGHT) return !p->transpose_a;
    return f->how == LIBRARY || (p->transpose_a && kern->outer);
}

/* The products of a model. 12, 64 and 1500 rows: beams of a few sentences, one step of half a batch, all steps of one. */
static int list_products(const Bench *bench, Product list[PRODUCTS_MOST]) {
    enum { FEW = 12, STEP = 64, ALL_STEPS = 1500, BLOCK = 256 };
    const ModelOptions *m = &bench->config->model;
    int H = m->hidden, E = m->embedding, C = encoder_output_size(m), G = cell_gates((CellKind)m->cell) * H;
    int V = vocab_size(segmenter_vocab(bench->target)), R = decoder_readout_size(m), n = 0;
    list[n++] = (Product){"one sentence's step", 1, G, H, false, false};
    list[n++] = (Product){"a few rows' step", FEW, G, H, false, false};
    list[n++] = (Product){"a batch's step", STEP, G, H, false, false};
    list[n++] = (Product){"context", STEP, H, C, false, false};
    list[n++] = (Product){"input projection", ALL_STEPS, G, E, false, false};
    list[n++] = (Product){"output, a step", STEP, V, R, false, true};
    list[n++] = (Product){"output, a block", BLOCK, V, R, false, true};
    list[n++] = (Product){"output, backward", BLOCK, R, V, false, false};
    list[n++] = (Product){"weight gradient", H, G, ALL_STEPS, true, false};
    list[n++] = (Product){"output's gradient", V, R, BLOCK, true, false};
    return n;
}

typedef struct {
    const Product *product;
    const Format *format;
    real *A, *B, *C; /* A and C: one for each thread */
    void *packed;
    char *scratch; /* one piece for each thread */
    int repeats;
} Job;

static size_t scratch_size(void) { return (kern->scratch + 63) / 64 * 64; }

static size_t a_size(const Product *p) { return (size_t)p->M * (size_t)p->K; }
static size_t c_size(const Product *p) { return (size_t)p->M * (size_t)p->N; }

static void run(void *context, int task, int thread) {
    Job *job = context;
    const Product *p = job->product;
    const real *A = job->A + a_size(p) * (size_t)task;
    real *C = job->C + c_size(p) * (size_t)task;
    void *scratch = job->scratch + scratch_size() * (size_t)task;
    (void)thread;
    for (int i = 0; i < job->repeats; i++) switch (job->format->how) {
        case LIBRARY:
            gemm(p->transpose_a, p->transpose_b, p->M, p->N, p->K, A, p->transpose_a ? p->M : p->K, job->B, 0,
                 C, p->N);
            break;
        case WEIGHT:
            kern->weights[job->format->format].multiply(p->M, p->N, p->K, A, p->K, job->packed, C, p->N,
                                                        false, scratch);
            break;
        case OUTER: /* adds */
            kern->outer(p->M, p->N, p->K, A, p->M, job->B, C, scratch);
            break;
        }
}

/* Some elements against plain sums in double precision. */
static Status check(const Job *job, int tasks) {
    const Product *p = job->product;
    for (int task = 0; task < tasks; task++) {
        const real *A = job->A + a_size(p) * (size_t)task, *C = job->C + c_size(p) * (size_t)task;
        for (int i = 0; i < p->M; i += 1 + p->M / 9)
            for (int j = 0; j < p->N; j += 1 + p->N / 11) {
                double sum = 0;
                for (int k = 0; k < p->K; k++)
                    sum += (double)A[p->transpose_a ? (size_t)k * (size_t)p->M + (size_t)i
                                                    : (size_t)i * (size_t)p->K + (size_t)k] *
                           (double)job->B[p->transpose_b ? (size_t)j * (size_t)p->K + (size_t)k
                                                         : (size_t)k * (size_t)p->N + (size_t)j];
                double got = (double)C[(size_t)i * (size_t)p->N + (size_t)j];
                if (!(fabs(got - sum) <= job->format->tolerance * sqrt(p->K)))
                    return status_fail(STATUS_RUNTIME,
                                       "%s, %d x %d x %d: element (%d, %d) is %.6f instead of %.6f",
                                       job->format->name, p->M, p->N, p->K, i, j, got, sum);
            }
    }
    return STATUS_OK;
}

static double time_run(Bench *bench, int team, Job *job) {
    double begin = clock_seconds();
    workers_run(bench_team(bench, team), team ? bench->threads : 1, run, job);
    return clock_seconds() - begin;
}

static Status measure(Bench *bench, int team, Job *job, double seconds, Sample *sample) {
    enum { RUNS = 5 };
    const Product *p = job->product;
    int tasks = team ? bench->threads : 1;
    job->repeats = 1;
    memset(job->C, 0, c_size(p) * (size_t)tasks * sizeof *job->C);
    time_run(bench, team, job);
    TRY(check(job, tasks));
    double once = fmax(time_run(bench, team, job), 1e-7);
    job->repeats = (int)fmax(1, fmin(1e6, seconds / once));
    for (int i = 0; i < RUNS; i++) {
        double flops = 2.0 * p->M * p->N * p->K * job->repeats * tasks;
        sample_add(sample, flops / time_run(bench, team, job) / 1e9);
    }
    return STATUS_OK;
}

static Status measure_format(Bench *bench, int team, Job *job, double seconds) {
    const Product *p = job->product;
    const Format *f = job->format;
    char item[96], metric[64];
    Sample sample = {0};
    if (f->how == WEIGHT) {
        const WeightProduct *w = &kern->weights[f->format];
        job->packed = mem_aligned(w->size(p->K, p->N), 1);
        w->pack(p->K, p->N, job->B, p->transpose_b, job->packed);
    }
    Status status = measure(bench, team, job, seconds, &sample);
    mem_free(job->packed);
    TRY(status);
    snprintf(item, sizeof item, "%s: %d x %d x %d", p->what, p->M, p->N, p->K);
    snprintf(metric, sizeof metric, "%s, %s", f->name, bench_team_name(bench, team));
    bench_report_add(&bench->report, "gemm", item, metric, "GFLOP/s", MORE_IS_BETTER, &sample);
    double *peak = &bench->peak[f - FORMATS][team];
    *peak = fmax(*peak, measure_median(sample.values, sample.count));
    return STATUS_OK;
}

static Status measure_product(Bench *bench, int team, const Product *p, double seconds) {
    size_t tasks = (size_t)bench->threads, b_size = (size_t)p->K * (size_t)p->N;
    real *A = mem_aligned(a_size(p) * tasks, sizeof *A), *B = mem_aligned(b_size, sizeof *B),
         *C = mem_aligned(c_size(p) * tasks, sizeof *C);
    char *scratch = mem_aligned(scratch_size() * tasks + 64, 1);
    Status status = STATUS_OK;
    measure_fill(A, a_size(p) * tasks, 1);
    measure_fill(B, b_size, 2);
    for (int f = 0; f < FORMAT_COUNT && status == STATUS_OK; f++) {
        Job job = {.product = p, .format = &FORMATS[f], .A = A, .B = B, .C = C, .scratch = scratch};
        if (can(&FORMATS[f], p)) status = measure_format(bench, team, &job, seconds);
    }
    mem_free(A);
    mem_free(B);
    mem_free(C);
    mem_free(scratch);
    return status;
}

/* The greatest speed of each format. That of the library is what the training is measured by. */
static Status show_peaks(Bench *bench) {
    for (int f = 0; f < FORMAT_COUNT; f++)
        for (int team = 0; team < bench_teams(bench); team++)
            if (bench->peak[f][team] > 0)
                bench_report_add_one(&bench->report, "gemm peak", FORMATS[f].name,
                                     bench_team_name(bench, team), "GFLOP/s", MORE_IS_BETTER,
                                     bench->peak[f][team]);
    return bench_report_show(&bench->report, "GEMM peak: the greatest of these", NULL);
}

Status bench_gemm(Bench *bench) {
    Product list[PRODUCTS_MOST];
    int count = list_products(bench, list);
    double seconds = bench_seconds(bench, 0.15, 5 * count * (FORMAT_COUNT - 1) * bench_teams(bench));
    for (int team = 0; team < bench_teams(bench); team++) {
        for (int i = 0; i < count; i++) {
            log_progress("products: %d of %d, %s", i + 1, count, bench_team_name(bench, team));
            TRY(measure_product(bench, team, &list[i], seconds));
        }
        log_progress_end();
        TRY(bench_report_show(&bench->report, "Products of matrices: rows x columns x length of the sums",
                              team ? "each thread has a product of its own" : NULL));
    }
    return show_peaks(bench);
}
