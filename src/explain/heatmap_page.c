/* heatmap_page.c - translates with each model, analyzes each translation, and writes the page. */
#include "explain/heatmap_page.h"

#include <limits.h>
#include "base/log.h"
#include "base/mem.h"
#include "base/progress_line.h"
#include "base/utf8.h"
#include "explain/explorer_data.h"
#include "search/backpointers.h"
#include "search/rescore.h"
#include "text/languages.h"
#include "postprocess/calibration.h"
#include "viz/explorer_page.h"
#include "viz/label.h"

/* Formulas of a page: few sentences have those of all heads. */
enum { MAX_FORMULAS = 32 };

typedef struct {
    const HeatmapPage *page;
    Workers *workers;
    Translator *translators[EXPLORER_MODELS]; /* one for each model, without an ensemble */
    Backpointers tree;                        /* of the last search */
    Calibration calibration;                  /* empty with several models */
    ExplorerData *data;
    StrBuf pictures;
} PageWriter;

/* The name of "runs/demo/best.safetensors" is "demo/best.safetensors". */
static StrView model_name(const char *path) {
    StrView whole = sv(path);
    int slashes = 0;
    for (size_t i = whole.length; i-- > 0;)
        if (whole.data[i] == '/' && ++slashes == 2)
            return (StrView){whole.data + i + 1, whole.length - i - 1};
    return whole;
}

static void name_languages(PageWriter *writer) {
    const Ensemble *models = writer->page->models;
    explorer_data_set_languages(writer->data, language_code(strbuf_view(&models->source_language)),
                                language_code(strbuf_view(&models->target_language)));
}

static Status writer_begin(PageWriter *writer) {
    const Ensemble *models = writer->page->models;
    TranslatorOptions options = *writer->page->translating;
    options.search.tree = &writer->tree;
    options.search.attention = true;
    options.search.choice = (AttentionChoice){ATTENTION_MEAN, ATTENTION_MEAN};
    options.search.decode.max_input_length = INT_MAX; /* a picture shows a whole sentence */
    options.whole = true;
    for (int m = 0; m < models->count; m++) {
        TRY(seq2seq_check_attention(models->items[m]));
        TRY(model_require_left_to_right(models->items[m], "--format html"));
        explorer_data_add_model(writer->data, models->items[m], model_name(writer->page->paths->items[m]));
        TRY(translator_new(&writer->translators[m], ensemble_items(models) + m, 1, &options,
                           writer->workers));
    }
    if (models->count == 1) writer->calibration = calibration_read(strbuf_view(&models->provenance));
    name_languages(writer);
    return STATUS_OK;
}

static void writer_end(PageWriter *writer) {
    for (int m = 0; m < EXPLORER_MODELS; m++) translator_free(writer->translators[m]);
    workers_free(writer->workers);
    explorer_data_free(writer->data);
    strbuf_free(&writer->pictures);
}

void heatmap_title(StrView line, const Translation *translation, StrBuf *out) {
    size_t start = out->length;
    utf8_repair(line, out);
    label_keep_order(out, start); /* the arrow between two right-to-left texts keeps its direction */
    strbuf_format(out, " \xE2\x86\x92 %s", strbuf_text(&translation->items[0].text));
}

void heatmap_count(HeatmapCounts *counts, const Translation *translation, const Seq2Seq *model, int number) {
    counts->translated += translation->chunks > 0;
    unknown_text_add(&counts->unknown, translation, seq2seq_source(model), number);
}

static void add_picture(PageWriter *writer, StrView line, const Translation *translation,
                        const Seq2Seq *model) {
    Alignment words;
    StrBuf title = {0};
    alignment_make(&words, translation, 0, ALIGNMENT_WORD, seq2seq_source(model), seq2seq_target(model));
    heatmap_title(line, translation, &title);
    explorer_page_picture(&(Heatmap){.rows = words.rows,
                                     .columns = words.columns,
                                     .row_labels = (const char *const *)words.row_labels,
                                     .column_labels = (const char *const *)words.column_labels,
                                     .weights = alignment_matrix(&words),
                                     .title = strbuf_text(&title)},
                          &writer->pictures);
    alignment_free(&words);
    strbuf_free(&title);
}

static int at_least_one(int count) { return count > 1 ? count : 1; }

