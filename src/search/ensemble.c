/* ensemble.c - see ensemble.h. */
#include "search/ensemble.h"

#include "base/log.h"
#include "base/mem.h"
#include "models/modelfile.h"
#include "text/languages.h"

/* Warn if the languages differ from the first model's. Not an error: the names may be wrong. */
static void compare_languages(const Ensemble *models, const StrList *paths, size_t i, StrView provenance) {
    StrBuf source = {0}, target = {0};
    StrView first = strbuf_view(&models->source_language), second = strbuf_view(&models->target_language);
    bool known = modelfile_languages(provenance, &source, &target) &&
                 !language_names_match(strbuf_view(&source), SV("source"));
    if (known && directions_differ(first, second, strbuf_view(&source), strbuf_view(&target)))
        log_warn("'%s' translates from %.*s to %.*s, '%s' from %s to %s", paths->items[0], SV_ARG(first),
                 SV_ARG(second), paths->items[i], strbuf_text(&source), strbuf_text(&target));
    strbuf_free(&source);
    strbuf_free(&target);
}

Status ensemble_load(Ensemble *models, const StrList *paths, WeightFormat format, bool shortlists) {
    *models = (Ensemble){0};
    if (paths->count == 0) {
        status_fail(STATUS_USAGE, "no model given");
        return status_hint(STATUS_USAGE, "name one with --model FILE (training writes best.safetensors)");
    }
    models->items = mem_alloc(paths->count, sizeof(Seq2Seq *));
    for (size_t i = 0; i < paths->count; i++) {
        StrBuf ignored = {0}, *provenance = i == 0 ? &models->provenance : &ignored;
        Status status = modelfile_load(&models->items[i], paths->items[i], format, shortlists, provenance);
        if (status != STATUS_OK) {
            strbuf_free(&ignored);
            ensemble_free(models);
            return status;
        }
        models->count++;
        if (i == 0) models->translates_symbols = modelfile_translates_symbols(strbuf_view(provenance));
        if (i == 0)
            modelfile_languages(strbuf_view(provenance), &models->source_language, &models->target_language);
        else
            compare_languages(models, paths, i, strbuf_view(provenance));
        strbuf_free(&ignored);
    }
    return STATUS_OK;
}

void ensemble_free(Ensemble *models) {
    for (int i = 0; i < models->count; i++) seq2seq_free(models->items[i]);
    mem_free(models->items);
    strbuf_free(&models->provenance);
    strbuf_free(&models->source_language);
    strbuf_free(&models->target_language);
    *models = (Ensemble){0};
}

Status ensemble_check_shortlists(const Ensemble *models, const StrList *paths) {
    for (int m = 0; m < models->count; m++) {
        if (seq2seq_shortlist(models->items[m])) continue;
        status_fail(STATUS_USAGE, "shortlist: '%s' has no list of likely translations of its tokens",
                    paths->items[m]);
        return status_hint(STATUS_USAGE, "models are trained with one unless train.shortlist is 0; models of "
                                         "earlier versions have none");
    }
    return STATUS_OK;
}

void ensemble_apply_defaults(const Ensemble *models, const UserOptions *user_options, DecodeOptions *decode) {
    const DecodeOptions in_file = seq2seq_config(models->items[0])->decode,
                        bounded = decode_options_bound(in_file);
    options_apply_defaults(&(OptionTable){DECODE_OPTIONS, decode}, user_options, &bounded);
#define WARN_OF(field)                                                                                       \
    if (bounded.field < in_file.field && !option_is_given(user_options, "decode." #field))                   \
        log_warn("the model's decode." #field " = %g is above the limit for model files: %g is used",        \
                 (double)in_file.field, (double)bounded.field);
    DECODE_BOUNDED(WARN_OF)
}
