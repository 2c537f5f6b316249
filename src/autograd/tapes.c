/* tapes.c - see tapes.h. */
#include "autograd/tapes.h"

#include <assert.h>
#include "autograd/op_table.h"
#include "autograd/matmul.h"

/* One pass over all tapes, forward or backward. */
typedef struct {
    Tape *const *tapes;
    int count;
    bool back;
    const Node *at[TAPES_MAX]; /* the next node of each tape; NULL: it is done */
} Walk;

static void advance(Walk *w, int tape) { w->at[tape] = w->back ? w->at[tape]->previous : w->at[tape]->next; }

/* Does the node have a product that can be batched with those of other tapes? */
static bool can_batch(const Walk *w, const Node *node) {
    return node->op == OP_AFFINE || (!w->back && node->op == OP_CROSS_ENTROPY);
}

/* Runs a tape up to its next product that can be batched. */
static void run_alone(Walk *w, int tape) {
    for (const Node *node; (node = w->at[tape]) != NULL; advance(w, tape)) {
        if (can_batch(w, node)) return;
        if (w->back)
            OPS[node->op].backward(w->tapes[tape], node);
        else
            OPS[node->op].forward(w->tapes[tape], node);
    }
}

/* The weight of the tape that is furthest behind, assuming that the model uses parameters in their order: so
 * tapes with shorter sentences wait for the others at the end of a layer. NULL: only output layers are left.
 * They come last, although their weight may be a table that comes first in the order. */
static const Param *next_weight(const Walk *w) {
    const Param *weight = NULL;
    for (int t = 0; t < w->count; t++) {
        const Node *node = w->at[t];
        const Param *other = node && node->op == OP_AFFINE ? op_affine_weight(node) : NULL;
        if (other && (!weight || (w->back ? other->index > weight->index : other->index < weight->index)))
            weight = other;
    }
    return weight;
}

/* Runs the products by this weight or, if it is NULL, the output layers as one; returns whether there were
 * any. */
static bool run_batched(Walk *w, const Param *weight) {
    Tape *tape[TAPES_MAX];
    const Node *node[TAPES_MAX];
    int count = 0;
    for (int t = 0; t < w->count; t++) {
        if (!w->at[t] || (weight && (w->at[t]->op != OP_AFFINE || op_affine_weight(w->at[t]) != weight)))
            continue;
        tape[count] = w->tapes[t];
        node[count++] = w->at[t];
        advance(w, t);
    }
    if (weight)
        op_affine_batched(tape, node, count, w->back);
    else if (count)
        op_cross_entropy_batched(tape, node, count);
    return count > 0;
}

static void walk(Tape *const *tapes, int count, bool back) {
    Walk w = {.tapes = tapes, .count = count, .back = back};
    for (int t = 0; t < count; t++) w.at[t] = back ? tapes[t]->last : tapes[t]->first;
    do
        for (int t = 0; t < count; t++) run_alone(&w, t);
    while (run_batched(&w, next_weight(&w)));
}

void tapes_run(Tape *const *tapes, int count) {
    assert(count > 0 && count <= TAPES_MAX);
    walk(tapes, count, false);
    walk(tapes, count, true);
    for (int t = 0; t < count; t++) tape_end_backward(tapes[t]);
}
