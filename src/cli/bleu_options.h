/* bleu_options.h - the command line of `attn-mt bleu`: sacreBLEU's options and a few of our own. */
#ifndef CLI_BLEU_OPTIONS_H
#define CLI_BLEU_OPTIONS_H

#include "base/options.h"
#include "base/status.h"
#include "metrics/bleu.h"
#include "metrics/chrf.h"

/* The release of sacreBLEU whose results and output these are: what signatures say after "version:". */
#define BLEU_COMPATIBLE_VERSION "2.6.0"

typedef enum { BLEU_FORMAT_JSON, BLEU_FORMAT_TEXT, BLEU_FORMAT_LATEX } BleuFormat;
#define BLEU_FORMAT_CHOICES "json|text|latex"

typedef struct {
    StrList references; /* --reference first, then positional */
    StrList inputs;
    int num_refs;
    StrList models;
    char *source;
    int threads, beam_size;

    StrList metrics;
    bool sentence_level;
    int d2l; /* 0: not asked for */

    int smoothing, tokenizer;
    double smooth_value; /* NAN: the method's own */
    bool lowercase, force;

    int chrf_char_order, chrf_word_order, chrf_beta;
    bool chrf_whitespace, chrf_lowercase, chrf_eps_smoothing;

    bool confidence, paired_ar, paired_bs;
    int confidence_n, paired_ar_n, paired_bs_n, paired_jobs;

    bool quiet, short_signature, score_only, no_color;
    int width;
    int format;
} BleuCommand;

/* Fill `command` from the command line and the environment. With --help, *help is set and nothing else counts.
 * Release with bleu_options_free in any case. */
Status bleu_options_parse(BleuCommand *command, int argc, char **argv, bool *help);
Status bleu_options_print_help(void);
void bleu_options_free(BleuCommand *command);

/* The options of the metrics themselves. */
BleuOptions bleu_options_bleu(const BleuCommand *command);
ChrfOptions bleu_options_chrf(const BleuCommand *command);

#endif
