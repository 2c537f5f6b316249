/* command_io.h - what several commands do alike: print, show help, load models. */
#ifndef CLI_COMMAND_IO_H
#define CLI_COMMAND_IO_H

#include "base/options.h"
#include "models/seq2seq.h"

/* Write to standard output and make sure that it arrived. */
Status command_print(StrView text);
/* `usage` (lines of text), the options, `examples`. */
Status command_print_help(const char *usage, const OptionTable *tables, const char *examples);

typedef struct {
    Seq2Seq **items;
    int count;
} ModelSet;

/* Load all models, with weights in that format. STATUS_USAGE if `paths` is empty. Release with model_set_free. */
Status model_set_load(ModelSet *models, const StrList *paths, WeightFormat format);
void model_set_free(ModelSet *models);
static inline const Seq2Seq *const *model_set_items(const ModelSet *models) {
    return (const Seq2Seq *const *)models->items;
}

#endif
