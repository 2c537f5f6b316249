/* pair_files.c - see pair_files.h. */
#include "serve/pair_files.h"

#include <string.h>
#include "base/mem.h"
#include "io/fileio.h"
#include "text/languages.h"

static Status fail_form(const char *option, const char *value) {
    status_fail(STATUS_USAGE, "%s '%.300s' names no languages, which it needs without --model", option,
                value);
    return status_hint(STATUS_USAGE, "%s en-de=FILE is for translations from en to de", option);
}

/* Splits "en-de=terms.tsv". */
static Status read_one(PairFile *file, const char *option, const char *value) {
    const char *equals = strchr(value, '=');
    if (!equals || !equals[1]) return fail_form(option, value);
    file->path = equals + 1;
    file->pair = mem_strndup(value, (size_t)(equals - value));
    if (languages_split(file->pair, &file->source, &file->target) != STATUS_OK)
        return fail_form(option, value);
    if (file_exists(file->path)) return STATUS_OK;
    return status_fail(STATUS_RUNTIME, "%s: there is no file '%.700s'", option, file->path);
}

static Status read_list(PairFiles *files, const StrList *values, bool is_memory) {
    for (size_t i = 0; i < values->count; i++) {
        PairFile *file = &files->items[files->count++];
        file->is_memory = is_memory;
        TRY(read_one(file, is_memory ? "--memory" : "--glossary", values->items[i]));
    }
    return STATUS_OK;
}

Status pair_files_read(PairFiles *files, const StrList *glossaries, const StrList *memories) {
    *files = (PairFiles){.items = mem_alloc(glossaries->count + memories->count, sizeof *files->items)};
    TRY(read_list(files, glossaries, false));
    return read_list(files, memories, true);
}

void pair_files_free(PairFiles *files) {
    for (size_t i = 0; i < files->count; i++) mem_free(files->items[i].pair);
    mem_free(files->items);
    *files = (PairFiles){0};
}

ModelGuide *pair_files_guides(PairFiles *files, const ModelInfo *info, int *count) {
    ModelGuide *guides = mem_alloc(info->targets.count, sizeof *guides);
    *count = 0;
    for (size_t t = 0; t < info->targets.count; t++) {
        const char *target = info->targets.items[t];
        ModelGuide *guide = &guides[*count];
        for (size_t i = 0; i < files->count; i++) {
            PairFile *file = &files->items[i];
            if (!language_names_match(file->source, sv(info->source)) ||
                !language_names_match(file->target, sv(target)))
                continue;
            strlist_add(file->is_memory ? &guide->memories : &guide->glossaries, sv(file->path));
            file->used = true;
        }
        if (guide->glossaries.count + guide->memories.count == 0) continue;
        if (info->chooses_target) guide->target = mem_strdup(target);
        ++*count;
    }
    return guides;
}

Status pair_files_check(const PairFiles *files) {
    for (size_t i = 0; i < files->count; i++) {
        const PairFile *file = &files->items[i];
        if (file->used) continue;
        status_fail(STATUS_USAGE, "%s: no model translates from %.*s to %.*s",
                    file->is_memory ? "--memory" : "--glossary", SV_ARG(file->source), SV_ARG(file->target));
        return status_hint(STATUS_USAGE, "'attn-mt models' lists the models with their languages");
    }
    return STATUS_OK;
}
