/* translate_options.c - see translate_options.h. */
#include "cli/translate_options.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "bleu/bleu_tokenizers.h"
#include "translate/mbr.h"
#include "search/rescore.h"

#define FIELD(member) OPT_FIELD(TranslateOptions, member)

/* clang-format off */
const Option TRANSLATE_OPTIONS[] = {
    {.flag = "model", .common = true, .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "FILE",
     .help = "model to translate with; several models form an ensemble: models of one direction average "
             "their predictions of each token, models of the other direction "
             "(model.decoder.right_to_left) rescore whole translations", .group = "Input and output"},
    {.flag = "input", .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE",
     .help = "text to translate, one sentence per line; .gz files too; default: standard input"},
    {.flag = "output", .common = true, .letter = 'o', .type = OPT_STRING, FIELD(output), .default_text = "-",
     .arg = "FILE",
     .help = "output file; it is replaced only when everything is done"},
    {.flag = "threads", .common = true, .type = OPT_INT, FIELD(threads), .default_text = "0",
     .max = 1024, .arg = "N",
     .help = "number of threads, 0 = one per core; the result does not depend on it"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .default_text = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "number format of the weights; fewer bits are faster and take less memory, but can change a "
             "few words; files of attn-mt convert keep their own format"},
    {.flag = "shortlist", .type = OPT_INT, FIELD(shortlist), .default_text = "0", .max = SHORTLIST_MOST,
     .arg = "N",
     .help = "consider only the N most frequent target tokens and N likely translations of each source "
             "token; this is faster, but can change a few words; try 50; 0 = all tokens"},
    {.flag = "reference", .common = true, .letter = 'r', .type = OPT_LIST, FIELD(references),
     .arg = "FILE",
     .help = "reference translations; prints BLEU and chrF on standard error at the end"},
    {.flag = "report", .type = OPT_STRING, FIELD(report), .needs = "reference", .arg = "FILE",
     .help = "write these scores to FILE as JSON, in sacreBLEU's format"},
    {.flag = "tokenize", .type = OPT_CHOICE, FIELD(tokenizer), .default_text = "auto",
     .choices = "auto|" BLEU_TOKENIZER_CHOICES, .needs = "reference", .arg = "NAME",
     .help = "tokenizer of BLEU; auto: zh for Chinese, char for other target languages without spaces, "
             "otherwise 13a"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(quiet),
     .default_text = "false",
     .help = "print no warnings and no summary"},
    {.flag = "n-best", .common = true, .type = OPT_INT, FIELD(n_best), .default_text = "0", .implied_value = "1000000",
     .max = N_BEST_ALL, .arg = "N",
     .help = "print the N best translations in Moses format, without N the whole beam; fewer if some of "
             "them are equal",
     .group = "Output format"},
    {.flag = "alignment", .common = true, .type = OPT_STRING, FIELD(alignment), .default_text = "none",
     .choices = "none|hard|soft", .implied_value = "hard", .arg = "STYLE",
     .help = "add word alignments; hard: the best source word of each target word; a number: all pairs "
             "with at least this weight; soft: all attention weights, including those of </s>"},
    {.flag = "alignment-level", .type = OPT_CHOICE, FIELD(level), .default_text = "word",
     .choices = ALIGNMENT_LEVELS, .needs = "alignment|attention", .arg = "LEVEL",
     .help = "align words, or the model's subwords"},
    {.flag = "word-scores", .type = OPT_BOOL, FIELD(word_scores), .default_text = "false",
     .help = "add log p of each token and of </s>; for lines translated in several sentences or chunks "
             "only the final </s> is shown, though the score counts all"},
    {.flag = "json", .common = true, .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print one JSON object per line; its fields are text, translation, score, normalized_score, "
             "tokens, source_tokens, and those of other options"},
    {.flag = "json-input", .type = OPT_BOOL, FIELD(json_input), .default_text = "false",
     .help = "read one JSON object per line, with \"text\" and optionally \"prefix\" and \"constraints\" "
             "(a list of words that the translation must contain; constraints_met and constraints_unmet "
             "tell the result); print JSON, and pass other fields on; a line that cannot be read is "
             "answered by {\"error\": ...}, and the exit status is 3"},
    {.flag = "alternatives", .type = OPT_INT, FIELD(alternatives), .default_text = "0", .max = 1000, .arg = "N",
     .help = "JSON: add the N best tokens at each position of the translation, with log p; for a model "
             "with two decoders, those of the first"},
    {.flag = "confidence", .type = OPT_BOOL, FIELD(confidence), .default_text = "false",
     .help = "JSON: add the confidence of each word and of the line, from 0 to 1"},
    {.flag = "attention", .type = OPT_BOOL, FIELD(attention), .default_text = "false",
     .help = "draw the attention weights of each translation on standard error"},
    {.flag = "max-length-crop", .type = OPT_BOOL, FIELD(crop), .default_text = "false",
     .help = "crop lines longer than --max-input-length instead of translating them in chunks",
     .group = "Long lines"},
    {.flag = "split", .common = true, .type = OPT_BOOL, FIELD(split), .default_text = "false",
     .help = "lines are paragraphs; translate sentence by sentence, and preserve the white space between "
             "and around the sentences"},
    {.flag = "tags", .common = true, .type = OPT_BOOL, FIELD(tags), .default_text = "false",
     .help = "preserve markup (<b> </b> <br/>), placeholders ({0} %s) and entities (&nbsp;); they are "
             "removed before translation and put back where the attention points; markup in prefixes is "
             "only removed"},
    {.flag = "prefix", .type = OPT_STRING, FIELD(prefix), .arg = "TEXT",
     .help = "begin the translation of each line with TEXT; the model may complete its last word, unless "
             "TEXT ends with a space",
     .group = "Constraints"},
    {.flag = "prefix-file", .type = OPT_STRING, FIELD(prefix_file), .arg = "FILE",
     .help = "the same with a prefix for each line; one prefix per line"},
    {.flag = "glossary", .common = true, .type = OPT_LIST, FIELD(glossaries), .arg = "FILE",
     .help = "use the terms in FILE, lines of SOURCE TAB TARGET; if a sentence contains the words SOURCE, "
             "its translation must contain TARGET, if possible where the attention is on SOURCE; case "
             "matters unless the model lowercases text; such translations are compared by log p, "
             "regardless of --length-penalty"},
    {.flag = "mbr", .type = OPT_CHOICE, FIELD(mbr), .default_text = "none", .choices = MBR_CHOICES,
     .arg = "SCORE",
     .help = "minimum Bayes risk: choose the translation in the beam that agrees best with the whole beam "
             "by this score; use a beam of 10 or more",
     .group = "Choice from the beam"},
    {.flag = "mbr-scale", .type = OPT_REAL, FIELD(mbr_scale), .default_text = "1", .max = 100, .needs = "mbr",
     .arg = "X",
     .help = "weight of a translation of probability p in this choice: p^X; 0 = equal weights"},
    {0}};
