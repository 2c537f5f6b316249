/* piece_trie.h - finds the pieces that a text begins with.
 *
 * The nodes are in breadth-first order, so that the children of a node are neighbours.
 *
 * Threads read-only
 */
#ifndef SENTENCEPIECE_PIECE_TRIE_H
#define SENTENCEPIECE_PIECE_TRIE_H

#include "base/strview.h"

typedef struct {
    StrView text; /* not empty */
    int id;       /* >= 0 */
} TriePiece;

typedef struct PieceTrie PieceTrie;

/* Reorders `pieces`. Of equal pieces the first one is found; *twice is the id of another, or -1 if all are
 * distinct; `twice` may be NULL. */
PieceTrie *piece_trie_new(TriePiece *pieces, size_t count, int *twice);
void piece_trie_free(PieceTrie *trie);
/* The child of `node` (0: the root) for `byte`, or 0 if there is none. */
int piece_trie_child(const PieceTrie *trie, int node, char byte);
int piece_trie_id(const PieceTrie *trie, int node);             /* of the piece that ends at `node`, or -1 */
int piece_trie_find(const PieceTrie *trie, StrView text);       /* the id of exactly this piece, or -1 */
size_t piece_trie_longest(const PieceTrie *trie, StrView text); /* bytes of the longest piece at its start */

#endif