/* The first formula is of --layer and --head; otherwise of the last layer and the first head. */
static int first_map(const HeatmapPage *page, const Seq2Seq *model) {
    int layers, heads;
    seq2seq_attentions(model, &layers, &heads);
    int layer = page->layer > 0 && page->layer <= layers ? page->layer : layers;
    int head = page->head > 0 && page->head <= heads ? page->head : 1;
    return (layer - 1) * heads + head - 1;
}

/* Adds a run of model m: its own translation, or `target`. *translation is the result. `first` begins a new
 * sentence. */
static void add_run(PageWriter *writer, int m, ExplorerRunKind kind, StrView line, StrView target, bool first,
                    Translation *translation) {
    const HeatmapPage *page = writer->page;
    const Seq2Seq *model = page->models->items[m];
    if (kind == EXPLORER_OWN)
        translator_run(writer->translators[m], &line, NULL, 1, 1, translation);
    else
        translator_force(writer->translators[m], &line, &target, 1, translation);
    if (translation->chunks > 0 && translator_first_nonfinite(writer->translators[m]) < 0) {
        double *words = mem_alloc((size_t)translation->items[0].words + 1, sizeof *words);
        if (first) {
            explorer_data_add_sentence(writer->data, line);
            add_picture(writer, line, translation, model);
        }
        ExplorerRun run = {.model = m,
                           .kind = kind,
                           .translation = translation,
                           .confidence =
                               calibration_confidence(&writer->calibration, translation->items, words),
                           .decode = &page->translating->search.decode,
                           .tree = kind == EXPLORER_OWN ? &writer->tree : NULL,
                           .formula = first_map(page, model),
                           .formulas = at_least_one(MAX_FORMULAS / page->count)};
        explorer_data_add_run(writer->data, &run);
        mem_free(words);
    }
    backpointers_free(&writer->tree);
}

/* Of each model: the user's translation, if there is one; its own; and without a user's translation, the
 * first model's if it differs. */
static Status add_sentence(PageWriter *writer, int i) {
    const HeatmapPage *page = writer->page;
    StrView line = page->lines[i];
    Translation first = {0};
    Status status = STATUS_OK;
    for (int m = 0; m < page->models->count && status == STATUS_OK; m++) {
        Translation own = {0}, other = {0};
        if (page->targets) add_run(writer, m, EXPLORER_GIVEN, line, page->targets[i], m == 0, &other);
        add_run(writer, m, EXPLORER_OWN, line, SV(""), m == 0 && !page->targets, &own);
        if (!page->targets && m > 0 && first.chunks > 0 && own.chunks > 0 &&
            !sv_equal(strbuf_view(&first.items[0].text), strbuf_view(&own.items[0].text)))
            add_run(writer, m, EXPLORER_SAME, line, strbuf_view(&first.items[0].text), false, &other);
        status = translator_check_finite(writer->translators[m], &(StrList){page->paths->items + m, 1});
        if (m == 0) first = own;
        if (m == 0 && page->counts)
            heatmap_count(page->counts, &own, page->models->items[0], page->count > 1 ? i + 1 : 0);
        if (m > 0) translation_free(&own);
        translation_free(&other);
    }
    translation_free(&first);
    return status;
}

Status heatmap_page_write(const HeatmapPage *page, StrBuf *out) {
    PageWriter writer = {.page = page, .data = explorer_data_new()};
    StrBuf json = {0}, title = {0};
    if (page->models->count > EXPLORER_MODELS) {
        explorer_data_free(writer.data);
        return status_fail(STATUS_USAGE, "a page shows at most %d models, not %d", EXPLORER_MODELS,
                           page->models->count);
    }
    writer.workers = workers_new(workers_default_count());
    Status status = writer_begin(&writer);
    for (int i = 0; i < page->count && status == STATUS_OK; i++) {
        status = add_sentence(&writer, i);
        progress_line_fraction(page->progress, (double)(i + 1) / page->count);
    }
    log_progress_end();
    if (status == STATUS_OK) {
        strbuf_format(&title, "Attention of %.*s", SV_ARG(model_name(page->paths->items[0])));
        for (int m = 1; m < page->models->count; m++)
            strbuf_format(&title, ", %.*s", SV_ARG(model_name(page->paths->items[m])));
        explorer_data_write(writer.data, page->layer, page->head, !page->subwords, &json);
        explorer_page_write(strbuf_text(&title), strbuf_view(&json), strbuf_view(&writer.pictures), out);
    }
    writer_end(&writer);
    strbuf_free(&json);
    strbuf_free(&title);
    return status;
}
