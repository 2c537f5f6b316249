/* piece_trie.c - see piece_trie.h. */
#include "sentencepiece/piece_trie.h"

#include <string.h>
#include "base/mem.h"

typedef struct {
    int id;    /* or -1 */
    int first; /* child; the others follow it */
    int children;
} Node;

struct PieceTrie {
    Node *nodes;
    char *labels; /* [nodes] the byte that leads to the node */
    size_t count, capacity, label_capacity;
};

/* While the trie is built: the pieces with the prefix that a node stands for. */
typedef struct {
    size_t begin, end, depth;
} Range;

enum { BYTES = 257, FEW = 24 }; /* places of an order: the end of a text, then its byte */

static size_t place(const TriePiece *piece, size_t depth) {
    return depth < piece->text.length ? 1 + (size_t)(unsigned char)piece->text.data[depth] : 0;
}

/* Sorts `pieces`, which are alike before `depth`, by their byte there; equal ones stay in order. A radix
 * sort, node by node, is several times as fast as comparing texts. scratch: [count] */
static void sort(TriePiece *pieces, size_t count, size_t depth, TriePiece *scratch) {
    if (count <= FEW) {
        for (size_t i = 1; i < count; i++) {
            TriePiece piece = pieces[i];
            size_t own = place(&piece, depth), to = i;
            for (; to > 0 && place(&pieces[to - 1], depth) > own; to--) pieces[to] = pieces[to - 1];
            pieces[to] = piece;
        }
        return;
    }
    size_t next[BYTES + 1] = {0};
    for (size_t i = 0; i < count; i++) next[place(&pieces[i], depth) + 1]++;
    for (size_t b = 1; b < BYTES; b++) next[b] += next[b - 1];
    for (size_t i = 0; i < count; i++) scratch[next[place(&pieces[i], depth)]++] = pieces[i];
    memcpy(pieces, scratch, count * sizeof *pieces);
}

static void add_node(PieceTrie *trie, char label) {
    MEM_GROW(trie->nodes, trie->capacity, trie->count + 1);
    MEM_GROW(trie->labels, trie->label_capacity, trie->count + 1);
    trie->nodes[trie->count] = (Node){.id = -1};
    trie->labels[trie->count++] = label;
}

PieceTrie *piece_trie_new(TriePiece *pieces, size_t count, int *twice) {
    PieceTrie *trie = mem_alloc(1, sizeof *trie);
    TriePiece *scratch = mem_alloc(count + 1, sizeof *scratch);
    Range *ranges = NULL; /* [nodes] */
    size_t capacity = 0;
    if (twice) *twice = -1;
    add_node(trie, 0);
    MEM_GROW(ranges, capacity, 1);
    ranges[0] = (Range){0, count, 0};
    for (size_t n = 0; n < trie->count; n++) {
        Range range = ranges[n];
        trie->nodes[n].first = (int)trie->count;
        if (range.begin < range.end)
            sort(pieces + range.begin, range.end - range.begin, range.depth, scratch);
        while (range.begin < range.end && pieces[range.begin].text.length == range.depth) {
            int id = pieces[range.begin++].id;
            if (trie->nodes[n].id < 0)
                trie->nodes[n].id = id;
            else if (twice)
                *twice = id;
        }
        for (size_t begin = range.begin, end; begin < range.end; begin = end) {
            char label = pieces[begin].text.data[range.depth];
            for (end = begin + 1; end < range.end && pieces[end].text.data[range.depth] == label;) end++;
            MEM_GROW(ranges, capacity, trie->count + 1);
            ranges[trie->count] = (Range){begin, end, range.depth + 1};
            trie->nodes[n].children++;
            add_node(trie, label);
        }
    }
    mem_free(ranges);
    mem_free(scratch);
    return trie;
}

void piece_trie_free(PieceTrie *trie) {
    if (!trie) return;
    mem_free(trie->nodes);
    mem_free(trie->labels);
    mem_free(trie);
}

int piece_trie_child(const PieceTrie *trie, int node, char byte) {
    const Node *parent = &trie->nodes[node];
    if (parent->children == 0) return 0;
    const char *label = memchr(trie->labels + parent->first, byte, (size_t)parent->children);
    return label ? (int)(label - trie->labels) : 0;
}

int piece_trie_id(const PieceTrie *trie, int node) { return trie->nodes[node].id; }

int piece_trie_find(const PieceTrie *trie, StrView text) {
    int node = 0;
    for (size_t i = 0; i < text.length; i++)
        if (!(node = piece_trie_child(trie, node, text.data[i]))) return -1;
    return trie->nodes[node].id;
}

size_t piece_trie_longest(const PieceTrie *trie, StrView text) {
    size_t longest = 0;
    int node = 0;
    for (size_t i = 0; i < text.length && (node = piece_trie_child(trie, node, text.data[i])); i++)
        if (trie->nodes[node].id >= 0) longest = i + 1;
    return longest;
}
