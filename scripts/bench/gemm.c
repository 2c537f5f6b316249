/* gemm.c - matrix products with the shapes of the model; the maximal speed is the GEMM peak.
 *
 * Each thread computes its own product, as in training: threads share the weight, but not inputs and results.
 */
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "bench/bench.h"
#include "layers/recurrent.h"
#include "models/decoder.h"
#include "models/encoder.h"
#include "autograd/quantize.h"
#include "kern/gemm.h"
#include "kern/kern.h"

/* C [M, N] = A B; A is [M, K], or [K, M] if transposed, B is [K, N] or [N, K]. */
typedef struct {
    const char *what;
    int M, N, K;
    bool transpose_a, transpose_b;
} Product;

/* A weight format: a row of FORMATS. */
typedef struct {
    const char *name;
    double tolerance; /* of an element, times the root of K, for normal numbers */
    enum { LIBRARY, WEIGHT, OUTER } how;
    WeightFormat format; /* of a WEIGHT or an OUTER */
} Format;

/* Exact formats first. */
static const Format FORMATS[] = {
    {"BLAS", 2e-5, LIBRARY, 0},
    {"float32", 2e-5, WEIGHT, WEIGHT_FLOAT32},
    {"bf16x3", 2e-5, WEIGHT, WEIGHT_BF16X3},
    {"outer", 2e-5, OUTER, WEIGHT_BF16X3},
    {"bf16", 0.02, WEIGHT, WEIGHT_BF16},
    {"bf16 outer", 0.02, OUTER, WEIGHT_BF16},
    {"int8", 0.1, WEIGHT, WEIGHT_INT8},
};
enum { WEIGHT_COUNT = sizeof FORMATS / sizeof *FORMATS, PRODUCTS_MAX = 12, TASKS_MAX = 1024 };
_Static_assert((int)WEIGHT_COUNT <= (int)WAYS_MAX, "one peak for each");

/* Weights are packed; weight gradients are products X^T dY. */
static bool can(const Format *f, const Product *p) {
    if (f->how == WEIGHT) return !p->transpose_a;
    return f->how == LIBRARY || (p->transpose_a && kern->weights[f->format].outer);
}

/* Of a model. 12, 64 and 1500 rows: beams of a few sentences, a step of half a batch, all steps of one. */
static int list_products(const Bench *bench, Product list[PRODUCTS_MAX]) {
    enum { FEW = 12, STEP = 64, ALL_STEPS = 1500, BLOCK = 256 };
    const ModelOptions *m = &bench->config->model;
    int H = m->hidden, E = m->embedding, C = model_annotation_size(m), G = cell_gates((CellKind)m->cell) * H;
    int V = vocab_size(tokenizer_vocab(bench->target)), R = model_readout_size(m), n = 0;
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
    Workers *workers;
    int tasks;
    real *A, *B, *C;               /* A and C: one for each task */
    const real **A_rows, **B_rows; /* of an OUTER */
    void *packed;
    char *scratch; /* one piece for each task */
    int repeats;
    atomic_int begun;
    double began[TASKS_MAX], ended[TASKS_MAX];
} Job;

static size_t scratch_size(void) { return mem_round_up(kern->scratch); }

static size_t a_size(const Product *p) { return (size_t)p->M * (size_t)p->K; }
static size_t c_size(const Product *p) { return (size_t)p->M * (size_t)p->N; }

static void multiply(const Job *job, int task) {
    const Product *p = job->product;
    const real *A = job->A + a_size(p) * (size_t)task;
    real *C = job->C + c_size(p) * (size_t)task;
    void *scratch = job->scratch + scratch_size() * (size_t)task;
    switch (job->format->how) {
    case LIBRARY:
        gemm(p->transpose_a, p->transpose_b, p->M, p->N, p->K, A, p->transpose_a ? p->M : p->K, job->B,
             p->transpose_b ? p->K : p->N, 0, C, p->N);
        break;
    case WEIGHT:
        kern->weights[job->format->format].multiply(p->M, p->N, p->K, A, p->K, job->packed, C, p->N, false,
                                                    scratch);
        break;
    case OUTER: /* adds */
        kern->weights[job->format->format].outer(p->M, p->N, p->K, job->A_rows + (size_t)p->K * (size_t)task,
                                                 0, job->B_rows, 0, C, p->N, scratch);
        break;
    }
}

/* All threads wait for each other first. Otherwise an early thread would compute the product of a late one,
 * and the wake-up time would count as work. */
static void run_task(void *context, int task, int thread) {
    Job *job = context;
    (void)thread;
    atomic_fetch_add(&job->begun, 1);
    while (atomic_load(&job->begun) < job->tasks) continue;
    job->began[task] = clock_seconds();
    for (int i = 0; i < job->repeats; i++) multiply(job, task);
    job->ended[task] = clock_seconds();
}

static Status run(void *context, int repeats, double *seconds) {
    Job *job = context;
    job->repeats = repeats;
    atomic_store(&job->begun, 0);
    workers_run(job->workers, job->tasks, run_task, job);
    double begin = job->began[0], end = job->ended[0];
    for (int i = 1; i < job->tasks; i++) {
        begin = fmin(begin, job->began[i]);
        end = fmax(end, job->ended[i]);
    }
    seconds[0] = end - begin;
    return STATUS_OK;
}

