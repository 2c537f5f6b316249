/* op_cases.c - the bench that runs the cases, and the list of their tables. */
#include "op_cases.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "base/mem.h"

const OpCase *const OP_CASES[] = {AFFINE_CASES, POINTWISE_CASES, NORM_CASES, SELECT_CASES, RECURRENT_CASES,
                                  SCORE_CASES,  ATTENTION_CASES, LOSS_CASES, NULL};

int bench_score;

Tensor *bench_leaf(OpBench *bench, Tape *tape, int rows, int columns) {
    assert(bench->next < BENCH_LEAVES);
    Tensor *x = tape_tensor(tape, rows, columns);
    int i = bench->next++;
    if (i == bench->leaves) {
        bench->leaves++;
        bench->leaf[i].size = tensor_size(x);
        bench->leaf[i].values = mem_alloc(tensor_size(x), sizeof(real));
        for (size_t j = 0; j < tensor_size(x); j++)
            bench->leaf[i].values[j] = (real)(3 * rng_uniform(&bench->rng) - 1.5);
    }
    assert(bench->leaf[i].size == tensor_size(x));
    memcpy(x->data, bench->leaf[i].values, tensor_size(x) * sizeof(real));
    bench->leaf[i].tensor = x;
    return x;
}

Tensor *bench_constant(Tape *tape, int rows, int columns) {
    Tensor *x = tape_tensor(tape, rows, columns);
    for (size_t i = 0; i < tensor_size(x); i++) x->data[i] = (real)(0.3 * (double)(i * 7 % 11) - 1.4);
    x->grad = NULL;
    return x;
}

const Param *bench_param(const OpBench *bench, const char *name) {
    const Param *param = params_find(bench->params, name);
    assert(param);
    return param;
}

const char *op_rows_fault(const Op *ops, int count, const OpCase *const *tables) {
    static char text[128];
    for (int op = 0; op < count; op++) {
        const char *missing = !ops[op].name       ? "a name"
                              : !ops[op].forward  ? "a forward function"
                              : !ops[op].backward ? "a backward function"
                                                  : NULL;
        bool found = false;
        for (int t = 0; tables[t] && !found; t++)
            for (const OpCase *c = tables[t]; c->name; c++) found |= (int)c->op == op;
        if (!missing && !found) missing = "a case";
        if (!missing) continue;
        snprintf(text, sizeof text, "row %d of the op table (%s) has not got %s", op,
                 ops[op].name ? ops[op].name : "?", missing);
        return text;
    }
    return NULL;
}
