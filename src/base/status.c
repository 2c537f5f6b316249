/* status.c - the failure text of each thread. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message_text[1024];
static _Thread_local char hint_text[1024];

/* Formats into a copy first, because an argument may be the replaced text. */
static void replace(char *text, size_t size, const char *format, va_list arguments) {
    char copy[sizeof message_text];
    vsnprintf(copy, size, format, arguments);
    memcpy(text, copy, size);
}

Status status_fail(Status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    replace(message_text, sizeof message_text, format, arguments);
    va_end(arguments);
    hint_text[0] = '\0';
    return code;
}

Status status_hint(Status code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    replace(hint_text, sizeof hint_text, format, arguments);
    va_end(arguments);
    return code;
}

__attribute__((format(printf, 1, 2))) static void replace_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    replace(message_text, sizeof message_text, format, arguments);
    va_end(arguments);
}

Status status_context(Status code, const char *format, ...) {
    char context[sizeof message_text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(context, sizeof context, format, arguments);
    va_end(arguments);
    replace_message("%s: %s", context, message_text);
    return code;
}

const char *status_message(void) { return message_text; }

const char *status_hint_text(void) { return hint_text; }

void status_save(StatusRecord *record, Status code) {
    record->code = code;
    memcpy(record->message, message_text, sizeof record->message);
    memcpy(record->hint, hint_text, sizeof record->hint);
}

Status status_restore(const StatusRecord *record) {
    memcpy(message_text, record->message, sizeof message_text);
    memcpy(hint_text, record->hint, sizeof hint_text);
    return record->code;
}