/* clang-format on */

/* "none", "hard", "soft", or the least weight of a pair. */
static Status read_alignment(const char *text, OutputStyle *style) {
    char *end;
    double number = strtod(text, &end);
    if (strcmp(text, "none") == 0) {
        style->alignment = ALIGN_NONE;
    } else if (strcmp(text, "soft") == 0) {
        style->alignment = ALIGN_SOFT;
    } else if (strcmp(text, "hard") == 0) {
        style->alignment = ALIGN_HARD;
    } else if (end > text && !*end && number > 0 && number <= 1) {
        style->alignment = ALIGN_HARD;
        style->threshold = number;
    } else {
        status_fail(STATUS_USAGE, "option '--alignment': '%s' is not none, hard, soft or a weight up to 1",
                    text);
        return status_hint(STATUS_USAGE,
                           "options with optional values take them behind '=': --alignment=0.2");
    }
    return STATUS_OK;
}

static Status check_mbr(const TranslateOptions *options, int beam) {
    if (!options->mbr) return STATUS_OK;
    if (options->alternatives > 0)
        return status_fail(STATUS_USAGE,
                           "--alternatives belong to the most probable translation, and --mbr may "
                           "choose another");
    if (beam > 1) return STATUS_OK;
    status_fail(STATUS_USAGE, "--mbr chooses among the translations of a beam, but --beam-size is 1");
    return status_hint(STATUS_USAGE, "add --beam-size 12");
}

