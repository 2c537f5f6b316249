/* score_heads.c - the same pairs again and again, each time without another head. */
#include "cli/score_heads.h"

#include "base/mem.h"
#include "models/heads.h"

struct HeadScores {
    const Seq2Seq *model;
    ModelHead *heads;
    int count;
    double *sum; /* [count] log p of all pairs without each head */
    real *kept;
};

Status head_scores_new(HeadScores **scores, const Seq2Seq *model) {
    int count;
    ModelHead *heads = model_heads(model, &count);
    if (count == 0) {
        status_fail(STATUS_USAGE, "this model has no heads to leave out");
        return status_hint(STATUS_USAGE, "Transformers have them: model.encoder.style=self_attention, "
                                         "model.decoder.style=transformer");
    }
    HeadScores *s = mem_alloc(1, sizeof *s);
    *s = (HeadScores){.model = model, .heads = heads, .count = count};
    s->sum = mem_alloc((size_t)count, sizeof *s->sum);
    s->kept = mem_alloc(model_head_size(model, heads), sizeof *s->kept);
    *scores = s;
    return STATUS_OK;
}

void head_scores_free(HeadScores *s) {
    if (!s) return;
    mem_free(s->heads);
    mem_free(s->sum);
    mem_free(s->kept);
    mem_free(s);
}

static double sum_of(Translator *translator, const StrView *sources, const StrView *targets, int count) {
    Translation *results = mem_alloc((size_t)count, sizeof *results);
    double sum = 0;
    translator_force(translator, sources, targets, count, results);
    for (int i = 0; i < count; i++) {
        if (results[i].pieces > 0) sum += results[i].items[0].score;
        translation_free(&results[i]);
    }
    mem_free(results);
    return sum;
}

void head_scores_add(HeadScores *s, Translator *translator, const StrView *sources, const StrView *targets,
                     int count) {
    for (int h = 0; h < s->count; h++) {
        model_head_silence(s->model, &s->heads[h], s->kept);
        s->sum[h] += sum_of(translator, sources, targets, count);
        model_head_restore(s->model, &s->heads[h], s->kept);
    }
}

void head_scores_write(const HeadScores *s, double whole, long tokens, StrBuf *out) {
    double each = tokens > 0 ? 1 / (double)tokens : 0;
    strbuf_add(out, SV("without\thead\tlog_p_per_token\tchange\n"));
    strbuf_format(out, "-\t-\t%.6f\t0\n", whole * each);
    for (int h = 0; h < s->count; h++) {
        const ModelHead *head = &s->heads[h];
        strbuf_format(out, "%.*s\t%d\t%.6f\t%.6f\n", SV_ARG(head->attention), head->number + 1,
                      s->sum[h] * each, (s->sum[h] - whole) * each);
    }
}
