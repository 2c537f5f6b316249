/* translator.c - see translator.h. */
#include "translate/translator.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "base/log.h"
#include "base/unicode.h"
#include "text/copied_text.h"
#include "base/utf8.h"
#include "postprocess/accelerator_place.h"
#include "translate/chunk_constraints.h"
#include "translate/line_chunks.h"
#include "translate/marked_search.h"
#include "translate/memory_lines.h"
#include "translate/searcher.h"
#include "translate/target_language.h"

struct Translator {
    const Seq2Seq **models;
    int count;
    TranslatorOptions options;
    Searcher *searcher;
    LineNotes notes;
    long tokens;
};

Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers) {
    TRY(scorer_check(models, count));
    for (int m = 0; m < count; m++) TRY(target_language_check(models[m], options->target_language));
    if (options->search.attention) TRY(seq2seq_check_attention(models[0]));
    bool accelerators = options->accelerator != ACCELERATOR_NONE;
    Translator *result = mem_alloc(1, sizeof *result);
    *result = (Translator){.count = count, .options = *options};
    if (accelerators && seq2seq_has_attention(models[0])) result->options.search.attention = true;
    result->models = mem_alloc((size_t)count, sizeof *result->models);
    memcpy(result->models, models, (size_t)count * sizeof *result->models);
    result->searcher = searcher_new(models, count, &result->options, workers);
    *translator = result;
    return STATUS_OK;
}

void translator_free(Translator *translator) {
    if (!translator) return;
    searcher_free(translator->searcher);
    mem_free(translator->models);
    mem_free(translator);
}

int translator_first_nonfinite(const Translator *translator) {
    return searcher_first_nonfinite(translator->searcher);
}

Status translator_check_finite(const Translator *translator, const StrList *paths) {
    int model = translator_first_nonfinite(translator);
    if (model < 0) return STATUS_OK;
    status_fail(STATUS_DATA, "the scores of '%s' are not finite: its weights are out of range",
                paths->items[model]);
    return status_hint(STATUS_DATA, "its training diverged, or the file was made by hand: train it again");
}

long translator_unsplit(const Translator *translator) {
    const Translator *pivot = translator->options.pivot;
    return pivot ? translator_unsplit(pivot) : translator->notes.unsplit;
}

long translator_tokens(const Translator *translator) { return translator->tokens; }

/* Finish the texts of all items; returns whether all agree with the line. `copy`: those that do not become
 * the line itself. */
static bool finish_items(const Markup *markup, Translation *translation, bool copy) {
    bool all = true;
    for (int rank = 0; rank < translation->count; rank++) {
        StrBuf *text = &translation->items[rank].text;
        bool agrees = markup_finish(markup, text);
        all &= agrees;
        if (agrees || !copy) continue;
        strbuf_clear(text);
        strbuf_add(text, strbuf_view(&markup->repaired));
    }
    return all;
}

/* Join the results of each line's out[i].chunks chunks. */
static void chunks_join(Translator *translator, const Chunks *chunks, int lines, Translation *out) {
    for (int i = 0, first = 0; i < lines; first += out[i++].chunks) {
        ChunkResults line = {.model = chunks->models[0],
                             .models = chunks->model_count,
                             .alternatives = chunks->options->search.alternatives,
                             .unknown = &chunks->unknown[i]};
        if (chunks->gaps) line.gaps = chunks->gaps + first + i;
        if (out[i].chunks > 0) { /* chunks->sources is NULL if no line has any */
            line.chunks = out[i].chunks;
            line.sources = chunks->sources + (size_t)first * (size_t)chunks->model_count;
            line.results = chunks->results + first;
            line.marked = chunks->marked + first;
            line.capitals = chunks->capitals + first;
        }
        translation_join(&out[i], &line, &chunks->options->search.decode);
        if (chunks->markups && out[i].chunks > 0 && !finish_items(&chunks->markups[i], &out[i], false)) {
            for (int c = 0; c < out[i].chunks; c++) marked_chunk_close(&chunks->marked[first + c]);
            translation_free(&out[i]);
            translation_join(&out[i], &line, &chunks->options->search.decode);
            finish_items(&chunks->markups[i], &out[i], true);
        }
        for (int c = first; c < first + out[i].chunks; c++)
            for (size_t u = 0; u < chunks->source_unknown[c].count; u++)
                strlist_add(&out[i].source_unknown, sv(chunks->source_unknown[c].items[u]));
        for (int c = first; c < first + out[i].chunks && !chunks->markups; c++)
            for (int m = 0; m < chunks->marked[c].text.count; m++)
                strlist_add(&out[i].copied, chunks->marked[c].text.items[m].text);
        out[i].target_unknown = chunks->unknown[i];
        out[i].from_memory = out[i].chunks == 0 && chunks->from_memory[i];
        translator->tokens += out[i].items[0].steps;
    }
}

