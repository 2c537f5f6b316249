/* command_io.h - what several commands do alike: print, show help, load models and translate with them. */
#ifndef CLI_COMMAND_IO_H
#define CLI_COMMAND_IO_H

#include "base/options.h"
#include "decode/translator.h"

/* Write to standard output and make sure that it arrived. */
Status command_print(StrView text);
/* `usage` (lines of text), the options, `examples`. */
Status command_print_help(const char *usage, const OptionTable *tables, const char *examples);
/* From now on command_print_help calls `reader` instead of printing; NULL: it prints again. */
typedef void (*HelpReader)(void *context, const char *usage, const OptionTable *tables);
void command_read_help(HelpReader reader, void *context);

typedef struct {
    Seq2Seq **items;
    int count;
    StrBuf provenance; /* of the first model */
} ModelSet;

/* Load all models, with weights in that format. STATUS_USAGE if `paths` is empty. Release with
 * model_set_free. */
Status model_set_load(ModelSet *models, const StrList *paths, WeightFormat format);
void model_set_free(ModelSet *models);
static inline const Seq2Seq *const *model_set_items(const ModelSet *models) {
    return (const Seq2Seq *const *)models->items;
}
/* Search options that were not given on the command line are the first model's own, up to bounds: a beam of
 * 20, translations of 5 tokens for each source token and 200 more, pieces of 1000 tokens, 256 sentences at
 * once and 1000 times as many read ahead. */
void model_set_lay_under(const ModelSet *models, const OptionsGiven *given, DecodeOptions *decode);

/* Text that a model never saw and reads as <unk>: characters, or words if its tokens are words. A zeroed one
 * has none. */
typedef struct {
    long count, first_line; /* first_line 0: there are no lines to speak of */
    char *first;
} UnseenText;

/* Count those of one line's translation. Not U+FFFD: who repaired the bytes has said so. */
void unseen_text_add(UnseenText *unseen, const Translation *translation, const Segmenter *source, long line);
/* Warn if there are any. */
void unseen_text_report(const UnseenText *unseen, const Seq2Seq *model);
void unseen_text_free(UnseenText *unseen);

/* STATUS_DATA, with its path, if a model's scores were not finite so far: nothing is to be printed then. */
Status translator_check(const Translator *translator, const StrList *models);

/* Translate lines in memory with the models' own search options but for the beam; several models vote.
 * `threads` 0: as many as there are cores. An empty source gives an empty line. On success *outputs is an
 * array of `count` lines without line ends; the caller releases each and the array with mem_free. */
Status translate_lines(const StrList *models, const StrView *sources, size_t count, int threads,
                       int beam_size, char ***outputs);

#endif
