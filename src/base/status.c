/* status.c - the failure text of each thread. */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char message_text[1024];
static _Thread_local char hint_text[512];

Status status_fail(Status code, const char *format, ...) {
    /* Built aside: an argument may be status_message() itself. */
    char text[sizeof message_text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(message_text, text, sizeof text);
    hint_text[0] = '\0';
    return code;
}

Status status_hint(Status code, const char *format, ...) {
    char text[sizeof hint_text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    memcpy(hint_text, text, sizeof text);
    return code;
}

Status status_context(Status code, const char *format, ...) {
    char text[sizeof message_text];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    size_t length = strlen(text), room = sizeof text - length;
    if (room > 2) {
        memcpy(text + length, ": ", 3);
        size_t rest = strlen(message_text);
        if (rest > room - 3) rest = room - 3;
        memcpy(text + length + 2, message_text, rest);
        text[length + 2 + rest] = '\0';
    }
    memcpy(message_text, text, sizeof text);
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