static Chunks new_chunks(Translator *translator, int lines) {
    return chunks_new((const Seq2Seq *const *)translator->models, translator->count, &translator->options,
                      &translator->notes, lines);
}

static Sentences all_sentences(const Chunks *chunks) {
    return (Sentences){.sources = chunks->sources,
                       .targets = chunks->targets,
                       .constraints = chunks->constraints,
                       .models = chunks->model_count,
                       .total = chunks->count};
}

/* `free_terms`: as in Chunks. */
static void translate_lines(Translator *translator, const StrView *lines, const LineConstraints *constraints,
                            int count, long first_number, bool free_terms, Translation *out) {
    Chunks chunks = new_chunks(translator, count);
    chunks.free_terms = free_terms;
    if (translator->options.tags) chunks.markups = mem_alloc((size_t)count, sizeof *chunks.markups);
    for (int i = 0; i < count; i++)
        out[i].chunks =
            chunks_add_line(&chunks, i, lines[i], constraints ? &constraints[i] : NULL, first_number + i);
    chunks.results = mem_alloc((size_t)chunks.count, sizeof *chunks.results);
    Sentences sentences = all_sentences(&chunks);
    if (chunks.any_marked)
        chunks_search_marked(&chunks, translator->searcher);
    else
        searcher_run(translator->searcher, &sentences, chunks.results);
    chunks_join(translator, &chunks, count, out);
    bool constrained = constraints || translator->options.glossary;
    for (int i = 0, first = 0; constrained && i < count; first += out[i++].chunks)
        chunks_check_constraints(&chunks, constraints ? &constraints[i] : NULL, first, &out[i]);
    chunks_free(&chunks, count);
}

/* ---- terms of the glossary ---- */

static bool ends_sentence(int c) { return c == '.' || c == '!' || c == '?' || c == 0x3002 || c == 0x2026; }

/* Does the text have words behind the end of a sentence, and `other`, which ends with a sentence, not? */
static bool is_behind_end(StrView other, StrView text) {
    other = unicode_trim_end(other);
    text = unicode_trim_end(text);
    size_t last = other.length > 0 ? utf8_before(other, other.length) : 0;
    size_t end = text.length > 0 ? utf8_before(text, text.length) : 0, at = end;
    if (other.length == 0 || text.length == 0 || !ends_sentence(utf8_next(other, &last))) return false;
    return !ends_sentence(utf8_next(text, &at));
}

/* Is the translation with the terms of the glossary worth it? Not if a term stands behind the end of the
 * sentence, or if the translation has a problem that the model's own does not have. Of a line without letters
 * the model's own translation is worth nothing. */
static bool is_better(StrView line, const Translation *own, const Translation *with) {
    const TranslationItem *a = &own->items[0], *b = &with->items[0];
    if (text_is_copied(line)) return with->constraints_unmet.count < own->constraints_unmet.count;
    for (int p = 0; p < PROBLEM_KINDS; p++)
        if (b->problems[p] && !a->problems[p]) return false;
    return with->constraints_unmet.count < own->constraints_unmet.count &&
           !is_behind_end(strbuf_view(&a->text), strbuf_view(&b->text));
}

/* Translates again, with the terms as constraints, those lines whose translations do not have them. */
static void translate_with_terms(Translator *translator, const StrView *lines,
                                 const LineConstraints *constraints, int count, long first_number,
                                 Translation *out) {
    if (!translator->options.glossary) return;
    StrView *again = mem_alloc((size_t)count, sizeof *again);
    LineConstraints *own = mem_alloc((size_t)count, sizeof *own);
    int *numbers = mem_alloc((size_t)count, sizeof *numbers), left = 0;
    bool quiet = translator->options.quiet;
    LineNotes notes = translator->notes;
    for (int i = 0; i < count; i++)
        if (out[i].constraints_unmet.count > 0 && out[i].chunks > 0) {
            again[left] = lines[i];
            own[left] = constraints ? constraints[i] : (LineConstraints){0};
            numbers[left++] = i;
        }
    Translation *with = mem_alloc((size_t)left, sizeof *with);
    translator->options.quiet = true;
    if (left > 0) translate_lines(translator, again, own, left, first_number, false, with);
    translator->options.quiet = quiet;
    translator->notes = notes;
    for (int i = 0; i < left; i++) {
        Translation other = with[i];
        if (is_better(again[i], &out[numbers[i]], &with[i])) {
            other = out[numbers[i]];
            out[numbers[i]] = with[i];
        }
        translation_free(&other);
    }
    mem_free(with);
    mem_free(numbers);
    mem_free(own);
    mem_free(again);
}

