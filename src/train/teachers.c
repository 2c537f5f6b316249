/* teachers.c - see teachers.h. */
#include "train/teachers.h"

#include "base/mem.h"
#include "base/tree_hash.h"
#include "models/modelfile.h"
#include "models/safetensors.h"
#include "num/kern.h"
#include "num/tapes.h"

Status teachers_check(const TrainOptions *options) {
    for (size_t i = 0; i < options->teacher.count; i++) {
        SafeFile *file;
        TRY(safetensors_open_header(&file, options->teacher.items[i]));
        safetensors_close(file);
    }
    return STATUS_OK;
}

static bool same_vocabulary(const Segmenter *a, const Segmenter *b) {
    return vocab_difference(segmenter_vocab(a), segmenter_vocab(b)) < 0;
}

/* Its predictions must be of the tokens that the pupil is to learn. */
static Status check_teacher(const Seq2Seq *teacher, const Seq2Seq *pupil, const char *path) {
    if (!same_vocabulary(seq2seq_source(teacher), seq2seq_source(pupil)) ||
        !same_vocabulary(seq2seq_target(teacher), seq2seq_target(pupil))) {
        status_fail(STATUS_USAGE, "train.teacher '%s' has another vocabulary than this training", path);
        return status_hint(STATUS_USAGE, "train both with the same data and the same section \"text\"");
    }
    const ModelOptions *its = &seq2seq_config(teacher)->model, *ours = &seq2seq_config(pupil)->model;
    if (its->right_to_left != ours->right_to_left) {
        status_fail(STATUS_USAGE, "train.teacher '%s' writes in the other direction than this training",
                    path);
        return status_hint(STATUS_USAGE, "set model.decoder.right_to_left as the teacher has it");
    }
    return STATUS_OK;
}

static Status load_models(Teachers *t, const Config *config, const Seq2Seq *pupil) {
    const TrainOptions *o = &config->train;
    t->is_average = o->ema_teacher > 0;
    t->share = t->is_average ? o->ema_teacher : o->teacher_share;
    t->models = mem_alloc(o->teacher.count + 1, sizeof *t->models);
    if (t->is_average)
        t->models[t->count++] = seq2seq_new(config, seq2seq_source(pupil), seq2seq_target(pupil));
    for (size_t i = 0; i < o->teacher.count; i++) {
        TRY(modelfile_load(&t->models[t->count], o->teacher.items[i], optimizer_format(o), NULL));
        TRY(check_teacher(t->models[t->count++], pupil, o->teacher.items[i]));
    }
    return STATUS_OK;
}

static Status hash_files(Teachers *t, const StrList *files, Workers *workers) {
    Sha256 hash;
    if (!files->count) return STATUS_OK;
    sha256_begin(&hash);
    for (size_t i = 0; i < files->count; i++) TRY(tree_hash_file(&hash, files->items[i], workers));
    sha256_end(&hash, t->sha256);
    return STATUS_OK;
}

Status teachers_load(Teachers *t, const Config *config, const Seq2Seq *pupil, Workers *workers) {
    TRY(load_models(t, config, pupil));
    TRY(hash_files(t, &config->train.teacher, workers));
    t->threads = workers_count(workers);
    t->tapes = mem_alloc((size_t)t->threads * (size_t)t->count + 1, sizeof *t->tapes);
    for (int i = 0; i < t->threads * t->count; i++)
        t->tapes[i] = tape_new(seq2seq_params(t->models[i % t->count]), false);
    return STATUS_OK;
}

void teachers_free(Teachers *t) {
    for (int i = 0; i < t->threads * t->count; i++) tape_free(t->tapes[i]);
    for (int i = 0; i < t->count; i++) {
        if (t->is_average) seq2seq_params(t->models[i])->data = NULL;
        seq2seq_free(t->models[i]);
    }
    mem_free(t->tapes);
    mem_free(t->models);
}

bool teachers_turn(const Teachers *t, const TrainOptions *options, Optimizer *optimizer, long long update) {
    bool teach = t->count > 0 && !(t->is_average && update <= options->warmup);
    if (teach && t->is_average) {
        optimizer_collect_average(optimizer);
        ParamSet *params = seq2seq_params(t->models[0]);
        params->format = optimizer->params->format;
        params->data = optimizer->average;
        params_pack_by(params, optimizer->workers);
    }
    return teach;
}

/* What one teacher predicts for these parts, on its tape. */
static void predict(const Teachers *t, int teacher, const TrainingBatch *parts, int count, int thread,
                    Tensor **predictions) {
    const Seq2Seq *model = t->models[teacher];
    Tape *tape = t->tapes[thread * t->count + teacher];
    Tape branch[TAPES_TOGETHER] = {{0}}, *branches[TAPES_TOGETHER];
    Tensor *readout[TAPES_TOGETHER];
    tape_reset(tape);
    for (int i = 0; i < count; i++) {
        branches[i] = &branch[i];
        tape_branch(branches[i], tape);
        readout[i] = seq2seq_put_readout(model, branches[i], &parts[i]);
    }
    tapes_run_forward(branches, count);
    for (int i = 0; i < count; i++) predictions[i] = seq2seq_predict(model, branches[i], readout[i]);
}

void teachers_predict(const Teachers *t, const TrainingBatch *parts, int count, int thread,
                      const real **mean) {
    Tensor *sum[TAPES_TOGETHER], *other[TAPES_TOGETHER];
    predict(t, 0, parts, count, thread, sum);
    for (int k = 1; k < t->count; k++) {
        predict(t, k, parts, count, thread, other);
        for (int i = 0; i < count; i++) kern->add(tensor_size(sum[i]), other[i]->data, sum[i]->data);
    }
    for (int i = 0; i < count; i++) {
        real *data = sum[i]->data;
        if (t->count > 1) kern->scale(tensor_size(sum[i]), 1 / (real)t->count, data, data);
        mean[i] = data;
    }
}
