/* corpus_cache.h - a file that keeps what reading, learning and encoding the sentence pairs came to: both
 * segmenters and both corpora. The next start reads it instead.
 *
 * It is used only if it was made of the same data in the same way. What that means is never left to names or
 * times of files: all bytes of the input are hashed at each start (base/tree_hash.h), and so are the options
 * that decide what is read and learned, the versions of the program and of its Unicode tables, and the
 * segmenters where they are given. It has a digest of its own, which tells if it is cut off or damaged. It
 * appears whole or not at all, and a disk that is full costs nothing but the cache.
 *
 * Layout  a header and the sections it counts, as they are in memory: for this kind of machine only
 * Fails   never: what is not there or not usable is said in the log, and the text is read
 */
#ifndef TEXT_CORPUS_CACHE_H
#define TEXT_CORPUS_CACHE_H

#include "text/corpus.h"

/* Digests of what the content follows from. */
typedef struct {
    bool keep_text;    /* the training texts are there too; those of the validation pairs always are */
    char inputs[65];   /* bytes of all files, how they are read, and keep_text */
    char learning[65]; /* how segmenters are learned from them */
    char stamp[65];    /* when the files were written that are hashed */
} CorpusCacheKey;

/* What is kept. A corpus that has no pairs is not there. */
typedef struct {
    Segmenter *source, *target; /* the same object where there is one vocabulary */
    Corpus train, valid;
} CorpusData;

/* STATUS_RUNTIME if a file cannot be read. */
Status corpus_cache_key(CorpusCacheKey *key, const DataOptions *data, const TextOptions *text,
                        Workers *workers);
/* Have no files been written since? Else `inputs` need not be what was read. */
bool corpus_cache_key_holds(const CorpusCacheKey *key, const DataOptions *data);

/* Segmenters that are there must be the file's, others are taken from it. False: `data` is as it was. */
bool corpus_cache_load(const char *path, const CorpusCacheKey *key, CorpusData *data, Workers *workers);
/* `learned`: the segmenters come from these pairs and not from elsewhere. */
void corpus_cache_save(const char *path, const CorpusCacheKey *key, const CorpusData *data, bool learned,
                       Workers *workers);

#endif
