/* scope.c - each call of the library works in a memory scope of its own, and fails with an attn_mt_error. */
#include <locale.h>
#include <pthread.h>
#include <string.h>
#include "base/log.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "kern/kern.h"
#include "library/library_private.h"
/* Copies `text`, which can contain the bytes of file names, as one line of UTF-8. Allocates nothing, because
 * the error can be that memory has run out. */
static void copy_line(char *to, size_t size, const char *text) {
    StrView from = sv(text);
    size_t length = 0;
    for (size_t position = 0; position < from.length;) {
        size_t start = position;
        int code_point = utf8_next(from, &position);
        StrView character = {from.data + start, position - start};
        if (code_point == UTF8_REPLACEMENT) character = SV("\xEF\xBF\xBD");
        if (unicode_is_control(code_point) || code_point == 0x2028 || code_point == 0x2029)
            character = SV("?");
        if (length + character.length >= size) break;
        memcpy(to + length, character.data, character.length);
        length += character.length;
    }
    to[length] = '\0';
}

static attn_mt_status fail(attn_mt_error *error, attn_mt_status status, const char *message,
                           const char *hint) {
    if (!error) return status;
    error->status = status;
    copy_line(error->message, sizeof error->message, message);
    copy_line(error->hint, sizeof error->hint, hint);
    return status;
}

static attn_mt_status fail_memory(attn_mt_error *error, size_t limit) {
    return fail(error, ATTN_MT_MEMORY, limit > 0 ? "memory_limit is not enough for this" : "out of memory",
                limit > 0 ? "raise it, or translate less at a time" : "");
}

attn_mt_status fail_usage(attn_mt_error *error, const char *message) {
    return fail(error, ATTN_MT_USAGE, message, "");
}

Status check_strings(const char *name, const char *const *strings, int count) {
    if (count > 0 && !strings) return status_fail(STATUS_USAGE, "%s is NULL", name);
    for (int i = 0; i < count; i++)
        if (!strings[i]) return status_fail(STATUS_USAGE, "%s[%d] is NULL", name, i);
    return STATUS_OK;
}

/* Numbers have a decimal point in every locale of the calling program. */
static locale_t c_locale;
static StatusRecord kernel_status; /* of the environment variable ATTN_MT_SIMD */

static void library_begin(void) {
    status_save(&kernel_status, kern_select());
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

Status scope_kernel_status(void) { return status_restore(&kernel_status); }

attn_mt_status scope_run(MemScope **scope, size_t limit, void (*work)(void *context), void *context,
                         const Status *status, attn_mt_error *error) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, library_begin);
    attn_mt_status result = ATTN_MT_OK;
    locale_t callers = uselocale(c_locale);
    bool silent = log_set_silent(true);
    *scope = mem_scope_new(limit);
    bool done = *scope && mem_scope_run(*scope, work, context);
    uselocale(callers);
    log_set_silent(silent);
    if (!done)
        result = fail_memory(error, limit);
    else if (*status != STATUS_OK)
        result = fail(error, (attn_mt_status)*status, status_message(), status_hint_text());
    if (result != ATTN_MT_OK) {
        mem_scope_free(*scope);
        *scope = NULL;
    } else if (error) {
        *error = (attn_mt_error){ATTN_MT_OK, "", ""};
    }
    return result;
}

void *scope_open(attn_mt_status *status, size_t limit, void (*work)(void *context), void *context,
                 const OpenResult *result, attn_mt_error *error) {
    MemScope *scope;
    *status = scope_run(&scope, limit, work, context, &result->status, error);
    if (*status != ATTN_MT_OK) return NULL;
    *(MemScope **)result->object = scope;
    return result->object;
}

Status check_accelerator(int accelerator) {
    if (accelerator < ATTN_MT_NO_ACCELERATOR || accelerator > ATTN_MT_ACCELERATOR_AUTO)
        return status_fail(STATUS_USAGE, "there is no accelerator %d", accelerator);
    return STATUS_OK;
}
