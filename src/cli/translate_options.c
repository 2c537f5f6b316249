/* translate_options.c - see translate_options.h. */
#include "cli/translate_options.h"

#include <stdlib.h>
#include <string.h>
#include "base/log.h"
#include "bleu/bleu_tokenizers.h"
#include "documents/document.h"
#include "search/rescore.h"
#include "postprocess/mbr.h"

#define FIELD(member) OPT_FIELD(TranslateOptions, member)

/* clang-format off */
const Option TRANSLATE_OPTIONS[] = {
    {.flag = "model", .common = true, .letter = 'm', .type = OPT_LIST, FIELD(models), .arg = "MODEL",
     .help = "name, file or folder of a run; several models form an ensemble, which may also include "
             "right-to-left models (model.decoder.right_to_left)",
     .group = "Input and output"},
    {.flag = "languages", .common = true, .type = OPT_STRING, FIELD(languages), .arg = "SRC-TRG",
     .help = "source and target language, such as en-de or auto-de; without --model they choose "
             "the model"},
    {.flag = "no-pivot", .type = OPT_BOOL, FIELD(no_pivot), .default_text = "false",
     .help = "do not translate through another language if no model has both --languages"},
    {.flag = "input", .letter = 'i', .type = OPT_LIST, FIELD(inputs), .arg = "FILE",
     .help = "text with one sentence per line, or a document; .gz files too; default: standard input"},
    {.flag = "format", .common = true, .type = OPT_CHOICE, FIELD(format), .default_text = "auto",
     .choices = "auto|lines|" DOCUMENT_FORMATS, .arg = "NAME",
     .help = "input format: lines, or a document; all but the text of a document stays unchanged; auto "
             "recognizes html, po, xliff, srt and vtt by content or name"},
    {.flag = "confident", .type = OPT_REAL, FIELD(confident), .default_text = "2", .max = 2, .arg = "X",
     .help = "PO and XLIFF: mark a translation as needing review (fuzzy in PO) if its confidence is below "
             "X; above 1: mark all"},
    {.flag = "fuzzy", .type = OPT_BOOL, FIELD(fuzzy), .default_text = "false",
     .help = "PO and XLIFF: also replace existing translations that need review"},
    {.flag = "output", .common = true, .letter = 'o', .type = OPT_STRING, FIELD(output), .default_text = "-",
     .arg = "FILE",
     .help = "output file; it is replaced only if the whole input could be translated"},
    {.flag = "threads", .common = true, .type = OPT_INT, FIELD(threads), .default_text = "0",
     .max = 1024, .arg = "N",
     .help = "number of threads, 0 = one per core; the translations do not depend on it"},
    {.flag = "precision", .type = OPT_CHOICE, FIELD(precision), .default_text = "float32",
     .choices = PRECISION_CHOICES, .arg = "KIND",
     .help = "number format of the weights; fewer bits are faster and need less memory, but can change some "
             "words; files of attn-mt convert keep their own format"},
    {.flag = "shortlist", .type = OPT_INT, FIELD(translator.search.shortlist), .default_text = "0",
     .max = SHORTLIST_MAX, .arg = "N",
     .help = "consider only the N most frequent target tokens and N likely translations of each source "
             "token; faster, but changes some translations (BLEU -1.2 to +1.0, more if the model is hardly "
             "trained); try 50; 0 = all tokens"},
    {.flag = "reference", .common = true, .letter = 'r', .type = OPT_LIST, FIELD(references),
     .arg = "FILE",
     .help = "reference translations of the input; prints BLEU and chrF on standard error at the end"},
    {.flag = "report", .type = OPT_STRING, FIELD(report), .needs = "reference", .arg = "FILE",
     .help = "write these scores as JSON, in sacreBLEU's form"},
    {.flag = "tokenize", .type = OPT_CHOICE, FIELD(tokenizer), .default_text = "auto",
     .choices = "auto|" BLEU_TOKENIZER_CHOICES, .needs = "reference", .arg = "NAME",
     .help = "tokenizer of BLEU; auto: zh for Chinese, char for other languages without spaces, otherwise "
             "13a"},
    {.flag = "quiet", .common = true, .letter = 'q', .type = OPT_BOOL, FIELD(translator.quiet),
     .default_text = "false", .help = "print only errors"},
    {.flag = "n-best", .common = true, .type = OPT_INT, FIELD(n_best), .default_text = "0",
     .implied_value = "1000000",
     .max = N_BEST_ALL, .arg = "N",
     .help = "print the N best translations in the format of Moses; without N, all of the beam; fewer if "
             "the beam has fewer different ones",
     .group = "What to print"},
    {.flag = "alignment", .common = true, .type = OPT_STRING, FIELD(alignment), .default_text = "none",
     .choices = "none|hard|soft", .implied_value = "hard", .arg = "STYLE",
     .help = "add an alignment; hard: the source word with the greatest weight for each target word; a "
             "number: all pairs with at least this weight; soft: all attention weights, also those of </s>"},
    {.flag = "alignment-level", .type = OPT_CHOICE, FIELD(level), .default_text = "word",
     .choices = ALIGNMENT_LEVELS, .needs = "alignment|attention", .arg = "LEVEL",
     .help = "align words, or the subwords of the model"},
    {.flag = "word-scores", .type = OPT_BOOL, FIELD(word_scores), .default_text = "false",
     .help = "add log p of each token and of </s>; if a line has several sentences or chunks, only the last "
             "</s> is shown, but the score includes all"},
    {.flag = "json", .common = true, .type = OPT_BOOL, FIELD(json), .default_text = "false",
     .help = "print one JSON object per line; it has text, translation, score, normalized_score, tokens, "
             "source_tokens, problems if there are any (empty, repetition, length_limit), and the values "
             "that other options add"},
    {.flag = "json-input", .type = OPT_BOOL, FIELD(json_input), .default_text = "false",
     .help = "read JSON objects with \"text\", optionally \"prefix\" and \"constraints\" (a list of phrases "
             "that the translation must contain); prints JSON, in which constraints_met and "
             "constraints_unmet list the phrases; other fields are copied. A line that cannot be read gives "
             "{\"error\": ...}, and the exit status is 3 at the end"},
    {.flag = "alternatives", .type = OPT_INT, FIELD(translator.search.alternatives), .default_text = "0",
     .max = 1000, .arg = "N",
     .help = "with JSON: add the N most probable tokens at each position of the translation; a model with "
             "two decoders shows those of the first"},
    {.flag = "confidence", .type = OPT_BOOL, FIELD(confidence), .default_text = "false",
     .help = "with JSON: add the confidence of the model, from 0 to 1, in each word and in the translation"},
    {.flag = "attention", .type = OPT_BOOL, FIELD(attention), .default_text = "false",
     .help = "draw the attention weights of each translation on standard error"},
    {.flag = "max-length-crop", .type = OPT_BOOL, FIELD(translator.crop), .default_text = "false",
     .help = "crop lines longer than --max-input-length instead of translating them in chunks",
     .group = "Long lines"},
    {.flag = "split", .common = true, .type = OPT_BOOL, FIELD(translator.split), .default_text = "false",
     .help = "translate each line sentence by sentence, as a paragraph; white space between and around "
             "sentences stays"},
    {.flag = "tags", .common = true, .type = OPT_BOOL, FIELD(translator.tags), .default_text = "false",
     .help = "keep placeholders ({0} %s ${x} URLs) and tags (<b> </b> <br/>) exactly as the source has "
             "them; characters that the source writes as entities (&nbsp;) stay entities; markup in "
             "prefixes is removed"},
    {.flag = "accelerator", .type = OPT_CHOICE, FIELD(translator.accelerator), .default_text = "none",
     .choices = ACCELERATOR_CHOICES, .arg = "MARK",
     .help = "remove the mark of an accelerator key (&File, _Open) before translating, and put it into the "
             "translation of its word; auto: & or _"},
    {.flag = "raw", .type = OPT_BOOL, FIELD(translator.raw), .default_text = "false",
     .help = "give each line to the model as it is, and print its output as it is: copy nothing, do not "
             "respell or lowercase unknown words, do not end loops early, and drop white space at both ends "
             "of a line"},
    {.flag = "target-language", .type = OPT_STRING, FIELD(translator.target_language), .arg = "NAME",
     .help = "translate to NAME, such as fra, unless the line begins with a token such as >>fra<<; only for "
             "models with several target languages, which attn-mt inspect lists"},
    {.flag = "prefix", .type = OPT_STRING, FIELD(prefix), .arg = "TEXT",
     .help = "begin every translation with TEXT; with --split, only the first sentence of each line; the "
             "model may complete the last word of TEXT unless a space follows it",
     .group = "Constraints"},
    {.flag = "prefix-file", .type = OPT_STRING, FIELD(prefix_file), .arg = "FILE",
     .help = "like --prefix, with a prefix of its own for each line; one prefix per line"},
    {.flag = "glossary", .common = true, .type = OPT_LIST, FIELD(glossaries), .arg = "FILE",
     .help = "terms, in lines of SOURCE TAB TARGET; the translation of a sentence that contains SOURCE must "
             "contain TARGET, if possible where the attention is on SOURCE. Upper and lower case must agree, "
             "unless the model lowercases text. With a first line such as 'en TAB de TAB forms' other forms "
             "of the words match, too. Such translations are compared by log p, without --length-penalty"},
    {.flag = "memory", .common = true, .type = OPT_LIST, FIELD(memories), .arg = "FILE",
     .help = "translation memory, in any format of pairs; a line of the memory is not translated but gets "
             "the translation there; with --split so does a sentence; for other lines --json shows the most "
             "similar entry"},
    {.flag = "memory-threshold", .type = OPT_REAL, FIELD(translator.memory_threshold),
     .default_text = "0.75", .min = 0.3, .max = 1, .needs = "memory", .arg = "X",
     .help = "minimum similarity, 1 - edit distance / length, of an entry of the memory that is shown; 1 = "
             "only identical lines"},
    {.flag = "mbr", .type = OPT_CHOICE, FIELD(mbr), .default_text = "none", .choices = MBR_CHOICES,
     .arg = "SCORE",
     .help = "minimum Bayes risk: choose the translation of the beam that is most similar to all others by "
             "this score; use a beam of 10 or more",
     .group = "Choice from the beam"},
    {.flag = "mbr-scale", .type = OPT_REAL, FIELD(mbr_scale), .default_text = "1", .max = 100, .needs = "mbr",
     .arg = "X",
     .help = "weight of each translation in --mbr: its probability to the power of X; 0 = equal weights"},
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
        return status_hint(STATUS_USAGE, "options with optional values take them after '=': --alignment=0.2");
    }
    return STATUS_OK;
}

