/* translation.c - joins chunks: text, tokens, scores, attention. */
#include "postprocess/translation.h"

#include <assert.h>
#include <string.h>
#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "search/repetition.h"
#include "text/whole_words.h"

static void item_free(TranslationItem *item) {
    strbuf_free(&item->text);
    mem_free(item->ids);
    mem_free(item->token_scores);
    for (int b = 0; b < item->blocks; b++) mem_free((float *)item->attention[b].weights);
    mem_free(item->attention);
    mem_free(item->alternatives);
    mem_free(item->word);
}

void translation_free(Translation *translation) {
    for (int i = 0; i < translation->count; i++) item_free(&translation->items[i]);
    mem_free(translation->items);
    strbuf_free(&translation->pivot);
    strlist_free(&translation->constraints_met);
    strlist_free(&translation->constraints_unmet);
    mem_free(translation->source);
    mem_free(translation->source_word);
    strlist_free(&translation->source_unknown);
    strlist_free(&translation->copied);
    strlist_free(&translation->target_unknown);
    *translation = (Translation){0};
}

/* Is the text among those of the first `count` items? */
static bool is_copy(const Translation *translation, int count, StrView text) {
    for (int i = 0; i < count; i++)
        if (sv_equal(strbuf_view(&translation->items[i].text), text)) return true;
    return false;
}

void translation_keep_different(Translation *translation, int most) {
    int count = 0;
    for (int i = 0; i < translation->count; i++) {
        TranslationItem *item = &translation->items[i];
        if (count == most || is_copy(translation, count, strbuf_view(&item->text)))
            item_free(item);
        else
            translation->items[count++] = *item;
    }
    translation->count = count;
}

static const Hypothesis *chunk_hypothesis(const ChunkResults *line, int chunk, int rank) {
    const HypothesisList *list = &line->results[chunk];
    return &list->items[rank < list->count ? rank : list->count - 1];
}

/* Number the words of one chunk, the first one `words`; returns the number of words so far. */
static int join_words(const Tokenizer *tokenizer, const int *ids, int count, int words, int *word) {
    int added = tokenizer_words(tokenizer, ids, (size_t)count, word);
    for (int i = 0; i < count; i++) word[i] += words;
    return words + added;
}

static const Tokens *chunk_source(const ChunkResults *line, int chunk) {
    return &line->sources[(size_t)chunk * (size_t)line->models];
}

static void join_source(const ChunkResults *line, Translation *out) {
    const Tokenizer *tokenizer = seq2seq_source(line->model);
    for (int c = 0; c < line->chunks; c++) out->source_length += chunk_source(line, c)->length;
    out->source = mem_alloc((size_t)out->source_length, sizeof *out->source);
    out->source_word = mem_alloc((size_t)out->source_length, sizeof *out->source_word);
    for (int c = 0, at = 0; c < line->chunks; at += chunk_source(line, c++)->length) {
        const Tokens *source = chunk_source(line, c);
        memcpy(out->source + at, source->ids, (size_t)source->length * sizeof *out->source);
        out->source_words =
            join_words(tokenizer, source->ids, source->length, out->source_words, out->source_word + at);
    }
}

void translation_text(const Tokenizer *target, const Hypothesis *chunk, const StrList *unknown,
                      StrBuf *text) {
    size_t before = text->length;
    tokenizer_decode_spelled(target, chunk->ids, (size_t)chunk->length, unknown, text);
    for (size_t i = before; i < text->length; i++)
        if (text->data[i] == '\n' || text->data[i] == '\r' || text->data[i] == '\f') text->data[i] = ' ';
}

/* Does the text end in Chinese or Japanese, which put no spaces between sentences? Closing curled quotes are
 * skipped: other scripts use them, too. */
static bool ends_in_wide_script(StrView text) {
    while (text.length > 0) {
        size_t start = utf8_before(text, text.length), at = start;
        int c = utf8_next(text, &at);
        if (c != 0x2019 && c != 0x201D) return text_is_unspaced(c) && unicode_width(c) == 2;
        text.length = start;
    }
    return false;
}

/* The text before chunk c, or after the last one. */
static StrView choose_gap(const ChunkResults *line, int c, const StrBuf *text) {
    bool between = c > 0 && c < line->chunks;
    StrView gap = line->gaps ? line->gaps[c] : between ? SV(" ") : SV("");
    if (between && (gap.length == 0 || sv_equal(gap, SV(" "))))
        return ends_in_wide_script(strbuf_view(text)) ? SV("") : SV(" ");
    return gap;
}

static void join_gap(const ChunkResults *line, int c, StrBuf *text) {
    strbuf_add(text, choose_gap(line, c, text));
}

static void join_text(StrView output, bool capitals, StrBuf *text) {
    if (capitals)
        unicode_upper(output, text);
    else
        strbuf_add(text, output);
}

