/* translator.h - lines of raw text in, translations out.
 *
 * A line is cut into chunks if it is too long; chunks are cut into tokens, translated, and joined again.
 * Chunks are sorted by length and searched in groups on all threads; neither the groups nor the number of
 * threads change any result.
 *
 *   Copies      White space at the start and the end of a line stays, byte for byte. A line or a sentence
 *               without a letter outside of placeholders (text/copied_text.h) is copied.
 *   Spelling    Characters that a vocabulary does not know are spelled otherwise (tokenizer/respell.h). Text
 *               in capitals is translated in small letters if the vocabulary knows only these, and its
 *               translation is written in capitals. Words and symbols that the first model cannot spell
 *               (tokenizer/unknown_words.h) are taken out, and put back by the attention weights as below.
 *   Raw         with options.raw the two above are off, and so is the end of loops (search/repetition.h):
 *               models read the text of the line as it is, and the translation is what they write. The white
 *               space around the line is for the tokenizer to treat.
 *   Paragraphs  with options.split lines are cut into sentences (sentences.h). The white space between and
 *               around sentences stays, except that single spaces come and go with the script
 *               (translation.h). The k-th item of a translation joins the k-th hypotheses of all sentences.
 *   Languages   If a model has language tokens (tokenizer.h), each chunk of a line begins with the one that
 *               the line begins with, else with that of options.target_language, else with the only one.
 *   Long lines  over max_input_length tokens: cut at the end of a sentence if there is one in the last three
 *               quarters of the chunk, else at a comma or semicolon, else between words, else anywhere.
 *               Their translations are joined like those of sentences. With options.crop only the first
 *               chunk is translated. Both give a warning that names the line.
 *   Markup      with options.tags. The texts between breaks (text/markup.h) are translated separately. Models
 *               with reserved tokens (tokenizer/reserved_tokens.h) read these for placeholders at first. If
 *               no hypothesis of the beam agrees with the source, and with other models, the text is read
 *               with tags and placeholders in place. The best hypothesis of the beam that agrees
 *               with the source (text/marked_text.h) is taken. If there is none, the text is searched again
 *               with its placeholders as phrases that must occur (search/constraints.h). If that gives none
 *               either, or if a model cannot spell a placeholder, the text is translated without its markup,
 *               which is put back by the attention weights, or at its share of the text if the model has none
 *               (markup_restore.h). So each item of a translation agrees with its line. With
 *               options.tags_aside texts with tags are always translated without their markup.
 *   Memory      with options.memory. A line that is in the translation memory (memory_translate) is not
 *               translated: the memory's text is the only item, without tokens, and has the white space
 *               around the line. With options.split this holds for each sentence of a line, too. A line with
 *               a similar one in the memory is translated; out[i].match has the similar one. Lines with
 *               constraints of their own are always translated.
 *   Pivot       with options.pivot. It translates the lines first; the models read its translations. Scores,
 *               attention and the tokens of the source are then those of the last translation.
 *   Threads     one call at a time
 */
#ifndef TRANSLATE_TRANSLATOR_H
#define TRANSLATE_TRANSLATOR_H

#include "base/workers.h"
#include "text/accelerators.h"
#include "translate/glossary.h"
#include "postprocess/translation.h"

typedef struct Translator Translator;

typedef struct {
    SearchOptions search;
    bool crop;              /* crop long lines instead of translating them in chunks */
    bool whole;             /* a line is one sentence, also if separators of lines are in it */
    bool split;             /* lines are paragraphs */
    bool wrapped;           /* a line end in a paragraph is a space, as in HTML */
    bool tags;              /* lines contain markup and placeholders, which come back as they are */
    bool tags_aside;        /* texts with tags are translated without their markup, which the attention puts
                             * back: for models that have not learned from texts with such tags */
    bool translate_symbols; /* also text without letters: the model learned to */
    bool raw;               /* models read lines as they are; not with `tags` */
    bool read_unknown;      /* models read <unk> for what they cannot spell; it is not put back */
    AcceleratorKind
        accelerator;          /* taken out of lines, and put back before a letter of the word that stands for
                                  * the one that had it (accelerator_place.h) */
    bool quiet;               /* no warnings about long lines and unmet constraints */
    char *target_language;    /* of models with language tokens, for lines without one; or NULL */
    const Glossary *glossary; /* for each sentence or chunk of a line separately; or NULL */
    const Memory *memory;     /* or NULL */
    double memory_threshold;  /* least similarity, over 0 */
    Translator *pivot;        /* translates lines into the language that the models read (pivot.h); or NULL */
    /* Called after each group with the translated fraction of all source tokens, by one thread at a time; or
     * NULL. */
    void (*progress)(void *context, double fraction);
    void *progress_context;
} TranslatorOptions;

/* STATUS_USAGE if the models cannot work together or do not have the target language, or the first one lacks
 * the attention that the options need. `models` (one or more) and `workers` must outlive the translator. */
Status translator_new(Translator **translator, const Seq2Seq *const *models, int count,
                      const TranslatorOptions *options, Workers *workers);
void translator_free(Translator *translator);

/* Constraints of a line (search/constraints.h). If the line is cut into sentences or chunks, the first one
 * gets them. */
typedef struct {
    StrView prefix;
    const StrView *phrases; /* [phrase_count] */
    int phrase_count;
} LineConstraints;

/* Lines with phrases, or with terms of the glossary that the model does not write by itself, are searched
 * with at least this beam. */
enum { CONSTRAINTS_BEAM = 5 };

/* Translates lines [count]; `first_number` is the number of the first one, for warnings. `constraints`
 * [count], or NULL. Translations list the phrases and terms that are met, and those that are not: these
 * cause a warning. A line whose translation lacks terms of the glossary is searched again with the terms as
 * phrases. That translation is taken unless a term stands behind the end of its sentence, or it is empty,
 * repeats a phrase, or ends at the length limit, and the first one does not. A phrase is met if every chunk
 * that requires it contains it; in a blank line none is. */
void translator_run(Translator *translator, const StrView *lines, const LineConstraints *constraints,
                    int count, long first_number, Translation *out);
/* Scores given translations: one item each. Long lines are not cut. */
void translator_force(Translator *translator, const StrView *lines, const StrView *targets, int count,
                      Translation *out);
/* The first model with a score that was not finite so far; -1: none. Translations with such scores are
 * meaningless. */
int translator_first_nonfinite(const Translator *translator);
/* STATUS_DATA, with its path among those of the models, if there is such a model. */
Status translator_check_finite(const Translator *translator, const StrList *paths);
/* Lines with several sentences so far, which were translated without `split`. */
long translator_unsplit(const Translator *translator);
/* Target tokens of all translations so far. */
long translator_tokens(const Translator *translator);

/* Greedy translation of tokens, for validation in training: results [count], one hypothesis each, with
 * scores; release each with hypotheses_free. `progress`: as in TranslatorOptions. */
void translator_greedy(const Seq2Seq *model, const Tokens *sources, int count, const DecodeOptions *options,
                       Workers *workers, void (*progress)(void *context, double fraction), void *context,
                       HypothesisList *results);

#endif
