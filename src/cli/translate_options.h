/* translate_options.h - the options of `attn-mt translate`, checked and completed for translator and
 * output. */
#ifndef CLI_TRANSLATE_OPTIONS_H
#define CLI_TRANSLATE_OPTIONS_H

#include "io/options.h"
#include "cli/translate_output.h"
#include "search/ensemble.h"
#include "translate/translator.h"

typedef struct {
    StrList models, inputs, references, glossaries, memories;
    char *languages, *output, *report;
    bool no_pivot;
    int threads, precision;
    int format; /* 0: by the content; 1: lines; 2 and more: DOCUMENT_FORMATS */
    double confident;
    bool fuzzy;
    bool document; /* set by the command: the input is a document */
    int tokenizer; /* of BLEU: 1 + index into TOKENIZERS; 0: by the target language */
    int n_best;    /* 0: only the best, without a rank; N_BEST_ALL: the whole beam */
    char *alignment;
    int level;
    bool word_scores, json, json_input, confidence, attention;
    char *prefix, *prefix_file;
    int mbr;
    double mbr_scale;
    /* crop, split, quiet, search.shortlist, search.alternatives and search.decode are options;
     * translate_options_apply sets the rest of `search`. */
    TranslatorOptions translator;
} TranslateOptions;

enum { N_BEST_ALL = 1000000 };

extern const Option TRANSLATE_OPTIONS[];

/* Sets `style`, and the search options that the output needs; search.decode is complete already.
 * STATUS_USAGE if options contradict each other, or the models cannot do what they ask for. */
Status translate_options_apply(TranslateOptions *options, const Ensemble *models, OutputStyle *style);

#endif
