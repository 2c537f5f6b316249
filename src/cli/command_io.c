/* command_io.c - see command_io.h. */
#include "cli/command_io.h"

#include <unistd.h>
#include "base/fileio.h"
#include "base/log.h"
#include "base/mem.h"
#include "models/modelfile.h"

Status command_print(StrView text) {
    OutFile *output;
    TRY(file_create(&output, "-"));
    Status status = file_write(output, text.data, text.length);
    if (status != STATUS_OK) {
        file_discard(output);
        return status;
    }
    return file_commit(output);
}

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
        Status status = modelfile_load(&models->items[i], paths->items[i], format, NULL);
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
    *models = (ModelSet){0};
}