static Status choose_output(const TranslateOptions *options, const Ensemble *models, OutputStyle *style,
                            SearchOptions *search) {
    int beam = search->decode.beam_size, n_best = options->n_best == N_BEST_ALL ? beam : options->n_best;
    if (n_best > beam) {
        status_fail(STATUS_USAGE, "--n-best=%d needs a beam as wide, but --beam-size is %d", n_best, beam);
        return status_hint(STATUS_USAGE, "add --beam-size %d", n_best);
    }
    if (options->alternatives > 0 && !options->json && !options->json_input) {
        status_fail(STATUS_USAGE, "--alternatives are lists, which do not fit in a line of text");
        return status_hint(STATUS_USAGE, "add --json");
    }
    TRY(check_mbr(options, beam));
    *style = (OutputStyle){.json = options->json || options->json_input,
                           .word_scores = options->word_scores,
                           .alternatives = options->alternatives > 0,
                           .n_best = n_best,
                           .level = (AlignmentLevel)options->level,
                           .source = seq2seq_source(models->items[0]),
                           .target = seq2seq_target(models->items[0])};
    TRY(read_alignment(options->alignment, style));
    if (options->shortlist > 0) TRY(ensemble_check_shortlists(models, &options->models));
    search->shortlist = options->shortlist;
    search->n_best = options->mbr || n_best > 1 ? beam : 1; /* some may be copies of others */
    search->alternatives = options->alternatives;
    search->tokens_only = !style->json && !style->word_scores && n_best == 0;
    search->attention = style->alignment != ALIGN_NONE || options->attention || options->tags;
    search->choice = (AttentionChoice){ATTENTION_MEAN, ATTENTION_MEAN};
    return STATUS_OK;
}

/* Calibrated, if the one model says how, and writes as it did then: with both decoders, or with one. */
static Status choose_confidence(const TranslateOptions *options, const Ensemble *models,
                                const DecodeOptions *decode, OutputStyle *style) {
    const Config *config = seq2seq_config(models->items[0]);
    bool otherwise =
        config->model.decoder_bidirectional && decode->left_to_right != config->decode.left_to_right;
    style->confidence = options->confidence;
    if (!style->confidence) return STATUS_OK;
    if (!style->json)
        return status_hint(status_fail(STATUS_USAGE, "--confidence is written as JSON only"), "add --json");
    if (models->count == 1 && !otherwise)
        style->calibration = calibration_read(strbuf_view(&models->provenance));
    if (style->calibration.words == 0 && !options->quiet)
        log_warn("%s: confidence is the geometric mean of token probabilities",
                 models->count > 1       ? "several models have no calibration"
                 : !otherwise            ? "the model has no calibration"
                 : decode->left_to_right ? "the calibration is of both decoders"
                                         : "the calibration is of the first decoder alone");
    return STATUS_OK;
}

/* What says how translations begin needs models that begin there. */
static Status check_constraints(const TranslateOptions *options, const Seq2Seq *model) {
    const char *what = options->prefix             ? "--prefix"
                       : options->prefix_file      ? "--prefix-file"
                       : options->glossaries.count ? "--glossary"
                       : options->json_input       ? "--json-input"
                                                   : NULL;
    return what ? model_require_left_to_right(model, what) : STATUS_OK;
}

Status translate_options_apply(const TranslateOptions *options, const Ensemble *models, OutputStyle *style,
                               TranslatorOptions *translating) {
    TRY(check_constraints(options, models->items[0]));
    TRY(choose_output(options, models, style, &translating->search));
    translating->crop = options->crop;
    translating->split = options->split;
    translating->quiet = options->quiet;
    return choose_confidence(options, models, &translating->search.decode, style);
}
