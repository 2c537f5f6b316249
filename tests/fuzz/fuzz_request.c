/* fuzz_request.c - bodies of requests to translate.
 *
 * Input: a byte that selects JSON or a form, then the body.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/mem_scope.h"
#include "serve/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct {
    StrView type, body;
    TranslateRequest request;
    Status status;
} Case;

static void read_case(void *context) {
    Case *c = context;
    c->status = translate_request_read(&c->request, c->type, c->body, 100);
    /* All texts of the request can be read. */
    for (int i = 0; c->status == STATUS_OK && i < c->request.count; i++)
        if (strlen(c->request.texts[i]) > c->body.length) __builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0) return 0;
    Case c = {.type = data[0] & 1 ? SV("application/json") : SV("application/x-www-form-urlencoded"),
              .body = {(const char *)data + 1, size - 1}};
    MemScope *scope = mem_scope_new(size * 100 + 4096);
    if (scope) mem_scope_run(scope, read_case, &c);
    mem_scope_free(scope);
    return 0;
}
