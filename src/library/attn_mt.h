/* attn_mt.h - the C library: translate with models of attn-mt from another program.
 *
 *     attn_mt_model *model;
 *     attn_mt_result *result;
 *     attn_mt_error error;
 *     const char *path = "best.safetensors", *text = "i'm home .";
 *     if (attn_mt_open(&model, &path, 1, ATTN_MT_FLOAT32, &error) != ATTN_MT_OK) ... error.message
 *     if (attn_mt_translate(model, &text, 1, NULL, &result, &error) == ATTN_MT_OK) {
 *         puts(attn_mt_candidate_at(result, 0, 0)->text);
 *         attn_mt_release(result);
 *     }
 *     attn_mt_close(model);
 *
 * Text    NUL-terminated UTF-8; invalid bytes are read as U+FFFD
 * Units   scores are sums of natural logarithms of probabilities
 * Owner   the caller owns models (attn_mt_close), glossaries, memories, detectors and results
 *         (attn_mt_release). A result owns everything that is read from it, and can outlive its model
 * Threads any number of threads can use a model at the same time; a call works on the calling thread only.
 *         Several threads can read a result
 * Fails   with a status other than ATTN_MT_OK; *error, if it is not NULL, gets a message, and *model or
 *         *result becomes NULL. The library prints nothing, never ends the process and leaks nothing: if
 *         memory runs out, the status is ATTN_MT_MEMORY
 * cJSON   opening a model sets cJSON's memory functions (cJSON_InitHooks); outside of calls of this library
 *         they behave like malloc and free
 * NULL    is allowed for `options`, for `error`, for an array without elements, and for the argument of
 *         the functions that close and release. Otherwise NULL is ATTN_MT_USAGE, and functions that read a
 *         model or a result return NULL
 */
#ifndef LIBRARY_ATTN_MT_H
#define LIBRARY_ATTN_MT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ATTN_MT_API __attribute__((visibility("default")))

typedef struct attn_mt_model attn_mt_model;
typedef struct attn_mt_result attn_mt_result;

typedef enum {
    ATTN_MT_OK = 0,
    ATTN_MT_SYSTEM = 1, /* for example, a file cannot be read */
    ATTN_MT_USAGE = 2,  /* invalid arguments, or an invalid combination */
    ATTN_MT_DATA = 3,   /* the file is not a valid model */
    ATTN_MT_MEMORY = 6, /* out of memory, or above memory_limit */
} attn_mt_status;

typedef struct {
    attn_mt_status status;
    char message[1024]; /* one line of UTF-8 */
    char hint[512];     /* a remedy, or empty */
} attn_mt_error;

/* The number format of the weights. Fewer bits are faster and smaller, and can change a word here and there.
 * Files of `attn-mt convert` keep their own format. */
typedef enum { ATTN_MT_FLOAT32, ATTN_MT_BF16, ATTN_MT_INT8 } attn_mt_precision;

/* The units of attention weights: words, or the subwords of the model. */
typedef enum { ATTN_MT_NO_ATTENTION, ATTN_MT_WORDS, ATTN_MT_SUBWORDS } attn_mt_level;

/* The mark of accelerators ("&File"): it is taken out of a text, and put before a letter of the word that
 * translates its word. ATTN_MT_ACCELERATOR_AUTO: either mark. */
typedef enum {
    ATTN_MT_NO_ACCELERATOR,
    ATTN_MT_ACCELERATOR_AND,
    ATTN_MT_ACCELERATOR_UNDERSCORE,
    ATTN_MT_ACCELERATOR_AUTO
} attn_mt_accelerator;

typedef struct attn_mt_glossary attn_mt_glossary;
typedef struct attn_mt_memory attn_mt_memory;

/* More options of attn_mt_translate; it can grow with later versions of the library. */
typedef struct {
    size_t size;                      /* sizeof(attn_mt_guide) of the program */
    const attn_mt_glossary *glossary; /* or NULL; made for the model that translates */
    const attn_mt_memory *memory;     /* or NULL */
    double memory_threshold;          /* least similarity of attn_mt_match_at, 0.3 to 1; 0: 0.75 */
    const char *target_language; /* of a model with several, as it names them ("fra"), for texts that do not
                                  * begin with a language; NULL: the one that the model was opened for */
    int confidence;              /* not 0: attn_mt_confidence_at has the confidence of each translation */
    int tags; /* not 0: tags and placeholders come out as they are, and the rest of a text is no HTML */
    /* With `tags`. Not 0: a line end is a space; texts with tags are translated without them, and attention
     * puts them back, which suits markup that models have seldom seen. */
    int wrapped, tags_aside;
} attn_mt_guide;