static Status check_mbr(const TranslateOptions *options, int beam) {
    if (!options->mbr) return STATUS_OK;
    if (options->translator.search.alternatives > 0)
        return status_fail(STATUS_USAGE,
                           "--alternatives belong to the most probable translation, and --mbr may "
                           "choose another");
    if (beam > 1) return STATUS_OK;
    status_fail(STATUS_USAGE, "--mbr chooses among the translations of a beam, but --beam-size is 1");
    return status_hint(STATUS_USAGE, "add --beam-size 12");
}

static Status choose_output(TranslateOptions *options, const Ensemble *models, OutputStyle *style) {
    SearchOptions *search = &options->translator.search;
    int beam = search->decode.beam_size, n_best = options->n_best == N_BEST_ALL ? beam : options->n_best;
    if (n_best > beam) {
        status_fail(STATUS_USAGE, "--n-best=%d needs a beam of at least that size, but --beam-size is %d",
                    n_best, beam);
        return status_hint(STATUS_USAGE, "add --beam-size %d", n_best);
    }
    if (search->alternatives > 0 && !options->json && !options->json_input) {
        status_fail(STATUS_USAGE, "--alternatives are lists, which a line of text cannot show");
        return status_hint(STATUS_USAGE, "add --json");
    }
    TRY(check_mbr(options, beam));
    *style = (OutputStyle){.json = options->json || options->json_input,
                           .word_scores = options->word_scores,
                           .alternatives = search->alternatives > 0,
                           .memory = options->memories.count > 0,
                           .n_best = n_best,
                           .level = (AlignmentLevel)options->level,
                           .source = seq2seq_source(models->items[0]),
                           .target = seq2seq_target(models->items[0])};
    TRY(read_alignment(options->alignment, style));
    if (search->shortlist > 0) TRY(ensemble_check_shortlists(models, &options->models));
    search->n_best = options->mbr || n_best > 1 ? beam : 1; /* some items may have the same text */
    search->tokens_only = !style->json && !style->word_scores && n_best == 0 && !options->document;
    search->attention = style->alignment != ALIGN_NONE || options->attention;
    search->choice = (AttentionChoice){ATTENTION_MEAN, ATTENTION_MEAN};
    return STATUS_OK;
}

