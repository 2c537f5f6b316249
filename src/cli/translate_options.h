/* translate_options.h - the options of `attn-mt translate`, and what they ask of search and output. */
#ifndef CLI_TRANSLATE_OPTIONS_H
#define CLI_TRANSLATE_OPTIONS_H

#include "base/options.h"
#include "cli/translate_output.h"
#include "search/ensemble.h"
#include "translate/translator.h"

typedef struct {
    StrList models, inputs, references, glossaries;
    char *output, *report;
    int threads, precision, shortlist;
    int tokenizer; /* of BLEU: 1 + index into BLEU_TOKENIZERS; 0: as the language has it */
    int n_best;    /* 0: off; N_BEST_ALL: as many as the beam is wide */
    char *alignment;
    int level;
    bool word_scores, json, json_input, crop, split, tags, confidence, attention, quiet;
    char *prefix, *prefix_file;
    int alternatives;
    int mbr;
    double mbr_scale;
} TranslateOptions;

enum { N_BEST_ALL = 1000000 };

extern const Option TRANSLATE_OPTIONS[];

/* What is printed with these models, and what must be found for it; the search options of the command line
 * and of the model are there already. STATUS_USAGE for what does not go together. */
Status translate_options_apply(const TranslateOptions *options, const Ensemble *models, OutputStyle *style,
                               TranslatorOptions *translating);

#endif
