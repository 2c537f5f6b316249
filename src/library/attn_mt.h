/* attn_mt.h - translate with models of attn-mt from a program of one's own.
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
 * Text    UTF-8 that ends with NUL; bytes that are no text are read as U+FFFD
 * Units   scores are sums of natural logarithms of probabilities
 * Owner   what a call gives out is the caller's: attn_mt_close, attn_mt_release. A result does not need its
 *         model any more, and owns all that is read out of it
 * Threads one model serves any number of threads at once; each call works on the thread that calls. A result
 *         may be read by several threads
 * Fails   with a status other than ATTN_MT_OK and, where `error` is not NULL, with what happened; the handle
 *         that was asked for is NULL then. Nothing is printed, nothing ends the process, nothing leaks:
 *         memory that cannot be had is ATTN_MT_MEMORY
 * cJSON   opening a model reads JSON through cJSON, with the memory functions that the program gave to
 *         cJSON_InitHooks, or malloc and free; the library does not change them
 * NULL    is allowed for `options`, for `error`, for texts and translations of which there are none, and for
 *         what is to be closed or released. Elsewhere it is ATTN_MT_USAGE, and what reads a model or a result
 *         returns NULL
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
    ATTN_MT_SYSTEM = 1, /* a file cannot be read, ... */
    ATTN_MT_USAGE = 2,  /* these arguments make no sense, or not together */
    ATTN_MT_DATA = 3,   /* that file is not a sound model */
    ATTN_MT_MEMORY = 6, /* memory, or what the limit leaves of it, is not enough */
} attn_mt_status;

typedef struct {
    attn_mt_status status;
    char message[1024]; /* one line of UTF-8: what happened, to what */
    char hint[512];     /* what to do about it, or empty */
} attn_mt_error;

/* Numbers that weights are kept in: fewer bits are faster and smaller, and can change a word here and
 * there. Files that `attn-mt convert` wrote keep their own. */
typedef enum { ATTN_MT_FLOAT32, ATTN_MT_BF16, ATTN_MT_INT8 } attn_mt_precision;

/* What attention weights are between: words, or the subwords that the model works on. */
typedef enum { ATTN_MT_NO_ATTENTION, ATTN_MT_WORDS, ATTN_MT_SUBWORDS } attn_mt_level;

/* Zeros ask for what `attn-mt translate` does without options. */
typedef struct {
    size_t memory_limit; /* bytes that the call and its result may take at a time; 0: no limit */
    int beam_size;   /* hypotheses kept, 1 to 1000; 0: the model's own choice, or n_best if that is more */
    int n_best;      /* candidates wanted of each text, no two of them alike, so there may be fewer; 0: one */
    int batch_size;  /* sentences searched together, 1 to 100000; 0: the model's own choice */
    int split;       /* not 0: texts are paragraphs, translated sentence by sentence */
    int markup;      /* not 0: texts are HTML: tags and placeholders are taken out and put back, a line end is
                      * a blank; with `split` the start and end of a block ends a sentence */
    int attention;   /* attn_mt_level */
    int shortlist;   /* of each list of likely translations so many tokens are considered, 1 to 1000, which is
                      * faster; 0: all tokens */
    int reserved[5]; /* 0 */
    /* Called after each batch of sentences with the share of the work that is done, on the thread that calls;
     * it may make calls of its own. NULL: nothing is. */
    void (*progress)(void *context, double share);
    void *progress_context;
} attn_mt_options;

/* A translation that was found, or scored. A text that was translated in parts, sentences of `split` or
 * pieces of what is too long for the model, has a </s> in each: log_p and the length behind `score` count
 * them all, the tokens only the last, so that token_log_p may add up to more than log_p. */
typedef struct {
    const char *text;
    double log_p;             /* of all tokens with </s> */
    double score;             /* that by the length, as the search ranks it */
    int tokens;               /* with the last </s>, if it ended with that */
    const float *token_log_p; /* [tokens] */
} attn_mt_candidate;

/* weights [rows, columns]: how much each unit of the translation looked at each unit of the source. The last
 * column is the source's </s>, the last row that of the translation, if it ended with it. A text that was
 * translated in parts has only the </s> of the last: rows of the others add up to less than 1. */
typedef struct {
    int rows, columns;
    const float *weights;
    const char *const *row_labels, *const *column_labels;
} attn_mt_matrix;

ATTN_MT_API const char *attn_mt_version(void); /* "0.2.0" */

/* Load model files [count]: several vote, and must share one target vocabulary. */
ATTN_MT_API attn_mt_status attn_mt_open(attn_mt_model **model, const char *const *paths, int count,
                                        attn_mt_precision precision, attn_mt_error *error);
/* The languages of the first model as its training named them, such as "en"; NULL if its file does not say.
 * They live as long as the model. */
ATTN_MT_API const char *attn_mt_source_language(const attn_mt_model *model);
ATTN_MT_API const char *attn_mt_target_language(const attn_mt_model *model);
/* No call may be under way. */
ATTN_MT_API void attn_mt_close(attn_mt_model *model);

/* Translate texts [count]. */
ATTN_MT_API attn_mt_status attn_mt_translate(const attn_mt_model *model, const char *const *texts, int count,
                                             const attn_mt_options *options, attn_mt_result **result,
                                             attn_mt_error *error);
/* How probable are these translations of the texts? One candidate each, scored whole; of the options only
 * memory_limit, batch_size, attention and progress mean something, the others are not looked at (`reserved`
 * is). */
ATTN_MT_API attn_mt_status attn_mt_score(const attn_mt_model *model, const char *const *texts,
                                         const char *const *translations, int count,
                                         const attn_mt_options *options, attn_mt_result **result,
                                         attn_mt_error *error);

/* Candidate `rank`, best first, of text `text`, both from 0; NULL if there are not so many. */
ATTN_MT_API const attn_mt_candidate *attn_mt_candidate_at(const attn_mt_result *result, int text, int rank);
/* Its attention weights; NULL if they were not asked for, or there was nothing to translate. */
ATTN_MT_API const attn_mt_matrix *attn_mt_attention(const attn_mt_result *result, int text, int rank);
ATTN_MT_API void attn_mt_release(attn_mt_result *result);

#ifdef __cplusplus
}
#endif

#endif
