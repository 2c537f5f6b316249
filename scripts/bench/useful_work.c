/* useful_work.c - counting the operations of a batch from the sizes of the model's weights. */
#include "useful_work.h"

#include <string.h>
#include "models/encoder.h"
#include "num/params.h"

void work_add(Work *work, int source_length, int target_length) {
    double s = source_length, t = target_length;
    work->sentences++;
    work->source += s;
    work->target += t;
    work->source_pairs += s * s;
    work->target_pairs += t * (t + 1) / 2;
    work->cross_pairs += s * t;
}

static bool starts(const char *name, const char *prefix) { return !strncmp(name, prefix, strlen(prefix)); }

/* How many rows meet a weight, by its name. A table that is not the output layer is only looked up. */
static double rows_of(const Param *p, const Work *work) {
    if (p->packing == PACK_OUTPUT) return work->target;
    if (p->packing != PACK_AFFINE) return 0;
    if (starts(p->name, "encoder.") || starts(p->name, "decoder.attention.key") ||
        strstr(p->name, ".cross.key") || strstr(p->name, ".cross.value"))
        return work->source;
    if (starts(p->name, "decoder.start")) return work->sentences;
    return work->target;
}

/* Multiplications of scores and contexts. */
static double attention_work(const ModelOptions *m, const Work *work) {
    double H = m->hidden, A = m->attention_size ? m->attention_size : H, sum = 0;
    if (m->encoder_style == ENCODER_SELF_ATTENTION) sum += m->encoder_layers * 2 * H * work->source_pairs;
    if (m->decoder_style == DECODER_TRANSFORMER)
        sum += m->decoder_layers * 2 * H * (work->target_pairs + work->cross_pairs);
    else
        sum += (A + encoder_output_size(m)) * work->cross_pairs;
    return sum;
}

double work_flops(const Seq2Seq *model, const Work *work) {
    const ParamSet *params = seq2seq_params(model);
    double sum = attention_work(&seq2seq_config(model)->model, work);
    for (int i = 0; i < params->count; i++) {
        const Param *p = params->items[i];
        sum += (double)p->rows * (double)p->columns * rows_of(p, work);
    }
    return 6 * sum;
}
