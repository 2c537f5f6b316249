/* chunks.h - the chunks of lines: the texts that are searched, with what belongs to each.
 *
 * Owner   chunks_free releases all
 */
#ifndef TRANSLATE_CHUNKS_H
#define TRANSLATE_CHUNKS_H

#include "base/arena.h"
#include "translate/translator.h"

/* The words that a chunk must contain: the target of each; a phrase of the line has no source. */
typedef struct {
    const GlossaryTerm *terms;
    int count;
} RequiredTerms;

/* What a translator remembers of its lines. */
typedef struct {
    bool warned_of_prefix, warned_of_language;
    long unsplit; /* lines with several sentences, translated without options.split */
} LineNotes;

/* The chunks of all lines of a call. */
typedef struct {
    const Seq2Seq *const *models; /* [model_count] */
    int model_count;
    const TranslatorOptions *options;
    LineNotes *notes;
    int *line;               /* [count] the line of each */
    StrList *source_unknown; /* [count] texts of the first model's <unk>s */
    MarkedChunk *marked;     /* [count] */
    Markup *markups;         /* [lines] with options.tags, else NULL */
    bool any_marked;
    Tokens *sources;          /* [count, model_count] */
    Tokens *targets;          /* [count] given translations, or NULL */
    Constraints *constraints; /* [count], or NULL */
    RequiredTerms *required;  /* [count], or NULL */
    bool free_terms;          /* terms of the glossary are no constraints */
    StrView *texts;           /* [count] */
    bool *capitals;           /* [count] translated in small letters */
    StrView *gaps; /* [count + lines] the text before each chunk of a line, and after the last one */
    HypothesisList *results; /* [count] of the search, or NULL */
    int count, gap_count;
    size_t sources_capacity, targets_capacity, constraints_capacity, required_capacity, texts_capacity;
    size_t gaps_capacity, line_capacity, unknown_capacity, marked_capacity, capitals_capacity;
    Arena *arena;      /* of the ids, and of the lists of terms */
    StrView *language; /* [lines] the token that the line's chunks begin with, or empty */
    IdList ids;        /* scratch */
    StrBuf gap;        /* text of the translation memory before the next gap */
    bool *from_memory; /* [lines] has it such text? */
    StrList *unknown;  /* [lines] texts of the <unk>s in the given translation or prefix */
} Chunks;

/* Models, options and notes must outlive the chunks. */
Chunks chunks_new(const Seq2Seq *const *models, int model_count, const TranslatorOptions *options,
                  LineNotes *notes, int lines);
void chunks_free(Chunks *chunks, int lines);
/* The tokens of a text behind a language token, if `language` is not empty; without text there are none.
 * `unknown` may be NULL. They live as long as the chunks. */
Tokens chunks_tokens(Chunks *chunks, Tokenizer *tokenizer, StrView language, StrView text, StrList *unknown);
/* Sets the tokens that the models read for a chunk; false if the first model has none. */
bool chunks_encode(Chunks *chunks, int chunk, StrView text);

/* The functions that add a chunk of a line return false if it has nothing to translate. */

/* `marked` moves into the chunk, or is released. `capitals`: `text` is in small letters now. */
bool chunks_add(Chunks *chunks, int line, StrView text, MarkedChunk marked, bool capitals);
/* A part of a line in the spelling of the first model. `markup`: of the line, or NULL without markup. */
bool chunks_add_source(Chunks *chunks, int line, const Markup *markup, StrView source);

/* The text from `start` to `end` stands, after `gap`, before the next chunk or after the last of a line. */
void chunks_add_gap(Chunks *chunks, const char *start, const char *end);
/* Does the glossary have a term of the text? */
bool chunks_has_term(const TranslatorOptions *options, StrView text);

#endif