/* Zeros are the defaults of `attn-mt translate`. */
typedef struct {
    size_t memory_limit; /* bytes that the call and its result can use at a time; 0: no limit */
    int beam_size;  /* hypotheses kept, 1 to 1000; 0: the model's own choice, or n_best if that is more */
    int n_best;     /* different candidates of each text, at most; 0: one */
    int batch_size; /* sentences searched together, 1 to 100000; 0: the model's own choice */
    int split;      /* not 0: texts are paragraphs, translated sentence by sentence */
    int markup;     /* not 0: texts are HTML: tags and placeholders come out as they are, a line end is a
                      * space, texts between blocks are translated separately; code, scripts and
                      * translate="no" stay; alt, title, placeholder and aria-label are translated, and
                      * <html> gets the target language as its lang */
    int attention;  /* attn_mt_level */
    int shortlist; /* consider only the N most frequent tokens and N likely translations of each source token,
                      * 1 to 1000, which is faster; 0: all tokens */
    int accelerator;                                /* attn_mt_accelerator */
    const attn_mt_guide *guide;                     /* or NULL */
    int reserved[4 - sizeof(void *) / sizeof(int)]; /* must be 0 */
    /* Called after each batch of sentences on the calling thread, with the fraction of the work that is done.
     * It can call the library. Or NULL. */
    void (*progress)(void *context, double fraction);
    void *progress_context;
} attn_mt_options;

/* What is probably wrong with a translation. */
typedef enum {
    ATTN_MT_EMPTY = 1,      /* the source has text, the translation none */
    ATTN_MT_REPETITION = 2, /* a phrase follows itself more than 4 times, and more often than in the source */
    ATTN_MT_LENGTH_LIMIT = 4, /* it reached the maximal length */
} attn_mt_problem;

/* A translation. A text can be translated in chunks: the sentences of `split`, or because it is too long for
 * the model. Each chunk has a </s>. log_p and `score` count all of them, the tokens only the last one, so
 * that the sum of token_log_p can be more than log_p. */
typedef struct {
    const char *text;
    double log_p;             /* of all tokens, including </s> */
    double score;             /* log_p with length normalization, by which the search ranks */
    int tokens;               /* including the last </s>, unless the translation was cut off */
    const float *token_log_p; /* [tokens] */
    int problems;             /* sum of attn_mt_problem; 0: none */
} attn_mt_candidate;

/* weights [rows, columns]: the attention of each unit of the translation (row) to each unit of the source.
 * The last column is the source's </s>; the last row is the translation's </s>, unless the translation was
 * cut off. A text that was translated in chunks has only the </s> of the last chunk, and the rows of the
 * others add up to less than 1. */
typedef struct {
    int rows, columns;
    const float *weights;
    const char *const *row_labels, *const *column_labels;
} attn_mt_matrix;

ATTN_MT_API const char *attn_mt_version(void); /* "0.3.0" */

/* Loads model files [count]. Several models form an ensemble and must share one target vocabulary. */
ATTN_MT_API attn_mt_status attn_mt_open(attn_mt_model **model, const char *const *paths, int count,
                                        attn_mt_precision precision, attn_mt_error *error);
/* Loads the path of a file or of a run, the name of a model as `attn-mt models` lists them, or two languages
 * ("en-de"; names with "-" are separated by ":"). For two languages it chooses from the folders of models as
 * `attn-mt translate --languages` does. If no model has both, it takes several: each translates what the one
 * before has written. Then scores, attention, confidence and source tokens are those of the last one, and a
 * glossary, a memory and attn_mt_score are ATTN_MT_USAGE. */
ATTN_MT_API attn_mt_status attn_mt_open_name(attn_mt_model **model, const char *name,
                                             attn_mt_precision precision, attn_mt_error *error);
/* The languages that texts and translations are in, as the training named them, such as "en", or the target
 * language that attn_mt_open_name chose; NULL if the file has none. The strings live as long as the model. */
ATTN_MT_API const char *attn_mt_source_language(const attn_mt_model *model);
ATTN_MT_API const char *attn_mt_target_language(const attn_mt_model *model);
/* The memory that the model takes between calls, in bytes. 0 for NULL. */
ATTN_MT_API size_t attn_mt_model_bytes(const attn_mt_model *model);
/* No other call may use the model at this time. */
ATTN_MT_API void attn_mt_close(attn_mt_model *model);

/* Reads the terms in files [count]: lines of SOURCE TAB TARGET. A whole word of a text that is the source of
 * a term is translated as its target. The first line with a source counts. Close the glossary before its
 * model. */
ATTN_MT_API attn_mt_status attn_mt_glossary_open(attn_mt_glossary **glossary, const attn_mt_model *model,
                                                 const char *const *paths, int count, attn_mt_error *error);
