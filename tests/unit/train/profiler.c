/* profiler.c - every second of every thread is in one phase, every node of a model in the phase of its
 * part, and watching changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>
#include "base/log.h"
#include "base/mem.h"
#include "num/kern.h"
#include "num/op_table.h"
#include "train/optimizer.h"
#include "train/profiler.h"
#include "unit/model_variants.h"

static void spin(double seconds) {
    for (double start = clock_seconds(); clock_seconds() - start < seconds;) {
    }
}

static double total(const double *seconds) {
    double sum = 0;
    for (int phase = 0; phase < PHASE_COUNT; phase++) sum += seconds[phase];
    return sum;
}

/* ---- one thread ---------------------------------------------------------------------------------------- */

static void test_nesting(void **state) {
    (void)state;
    Profile profile;
    double start = clock_seconds();
    profile_begin(&profile, PHASE_DATA, start);
    assert_int_equal(profile_enter(&profile, PHASE_DECODER), PHASE_DATA);
    profile_count_flops(&profile, 3);
    Phase before = profile_enter(&profile, PHASE_ATTENTION);
    assert_int_equal(before, PHASE_DECODER);
    spin(0.001);
    profile_count_flops(&profile, 4);
    assert_int_equal(profile_enter(&profile, before), PHASE_ATTENTION);
    profile_count_flops(&profile, 5);
    double now = clock_seconds();
    profile_settle(&profile, now);
    assert_true(profile.seconds[PHASE_ATTENTION] >= 0.001);
    assert_true(fabs(total(profile.seconds) - (now - start)) < 1e-9);
    assert_true(profile.flops[PHASE_DECODER] == 8 && profile.flops[PHASE_ATTENTION] == 4);
}

static void test_names(void **state) {
    (void)state;
    for (int phase = 0; phase < PHASE_COUNT; phase++) {
        assert_true(profile_name((Phase)phase)[0]);
        for (int other = 0; other < phase; other++)
            assert_string_not_equal(profile_name((Phase)phase), profile_name((Phase)other));
    }
    assert_int_equal(profile_backward(PHASE_ENCODER), PHASE_ENCODER_BACKWARD);
    assert_int_equal(profile_backward(PHASE_ATTENTION), PHASE_ATTENTION_BACKWARD);
    assert_int_equal(profile_backward(PHASE_DECODER), PHASE_DECODER_BACKWARD);
    assert_int_equal(profile_backward(PHASE_OUTPUT), PHASE_OUTPUT_BACKWARD);
    assert_int_equal(profile_backward(PHASE_DATA), PHASE_DATA);
}

/* ---- several threads ----------------------------------------------------------------------------------- */

typedef struct {
    Profiler *profiler;
    double inside[8]; /* seconds that each task measured for itself */
} Job;

static void spin_task(void *context, int task, int thread) {
    Job *job = context;
    double start = clock_seconds();
    Phase before = profile_enter(profiler_thread(job->profiler, thread), PHASE_ENCODER);
    if (before != PHASE_DATA) job->inside[task] = INFINITY;
    spin(0.002);
    profile_enter(profiler_thread(job->profiler, thread), before);
    job->inside[task] += clock_seconds() - start;
}

static void test_threads(void **state) {
    (void)state;
    for (int threads = 1; threads <= 3; threads++) {
        Workers *workers = workers_new(threads);
        Job job = {.profiler = profiler_new(workers)};
        profiler_phase(job.profiler, PHASE_DATA);
        workers_run(workers, 2, spin_task, &job);
        assert_int_equal(profiler_phase(job.profiler, PHASE_SAVING), PHASE_DATA);
        spin(0.001);
        ProfilerSum sum = profiler_sum(job.profiler);
        assert_int_equal(sum.threads, workers_count(workers));
        assert_true(fabs(total(sum.seconds) - sum.threads * sum.wall) < 1e-6);
        /* What the first thread saves, the others wait for; a thread alone never waits. */
        double busy = job.inside[0] + job.inside[1];
        double in_tasks = sum.seconds[PHASE_ENCODER] + sum.seconds[PHASE_DATA];
        assert_true(sum.seconds[PHASE_ENCODER] >= 0.004 && sum.seconds[PHASE_ENCODER] <= busy);
        assert_true(in_tasks >= busy);
        assert_true(sum.seconds[PHASE_SAVING] >= 0.001);
        assert_true(sum.seconds[PHASE_WAITING] >= (sum.threads - 1) * 0.001);
        assert_true(sum.threads > 1 || sum.seconds[PHASE_WAITING] == 0);
        profiler_free(job.profiler);
        job.profiler = NULL;
        workers_free(workers);
    }
}

