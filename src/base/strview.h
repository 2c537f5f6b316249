/* strview.h - text: views that borrow, buffers that grow, lists of strings.
 *
 * Owner   a StrView never owns its bytes and need not end in NUL; a StrBuf owns its bytes, keeps a NUL after
 *         them and is released with strbuf_free; a StrList owns the strings that strlist_add copied and is
 *         released with strlist_free. A zeroed StrBuf or StrList is a valid empty one.
 */
#ifndef BASE_STRVIEW_H
#define BASE_STRVIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *data;
    size_t length; /* bytes */
} StrView;

#define SV(literal)  ((StrView){(literal), sizeof(literal) - 1})
#define SV_ARG(view) (int)(view).length, (view).data /* for "%.*s" */

StrView sv(const char *text);
bool sv_equal(StrView a, StrView b);
int sv_compare(StrView a, StrView b);          /* byte order */
uint64_t sv_hash(StrView text, uint64_t seed); /* the same on every machine */
bool sv_starts(StrView text, StrView prefix);
bool sv_ends(StrView text, StrView suffix);
/* Cuts "." and `extension`, in lower or upper case, off a file's name. False if the name has no such
 * extension, or nothing before it. */
bool sv_cut_extension(StrView *name, StrView extension);
StrView sv_trim(StrView text); /* ASCII white space at both ends */
/* Cuts the next field off `rest` at `separator`; false if nothing is left. "a,,b" gives "a", "", "b". */
bool sv_next(StrView *rest, char separator, StrView *field);
/* ASCII white space. */
static inline bool char_is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
/* Cuts the next word off `rest`, with the white space before it. False, with an empty *word, if none is
 * left. */
bool sv_next_word(StrView *rest, StrView *word);

typedef struct {
    char *data; /* followed by NUL; NULL until the first addition */
    size_t length, capacity;
} StrBuf;

void strbuf_clear(StrBuf *buffer);              /* keeps the memory */
void strbuf_cut(StrBuf *buffer, size_t length); /* keeps the first `length` bytes */
void strbuf_free(StrBuf *buffer);
void strbuf_add(StrBuf *buffer, StrView text);
void strbuf_add_char(StrBuf *buffer, char c);
void strbuf_format(StrBuf *buffer, const char *format, ...) __attribute__((format(printf, 2, 3)));
StrView strbuf_view(const StrBuf *buffer);
const char *strbuf_text(const StrBuf *buffer); /* never NULL */

typedef struct {
    char **items;
    size_t count;
} StrList;

void strlist_add(StrList *list, StrView text); /* adds a copy; only for lists without other additions */
void strlist_format(StrList *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
void strlist_free(StrList *list);

/* The candidate nearest to `word` by edit distance, or NULL if none is near enough for a hint. */
const char *str_nearest(const char *word, const char *const *candidates, size_t count);

/* "1.5 MB", "12,345", "2m05s": numbers for people. They return `buffer`. */
const char *str_bytes(double bytes, char buffer[32]);
const char *str_count(long long n, char buffer[32]);
const char *str_duration(double seconds, char buffer[32]);

#endif