ATTN_MT_API void attn_mt_glossary_close(attn_mt_glossary *glossary);
/* Reads the pairs in files [count] of any format of `attn-mt translate --memory`, in the languages of the
 * model. A text that is in the memory gets its translation from there. `accelerator`: an attn_mt_accelerator,
 * the mark that is ignored in the memory; it should be that of the calls. */
ATTN_MT_API attn_mt_status attn_mt_memory_open(attn_mt_memory **memory, const attn_mt_model *model,
                                               const char *const *paths, int count, int accelerator,
                                               attn_mt_error *error);
ATTN_MT_API void attn_mt_memory_close(attn_mt_memory *memory);

/* Translates texts [count]. */
ATTN_MT_API attn_mt_status attn_mt_translate(const attn_mt_model *model, const char *const *texts, int count,
                                             const attn_mt_options *options, attn_mt_result **result,
                                             attn_mt_error *error);
/* Scores translations [count] of texts [count]. Each text gets one candidate, which is never translated in
 * chunks. Only the options memory_limit, batch_size, attention and progress are used; `reserved` must be
 * 0. */
ATTN_MT_API attn_mt_status attn_mt_score(const attn_mt_model *model, const char *const *texts,
                                         const char *const *translations, int count,
                                         const attn_mt_options *options, attn_mt_result **result,
                                         attn_mt_error *error);

/* Candidate `rank` (0 is the best) of text `text` (from 0); NULL if there is none. */
ATTN_MT_API const attn_mt_candidate *attn_mt_candidate_at(const attn_mt_result *result, int text, int rank);
/* The attention weights of a candidate; NULL without the option `attention`, or if the text is empty. */
ATTN_MT_API const attn_mt_matrix *attn_mt_attention(const attn_mt_result *result, int text, int rank);
/* The tokens of a candidate [candidate->tokens], including the last </s>. */
ATTN_MT_API const char *const *attn_mt_tokens_at(const attn_mt_result *result, int text, int rank);

/* How sure the model is of a translation and of its words, from 0 to 1. With a calibration, which the
 * training measures, the expected fraction of its words in a reference translation; without one, the
 * geometric mean of the probabilities of tokens. */
typedef struct {
    double confidence;
    int calibrated; /* is there a calibration? */
    int words;
    const char *const *labels;      /* [words] */
    const double *word_confidences; /* [words] */
} attn_mt_confidence;

/* NULL without the option `confidence`, or if nothing was translated. */
ATTN_MT_API const attn_mt_confidence *attn_mt_confidence_at(const attn_mt_result *result, int text, int rank);

/* The most similar pair of the translation memory. */
typedef struct {
    double similarity; /* 1 - edit distance / length; 1: the same text */
    const char *source, *target;
    int used; /* the whole translation is the memory's */
} attn_mt_match;

/* NULL without a memory, or if no text is similar enough. */
ATTN_MT_API const attn_mt_match *attn_mt_match_at(const attn_mt_result *result, int text);
/* The text in the language in between, if several models translate one after the other; otherwise NULL. */
ATTN_MT_API const char *attn_mt_pivot_at(const attn_mt_result *result, int text);
/* What the model does with texts [count], at least one: attn_mt_page has the page of HTML that `attn-mt
 * heatmap --format html` writes. It needs no other file, and no network. The result has no candidates. */
ATTN_MT_API attn_mt_status attn_mt_explore(const attn_mt_model *model, const char *const *texts, int count,
                                           attn_mt_result **result, attn_mt_error *error);
/* NULL if the result is not of attn_mt_explore. */
ATTN_MT_API const char *attn_mt_page(const attn_mt_result *result);
ATTN_MT_API void attn_mt_release(attn_mt_result *result);

/* Tells in which of its languages a text is. Any number of threads can use a detector. */
typedef struct attn_mt_detector attn_mt_detector;

typedef struct {
    const char *language; /* as given to attn_mt_detector_open; lives as long as the detector */
    double confidence;    /* probability, 0 to 1; 0 if the language is not known */
} attn_mt_detection;

/* For languages [count], in any spelling ("de", "deu", "German"). ATTN_MT_USAGE if the library was built
 * without libexttextcat. */
ATTN_MT_API attn_mt_status attn_mt_detector_open(attn_mt_detector **detector, const char *const *languages,
                                                 int count, attn_mt_error *error);
/* Writes all languages of the detector to ranked [count], the most probable first. A text without letters has
 * confidences of 0. */
ATTN_MT_API attn_mt_status attn_mt_detect(const attn_mt_detector *detector, const char *text,
                                          attn_mt_detection *ranked, attn_mt_error *error);
ATTN_MT_API void attn_mt_detector_close(attn_mt_detector *detector);

#ifdef __cplusplus
}
#endif

#endif