/* Some elements against plain sums in double precision. */
static Status check(const Job *job) {
    const Product *p = job->product;
    for (int task = 0; task < job->tasks; task++) {
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

static void pack(Job *job) {
    const Product *p = job->product;
    const WeightProduct *w = &kern->weights[job->format->format];
    job->packed = mem_aligned(w->size(p->K, p->N), 1);
    if (w->pack) {
        w->pack(p->K, p->N, job->B, p->transpose_b, 0, p->N, job->packed);
        return;
    }
    Param weight = {.rows = p->transpose_b ? p->N : p->K,
                    .columns = p->transpose_b ? p->K : p->N,
                    .panel_use = p->transpose_b ? PANELS_OUTPUT : PANELS_AFFINE};
    int8_t *rounded = mem_alloc(param_size(&weight), 1);
    real *scales = mem_alloc(quantize_scales(&weight), sizeof *scales);
    quantize_int8(&weight, job->B, rounded, scales);
    kern->pack_int8(p->K, p->N, rounded, scales, p->transpose_b, 0, p->N, job->packed);
    mem_free(rounded);
    mem_free(scales);
}

static Status measure_format(Bench *bench, int team, Job *job, double seconds) {
    enum { RUNS = 5 };
    const Product *p = job->product;
    const Format *f = job->format;
    char item[96], metric[64];
    double ignored[MEASURE_PARTS], *peak = &bench->peak[f - FORMATS][team];
    Sample sample[MEASURE_PARTS] = {0};
    if (f->how == WEIGHT) pack(job);
    for (int r = 0; f->how == OUTER && r < p->K * job->tasks; r++) {
        job->A_rows[r] = job->A + (size_t)r * (size_t)p->M;
        if (r < p->K) job->B_rows[r] = job->B + (size_t)r * (size_t)p->N;
    }
    memset(job->C, 0, c_size(p) * (size_t)job->tasks * sizeof *job->C);
    run(job, 1, ignored);
    Status status = check(job);
    if (status == STATUS_OK) status = measure(&(Trial){.run = run, .context = job}, seconds, RUNS, sample);
    mem_free(job->packed);
    TRY(status);
    double gflop = 2e-9 * p->M * p->N * p->K * job->tasks;
    snprintf(item, sizeof item, "%s: %d x %d x %d", p->what, p->M, p->N, p->K);
    snprintf(metric, sizeof metric, "%s, %s", f->name, bench_team_name(bench, team, (char[32]){0}));
    bench->report.section = "gemm";
    report_seconds(&bench->report, item, metric, "GFLOP/s", MORE_IS_BETTER, gflop, &sample[0]);
    *peak = fmax(*peak, gflop / sample_median(&sample[0]));
    sample_free(&sample[0]);
    return STATUS_OK;
}

static Status measure_product(Bench *bench, int team, const Product *p, double seconds) {
    Workers *workers = bench->team[team];
    int count = workers_count(workers) < TASKS_MAX ? workers_count(workers) : TASKS_MAX;
    size_t tasks = (size_t)count, b_size = (size_t)p->K * (size_t)p->N;
    real *A = mem_aligned(a_size(p) * tasks, sizeof *A), *B = mem_aligned(b_size, sizeof *B),
         *C = mem_aligned(c_size(p) * tasks, sizeof *C);
    char *scratch = mem_aligned(scratch_size() * tasks + 64, 1);
    const real **rows = mem_alloc((size_t)p->K * (tasks + 1), sizeof *rows);
    Status status = STATUS_OK;
    measure_fill(A, a_size(p) * tasks, 1);
    measure_fill(B, b_size, 2);
    for (int f = 0; f < WEIGHT_COUNT && status == STATUS_OK; f++) {
        Job job = {.product = p, .format = &FORMATS[f], .workers = workers, .tasks = count};
        job.A = A, job.B = B, job.C = C, job.scratch = scratch;
        job.A_rows = rows + p->K, job.B_rows = rows;
        if (can(&FORMATS[f], p)) status = measure_format(bench, team, &job, seconds);
    }
    mem_free(A);
    mem_free(B);
    mem_free(C);
    mem_free(scratch);
    mem_free(rows);
    return status;
}

/* The maximal speed of each format. The training is compared with the speed of the library. */
static Status show_peaks(Bench *bench) {
    bench->report.section = "gemm peak";
    for (int f = 0; f < WEIGHT_COUNT; f++)
        for (int team = 0; team < bench_teams(bench); team++)
            if (bench->peak[f][team] > 0)
                report_value(&bench->report, FORMATS[f].name, bench_team_name(bench, team, (char[32]){0}),
                             "GFLOP/s", MORE_IS_BETTER, bench->peak[f][team]);
    return report_show(&bench->report, "GEMM peak: the greatest of these", NULL);
}

Status bench_gemm(Bench *bench) {
    Product list[PRODUCTS_MAX];
    TRY(bench_subject(bench));
    int count = list_products(bench, list);
    double seconds = bench_seconds(bench, 0.15, 5 * count * (WEIGHT_COUNT - 1) * bench_teams(bench));
    for (int team = 0; team < bench_teams(bench); team++) {
        for (int i = 0; i < count; i++) {
            log_progress("products: %d of %d, %s", i + 1, count, bench_team_name(bench, team, (char[32]){0}));
            TRY(measure_product(bench, team, &list[i], seconds));
        }
        log_progress_end();
        TRY(report_show(&bench->report, "Products of matrices: rows x columns x length of the sums",
                        team ? "each thread has a product of its own" : NULL));
    }
    return show_peaks(bench);
}
