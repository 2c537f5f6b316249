/* teachers.c - see teachers.h. */
#include "train/teachers.h"

#include "base/mem.h"
#include "models/modelfile.h"

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
    if (seq2seq_config(teacher)->model.right_to_left != seq2seq_config(pupil)->model.right_to_left) {
        status_fail(STATUS_USAGE, "train.teacher '%s' writes in the other direction than this training",
                    path);
        return status_hint(STATUS_USAGE, "set model.decoder.right_to_left as the teacher has it");
    }
    return STATUS_OK;
}

Status teachers_load(Teachers *t, const Config *config, const Seq2Seq *pupil) {
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

void teachers_turn(const Teachers *t, const TrainOptions *options, Optimizer *optimizer, Shards *shards,
                   long long update) {
    bool teach = t->count > 0 && !(t->is_average && update <= options->warmup);
    if (teach && t->is_average) {
        optimizer_collect_average(optimizer);
        ParamSet *params = seq2seq_params(t->models[0]);
        params->format = optimizer->params->format;
        params->data = optimizer->average;
        params_pack_by(params, optimizer->workers);
    }
    shards_teach(shards, (const Seq2Seq *const *)t->models, teach ? t->count : 0, t->share);
}

void teachers_free(Teachers *t) {
    for (int i = 0; i < t->count; i++) {
        if (t->is_average) seq2seq_params(t->models[i])->data = NULL;
        seq2seq_free(t->models[i]);
    }
    mem_free(t->models);
}
