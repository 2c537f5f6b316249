/* page.h - the files of the web page, built into the program. */
#ifndef SERVE_PAGE_H
#define SERVE_PAGE_H

#include "base/strview.h"

typedef struct {
    const char *path, *type;
    const char *const *lines; /* ends with NULL */
} PageFile;

/* NULL if there is no such file. */
const PageFile *page_find(StrView path);
/* The Content-Security-Policy: the page loads and runs only files of this server. */
#define PAGE_POLICY                                                                                          \
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "         \
    "form-action 'none'; frame-ancestors 'none'"

#endif
