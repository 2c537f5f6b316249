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
     .help = "model to translate with; several vote on each token, those of different directions "
             "(model.decoder.right_to_left) on whole translations", .group = "Input and output"},
    {.flag = "input", .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE",
     .help = "text to translate, one sentence a line, .gz too; default: standard input"},
    {.flag = "output", .common = true, .letter = 'o', .type = OPT_STRING, FIELD(output), .default_text = "-",
     .arg = "FILE",
     .help = "where translations go; a file is replaced only when all is done"},
    {.flag = "threads", .common = true, .type = OPT_INT, FIELD(threads), .default_text = "0",
     .max = 1024, .arg = "N", .help = "threads; they decide only the time; 0 = one per core"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .default_text = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "numbers that weights are kept in: fewer bits are faster and take less memory, and can change a "
             "word here and there; files of attn-mt convert keep their own"},
    {.flag = "shortlist", .type = OPT_INT, FIELD(shortlist), .default_text = "0", .max = SHORTLIST_MOST,
     .arg = "N",
     .help = "choose among the N most frequent target tokens and the N likely translations of each source "
             "token alone: faster, and can change a word here and there; try 50; 0 = all tokens"},
    {.flag = "reference", .common = true, .letter = 'r', .type = OPT_LIST, FIELD(references),
     .arg = "FILE",
     .help = "translations of the input by others: BLEU and chrF against them on standard error at the end"},
    {.flag = "report", .type = OPT_STRING, FIELD(report), .needs = "reference", .arg = "FILE",
     .help = "write these scores as JSON, in sacreBLEU's form"},
    {.flag = "tokenize", .type = OPT_CHOICE, FIELD(tokenizer), .default_text = "auto",
     .choices = "auto|" BLEU_TOKENIZER_CHOICES, .needs = "reference", .arg = "NAME",
     .help = "tokenizer of BLEU; auto: zh or char where the model writes Chinese or another language without "
             "spaces, else 13a"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(quiet),
     .default_text = "false", .help = "no warnings, no figures at the end"},
    {.flag = "n-best", .common = true, .type = OPT_INT, FIELD(n_best), .default_text = "0", .implied_value = "1000000",
     .max = N_BEST_ALL, .arg = "N",
     .help = "print the N best, in Moses format, without N as many as the beam is wide; fewer if the beam "
             "holds fewer that differ",
     .group = "What is printed"},
    {.flag = "alignment", .common = true, .type = OPT_STRING, FIELD(alignment), .default_text = "none",
     .choices = "none|hard|soft", .implied_value = "hard", .arg = "STYLE",
     .help = "add the best source word of each target word (hard), pairs with a weight of at least STYLE if "
             "that is a number, or all attention weights (soft, with those of </s>)"},
    {.flag = "alignment-level", .type = OPT_CHOICE, FIELD(level), .default_text = "word",
     .choices = ALIGNMENT_LEVELS, .needs = "alignment|attention", .arg = "LEVEL",
     .help = "align words, or the subwords the model works on"},
    {.flag = "word-scores", .type = OPT_BOOL, FIELD(word_scores), .default_text = "false",
     .help = "add log p of each token and of </s>; of a line in sentences or pieces only that of the last "
             "</s>, though the score counts all"},
    {.flag = "json", .common = true, .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print one JSON object a line: text, translation, score, normalized_score, tokens, "
             "source_tokens, and what other options add"},
    {.flag = "json-input", .type = OPT_BOOL, FIELD(json_input), .default_text = "false",
     .help = "read objects with a \"text\", and perhaps a \"prefix\" and \"constraints\" (a list of "
             "words that must appear; constraints_met and constraints_unmet tell which do); prints JSON, "
             "and passes other fields on. A line that cannot be read is answered by {\"error\": ...}, and "
             "the exit status is 3 at the end"},
    {.flag = "alternatives", .type = OPT_INT, FIELD(alternatives), .default_text = "0", .max = 1000, .arg = "N",
     .help = "JSON: add the N best next tokens at each position of the translation, with log p; of two "
             "decoders, as the first sees them"},
    {.flag = "confidence", .type = OPT_BOOL, FIELD(confidence), .default_text = "false",
     .help = "with JSON: how sure the model is, from 0 to 1, of each word and of the whole"},
    {.flag = "attention", .type = OPT_BOOL, FIELD(attention), .default_text = "false",
     .help = "draw the attention weights of each translation on standard error"},
    {.flag = "max-length-crop", .type = OPT_BOOL, FIELD(crop), .default_text = "false",
     .help = "crop lines longer than --max-input-length instead of translating them in pieces",
     .group = "Long lines"},
    {.flag = "split", .common = true, .type = OPT_BOOL, FIELD(split), .default_text = "false",
     .help = "lines are paragraphs: translate sentence by sentence; the white space between and around them "
             "stays"},
    {.flag = "tags", .common = true, .type = OPT_BOOL, FIELD(tags), .default_text = "false",
     .help = "take markup (<b> </b> <br/>), placeholders ({0} %s) and entities (&nbsp;) out, and put them "
             "back where the attention says; markup in prefixes is only taken out"},
    {.flag = "prefix", .type = OPT_STRING, FIELD(prefix), .arg = "TEXT",
     .help = "every translation begins with this, of a paragraph its first sentence; a word at its end may "
             "be completed unless a space follows",
     .group = "Guided translation"},
    {.flag = "prefix-file", .type = OPT_STRING, FIELD(prefix_file), .arg = "FILE",
     .help = "the same for each line: one prefix a line"},
    {.flag = "glossary", .common = true, .type = OPT_LIST, FIELD(glossaries), .arg = "FILE",
     .help = "lines of SOURCE TAB TARGET: where the words SOURCE appear in a sentence, in the same case "
             "unless the model lowers it, its translation must have TARGET, where the attention is on "
             "SOURCE if it may be; such translations are compared by log p, whatever --length-penalty says"},
    {.flag = "mbr", .type = OPT_CHOICE, FIELD(mbr), .default_text = "none", .choices = MBR_CHOICES,
     .arg = "SCORE", .help = "minimum Bayes risk: of the beam's translations take the one that agrees best "
                             "with all of them by this score; give a beam of 10 or more",
     .group = "Choice from the beam"},
    {.flag = "mbr-scale", .type = OPT_REAL, FIELD(mbr_scale), .default_text = "1", .max = 100, .needs = "mbr",
     .arg = "X",
     .help = "how much more the more probable ones count there, p^X; 0 = all alike"},
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
