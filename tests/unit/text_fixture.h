/* text_fixture.h - lines in memory, cases from files, files in a scratch folder, a limit on file sizes,
 * for tests of text and of files. */
#ifndef TEXT_FIXTURE_H
#define TEXT_FIXTURE_H

#include <sys/resource.h>
#include "tokenizer/tokenizer.h"

/* Words; 60 merges, with either marker. */
extern const TextOptions FIXTURE_WORD, FIXTURE_PREFIX, FIXTURE_SUFFIX;
/* A tokenizer learned from a NULL-terminated list of lines. Fails the test if learning fails. */
Tokenizer *fixture_learn(const TextOptions *options, const char *const *lines);
/* The ids of one line, and the line that comes back from them. */
IdList fixture_encode(Tokenizer *tokenizer, StrView line);
void fixture_round_trip(Tokenizer *tokenizer, StrView line, StrBuf *back);

/* A path in a scratch folder that is removed when the program ends; good for the next 7 calls. */
const char *fixture_path(const char *name);
const char *fixture_write(const char *name, const void *data, size_t bytes);

/* From now on, writes beyond the first `most` bytes of a file fail, as on a full disk. Returns the limit
 * before the call, to restore it. */
rlim_t fixture_limit_files(rlim_t most);

/* Cases are blocks of lines, separated by empty lines; "#" starts a comment line (tests/README.md). Calls
 * `check` for each block; fails the test if there is none. */
typedef struct {
    StrView line[8]; /* with escapes resolved */
    int count;
    int number;   /* of its first line, for messages */
    StrView name; /* the comment line above it */
} FixtureCase;
void fixture_cases(const char *path, void (*check)(const FixtureCase *block));

#endif
