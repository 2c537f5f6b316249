/* chunk_constraints.c - see chunk_constraints.h. */
#include "translate/chunk_constraints.h"

#include "base/hashmap.h"
#include "base/log.h"
#include "base/mem.h"
#include "text/whole_words.h"

/* The words that a chunk must contain: the phrases of `constraints`, which may be NULL, and the
 * glossary's. */
static RequiredTerms find_required(const Chunks *chunks, const LineConstraints *constraints, int chunk) {
    GlossaryTerm *terms = arena_alloc(chunks->arena, CONSTRAINTS_MAX * sizeof *terms);
    int count = constraints ? constraints->phrase_count : 0;
    for (int c = 0; c < count; c++) terms[c] = (GlossaryTerm){.target = constraints->phrases[c]};
    if (chunks->options->glossary)
        count = glossary_find(chunks->options->glossary, chunks->texts[chunk], terms, count, CONSTRAINTS_MAX);
    return (RequiredTerms){terms, count};
}

/* Once: usually all lines have the same prefix. */
static void warn_of_prefix(const Chunks *chunks, StrView prefix, long number) {
    if (chunks->notes->warned_of_prefix || chunks->options->quiet) return;
    chunks->notes->warned_of_prefix = true;
    log_warn("line %ld: the model does not know all of the prefix '%.*s': it reads <unk> instead", number,
             SV_ARG(prefix));
}

/* Terms of a model without attention have no positions in the source. */
void chunks_add_terms(Chunks *chunks, int chunk) {
    const RequiredTerms *required = &chunks->required[chunk];
    const Seq2Seq *model = chunks->models[0];
    Tokens sentence = {0};
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    if (layers > 0) sentence = chunks->sources[(size_t)chunk * (size_t)chunks->model_count];
    for (int c = 0; c < required->count; c++)
        if (!chunks->free_terms || required->terms[c].source.length == 0)
            constraints_add_term(&chunks->constraints[chunk], seq2seq_target(model),
                                 required->terms[c].target, seq2seq_source(model), required->terms[c].source,
                                 sentence);
}

/* Set the constraints of a line's chunks, from `first` on. `line`: its own, or NULL. */
void chunks_constrain(Chunks *chunks, const LineConstraints *line, long number, int first, StrList *unknown) {
    Tokenizer *target = seq2seq_target(chunks->models[0]);
    MEM_GROW(chunks->constraints, chunks->constraints_capacity, (size_t)chunks->count);
    MEM_GROW(chunks->required, chunks->required_capacity, (size_t)chunks->count);
    for (int c = first; c < chunks->count; c++) {
        const LineConstraints *own = c == first ? line : NULL;
        chunks->constraints[c] = (Constraints){0};
        chunks->required[c] = find_required(chunks, own, c);
        if (own && !constraints_add_prefix(&chunks->constraints[c], target, own->prefix, unknown))
            warn_of_prefix(chunks, own->prefix, number);
        chunks_add_terms(chunks, c);
    }
}

/* Does the text of the best hypothesis contain the term? */
static bool has_term(const Chunks *chunks, const HypothesisList *results, const GlossaryTerm *term) {
    const TextOptions *options = &seq2seq_config(chunks->models[0])->text;
    const Hypothesis *best = &results->items[0];
    StrBuf text = {0}, normal = {0};
    tokenizer_decode(seq2seq_target(chunks->models[0]), best->ids, (size_t)best->length, &text);
    text_normalize_words(term->target, (NormalForm)options->normalize, options->lowercase, &normal);
    bool has = (term->forms ? text_contains_word_forms : text_contains_words)(strbuf_view(&text),
                                                                              strbuf_view(&normal));
    strbuf_free(&text);
    strbuf_free(&normal);
    return has;
}

/* List the words that a line must contain by whether each is met: every chunk that requires it contains it.
 * A line without chunks meets none. `constraints` may be NULL; `required` and `results` are the line's. */
void chunks_check_constraints(const Chunks *chunks, const LineConstraints *constraints, int first,
                              Translation *out) {
    HashMap *met = hashmap_new(); /* in the order of their first chunks */
    for (int p = 0; constraints && out->chunks == 0 && p < constraints->phrase_count; p++)
        hashmap_set(met, constraints->phrases[p], false);
    for (int c = 0; c < out->chunks; c++)
        for (int t = 0; t < chunks->required[first + c].count; t++) {
            const GlossaryTerm *term = &chunks->required[first + c].terms[t];
            int64_t *is_met = hashmap_slot(met, term->target, true);
            *is_met = *is_met && has_term(chunks, &chunks->results[first + c], term);
        }
    for (size_t i = 0; i < hashmap_count(met); i++) {
        StrView words = hashmap_key(met, i);
        bool is_met = hashmap_value(met, i);
        strlist_add(is_met ? &out->constraints_met : &out->constraints_unmet, words);
    }
    hashmap_free(met);
}
