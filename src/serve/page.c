/* page.c - the Makefile turns each file of page/ into lines of C. */
#include "serve/page.h"

static const char *const HTML[] = {
#include <page.html.inc>
    NULL};
static const char *const SCRIPT[] = {
#include <page.js.inc>
    NULL};
static const char *const STYLE[] = {
#include <page.css.inc>
    NULL};

static const PageFile FILES[] = {{"/", "text/html; charset=utf-8", HTML},
                                 {"/page.js", "text/javascript; charset=utf-8", SCRIPT},
                                 {"/page.css", "text/css; charset=utf-8", STYLE}};

const PageFile *page_find(StrView path) {
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (sv_equal(path, sv(FILES[i].path))) return &FILES[i];
    return NULL;
}
