/* vocabulary.h - lists of tokens of other programs, and the subset of YAML that Marian writes.
 *
 * Fails   STATUS_DATA for ids that are missing, occur twice or are too many, and for malformed text
 */
#ifndef FOREIGN_VOCABULARY_H
#define FOREIGN_VOCABULARY_H

#include "base/status.h"
#include "base/strview.h"

enum { FOREIGN_VOCAB_SIZE = 1 << 20 };

/* Appends the tokens in the order of their ids to an empty list. A JSON list, or an object {token: id}. */
Status foreign_vocabulary_json(StrList *tokens, StrView text);
/* A token a line, ended by '\n' alone. */
Status foreign_vocabulary_lines(StrList *tokens, StrView text);
/* A mapping token: id of YAML: plain, 'quoted' and "escaped" tokens; the id is behind the last ": ". */
Status foreign_vocabulary_yaml(StrList *tokens, StrView text);
/* The number of a token, or -1. */
int foreign_vocabulary_find(const StrList *tokens, const char *token);

/* The plain or quoted value of `key` at the beginning of a line of YAML; empty if there is none. */
StrView foreign_yaml_value(StrView text, const char *key);

#endif