typedef struct {
    atomic_int begun;
    int all;
} Meeting;

/* Every thread gets one of these tasks, because none ends before all have begun. */
static void meet_task(void *context, int task, int thread) {
    Meeting *meeting = context;
    (void)task;
    (void)thread;
    atomic_fetch_add(&meeting->begun, 1);
    while (atomic_load(&meeting->begun) < meeting->all) {
    }
}

static void test_waiting(void **state) {
    (void)state;
    Workers *workers = workers_new(3);
    Profiler *profiler = profiler_new(workers);
    Meeting meeting = {.all = workers_count(workers)};
    profiler_phase(profiler, PHASE_VALIDATION);
    workers_run(workers, meeting.all, meet_task, &meeting);
    assert_int_equal(profiler_thread(profiler, 0)->open, PHASE_VALIDATION);
    for (int i = 1; i < meeting.all; i++) {
        assert_int_equal(profiler_thread(profiler, i)->open, PHASE_WAITING);
        assert_true(profiler_thread(profiler, i)->seconds[PHASE_VALIDATION] > 0);
    }
    profiler_free(profiler);
    workers_free(workers);
}

static void count_task(void *context, int task, int thread) {
    (void)thread;
    ((int *)context)[task]++;
}

static void test_none(void **state) {
    (void)state;
    Workers *workers = workers_new(2);
    int counts[4] = {0};
    profiler_free(profiler_new(workers)); /* nobody is told any more */
    workers_run(workers, 4, count_task, counts);
    for (int i = 0; i < 4; i++) assert_int_equal(counts[i], 1);
    assert_null(profiler_thread(NULL, 1));
    profiler_phase(NULL, PHASE_DATA);
    profiler_report(NULL);
    profiler_free(NULL);
    workers_free(workers);
}

/* ---- models -------------------------------------------------------------------------------------------- */

/* In which phase may an op of a model with a recurrent decoder run? */
static bool fits(OpId op, Phase phase, const ModelOptions *o) {
    bool recurrent = o->decoder_style != DECODER_TRANSFORMER;
    switch (op) {
    case OP_GRU:
    case OP_LSTM:
    case OP_EMBEDDING:
        return phase == PHASE_ENCODER || phase == PHASE_DECODER;
    case OP_SCORE_ADDITIVE:
        return phase == PHASE_ATTENTION;
    case OP_MASKED_SOFTMAX:
    case OP_CONTEXT:
        return phase == PHASE_ATTENTION || (phase == PHASE_DECODER && !recurrent) ||
               (phase == PHASE_ENCODER && o->encoder_style == ENCODER_SELF_ATTENTION);
    case OP_CROSS_ENTROPY:
        return phase == PHASE_OUTPUT;
    default:
        return phase >= PHASE_ENCODER && phase <= PHASE_OUTPUT;
    }
}

static void check_nodes(const ModelVariant *variant, const Tape *tape, const ModelOptions *o) {
    int nodes[PHASE_COUNT] = {0}, softmaxes[PHASE_COUNT] = {0};
    for (const Node *node = tape->last; node; node = node->previous) {
        if (!fits(node->op, node->phase, o))
            fail_msg("%s: %s runs in phase '%s'", variant->name, OPS[node->op].name,
                     profile_name(node->phase));
        nodes[node->phase]++;
        softmaxes[node->phase] += node->op == OP_MASKED_SOFTMAX;
    }
    /* A Transformer's decoder attends to itself and to the source in each of its layers. */
    if (o->decoder_style == DECODER_TRANSFORMER) {
        assert_int_equal(softmaxes[PHASE_DECODER], o->decoder_layers);
        assert_int_equal(softmaxes[PHASE_ATTENTION], o->decoder_layers);
    }
    for (Phase phase = PHASE_ENCODER; phase <= PHASE_OUTPUT; phase++)
        if (!nodes[phase]) fail_msg("%s: nothing runs in phase '%s'", variant->name, profile_name(phase));
}