/* The output of a chunk with marks: those and entities stay as they are. */
static void join_output(StrView output, bool capitals, StrBuf *text) {
    PlaceholderScan scan = {.text = output};
    StrView rest = output; /* behind the last placeholder */
    for (Placeholder placeholder; capitals && placeholder_next(&scan, &placeholder);) {
        if (tag_is_word(placeholder.text)) continue;
        size_t before = (size_t)(placeholder.text.data - rest.data), end = before + placeholder.text.length;
        unicode_upper((StrView){rest.data, before}, text);
        strbuf_add(text, placeholder.text);
        rest = (StrView){rest.data + end, rest.length - end};
    }
    join_text(rest, capitals, text);
}

static bool starts_with_word(StrView text) {
    size_t at = 0;
    return text.length > 0 && text_is_word(utf8_next(text, &at));
}

static bool ends_with_word(StrView text) {
    size_t at = text.length > 0 ? utf8_before(text, text.length) : 0;
    return text.length > 0 && text_is_word(utf8_next(text, &at));
}

static bool starts_with_placeholder(StrView text) {
    PlaceholderScan scan = {.text = text};
    Placeholder placeholder;
    return placeholder_next(&scan, &placeholder) && placeholder.text.data == text.data &&
           placeholder.kind != PLACEHOLDER_TAG;
}

static bool ends_with_placeholder(StrView text) {
    PlaceholderScan scan = {.text = text};
    Placeholder last = {0};
    while (placeholder_next(&scan, &last))
        ;
    return last.text.data && last.kind != PLACEHOLDER_TAG &&
           last.text.data + last.text.length == text.data + text.length;
}

/* Would the texts left and right of a joint glue a placeholder or a word to what it was apart from in the
 * source, for example because a bracket between them is not translated? */
static bool needs_space(StrView source_left, StrView source_right, StrView left, StrView right) {
    bool left_word = ends_with_word(left), right_word = starts_with_word(right),
         left_placeholder = ends_with_placeholder(left), right_placeholder = starts_with_placeholder(right),
         left_same = ends_with_word(source_left) == left_word &&
                     ends_with_placeholder(source_left) == left_placeholder,
         right_same = starts_with_word(source_right) == right_word &&
                      starts_with_placeholder(source_right) == right_placeholder;
    if (left.length == 0 || right.length == 0 || (left_same && right_same)) return false;
    if (unicode_is_blank((StrView){left.data + left.length - 1, 1}) ||
        unicode_is_blank((StrView){right.data, 1}))
        return false;
    return (left_word && (right_word || right_placeholder)) || (left_placeholder && !left_same) ||
           (right_placeholder && !right_same) || (left_placeholder && right_word);
}

/* Text of a line with markup so far: where its last gap or output begins, and the source of that. */
typedef struct {
    size_t start;
    StrView source;
} Joint;

static void join_marked(StrBuf *text, Joint *joint, StrView source, StrView output) {
    if (source.length == 0 && output.length == 0) return;
    StrView left = {strbuf_text(text) + joint->start, text->length - joint->start};
    if (needs_space(joint->source, source, left, output)) strbuf_add_char(text, ' ');
    *joint = (Joint){text->length, source};
    strbuf_add(text, output);
}

static void join_marked_gap(const ChunkResults *line, int c, StrBuf *text, Joint *joint) {
    join_marked(text, joint, line->gaps[c], choose_gap(line, c, text));
}

static void join_attention(TranslationItem *item, const Hypothesis *chunk, int row, int column,
                           int source_length, bool last) {
    size_t rows = (size_t)(last ? chunk->steps : chunk->length), all_columns = (size_t)source_length + 1;
    size_t columns = last ? all_columns : all_columns - 1;
    assert(chunk->attention); /* all chunks have it, or none */
    float *weights = mem_alloc(rows * columns, sizeof *weights);
    for (size_t t = 0; t < rows; t++)
        memcpy(weights + t * columns, chunk->attention + t * all_columns, columns * sizeof *weights);
    item->attention[item->blocks++] = (AttentionBlock){row, column, (int)columns, weights};
}

AttentionRow attention_row(const AttentionBlock *blocks, int count, int t) {
    int first = 0; /* the last block that begins at or before t is one of first..end-1 */
    for (int end = count; end - first > 1;) {
        int middle = first + (end - first) / 2;
        if (blocks[middle].row <= t)
            first = middle;
        else
            end = middle;
    }
    const AttentionBlock *block = &blocks[first];
    return (AttentionRow){block->weights + (size_t)(t - block->row) * (size_t)block->columns, block->column,
                          block->columns};
}

AttentionRow translation_attention(const TranslationItem *item, int t) {
    return attention_row(item->attention, item->blocks, t);
}