/* A calibration is valid for its model alone, and for the decoders that wrote the translations it was fitted
 * to. */
static Status choose_confidence(const TranslateOptions *options, const Ensemble *models, OutputStyle *style) {
    const Config *config = seq2seq_config(models->items[0]);
    bool left_to_right = options->translator.search.decode.left_to_right;
    bool other_decoders =
        config->model.decoder_bidirectional && left_to_right != config->decode.left_to_right;
    style->confidence = options->confidence;
    if (!style->confidence && !options->document) return STATUS_OK;
    if (!style->json && !options->document)
        return status_hint(status_fail(STATUS_USAGE, "--confidence is shown only in JSON"), "add --json");
    if (models->count == 1 && !other_decoders)
        style->calibration = calibration_read(strbuf_view(&models->provenance));
    bool used = style->confidence || options->confident <= 1;
    if (style->calibration.words == 0 && used && !options->translator.quiet)
        log_warn("%s: confidence is the geometric mean of token probabilities",
                 models->count > 1 ? "several models have no calibration"
                 : !other_decoders ? "the model has no calibration"
                 : left_to_right   ? "the calibration is of both decoders"
                                   : "the calibration is of the first decoder alone");
    return STATUS_OK;
}

/* Constraints need a first model that writes from left to right. */
static Status check_constraints(const TranslateOptions *options, const Seq2Seq *model) {
    const char *option = options->prefix             ? "--prefix"
                         : options->prefix_file      ? "--prefix-file"
                         : options->glossaries.count ? "--glossary"
                         : options->json_input       ? "--json-input"
                                                     : NULL;
    return option ? model_require_left_to_right(model, option) : STATUS_OK;
}

static Status check_raw(const TranslateOptions *options) {
    const TranslatorOptions *t = &options->translator;
    if (!t->raw || (!t->tags && t->accelerator == ACCELERATOR_NONE)) return STATUS_OK;
    status_fail(STATUS_USAGE, "--raw leaves the text as it is; %s",
                options->document ? "documents are taken apart"
                : t->tags         ? "--tags takes markup out of it"
                                  : "--accelerator takes marks out of it");
    return status_hint(STATUS_USAGE, "give one of them");
}

Status translate_options_apply(TranslateOptions *options, const Ensemble *models, OutputStyle *style) {
    TRY(check_raw(options));
    options->translator.search.keep_loops = options->translator.raw;
    TRY(check_constraints(options, models->items[0]));
    TRY(choose_output(options, models, style));
    return choose_confidence(options, models, style);
}