static double run(const Seq2Seq *model, const ModelVariant *variant, Profile *profile, real *grads) {
    Tape *tape = tape_new(seq2seq_params(model), true);
    TrainingBatch batch = variant_batch(3);
    tape->grads = grads;
    tape->profile = profile;
    double loss = seq2seq_loss(model, tape, &batch, 0.1, 0.5).loss;
    if (profile) check_nodes(variant, tape, &seq2seq_config(model)->model);
    tape_backward(tape);
    tape_free(tape);
    return loss;
}

static void test_models(void **state) {
    (void)state;
    for (const ModelVariant *variant = MODEL_VARIANTS; variant->name; variant++) {
        Seq2Seq *model = variant_new(variant, "model.dropout_layers=0.2", 5);
        size_t size = seq2seq_params(model)->size;
        real *plain = params_block(seq2seq_params(model)), *watched = params_block(seq2seq_params(model));
        Profile profile;
        double start = clock_seconds();
        profile_begin(&profile, PHASE_DATA, start);
        double loss = run(model, variant, NULL, plain);
        assert_true(run(model, variant, &profile, watched) == loss);
        assert_memory_equal(watched, plain, size * sizeof(real));
        double now = clock_seconds();
        assert_int_equal(profile.open, PHASE_DATA); /* whoever began a phase went back */
        profile_settle(&profile, now);
        assert_true(fabs(total(profile.seconds) - (now - start)) < 1e-6);
        for (Phase phase = PHASE_ENCODER; phase <= PHASE_WEIGHT_GRADIENTS; phase++)
            if (profile.seconds[phase] <= 0 && phase != PHASE_OUTPUT_BACKWARD)
                fail_msg("%s: no time in phase '%s'", variant->name, profile_name(phase));
        assert_true(profile.flops[PHASE_WEIGHT_GRADIENTS] > 0);
        mem_free(plain);
        mem_free(watched);
        seq2seq_free(model);
    }
}

static void test_optimizer(void **state) {
    (void)state;
    Workers *workers = workers_new(2);
    ParamSet *params = params_new();
    params_add(params, "w", 300, 400, INIT_GLOROT, 0, PACK_AFFINE);
    params_initialize(params, 1);
    Optimizer *optimizer = optimizer_new(params, workers, FORMAT_BF16X3, false);
    real *grads[1] = {params_block(params)};
    const SumRest sum_of_one = {1, 1, &(SumNode){0, 0}, grads};
    const TrainOptions options = {.epsilon = 1e-8};
    Profiler *profiler = optimizer->profiler = profiler_new(workers);
    profiler_phase(profiler, PHASE_DATA);
    double norm;
    assert_int_equal(optimizer_update(optimizer, &sum_of_one, &options, 0, 0, &norm), STATUS_OK);
    assert_int_equal(profiler_phase(profiler, PHASE_SAVING), PHASE_DATA);
    ProfilerSum sum = profiler_sum(profiler);
    assert_true(sum.seconds[PHASE_REDUCE] > 0 && sum.seconds[PHASE_UPDATE] > 0 &&
                sum.seconds[PHASE_PACK] > 0);
    profiler_free(profiler);
    mem_free(grads[0]);
    optimizer_free(optimizer);
    params_free(params);
    workers_free(workers);
}

/* y = x W with 7 rows, 3 inputs and 5 outputs: the gradient of W takes 2 * 3 * 5 * 7 operations. */
static void test_flops(void **state) {
    (void)state;
    ParamSet *params = params_new();
    const Param *weight = params_add(params, "w", 3, 5, INIT_GLOROT, 0, PACK_NONE);
    params_initialize(params, 1);
    Tape *tape = tape_new(params, true);
    Profile profile;
    profile_begin(&profile, PHASE_ENCODER, clock_seconds());
    tape->grads = params_block(params);
    tape->profile = &profile;
    Tensor *x = tape_tensor_zeroed(tape, 7, 3);
    op_affine(tape, x, weight, NULL, NULL, false);
    tape_backward(tape);
    assert_true(profile.flops[PHASE_WEIGHT_GRADIENTS] == 2 * 3 * 5 * 7);
    mem_free(tape->grads);
    tape_free(tape);
    params_free(params);
}

int main(void) {
    kern_select();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting), cmocka_unit_test(test_names),     cmocka_unit_test(test_threads),
        cmocka_unit_test(test_waiting), cmocka_unit_test(test_none),      cmocka_unit_test(test_models),
        cmocka_unit_test(test_flops),   cmocka_unit_test(test_optimizer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
