/* marked_search.h - searches chunks with markup until each translation agrees with its chunk. */
#ifndef TRANSLATE_MARKED_SEARCH_H
#define TRANSLATE_MARKED_SEARCH_H

#include "translate/chunks.h"
#include "translate/searcher.h"

/* Sets chunks->results of all chunks: see "Markup" in translator.h. */
void chunks_search_marked(Chunks *chunks, Searcher *searcher);

#endif
