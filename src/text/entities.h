/* entities.h - characters that HTML writes as &nbsp; &#39; &#x27; */
#ifndef TEXT_ENTITIES_H
#define TEXT_ENTITIES_H

#include "base/strview.h"

/* The length of the entity that begins at text.data[at], an &; 0: there is none. */
size_t entity_length(StrView text, size_t at);
/* The same for an entity that a model can read as its character *c. Not among these are entities with unknown
 * names, of control characters, and of ASCII characters other than " ' & < >; nor &lt; and &amp; if the next
 * byte would make the character the beginning of a tag or of an entity. */
size_t entity_decode(StrView text, size_t at, int *c);

#endif
