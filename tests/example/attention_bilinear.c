/* ---- bilinear: (A q) . (B k) / sqrt(a), query and key meet in a space of their own ----
 * Kim, Jun and Zhang 2018, section 3.1
 *
 * An example of how a score is added: this section goes into src/layers/attention_scores.c, and its row into
 * the table there. Nothing else is to be done: the option table, --help and the tests read the table.
 * tests/cli/new_score.sh does just that.
 *
 *     ROW(bilinear, "(A q) . (B k) / sqrt(a)", declare_bilinear, project_keys, scores_bilinear)
 *
 * Shapes  q [n, Q], values [sum S, K], both mapped to a = model.attention_size columns */

/* Which parameters there are. Their names begin with that of the attention they belong to; the sizes are in
 * `a`. What depends on the source alone, B k, is computed by project_keys once for all steps of the
 * decoder. */
static void declare_bilinear(ParamSet *params, Attention *a) {
    a->query = linear_new(params, param_name(a->name, "query"), a->size.query, a->size.hidden, false);
    a->key = linear_new(params, param_name(a->name, "key"), a->size.value, a->size.hidden, false);
}

/* One number for each query and each key of its span. Ops know their derivatives: there is nothing more to do
 * for training. */
static Tensor *scores_bilinear(Tape *tape, const Attention *a, Tensor *query, const KeysValues *kv,
                               const Spans *spans) {
    DotScore form = {.heads = 1, .scale = (real)(1 / sqrt((double)a->size.hidden))};
    return op_score_dot(tape, linear_apply(tape, &a->query, query), kv->keys, &form, spans);
}
