/* translate_lines.c - see translate_lines.h. */
#include "cli/translate_lines.h"

#include <limits.h>
#include "base/mem.h"
#include "base/workers.h"
#include "cli/command_io.h"
#include "decode/translator.h"

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
        .decode = seq2seq_config(set.items[0])->decode, .n_best = 1, .tokens_only = true};
    options.decode.beam_size = beam_size;
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
