/* command_io.c - see command_io.h. */
#include "cli/command_io.h"

#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/workers.h"
#include "decode/translator.h"
#include "models/modelfile.h"

Status command_print(StrView text) { return file_put("-", text); }

Status command_print_help(const char *usage, const OptionTable *tables, const char *examples) {
    StrBuf rows = {0}, text = {0};
    int width = log_terminal_width(STDOUT_FILENO);
    options_write_help(tables, width > 100 ? 100 : width, &rows);
    strbuf_format(&text, "%s\n%s\n%s", usage, strbuf_text(&rows), examples);
    Status status = command_print(strbuf_view(&text));
    strbuf_free(&rows);
    strbuf_free(&text);
    return status;
}

Status model_set_load(ModelSet *models, const StrList *paths, WeightFormat format) {
    *models = (ModelSet){0};
    if (paths->count == 0) {
        status_fail(STATUS_USAGE, "no model given");
        return status_hint(STATUS_USAGE, "name one with --model FILE (training writes best.safetensors)");
    }
    models->items = mem_alloc(paths->count, sizeof(Seq2Seq *));
    for (size_t i = 0; i < paths->count; i++) {
        Status status =
            modelfile_load(&models->items[i], paths->items[i], format, i == 0 ? &models->provenance : NULL);
        if (status != STATUS_OK) {
            model_set_free(models);
            return status;
        }
        models->count++;
    }
    return STATUS_OK;
}

void model_set_free(ModelSet *models) {
    for (int i = 0; i < models->count; i++) seq2seq_free(models->items[i]);
    mem_free(models->items);
    strbuf_free(&models->provenance);
    *models = (ModelSet){0};
}

void model_set_lay_under(const ModelSet *models, const OptionsGiven *given, DecodeOptions *decode) {
    options_lay_under(&(OptionTable){DECODE_OPTIONS, decode}, given,
                      &seq2seq_config(models->items[0])->decode);
}

enum { LINES_AT_A_TIME = 10000 };

static void translate_all(Translator *translator, const StrView *sources, size_t count, char **outputs) {
    Translation *results = mem_alloc(LINES_AT_A_TIME, sizeof *results);
    for (size_t start = 0; start < count; start += LINES_AT_A_TIME) {
        size_t rest = count - start;
        int n = rest < LINES_AT_A_TIME ? (int)rest : LINES_AT_A_TIME;
        translator_run(translator, sources + start, n, (long)start + 1, results);
        for (int i = 0; i < n; i++) {
            outputs[start + (size_t)i] = mem_strdup(strbuf_text(&results[i].items[0].text));
            translation_free(&results[i]);
        }
    }
    mem_free(results);
}

Status translate_lines(const StrList *models, const StrView *sources, size_t count, int threads,
                       int beam_size, char ***outputs) {
    ModelSet set;
    TRY(model_set_load(&set, models, FORMAT_FLOAT32));
    TranslatorOptions options = {
        .search = {.decode = seq2seq_config(set.items[0])->decode, .n_best = 1, .tokens_only = true}};
    options.search.decode.beam_size = beam_size;
    Workers *workers = workers_new(threads > 0 ? threads : workers_default_count());
    Translator *translator = NULL;
    Status status = translator_new(&translator, model_set_items(&set), set.count, &options, workers);
    if (status == STATUS_OK) {
        *outputs = mem_alloc(count, sizeof **outputs);
        translate_all(translator, sources, count, *outputs);
    }
    translator_free(translator);
    workers_free(workers);
    model_set_free(&set);
    return status;
}
