/* heads.c - which parameters belong to which head. */
#include "models/heads.h"

#include <string.h>
#include "base/mem.h"

/* "encoder.0.self" of "encoder.0.self.output.weight"; empty for a parameter that is no W_o. */
static StrView attention_of(const Param *param) {
    static const char *const ENDS[] = {".self.output.weight", ".cross.output.weight"};
    StrView name = sv(param->name);
    for (int i = 0; i < 2; i++)
        if (sv_ends(name, sv(ENDS[i]))) return (StrView){name.data, name.length - strlen(".output.weight")};
    return SV("");
}

ModelHead *model_heads(const Seq2Seq *model, int *count) {
    const ParamSet *params = seq2seq_params(model);
    ModelHead *heads = NULL;
    size_t capacity = 0;
    *count = 0;
    for (int i = 0; i < params->count; i++) {
        StrView attention = attention_of(params->items[i]);
        for (int h = 0; attention.length > 0 && h < seq2seq_config(model)->model.heads; h++) {
            MEM_GROW(heads, capacity, (size_t)*count + 1);
            heads[(*count)++] = (ModelHead){attention, h, params->items[i]};
        }
    }
    return heads;
}

size_t model_head_size(const Seq2Seq *model, const ModelHead *head) {
    return param_size(head->output) / (size_t)seq2seq_config(model)->model.heads;
}

static real *rows_of(const Seq2Seq *model, const ModelHead *head) {
    return param_data(seq2seq_params(model), head->output) +
           (size_t)head->number * model_head_size(model, head);
}

static void pack(const Seq2Seq *model, const ModelHead *head) {
    const ParamSet *params = seq2seq_params(model);
    params_pack_from(params, head->output, param_data(params, head->output));
}

void model_head_silence(const Seq2Seq *model, const ModelHead *head, real *kept) {
    size_t bytes = model_head_size(model, head) * sizeof *kept;
    memcpy(kept, rows_of(model, head), bytes);
    memset(rows_of(model, head), 0, bytes);
    pack(model, head);
}

void model_head_restore(const Seq2Seq *model, const ModelHead *head, const real *kept) {
    memcpy(rows_of(model, head), kept, model_head_size(model, head) * sizeof *kept);
    pack(model, head);
}