static void join_alternatives(const ChunkResults *line, TranslationItem *item) {
    size_t N = (size_t)line->alternatives;
    item->alternatives = mem_alloc((size_t)item->steps * N, sizeof *item->alternatives);
    for (int c = 0, row = 0; c < line->chunks; c++) {
        const Hypothesis *chunk = chunk_hypothesis(line, c, 0);
        size_t steps = (size_t)(c == line->chunks - 1 ? chunk->steps : chunk->length);
        memcpy(item->alternatives + (size_t)row * N, chunk->alternatives,
               steps * N * sizeof *item->alternatives);
        row += chunk->length;
    }
}

static void find_problems(const ChunkResults *line, int c, const Hypothesis *chunk, bool *problems) {
    const Tokens *source = chunk_source(line, c);
    int repeats = tokens_repeats(chunk->ids, chunk->length);
    bool repeated = repeats > PROBLEM_REPEATS && repeats > tokens_repeats(source->ids, source->length);
    if (repeated) problems[PROBLEM_REPETITION] = true;
    if (!repeated && chunk->length > 0 && chunk->steps == chunk->length) problems[PROBLEM_LENGTH] = true;
}

static void join_item(const ChunkResults *line, int rank, const DecodeOptions *options,
                      TranslationItem *item) {
    const Tokenizer *tokenizer = seq2seq_target(line->model);
    int all_steps = 0, last = line->chunks - 1;
    Joint joint = {0};
    for (int c = 0; c < line->chunks; c++) item->length += chunk_hypothesis(line, c, rank)->length;
    const Hypothesis *end = chunk_hypothesis(line, last, rank);
    item->steps = item->length + end->steps - end->length;
    size_t length = (size_t)item->length, steps = (size_t)item->steps;
    item->ids = mem_alloc(length, sizeof *item->ids);
    item->word = mem_alloc(length, sizeof *item->word);
    item->token_scores = mem_alloc(steps, sizeof *item->token_scores);
    if (end->attention) item->attention = mem_alloc((size_t)line->chunks, sizeof *item->attention);
    for (int c = 0, row = 0, column = 0; c <= last; column += chunk_source(line, c++)->length) {
        const Hypothesis *chunk = chunk_hypothesis(line, c, rank);
        StrBuf part = {0};
        bool capitals = line->capitals && line->capitals[c];
        if (line->marked && line->marked[c].is_marked) {
            const MarkedChunk *marked = &line->marked[c];
            int output = rank < marked->output_count ? rank : marked->output_count - 1;
            join_marked_gap(line, c, &item->text, &joint);
            join_output(strbuf_view(&marked->outputs[output]), capitals, &part);
            join_marked(&item->text, &joint, marked->text.source, strbuf_view(&part));
        } else {
            join_gap(line, c, &item->text);
            translation_text(tokenizer, chunk, c == 0 ? line->unknown : NULL, &part);
            join_text(strbuf_view(&part), capitals, &item->text);
        }
        strbuf_free(&part);
        memcpy(item->ids + row, chunk->ids, (size_t)chunk->length * sizeof *item->ids);
        item->words = join_words(tokenizer, chunk->ids, chunk->length, item->words, item->word + row);
        size_t scores = (size_t)(c == last ? chunk->steps : chunk->length);
        memcpy(item->token_scores + row, chunk->token_scores, scores * sizeof *item->token_scores);
        if (item->attention)
            join_attention(item, chunk, row, column, chunk_source(line, c)->length, c == last);
        find_problems(line, c, chunk, item->problems);
        item->score += chunk->score;
        all_steps += chunk->steps;
        row += chunk->length;
    }
    item->problems[PROBLEM_EMPTY] = unicode_is_blank(strbuf_view(&item->text));
    if (line->marked && line->marked[last].is_marked)
        join_marked_gap(line, line->chunks, &item->text, &joint);
    else
        join_gap(line, line->chunks, &item->text);
    item->normalized = hypothesis_normalize(options, item->score, all_steps);
}

void translation_join(Translation *out, const ChunkResults *line, const DecodeOptions *options) {
    *out = (Translation){.chunks = line->chunks, .count = 1};
    join_source(line, out);
    for (int c = 0; c < line->chunks; c++)
        if (line->results[c].count > out->count) out->count = line->results[c].count;
    out->items = mem_alloc((size_t)out->count, sizeof *out->items);
    if (line->chunks == 0) {
        join_gap(line, 0, &out->items[0].text);
        return;
    }
    for (int rank = 0; rank < out->count; rank++) join_item(line, rank, options, &out->items[rank]);
    out->alternatives = line->alternatives;
    if (line->alternatives > 0) join_alternatives(line, &out->items[0]);
}