static void warn_unmet(const Translator *translator, const Translation *translation, long number) {
    Tokenizer *target = seq2seq_target(translator->models[0]);
    for (size_t i = 0; i < translation->constraints_unmet.count; i++) {
        StrView words = sv(translation->constraints_unmet.items[i]);
        log_warn("line %ld: '%.*s' is not in the translation: the model %s", number, SV_ARG(words),
                 constraints_knows(target, words) ? "has no good place for it" : "does not know all of it");
    }
}

/* ---- all stages of a line ---- */

/* Lines in the language that the models read. */
typedef struct {
    const StrView *rest;       /* [count] */
    Translation *translations; /* [count] into that language; NULL: no pivot, `rest` is the lines */
} PivotLines;

static PivotLines pivot_lines_translate(Translator *pivot, const StrView *lines, int count,
                                        long first_number) {
    if (!pivot) return (PivotLines){.rest = lines};
    Translation *translations = mem_alloc((size_t)count, sizeof *translations);
    StrView *texts = mem_alloc((size_t)count, sizeof *texts);
    translator_run(pivot, lines, NULL, count, first_number, translations);
    for (int i = 0; i < count; i++) texts[i] = strbuf_view(&translations[i].items[0].text);
    return (PivotLines){texts, translations};
}

/* Adds the texts of the pivot to the translations. */
static void pivot_lines_put(const PivotLines *lines, int count, Translation *out) {
    for (int i = 0; lines->translations && i < count; i++) strbuf_add(&out[i].pivot, lines->rest[i]);
}

static void pivot_lines_free(PivotLines *lines, int count) {
    if (!lines->translations) return;
    for (int i = 0; i < count; i++) translation_free(&lines->translations[i]);
    mem_free(lines->translations);
    mem_free((StrView *)lines->rest);
}

/* Each stage gets the lines that the stage before left to it, and later completes their translations. It
 * does nothing if its option is off. */
void translator_run(Translator *translator, const StrView *lines, const LineConstraints *constraints,
                    int count, long first_number, Translation *out) {
    const TranslatorOptions *o = &translator->options;
    PivotLines pivot = pivot_lines_translate(o->pivot, lines, count, first_number);
    AcceleratorLines accelerators = accelerator_lines_take(pivot.rest, count, o->accelerator);
    MemoryLines memory = memory_lines_find(o, accelerators.rest, constraints, count);

    translate_lines(translator, memory.rest, constraints, count, first_number, o->glossary != NULL, out);
    translate_with_terms(translator, memory.rest, constraints, count, first_number, out);

    memory_lines_put(&memory, count, out);
    accelerator_lines_put(&accelerators, count, out, seq2seq_target(translator->models[0]));
    pivot_lines_put(&pivot, count, out);
    for (int i = 0; i < count && !o->quiet; i++) warn_unmet(translator, &out[i], first_number + i);
    memory_lines_free(&memory, count);
    accelerator_lines_free(&accelerators, count);
    pivot_lines_free(&pivot, count);
}

void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out) {
    Chunks chunks = new_chunks(translator, count);
    for (int i = 0; i < count; i++) {
        StrView line = lines[i];
        chunks.language[i] = target_language_take(seq2seq_source(translator->models[0]), &translator->options,
                                                  &line, i + 1, &translator->notes.warned_of_language);
        out[i].chunks = !unicode_is_blank(line) && chunks_add(&chunks, i, line, (MarkedChunk){0}, false);
        if (out[i].chunks == 0) continue;
        MEM_GROW(chunks.targets, chunks.targets_capacity, (size_t)chunks.count);
        chunks.targets[chunks.count - 1] = chunks_tokens(&chunks, seq2seq_target(translator->models[0]),
                                                         (StrView){0}, targets[i], &chunks.unknown[i]);
    }
    chunks.results = mem_alloc((size_t)chunks.count, sizeof *chunks.results);
    Sentences sentences = all_sentences(&chunks);
    searcher_run(translator->searcher, &sentences, chunks.results);
    chunks_join(translator, &chunks, count, out);
    chunks_free(&chunks, count);
}

void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, void (*progress)(void *context, double fraction), void *context,
                       HypothesisList *results) {
    TranslatorOptions greedy = {
        .search = {.decode = *options, .n_best = 1}, .progress = progress, .progress_context = context};
    greedy.search.decode.beam_size = 1;
    Translator *translator;
    Status status = translator_new(&translator, &model, 1, &greedy, workers);
    assert(status == STATUS_OK); /* one model has one vocabulary, and no attention is needed */
    (void)status;
    searcher_run(translator->searcher, &(Sentences){.sources = sources, .models = 1, .total = count},
                 results);
    translator_free(translator);
}
